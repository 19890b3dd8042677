"""A worker dies at each fail point, and another one follows: no booking is lost or made twice, and
no order shows a false state.
"""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from ridedash.rides.actions import request
from ridedash.rides.orders.guard import GuardBusy
from ridedash.rides.orders.place import OfferStale, place
from ridedash.rides.orders.resolve import reopen, resolve_not_booked, withdraw
from tests.rides.desk_world import World

POINTS = ["order.claimed", "order.sent", "order.answered", "order.journalled", "order.settled"]
SETTLED = {"BOOKED", "MATCHING", "REJECTED", "NOT_SENT", "FAILED", "CLOSED_NOT_BOOKED"}


class Killed(BaseException):
    """The process ends here."""


class KillAt:
    """A `failpoint` that raises Killed the first time it is called with one of these names."""

    def __init__(self, *names: str) -> None:
        self.names = set(names)

    def __call__(self, name: str) -> None:
        if name in self.names:
            self.names.clear()
            raise Killed(name)


def refused(_: dict[str, Any]) -> httpx.Response:
    return httpx.Response(200, json={"status": "FAILURE", "code": "INVALID_CITY"})


def gateway(_: dict[str, Any]) -> httpx.Response:
    return httpx.Response(502, html="<h1>Bad gateway</h1>")


ANSWERS = ["booked", "matching", "refused", "gateway", "lost_answer", "unreachable", "unauthorised"]


def answer(world: World, name: str) -> Any:
    if name == "unauthorised":
        return lambda _: httpx.Response(401)
    return {"refused": refused, "gateway": gateway}.get(name) or getattr(world.service, name)


def check(world: World) -> None:
    """The invariants of the order protocol, against the true ledger."""
    orders = {order.mtx: order for order in world.orders()}
    made: dict[str, list[str]] = {}
    for booking in world.service.bookings:
        made.setdefault(booking["mtx"], []).append(booking["booking_id"])
    for mtx, ids in made.items():
        assert len(ids) == 1, "I2: one booking for one order"
        order = orders[mtx]
        assert order.state in {"BOOKED", "SENDING", "UNKNOWN", "CLOSED_NOT_BOOKED"}, (
            "I1: no booking is lost"
        )
        if order.state == "BOOKED":
            assert [order.booking_id] == ids
    for mtx, order in orders.items():
        if order.state == "BOOKED":
            assert mtx in made, "I3: an order that is shown as booked is booked"
        if order.state in {"REJECTED", "NOT_SENT"}:
            assert mtx not in made, "I4: an order that is shown as not booked is not"
        if order.state == "SENDING":
            assert order.lease_until is not None
            assert order.lease_until > world.clock(), "I5: no order waits for a dead worker"


@pytest.mark.parametrize(("point", "kind"), list(itertools.product(POINTS, ANSWERS)))
def test_a_worker_that_dies_there_leaves_an_order_that_the_next_one_settles_correctly(
    world: World, point: str, kind: str
) -> None:
    world.service.create.append(answer(world, kind))
    order_id = world.place(kind="share" if kind == "matching" else "point_to_point")
    with world.worker(failpoint=KillAt(point)) as worker, pytest.raises(Killed):
        worker.step()
    sent = world.service.count("create")
    with world.worker() as worker:
        for _ in range(5):
            worker.step()
            check(world)
            world.clock.go(16)
    state = world.state(order_id)
    assert state in SETTLED | {"UNKNOWN"}
    if point == "order.settled" and kind == "unauthorised":
        assert (state, world.service.count("create")) == ("BOOKED", 2), (
            "the one second try, with a fresh token"
        )
    else:
        assert world.service.count("create") == sent, (
            "a request that may have left is never repeated"
        )
    if point in {"order.journalled", "order.settled"}:
        known = {
            "booked": "BOOKED",
            "matching": "MATCHING",
            "refused": "REJECTED",
            "unreachable": "NOT_SENT",
            "gateway": "UNKNOWN",
            "lost_answer": "UNKNOWN",
            "unauthorised": "BOOKED" if point == "order.settled" else "NOT_SENT",
        }
        assert state == known[kind], "the answer was in the journal"


def test_a_press_whose_process_dies_right_after_the_commit_is_sent_or_expires(world: World) -> None:
    request = world.request()
    with pytest.raises(Killed):
        place(world.db, world.clock, request, failpoint=KillAt("order.ready"))
    assert not place(world.db, world.clock, request).created, "the same form shows the same order"
    with world.worker() as worker:
        worker.step()
    assert [order.state for order in world.orders()] == ["BOOKED"]


@pytest.mark.parametrize(
    "point", ["poll.claimed", "poll.answered", "poll.merged", "handover.merged"]
)
def test_a_tracker_that_dies_there_hands_over_once_and_releases_the_cancel_once(
    world: World, point: str
) -> None:
    world.service.create.append(world.service.matching)
    world.service.tracks["T1"] = [{"booking_status": "ALLOTMENT_PENDING"}]
    world.service.tracks["C1"] = [{"booking_id": "C1", "booking_status": "CALL_DRIVER"}]
    with world.worker() as worker:
        order_id = world.book(worker, kind="share")
    request.arm_cancel(world.db, world.clock, order_id, world.actor, "changed mind")
    world.service.tracks["T1"] = [{"booking_id": "C1", "booking_status": "CALL_DRIVER"}]
    world.clock.go(4)
    with world.worker(failpoint=KillAt(point)) as worker, pytest.raises(Killed):
        worker.step()
    world.clock.go(16)
    with world.worker() as worker:
        for _ in range(3):
            worker.step()
            world.clock.go(16)
    page = world.page(order_id)
    assert (page.order.state, page.order.booking_id) == ("BOOKED", "C1")
    assert [event.name for event in page.events].count("handover") == 1
    assert world.service.count("cancel") == 1


def test_the_answer_to_an_earlier_try_that_is_found_later_does_not_settle_the_present_one(
    world: World,
) -> None:
    world.service.create.append(lambda _: httpx.Response(401))
    with world.worker() as finder, world.worker() as third:
        order_id = world.place()
        with world.worker(failpoint=KillAt("order.settled")) as worker, pytest.raises(Killed):
            worker.sender.send(order_id)
        assert world.state(order_id) == "READY"

        def meanwhile(body: dict[str, Any]) -> httpx.Response:
            found.append(sum(third.sender.replay(file) for file in third.journal.left_behind()))
            found.append(world.state(order_id))
            return world.service.booked(body)

        found: list[object] = []
        world.service.create.append(meanwhile)
        finder.sender.send(order_id)
    assert found == [1, "SENDING"]
    assert world.state(order_id) == "BOOKED"
    check(world)


def test_an_order_over_whose_claim_the_host_slept_is_not_sent_late(world: World) -> None:
    with world.worker(
        failpoint=lambda name: world.clock.go(31) if name == "order.sent" else None
    ) as worker:
        order_id = world.place()
        worker.step()
    assert (world.state(order_id), world.page(order_id).order.code) == ("NOT_SENT", "EXPIRED")
    assert world.service.count("create") == 0


def test_an_answer_survives_a_database_that_can_not_be_written(world: World) -> None:
    with world.worker() as worker:
        order_id = world.place()

        def full(name: str) -> None:
            if name == "order.journalled":
                raise OSError("no space left")

        runtime = worker.sender.runtime
        worker.sender.runtime = replace(runtime, failpoint=full)
        worker.step()
        assert world.state(order_id) == "SENDING"
        worker.sender.runtime = runtime
        worker.step()
    assert world.state(order_id) == "BOOKED"


class Orders(RuleBasedStateMachine):
    """People and workers do what they like, workers die where they like; the invariants hold after
    every step.
    """

    base = Path()
    numbers = itertools.count()

    def __init__(self) -> None:
        super().__init__()
        self.world = World(self.base / f"run-{next(self.numbers)}")

    @rule(kind=st.sampled_from(ANSWERS[:1] + ANSWERS[2:]))
    def the_next_answer(self, kind: str) -> None:
        if len(self.world.service.create) < 2:
            self.world.service.create.append(answer(self.world, kind))

    @rule(guest=st.sampled_from(["Guest Heron", "Guest Wren"]), override=st.booleans())
    def press(self, guest: str, override: bool) -> None:
        try:
            self.world.place(guest_name=guest, override_guard=override)
        except (GuardBusy, OfferStale):
            return

    @rule(point=st.sampled_from([*POINTS, ""]))
    def a_round(self, point: str) -> None:
        with self.world.worker(failpoint=KillAt(point)) as worker:
            try:
                worker.step()
            except Killed:
                return

    @rule(seconds=st.sampled_from([1, 5, 16, 31, 61]))
    def time_goes(self, seconds: int) -> None:
        self.world.clock.go(seconds)

    @precondition(lambda self: self.world.orders())
    @rule(which=st.integers(0, 5))
    def a_withdrawal(self, which: int) -> None:
        orders = self.world.orders()
        withdraw(self.world.db, self.world.clock, orders[which % len(orders)].id, self.world.actor)

    @precondition(lambda self: self.world.orders())
    @rule(which=st.integers(0, 5))
    def a_member_of_staff(self, which: int) -> None:
        orders = self.world.orders()
        reopen(self.world.db, self.world.clock, orders[which % len(orders)].id, self.world.staff_id)

    @precondition(lambda self: self.world.orders())
    @rule(which=st.integers(0, 5))
    def not_booked(self, which: int) -> None:
        orders = self.world.orders()
        where = (
            self.world.db,
            self.world.clock,
            orders[which % len(orders)].id,
            self.world.staff_id,
        )
        resolve_not_booked(*where, "asked by phone")

    @invariant()
    def sound(self) -> None:
        world = self.world
        with world.worker() as worker:
            worker._recurring_jobs(always=True)
        check(world)
        guards = [order.guard_key for order in world.orders() if order.open and order.guard_key]
        assert len(guards) == len(set(guards)), "one open order for one guest and place"

    def teardown(self) -> None:
        self.world.close()


@pytest.mark.database
def test_the_invariants_hold_whatever_people_and_workers_do(tmp_path: Path) -> None:
    class Here(Orders):
        base = tmp_path

    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
    run_state_machine_as_test(
        Here,
        settings=settings(
            max_examples=25, stateful_step_count=15, deadline=None, suppress_health_check=slow
        ),
    )
