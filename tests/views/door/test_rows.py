"""Rows of a door display: which cars, in which order, and labels that their guests know."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from ridedash.rides.actions.door_marks import mark, mark_of
from ridedash.service_time import REAL
from ridedash.store.actors import by_kiosk
from ridedash.store.doors import NO_DRIVER_FOR, cars_at_door, ended_without_ride
from ridedash.store.models.kiosks import Kiosk
from ridedash.store.models.orders import Order, Ride
from ridedash.store.orders import orders_by_ids
from ridedash.views.door.rows import LEFT_FOR, DoorList, colour_of, door_list, is_light
from ridedash.views.rides.facts import RideFacts
from tests.views.ride_pages import NOON, Desk, snapshot_facts

pytestmark = pytest.mark.database
DOOR = by_kiosk(3)


def shown(desk: Desk, shows: str = "room", numbers: dict[int, int] | None = None) -> DoorList:
    """What a door display shows now, read from the database as its page does."""
    home = desk.ids["desk.property"]
    with desk.services.db.read() as s:
        ids = cars_at_door(s, home, desk.now - LEFT_FOR)
        ids += ended_without_ride(s, home, desk.now)
        pages = orders_by_ids(s, home, ids, light=True)
    with desk.app.test_request_context():
        return door_list((RideFacts(p, desk.now, REAL, "en") for p in pages), numbers or {}, shows)


def coming(desk: Desk, minutes: int, **facts: Any) -> int:
    seen = snapshot_facts("point_to_point", "CALL_DRIVER", eta={"seconds": minutes * 60})
    ride = {"facts": seen} | facts.pop("ride", {})
    return desk.order("BOOKED", "CALL_DRIVER", ride=ride, **facts)


def test_cars_that_are_here_come_first_then_those_that_come_soonest_then_those_that_left(
    desk: Desk,
) -> None:
    later, soon = coming(desk, 9), coming(desk, 2)
    left = desk.order("BOOKED", "IN_PROGRESS", in_state_s=30)
    here = desk.order("BOOKED", "CLIENT_LOCATED", in_state_s=20)
    longest = desk.order("BOOKED", "CLIENT_LOCATED", in_state_s=200)
    for state, status in (("BOOKED", "COMPLETED"), ("READY", None), ("SCHEDULED", None)):
        desk.order(state, status)
    desk.order("BOOKED", "CALL_DRIVER", prop="other")
    rows = shown(desk).rows
    assert [row.id for row in rows] == [longest, here, soon, later, left]
    assert [row.state for row in rows] == ["here", "here", "coming", "coming", "left"]
    assert [row.minutes for row in rows] == ["", "", "2 min", "9 min", ""]


def test_a_row_has_what_must_be_found_in_the_street_and_no_name_code_or_phone(desk: Desk) -> None:
    desk.order("BOOKED", "CLIENT_LOCATED", otp="4821")
    row = shown(desk).rows[0].as_json()
    assert row["plate"] == "KA 01 AB 1234"
    assert row["car"] == "White · Tata Tiago"
    assert row["colour"] == "white"
    assert row["label"] == "412"
    for secret in ("Heron", "Cedar", "4821", "12345", "Airport"):
        assert secret not in str(row)


def test_a_row_goes_two_minutes_after_its_ride_began(desk: Desk) -> None:
    desk.order("BOOKED", "IN_PROGRESS", in_state_s=0)
    desk.now += LEFT_FOR - timedelta(seconds=1)
    assert [row.state for row in shown(desk).rows] == ["left"]
    desk.now += timedelta(seconds=1)
    assert shown(desk).rows == ()


def test_an_autos_bill_after_its_ride_is_no_car_at_the_door(desk: Desk) -> None:
    desk.order("BOOKED", "INVOICE", "auto", in_state_s=600)
    ours = desk.order("BOOKED", "INVOICE")
    assert [(row.id, row.state) for row in shown(desk).rows] == [(ours, "here")]


@pytest.mark.parametrize(("shows", "label"), [("room", "412"), ("initials", "GH"), ("number", "")])
def test_a_ride_is_identified_by_its_number_or_by_what_the_property_chose(
    desk: Desk, shows: str, label: str
) -> None:
    at_desk, at_kiosk = coming(desk, 2), coming(desk, 3)
    found = {row.id: row.label for row in shown(desk, shows, {at_kiosk: 27}).rows}
    assert found == {at_desk: label, at_kiosk: "K27"}


def test_at_most_eight_rows_are_sent_and_the_rest_are_counted(desk: Desk) -> None:
    for minutes in range(1, 11):
        coming(desk, minutes)
    found = shown(desk)
    assert [row.minutes for row in found.rows] == [f"{n} min" for n in range(1, 9)]
    assert found.more == 2


def test_rides_without_a_driver_yet_are_named_below(desk: Desk) -> None:
    waiting = desk.order("BOOKED", "ALLOTMENT_PENDING")
    desk.order("BOOKED", "ALLOTMENT_PENDING", room=None)
    found = shown(desk, "number", {waiting: 28})
    assert (found.rows, found.finding) == ((), ("K28",))


def ended(desk: Desk, status: str, **facts: Any) -> int:
    """A ride that ended without a driver now."""
    state = "FAILED" if facts.get("txn") else "BOOKED"
    return desk.order(state, status, ride={"ended_at": desk.now, "next_poll_at": None}, **facts)


def test_a_ride_that_found_no_driver_is_named_for_ten_minutes(desk: Desk) -> None:
    failed, shared = (
        ended(desk, "ALLOTMENT_FAILED"),
        ended(desk, "ALLOTMENT_FAILED", kind="share", txn=True, txn_id="T9"),
    )
    driver = ended(desk, "BOOKING_CANCELLED")
    guest = ended(desk, "BOOKING_CANCELLED", actions=[("cancel", "done", {})])
    again = ended(desk, "ALLOTMENT_FAILED")
    desk.order("READY", supersedes=again)
    elsewhere = ended(desk, "ALLOTMENT_FAILED", prop="other")
    numbered = enumerate((failed, shared, driver, guest, again, elsewhere), 12)
    numbers = {order_id: number for number, order_id in numbered}
    found = shown(desk, "number", numbers)
    assert sorted(found.failed) == ["K12", "K13", "K14"]
    assert (found.rows, found.finding) == ((), ())
    desk.now += NO_DRIVER_FOR - timedelta(seconds=1)
    assert len(shown(desk, "number", numbers).failed) == 3
    desk.now += timedelta(seconds=1)
    assert shown(desk, "number", numbers).failed == ()


def test_a_swapped_car_shows_the_new_plate_and_the_old_one(desk: Desk) -> None:
    coming(desk, 2, ride={"previous_plate": "KA05XY9876", "swapped_at": NOON})
    row = shown(desk).rows[0]
    assert (row.plate, row.was) == ("KA 01 AB 1234", "KA 05 XY 9876")


def test_old_updates_have_their_age_and_no_minutes(desk: Desk) -> None:
    coming(desk, 2, ride={"seen_at": NOON - timedelta(seconds=90)})
    coming(desk, 3, ride={"seen_at": NOON - timedelta(seconds=30)})
    fresh, old = sorted(shown(desk).rows, key=lambda row: bool(row.seen))
    assert (fresh.minutes, fresh.seen) == ("3 min", "")
    assert (old.minutes, old.seen) == ("", "2026-05-04T08:28:30.000Z")


def test_pickup_points_are_shown_when_there_are_several(desk: Desk) -> None:
    coming(desk, 2)
    assert [row.point for row in shown(desk).rows] == [""]
    coming(desk, 3, pickup_name="Central Station – Gate 2")
    assert [row.point for row in shown(desk).rows] == ["Main door", "Central Station – Gate 2"]


def test_a_mark_is_shown_until_another_car_comes(desk: Desk) -> None:
    order_id = desk.order("BOOKED", "CLIENT_LOCATED")
    db, home = desk.services.db, desk.ids["desk.property"]
    assert mark(db, desk.now, DOOR, home, order_id, "away")
    assert shown(desk).rows[0].mark == "away"
    desk.now += timedelta(seconds=5)
    assert mark(db, desk.now, DOOR, home, order_id, "in")
    assert shown(desk).rows[0].mark == "in"

    def swap(s: Any) -> None:
        ride = s.query(Ride).filter(Ride.order_id == order_id).one()
        ride.previous_plate, ride.swapped_at = "KA05XY9876", desk.now + timedelta(seconds=1)

    desk.add(swap)
    assert shown(desk).rows[0].mark == ""


def test_a_mark_raises_the_revision_once_and_only_of_a_ride_of_the_property(desk: Desk) -> None:
    own, home = desk.order("BOOKED", "CLIENT_LOCATED"), desk.ids["desk.property"]
    other = desk.order("BOOKED", "CLIENT_LOCATED", prop="other")
    over, planned = desk.order("BOOKED", "COMPLETED"), desk.order("SCHEDULED")
    db = desk.services.db
    assert [mark(db, desk.now, DOOR, home, each, "in") for each in (own, own)] == [True, True]
    for each in (other, over, planned, 10**12):
        assert not mark(db, desk.now, DOOR, home, each, "in")
    with db.read() as s:
        assert s.get_one(Order, own).version == 4
        assert s.get_one(Order, other).version == 3


def test_a_car_without_any_facts_is_a_row_all_the_same(desk: Desk) -> None:
    desk.order("BOOKED", "CALL_DRIVER", ride={"facts": {}})
    row = shown(desk).rows[0]
    assert (row.plate, row.car, row.minutes) == ("", "", "")


@pytest.mark.parametrize(
    ("words", "colour"),
    [("WHITE", "white"), ("pearl gray", "grey"), ("Wine", "maroon"), ("zebra", ""), (None, "")],
)
def test_colours_are_those_that_the_display_can_draw(words: str | None, colour: str) -> None:
    assert colour_of(words) == colour


def test_the_display_is_light_by_day_or_in_its_hours() -> None:
    noon, evening = datetime(2026, 5, 4, 12, 0), datetime(2026, 5, 4, 20, 30)  # a Monday
    always, of_night = Kiosk(hours={}), Kiosk(hours={"mon": [["20:00", "06:00"]]})
    assert [is_light(always, noon), is_light(always, evening)] == [True, False]
    assert [is_light(of_night, noon), is_light(of_night, evening)] == [False, True]
    assert [is_light(always, noon.replace(hour=h)) for h in (6, 7, 18, 19)] == [
        *(False, True, True, False)
    ]


def test_the_last_mark_of_the_present_car_counts(desk: Desk) -> None:
    order_id, db = coming(desk, 3), desk.services.db
    home = desk.ids["desk.property"]

    def marked() -> object:
        with db.read() as s:
            return mark_of(orders_by_ids(s, home, [order_id])[0])

    assert marked() is None  # other events of the timeline are no marks
    for name, at in (("away", NOON), ("in", NOON + timedelta(minutes=1))):
        assert mark(db, at, DOOR, home, order_id, name)
        assert marked() == (name, at)
    with db.write() as s:
        ride = s.scalars(select(Ride).where(Ride.order_id == order_id)).one()
        ride.swapped_at = NOON + timedelta(minutes=2)
    assert marked() is None
