"""Abort, cancel, change of drop and feedback: one call, its outcome, and what is read back
afterwards.
"""

from datetime import timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import update

from ridedash.geo import LatLng
from ridedash.rides.actions import request
from ridedash.rides.actions.call import Caller
from ridedash.rides.actions.request import ActionResult
from ridedash.rides.state.codes import RECONNECT
from ridedash.rides.worker import Worker
from ridedash.store.actors import by_staff
from ridedash.store.audit import AuditRow
from ridedash.store.models.orders import Action
from ridedash.store.models.people import Account
from tests.rides.desk_world import DROP, World

NEW_DROP = LatLng(-38.55, -128.06)
LOST = httpx.ReadTimeout("no answer")


class Killed(BaseException):
    """Stands for the end of the process: no code of the program handles it."""


def ride_in(
    world: World, worker: Worker, status: str, kind: str = "point_to_point", **facts: Any
) -> int:
    world.service.tracks["C1"] = [{"booking_id": "C1", "booking_status": status, **facts}]
    return world.book(worker, kind=kind)


def poll(world: World, worker: Worker, status: str, **facts: Any) -> None:
    world.service.tracks["C1"] = [{"booking_id": "C1", "booking_status": status, **facts}]
    world.clock.go(6)
    worker.step()


def ask(world: World, name: str, order_id: int, *more: Any) -> ActionResult:
    return getattr(request, name)(  # type: ignore[no-any-return]
        world.runtime, order_id, world.actor, *more
    )


def state(world: World, order_id: int) -> tuple[str, str | None, int]:
    action = world.page(order_id).actions[-1]
    return action.state, action.code, action.calls


def test_an_abort_that_is_accepted_is_done_and_the_ride_is_polled_at_once(
    world: World,
) -> None:
    with world.worker() as worker:
        order_id = ride_in(world, worker, "ALLOTMENT_PENDING")
        assert ask(world, "abort", order_id).outcome == "done"
        assert world.service.calls[-1] == ("abort", {"booking_id": "C1"})
        assert world.ride(order_id).next_poll_at == world.clock()
        poll(world, worker, "BOOKING_CANCELLED")
    assert world.ride(order_id).status == "BOOKING_CANCELLED"


def test_an_abort_that_comes_too_late_is_refused_with_the_code_that_offers_the_cancel(
    world: World,
) -> None:
    refusal = {"status": "FAILURE", "code": "BOOKING_ALLOTED", "message": "driver allotted"}
    world.service.answers["abort"] = [refusal]
    with world.worker() as worker:
        order_id = ride_in(world, worker, "ALLOTMENT_PENDING")
        result = ask(world, "abort", order_id)
        assert (result.outcome, result.code, result.text) == (
            "refused",
            "BOOKING_ALLOTED",
            "driver allotted",
        )
        poll(world, worker, "CALL_DRIVER")
        assert (ask(world, "abort", order_id).outcome, ask(world, "abort", order_id).code) == (
            "not_now",
            "BOOKING_ALLOTED",
        )
    assert world.service.count("abort") == 1


def test_a_cancel_that_is_refused_keeps_the_services_words(world: World) -> None:
    words = {"header": "Can't cancel", "text": "Your ride has started"}
    world.service.answers["cancel"] = [
        {"status": "FAILURE", "reason": "CANCELLATION_NOT_ALLOWED", **words}
    ]
    with world.worker() as worker:
        order_id = ride_in(world, worker, "CALL_DRIVER")
        result = ask(world, "cancel", order_id, "guest left")
    assert (result.outcome, result.code) == ("refused", "CANCELLATION_NOT_ALLOWED")
    assert (result.header, result.text) == ("Can't cancel", "Your ride has started")
    assert world.service.calls[-1][1] == {"booking_id": "C1", "reason": "guest left"}


def test_an_unclear_cancel_is_read_back(world: World) -> None:
    world.service.answers["cancel"] = [LOST]
    with world.worker() as worker:
        order_id = ride_in(world, worker, "CALL_DRIVER")
        assert ask(world, "cancel", order_id, "guest left").outcome == "unconfirmed"
        poll(world, worker, "BOOKING_CANCELLED")
    assert state(world, order_id) == ("done", "READ_BACK", 1)
    assert world.service.count("cancel") == 1


def test_an_unclear_cancel_is_repeated_once_at_most_while_the_ride_is_live(world: World) -> None:
    world.service.answers["cancel"] = [LOST, httpx.Response(502), LOST, LOST]
    with world.worker() as worker:
        order_id = ride_in(world, worker, "CALL_DRIVER")
        ask(world, "cancel", order_id, "guest left")
        for _ in range(6):
            poll(world, worker, "CALL_DRIVER")
        assert world.service.count("cancel") == 2
        assert state(world, order_id)[0] == "unconfirmed"
        poll(world, worker, "IN_PROGRESS")
    assert state(world, order_id) == ("refused", "CANCELLATION_NOT_ALLOWED", 2)


def test_an_unclear_abort_of_a_ride_that_has_a_driver_meanwhile_is_refused_as_alloted(
    world: World,
) -> None:
    world.service.answers["abort"] = [LOST]
    with world.worker() as worker:
        order_id = ride_in(world, worker, "ALLOTMENT_PENDING")
        ask(world, "abort", order_id)
        poll(world, worker, "CALL_DRIVER")
    assert state(world, order_id) == ("refused", "BOOKING_ALLOTED", 1)


@pytest.mark.parametrize(
    ("status", "outcome"), [(400, "refused"), (429, "not_sent"), (500, "unconfirmed")]
)
def test_the_http_status_of_a_wordless_answer_says_how_much_is_known(
    world: World, status: int, outcome: str
) -> None:
    world.service.answers["cancel"] = [httpx.Response(status)]
    with world.worker() as worker:
        order_id = ride_in(world, worker, "CALL_DRIVER")
        assert ask(world, "cancel", order_id, "guest left").outcome == outcome


def test_a_401_is_answered_with_a_fresh_token_once(world: World) -> None:
    with world.worker() as worker:
        order_id = ride_in(world, worker, "CALL_DRIVER")
        world.service.tokens = {"other"}
        assert ask(world, "cancel", order_id, "guest left").outcome == "done"
    assert world.service.refreshes == 1


@pytest.mark.parametrize("kind", ["share", "point_to_point"])
def test_before_the_ride_the_service_decides_whether_cancelling_is_possible(
    world: World, kind: str
) -> None:
    refused = {
        "status": "FAILURE",
        "request_type": "BOOKING_CANCEL",
        "reason": "CANCELLATION_NOT_ALLOWED",
        "header": "No",
        "text": "The fare is set",
    }
    world.service.answers["cancel"] = [refused]
    with world.worker() as worker:
        order_id = ride_in(world, worker, "INVOICE", kind)
        result = ask(world, "cancel", order_id, "guest left")
        assert (result.outcome, result.code, result.text) == (
            "refused",
            "CANCELLATION_NOT_ALLOWED",
            "The fare is set",
        )
        assert ask(world, "cancel", order_id, "guest left").outcome == "done"


def test_an_auto_is_not_cancelled_after_the_ride(world: World) -> None:
    with world.worker() as worker:
        order_id = ride_in(world, worker, "INVOICE", "auto")
        assert ask(world, "cancel", order_id, "guest left").outcome == "not_now"
    assert "cancel" not in {call for call, _ in world.service.calls}


def test_an_action_that_the_state_does_not_allow_is_not_sent(world: World) -> None:
    with world.worker() as worker:
        order_id = ride_in(world, worker, "IN_PROGRESS")
        assert ask(world, "cancel", order_id, "guest left") == ActionResult("not_now", "on_trip")
        assert ask(world, "abort", order_id).outcome == "not_now"
        assert ask(world, "feedback", order_id, 5).outcome == "not_now"
        world.staff_id = 99
        assert ask(world, "cancel", order_id, "guest left").code == "NOT_FOUND"
    assert {call for call, _ in world.service.calls} == {"create", "track_ride"}


def drop_of(drop: LatLng) -> dict[str, Any]:
    return {"drop_location": {"lat": drop.lat, "lng": drop.lng}}


def test_an_unclear_change_of_drop_is_proved_by_the_drop_that_comes_back(world: World) -> None:
    world.service.answers["drop_location"] = [LOST]
    with world.worker() as worker:
        order_id = ride_in(world, worker, "CALL_DRIVER")
        assert ask(world, "change_drop", order_id, NEW_DROP, "Harbour").outcome == "unconfirmed"
        poll(world, worker, "CALL_DRIVER", **drop_of(NEW_DROP))
    assert state(world, order_id) == ("done", "READ_BACK", 1)


def test_an_unclear_change_of_drop_is_repeated_once_unless_a_newer_one_exists(world: World) -> None:
    world.service.answers["drop_location"] = [LOST, {"status": "SUCCESS", "header": "SUCCESS"}]
    with world.worker() as worker:
        order_id = ride_in(world, worker, "CALL_DRIVER")
        ask(world, "change_drop", order_id, NEW_DROP)
        poll(world, worker, "CALL_DRIVER", **drop_of(DROP))
        poll(world, worker, "CALL_DRIVER", **drop_of(DROP))
        assert state(world, order_id)[0::2] == ("done", 2)
        world.service.answers["drop_location"] = [LOST]
        ask(world, "change_drop", order_id, LatLng(-38.6, -128.1))
        ask(world, "change_drop", order_id, NEW_DROP)
        poll(world, worker, "CALL_DRIVER", **drop_of(DROP))
        older = world.page(order_id).actions[-2]
    assert (older.state, older.code) == ("refused", "SUPERSEDED")
    assert world.service.count("drop_location") == 4


def test_a_repetition_that_is_due_does_not_overtake_a_newer_change_of_drop(world: World) -> None:
    world.service.answers["drop_location"] = [LOST]
    with world.worker() as worker:
        order_id = ride_in(world, worker, "CALL_DRIVER")
        ask(world, "change_drop", order_id, NEW_DROP)
    older = world.page(order_id).actions[-1].id
    with world.db.write() as s:  # as if a poll had made it due before the worker ended
        s.execute(update(Action).where(Action.id == older).values(next_try_at=world.clock()))
    caller = Caller(world.runtime)
    assert list(caller.due(9)) == [older]
    world.service.answers["drop_location"] = [{"status": "SUCCESS", "header": "SUCCESS"}]
    assert ask(world, "change_drop", order_id, DROP).outcome == "done"
    assert list(caller.due(9)) == []
    assert caller.again(older) is False
    assert world.service.calls[-1][1]["drop_lat"] == DROP.lat
    assert world.service.count("drop_location") == 2


@pytest.mark.parametrize("name", ["drop_location", "cancel"])
def test_an_answer_about_another_booking_says_nothing_of_an_unclear_action(
    world: World, name: str
) -> None:
    world.service.answers[name] = [LOST]
    with world.worker() as worker:
        order_id = ride_in(world, worker, "CALL_DRIVER")
        if name == "cancel":
            ask(world, "cancel", order_id, "changed mind")
        else:
            ask(world, "change_drop", order_id, NEW_DROP)
        poll(world, worker, "CALL_DRIVER", booking_id="C77", **drop_of(NEW_DROP))
        worker.step()
        assert state(world, order_id) == ("unconfirmed", None, 1), "neither proved nor repeated"
        poll(world, worker, "BOOKING_CANCELLED", **drop_of(NEW_DROP))
    assert state(world, order_id) == ("done", "READ_BACK", 1)


def test_an_unclear_change_of_drop_of_an_auto_can_not_be_confirmed(world: World) -> None:
    world.service.answers["drop_location"] = [LOST]
    with world.worker() as worker:
        order_id = ride_in(world, worker, "CALL_DRIVER", "auto")
        ask(world, "change_drop", order_id, NEW_DROP)
        for _ in range(3):
            poll(world, worker, "IN_PROGRESS")
    assert state(world, order_id) == ("unconfirmed", None, 1)


def test_feedback_is_given_once(world: World) -> None:
    with world.worker() as worker:
        order_id = ride_in(world, worker, "COMPLETED")
        assert (
            ask(world, "feedback", order_id, 4, ["Car Quality", "Unsafe Driving"], "fast").outcome
            == "done"
        )
        body = world.service.calls[-1][1]
        assert body == {
            "booking_id": "C1",
            "rating": 4,
            "feedback": "Car Quality,Unsafe Driving",
            "comments": "fast",
        }
        assert ask(world, "feedback", order_id, 5).code == "ALREADY_GIVEN"


def test_feedback_without_a_clear_answer_is_sent_three_times_at_most(world: World) -> None:
    world.service.answers["feedback"] = [LOST] * 9
    with world.worker() as worker:
        order_id = ride_in(world, worker, "COMPLETED")
        assert ask(world, "feedback", order_id, 5).outcome == "unconfirmed"
        for _ in range(5):
            world.clock.go(60)
            worker.step()
    assert world.service.count("feedback") == 3
    assert state(world, order_id)[0] == "unconfirmed"
    assert world.page(order_id).actions[-1].settled_at is not None, (
        "no page shows that it will be sent"
    )


def test_feedback_that_could_not_be_sent_is_stored_for_a_day_and_sent_once_it_can(
    world: World,
) -> None:
    with world.worker() as worker:
        order_id = ride_in(world, worker, "COMPLETED")
        world.service.answers["feedback"] = [httpx.ConnectError("refused")] * 5
        assert ask(world, "feedback", order_id, 5).outcome == "not_sent"
        for _ in range(4):
            world.clock.go(60)
            worker.step()
        assert state(world, order_id) == ("unconfirmed", "NO_CONNECTION", 0)
        world.clock.go(60)
        worker.step()
    assert state(world, order_id)[0] == "done"


def matching(world: World, worker: Worker) -> int:
    world.service.create.append(world.service.matching)
    world.service.tracks["T1"] = [{"booking_status": "ALLOTMENT_PENDING"}]
    return world.book(worker, kind="share")


def test_an_armed_cancel_is_sent_when_the_booking_id_comes(world: World) -> None:
    with world.worker() as worker:
        order_id = matching(world, worker)
        assert ask(world, "cancel", order_id, "changed mind").outcome == "not_now"
        for _ in range(2):
            armed = request.arm_cancel(world.db, world.clock, order_id, world.actor, "changed mind")
            assert armed.outcome == "armed"
        assert len(world.page(order_id).actions) == 1
        world.service.tracks["T1"] = [{"booking_id": "C1", "booking_status": "CALL_DRIVER"}]
        world.service.tracks["C1"] = [{"booking_id": "C1", "booking_status": "BOOKING_CANCELLED"}]
        world.clock.go(4)
        worker.step()
        worker.step()
        assert world.service.count("cancel") == 1
        assert ("cancel", {"booking_id": "C1", "reason": "changed mind"}) in world.service.calls
        assert state(world, order_id)[0] == "done"
        worker.step()
    assert world.service.count("cancel") == 1


def test_a_cancel_is_armed_for_a_ride_of_the_property_that_has_no_booking_id_yet(
    world: World,
) -> None:
    with world.worker() as worker:
        order_id, booked = matching(world, worker), world.book(worker)
    for order_of, who, code in (
        (order_id + 9, world.actor, "NOT_FOUND"),
        (order_id, by_staff(world.staff_id + 9), "NOT_FOUND"),
        (booked, world.actor, "too_late"),
    ):
        found = request.arm_cancel(world.db, world.clock, order_of, who, "changed mind")
        assert found == ActionResult("not_now", code)
    armed = [
        request.arm_cancel(world.db, world.clock, order_id, world.actor, "x" * 900)
        for _ in range(2)
    ]
    assert armed[0] == armed[1] == ActionResult("armed", action_id=armed[0].action_id)
    with world.db.read() as s:
        row = s.query(Action).one()
    assert (row.state, row.calls, row.called_at, row.payload["armed"]) == ("armed", 0, None, True)
    assert len(row.payload["reason"]) == request.LONGEST_REASON


def test_an_armed_cancel_that_never_reached_the_service_is_sent_when_it_can_be(
    world: World,
) -> None:
    with world.worker() as worker:
        order_id = matching(world, worker)
        request.arm_cancel(world.db, world.clock, order_id, world.actor, "changed mind")
        world.service.tracks["T1"] = [{"booking_id": "C1", "booking_status": "CALL_DRIVER"}]
        world.service.tracks["C1"] = [{"booking_id": "C1", "booking_status": "CALL_DRIVER"}]
        world.service.answers["cancel"] = [
            httpx.ConnectError("refused"),
            httpx.ConnectError("refused"),
        ]
        for _ in range(5):
            world.clock.go(6)
            worker.step()
    assert state(world, order_id)[0] == "done"
    assert world.service.count("cancel") == 3


def test_a_cancel_that_is_tried_again_is_not_put_off_by_a_clock_that_steps_back(
    world: World,
) -> None:
    with world.worker() as worker:
        order_id = matching(world, worker)
        request.arm_cancel(world.db, world.clock, order_id, world.actor, "changed mind")
        world.service.tracks["T1"] = [{"booking_id": "C1", "booking_status": "CALL_DRIVER"}]
        world.service.tracks["C1"] = [{"booking_id": "C1", "booking_status": "CALL_DRIVER"}]
        world.service.answers["cancel"] = [httpx.ConnectError("refused")]
        world.clock.go(6)
        worker.step()
        worker.step()
        assert (state(world, order_id)[0], world.service.count("cancel")) == ("armed", 1)
        world.clock.now -= timedelta(hours=1)
        worker.step()
    assert (state(world, order_id)[0], world.service.count("cancel")) == ("done", 2)


def test_an_armed_cancel_can_be_taken_back_and_falls_with_the_match(world: World) -> None:
    with world.worker() as worker:
        order_id = matching(world, worker)
        request.arm_cancel(world.db, world.clock, order_id, world.actor, "changed mind")
        assert request.disarm_cancel(world.db, world.clock, order_id, world.actor).outcome == "done"
        assert (
            request.disarm_cancel(world.db, world.clock, order_id, world.actor).outcome == "not_now"
        )
        request.arm_cancel(world.db, world.clock, order_id, world.actor, "changed mind")
        world.service.tracks["T1"] = [{"booking_status": "ALLOTMENT_FAILED"}]
        world.clock.go(4)
        worker.step()
        worker.step()
    assert [action.state for action in world.page(order_id).actions] == ["dropped", "dropped"]
    assert world.service.count("cancel") == 0


def test_an_action_whose_caller_died_is_read_back_like_an_unclear_one(world: World) -> None:
    with world.worker() as worker:
        order_id = ride_in(world, worker, "CALL_DRIVER")
        world.service.answers["cancel"] = [Killed()]
        with pytest.raises(Killed):
            ask(world, "cancel", order_id, "guest left")
        assert state(world, order_id)[0] == "calling"
        world.clock.go(31)
        poll(world, worker, "CALL_DRIVER")
        poll(world, worker, "CALL_DRIVER")
    assert state(world, order_id)[::2] == ("done", 2)


@pytest.mark.parametrize("calls", [1, 2, 3])
def test_feedback_whose_caller_died_is_not_given_twice_and_is_sent_again(
    world: World, calls: int
) -> None:
    with world.worker() as worker:
        order_id = ride_in(world, worker, "COMPLETED")
        world.service.answers["feedback"] = [Killed()]
        with pytest.raises(Killed):
            ask(world, "feedback", order_id, 4, [], "fast")
        with world.db.write() as s:
            s.execute(update(Action).values(calls=calls))
        world.clock.go(31)
        assert ask(world, "feedback", order_id, 5).code == "ALREADY_GIVEN"
        worker.step()
        worker.step()
    again = calls < 3
    assert state(world, order_id)[::2] == (("done", calls + 1) if again else ("unconfirmed", 3))
    assert world.page(order_id).actions[-1].settled_at is not None
    assert world.service.count("feedback") == 1 + again


def test_without_a_linked_account_nothing_is_sent_and_the_answer_says_so(world: World) -> None:
    with world.worker() as worker:
        order_id = ride_in(world, worker, "CALL_DRIVER")
    with world.db.write() as s:
        s.get_one(Account, world.account_id).state = "reconnect"
    before = len(world.service.calls)
    result = request.cancel(world.runtime, order_id, world.actor, "not needed")
    assert (result.outcome, result.code) == ("not_sent", RECONNECT)
    assert len(world.service.calls) == before


def test_the_same_press_is_busy_for_half_a_minute_while_it_has_no_answer(world: World) -> None:
    with world.worker() as worker:
        order_id = ride_in(world, worker, "CALL_DRIVER")
    world.service.answers["cancel"] = [Killed()]
    with pytest.raises(Killed):
        ask(world, "cancel", order_id, "guest left")
    world.clock.go(29.999)
    assert ask(world, "cancel", order_id, "guest left") == ActionResult("not_now", "BUSY")
    assert ask(world, "change_drop", order_id, NEW_DROP).outcome == "done", "another one"
    world.clock.go(0.001)
    assert ask(world, "cancel", order_id, "guest left").outcome == "done"


def test_what_is_not_offered_says_that_it_is_too_late(world: World) -> None:
    with world.worker() as worker:
        order_id = ride_in(world, worker, "CALL_DRIVER")
    assert ask(world, "feedback", order_id, 5) == ActionResult("not_now", "too_late")


def test_arming_and_withdrawing_a_cancel_are_recorded_until_it_is_released(world: World) -> None:
    with world.worker() as worker:
        order_id = matching(world, worker)
    arguments = world.db, world.clock, order_id, world.actor
    for outcome in ("done", "not_now"):
        request.arm_cancel(*arguments, "changed mind")
        if outcome == "not_now":
            with world.db.write() as s:  # a poll has brought the booking id
                armed = Action.state == "armed"
                s.execute(update(Action).where(armed).values(next_try_at=world.clock()))
        assert request.disarm_cancel(*arguments).outcome == outcome
    with world.db.read() as s:
        rows = s.query(AuditRow).filter(AuditRow.what.endswith("arm_cancel")).order_by(AuditRow.id)
        recorded = [(row.what, row.who, row.subject, row.result, row.property_id) for row in rows]
    who, facts = f"staff:{world.staff_id}", (f"orders:{order_id}", "ok", world.property_id)
    names = ("ride.arm_cancel", "ride.disarm_cancel", "ride.arm_cancel")
    assert recorded == [(name, who, *facts) for name in names]
    assert request.disarm_cancel(world.db, world.clock, order_id, by_staff(99)).code == "too_late"
