"""The recovery job advances what nothing else does, at the instant when it is due, not before."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update
from sqlalchemy.dialects import postgresql

from ridedash.rides.orders.recover import _unlocked, recover
from ridedash.store.models.orders import Action, Order, OrderState, Ride
from tests.rides.desk_world import START, World

S = OrderState
STEPPED_BACK = -5.001  # seconds after START, by a clock that has stepped back since then


def after(seconds: float) -> Any:
    return START + timedelta(seconds=seconds)


def set_to(world: World, order_id: int, **columns: Any) -> None:
    with world.db.write() as s:
        later = columns | {"version": Order.version + 1}
        s.execute(update(Order).where(Order.id == order_id).values(later))


def state_and_code(world: World, order_id: int) -> tuple[str, str | None]:
    order = world.page(order_id).order
    return order.state, order.code


def booked(world: World) -> int:
    with world.worker() as worker:
        return world.book(worker)


def act(world: World, order_id: int, *states: str) -> None:
    """Add an action in each of the states, called at START."""
    with world.db.write() as s:
        order = s.get_one(Order, order_id)
        order.version += 1
        ours = {"property_id": order.property_id, "account_id": order.account_id}
        for state in states:
            s.add(
                Action(
                    **ours,
                    order_id=order_id,
                    name="cancel",
                    payload={},
                    state=state,
                    calls=1,
                    made_at=START,
                    called_at=START,
                )
            )


def due_again(
    world: World, order_id: int, wait_s: float, interval_s: float, poison: int = 0
) -> Any:
    """The seconds from START to the next poll of the ride, after a recovery at START."""
    changes = {"next_poll_at": after(wait_s), "interval_s": interval_s, "poison": poison}
    changes |= {"lease_until": after(9), "order_id": order_id}
    with world.db.write() as s:
        s.execute(update(Ride).where(Ride.order_id == order_id).values(changes))
    count = recover(world.db, START)
    ride = world.ride(order_id)
    assert (ride.lease_until is None) == (count == 1), "who had it polls it no more"
    assert ride.next_poll_at is not None
    return (ride.next_poll_at - START).total_seconds()


def test_an_order_that_was_not_sent_in_time_is_not_sent(world: World) -> None:
    for now in (30, STEPPED_BACK):
        order_id = world.place()
        assert [recover(world.db, after(inside)) for inside in (29.999, 0, -5)] == [0, 0, 0]
        assert state_and_code(world, order_id) == (S.READY, None)
        assert recover(world.db, after(now)) == 1
        assert state_and_code(world, order_id) == (S.NOT_SENT, "EXPIRED")
        assert recover(world.db, after(now)) == 0


def test_a_send_without_an_answer_is_unknown_and_never_ready(world: World) -> None:
    for now in (20, STEPPED_BACK):
        order_id = world.place()
        set_to(world, order_id, state=S.SENDING, sent_at=START, lease_until=after(60))
        assert [recover(world.db, after(inside)) for inside in (19.999, -5)] == [0, 0]
        assert state_and_code(world, order_id) == (S.SENDING, None)
        assert recover(world.db, after(now)) == 1
        assert state_and_code(world, order_id) == (S.UNKNOWN, "NO_ANSWER")
    order_id = world.place()
    set_to(world, order_id, state=S.SENDING, sent_at=START, lease_until=after(10))
    assert recover(world.db, after(9.999)) == 0
    assert recover(world.db, after(10)) == 1, "its lease has ended"
    assert state_and_code(world, order_id) == (S.UNKNOWN, "NO_ANSWER")


def test_a_ride_that_its_guest_did_not_start_ends_unless_it_is_held(world: World) -> None:
    order_id, held = world.place(), world.place()
    for each in (order_id, held):
        set_to(world, each, state=S.WAITING, ready_at=None, due_at=START)
    set_to(world, held, held_at=START)
    assert recover(world.db, after(-0.001)) == 0
    assert recover(world.db, START) == 1
    assert state_and_code(world, order_id) == (S.NOT_SENT, "START_MISSED")
    assert state_and_code(world, held) == (S.WAITING, None)


def test_a_poll_further_ahead_than_any_wait_is_made_due(world: World) -> None:
    order_id = booked(world)
    assert due_again(world, order_id, wait_s=71, interval_s=60) == 71
    assert due_again(world, order_id, wait_s=71.001, interval_s=60) == 60
    assert due_again(world, order_id, wait_s=71.001, interval_s=3) == 3
    assert due_again(world, order_id, wait_s=330, interval_s=60.001) == 330, "after errors"
    assert due_again(world, order_id, wait_s=330.001, interval_s=60.001) == 60
    assert due_again(world, order_id, wait_s=900, interval_s=3, poison=1) == 900


def test_each_ride_is_made_due_by_its_own_interval(world: World) -> None:
    waits = {booked(world): 3.0, booked(world): 5.0}
    with world.db.write() as s:
        for order_id, interval_s in waits.items():
            far = {"next_poll_at": after(900), "interval_s": interval_s}
            s.execute(update(Ride).where(Ride.order_id == order_id).values(far))
    assert recover(world.db, START) == 2
    assert [world.ride(each).next_poll_at for each in waits] == [after(3), after(5)]


@pytest.mark.parametrize("state", ["armed", "unconfirmed"])
def test_an_action_that_is_repeated_later_than_any_wait_is_due_at_once(
    world: World, state: str
) -> None:
    order_id = booked(world)
    act(world, order_id, state, "done")
    for wait_s, due_s in ((60, 60), (60.001, 0)):
        with world.db.write() as s:
            s.execute(update(Action).values(next_try_at=after(wait_s)))
        assert recover(world.db, START) == (due_s == 0)
        repeated, done = world.page(order_id).actions
        assert (repeated.next_try_at, done.next_try_at) == (after(due_s), after(wait_s))


def test_an_action_without_an_answer_is_not_confirmed(world: World) -> None:
    for now in (30, STEPPED_BACK):
        ends_unconfirmed(world, booked(world), now)


def ends_unconfirmed(world: World, order_id: int, now: float) -> None:
    act(world, order_id, "calling", "armed")
    version = world.page(order_id).order.version
    assert [recover(world.db, after(inside)) for inside in (29.999, -5)] == [0, 0]
    assert recover(world.db, after(now)) == 1
    page = world.page(order_id)
    assert sorted(each.state for each in page.actions) == ["armed", "unconfirmed"]
    assert page.order.version == version + 1, "the page shows it"


def test_everything_that_is_due_is_counted_and_nothing_in_an_older_database(world: World) -> None:
    order_id = booked(world)
    with world.db.write() as s:
        far = {"next_poll_at": after(900), "interval_s": 3.0}
        s.execute(update(Ride).where(Ride.order_id == order_id).values(far))
    expired, sent, missed = world.place(), world.place(), world.place()
    set_to(world, sent, state=S.SENDING, sent_at=START, lease_until=after(60))
    set_to(world, missed, state=S.WAITING, ready_at=None, due_at=START)
    assert recover(world.db, after(30), lambda _: False) == 0
    assert state_and_code(world, expired) == (S.READY, None)
    assert recover(world.db, after(30)) == 4


def test_nothing_is_written_while_nothing_is_due(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    order_id, sent, waiting = booked(world), world.place(), world.place()
    act(world, order_id, "calling")
    world.place()
    set_to(world, sent, state=S.SENDING, sent_at=START, lease_until=after(60))
    set_to(world, waiting, state=S.WAITING, ready_at=None, due_at=after(1))
    monkeypatch.setattr(world.db, "write", None)
    assert recover(world.db, START) == 0


def test_orders_are_locked_for_changes_alone_and_those_that_others_have_are_left_to_them() -> None:
    statement = str(_unlocked(select(Order)).compile(dialect=postgresql.dialect()))
    assert statement.endswith("ORDER BY orders.id FOR NO KEY UPDATE OF orders SKIP LOCKED")


@pytest.mark.parametrize(("calls", "again"), [(2, True), (3, False)])
def test_feedback_without_an_answer_is_called_three_times_at_most(
    world: World, calls: int, again: bool
) -> None:
    order_id = booked(world)
    act(world, order_id, "calling")
    with world.db.write() as s:
        s.execute(update(Action).values(name="feedback", calls=calls))
        s.get_one(Order, order_id).version += 1
    assert recover(world.db, after(30)) == 1
    [action] = world.page(order_id).actions
    assert action.state == "unconfirmed"
    expected = (after(30), None) if again else (None, after(30))
    assert (action.next_try_at, action.settled_at) == expected
