"""A waiting story says what it waits for, and fails at once if its ride can never get there."""

from datetime import timedelta
from typing import Any

import pytest

from ridedash.demo.stories.model import AllReached, Answering, HasStatus, Reached, Seen, Settled
from ridedash.demo.stories.runs import RunPhase, StoryRun
from ridedash.demo.stories.waiting import in_vain, waits_for
from ridedash.service_time import ServiceTime, Turn
from ridedash.store.models.orders import Order, OrderState
from tests.demo.stages import Stage

pytestmark = pytest.mark.database
BOOKED = (OrderState.BOOKED, OrderState.MATCHING)


def waiting(stage: Stage, order: int | None, **values: Any) -> StoryRun:
    orders = {} if order is None else {"ride": order}
    home, now = stage.desk.ids["desk.property"], stage.desk.now
    return StoryRun(
        "run", "receipt", 1, home, now, 0, RunPhase.WAITING, now, values={"orders": orders} | values
    )


def over(stage: Stage, order: int | None, wanted: Seen) -> str:
    with stage.desk.app.test_request_context():
        return in_vain(waiting(stage, order), wanted)


def words(stage: Stage, order: int | None, wanted: Seen, **values: Any) -> str:
    with stage.desk.app.test_request_context():
        return waits_for(waiting(stage, order, **values), wanted)


def test_a_refused_booking_ends_the_wait_with_its_reason(stage: Stage) -> None:
    order_id = stage.desk.order("REJECTED", code="OUTSTANDING_DUE")
    for wanted in (Settled(BOOKED), Reached("CALL_DRIVER"), AllReached("CALL_DRIVER", ("ride",))):
        assert "owes" in over(stage, order_id, wanted), wanted
    assert over(stage, order_id, Settled((OrderState.REJECTED,))) == ""
    assert "no ride was booked" in over(stage, None, Reached("CALL_DRIVER"))


def test_a_booking_that_was_not_sent_ends_the_wait_with_its_reason(stage: Stage) -> None:
    """For example, the computer was asleep for a minute between the press and the send."""
    late = stage.desk.order("NOT_SENT", code="EXPIRED")
    assert over(stage, late, Settled(BOOKED)).endswith(": Not booked: it was not sent in time")
    old = stage.desk.order("NOT_SENT")
    assert over(stage, old, Settled(BOOKED)).endswith("we never reached the ride company")


@pytest.mark.parametrize("state", ["READY", "SENDING", "UNKNOWN", "MATCHING", "BOOKED"])
def test_an_order_that_may_still_be_booked_is_waited_for(stage: Stage, state: str) -> None:
    order_id = stage.desk.order(state)
    assert over(stage, order_id, Settled(BOOKED)) == ""
    never = over(stage, order_id, Settled((OrderState.UNKNOWN,)))
    assert bool(never) == (state in ("BOOKED", "MATCHING"))


def test_a_ride_that_has_ended_otherwise_is_waited_for_no_longer(stage: Stage) -> None:
    ended = {"ride": {"ended_at": stage.desk.now}}
    order_id = stage.desk.order("BOOKED", "ALLOTMENT_FAILED", **ended)
    assert "No driver" in over(stage, order_id, Reached("CALL_DRIVER"))
    searching = stage.desk.order("BOOKED", "ALLOTMENT_PENDING")
    assert over(stage, searching, HasStatus(("ALLOTMENT_FAILED",))) == ""


def test_the_next_step_of_a_ride_is_shown_with_the_services_time(stage: Stage) -> None:
    booking = stage.sandbox.book("mini", merchant_txn_id="RD-1")
    order_id = stage.desk.order("BOOKED", "ALLOTMENT_PENDING")

    def tie(s: Any) -> None:
        row = s.get(Order, order_id)
        row.booking_id, row.mtx = booking, "RD-1"

    stage.desk.add(tie)
    sentence = words(stage, order_id, Reached("COMPLETED"))
    assert ", at 12:0" in sentence or ", at 12:1" in sentence
    assert "Driver on the way" in sentence
    many = words(stage, order_id, AllReached("CALL_DRIVER", ("ride",)))
    assert many.startswith("0 of 1 rides are there.")
    sentence = words(stage, stage.desk.order("SENDING"), Settled(BOOKED))
    assert sentence.startswith("The ride company is asked for a car for ")


def test_an_outage_says_how_long_it_lasts_and_then_how_many_rides_are_fresh(stage: Stage) -> None:
    desk = stage.desk
    old = {"ride": {"seen_at": desk.now - timedelta(seconds=30)}}
    desk.order("BOOKED", "CALL_DRIVER", **old)
    desk.order("BOOKED", "CALL_DRIVER", ride={"seen_at": desk.now - timedelta(seconds=3)})
    ends, back = (desk.now + timedelta(seconds=74)).timestamp(), Answering(True)
    line = ServiceTime((Turn(desk.now, desk.now, 1.0),))
    desk.services.time = lambda: line
    sentence = words(stage, None, back, outage_ends=ends, calls_before=0)
    assert sentence == "It is down for 74 s more, until 14:01:14. Calls so far: 0."
    desk.services.time = lambda: ServiceTime((Turn(desk.now, desk.now, 0.0),))
    assert words(stage, None, back, outage_ends=ends).startswith("It is down for 74 s more. Calls")
    up = words(stage, None, back, outage_ends=desk.now.timestamp())
    assert up == "It is up again: 1 of 2 rides are fresh."
