"""Several orders are stopped at once: each by its own step, and none delays another."""

import math
import threading
from dataclasses import replace

import httpx
from sqlalchemy import select

from ridedash.rides.actions.request import ActionResult
from ridedash.rides.actions.stop_all import STEPS, stop_all
from ridedash.service.client import RideClient
from ridedash.service.throttle.traffic import Traffic
from ridedash.service.transport.http import Http
from ridedash.store.audit import AuditRow
from tests.rides.desk_world import World


def stop(world: World, steps: dict[int, str]) -> dict[int, ActionResult]:
    return stop_all(world.runtime, steps, world.actor, "guests left")


def set_status(world: World, number: int, status: str) -> None:
    name = f"C{number}"
    world.service.tracks[name] = [{"booking_id": name, "booking_status": status}]


def test_nothing_to_stop_is_answered_with_nothing(world: World) -> None:
    assert stop(world, {}) == {}
    assert world.service.calls == []


def test_each_order_takes_its_own_step_and_gets_its_own_result(world: World) -> None:
    set_status(world, 1, "ALLOTMENT_PENDING")
    set_status(world, 2, "CALL_DRIVER")
    world.service.create += [
        world.service.booked,
        world.service.booked,
        world.service.matching,
    ]
    world.service.tracks["T1"] = [{"booking_status": "ALLOTMENT_PENDING"}]
    with world.worker() as worker:
        searching, found = world.book(worker), world.book(worker)
        shared = world.book(worker, kind="share")
    waiting, untouched = world.place(), world.place()
    result = stop(world, {waiting: "withdraw", searching: "abort", shared: "arm", found: "cancel"})
    assert {order_id: each.outcome for order_id, each in result.items()} == {
        waiting: "done",
        searching: "done",
        shared: "armed",
        found: "done",
    }
    assert (world.state(waiting), world.page(waiting).order.code) == ("NOT_SENT", "WITHDRAWN")
    assert world.state(untouched) == "READY"
    calls = [call for call in world.service.calls if call[0] in ("abort", "cancel")]
    assert sorted(calls, key=lambda call: call[0]) == [
        ("abort", {"booking_id": "C1"}),
        ("cancel", {"booking_id": "C2", "reason": "guests left"}),
    ]
    armed = world.page(shared).actions[-1]
    assert (armed.state, armed.payload["reason"]) == ("armed", "guests left")


def test_who_pressed_it_is_in_the_log_of_each_order(world: World) -> None:
    set_status(world, 1, "CALL_DRIVER")
    with world.worker() as worker:
        found = world.book(worker)
    waiting = world.place()
    stop(world, {waiting: "withdraw", found: "cancel"})
    query = select(AuditRow.subject, AuditRow.result).where(
        AuditRow.who == f"staff:{world.staff_id}", AuditRow.result.in_(("NOT_SENT", "done"))
    )
    with world.db.read() as s:
        assert {tuple(row) for row in s.execute(query)} == {
            (f"orders:{waiting}", "NOT_SENT"),
            (f"orders:{found}", "done"),
        }


def test_a_search_that_found_a_driver_meanwhile_is_left_alone_for_a_cancel_may_cost_a_fee(
    world: World,
) -> None:
    set_status(world, 1, "CALL_DRIVER")
    with world.worker() as worker:
        found = world.book(worker)
    sent = stop(world, {found: "withdraw"})
    assert sent == {found: ActionResult("not_now")}, "it was sent meanwhile"
    assert stop(world, {found: "abort"})[found].outcome == "not_now"
    assert {"abort", "cancel"}.isdisjoint(name for name, _ in world.service.calls)
    assert world.state(found) == "BOOKED"


def test_one_that_gets_no_answer_leaves_the_others_as_they_are(world: World) -> None:
    for number in (1, 2):
        set_status(world, number, "CALL_DRIVER")
    with world.worker() as worker:
        first, second = world.book(worker), world.book(worker)
    world.service.answers["cancel"] = [httpx.ReadTimeout("no answer")]
    outcomes = {each.outcome for each in stop(world, {first: "cancel", second: "cancel"}).values()}
    assert outcomes == {"unconfirmed", "done"}


def test_all_cancels_are_sent_at_the_same_time(world: World) -> None:
    for number in (1, 2, 3):
        set_status(world, number, "CALL_DRIVER")
    with world.worker() as worker:
        ids = [world.book(worker) for _ in range(3)]
    together, answer = threading.Barrier(3), world.service.handle

    def handle(request: httpx.Request) -> httpx.Response:
        together.wait(60)  # breaks, and fails the test, if one call waits for another
        return answer(request)

    with Http(transport=httpx.MockTransport(handle)) as http:
        client = RideClient(http, "http://127.0.0.1:1", "app-token", traffic=Traffic(math.inf))
        runtime = replace(world.runtime, client=client)
        result = stop_all(runtime, dict.fromkeys(ids, "cancel"), world.actor, "guests left")
    assert [each.outcome for each in result.values()] == ["done"] * 3


def test_there_is_a_step_for_each_word_that_pages_use() -> None:
    assert set(STEPS) == {"withdraw", "abort", "arm", "cancel"}
