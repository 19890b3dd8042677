"""The guest's press, without a browser: it must come from the link's page, and orders once."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from ridedash.extensions import limiter
from ridedash.geo import LatLng
from ridedash.rides.share_links import LinkKind, make_link
from ridedash.service.client import RideClient
from ridedash.service.transport.http import Http
from ridedash.service.types.bookings import NewBooking
from ridedash.store.actors import by_staff
from ridedash.store.audit import AuditRow
from ridedash.store.orders import Order
from tests.views.fake_service import FakeService, upfront
from tests.views.ride_pages import Desk, make_desk

pytestmark = pytest.mark.database
BODY = NewBooking(pickup=LatLng(-38.5, -128.0), category="mini").model_dump_json()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    with made.app.app_context():
        limiter.reset()
    yield made
    made.close()


@pytest.fixture
def phone(desk: Desk) -> FlaskClient:
    return desk.client(signed_in=False)


@pytest.fixture
def fake(desk: Desk) -> FakeService:
    made = FakeService()
    made.estimates = [upfront("mini", 240, "F2")]
    desk.services.client = RideClient(Http(made.transport()), "http://127.0.0.1:9", "the key")
    return made


def waiting(desk: Desk) -> int:
    order_id = desk.order("WAITING", seat_prices={"": "240"})
    desk.add(lambda s: setattr(s.get_one(Order, order_id), "body", BODY))
    return order_id


def link(desk: Desk, order_id: int, kind: LinkKind = LinkKind.RIDER) -> str:
    where, staff = desk.ids["desk.property"], by_staff(desk.ids["desk"])
    return f"/t/{make_link(desk.services.db, desk.now, where, order_id, kind, staff)}"


def key_of(phone: FlaskClient, path: str) -> str:
    found = re.search(r'name="key" value="(\w+)"', phone.get(path).text)
    return found.group(1) if found else ""


def press(phone: FlaskClient, path: str, key: str | None = None) -> TestResponse:
    return phone.post(path, data={"key": key_of(phone, path) if key is None else key})


def states(desk: Desk) -> list[str]:
    with desk.services.db.read() as s:
        return [order.state for order in s.query(Order).order_by(Order.id)]


@pytest.mark.parametrize("kind", list(LinkKind))
@pytest.mark.parametrize(
    ("state", "unasked"),
    [("WAITING", True), ("SCHEDULED", True), ("READY", False), ("MATCHING", False)],
)
def test_no_age_of_updates_is_shown_before_anything_is_sent_to_the_company(
    desk: Desk, phone: FlaskClient, kind: LinkKind, state: str, unasked: bool
) -> None:
    path = link(desk, desk.order(state, seat_prices={"": "240"}), kind)
    page, poll = phone.get(path).text, phone.get(f"{path}/snapshot.json").json
    line = re.search(r"data-age-line\s*(hidden)?\s*>", page)
    assert line is not None
    assert (line[1] == "hidden", poll["unasked"]) == (unasked, unasked)


def test_a_press_orders_the_links_ride_once_and_leads_back(
    desk: Desk, phone: FlaskClient, fake: FakeService
) -> None:
    path, _other = link(desk, waiting(desk)), waiting(desk)
    key = key_of(phone, path)
    assert len(key) == 32, "128 bits"
    answers = [press(phone, path, key) for _ in range(2)]
    assert [(each.status_code, each.headers["Location"]) for each in answers] == [(303, path)] * 2
    assert states(desk) == ["READY", "WAITING"]
    assert len(fake.questions("/products")) == 1
    assert key_of(phone, path) == "", "there is nothing left to press"


def test_a_press_that_orders_nothing_says_why_on_the_page(
    desk: Desk, phone: FlaskClient, fake: FakeService
) -> None:
    path = link(desk, waiting(desk))
    fake.estimates = [upfront("mini", 320, "F2")]
    assert press(phone, path).status_code == 303
    assert states(desk) == ["WAITING"]
    shown = phone.get(f"{path}/snapshot.json").json
    assert shown
    assert "₹320 now, more than ₹300" in shown["ready"]["refused"]


def test_a_page_without_its_button_asks_for_no_press(desk: Desk, phone: FlaskClient) -> None:
    """The time for the press is over, and no worker runs that would end the order."""
    path = link(desk, waiting(desk))
    assert "in your link by 17:00" in phone.get(path).text
    desk.now += timedelta(hours=4)
    page = phone.get(path).text
    assert key_of(phone, path) == ""
    assert "in your link by" not in page
    assert "Not booked" in page
    assert "The time to start it is over" in page


@pytest.mark.parametrize("key", ["", "0" * 32, "schlüssel", "another link's"])
def test_a_press_that_does_not_come_from_the_page_orders_nothing(
    desk: Desk, phone: FlaskClient, fake: FakeService, key: str
) -> None:
    path = link(desk, waiting(desk))
    if key.startswith("another"):
        key = key_of(phone, link(desk, waiting(desk)))
        assert key
    assert press(phone, path, key).headers["Location"] == path
    assert set(states(desk)) == {"WAITING"}


def test_a_follower_can_press_nothing(desk: Desk, phone: FlaskClient, fake: FakeService) -> None:
    order_id = waiting(desk)
    follower, key = link(desk, order_id, LinkKind.FOLLOWER), key_of(phone, link(desk, order_id))
    assert key_of(phone, follower) == ""
    assert press(phone, follower, key).status_code == 404
    assert press(phone, "/t/none", key).status_code == 404
    assert states(desk) == ["WAITING"]


def test_six_presses_of_a_link_in_a_minute_are_enough(
    desk: Desk, phone: FlaskClient, fake: FakeService
) -> None:
    path, other = link(desk, waiting(desk)), link(desk, waiting(desk))
    found = [press(phone, path, "wrong").status_code for _ in range(7)]
    assert found == [303] * 6 + [429]
    assert press(phone, other, "wrong").status_code == 303, "each link by itself"


def test_a_press_wakes_the_worker_and_is_the_guests(
    desk: Desk, phone: FlaskClient, fake: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[bool] = []
    monkeypatch.setattr(desk.services, "wake", lambda: woken.append(True))
    path = link(desk, waiting(desk))
    press(phone, path, "wrong")
    assert woken == []
    press(phone, path)
    assert woken == [True]
    with desk.services.db.read() as s:
        assert [row.who.partition(":")[0] for row in s.query(AuditRow).all()][-1] == "guest"
