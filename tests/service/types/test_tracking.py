"""Every field of a track-ride answer is a typed attribute, for each kind and each shape."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from ridedash.geo import LatLng
from ridedash.service.parsing.fields import Distance, Duration
from ridedash.service.types.tracking import PriceDetails, RouteStop, Snapshot, TripInfo
from tests.service.bodies import AUTO_COMPLETED, SNAPSHOT


def test_a_share_or_point_to_point_snapshot_has_every_field():
    read = Snapshot.from_wire(SNAPSHOT)
    assert read == Snapshot(
        status="SUCCESS",
        request_type="TRACK_RIDE",
        booking_id="SHR1",
        booking_status="CLIENT_LOCATED",
        pickup=LatLng(12.1, 77.1),
        drop=LatLng(12.2, 77.2),
        position=LatLng(12.11, 77.11),
        bearing=90,
        speed=31.5,
        driver_name="Driver Cedar",
        driver_number="+910000000000",
        driver_rating=Decimal("4.8"),
        driver_image_url="https://img.example/d.png",
        vehicle_type="sedan",
        vehicle_number="KA 01 AB 1234",
        vehicle_color="white",
        share_ride_url="https://share.example/r",
        eta=Duration(seconds=180),
        distance=Distance(metres=800),
        price=PriceDetails(
            fare=200,
            service_tax=Decimal("10.5"),
            discount_percentage=5,
            discount_value=10,
            toll_charges=0,
        ),
        passengers=("Guest Heron",),
        route=(RouteStop(name="Guest Heron", state="pickup", position=LatLng(12.1, 77.1)),),
        promotional_message="Hello",
        otp="0412",
        otp_text="Tell the driver",
    )


def test_an_auto_invoice_and_its_end_have_every_field():
    read = Snapshot.from_wire(AUTO_COMPLETED)
    assert read.svc_money_balance == Decimal("120.5")
    assert read.pickup_time.at == datetime(2016, 6, 16, 5, 15, 38, tzinfo=UTC)
    assert read.driver_rating == Decimal("4.73269")
    assert read.trip == TripInfo(
        billing_enabled=True,
        discount=0,
        advance=5,
        convenience_charge=10,
        amount=186,
        distance=Distance(metres=7400),
        night_charges_applied=False,
        night_charge_ratio=None,
        payable_amount=191,
        trip_time=Duration(seconds=1500),
        ride_time=Duration(seconds=1440),
        cash_paid=191,
    )


def test_a_trip_without_billing_has_only_what_is_always_there():
    sent = {"billing_enabled": False, "discount": 1, "advance": 2, "convenience_charge": 3}
    read = Snapshot.from_wire({"trip_info": sent}).trip
    assert read == TripInfo(billing_enabled=False, discount=1, advance=2, convenience_charge=3)


def test_a_night_charge_ratio_is_preserved_when_it_applies():
    assert (
        Snapshot.from_wire({"trip_info": {"night_charge_ratio": "1.5"}}).trip.night_charge_ratio
        == "1.5"
    )


def test_a_reduced_answer_is_none_and_empty_elsewhere():
    read = Snapshot.from_wire({"status": "SUCCESS", "booking_status": "ALLOTMENT_PENDING"})
    assert read == Snapshot(status="SUCCESS", booking_status="ALLOTMENT_PENDING")
    assert (read.position, read.passengers, read.route, read.price, read.trip, read.otp) == (
        None,
        (),
        (),
        None,
        None,
        None,
    )


def test_the_hand_over_brings_a_booking_id_and_a_message():
    sent = {
        "status": "SUCCESS",
        "booking_status": "CALL_DRIVER",
        "booking_id": "SHR9",
        "message": "Found",
    }
    read = Snapshot.from_wire(sent)
    assert (read.booking_id, read.message) == ("SHR9", "Found")


def test_a_start_code_that_is_a_number_is_its_digits():
    assert Snapshot.from_wire({"otp": {"start_trip": {"value": 4120}}}).otp == "4120"


def test_half_a_position_and_zero_zero_are_none():
    assert Snapshot.from_wire({"driver_lat": 12.1}).position is None
    assert Snapshot.from_wire({"driver_lat": 0, "driver_lng": 0}).position is None


def test_lists_are_bounded():
    crowd = [{"name": f"Guest {n}", "state": "drop", "lat": 1, "lng": 1} for n in range(5000)]
    read = Snapshot.from_wire({"passengers": crowd, "route": crowd})
    assert (len(read.passengers), len(read.route)) == (20, 40)


@pytest.mark.parametrize(
    ("sent", "read"),
    [("4.73", "4.73"), (5, "5"), (0, None), (5.1, None), ("99999999999.0", None), (-1, None)]
    + [(each, None) for each in ("1e400", "NaN", "Infinity", "five", None, [], {"stars": 5})],
)
def test_a_rating_is_of_at_most_five_stars(sent, read):
    found = Snapshot.from_wire(AUTO_COMPLETED | {"driver_rating": sent}).driver_rating
    assert found == (read and Decimal(read))


def test_marks_stacked_by_the_service_are_cut():
    found = Snapshot.from_wire(AUTO_COMPLETED | {"driver_name": "Wren" + "\u0300" * 200})
    assert found.driver_name == "Wren" + "\u0300" * 2


def test_what_a_person_may_not_read_is_in_no_representation():
    found = Snapshot.from_wire(SNAPSHOT)
    shown = repr(found)
    for secret in (found.driver_number, found.otp, "Guest Heron"):
        assert secret not in shown
    assert found.driver_name in shown


@pytest.mark.parametrize(
    ("sent", "read"),
    [(0, 0.0), (359.5, 359.5), (360, 0.0), (725, 5.0), (-90, 270.0), (-1e-15, 0.0), ("x", None)],
)
def test_a_bearing_is_from_0_to_below_360(sent, read):
    assert Snapshot.from_wire({"bearing": sent}).bearing == read


def test_a_vehicle_is_read_from_the_top_level_or_from_cab_details():
    inner = {"cab_type": "mini", "cab_number": "N1", "car_color": "red", "car_model": "Tern"}
    names = ("vehicle_type", "vehicle_number", "vehicle_color", "car_model")

    def vehicle(**more):
        read = Snapshot.from_wire({"cab_details": inner, **more})
        return tuple(getattr(read, name) for name in names)

    assert vehicle() == ("mini", "N1", "red", "Tern")
    top = dict(zip(names, ("suv", "N2", "blue", "Heron"), strict=True))
    assert vehicle(**top) == ("suv", "N2", "blue", "Heron")
    assert Snapshot.from_wire(top).vehicle_number == "N2"


def test_what_says_nothing_is_none_and_words_are_in_capitals():
    assert TripInfo.from_wire({}) is None
    assert TripInfo.from_wire({"discount": "x"}) is None
    assert RouteStop.from_wire({"state": "drop"}) is None
    assert RouteStop.from_wire({"name": "A", "state": " DROP "}).state == "drop"
    assert RouteStop.from_wire({"name": "A", "state": "left"}).state is None
    assert RouteStop.from_wire({"lat": 1, "lng": 2}).position == LatLng(1, 2)
    assert PriceDetails.from_wire({"fare": "x"}) is None
    assert PriceDetails.from_wire({"fare": 0}) == PriceDetails(fare=0)
    statuses = [Snapshot.from_wire({"booking_status": each}).booking_status for each in WORDS]
    assert statuses == ["COMPLETED", None, None, None]


WORDS = (" completed ", "  ", 7, None)


def test_an_amount_below_nothing_is_none_and_changes_no_bill():
    assert PriceDetails.from_wire(dict.fromkeys(PriceDetails.model_fields, -1)) is None
    assert PriceDetails.from_wire({"fare": 210, "toll_charges": "-1"}) == PriceDetails(fare=210)
    bill = ("discount", "advance", "convenience_charge", "amount", "payable_amount", "cash_paid")
    assert TripInfo.from_wire(dict.fromkeys(bill, -1)) is None


@pytest.mark.parametrize(
    ("ratio", "read"), [("na", None), ("NA", None), ("1.5", "1.5"), (None, None)]
)
def test_a_ratio_that_is_not_applicable_is_none(ratio, read):
    found = TripInfo.from_wire({"night_charge_ratio": ratio, "discount": 1})
    assert found.night_charge_ratio == read
