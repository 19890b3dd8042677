"""Track ride: each kind through all of its statuses, with exactly the fields of each status."""

import itertools

import pytest

from tests.sandbox.sandbox_desk import HOTEL, NIGHT, SALT, far_drop

COMMON = {"status", "request_type", "booking_id", "booking_status"}
CAR = {
    "driver_name",
    "driver_number",
    "driver_image_url",
    "vehicle_type",
    "vehicle_number",
    "vehicle_color",
}
FULL = (
    COMMON
    | CAR
    | {
        "pickup_location",
        "drop_location",
        "price_details",
        "bearing",
        "speed",
        "driver_rating",
        "share_ride_url",
        "duration",
        "distance",
        "driver_lat",
        "driver_lng",
        "passengers",
        "route",
        "promotional_message",
    }
)
ENDED = COMMON | CAR | {"pickup_location", "drop_location", "price_details"}
AUTO_CALLED = COMMON | {
    "driver_name",
    "driver_number",
    "driver_image_url",
    "vehicle_type",
    "vehicle_number",
    "driver_rating",
    "driver_lat",
    "driver_lng",
    "duration",
    "distance",
}


def test_a_point_to_point_ride_goes_through_its_states(desk):
    assert desk.statuses(desk.book("mini")) == [
        "ALLOTMENT_PENDING",
        "CALL_DRIVER",
        "CLIENT_LOCATED",
        "IN_PROGRESS",
        "COMPLETED",
    ]


def test_point_to_point_carries_the_fields_of_each_state(desk):
    booking = desk.book("mini")
    assert set(desk.track(booking)) == COMMON
    called = desk.until(booking, "CALL_DRIVER")
    assert set(called) == FULL
    assert (called["status"], called["request_type"], called["booking_id"]) == (
        "SUCCESS",
        "TRACK_RIDE",
        booking,
    )
    located = desk.until(booking, "CLIENT_LOCATED")
    assert set(located) == FULL | {"otp"}
    assert set(located["otp"]["start_trip"]) == {"text", "value"}
    assert located["otp"]["start_trip"]["value"].isdigit()
    assert set(desk.until(booking, "IN_PROGRESS")) == FULL
    assert set(desk.until(booking, "COMPLETED")) == ENDED


def test_the_types_of_a_full_snapshot_are_those_of_the_document(desk):
    called = desk.until(desk.book("suv"), "CALL_DRIVER")
    assert set(called["price_details"]) == {
        "fare",
        "service_tax",
        "discount_percentage",
        "discount_value",
        "toll_charges",
    }
    assert all(isinstance(amount, int | float) for amount in called["price_details"].values())
    assert isinstance(called["driver_rating"], float)
    assert called["duration"]["unit"] == "MINUTE"
    assert called["distance"]["unit"] == "METER"
    assert 0 <= called["bearing"] < 360
    assert called["share_ride_url"].startswith("https://")
    assert called["driver_image_url"].startswith("https://images.example/")
    assert called["driver_name"].startswith("Driver ")
    assert called["driver_number"].startswith("+9100000")
    assert set(called["pickup_location"]) == {"lat", "lng"}


def test_a_shared_ride_by_txn_id_shows_only_status_until_its_booking_id_comes(desk):
    desk.control("next", scenario="share_retry")
    txn = desk.book("share", seats=2, retry=True)
    assert desk.track(txn) == {"status": "SUCCESS", "booking_status": "ALLOTMENT_PENDING"}
    found = desk.until(txn, "CALL_DRIVER")
    assert set(found) == {"status", "booking_status", "booking_id", "message"}
    assert desk.statuses(found["booking_id"]) == [
        "CALL_DRIVER",
        "CLIENT_LOCATED",
        "INVOICE",
        "IN_PROGRESS",
        "COMPLETED",
    ]


def test_by_txn_id_a_cancelled_booking_is_no_driver_found(desk):
    desk.control("next", scenario="share_retry")
    txn = desk.book("share", retry=True)
    found = desk.until(txn, "CALL_DRIVER")
    assert "driver" in found["message"]
    body = {"booking_id": found["booking_id"], "reason": "Plans changed"}
    desk.post("/v1/bookings/cancel", body)
    assert desk.track(txn) == {
        "status": "SUCCESS",
        "booking_status": "BOOKING_CANCELLED",
        "booking_id": found["booking_id"],
    }


def test_a_point_to_point_ride_may_go_through_invoice_with_its_start_code(desk):
    desk.control("next", scenario="invoice_before_ride")
    desk.book("auto")
    booking = desk.book("mini")
    assert desk.statuses(booking)[2:5] == ["CLIENT_LOCATED", "INVOICE", "IN_PROGRESS"]
    desk.control("next", scenario="invoice_before_ride")
    again = desk.book("suv")
    located = desk.until(again, "CLIENT_LOCATED")
    invoice = desk.until(again, "INVOICE")
    assert set(invoice) == FULL | {"otp"}
    assert invoice["otp"] == located["otp"]
    assert invoice["price_details"]["fare"] > 0


@pytest.mark.parametrize(
    ("category", "models"),
    [("prime", {"Heron Sedan", "Egret Saloon"}), ("auto", {"Three-wheeler"})],
)
def test_the_type_of_the_vehicle_is_the_model_that_a_guest_looks_for(desk, category, models):
    assert desk.until(desk.book(category), "CALL_DRIVER")["vehicle_type"] in models


def test_a_shared_booking_is_unknown_by_id_before_its_driver_is_found(desk):
    desk.control("next", scenario="share_retry")
    desk.book("share", retry=True)
    (line,) = desk.ledger()
    assert (
        desk.get("/v1/bookings/track_ride", booking_id=line["booking_id"]).json["code"]
        == "NO_BOOKING"
    )


def test_a_shared_ride_carries_the_fields_of_each_state(desk):
    booking = desk.book("share", seats=1)
    called = desk.track(booking)
    assert set(called) == FULL
    assert called["passengers"]
    assert all(each["name"].startswith("Rider ") for each in called["passengers"])
    assert [stop["state"] for stop in called["route"]][-1] == "drop"
    assert {stop["state"] for stop in called["route"]} == {"pickup", "drop"}
    code = desk.until(booking, "CLIENT_LOCATED")["otp"]
    paying = desk.until(booking, "INVOICE")
    assert set(paying) == FULL | {"otp"}
    assert paying["otp"] == code
    assert paying["passengers"] == []
    riding = desk.until(booking, "IN_PROGRESS")
    assert set(riding) == FULL
    assert set(desk.until(booking, "COMPLETED")) == ENDED


def test_a_share_retry_that_fails_shows_only_its_status(desk):
    desk.control("next", scenario="share_retry_fail")
    txn = desk.book("share", retry=True)
    assert desk.until(txn, "ALLOTMENT_FAILED") == {
        "status": "SUCCESS",
        "booking_status": "ALLOTMENT_FAILED",
    }


def test_an_auto_goes_through_its_own_states_with_reduced_fields(desk):
    booking = desk.book("auto")
    assert set(desk.track(booking)) == COMMON
    assert desk.track(booking)["booking_status"] == "PENDING"
    called = desk.until(booking, "CALL_DRIVER")
    assert set(called) == AUTO_CALLED
    assert isinstance(called["driver_rating"], str)
    assert called["duration"]["unit"] == "MINUTES"
    assert set(desk.until(booking, "IN_PROGRESS")) == COMMON | {"driver_lat", "driver_lng"}
    assert set(desk.until(booking, "INVOICE")) == COMMON | {"svc_money_balance", "trip_info"}
    assert set(desk.until(booking, "COMPLETED")) == COMMON | {
        "svc_money_balance",
        "trip_info",
        "pickup_time",
    }


BILL = {
    "billing_enabled",
    "discount",
    "advance",
    "convenience_charge",
    "amount",
    "distance",
    "night_charges_applied",
    "night_charge_ratio",
}


def test_trip_info_with_billing_has_one_shape_at_the_invoice_and_one_at_the_end(desk):
    booking = desk.book("auto", payment_instrument_type="cash")
    invoice = desk.until(booking, "INVOICE")["trip_info"]
    assert set(invoice) == BILL | {"payable_amount", "trip_time"}
    assert invoice["distance"]["unit"] == "KMS"
    assert invoice["trip_time"]["unit"] == "MINUTE"
    assert (invoice["night_charges_applied"], invoice["night_charge_ratio"]) == (False, "NA")
    ended = desk.until(booking, "COMPLETED")
    assert set(ended["trip_info"]) == BILL | {"ride_time", "cash_paid"}
    assert ended["trip_info"]["cash_paid"] == invoice["payable_amount"]
    assert ended["pickup_time"].endswith("+05:30")


def test_trip_info_tells_the_ride_in_tens_of_metres_and_begun_minutes(desk):
    near = (HOTEL[0] + 0.0008, HOTEL[1])
    for drop, least_km, minutes in ((far_drop(), 5, None), (near, 0, 1)):
        booking = desk.book("auto", drop=drop, payment_instrument_type="cash")
        invoice = desk.until(booking, "INVOICE")["trip_info"]
        ended = desk.until(booking, "COMPLETED")["trip_info"]
        km = invoice["distance"]["value"]
        assert km > least_km
        assert km == round(km, 2)
        assert ended["distance"]["value"] == km
        assert invoice["trip_time"] == ended["ride_time"]
        assert minutes in (None, invoice["trip_time"]["value"])


def test_trip_info_without_billing_has_the_common_part_only(desk):
    near = desk.products(SALT.center, category="auto")
    assert near["categories"][0]["eta"] > 0
    booking = desk.book("auto", pickup=SALT.center, drop=far_drop(SALT, SALT.center))
    info = desk.until(booking, "COMPLETED")["trip_info"]
    assert set(info) == {"billing_enabled", "discount", "advance", "convenience_charge"}
    assert info["billing_enabled"] is False


def test_an_auto_at_night_has_its_night_charge_ratio(desk_at):
    night = desk_at(NIGHT)
    info = night.until(night.book("auto"), "INVOICE")["trip_info"]
    assert (info["night_charges_applied"], info["night_charge_ratio"]) == (True, "1.5")


def test_an_auto_whose_driver_cancels_is_allotted_again_once(desk):
    desk.control("next", scenario="driver_cancels")
    assert desk.statuses(desk.book("auto")) == [
        "PENDING",
        "ALLOTMENT_RETRYING",
        "CALL_DRIVER",
        "IN_PROGRESS",
        "INVOICE",
        "COMPLETED",
    ]


def test_an_auto_allotted_again_may_find_no_driver(desk):
    desk.control("next", scenario="driver_cancels_fail")
    assert desk.statuses(desk.book("auto")) == ["PENDING", "ALLOTMENT_RETRYING", "ALLOTMENT_FAILED"]


def test_an_auto_driver_who_was_shown_may_cancel_and_another_comes(desk):
    desk.control("next", scenario="driver_leaves")
    booking = desk.book("auto")
    first = desk.until(booking, "CALL_DRIVER")["vehicle_number"]
    assert set(desk.until(booking, "ALLOTMENT_RETRYING")) == COMMON
    assert desk.until(booking, "CALL_DRIVER")["vehicle_number"] != first


def test_another_driver_and_car_take_over_a_cab_ride_at_60_percent_of_the_approach(desk):
    desk.control("next", scenario="driver_swaps")
    booking = desk.book("mini")
    first = desk.until(booking, "CALL_DRIVER", step=1)
    plan = desk.ledger()[-1]["phases"]
    assert [phase["status"] for phase in plan[1:4]] == [
        "CALL_DRIVER",
        "CALL_DRIVER",
        "CLIENT_LOCATED",
    ]
    before_s, after_s = (later["at"] - plan[1]["at"] for later in plan[2:4])
    assert before_s >= 0.6 * 120
    assert after_s - before_s >= 120
    leapt = desk.control("leap", booking_id=booking)
    assert (leapt["booking_status"], leapt["others"]) == ("CALL_DRIVER", 0)
    second = desk.track(booking)
    fields = {"driver_name", "driver_number", "driver_rating", "vehicle_number"}
    assert all(second[name] != first[name] for name in fields - {"driver_name"})
    assert (second.get("otp"), second["booking_id"]) == (first.get("otp"), booking)
    here = desk.until(booking, "CLIENT_LOCATED")
    assert here["vehicle_number"] == second["vehicle_number"]


@pytest.mark.parametrize("category", ["mini", "auto", "rental"])
def test_no_cab_ends_in_allotment_failed_at_the_booking_timeout(desk, category):
    desk.control("next", scenario="no_cab")
    booking = desk.book(category)
    desk.clock.advance(239)
    assert desk.track(booking)["booking_status"] in ("ALLOTMENT_PENDING", "PENDING")
    desk.clock.advance(2)
    assert set(desk.track(booking)) == COMMON
    assert desk.track(booking)["booking_status"] == "ALLOTMENT_FAILED"


def test_slow_allotment_takes_150_seconds(desk):
    desk.control("next", scenario="slow_allotment")
    booking = desk.book("suv")
    desk.clock.advance(149)
    assert desk.track(booking)["booking_status"] == "ALLOTMENT_PENDING"
    desk.clock.advance(2)
    assert desk.track(booking)["booking_status"] == "CALL_DRIVER"


def test_every_phase_after_the_search_is_long_enough_to_be_polled_at_sixty_times_the_speed(desk):
    for category in ("mini", "suv", "auto", "share", "rental"):
        desk.book(category)
    for line in desk.ledger():
        times = [
            phase["at"]
            for phase in line["phases"]
            if phase["status"] not in ("ALLOTMENT_PENDING", "PENDING")
        ]
        assert all(after - before >= 119.9 for before, after in itertools.pairwise(times)), line


def test_a_ride_without_a_drop_has_one_only_when_it_ended(desk):
    booking = desk.book("suv", drop=None)
    assert desk.until(booking, "CALL_DRIVER")["drop_location"] == {"lat": 0.0, "lng": 0.0}
    assert desk.until(booking, "COMPLETED")["drop_location"]["lat"] != 0


def test_tracking_needs_an_id_that_is_known_and_the_users_own(desk):
    path = "/v1/bookings/track_ride"
    assert desk.get(path).json["code"] == "BAD_REQUEST"
    for query in ({"booking_id": "PT0"}, {"txn_id": "TX0"}, {"booking_id": "\x00' OR 1=1 --"}):
        answer = desk.get(path, **query)
        assert (answer.status_code, answer.json["code"]) == (404, "NO_BOOKING")
