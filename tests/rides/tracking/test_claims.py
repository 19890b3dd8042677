"""Which due rides are claimed, in which order, and what a lease, a release and a delay write."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from ridedash.rides.tracking import claims
from ridedash.rides.tracking.claims import Bounds, claim_due, make_due, postpone, release
from ridedash.store.models.orders import Attention, Ride
from tests.locks import locked
from tests.views.ride_pages import NOON, Desk

pytestmark = pytest.mark.database
MILLISECOND, SECOND = timedelta(milliseconds=1), timedelta(seconds=1)
ALL = Bounds(9, 9)


def due(desk: Desk, status: str | None = "CALL_DRIVER", late_s: float = 0, **ride: Any) -> int:
    lease = {name: ride.pop(name, None) for name in ("lease_until", "owner")}
    at = NOON - late_s * SECOND
    made = desk.order("BOOKED", status, ride={"next_poll_at": at, **ride})
    with desk.services.db.write() as s:
        row = s.query(Ride).filter_by(order_id=made).one()
        row.lease_until, row.owner = lease["lease_until"], lease["owner"]
    return made


def claimed(desk: Desk, bounds: Bounds = ALL) -> list[int]:
    return [claim.order_id for claim in claim_due(desk.services.db, NOON, bounds, "w")]


def rows(desk: Desk) -> dict[int, Ride]:
    with desk.services.db.read() as s:
        return {row.order_id: row for row in s.query(Ride)}


def test_a_due_ride_is_leased_for_fifteen_seconds_the_longest_overdue_first(desk: Desk) -> None:
    second, first = due(desk, late_s=1), due(desk, late_s=2)
    third = due(desk, lease_until=NOON, owner="gone")
    due(desk, late_s=-0.001)
    due(desk, late_s=9, lease_until=NOON + MILLISECOND)
    due(desk, "COMPLETED", next_poll_at=None)
    found = claim_due(desk.services.db, NOON, ALL, "w")
    assert [claim.order_id for claim in found] == [first, second, third]
    row = rows(desk)[first]
    assert (row.lease_until, row.owner, row.poll_seq) == (NOON + 15 * SECOND, "w", 5)
    claim = found[0]
    assert (claim.ride_id, claim.account_id, claim.seq) == (row.id, row.account_id, 5)
    assert (claim.booking_id, claim.txn_id, claim.at) == (row.booking_id, None, NOON)
    assert (claim.row.order_state, claim.row.booking_timeout_s) == ("BOOKED", 90.0)
    assert "row" not in repr(claim)
    assert claimed(desk) == []


def test_rides_whose_guest_waits_or_that_waited_long_come_before_the_rest(desk: Desk) -> None:
    rest = due(desk, "IN_PROGRESS", 19.999)
    aged = due(desk, "IN_PROGRESS", 20)
    new = due(desk, None, 3)
    searching, here = due(desk, "PENDING", 2), due(desk, "CLIENT_LOCATED", 1)
    assert claimed(desk, Bounds(3, 0)) == [aged, new, searching]
    assert claimed(desk, Bounds(3, 1)) == [here]
    assert claimed(desk, Bounds(3, 1)) == [rest]


def test_the_rest_is_claimed_as_far_as_there_is_capacity_for_it(desk: Desk) -> None:
    rest = [due(desk, "IN_PROGRESS", late_s) for late_s in (9, 8, 7)]
    waits = due(desk, "CALL_DRIVER", 1)
    assert claimed(desk, Bounds(0, 0)) == []
    assert claimed(desk, Bounds(9, 3)) == [waits, *rest[:2]]
    with desk.services.db.write() as s:
        s.execute(text("UPDATE rides SET lease_until = NULL"))
    assert claimed(desk, Bounds(2, 2)) == rest[:2]


def test_one_ride_may_be_claimed_where_one_is_due(desk: Desk) -> None:
    one = due(desk)
    assert claimed(desk, Bounds(1, 0)) == [one]


def test_a_ride_whose_row_is_unreadable_does_not_keep_the_others_waiting(desk: Desk) -> None:
    if desk.services.db.dialect == "postgresql":
        pytest.skip("its columns hold nothing that can't be read")
    broken, first, second = (due(desk, late_s=n) for n in (3, 2, 1))
    with desk.services.db.write() as s:
        spoiled = text("UPDATE rides SET position_at = 'soon' WHERE order_id = :id")
        s.execute(spoiled, {"id": broken})
    assert claimed(desk) == [first, second]
    with desk.services.db.read() as s:
        assert [(item.order_id, item.name) for item in s.query(Attention)] == [
            (broken, claims.POISON)
        ]
    assert claimed(desk) == []


@pytest.mark.parametrize(
    ("status", "waits"),
    [(None, True), ("PENDING", True), ("CALL_DRIVER", True), ("IN_PROGRESS", False)],
)
def test_a_guest_waits_until_the_cab_is_here(desk: Desk, status: str | None, waits: bool) -> None:
    due(desk, status)
    [claim] = claim_due(desk.services.db, NOON, ALL, "w")
    assert claim.guest_waits is waits


def test_every_followed_ride_can_be_made_due_at_once(desk: Desk) -> None:
    later, over = due(desk, late_s=-9), due(desk, "COMPLETED", next_poll_at=None)
    early = due(desk, late_s=9)
    make_due(desk.services.db, NOON)
    at = {order_id: row.next_poll_at for order_id, row in rows(desk).items()}
    assert at == {later: NOON, over: None, early: NOON - 9 * SECOND}


def test_a_claim_is_given_back_unless_another_one_was_made_since(desk: Desk) -> None:
    first, second, third = (due(desk, late_s=n) for n in (3, 2, 1))
    found = claim_due(desk.services.db, NOON, ALL, "w")
    with desk.services.db.write() as s:
        s.execute(text("UPDATE rides SET poll_seq = 9 WHERE order_id = :id"), {"id": second})
    release(desk.services.db, found[:2])
    leases = {order_id: (row.lease_until, row.owner) for order_id, row in rows(desk).items()}
    still_leased = (NOON + 15 * SECOND, "w")
    assert leases == {first: (None, None), second: still_leased, third: still_leased}


def test_a_poison_ride_waits_longer_each_time_and_needs_a_person(desk: Desk) -> None:
    mine, other = due(desk, lease_until=NOON, owner="w"), due(desk)
    ride_id = rows(desk)[mine].id

    def put_off(seq: int | None, times: int) -> tuple[Any, ...]:
        postpone(desk.services.db, ride_id, seq, times, NOON, "Why")
        row = rows(desk)[mine]
        with desk.services.db.read() as s:
            raised = [(item.order_id, item.name, item.detail) for item in s.query(Attention)]
        assert rows(desk)[other].next_poll_at == NOON
        return row.next_poll_at, row.interval_s, row.poison, row.owner, raised

    assert put_off(3, 1) == (NOON, 4.0, 0, "w", []), "it was claimed since"
    wait = claims.poison_wait_s(1)
    item = [(mine, claims.POISON, "Why")]
    assert put_off(4, 1) == (NOON + wait * SECOND, wait, 1, None, item)
    assert rows(desk)[mine].lease_until is None
    later = claims.poison_wait_s(2)
    with locked() as tables:
        put_off(3, 2)
    assert tables == {"orders"}
    assert put_off(None, 2) == (NOON + later * SECOND, later, 2, None, item)
