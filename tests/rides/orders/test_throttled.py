"""Orders, actions and heartbeats while calls are throttled: none is lost or shown wrongly."""

from datetime import timedelta

import httpx
import pytest

from ridedash.rides.actions import request
from ridedash.rides.health import alarms
from ridedash.rides.tracking import claims
from ridedash.service.throttle.traffic import Priority, Result
from tests.rides.desk_world import START, World

pytestmark = pytest.mark.database

CAB = {"booking_id": "C1", "booking_status": "CALL_DRIVER"}


def riding(world: World) -> int:
    """An order with a driver on the way."""
    world.service.tracks["C1"] = [CAB]
    with world.worker() as worker:
        order_id = world.book(worker)
        worker.step()
    return order_id


def refuse_polls(world: World) -> None:
    world.service.tracks["C1"] = [{"raise": httpx.ConnectError("refused")}]


def test_an_order_waits_for_a_hold_that_ends_while_its_press_is_fresh(world: World) -> None:
    riding(world)
    # a poll was throttled
    world.client.traffic.settle(world.client.traffic.enter(Priority.REST), Result.LIMITED, 12.0)
    with world.worker() as worker:
        order_id = world.place()
        worker.step()
        world.clock.go(11)
        worker.step()
        assert (world.state(order_id), world.service.count("create")) == ("READY", 1)
        world.clock.go(1)
        worker.step()
    assert (world.state(order_id), world.service.count("create")) == ("BOOKED", 2)


def test_an_order_that_is_throttled_for_too_long_fails_at_once(world: World) -> None:
    riding(world)
    world.client.traffic.settle(world.client.traffic.enter(Priority.REST), Result.LIMITED, 60.0)
    with world.worker() as worker:
        order_id = world.place()
        worker.step()
    assert (world.state(order_id), world.page(order_id).order.code) == ("NOT_SENT", "RATE_LIMITED")
    assert world.service.count("create") == 1


def test_an_open_breaker_of_writes_ends_an_order_as_not_sent_and_a_later_one_is_sent(
    world: World,
) -> None:
    with world.worker() as worker:
        world.service.create += [world.service.unreachable] * 5
        for _ in range(5):
            assert world.state(world.book(worker)) == "NOT_SENT"
        throttled = world.book(worker)
        assert (world.state(throttled), world.page(throttled).order.code) == (
            "NOT_SENT",
            "NO_CONNECTION",
        )
        assert world.service.count("create") == 5
        world.clock.go(5)
        assert world.state(world.book(worker)) == "BOOKED"


def test_an_action_while_writes_are_throttled_is_not_sent_and_can_be_repeated(
    world: World,
) -> None:
    order_id = riding(world)
    _open_writes(world)
    arguments = (
        world.runtime,
        order_id,
        world.actor,
        "changed mind",
    )
    assert request.cancel(*arguments).outcome == "not_sent"
    assert world.service.count("cancel") == 0
    world.clock.go(31)
    assert request.cancel(*arguments).outcome == "done"


def test_a_retry_that_could_not_be_sent_leaves_the_action_unconfirmed(world: World) -> None:
    order_id = riding(world)
    world.service.answers["cancel"] = [httpx.ReadTimeout("late"), httpx.ConnectError("refused")]
    arguments = (
        world.runtime,
        order_id,
        world.actor,
        "changed mind",
    )
    assert request.cancel(*arguments).outcome == "unconfirmed"
    with world.worker() as worker:
        for _ in range(4):
            world.clock.go(6)
            worker.step()
    assert [(a.state, a.calls) for a in world.page(order_id).actions] == [("done", 2)]
    assert world.service.count("cancel") == 3


def test_the_actions_of_the_worker_stay_due_while_they_are_throttled(world: World) -> None:
    order_id = riding(world)
    world.service.answers["cancel"] = [httpx.ReadTimeout("late")]
    arguments = (
        world.runtime,
        order_id,
        world.actor,
        "changed mind",
    )
    request.cancel(*arguments)
    _open_writes(world)
    with world.worker() as worker:
        world.clock.go(1)
        worker.step()
        worker.step()
        assert world.page(order_id).actions[0].state == "unconfirmed"
        for _ in range(4):
            world.clock.go(6)
            worker.step()
    assert world.page(order_id).actions[0].state == "done"


def test_a_throttled_poll_is_no_failure_of_the_ride(world: World) -> None:
    order_id = riding(world)
    refuse_polls(world)
    world.service.tokens.add("")  # accepts calls without a user's token: only workers make them
    world.service.products = lambda _: httpx.ConnectError("refused")
    with world.worker() as worker:
        for _ in range(40):
            world.clock.go(1)
            worker.step()
            if world.client.traffic.is_open(write=False):
                break
        assert world.client.traffic.is_open(write=False)
        errors, polls = world.ride(order_id).errors, world.service.count("track_ride")
        world.clock.go(4)
        claims.make_due(world.db, world.clock())
        worker.step()
    assert (world.ride(order_id).errors, world.service.count("track_ride")) == (errors, polls)
    assert world.ride(order_id).status == "CALL_DRIVER"


def test_a_heartbeat_says_at_once_that_the_service_is_silent_and_that_it_speaks_again(
    world: World,
) -> None:
    riding(world)
    refuse_polls(world)
    with world.worker() as worker:
        first = None
        for _ in range(60):
            world.clock.go(1)
            worker.step()
            first = first or (
                world.clock() if world.client.traffic.silent_s() is not None else None
            )
            if first:
                break
        worker.step()
        with world.db.read() as s:
            silent = alarms(s, world.clock()).silent_since
        assert silent is not None
        assert START < silent <= world.clock()
        world.service.tracks["C1"] = [CAB]
        for _ in range(40):
            world.clock.go(1)
            worker.step()
        with world.db.read() as s:
            assert alarms(s, world.clock()).silent_since is None


def test_the_worker_probes_a_silent_service_that_no_one_else_calls(world: World) -> None:
    """No ride is followed, and a kiosk asks for no cars while the service is silent."""
    world.service.tokens.add("")  # accepts calls without a user's token: only workers make them
    world.service.products = lambda _: {"status": "FAILURE", "code": "INVALID_CITY"}
    traffic = world.client.traffic

    def silent() -> bool:
        with world.db.read() as s:
            return alarms(s, world.clock()).silent_since is not None

    with world.worker() as worker:
        for _ in range(2):
            traffic.settle(traffic.enter(Priority.PAGE), Result.FAILED)
        worker.step()
        assert silent()
        world.clock.go(9.9)
        worker.step()
        assert (world.service.count("products"), silent()) == (0, True)
        world.clock.go(0.1)
        worker.step()
        worker.step()
        assert (world.service.count("products"), silent()) == (1, False)


def test_a_heartbeat_says_that_the_key_is_refused_and_when_it_is_accepted_again(
    world: World,
) -> None:
    """Even while no ride is followed, the worker itself asks once a minute."""
    refusal = {"status": "FAILURE", "code": "invalid_partner_key"}
    world.service.create += [lambda _: httpx.Response(403, json=refusal)] * 2
    # accepts calls without a user's token: only workers make them
    world.service.tokens.add("")
    world.service.products = lambda _: httpx.Response(403, json=refusal)
    with world.worker() as worker:
        for _ in range(2):
            order = world.page(world.book(worker)).order
            assert (order.state, order.code) == ("REJECTED", "invalid_partner_key")
        worker.step()
        with world.db.read() as s:
            assert alarms(s, world.clock()).key_refused_since == START
            assert alarms(s, world.clock()).silent_since is None
        world.service.products = lambda _: {"status": "FAILURE", "code": "INVALID_CITY"}
        worker._last.pop("key")  # as if a minute had passed
        worker.step()
        worker.step()
        with world.db.read() as s:
            assert alarms(s, world.clock()).key_refused_since is None


def test_feedback_is_repeated_only_within_the_budget_of_repeats(world: World) -> None:
    order_id = riding(world)
    while world.client.traffic.may_repeat():
        pass
    world.service.tracks["C1"] = [{"booking_id": "C1", "booking_status": "COMPLETED"}]
    world.service.answers["feedback"] = [httpx.ReadTimeout("late")]
    with world.worker() as worker:
        world.clock.go(5)
        worker.step()
        arguments = (world.runtime, order_id, world.actor)
        assert request.feedback(*arguments, 5).outcome == "unconfirmed"
        world.clock.go(11)
        worker.step()
        assert world.service.count("feedback") == 1
        for _ in range(10):
            _answered_call(world)
        world.clock.go(31)
        worker.step()
    assert world.service.count("feedback") == 2
    assert world.page(order_id).actions[0].state == "done"


def _answered_call(world: World) -> None:
    world.client.traffic.settle(world.client.traffic.enter(Priority.PAGE), Result.ANSWERED)


def _open_writes(world: World) -> None:
    while not world.client.traffic.is_open(write=True):
        world.client.traffic.settle(world.client.traffic.enter(Priority.WRITE), Result.FAILED)


def test_orders_are_never_sent_later_than_their_press_allows(world: World) -> None:
    world.client.traffic.settle(world.client.traffic.enter(Priority.PAGE), Result.LIMITED, 29.0)
    with world.worker() as worker:
        order_id = world.place()
        for _ in range(40):
            worker.step()
            world.clock.go(1)
    state, sent_at = world.state(order_id), world.page(order_id).order.sent_at
    assert state in {"BOOKED", "NOT_SENT"}
    assert sent_at is None or sent_at <= START + timedelta(seconds=31)
