"""The board from one request to the next: which rows are made anew, and which are reused."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from ridedash.store.models.orders import Order, Ride
from ridedash.views.board.state import Board, Shown, board_of, marks_of
from tests.views.ride_pages import Desk, make_desk

pytestmark = pytest.mark.database
SECOND = timedelta(seconds=1)


class Desks:
    """Makes boards of a property, each perhaps from an earlier board."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def board(
        self, before: Board | None = None, since: datetime | None = None, **changed: Any
    ) -> Board:
        facts = {"property_id": self.desk.ids["desk.property"], "now": self.desk.now}
        usual = {"time": self.desk.services.time(), "locale": "en", "paused": False}
        shown = Shown(**(facts | usual | changed))
        with self.desk.services.db.read() as s:
            marks = marks_of(s, shown.property_id, shown.now, since)
            return board_of(s, shown, marks, before)

    def ride(self, order_id: int, **values: Any) -> None:
        where = Ride.order_id == order_id
        self.desk.add(lambda s: s.execute(update(Ride).where(where).values(**values)))

    def order(self, order_id: int, **values: Any) -> None:
        raised = {"version": Order.version + 1} | values
        self.desk.add(lambda s: s.execute(update(Order).where(Order.id == order_id).values(raised)))


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Desks]:
    desk = make_desk(tmp_path)
    with desk.app.test_request_context("/"):
        yield Desks(desk)
    desk.close()


def test_while_the_past_of_a_demo_is_made_the_board_has_what_people_order(here: Desks) -> None:
    past, mine = here.desk.order("BOOKED", "CLIENT_LOCATED"), here.desk.order("READY")
    days_ago = here.desk.now - timedelta(days=6)
    here.order(past, created_at=days_ago)
    assert set(here.board(since=here.desk.now - timedelta(hours=1)).rows) == {mine}
    assert set(here.board().rows) == {past, mine}


def test_what_has_not_changed_is_the_same_row(here: Desks) -> None:
    moving, done = here.desk.order("BOOKED", "CALL_DRIVER"), here.desk.order("READY")
    first = here.board()
    here.desk.now += SECOND
    second = here.board(first)
    assert set(second.rows) == {moving, done}
    assert all(second.rows[each] is first.rows[each] for each in (moving, done))
    assert second.json_of({each.json["rev"] for each in first.items}) == []
    assert second.json_of(()) == [each.json for each in second.items]
    assert (second.order_rev, second.rows_rev) == (first.order_rev, first.rows_rev)


def test_a_cab_that_moves_makes_no_new_row_and_stands_elsewhere_on_the_map(here: Desks) -> None:
    order_id = here.desk.order("BOOKED", "CALL_DRIVER")
    first = here.board()
    with here.desk.services.db.read() as s:
        facts = dict(s.query(Ride).filter_by(order_id=order_id).one().facts)
    here.ride(order_id, facts=facts | {"position": [-38.51, -128.02]})
    here.order(order_id)
    second = here.board(first)
    before, moved = first.rows[order_id].item, second.rows[order_id].item
    assert moved.row is before.row
    assert moved.json is before.json
    assert moved.cab != before.cab
    assert second.cabs_rev != first.cabs_rev
    assert second.rows_rev == first.rows_rev
    third = here.board(second)
    assert third.rows[order_id] is second.rows[order_id], "it is read no more"


def test_a_new_version_with_other_facts_makes_a_new_row_and_no_other(here: Desks) -> None:
    order_id, other = here.desk.order("READY"), here.desk.order("READY")
    first = here.board()
    here.order(order_id, room="909")
    second = here.board(first)
    assert second.rows[order_id].item.row is not first.rows[order_id].item.row
    known = {each.json["rev"] for each in first.items}
    assert [each["id"] for each in second.json_of(known)] == [order_id]
    assert "909" in str(second.rows[order_id].item.json)
    assert second.rows[other] is first.rows[other]
    assert second.order_rev == first.order_rev


@pytest.mark.parametrize(
    ("later", "reused"),
    [(0.0, True), (29.9, True), (30.0, False), (-0.1, False)],
)
def test_a_row_serves_half_a_minute_and_never_before_it_was_made(
    here: Desks, later: float, reused: bool
) -> None:
    order_id = here.desk.order("READY")
    far = here.desk.now + timedelta(hours=2)
    here.order(order_id, state="SCHEDULED", pickup_at=far, due_at=far, ready_at=None)
    first = here.board()
    assert first.rows[order_id].until == here.desk.now + timedelta(seconds=30)
    second = here.board(first, now=here.desk.now + timedelta(seconds=later))
    assert (second.rows[order_id] is first.rows[order_id]) is reused


def test_rows_of_rides_that_are_not_updated_are_made_anew(here: Desks) -> None:
    order_id = here.desk.order("BOOKED", "CALL_DRIVER")
    first = here.board()
    paused = here.board(first, paused=True)
    assert paused.rows[order_id] is not first.rows[order_id]
    assert here.board(paused, paused=True).rows[order_id] is paused.rows[order_id]
    here.ride(order_id, seen_at=here.desk.now - timedelta(hours=1))
    here.order(order_id)
    stale = here.board(first)
    assert stale.rows[order_id].key.stale
    assert stale.rows[order_id].item.json != first.rows[order_id].item.json
    here.order(order_id)
    again = here.board(stale)
    assert again.rows[order_id].item is not stale.rows[order_id].item


def test_a_ride_that_leaves_the_board_takes_its_row_with_it(here: Desks) -> None:
    order_id, other = here.desk.order("READY"), here.desk.order("UNKNOWN")
    first = here.board()
    assert first.needs == 1
    elsewhere = here.desk.ids["other.property"]
    here.order(order_id, property_id=elsewhere)
    second = here.board(first)
    assert (set(second.rows), second.order) == ({other}, [other])
    assert second.order_rev != first.order_rev
    assert set(here.board(property_id=elsewhere).rows) == {order_id}
