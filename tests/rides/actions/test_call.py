"""What the result of an action's call means: what is known, what is stored, and when the call is
repeated.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import event, select

from ridedash.rides.actions import call
from ridedash.rides.actions.call import ActionResult, Caller, result_of_error
from ridedash.rides.actions.request import abort
from ridedash.rides.state.codes import RECONNECT
from ridedash.rides.tracking.policy import READ_BACK
from ridedash.service.errors import (
    BadStatus,
    NoAnswer,
    RateLimited,
    Refused,
    Throttled,
    Unauthorized,
    Unreadable,
)
from ridedash.service.throttle.traffic import Priority
from ridedash.store.audit import AuditRow
from ridedash.store.models.orders import Action, Order, Ride
from ridedash.store.models.people import Account
from tests.rides.desk_world import World

NOW = datetime(2026, 3, 1, 14, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
DAY = timedelta(hours=24)


@pytest.mark.parametrize(
    ("error", "result"),
    [
        (
            Refused("C", message="m", header="h", text="t", reason="r"),
            ActionResult("refused", "C", "h", "t – m", 7),
        ),
        (Refused(message="m", reason="r"), ActionResult("refused", "r", None, "m", 7)),
        (RateLimited(429), ActionResult("not_sent", "RATE_LIMITED", action_id=7)),
        (
            RateLimited(429, message="m"),
            ActionResult("not_sent", "RATE_LIMITED", text="m", action_id=7),
        ),
        (
            Throttled(Throttled.LIMITED, 1),
            ActionResult("not_sent", "RATE_LIMITED", action_id=7),
        ),
        (
            Throttled(Throttled.SILENT, 1),
            ActionResult("not_sent", "NO_CONNECTION", action_id=7),
        ),
        (NoAnswer("x", sent=False), ActionResult("not_sent", "NO_CONNECTION", action_id=7)),
        (NoAnswer("x", sent=True), ActionResult("unconfirmed", action_id=7)),
        (Unauthorized(401), ActionResult("refused", "HTTP_401", action_id=7)),
        (
            BadStatus(404, code="GONE", message="m"),
            ActionResult("refused", "GONE", None, "m", 7),
        ),
        *(
            (BadStatus(status), ActionResult("refused", f"HTTP_{status}", action_id=7))
            for status in (400, 403, 405, 413, 415, 422)
        ),
        *((BadStatus(status), ActionResult("unconfirmed", action_id=7)) for status in (402, 500)),
        (Unreadable(200, "x"), ActionResult("unconfirmed", action_id=7)),
    ],
)
def test_what_is_known_after_an_error(error: Any, result: ActionResult) -> None:
    assert result_of_error(error, 7) == result


def settled(result: ActionResult, name: str = "cancel", **facts: Any) -> tuple[Any, ...]:
    """An action after a call with this result: state, calls, settled_at and next_try_at."""
    given = {"state": "calling", "calls": 1, "payload": {}, "made_at": NOW, "settled_at": None}
    action = Action(name=name, **{**given, **facts})
    schedule = call._schedule_feedback if name == "feedback" else call._schedule
    schedule(action, result, NOW)
    return action.state, action.calls, action.settled_at, action.next_try_at


@pytest.mark.parametrize("facts", [{"calls": 2}, {"payload": {"armed": True}}])
def test_a_call_that_ends_after_a_poll_has_settled_its_action_is_not_made_again(
    facts: dict[str, Any],
) -> None:
    """The machine of the call slept meanwhile, and another worker read the result back."""
    done = settled(ActionResult("not_sent", "NO_CONNECTION"), state="done", settled_at=NOW, **facts)
    assert done == ("done", facts.get("calls", 1), NOW, None)


NOT_SENT, UNCLEAR, DONE = (ActionResult(each) for each in ("not_sent", "unconfirmed", "done"))
ARMED = {"payload": {"armed": True}}


@pytest.mark.parametrize(
    ("result", "facts", "after"),
    [
        (DONE, {}, ("done", 1, NOW, None)),
        (UNCLEAR, {}, ("unconfirmed", 1, None, None)),
        (NOT_SENT, {}, ("not_sent", 1, NOW, None)),
        (NOT_SENT, {"calls": 2}, ("unconfirmed", 1, None, None)),
        (UNCLEAR, {"calls": 2}, ("unconfirmed", 2, None, None)),
        (NOT_SENT, ARMED, ("armed", 0, None, NOW + 5 * SECOND)),
        (ActionResult("not_sent", RECONNECT), ARMED, ("not_sent", 1, NOW, None)),
        (DONE, ARMED, ("done", 1, NOW, None)),
        (DONE, {"state": "refused"}, ("refused", 1, None, None)),
    ],
)
def test_a_stop_or_change_is_repeated_only_where_the_call_before_is_unclear(
    result: ActionResult, facts: dict[str, Any], after: tuple[Any, ...]
) -> None:
    assert settled(result, **facts) == after


@pytest.mark.parametrize(
    ("result", "facts", "after"),
    [
        (DONE, {}, ("done", 1, NOW, None)),
        (NOT_SENT, {}, ("unconfirmed", 0, None, NOW + 30 * SECOND)),
        (
            NOT_SENT,
            {"made_at": NOW - DAY + SECOND, "calls": 3},
            ("unconfirmed", 2, None, NOW + 30 * SECOND),
        ),
        (NOT_SENT, {"made_at": NOW - DAY}, ("not_sent", 1, NOW, None)),
        (UNCLEAR, {}, ("unconfirmed", 1, None, NOW + 10 * SECOND)),
        (UNCLEAR, {"calls": 2}, ("unconfirmed", 2, None, NOW + 20 * SECOND)),
        (UNCLEAR, {"calls": 3}, ("unconfirmed", 3, NOW, None)),
    ],
)
def test_feedback_is_retried_for_a_day_or_three_calls(
    result: ActionResult, facts: dict[str, Any], after: tuple[Any, ...]
) -> None:
    assert settled(result, "feedback", **facts) == after


@pytest.fixture
def order(world: World) -> int:
    world.service.tracks["C1"] = [{"booking_id": "C1", "booking_status": "CALL_DRIVER"}]
    with world.worker() as worker:
        made = world.book(worker)
        worker.step()
    return made


def stored(world: World, order_id: int, **facts: Any) -> int:
    given: dict[str, Any] = {
        "name": "cancel",
        "payload": {"reason": "x"},
        "state": "unconfirmed",
        "calls": 1,
        "made_at": world.clock(),
        "next_try_at": world.clock(),
    }
    with world.db.write() as s:
        row = Action(
            property_id=world.property_id,
            staff_id=world.staff_id,
            account_id=world.account_id,
            order_id=order_id,
            **{**given, **facts},
        )
        s.add(row)
        s.get_one(Order, order_id).version += 1
        s.flush()
        return row.id


def action(world: World, action_id: int) -> Action:
    with world.db.read() as s:
        return s.get_one(Action, action_id)


@pytest.mark.database
def test_what_is_due_is_called_the_longest_waiting_first_and_once(world: World, order: int) -> None:
    now = world.clock()
    second = stored(world, order, next_try_at=now - SECOND)
    first = stored(world, order, next_try_at=now - 2 * SECOND)
    armed = stored(world, order, state="armed", next_try_at=now)
    not_due = [
        stored(world, order, next_try_at=now + SECOND),
        stored(world, order, next_try_at=None),
        stored(world, order, state="done"),
    ]
    caller = Caller(world.runtime)
    assert [caller.again(each) for each in not_due] == [False] * 3
    assert list(caller.due(9)) == [first, second, armed]
    assert list(caller.due(1)) == [first]
    assert caller.again(first) is True
    row = action(world, first)
    assert (row.state, row.calls, row.called_at, row.next_try_at) == ("done", 2, now, None)
    assert caller.again(first) is False
    assert world.service.count("cancel") == 1
    with world.db.read() as s:
        entry = s.scalars(select(AuditRow).where(AuditRow.what == "ride.cancel")).one()
        assert (entry.who, entry.subject, entry.result) == ("worker", f"orders:{order}", "done")
        assert (entry.property_id, entry.facts) == (world.property_id, {"code": row.code})


@pytest.mark.database
def test_a_repeated_call_locks_its_own_order_and_no_other(world: World, order: int) -> None:
    stored(world, world.place(), state="done")
    action_id, loaded = stored(world, order), set[int]()

    def note(row: Order, _context: object) -> None:
        loaded.add(row.id)

    event.listen(Order, "load", note)
    try:
        assert Caller(world.runtime).again(action_id)
    finally:
        event.remove(Order, "load", note)
    assert loaded == {order}


@pytest.mark.database
def test_while_calls_are_throttled_none_is_due(world: World, order: int) -> None:
    stored(world, order)
    traffic = world.runtime.client.traffic
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(traffic, "wait_s", lambda priority: 0.5 * (priority is Priority.WRITE))
        assert list(Caller(world.runtime).due(9)) == []


@pytest.mark.database
def test_feedback_that_was_sent_before_waits_for_the_budget_of_retries(
    world: World, order: int
) -> None:
    payload = {"rating": 5, "options": ["a"], "comments": "c"}
    facts = {"name": "feedback", "payload": payload}
    again, first = stored(world, order, **facts), stored(world, order, calls=0, **facts)
    stop = stored(world, order)
    other = stored(world, order, **facts)
    traffic, caller = world.runtime.client.traffic, Caller(world.runtime)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(traffic, "may_repeat", lambda: False)
        assert caller.again(again) is False
        assert caller.again(first) is True
        assert caller.again(stop) is True
    assert action(world, again).next_try_at == world.clock() + 30 * SECOND
    assert action(world, other).next_try_at == world.clock()
    assert world.service.count("feedback") == 1
    world.clock.go(30)
    assert caller.again(again) is True
    name, body = world.service.calls[-1]
    assert name == "feedback"
    texts = str(list(body.values()))
    assert "'a'" in texts
    assert "'c'" in texts


@pytest.mark.database
def test_a_call_without_effect_that_is_known_already_is_not_recorded_again(
    world: World, order: int
) -> None:
    payload = {"reason": "x", "armed": True}
    action_id = stored(world, order, state="calling", payload=payload)

    def version() -> int:
        return world.page(order).order.version

    with world.db.write() as s:
        row = s.get_one(Order, order)
        row.booking_id, row.version = None, row.version + 1
    caller, changes = Caller(world.runtime), []
    for by_worker in (True, True, False):
        before = version()
        assert caller.call(action_id, by_worker=by_worker).code == "NO_BOOKING_ID"
        changes.append(version() - before)
    assert changes == [1, 0, 1]
    with world.db.read() as s:
        entries = s.scalars(select(AuditRow).where(AuditRow.what == "ride.cancel")).all()
    assert [entry.who for entry in entries] == ["worker", f"staff:{world.staff_id}"]


@pytest.mark.database
@pytest.mark.parametrize(
    ("facts", "soon"),
    [
        ({}, True),
        ({"ended_at": NOW}, False),
        ({"poison": 1}, False),
        ({"next_poll_at": None}, False),
    ],
)
def test_a_followed_ride_is_polled_soon_after_an_action(
    world: World, order: int, facts: dict[str, Any], soon: bool, tmp_path: Path
) -> None:
    later = world.clock() + 60 * SECOND
    with world.db.write() as s:
        ride = s.scalars(select(Ride).where(Ride.order_id == order)).one()
        for name, value in {"next_poll_at": later, **facts}.items():
            setattr(ride, name, value)
        s.get_one(Order, order).version += 1
    with world.db.write() as s:
        call._poll_soon(s, order + 1, world.clock())
        call._poll_soon(s, order, world.clock())
    expected = world.clock() if soon else facts.get("next_poll_at", later)
    assert world.ride(order).next_poll_at == expected


def test_a_wrong_partner_key_costs_no_account_its_link(world: World) -> None:
    """Without a refresh token, an attempt to refresh would set the account's state to reconnect."""
    with world.db.write() as s:
        s.get_one(Account, world.account_id).refresh_token_enc = None
    with world.worker() as worker:
        order_id = world.book(worker)
    refused = {"status": "FAILURE", "code": "invalid_partner_key", "message": "No"}
    world.service.answers["abort"] = [httpx.Response(401, json=refused)]
    result = abort(world.runtime, order_id, world.actor)
    assert (result.outcome, result.code) == ("refused", "invalid_partner_key")
    with world.db.read() as s:
        assert s.get_one(Account, world.account_id).state == "ok"


@pytest.mark.database
def test_a_change_of_drop_waits_for_a_newer_one_of_its_ride_and_for_nothing_else(
    world: World, order: int
) -> None:
    drop = {"name": "drop", "payload": {"lat": 1.0, "lng": 2.0, "name": None}}
    other = world.place()
    overtaken = stored(world, order, **drop)
    cancel = stored(world, order)
    newest = stored(world, order, **drop)
    stored(world, other, **drop, state="done")
    stored(world, order, state="done")
    caller = Caller(world.runtime)
    assert sorted(caller.due(9)) == [cancel, newest]
    assert caller.again(overtaken) is False
    assert caller.again(cancel) is True


@pytest.mark.database
def test_an_action_whose_key_is_missing_here_is_left_to_others_for_five_seconds(
    world: World, order: int
) -> None:
    with world.db.write() as s:
        s.get_one(Account, world.account_id).access_token_enc = "k9.a.b"
    action_id = stored(world, order)
    caller = Caller(world.runtime)
    assert list(caller.due(9)) == []
    world.clock.go(4.999)
    assert list(caller.due(9)) == []
    world.clock.go(0.001)
    assert list(caller.due(9)) == [action_id]


@pytest.mark.database
@pytest.mark.parametrize(
    ("words", "text"),
    [({"text": "t", "message": "m"}, "t – m"), ({"message": "m"}, "m"), ({}, None)],
)
def test_the_text_of_the_service_about_a_done_action_is_stored(
    world: World, order: int, words: dict[str, str], text: str | None
) -> None:
    world.service.answers["cancel"] = [{"status": "SUCCESS", "code": "C", "header": "H", **words}]
    action_id = stored(world, order, state="calling")
    result = Caller(world.runtime).call(action_id)
    assert result == ActionResult("done", "C", "H", text, action_id)
    row = action(world, action_id)
    assert (row.code, row.header, row.text) == ("C", "H", text)


@pytest.mark.database
def test_a_late_answer_leaves_the_words_of_the_poll_that_has_settled_its_action(
    world: World, order: int
) -> None:
    action_id = stored(world, order, state="done", code=READ_BACK, settled_at=NOW)
    world.service.answers["cancel"] = [
        {"status": "FAILURE", "code": "GONE", "header": "H", "text": "T"}
    ]
    assert Caller(world.runtime).call(action_id).outcome == "refused"
    after = action(world, action_id)
    assert (after.state, after.code, after.header, after.text) == ("done", READ_BACK, None, None)
    with world.db.read() as s:
        entry = s.scalars(select(AuditRow).where(AuditRow.what == "ride.cancel")).one()
    assert (entry.result, entry.facts["code"]) == ("refused", "GONE")
