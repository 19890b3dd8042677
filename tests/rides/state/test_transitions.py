"""Each transition of an order: its state, its timeline, its items, the audit log, the log lines."""

import logging
from typing import Any

import pytest
from sqlalchemy import select

from ridedash.rides.state.states import BadTransition
from ridedash.rides.state.transitions import (
    NEW_STATES,
    add_event,
    change_state,
    clear_attention,
    raise_attention,
)
from ridedash.store.actors import WORKER
from ridedash.store.audit import AuditRow
from ridedash.store.models.orders import Attention, Order, OrderState
from tests.rides.desk_world import World

S = OrderState


def given(world: World, state: OrderState, *items: str, **facts: Any) -> int:
    """An order in this state, with these attention items raised."""
    order_id = world.place()
    with world.db.write() as s:
        order = s.get_one(Order, order_id)
        for name, value in ({"state": state} | facts).items():
            setattr(order, name, value)
        order.version += 1
        for name in items:
            raise_attention(s, order, name, None, world.clock())
    return order_id


def moved(world: World, order_id: int, to: OrderState, **facts: Any) -> Order:
    """Make a transition seven seconds later. Returns the order after it."""
    world.clock.go(7)
    with world.db.write() as s:
        order = s.get_one(Order, order_id)
        change_state(s, order, to, world.clock(), WORKER, **facts)
        assert s.info[NEW_STATES] == [str(to)]
    return world.page(order_id).order


def raised(world: World, order_id: int) -> dict[str, str | None]:
    """The items that are raised, with their details."""
    query = select(Attention).where(Attention.order_id == order_id, Attention.cleared_at.is_(None))
    with world.db.read() as s:
        return {each.name: each.detail for each in s.scalars(query)}


def audited(world: World, what: str) -> list[AuditRow]:
    with world.db.read() as s:
        return list(s.scalars(select(AuditRow).where(AuditRow.what == what)))


@pytest.mark.parametrize(
    ("was", "to", "is_open", "is_resolved"),
    [
        (S.SCHEDULED, S.READY, True, False),
        (S.SENDING, S.READY, True, False),
        (S.SENDING, S.BOOKED, True, True),
        (S.SENDING, S.MATCHING, True, False),
        (S.SENDING, S.REJECTED, False, True),
        (S.READY, S.NOT_SENT, False, True),
        (S.READY, S.UNKNOWN, True, False),
        (S.UNKNOWN, S.CLOSED_NOT_BOOKED, False, True),
        (S.MATCHING, S.FAILED, False, True),
        (S.CLOSED_NOT_BOOKED, S.UNKNOWN, True, False),
        (S.NOT_SENT, S.SCHEDULED, False, False),
    ],
)
def test_a_transition_is_stored_with_its_event_and_its_entry(
    world: World, was: OrderState, to: OrderState, is_open: bool, is_resolved: bool
) -> None:
    order_id = given(world, was, resolved_at=world.clock(), open=not is_open)
    before = world.page(order_id)
    order = moved(world, order_id, to, why="a test")
    assert (order.state, order.open) == (to, is_open)
    assert order.resolved_at == (world.clock() if is_resolved else None)
    assert order.version > before.order.version
    last = world.page(order_id).events[-1]
    assert (last.what, last.name, last.at) == ("order", str(to), world.clock())
    assert len(world.page(order_id).events) == len(before.events) + 1
    (row,) = audited(world, "order.move")
    assert (row.subject, row.result, row.at) == (f"orders:{order_id}", str(to), world.clock())
    assert row.property_id == world.property_id
    assert row.facts == {"was": str(was), "why": "a test"}
    assert raised(world, order_id) == ({"unknown": order.mtx} if to is S.UNKNOWN else {})


def test_a_transition_that_the_protocol_lacks_changes_nothing_and_is_in_the_log(
    world: World,
) -> None:
    order_id = given(world, S.BOOKED)
    before = world.page(order_id)
    with pytest.raises(BadTransition, match="BOOKED to READY"), world.db.write() as s:
        change_state(s, s.get_one(Order, order_id), S.READY, world.clock(), WORKER)
    after = world.page(order_id)
    assert (after.order.state, after.order.version) == (S.BOOKED, before.order.version)
    assert len(after.events) == len(before.events)
    (row,) = audited(world, "order.bad_move")
    assert (row.result, row.property_id) == ("BOOKED to READY", world.property_id)
    assert audited(world, "order.move") == []


def test_an_order_that_opens_again_leaves_the_guest_to_the_one_that_came_meanwhile(
    world: World,
) -> None:
    first = given(world, S.CLOSED_NOT_BOOKED, open=False, guard_key="a guest")
    alone = given(world, S.CLOSED_NOT_BOOKED, open=False, guard_key="another guest")
    given(world, S.BOOKED, open=True, guard_key="a guest")
    given(world, S.FAILED, open=False, guard_key="another guest")
    assert moved(world, first, S.UNKNOWN).guard_key is None
    assert moved(world, alone, S.UNKNOWN).guard_key == "another guest"


def test_what_was_raised_goes_with_the_state_that_it_was_about(world: World) -> None:
    unknown = given(world, S.UNKNOWN, "unknown", "not_started", "held", "contradiction")
    moved(world, unknown, S.BOOKED)
    assert set(raised(world, unknown)) == {"not_started", "held", "contradiction"}
    waiting = given(world, S.WAITING, "unknown", "not_started", "held", "contradiction")
    moved(world, waiting, S.READY)
    assert set(raised(world, waiting)) == {"unknown", "contradiction"}
    other = given(world, S.SENDING, "not_ordered_yet", "held")
    moved(world, other, S.BOOKED)
    assert set(raised(world, other)) == {"not_ordered_yet", "held"}, "it was not planned"


@pytest.mark.parametrize(
    ("was", "to", "facts", "left"),
    [
        (S.SENDING, S.BOOKED, {}, {}),
        (S.SENDING, S.REJECTED, {"code": "NO_CABS"}, {"plan_failed": "NO_CABS"}),
        (
            S.SCHEDULED,
            S.NOT_SENT,
            {"code": "PLAN_MISSED", "message": "HELD"},
            {"plan_failed": "HELD"},
        ),
        (S.SCHEDULED, S.NOT_SENT, {"code": "WITHDRAWN"}, {}),
        (S.NOT_SENT, S.SCHEDULED, {}, {}),
        (S.NOT_SENT, S.SCHEDULED, {"held": True}, {"held": None}),
        (S.SCHEDULED, S.READY, {"held": True}, {}),
    ],
)
def test_a_planned_ride_that_fails_says_so_and_one_that_goes_on_is_quiet(
    world: World,
    was: OrderState,
    to: OrderState,
    facts: dict[str, Any],
    left: dict[str, str | None],
) -> None:
    planned = {"pickup_at": world.clock(), **facts}
    if planned.pop("held", False):
        planned["held_at"] = world.clock()
    order_id = given(world, was, "not_ordered_yet", "held", **planned)
    moved(world, order_id, to)
    assert raised(world, order_id) == left


def test_an_item_is_raised_once_until_it_is_cleared(world: World) -> None:
    order_id = given(world, S.BOOKED)
    other = given(world, S.BOOKED, "too_old")

    def raise_item(detail: str | None) -> tuple[bool, int]:
        world.clock.go(1)
        with world.db.write() as s:
            order = s.get_one(Order, order_id)
            fresh = raise_attention(s, order, "too_old", detail, world.clock())
            return fresh, order.version

    def cleared() -> int:
        with world.db.write() as s:
            order = s.get_one(Order, order_id)
            clear_attention(s, order, "too_old", world.clock())
            return order.version

    version = world.page(order_id).order.version
    assert cleared() == version, "there is none"
    assert raise_item("first") == (True, version + 1)
    assert raise_item("second") == (False, version + 1)
    assert raised(world, order_id) == {"too_old": "first"}
    assert cleared() == version + 2
    assert cleared() == version + 2
    assert raise_item("third") == (True, version + 3)
    assert raised(world, order_id) == {"too_old": "third"}
    with world.db.read() as s:
        rows = list(s.scalars(select(Attention).where(Attention.order_id == order_id)))
    assert [row.raised_at for row in rows] == [world.clock()]
    assert raised(world, other) == {"too_old": None}


def test_an_event_has_a_name_that_fits_and_raises_the_revision(world: World) -> None:
    order_id = given(world, S.BOOKED)
    version = world.page(order_id).order.version
    with world.db.write() as s:
        add_event(s, s.get_one(Order, order_id), "event", "x" * 99, world.clock(), "a detail")
    page = world.page(order_id)
    assert page.order.version == version + 1
    last = page.events[-1]
    assert (last.name, last.detail, last.at) == ("x" * 64, "a detail", world.clock())


@pytest.mark.parametrize(
    ("row", "level", "shown"),
    [
        ((S.SENDING, S.REJECTED, "NO_CABS_AVAILABLE"), logging.INFO, "NO_CABS_AVAILABLE"),
        ((S.SENDING, S.REJECTED, "HTTP_422"), logging.INFO, "HTTP_422"),
        ((S.SENDING, S.REJECTED, "HTTP_4222"), logging.INFO, "a code of the service's own"),
        ((S.SENDING, S.REJECTED, "Mr Heron"), logging.INFO, "a code of the service's own"),
        ((S.SENDING, S.REJECTED, None), logging.INFO, "no code"),
        ((S.SENDING, S.NOT_SENT, "RECONNECT"), logging.WARNING, "RECONNECT"),
        ((S.SCHEDULED, S.NOT_SENT, "WITHDRAWN"), logging.INFO, "WITHDRAWN"),
        ((S.SENDING, S.UNKNOWN, None), logging.WARNING, "no code"),
    ],
)
def test_what_ends_badly_is_logged_once_it_is_committed(
    world: World, caplog: pytest.LogCaptureFixture, row: tuple[Any, ...], level: int, shown: str
) -> None:
    was, to, code = row
    order_id = given(world, was, code=code)
    caplog.set_level(logging.INFO, "ridedash.rides.state.transitions")
    with world.db.write() as s:
        change_state(s, s.get_one(Order, order_id), to, world.clock(), WORKER)
        assert caplog.records == []
    (record,) = caplog.records
    assert record.levelno == level
    assert record.getMessage() == f"order {order_id} is {to}: {shown}"


def test_a_transition_that_is_not_committed_and_a_good_one_log_nothing(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    order_id = given(world, S.SENDING)
    caplog.set_level(logging.INFO, "ridedash.rides.state.transitions")

    def interrupted() -> None:
        with world.db.write() as s:
            change_state(s, s.get_one(Order, order_id), S.UNKNOWN, world.clock(), WORKER)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        interrupted()
    moved(world, order_id, S.BOOKED)
    assert caplog.records == []
