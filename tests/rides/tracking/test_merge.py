"""Merging answers into a ride, with chosen examples and with random answers."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridedash import wire
from ridedash.geo import LatLng
from ridedash.rides.tracking.merge import Merged, RideState, merge, rank, shown
from ridedash.service.parsing.fields import Duration
from ridedash.service.types.tracking import PriceDetails, RouteStop, Snapshot, TripInfo
from ridedash.wire import Kind

NOW = datetime(2026, 3, 1, 14, 0, tzinfo=UTC)
SHARE, AUTO, TAXI = Kind.SHARE, Kind.AUTO, Kind.POINT_TO_POINT
CAB: dict[str, Any] = {
    "driver_name": "Driver Cedar",
    "driver_number": "+10000000001",
    "vehicle_number": "PM 01 AB 1234",
    "vehicle_color": "white",
    "position": LatLng(-38.5, -128.0),
}


def snap(status: str | None, **facts: Any) -> Snapshot:
    return Snapshot(booking_status=status, **facts)


def follow(kind: Kind, *snapshots: Snapshot, **start: Any) -> tuple[RideState, list[str]]:
    """Merge answers into a new ride. Returns the ride, and the names of all events."""
    ride, names = RideState(kind=kind, booking_id="B1", **start), []
    for seq, snapshot in enumerate(snapshots, 1):
        merged = merge(ride, snapshot, seq, NOW + timedelta(seconds=seq))
        ride = merged.ride
        names += [event.name for event in merged.events]
    return ride, names


@pytest.mark.parametrize(
    ("kind", "statuses"),
    [
        (TAXI, "ALLOTMENT_PENDING CALL_DRIVER CLIENT_LOCATED IN_PROGRESS COMPLETED"),
        (TAXI, "ALLOTMENT_PENDING CALL_DRIVER CLIENT_LOCATED INVOICE IN_PROGRESS COMPLETED"),
        (TAXI, "SOFT_ALLOCATED CALL_DRIVER IN_PROGRESS BOOKING_CANCELLED"),
        (SHARE, "ALLOTMENT_PENDING CALL_DRIVER CLIENT_LOCATED INVOICE IN_PROGRESS COMPLETED"),
        (AUTO, "PENDING CALL_DRIVER IN_PROGRESS INVOICE COMPLETED"),
        (AUTO, "PENDING ALLOTMENT_RETRYING CALL_DRIVER IN_PROGRESS INVOICE COMPLETED"),
        (AUTO, "PENDING CALL_DRIVER ALLOTMENT_RETRYING CALL_DRIVER IN_PROGRESS INVOICE COMPLETED"),
        (AUTO, "PENDING ALLOTMENT_RETRYING ALLOTMENT_FAILED"),
    ],
)
def test_each_kind_goes_through_its_own_states_at_the_first_sighting(
    kind: Kind, statuses: str
) -> None:
    ride = RideState(kind=kind)
    for seq, status in enumerate(statuses.split(), 1):
        ride = merge(ride, snap(status), seq, NOW).ride
        assert ride.status == status
    assert ride.ended_at == NOW


def test_an_older_answer_is_dropped_whole() -> None:
    ride = merge(RideState(kind=TAXI), snap("IN_PROGRESS", **CAB), 5, NOW).ride
    assert merge(ride, snap("COMPLETED"), 4, NOW) == Merged(ride)
    assert merge(ride, snap("COMPLETED"), 5, NOW) == Merged(ride)


def test_a_step_back_needs_two_sightings_in_a_row() -> None:
    once, _ = follow(
        TAXI,
        snap("IN_PROGRESS"),
        snap("CALL_DRIVER", otp="9999"),
        snap("IN_PROGRESS"),
        snap("CALL_DRIVER"),
    )
    assert (once.status, once.otp) == ("IN_PROGRESS", None)
    twice, _ = follow(TAXI, snap("IN_PROGRESS"), snap("CALL_DRIVER"), snap("CALL_DRIVER"))
    assert twice.status == "CALL_DRIVER"


def test_the_one_retry_of_auto_is_believed_once() -> None:
    ride, _ = follow(
        AUTO,
        snap("CALL_DRIVER"),
        snap("ALLOTMENT_RETRYING"),
        snap("CALL_DRIVER"),
        snap("ALLOTMENT_RETRYING"),
    )
    assert ride.status == "CALL_DRIVER"


def test_the_end_absorbs_and_a_later_live_state_is_an_alarm() -> None:
    ride, names = follow(
        TAXI,
        snap("COMPLETED", **CAB),
        snap("IN_PROGRESS"),
        snap("IN_PROGRESS"),
        snap("BOOKING_CANCELLED"),
    )
    assert ride.status == "COMPLETED"
    assert names.count("after_end") == 3


def test_an_unknown_status_keeps_the_last_one_and_is_an_event_once() -> None:
    ride, names = follow(TAXI, snap("CALL_DRIVER"), snap("TELEPORTING"), snap("TELEPORTING"))
    assert (ride.status, ride.reported, names.count("unknown_status")) == (
        "CALL_DRIVER",
        "TELEPORTING",
        1,
    )
    ride, _ = follow(TAXI, snap("CALL_DRIVER"), snap("TELEPORTING"), snap("CLIENT_LOCATED"))
    assert (ride.status, ride.reported) == ("CLIENT_LOCATED", None)


def test_a_missing_status_keeps_the_last_one() -> None:
    assert follow(TAXI, snap("CALL_DRIVER"), snap(None))[0].status == "CALL_DRIVER"


def test_the_reduced_last_answer_erases_nothing() -> None:
    stops = (RouteStop(name="Guest Heron", state="pickup", position=LatLng(1, 2)),)
    full = snap(
        "IN_PROGRESS",
        **CAB,
        route=stops,
        passengers=("Guest Heron",),
        price=PriceDetails(fare=Decimal(90)),
    )
    ride, _ = follow(SHARE, full, snap("COMPLETED", price=PriceDetails(service_tax=Decimal(5))))
    assert ride.facts.vehicle_number == "PM 01 AB 1234"
    assert ride.facts.route == stops
    assert ride.facts.passengers == ("Guest Heron",)
    assert ride.facts.price == PriceDetails(fare=Decimal(90), service_tax=Decimal(5))
    assert ride.position_at == NOW + timedelta(seconds=1)


def test_what_no_page_shows_is_not_stored() -> None:
    ride, _ = follow(SHARE, snap("CALL_DRIVER", **CAB, speed=31.5, promotional_message="Hello"))
    assert (ride.facts.speed, ride.facts.promotional_message) == (None, None)


def test_the_invoice_of_auto_keeps_what_completed_no_longer_says() -> None:
    bill = TripInfo(
        billing_enabled=True, payable_amount=Decimal(186), trip_time=Duration(seconds=900)
    )
    paid = TripInfo(billing_enabled=True, cash_paid=Decimal(186), ride_time=Duration(seconds=900))
    ride, _ = follow(AUTO, snap("INVOICE", trip=bill), snap("COMPLETED", trip=paid))
    assert ride.facts.trip is not None
    assert (ride.facts.trip.payable_amount, ride.facts.trip.cash_paid) == (
        Decimal(186),
        Decimal(186),
    )


def test_the_first_passengers_stay() -> None:
    ride, _ = follow(
        SHARE, snap("CALL_DRIVER"), snap("CALL_DRIVER", passengers=("A", "B")), snap("CALL_DRIVER")
    )
    assert ride.facts.passengers == ("A", "B")


@pytest.mark.parametrize("after", ["INVOICE", "CLIENT_LOCATED", "IN_PROGRESS", "BOOKING_CANCELLED"])
def test_the_start_code_stays_only_while_it_is_sent(after: str) -> None:
    ride, _ = follow(SHARE, snap("CALL_DRIVER"), snap("CLIENT_LOCATED", otp="4321"))
    assert ride.otp == "4321"
    assert ride.facts.otp is None
    assert merge(ride, snap(after), 9, NOW).ride.otp is None


def test_a_start_code_outside_its_states_is_not_taken() -> None:
    assert follow(SHARE, snap("IN_PROGRESS", otp="4321"))[0].otp is None


def test_an_answer_about_another_booking_changes_nothing() -> None:
    ride, names = follow(
        TAXI,
        snap("CALL_DRIVER", **CAB),
        snap("COMPLETED", booking_id="B2", driver_name="Driver Oak"),
    )
    assert (ride.status, ride.facts.driver_name, names[-1]) == (
        "CALL_DRIVER",
        "Driver Cedar",
        "other_booking",
    )
    assert ride.seen_at == NOW + timedelta(seconds=1)


def test_a_lost_driver_is_forgotten_at_once() -> None:
    ride, names = follow(AUTO, snap("CALL_DRIVER", **CAB), snap("ALLOTMENT_RETRYING", **CAB))
    assert "driver_lost" in names
    assert (ride.facts.driver_name, ride.facts.vehicle_number, ride.facts.position) == (
        None,
        None,
        None,
    )
    assert ride.position_at is None


def test_the_free_time_counts_from_the_first_driver_although_another_one_comes() -> None:
    first, _names = follow(AUTO, snap("CALL_DRIVER", **CAB))
    later = merge(first, snap("ALLOTMENT_RETRYING"), 10, NOW + timedelta(minutes=1)).ride
    again = merge(later, snap("CALL_DRIVER", **CAB), 11, NOW + timedelta(minutes=4)).ride
    assert first.allotted_at is not None
    assert (later.allotted_at, again.allotted_at) == (first.allotted_at, first.allotted_at)


def test_another_plate_in_the_same_state_is_a_swapped_car() -> None:
    other = {"vehicle_number": "PM 05 XY 7777", "driver_name": "Driver Birch"}
    ride, names = follow(TAXI, snap("CALL_DRIVER", **CAB), snap("CALL_DRIVER", **other))
    assert "car_swapped" in names
    assert (ride.facts.vehicle_number, ride.previous_plate) == ("PM 05 XY 7777", "PM 01 AB 1234")
    assert ride.facts.vehicle_color is None, (
        "the colour of the old car must not be shown for the new one"
    )


def test_a_plate_spelled_otherwise_is_the_same_car() -> None:
    _, names = follow(
        TAXI, snap("CALL_DRIVER", **CAB), snap("CALL_DRIVER", vehicle_number="pm01ab1234")
    )
    assert "car_swapped" not in names


def test_the_time_to_the_pickup_is_not_shown_as_the_time_to_the_drop() -> None:
    ride, _ = follow(AUTO, snap("CALL_DRIVER", eta=Duration(seconds=60)), snap("IN_PROGRESS"))
    assert ride.facts.eta is None


def test_a_booking_id_that_comes_later_is_taken_once() -> None:
    first = merge(RideState(kind=SHARE, txn_id="T1"), snap("ALLOTMENT_PENDING"), 1, NOW)
    second = merge(first.ride, snap("CALL_DRIVER", booking_id="S9"), 2, NOW)
    assert (second.ride.booking_id, second.events[0].name) == ("S9", "handover")


def test_a_poll_that_brings_nothing_new_changes_nothing_that_is_shown() -> None:
    ride, _ = follow(TAXI, snap("CALL_DRIVER", **CAB))
    again = merge(ride, snap("CALL_DRIVER", **CAB), 2, NOW + timedelta(seconds=9))
    assert not again.changed
    assert again.ride.seen_at == NOW + timedelta(seconds=9)


def test_merged_facts_survive_being_stored() -> None:
    ride, _ = follow(
        SHARE, snap("CLIENT_LOCATED", **CAB, otp="4321", price=PriceDetails(fare=Decimal("90.50")))
    )
    stored = ride.facts.model_dump(mode="json")
    assert Snapshot.model_validate(stored) == ride.facts
    assert "4321" not in str(stored)


STATUSES = st.sampled_from(
    [
        *(
            "ALLOTMENT_PENDING",
            "PENDING",
            "ALLOTMENT_RETRYING",
            "SOFT_ALLOCATED",
            "CALL_DRIVER",
            "CLIENT_LOCATED",
        ),
        *(
            "INVOICE",
            "IN_PROGRESS",
            "COMPLETED",
            "ALLOTMENT_FAILED",
            "BOOKING_CANCELLED",
            "WHAT_IS_THIS",
            None,
        ),
    ]
)
TEXTS = st.sampled_from([None, "a", "b"])
SNAPSHOTS = st.builds(
    Snapshot,
    booking_status=STATUSES,
    booking_id=st.sampled_from([None, "B1", "B2"]),
    otp=st.sampled_from([None, "1111", "2222"]),
    vehicle_number=st.sampled_from([None, "P 1", "P 2"]),
    driver_name=TEXTS,
    passengers=st.sampled_from([(), ("x",), ("y", "z")]),
    position=st.sampled_from([None, LatLng(1.0, 2.0), LatLng(3.0, 4.0)]),
    price=st.sampled_from(
        [None, PriceDetails(fare=Decimal(1)), PriceDetails(toll_charges=Decimal(2))]
    ),
)
ANSWERS = st.lists(st.tuples(st.integers(1, 12), SNAPSHOTS), max_size=14)


@given(st.sampled_from(list(Kind)), ANSWERS)
def test_whatever_comes_in_whatever_order_the_ride_stays_sound(
    kind: Kind, answers: list[tuple[int, Snapshot]]
) -> None:
    ride, previous_status = RideState(kind=kind, txn_id="T1"), None
    for seq, snapshot in answers:
        before, merged = ride, merge(ride, snapshot, seq, NOW)
        ride = merged.ride
        names = {event.name for event in merged.events}
        assert ride.merged_seq >= before.merged_seq
        assert before.booking_id in {None, ride.booking_id}, "a booking id never changes"
        assert ride.booking_id in {None, *(s.booking_id for _, s in answers)}
        if before.ended_at:
            assert (ride.status, ride.ended_at) == (before.status, before.ended_at)
        if ride.otp:
            assert ride.status in {"CLIENT_LOCATED", "INVOICE", "SOFT_ALLOCATED"}
        if before.facts.passengers:
            assert ride.facts.passengers == before.facts.passengers
        if before.facts.vehicle_number and not names & {"driver_lost", "car_swapped"}:
            assert ride.facts.vehicle_number
        if before.facts.price:
            assert ride.facts.price
        if ride.status not in wire.CAB_KNOWN and ride.status not in {
            "COMPLETED",
            "BOOKING_CANCELLED",
            "ALLOTMENT_FAILED",
        }:
            assert ride.facts.vehicle_number is None
        if rank(kind, ride.status) < rank(kind, before.status) and not (
            kind is AUTO and ride.status == "ALLOTMENT_RETRYING"
        ):
            assert before.back_status == ride.status, "a step back was seen before"
        assert merged.changed == (shown(before) != shown(ride))
        assert ride.facts.otp is None
        previous_status = ride.status
    assert previous_status == ride.status


@given(st.sampled_from(list(Kind)), ANSWERS)
def test_an_answer_that_comes_late_or_twice_makes_no_difference(
    kind: Kind, answers: list[tuple[int, Snapshot]]
) -> None:
    def run(some: list[tuple[int, Snapshot]]) -> RideState:
        ride = RideState(kind=kind)
        for seq, snapshot in some:
            ride = merge(ride, snapshot, seq, NOW).ride
        return ride

    highest, rising = 0, []
    for seq, snapshot in answers:
        if seq > highest:
            rising.append((seq, snapshot))
            highest = seq
    assert run(answers) == run(rising) == run([pair for pair in rising for _ in range(2)])


SEARCH = [{"ALLOTMENT_PENDING", "PENDING"}, {"SOFT_ALLOCATED"}, {"ALLOTMENT_RETRYING"}]
ENDS = {"COMPLETED", "ALLOTMENT_FAILED", "BOOKING_CANCELLED"}


@pytest.mark.parametrize(
    ("kind", "later"),
    [
        (Kind.POINT_TO_POINT, ["CALL_DRIVER", "CLIENT_LOCATED", "INVOICE", "IN_PROGRESS"]),
        (Kind.SHARE, ["CALL_DRIVER", "CLIENT_LOCATED", "INVOICE", "IN_PROGRESS"]),
        (Kind.AUTO, ["CALL_DRIVER", "CLIENT_LOCATED", "IN_PROGRESS", "INVOICE"]),
    ],
)
def test_no_status_comes_before_one_that_is_earlier_in_the_sequence(
    kind: Kind, later: list[str]
) -> None:
    order = [{None}, *SEARCH, *({status} for status in later), ENDS]
    ranks = [{rank(kind, status) for status in each} for each in order]
    assert all(len(each) == 1 for each in ranks), "these are equally far"
    flat = [next(iter(each)) for each in ranks]
    assert flat == sorted(set(flat))
