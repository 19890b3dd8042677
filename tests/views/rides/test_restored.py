"""After a restore every page says so, and people decide on a page of its own, ride by ride."""

from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient

from ridedash.rides.orders.after_restore import accept, declare
from ridedash.store import restores
from ridedash.store.models.orders import Order
from ridedash.store.models.people import Staff
from tests.views.ride_pages import NOON, Desk, compact, token

pytestmark = pytest.mark.database
BACKUP = NOON - timedelta(hours=2)  # 12:00 at the property
BOOKED = {"state": "BOOKED", "booking_id": "CRN-7"}


@pytest.fixture
def client(desk: Desk) -> FlaskClient:
    return desk.client()


def planned(desk: Desk, prop: str = "desk", **facts: Any) -> int:
    order_id = desk.order("SCHEDULED", prop=prop, **facts)

    def later(s: Any) -> None:
        order = s.get_one(Order, order_id)
        order.pickup_at = NOON + timedelta(hours=3)
        order.due_at = NOON + timedelta(hours=2)
        order.ready_at = None

    desk.add(later)
    return order_id


def restored(desk: Desk) -> None:
    declare(desk.services.db, desk.services.clock, BACKUP)


def lost(desk: Desk, reference: str = "RD-LOST", who: str = "desk", **more: Any) -> None:
    row = {
        "mtx": reference,
        "property_id": desk.ids[f"{who}.property"],
        "account_id": desk.ids[f"{who}.account"],
        "category": "mini",
        "attempt": 1,
        "sent_at": NOON - timedelta(minutes=10),
        "outcome": BOOKED,
        "listed_at": NOON,
        "closed_at": None,
    }
    desk.add(lambda s: restores.list_lost(s, [row | more]))


def post(client: FlaskClient, path: str, **form: str) -> Any:
    return client.post(path, data=form | {"csrf_token": token(client)})


def admin(desk: Desk) -> FlaskClient:
    desk.add(lambda s: setattr(s.get_one(Staff, desk.ids["desk"]), "role", "admin"))
    return desk.client()


def test_every_page_of_staff_says_what_waits_since_the_restore(
    desk: Desk, client: FlaskClient
) -> None:
    for _ in range(3):
        planned(desk)
    planned(desk, "other")
    restored(desk)
    lost(desk)
    banner = (
        "The database was restored to 12:00. 3 planned rides wait for you. 1 booking is missing."
    )
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    for path in ("/", "/rides/new", f"/rides/{order_id}", "/history", "/handover", "/me"):
        page = compact(client.get(path).text)
        assert f"<span>{banner}</span>" in page, path
        assert '<a href="/restored">' in page
    bar = client.get("/board.json?only=bar").json["bar"]
    assert (bar["restored"], bar["decide"]) == (banner, True)
    assert "1 planned ride waits for you." in desk.client(name="other").get("/").text


def test_without_a_restore_no_page_says_anything(desk: Desk, client: FlaskClient) -> None:
    page = compact(client.get("/").text)
    assert page.split("data-restored-band", 1)[1].split("<span>")[1].startswith("</span>")
    assert client.get("/board.json?only=bar").json["bar"]["restored"] == ""


def test_a_restore_with_nothing_to_decide_is_shown_until_it_is_accepted(
    desk: Desk, client: FlaskClient
) -> None:
    restored(desk)
    page = client.get("/").text
    assert "What was entered after that is missing." in page
    assert '<a href="/restored" hidden>' in page, "nothing is left to decide"
    assert client.get("/board.json?only=bar").json["bar"]["decide"] is False
    accept(desk.services.db, desk.services.clock)
    assert client.get("/board.json?only=bar").json["bar"]["restored"] == ""


def test_a_held_ride_is_among_those_that_need_attention_and_offers_the_decision(
    desk: Desk, client: FlaskClient
) -> None:
    order_id = planned(desk)
    restored(desk)
    row = compact(client.get("/").text)
    assert "Not booked: the database was restored" in row
    page = compact(client.get(f"/rides/{order_id}").text)
    assert "waits for you" in page
    assert f'action="/rides/{order_id}/release"' in page
    assert f'action="/rides/{order_id}/ordered"' in page


@pytest.mark.parametrize(
    ("action", "state", "held"), [("release", "SCHEDULED", False), ("ordered", "UNKNOWN", False)]
)
def test_a_press_decides_for_one_ride(
    desk: Desk, client: FlaskClient, action: str, state: str, held: bool
) -> None:
    order_id, other = planned(desk), planned(desk)
    restored(desk)
    answer = post(client, f"/rides/{order_id}/{action}")
    assert answer.status_code == 303
    assert answer.headers["Location"] == f"/rides/{order_id}?said={action}-done"
    with desk.services.db.read() as s:
        order, beside = s.get_one(Order, order_id), s.get_one(Order, other)
    assert (order.state, order.held_at is not None) == (state, held)
    assert (beside.state, beside.held_at is not None) == ("SCHEDULED", True)
    assert "not_now" in post(client, f"/rides/{order_id}/{action}").headers["Location"]


def test_the_page_of_an_unknown_order_says_why_it_is_unknown(
    desk: Desk, client: FlaskClient
) -> None:
    order_id = planned(desk)
    restored(desk)
    post(client, f"/rides/{order_id}/ordered")
    page = client.get(f"/rides/{order_id}").text
    assert "The database was restored, and this booking may have been sent" in page
    assert "booking_id" in page


def test_a_held_ride_can_not_be_marked_as_seen(desk: Desk, client: FlaskClient) -> None:
    order_id = planned(desk)
    restored(desk)
    assert 'value="held"' not in client.get(f"/rides/{order_id}").text
    post(client, f"/rides/{order_id}/acknowledge", item="held")
    assert "Not booked: the database was restored" in client.get("/").text


def test_undoing_the_withdrawal_of_a_held_ride_does_not_set_it_free(
    desk: Desk, client: FlaskClient
) -> None:
    order_id = planned(desk)
    restored(desk)
    post(client, f"/rides/{order_id}/withdraw")
    post(client, f"/rides/{order_id}/restore")
    with desk.services.db.read() as s:
        assert [order.id for order in restores.held_orders(s)] == [order_id]
    assert "Not booked: the database was restored" in client.get("/").text


def test_a_missing_order_is_taken_up_with_the_name_that_is_typed(
    desk: Desk, client: FlaskClient
) -> None:
    restored(desk)
    lost(desk)
    page = client.get("/restored").text
    assert "RD-LOST" in page
    assert "CRN-7" in page
    answer = post(client, "/restored/take-up", reference="RD-LOST", guest="Guest Wren")
    assert answer.status_code == 303
    page = client.get(answer.headers["Location"]).text
    assert "Taken up again after a restore" in page
    assert "Guest Wren" in page
    assert "No booking is missing." in client.get("/restored").text
    again = post(client, "/restored/take-up", reference="RD-LOST")
    assert again.status_code == 409
    assert "somebody has taken it up" in again.text


@pytest.mark.parametrize("reference", ["", "RD-NONE", "'; --", "x" * 500, "RD-\0LOST"])
def test_an_order_that_is_not_missing_is_not_taken_up(
    desk: Desk, client: FlaskClient, reference: str
) -> None:
    lost(desk, "RD-OTHER", "other")
    restored(desk)
    for name in (reference, "RD-OTHER"):
        assert post(client, "/restored/take-up", reference=name).status_code == 409
    assert "RD-OTHER" not in client.get("/restored").text


def test_an_order_of_a_property_that_is_lost_too_is_shown_to_admins_until_it_is_dealt_with(
    desk: Desk, client: FlaskClient
) -> None:
    restored(desk)
    accept(desk.services.db, desk.services.clock)
    lost(desk, "RD-HOMELESS", property_id=None)
    assert "RD-HOMELESS" not in client.get("/restored").text
    assert post(client, "/restored/dealt-with", reference="RD-HOMELESS").status_code == 403
    client = admin(desk)
    assert "1 booking is missing." in client.get("/").text
    page = client.get("/restored").text
    assert "RD-HOMELESS" in page
    assert "CRN-7" in page
    assert post(client, "/restored/take-up", reference="RD-HOMELESS").status_code == 409
    assert post(client, "/restored/dealt-with", reference="RD-HOMELESS").status_code == 303
    assert "RD-HOMELESS" not in client.get("/restored").text
    assert post(client, "/restored/dealt-with", reference="RD-HOMELESS").status_code == 409


def test_an_order_of_this_property_is_taken_up_and_not_dealt_with(desk: Desk) -> None:
    restored(desk)
    lost(desk)
    client = admin(desk)
    assert post(client, "/restored/dealt-with", reference="RD-LOST").status_code == 409
    assert "RD-LOST" in client.get("/restored").text


def test_what_a_journal_holds_is_text_on_the_page(desk: Desk, client: FlaskClient) -> None:
    restored(desk)
    lost(desk, outcome=BOOKED | {"booking_id": "<script>alert(1)</script>"}, category="<b>mini")
    page = client.get("/restored").text
    assert "<script>alert" not in page
    assert "<b>mini" not in page
