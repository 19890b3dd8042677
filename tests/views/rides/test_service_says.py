"""Every refusal that the service's document names: staff read its own text, its guests don't."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from ridedash.rides.share_links import LinkKind, make_link
from ridedash.rides.state import outcome
from ridedash.service.errors import Refused
from ridedash.service.types.bookings import CreateAnswer, CreateBody
from ridedash.store.actors import by_staff
from ridedash.store.orders import Order
from tests.views.ride_pages import Desk, make_desk, token
from tests.views.rides.test_pages import Service, Tokens

pytestmark = pytest.mark.database

DROP = {"lat": "-38.49", "lng": "-127.98", "name": "Museum"}
# code, the service's own text, our headline
ORDERS = [
    ("INVALID_CAR_CATEGORY", "We know no such car", "this car type isn't offered here"),
    ("INVALID_CITY", "We do not drive in Saltmere", "no service at this pickup"),
    ("SAME_PICKUP_DROP", "Both ends are one place", "pickup and drop are the same"),
    ("BANNED USER", "Closed on 4 May by our team", "the ride company blocked this account"),
    ("OUTSTANDING_DUE", "86.50 is due for your last ride", "the account owes for an earlier ride"),
    ("PAYMENT_PENDING", "42.25 waits to be paid", "a payment of the account is open"),
    ("SVC_CREDIT_DUE", "12.75 of credit to repay", "the account has credit to repay"),
    ("INVALID_DROP_LOCATION", "No road leads to that drop", "does not take this drop"),
    (None, "No cabs are headed toward your destination", "no shared ride that way now"),
    (None, "This destination is not for sharing", "no shared ride that way now"),
    ("NO_CABS_AVAILABLE", "All our cabs are busy", "no car is free right now"),
    ("NEVER_SEEN_CODE", "Something quite new", "Not booked"),
]
# action, the ride's status, form, refusal, our headline
ACTIONS: list[tuple[str, str, dict[str, Any], dict[str, str], str]] = [
    (
        "abort",
        "ALLOTMENT_PENDING",
        {},
        {"code": "BOOKING_ALLOTED", "message": "Your driver Reed is near"},
        "Too late to stop: a driver accepted",
    ),
    (
        "cancel",
        "CALL_DRIVER",
        {},
        {
            "reason": "CANCELLATION_NOT_ALLOWED",
            "header": "Sorry for that",
            "text": "Your driver waited 9 minutes",
        },
        "Can't be cancelled now",
    ),
    (
        "drop",
        "CALL_DRIVER",
        DROP,
        {"header": "Invalid Drop Location", "text": "Pick a drop on this side of the river"},
        "Drop not changed: the ride company does not take that place",
    ),
    (
        "drop",
        "IN_PROGRESS",
        DROP,
        {"header": "Oops!", "text": "We are out of office until 9"},
        "Drop not changed: the ride company refused",
    ),
    (
        "feedback",
        "COMPLETED",
        {"rating": "2"},
        {"code": "TOO_SOON", "message": "Rate it after supper"},
        "The ride company refused",
    ),
    (  # the header of another action says nothing of a drop
        "cancel",
        "CALL_DRIVER",
        {},
        {"header": "Oops!", "text": "Try it at the counter"},
        "The ride company refused",
    ),
    (  # nor does a code of a cancel say anything of one
        "drop",
        "IN_PROGRESS",
        DROP,
        {"code": "RIDE_IN_PROGRESS", "header": "Oops!", "text": "The meter is running"},
        "The ride company refused",
    ),
]
# reasons that no answer above proves
UNPROVED = re.compile(
    "another city|different city|ride has ended|list of cars has changed|still processing"
)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    made.services.tokens = Tokens()
    yield made
    made.close()


def links_of(desk: Desk, order_id: int) -> list[str]:
    owner, who = desk.ids["desk.property"], by_staff(desk.ids["desk"])
    db, now = desk.services.db, desk.now
    return [f"/r/{make_link(db, now, owner, order_id, kind, who)}" for kind in LinkKind]


def read_by_guests(desk: Desk, links: list[str]) -> str:
    """What the guest and a follower read on their links."""
    phone = desk.client(signed_in=False)
    return unescape("".join(phone.get(link).text for link in links))


@pytest.mark.parametrize(("code", "said", "ours"), ORDERS)
def test_a_refused_order_says_our_words_and_the_services(
    desk: Desk, code: str | None, said: str, ours: str
) -> None:
    kind = "share" if code is None else "point_to_point"
    body = CreateBody.from_wire({"status": "FAILURE", "code": code, "message": said})
    proved = outcome.classify(CreateAnswer(http_status=200, body=body, readable=True), "ref")
    order_id = desk.order("SENDING", kind=kind)
    links = links_of(desk, order_id)

    def settle(s: Any) -> None:
        order = s.get(Order, order_id)
        order.state, order.code, order.message = proved.state, proved.code, proved.message

    desk.add(settle)
    page = unescape(desk.client().get(f"/rides/{order_id}").text)
    assert ours in page
    assert f"The ride company said: “{said}”" in page
    assert not UNPROVED.search(page)
    assert said not in read_by_guests(desk, links)


@pytest.mark.parametrize(
    "body",
    [
        {"message": "BOOKING_FAILED", "code": "INVALID_CITY", "text": "Not in Saltmere yet"},
        {"status": "FAILURE", "header": "FAILURE", "message": "Not in Saltmere yet"},
        {"status": "FAILURE", "header": "Not in Saltmere yet"},
    ],
)
def test_the_text_is_found_wherever_the_body_has_it(body: dict[str, str]) -> None:
    answer = CreateAnswer(http_status=200, body=CreateBody.from_wire(body), readable=True)
    assert outcome.classify(answer, "ref").message == "Not in Saltmere yet"


def test_an_answer_that_proves_nothing_is_quoted_too(desk: Desk) -> None:
    order_id = desk.order("UNKNOWN", code="UNCLEAR", message="Ask us later")
    desk.add(lambda s: setattr(s.get(Order, order_id), "http_status", 500))
    page = unescape(desk.client().get(f"/rides/{order_id}").text)
    assert "The ride company said: “Ask us later”" in page


def test_our_own_notes_are_not_quoted_as_the_services(desk: Desk) -> None:
    order_id = desk.order("UNKNOWN", code="NO_ANSWER", message="NoAnswer")
    late = desk.order("NOT_SENT", code="PLAN_MISSED", message="NO_CONNECTION")
    client = desk.client()
    for each in (order_id, late):
        assert "The ride company said" not in client.get(f"/rides/{each}").text


@pytest.mark.parametrize(("action", "status", "form", "refusal", "ours"), ACTIONS)
def test_a_refused_action_says_our_words_and_the_services(
    desk: Desk,
    action: str,
    status: str,
    form: dict[str, Any],
    refusal: dict[str, str],
    ours: str,
) -> None:
    desk.services.client = Service(Refused(**refusal))
    client = desk.client()
    order_id = desk.order("BOOKED", status)
    data = {"csrf_token": token(client), **form}
    answer = client.post(f"/rides/{order_id}/{action}", data=data)
    page = unescape(client.get(answer.headers["Location"]).text)
    assert ours in page
    words = [text for name, text in refusal.items() if name in ("message", "header", "text")]
    assert f"The ride company said: “{' – '.join(words)}”" in page
    assert not UNPROVED.search(page)
    read = read_by_guests(desk, links_of(desk, order_id))
    assert not [text for text in words if text in read]


def test_a_receipt_is_for_the_guest_and_does_not_quote_a_refusal(desk: Desk) -> None:
    order_id = desk.order("REJECTED", code="BANNED USER", message="Closed by our team")
    text = unescape(desk.client().get(f"/rides/{order_id}/receipt").text)
    assert "Not booked." in text
    assert "Closed by our team" not in text
    assert "blocked" not in text
