"""Who pays, how and how much: each kind of ride, payment and state, as each reader has it."""

import re
from collections.abc import Iterator
from html import unescape

import pytest

from ridedash.rides.share_links import LinkKind, make_link
from ridedash.service_time import REAL
from ridedash.store.actors import by_staff
from ridedash.store.orders import Order, order_page
from ridedash.views.kiosk.ride_view import view_json
from ridedash.views.rides.messages import ready_message
from tests.views.ride_pages import ENDS, STATUSES, Desk, make_desk, token

pytestmark = pytest.mark.database
CASH, WALLET = "You pay the driver in cash.", "The house pays this ride."
NO_SECOND = "not to the driver"
SHARED = "You pay the driver in cash before the ride starts."
PAID = "Cash, to the driver"
NOTHING = "othing to pay to a driver"
ESTIMATE, SEAT = "meter fare, about ₹210–260", "₹96"
BILL = "Pay the driver ₹186 in cash."
STATES = ("SCHEDULED", "READY", "SENDING", "MATCHING", "UNKNOWN", "REJECTED", "NOT_SENT", "FAILED")
LOST = {*ENDS, "REJECTED", "NOT_SENT", "FAILED"}
RIDES = [(kind, status) for kind, found in STATUSES.items() for status in (*found, *ENDS, *STATES)]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = make_desk(tmp_path_factory.mktemp("desk"))
    yield made
    made.close()


def placed(desk: Desk, kind: str, state: str, payment: str | None) -> tuple[int, dict[str, str]]:
    """An order in a state or a status, and the addresses of its links, by their reader."""
    status = None if state in STATES else state
    order_id = desk.order("BOOKED" if status else "SENDING", status, kind, payment=payment)
    owner, who = desk.ids["desk.property"], by_staff(desk.ids["desk"])
    links = {
        each.value: f"/t/{make_link(desk.services.db, desk.now, owner, order_id, each, who)}"
        for each in LinkKind
    }
    if status is None:
        desk.add(lambda s: setattr(s.get(Order, order_id), "state", state))
    return order_id, links


def read(text: str) -> str:
    """What a person reads on a page, without its script's data and what is hidden."""
    body = re.sub(r"(?s)<(script|template|style)\b.*?</\1>", "", text.split("<body")[1])
    return " ".join(unescape(re.sub(r"(?s)<[^>]*>", " ", body)).split())


def expected(kind: str, state: str, payment: str | None) -> str:
    if state in LOST:
        return NOTHING
    if (kind, state) == ("auto", "COMPLETED"):
        return PAID  # the service says so, whatever was ordered
    if payment != "cash":
        return WALLET
    if kind == "share":
        return PAID if state in ("IN_PROGRESS", "COMPLETED") else SHARED
    if state == "COMPLETED":
        return PAID
    return BILL if (kind, state) == ("auto", "INVOICE") else CASH


@pytest.mark.parametrize("payment", ["cash", "svc_money", None])
@pytest.mark.parametrize(("kind", "state"), RIDES)
def test_a_guest_reads_who_pays_and_a_follower_does_not(
    desk: Desk, kind: str, state: str, payment: str | None
) -> None:
    order_id, links = placed(desk, kind, state, payment)
    words, client = expected(kind, state, payment), desk.client()
    phone = desk.client(signed_in=False)
    link = read(phone.get(links["rider"]).text)
    card = read(client.get(f"/rides/{order_id}/card").text)
    with desk.services.db.read() as s:
        page = order_page(s, desk.ids["desk.property"], order_id)
    assert page is not None
    with desk.app.test_request_context():
        message = ready_message(page, "https://rides.example/t/x").text
        kiosk = view_json(page, desk.now, REAL, "en")
    ticket = f"{kiosk['headline']} {kiosk['detail']} {kiosk['pays']} {kiosk['price']}"
    page_of_desk = client.get(f"/rides/{order_id}").text
    screen = read("<body>" + page_of_desk.split("data-to-guest ")[1].split("</dialog>")[0])
    for text in (link, card, message, ticket, screen):
        assert words in text
        if words == WALLET:
            assert "in cash" not in text
    if words == WALLET:
        assert all(NO_SECOND in text for text in (link, card, message, screen))
    follower = phone.get(links["follower"]).text
    for secret in (CASH, WALLET, SHARED, PAID, "₹"):
        assert secret not in follower


@pytest.mark.parametrize(
    ("kind", "state", "price"),
    [
        ("point_to_point", "ALLOTMENT_PENDING", ESTIMATE),
        ("point_to_point", "CALL_DRIVER", ESTIMATE),
        ("point_to_point", "IN_PROGRESS", "₹240"),
        ("auto", "PENDING", ESTIMATE),
        ("auto", "IN_PROGRESS", ESTIMATE),
        ("share", "MATCHING", SEAT),
        ("share", "CALL_DRIVER", SEAT),
        ("share", "INVOICE", "₹240"),
        ("auto", "INVOICE", "₹186"),
        ("auto", "COMPLETED", "₹186"),
    ],
)
@pytest.mark.parametrize("payment", ["cash", "svc_money"])
def test_a_guest_reads_the_price_before_the_end_too(
    desk: Desk, kind: str, state: str, price: str, payment: str
) -> None:
    order_id, links = placed(desk, kind, state, payment)
    phone = desk.client(signed_in=False)
    card = read(desk.client().get(f"/rides/{order_id}/card").text)
    assert price in read(phone.get(links["rider"]).text)
    assert price in card.split("Print")[-1]
    snapshot = phone.get(f"{links['rider']}/snapshot.json").json or {}
    assert price in snapshot["price"]


def test_the_message_with_a_link_names_price_and_payment(desk: Desk) -> None:
    order_id, _links = placed(desk, "share", "CALL_DRIVER", "cash")
    client = desk.client()
    data = {"csrf_token": token(client)}
    page = unescape(client.post(f"/rides/{order_id}/links/rider", data=data).text)
    assert f"{SEAT} · Fixed price · {SHARED}" in page
