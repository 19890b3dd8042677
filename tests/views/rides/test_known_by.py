"""How we know what a ride's page says: the calls and answers, for those who read the audit log."""

import re
from collections.abc import Iterator
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from ridedash.rides.state.states import UNSENT
from ridedash.store.models.people import Staff
from ridedash.store.orders import Order, TimelineEvent
from ridedash.views.rides.known_by import ANSWERS
from tests.views.ride_pages import NOON, ORDER_STATES, Desk, make_desk

pytestmark = pytest.mark.database

BEGAN = "We began to ask the ride company to book, with the reference "
BEGUN = {
    "abort": "We began to ask the ride company to stop the search.",
    "cancel": "We began to ask the ride company to cancel the ride.",
    "drop": "We began to ask the ride company to change the drop.",
    "feedback": "We began to send the feedback.",
}
NEVER_LEFT = "The request never left for the ride company"
CLOSED = ("asked support", "A member of staff said that nothing was booked.")
UNSEEN = "A later look at the ride did not show its effect"
CASES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("UNKNOWN", {"http_status": None, "message": "ReadTimeout"}, "No whole answer came."),
    ("UNKNOWN", {"http_status": 502}, "The answer proves neither a booking nor a refusal."),
    ("UNKNOWN", {"http_status": None, "code": "RESTORED"}, "Our database was restored, and"),
    (
        "REJECTED",
        {"http_status": 400, "code": "INVALID_CITY"},
        "refused the booking: INVALID_CITY.",
    ),
    ("REJECTED", {"http_status": None, "code": "NO_CONNECTION"}, f"{NEVER_LEFT}: NO_CONNECTION."),
    ("NOT_SENT", {"http_status": None, "code": "WITHDRAWN"}, f"{NEVER_LEFT}: WITHDRAWN."),
    ("NOT_SENT", {"http_status": 401, "code": "RECONNECT"}, "that it booked nothing: RECONNECT."),
    ("NOT_SENT", {"code": "EXPIRED", "reauthorised": True}, "Nothing was booked: EXPIRED."),
    ("NOT_SENT", {"code": "WITHDRAWN", "throttled": True}, "Nothing was booked: WITHDRAWN."),
    ("CLOSED_NOT_BOOKED", {"resolve_reason": "asked support"}, CLOSED[0]),
    ("BOOKED", {"resolved_by": 1}, "A member of staff typed the number "),
    ("BOOKED", {"resolved_by": 1, "http_status": 200}, "answered: booked, with the number "),
    ("BOOKED", {"recovered_at": NOON}, "Known from the notes of the machine that sent it"),
    ("BOOKED", {"recovered_at": NOON, "resolved_by": 1}, "A member of staff typed the number "),
    ("CLOSED_NOT_BOOKED", {"recovered_at": NOON}, CLOSED[1]),
    ("UNKNOWN", {"recovered_at": NOON, "code": "RESTORED"}, "prove neither a booking nor a"),
)
ACTIONS: tuple[tuple[str, str, dict[str, Any], str], ...] = (
    ("cancel", "done", {}, "The ride company did it."),
    ("cancel", "done", {"code": "READ_BACK"}, "A later look at the ride showed what we asked for."),
    ("cancel", "refused", {"code": "RIDE_ENDED"}, f"{UNSEEN}: RIDE_ENDED."),
    ("drop", "refused", {"code": "SUPERSEDED"}, f"{UNSEEN}: SUPERSEDED."),
    ("abort", "refused", {"code": "BOOKING_ALLOTED"}, "It had no effect: BOOKING_ALLOTED."),
    (
        "abort",
        "refused",
        {"code": "BOOKING_ALLOTED", "header": "Sorry"},
        "The ride company refused",
    ),
    ("cancel", "not_sent", {"code": "NO_CONNECTION"}, "It never left for the ride company."),
    ("cancel", "not_sent", {"code": "RATE_LIMITED"}, "It had no effect: RATE_LIMITED."),
    ("feedback", "unconfirmed", {"code": "NO_CONNECTION", "calls": 0}, "It never left for the"),
    ("feedback", "unconfirmed", {}, "No clear answer came."),
)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    made.add(lambda s: setattr(s.get(Staff, made.ids["desk"]), "role", "manager"))
    yield made
    made.close()


def known(desk: Desk, order_id: int) -> str:
    """The folded part of the page; "" without it."""
    page = unescape(desk.client().get(f"/rides/{order_id}").text)
    for isolate in "\u2066\u2067\u2068\u2069":
        page = page.replace(isolate, "")
    if "How we know" not in page:
        return ""
    return page.split('class="disclosure known"')[1].split("</details>")[0]


def change(desk: Desk, order_id: int, **values: Any) -> int:
    desk.add(lambda s: [setattr(s.get(Order, order_id), *each) for each in values.items()])
    return order_id


def test_a_manager_reads_requests_and_answers_in_order(desk: Desk) -> None:
    stop = ("cancel", "refused", {"code": "CANCELLATION_NOT_ALLOWED", "text": "Too late <i>"})
    order_id = desk.order("BOOKED", "CALL_DRIVER", actions=[stop], guest="Guest Heron")
    sent = {"sent_at": NOON - timedelta(minutes=9), "resolved_at": NOON - timedelta(minutes=9)}
    change(desk, order_id, http_status=200, evidence='{"booking_id": "<b>"}', **sent)
    text = known(desk, order_id)
    parts = (
        BEGAN,
        "The ride company answered: booked, with the number ",
        "the ride company answered CALL_DRIVER.",
        "We began to ask the ride company to cancel the ride.",
        "The ride company refused: CANCELLATION_NOT_ALLOWED.",
        "The ride company said: “Too late <i>”",
        "The answer as it came (HTTP 200), without secrets:",
        '{"booking_id": "<b>"}',
    )
    assert [part for part in parts if part not in text] == []
    assert [text.index(part) for part in parts] == sorted(text.index(part) for part in parts)
    assert "Heron" not in text


@pytest.mark.parametrize(("state", "values", "proof"), CASES)
def test_it_names_what_settled_the_order_and_no_call_that_was_not_made(
    desk: Desk, state: str, values: dict[str, Any], proof: str
) -> None:
    values = {"sent_at": NOON, "message": None} | values
    if "resolved_by" in values:
        values["resolved_by"] = desk.ids["desk"]
    text = known(desk, change(desk, desk.order(state), **values))
    assert proof in text
    assert (BEGAN in text) is (NEVER_LEFT not in proof and "database was restored" not in proof)
    others = {each for other, _, each in CASES if other == state}
    assert {each for each in others if each in text} <= {proof, *CLOSED}
    assert "ReadTimeout" not in text


@pytest.mark.parametrize("name", list(BEGUN))
def test_before_an_answer_no_action_is_shown_as_sent(desk: Desk, name: str) -> None:
    text = known(desk, desk.order("BOOKED", "CALL_DRIVER", actions=[(name, "calling", {})]))
    assert BEGUN[name] in text
    assert "We asked" not in text
    assert "We sent" not in text


@pytest.mark.parametrize(("name", "state", "values", "proof"), ACTIONS)
def test_it_names_who_knows_the_outcome_of_an_action_and_no_call_that_was_never_sent(
    desk: Desk, name: str, state: str, values: dict[str, Any], proof: str
) -> None:
    text = known(desk, desk.order("BOOKED", "CALL_DRIVER", actions=[(name, state, values)]))
    assert proof in text
    begun = any(each in text for each in BEGUN.values())
    assert begun is (state != "not_sent" and values.get("calls") != 0)
    others = ("ride company did it", "ride company refused", "A later look", "No clear answer")
    assert [each for each in others if each in text and each not in proof] == []


def add_event(desk: Desk, order_id: int, minutes: int, name: str, what: str = "order") -> None:
    at = NOON - timedelta(minutes=30 - minutes)
    facts = {"order_id": order_id, "property_id": desk.ids["desk.property"]}
    desk.add(lambda s: s.add(TimelineEvent(what=what, name=name, at=at, **facts)))


def proofs(text: str) -> list[str]:
    """The minutes and seconds of all that the page says, in its order."""
    return re.findall(r"T[0-9]{2}:([0-9]{2}:[0-9]{2})", text)


def test_each_send_is_listed_at_its_time_and_an_estimate_is_not(desk: Desk) -> None:
    order_id = change(desk, desk.order("NOT_SENT"), reauthorised=True, code="EXPIRED", sent_at=None)
    add_event(desk, order_id, 0, "SENDING")
    assert known(desk, order_id).count(BEGAN) == 1
    add_event(desk, order_id, 1, "SENDING")
    assert known(desk, order_id).count(BEGAN) == 2
    restored = change(desk, desk.order("BOOKED"), http_status=200)
    assert BEGAN in known(desk, restored)
    add_event(desk, restored, 2, "from_journal", "event")
    assert BEGAN not in known(desk, restored)


@pytest.mark.parametrize("is_numbered", [True, False])
def test_a_shared_ride_was_first_looked_for_and_booked_later(desk: Desk, is_numbered: bool) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER", kind="share")
    sent = NOON - timedelta(minutes=30)
    values = {"resolved_at": sent + timedelta(minutes=3), "message": "Looking", "http_status": 200}
    change(desk, order_id, sent_at=sent, **values)
    add_event(desk, order_id, 1, "MATCHING")
    add_event(desk, order_id, 3 if is_numbered else 4, "handover", "event")
    text = known(desk, order_id)
    later = "A later look at the ride showed that it is booked"
    parts = (BEGAN, "it looks for a shared ride", "“Looking”", later)
    assert [text.index(each) for each in parts] == sorted(text.index(each) for each in parts)
    assert (f"{later}, with the number CRN" in text) is is_numbered
    assert text.count("“Looking”") == 1
    assert "The ride company answered: booked" not in text


@pytest.mark.parametrize("state", ["MATCHING", "FAILED", "UNKNOWN"])
def test_an_answer_is_listed_at_the_time_when_it_came(desk: Desk, state: str) -> None:
    sent = NOON - timedelta(minutes=30)
    ended = NOON if state == "FAILED" else None
    order_id = change(desk, desk.order(state), sent_at=sent, resolved_at=ended)
    add_event(desk, order_id, 1, "UNKNOWN" if state == "UNKNOWN" else "MATCHING")
    add_event(desk, order_id, 9, state)
    assert proofs(known(desk, order_id)) == ["00:00", "01:00"]


def test_every_state_of_an_order_has_an_answer_or_was_never_sent() -> None:
    assert {*ANSWERS, *UNSENT, "SENDING", "FAILED"} == set(ORDER_STATES)


def test_only_who_reads_the_audit_log_sees_it(desk: Desk) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    assert known(desk, order_id)
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "role", "concierge"))
    assert known(desk, order_id) == ""
    assert known(desk, desk.order("WAITING")) == ""
