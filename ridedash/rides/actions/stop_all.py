"""Stops several orders at the same time, each with the step that fits its state.

Each step is that of a button on the page of a ride, with its own rows and audit entries
(docs/booking-protocol.md 2). No step waits for another: one without an answer does not affect the
others.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from ridedash.rides.actions.request import ActionResult, abort, arm_cancel, cancel
from ridedash.rides.orders.resolve import withdraw
from ridedash.rides.runtime import Runtime
from ridedash.store.actors import Actor

Step = Callable[[Runtime, int, Actor, str], ActionResult]


def stop_all(
    runtime: Runtime, steps: Mapping[int, str], who: Actor, reason: str
) -> dict[int, ActionResult]:
    """Take a step of STEPS for each order, by id. Returns the outcome for each.

    An order whose state has changed meanwhile gives `not_now` and is left alone. For example, a
    search that has found a driver is not cancelled instead, because that may cost a fee.
    """
    if not steps:
        return {}
    with ThreadPoolExecutor(len(steps), "stop-all") as pool:
        running = {
            order_id: pool.submit(STEPS[step], runtime, order_id, who, reason)
            for order_id, step in steps.items()
        }
        return {order_id: each.result() for order_id, each in running.items()}


def _withdraw(runtime: Runtime, order_id: int, who: Actor, _reason: str) -> ActionResult:
    if withdraw(runtime.db, runtime.clock, order_id, who):
        return ActionResult("done")
    return ActionResult("not_now")


def _abort(runtime: Runtime, order_id: int, who: Actor, _reason: str) -> ActionResult:
    return abort(runtime, order_id, who)


def _arm(runtime: Runtime, order_id: int, who: Actor, reason: str) -> ActionResult:
    return arm_cancel(runtime.db, runtime.clock, order_id, who, reason)


STEPS: Final[Mapping[str, Step]] = {
    "withdraw": _withdraw,
    "abort": _abort,
    "arm": _arm,
    "cancel": cancel,
}
