"""How we know what a ride's page says: the calls and answers, for those who read the audit log."""

from collections.abc import Iterator
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from ridedash.store.models.people import Staff
from ridedash.store.orders import Order, TimelineEvent
from ridedash.views.rides.known_by import ANSWERS, UNSENT
from tests.views.ride_pages import NOON, ORDER_STATES, Desk, make_desk

pytestmark = pytest.mark.database

ASKED = "We asked the ride company to book, with the reference "
NEVER_LEFT = "The order never left for the ride company"
CASES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("UNKNOWN", {"http_status": None, "message": "ReadTimeout"}, "No whole answer came."),
    ("UNKNOWN", {"http_status": 502}, "The answer proves neither a booking nor a refusal."),
    ("UNKNOWN", {"http_status": None, "sent_at": None}, "Our database was restored, and"),
    ("REJECTED", {"http_status": 400, "code": "INVALID_CITY"}, "refused the order: INVALID_CITY."),
    ("REJECTED", {"http_status": None, "code": "NO_CONNECTION"}, f"{NEVER_LEFT}: NO_CONNECTION."),
    ("NOT_SENT", {"http_status": None, "code": "WITHDRAWN"}, f"{NEVER_LEFT}: WITHDRAWN."),
    ("NOT_SENT", {"http_status": 401, "code": "RECONNECT"}, "that it booked nothing: RECONNECT."),
    ("CLOSED_NOT_BOOKED", {"resolve_reason": "asked support"}, "asked support"),
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
    return (
        page.split('class="disclosure known"')[1].split("</details>")[0]
        if ("How we know" in page)
        else ""
    )


def change(desk: Desk, order_id: int, **values: Any) -> int:
    desk.add(lambda s: [setattr(s.get(Order, order_id), *each) for each in values.items()])
    return order_id


def test_a_manager_reads_what_was_asked_and_answered_in_its_order(desk: Desk) -> None:
    stop = ("cancel", "refused", {"code": "CANCELLATION_NOT_ALLOWED", "text": "Too late <i>"})
    order_id = desk.order("BOOKED", "CALL_DRIVER", actions=[stop], guest="Guest Heron")
    sent = {"sent_at": NOON - timedelta(minutes=9), "resolved_at": NOON - timedelta(minutes=9)}
    change(desk, order_id, http_status=200, evidence='{"booking_id": "<b>"}', **sent)
    text = known(desk, order_id)
    parts = (
        ASKED,
        "The ride company answered: booked, with the number ",
        "the ride company answered CALL_DRIVER.",
        "We asked to cancel the ride.",
        "The ride company refused: CANCELLATION_NOT_ALLOWED.",
        "The ride company said: “Too late <i>”",
        "The answer to the order as it came (HTTP 200), without secrets:",
        '{"booking_id": "<b>"}',
    )
    assert [part for part in parts if part not in text] == []
    assert [text.index(part) for part in parts] == sorted(text.index(part) for part in parts)
    assert "Heron" not in text


@pytest.mark.parametrize(("state", "values", "said"), CASES)
def test_it_says_what_settled_the_order_and_no_call_that_was_not_made(
    desk: Desk, state: str, values: dict[str, Any], said: str
) -> None:
    order_id = change(desk, desk.order(state), **{"sent_at": NOON, "message": None} | values)
    text = known(desk, order_id)
    assert said in text
    assert (ASKED in text) is (NEVER_LEFT not in said and values.get("sent_at", NOON) == NOON)
    assert "ReadTimeout" not in text


def test_a_shared_ride_was_first_looked_for_and_booked_later(desk: Desk) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER", kind="share")
    sent = NOON - timedelta(minutes=9)
    change(desk, order_id, sent_at=sent, resolved_at=sent + timedelta(minutes=3))
    facts = {"order_id": order_id, "property_id": desk.ids["desk.property"]}
    desk.add(lambda s: s.add(TimelineEvent(what="order", name="MATCHING", at=sent, **facts)))
    text = known(desk, order_id)
    assert text.index(ASKED) < text.index("it looks for a shared ride") < text.index("booked, with")


def test_every_state_of_an_order_has_an_answer_or_was_never_sent() -> None:
    assert {*ANSWERS, *UNSENT, "SENDING"} == set(ORDER_STATES)


def test_only_who_reads_the_audit_log_sees_it(desk: Desk) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    assert known(desk, order_id)
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "role", "concierge"))
    assert known(desk, order_id) == ""
    assert known(desk, desk.order("WAITING")) == ""
