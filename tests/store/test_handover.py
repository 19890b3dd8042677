"""What the next shift must know of: unclear orders, rides that go on, plans, and notes."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from ridedash.store import handover
from ridedash.store.models.desk import ShiftNote
from ridedash.store.models.orders import Order
from tests.views.ride_pages import NOON, Desk

pytestmark = pytest.mark.database
HOURS = timedelta(hours=1)
MILLISECOND = timedelta(milliseconds=1)


def ahead(desk: Desk) -> handover.Ahead:
    with desk.services.db.read() as s:
        return handover.ahead(s, desk.ids["desk.property"], NOON)


def planned(desk: Desk, hours: float, **facts: Any) -> int:
    order_id = desk.order("SCHEDULED", **facts)
    desk.add(lambda s: setattr(s.get(Order, order_id), "pickup_at", NOON + hours * HOURS))
    return order_id


def notes(desk: Desk) -> list[tuple[str, str | None]]:
    with desk.services.db.read() as s:
        return [(n.text, n.done_by) for n in handover.notes(s, desk.ids["desk.property"], NOON)]


def test_orders_are_listed_by_what_is_to_be_done_with_them_in_their_property(desk: Desk) -> None:
    unknown = [desk.order("UNKNOWN") for _ in range(2)]
    going = [desk.order(state) for state in ("WAITING", "READY", "SENDING", "MATCHING")]
    going.append(desk.order("BOOKED", "CALL_DRIVER"))
    over = {"ended_at": NOON, "next_poll_at": NOON}
    desk.order("BOOKED", "COMPLETED", ride=over)  # ended; one last poll is still due
    desk.order("BOOKED", "IN_PROGRESS", ride={"next_poll_at": None})
    desk.order("REJECTED")
    for state in ("UNKNOWN", "READY", "BOOKED"):
        desk.order(state, "CALL_DRIVER" if state == "BOOKED" else None, prop="other")
    planned(desk, 1, prop="other")
    planned(desk, 30, prop="other")
    assert ahead(desk) == handover.Ahead(tuple(unknown), tuple(going), (), 0)


def test_plans_of_twelve_hours_are_listed_the_soonest_first_and_later_ones_counted(
    desk: Desk,
) -> None:
    late, soon, overdue = planned(desk, 11.999), planned(desk, 1), planned(desk, -1)
    planned(desk, 12)
    planned(desk, 40)
    found = ahead(desk)
    assert (found.planned, found.later) == ((overdue, soon, late), 2)


def test_open_notes_come_first_the_oldest_first_then_those_done_in_this_shift(desk: Desk) -> None:
    property_id, mine = desk.ids["desk.property"], desk.ids["desk"]
    texts = ("first", "second", "done long ago", "done early", "done late")
    for text in texts:
        desk.add(
            lambda s, text=text: handover.add_note(s, property_id, mine, text, NOON - 20 * HOURS)
        )
    desk.add(lambda s: handover.add_note(s, desk.ids["other.property"], mine, "theirs", NOON))
    done = {"done long ago": 12 * HOURS + MILLISECOND, "done early": 12 * HOURS, "done late": HOURS}
    with desk.services.db.write() as s:
        for note in s.scalars(select(ShiftNote)).all():
            if note.text in done:
                at = NOON - done[note.text]
                assert handover.settle_note(s, property_id, note.id, mine, at, done=True)
    with desk.services.db.read() as s:
        name = handover.notes(s, property_id, NOON)[0].by
    assert notes(desk) == [
        ("first", None),
        ("second", None),
        ("done late", name),
        ("done early", name),
    ]


def test_who_marked_a_note_first_stays_until_it_is_open_again(desk: Desk) -> None:
    property_id, mine = desk.ids["desk.property"], desk.ids["desk"]
    desk.add(lambda s: handover.add_note(s, property_id, mine, "keys", NOON - HOURS))
    with desk.services.db.read() as s:
        [note] = handover.notes(s, property_id, NOON)
        assert (note.text, note.made_at) == ("keys", NOON - HOURS)

    def settle(at: timedelta, *, done: bool, where: int = property_id) -> tuple[bool, Any, Any]:
        with desk.services.db.write() as s:
            taken = handover.settle_note(s, where, note.id, mine, NOON - at, done=done)
            row = s.get_one(ShiftNote, note.id)
            return taken, row.done_at, row.done_by

    assert settle(3 * HOURS, done=True, where=desk.ids["other.property"]) == (False, None, None)
    assert settle(3 * HOURS, done=False) == (True, None, None)
    assert settle(2 * HOURS, done=True) == (True, NOON - 2 * HOURS, mine)
    assert settle(HOURS, done=True) == (True, NOON - 2 * HOURS, mine)
    assert settle(HOURS, done=False) == (True, None, None)
    assert settle(HOURS, done=True) == (True, NOON - HOURS, mine)
