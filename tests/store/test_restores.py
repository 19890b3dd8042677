"""A restored database: its identity, its watermark, and the orders that it holds or has lost."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from ridedash.store import restores
from ridedash.store.models.orders import Heartbeat, Order
from ridedash.store.models.people import Property
from ridedash.store.models.restores import LostOrder, Restore, Watermark
from ridedash.store.restores import KnownOrder, Waiting
from tests.locks import locked
from tests.views.ride_pages import NOON, Desk

pytestmark = pytest.mark.database
MICROSECOND = timedelta(microseconds=1)


def lost(reference: str, **facts: Any) -> dict[str, Any]:
    given = {"account_id": 1, "category": "mini", "attempt": 1, "sent_at": NOON, "listed_at": NOON}
    none = dict.fromkeys(("property_id", "outcome", "closed_at", "order_id"))
    return {"mtx": reference, **given, **none, **facts}


def test_a_database_is_called_after_its_first_property_until_it_begins_anew(desk: Desk) -> None:
    with desk.services.db.write() as s:
        name = restores.identity(s)
        assert len(name) == 16
        first, second = s.scalars(select(Property).order_by(Property.id)).all()
        second.created_at += MICROSECOND
        assert restores.identity(s) == name
        restores.begin_anew(s)
        assert first.created_at == NOON + MICROSECOND
        assert second.created_at == NOON + MICROSECOND
        s.flush()
        assert restores.identity(s) not in ("", name)


def test_the_watermark_is_one_row_that_is_made_and_locked(desk: Desk) -> None:
    with desk.services.db.write() as s:
        s.query(Watermark).delete()
        assert restores.epoch(s) == 0
        with locked(s) as tables:
            row = restores.watermark(s)
        assert tables == {"watermark"}
        assert (row.id, row.epoch, row.beats, row.beat_at) == (1, 0, 0, None)
        row.epoch, row.beats = 3, 7
        s.flush()
        assert restores.watermark(s) is row
        assert restores.epoch(s) == 3
        for of, beats, holds in ((3, 7, True), (3, 6, True), (3, 8, False), (2, 7, False)):
            found = s.connection().scalar(select(restores.is_at_least(of, beats)))
            assert bool(found) is holds


def test_the_last_known_time_is_of_the_watermark_else_of_a_heartbeat(desk: Desk) -> None:
    with desk.services.db.write() as s:
        s.add(Heartbeat(worker="later", beat_at=NOON + MICROSECOND))
        restores.watermark(s).beat_at = None
        s.flush()
        assert restores.last_known_moment(s) == NOON + MICROSECOND
        restores.watermark(s).beat_at = NOON
        s.flush()
        assert restores.last_known_moment(s) == NOON


def test_orders_and_lost_ones_are_found_by_their_references(desk: Desk) -> None:
    here, _other = desk.order("UNKNOWN"), desk.order("READY")
    with desk.services.db.write() as s:
        order = s.get_one(Order, here)
        order.attempt = 2
        s.flush()
        assert restores.known_orders(s, [order.mtx, "none"]) == [
            KnownOrder(here, order.mtx, 2, "UNKNOWN")  # type: ignore[arg-type]
        ]
        rows = [lost("open"), lost("closed", closed_at=NOON), lost("known", outcome={"a": 1})]
        restores.list_lost(s, [*rows, lost("not asked for")])
        found = restores.listed(s, ["open", "closed", "known", "none"])
        assert found == {"open": False, "closed": True, "known": True}


def test_a_property_that_is_younger_than_an_order_is_not_its_own(desk: Desk) -> None:
    property_id = desk.ids["desk.property"]
    with desk.services.db.read() as s:
        assert restores.property_of(s, property_id, NOON) == property_id
        assert restores.property_of(s, property_id, NOON - MICROSECOND) is None
        assert restores.property_of(s, 1_000, NOON) is None


def test_the_last_restore_is_open_until_it_is_accepted(desk: Desk) -> None:
    with desk.services.db.write() as s:
        assert restores.open_restore(s) is None
        assert restores.last_restore(s) is None
        assert restores.waiting(s) is None
        rows = [Restore(restored_to=NOON, noticed_at=NOON) for _ in range(2)]
        for row in rows:
            s.add(row)
            s.flush()
        assert restores.last_restore(s) is rows[1]
        assert restores.open_restore(s) is rows[1]
        assert restores.waiting(s) == Waiting(NOON, is_open=True, held=0, lost=0)
        rows[1].accepted_at = NOON
        assert restores.open_restore(s) is None
        assert restores.waiting(s) is None


def test_what_waits_is_counted_by_property_and_without_one(desk: Desk) -> None:
    property_id, other = desk.ids["desk.property"], desk.ids["other.property"]
    pickup = {"late": 2, "soon": 1}
    held = {name: desk.order("SCHEDULED", held_at=NOON) for name in pickup}
    waits = desk.order("WAITING", held_at=NOON, prop="other")
    desk.order("SCHEDULED")
    desk.order("BOOKED", held_at=NOON)
    hour = timedelta(hours=1)
    with desk.services.db.write() as s:
        for name, order_id in held.items():
            s.get_one(Order, order_id).pickup_at = NOON + pickup[name] * hour
        s.get_one(Order, waits).pickup_at = NOON
        s.add(Restore(restored_to=None, noticed_at=NOON, accepted_at=NOON))
        rows = [
            lost("early", property_id=property_id, sent_at=NOON - hour),
            lost("late", property_id=property_id),
            lost("closed", property_id=property_id, closed_at=NOON),
            lost("theirs", property_id=other, sent_at=NOON - 2 * hour),
            lost("homeless"),
            lost("homeless before", sent_at=NOON - hour),
            lost("dealt with", closed_at=NOON),
        ]
        restores.list_lost(s, rows)
        count = restores.waiting
        assert count(s, property_id) == Waiting(None, is_open=False, held=2, lost=2)
        assert count(s, property_id, homeless=True) == Waiting(None, is_open=False, held=2, lost=4)
        assert count(s, other) == Waiting(None, is_open=False, held=1, lost=1)
        assert count(s) == Waiting(None, is_open=False, held=3, lost=5)
        assert count(s, 1_000) is None

        def names(found: list[LostOrder]) -> list[str]:
            return [row.mtx for row in found]

        assert names(restores.lost_orders(s, property_id)) == ["late", "early"]
        assert len(restores.lost_orders(s)) == 5
        assert names(restores.homeless_orders(s)) == ["homeless", "homeless before"]
        plans = [row.id for row in restores.held_orders(s, property_id)]
        assert plans == [held["soon"], held["late"]]
        assert len(restores.held_orders(s)) == 3


def test_only_held_or_only_lost_orders_wait_too(desk: Desk) -> None:
    desk.order("SCHEDULED", held_at=NOON)
    with desk.services.db.write() as s:
        s.add(Restore(restored_to=None, noticed_at=NOON, accepted_at=NOON))
        restores.list_lost(s, [lost("theirs", property_id=desk.ids["other.property"])])
        s.flush()
        held = restores.waiting(s, desk.ids["desk.property"])
        assert held == Waiting(None, is_open=False, held=1, lost=0)
        gone = restores.waiting(s, desk.ids["other.property"])
        assert gone == Waiting(None, is_open=False, held=0, lost=1)


def test_one_lost_order_is_found_in_its_property_and_locked_on_request(desk: Desk) -> None:
    property_id, other = desk.ids["desk.property"], desk.ids["other.property"]
    with desk.services.db.write() as s:
        rows = [
            lost("mine", property_id=property_id, closed_at=NOON),
            lost("alone", closed_at=NOON),
        ]
        restores.list_lost(s, rows)

        def find(where: int, reference: str, **how: bool) -> tuple[bool, set[str]]:
            with locked(s) as tables:
                row = restores.lost_order(s, where, reference, **how)
            assert row is None or row.mtx == reference
            return row is not None, tables

        assert find(property_id, "mine") == (True, set())
        assert find(property_id, "mine", lock=True) == (True, {"lost_orders"})
        assert find(other, "mine") == (False, set())
        assert find(property_id, "alone") == (False, set())
        with locked(s) as tables:
            alone = restores.homeless_order(s, "alone")
        assert alone is not None
        assert tables == {"lost_orders"}
        assert restores.homeless_order(s, "mine") is None


def test_an_answer_that_is_found_later_is_added_to_what_is_open_without_one(desk: Desk) -> None:
    def stored(s: Any, reference: str) -> tuple[Any, datetime | None]:
        s.expire_all()
        row = s.get_one(LostOrder, reference)
        return row.outcome, row.closed_at

    answer, another = {"state": "BOOKED"}, {"state": "REJECTED"}
    with desk.services.db.write() as s:
        rows = [lost("a"), lost("b"), lost("closed", closed_at=NOON), lost("c", outcome=another)]
        restores.list_lost(s, rows)
        restores.list_lost(s, [lost("a", outcome=answer, closed_at=NOON), lost("b")])
        restores.list_lost(s, [lost("c", outcome=answer, closed_at=NOON)])
        restores.list_lost(s, [lost("closed", outcome=answer)])
        assert stored(s, "a") == (answer, NOON)
        assert stored(s, "b") == (None, None)
        assert stored(s, "c") == (another, None)
        assert stored(s, "closed") == (None, NOON)


def test_a_database_has_sent_when_an_order_has_a_booking(desk: Desk) -> None:
    with desk.services.db.read() as s:
        assert restores.has_sent(s) is False
    desk.order("UNKNOWN")
    with desk.services.db.read() as s:
        assert restores.has_sent(s) is False
    desk.order("BOOKED")
    with desk.services.db.read() as s:
        assert restores.has_sent(s) is True
