"""A ride that the guest starts, from the booking form to the press on a phone."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from ridedash.rides.orders.resolve import withdraw
from ridedash.rides.share_links import LinkKind, make_link
from ridedash.store.actors import by_staff
from ridedash.store.models.people import Guest
from ridedash.store.orders import Offer
from ridedash.store.properties import add_property
from ridedash.views.booking.guest_start import TypedLimits, _until
from tests.test_guard import Addresses
from tests.views.booking.test_pages import Desk, desk
from tests.views.fake_service import upfront
from tests.views.ride_pages import token as csrf_of

__all__ = ["desk"]
pytestmark = pytest.mark.database
NINE_PM = {"until": "21:00", "ceiling": "300"}  # it is 14:30 at the property


def press_start(desk: Desk, **changes: str) -> TestResponse:
    """Press "Let the guest start it", with these limits, if any."""
    form = desk.form(category="mini")
    return desk.press(form, **({"guest_starts": "1"} | changes))


def waiting(desk: Desk, **limits: str) -> int:
    answer = press_start(desk, **(NINE_PM | limits))
    assert answer.status_code == 303, answer.text
    return int(answer.headers["Location"].split("/")[2].split("#")[0])


def link(desk: Desk, order_id: int, kind: LinkKind = LinkKind.RIDER) -> str:
    services = desk.app.extensions["ridedash"]
    return f"/t/{make_link(services.db, desk.now, 1, order_id, kind, by_staff(1))}"


def phone(desk: Desk) -> FlaskClient:
    return desk.app.test_client()


def press(browser: FlaskClient, path: str, page: str = "") -> TestResponse:
    """Press the button of this page, or else of the page that the path has now."""
    found = re.search(r'name="key" value="(\w+)"', page or browser.get(path).text)
    return browser.post(path, data={"key": found.group(1) if found else ""})


def state(desk: Desk, order_id: int) -> str:
    return next(order.state for order in desk.orders() if order.id == order_id)


def row_of(desk: Desk, order_id: int) -> dict[str, Any]:
    """The row of an order on the board."""
    board: Any = desk.client.get("/board.json").json
    return next(row for row in board["rows"] if row["id"] == order_id)


def price_requests(desk: Desk) -> int:
    return len(desk.service.questions("/products"))


def test_the_page_asks_for_limits_and_proposes_some(desk: Desk) -> None:
    page = press_start(desk).text
    assert "Nothing is booked now." in page
    assert re.search(r'name="until"\s+value="17:30"', page)
    assert re.search(r'name="ceiling"\s+value="\d+0"', page)
    assert desk.orders() == []


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"until": "25:00"}, "Until what time?"),
        ({"until": "14:35"}, "at least 10 minutes"),
        ({"ceiling": "3.50"}, "whole amount"),
        ({"ceiling": "1"}, "allow that"),
        ({"ceiling": "99999999999999"}, "whole amount"),
    ],
)
def test_limits_out_of_bounds_are_refused_and_typed_text_is_preserved(
    desk: Desk, limits: dict[str, str], words: str
) -> None:
    answer = press_start(desk, **(NINE_PM | limits))
    assert (answer.status_code, desk.orders()) == (422, [])
    assert words in answer.text
    assert 'name="guest_name" value="Guest Heron"' in re.sub(r"\s+", " ", answer.text)


def test_what_a_ceiling_means_for_a_meter_is_shown_to_staff_and_guest(desk: Desk) -> None:
    form = desk.form(category="suv")
    page = desk.press(form, guest_starts="1").text
    assert "The estimate may be at most (INR)" in page
    assert "the ride itself may cost more than its estimate" in " ".join(page.split())
    low = desk.press(form, guest_starts="1", **NINE_PM)
    assert "The estimate goes up to ₹360 now: allow that." in low.text
    made = desk.press(form, guest_starts="1", **NINE_PM | {"ceiling": "400"})
    assert made.status_code == 303
    (order,) = desk.orders()
    assert "the meter may say more" in desk.client.get(f"/rides/{order.id}").text
    assert "It runs by the meter" in phone(desk).get(link(desk, order.id)).text


def test_a_group_or_a_planned_ride_can_not_wait_for_its_guest(desk: Desk) -> None:
    assert "one car, for now" in press_start(desk, cars="2").text
    later = {"when": "later", "pickup_date": "2026-03-05", "pickup_time": "05:10"}
    assert "one car, for now" in press_start(desk, **later).text
    assert desk.orders() == []


def test_a_car_of_another_property_can_not_wait_for_a_guest(desk: Desk) -> None:
    form = desk.form(category="mini")
    with desk.app.extensions["ridedash"].db.write() as s:
        other = add_property(s, "Other Hotel", "UTC", desk.now)
        s.get_one(Offer, int(form["offer"])).property_id = other.id
    answer = desk.press(form, guest_starts="1", **NINE_PM)
    assert answer.status_code == 409
    assert "not known any more" in answer.text
    assert desk.orders() == []


def test_the_order_waits_on_the_board_and_on_its_page(desk: Desk) -> None:
    order_id = waiting(desk)
    order = desk.orders()[0]
    assert (order.state, order.ceiling_minor) == ("WAITING", 30_000)
    assert order.guest_until == desk.now + timedelta(hours=6, minutes=30)
    page = desk.client.get(f"/rides/{order_id}").text
    assert "Waiting for the guest until 21:00" in page
    assert "above ₹300 nothing is booked" in page
    assert "Book it now" in page
    # the guest still needs the link, so it stands before all actions; there is no receipt yet
    assert page.index("Give the guest the link") < page.index("Book it now")
    assert page.count('id="out"') == 1
    assert f"/rides/{order_id}/receipt" not in page
    # words on the screen that is turned to the guest, which has no such button
    assert "Press “I&#39;m ready” in your link by 21:00" in page
    link(desk, order_id)
    page = desk.client.get(f"/rides/{order_id}").text
    assert "Give the guest the link" not in page
    row = row_of(desk, order_id)
    assert (row["headline"], row["group"]) == ("Waiting for the guest until 21:00", "later")


def test_the_guest_presses_once_and_follows_the_ride_on_the_same_page(desk: Desk) -> None:
    order_id = waiting(desk)
    path, guest = link(desk, order_id), phone(desk)
    requests_before = price_requests(desk)
    page = guest.get(path).text
    assert "I'm ready" in page
    assert "Above ₹300 nothing is booked" in page
    assert Addresses(page).wrong == []
    assert price_requests(desk) == requests_before
    assert state(desk, order_id) == "WAITING"
    answer = press(guest, path, page)
    assert (answer.status_code, answer.headers["Location"]) == (303, path)
    assert "Set-Cookie" not in answer.headers
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert state(desk, order_id) == "READY"
    after = guest.get(path).text
    assert "Booking your ride" in after
    assert "I'm ready" not in after
    for browser in (guest, phone(desk)):  # the old page again, also on another phone
        assert press(browser, path, page).status_code == 303
    assert [order.state for order in desk.orders()] == ["READY"]
    assert price_requests(desk) == requests_before + 1
    assert "started by the guest" in desk.client.get(f"/rides/{order_id}").text


def test_only_a_press_on_the_guests_own_page_starts_it(desk: Desk) -> None:
    order_id = waiting(desk)
    path, follower = link(desk, order_id), link(desk, order_id, LinkKind.FOLLOWER)
    guest, page = phone(desk), phone(desk).get(path).text
    assert "I'm ready" not in guest.get(follower).text
    assert press(guest, follower, page).status_code == 404
    assert press(guest, link(desk, order_id), page).status_code == 303  # the key is another link's
    assert guest.post(path, data={"key": ""}).status_code == 303
    key = {"key": re.search(r'name="key" value="(\w+)"', page).group(1)}  # type: ignore[union-attr]
    elsewhere = {"Sec-Fetch-Site": "cross-site"}
    assert guest.post(path, data=key, headers=elsewhere).status_code == 403
    assert guest.post("/t/" + "x" * 22, data=key).status_code == 404
    guest.get(path), guest.head(path), guest.get(f"{path}/snapshot.json")
    assert state(desk, order_id) == "WAITING"


def test_a_price_above_the_ceiling_orders_nothing_and_both_sides_read_why(desk: Desk) -> None:
    order_id = waiting(desk)
    path, guest = link(desk, order_id), phone(desk)
    desk.service.estimates = [upfront("mini", 320, "F9")]
    press(guest, path)
    assert state(desk, order_id) == "WAITING"
    page = guest.get(path).text
    assert "It costs ₹320 now, more than ₹300. Nothing was booked." in page
    assert "I'm ready" in page
    page = desk.client.get(f"/rides/{order_id}").text
    assert "it costs ₹320 now, above ₹300" in page
    row = row_of(desk, order_id)
    assert row["group"] == "needs"
    desk.service.estimates = [upfront("mini", 300, "F9")]
    press(guest, path)
    assert state(desk, order_id) == "READY"


def test_the_time_is_over(desk: Desk) -> None:
    order_id = waiting(desk)
    path, guest = link(desk, order_id), phone(desk)
    page = guest.get(path).text
    desk.now += timedelta(hours=6, minutes=30)
    assert "I'm ready" not in guest.get(path).text
    press(guest, path, page)
    assert state(desk, order_id) == "WAITING"  # only the worker ends the order


def test_staff_take_it_back_or_order_it_themselves(desk: Desk) -> None:
    order_id = waiting(desk)
    path, guest = link(desk, order_id), phone(desk)
    page = guest.get(path).text
    services = desk.app.extensions["ridedash"]
    assert withdraw(services.db, services.clock, order_id, by_staff(1))
    press(guest, path, page)
    assert state(desk, order_id) == "NOT_SENT"
    assert "Ride cancelled" in guest.get(path).text
    snapshot: Any = guest.get(f"{path}/snapshot.json").json
    assert snapshot["stop"] is False, "it may come back"
    csrf = {"csrf_token": csrf_of(desk.client)}
    back = desk.client.post(f"/rides/{order_id}/restore", data=csrf)
    assert "It waits for the guest again" in desk.client.get(back.headers["Location"]).text
    assert 'name="key"' in guest.get(path).text
    snapshot = guest.get(f"{path}/snapshot.json").json
    assert list(snapshot["ready"]) == sorted(snapshot["ready"]), "a poll loads no page anew"
    other = waiting(desk)
    form = {"csrf_token": csrf_of(desk.client)}
    assert desk.client.post(f"/rides/{other}/start", data=form).status_code == 303
    assert state(desk, other) == "READY"
    assert "started at the desk" in desk.client.get(f"/rides/{other}").text


def test_many_presses_in_a_minute_are_throttled(desk: Desk) -> None:
    path = link(desk, waiting(desk))
    desk.service.estimates = [upfront("mini", 320, "F9")]
    guest = phone(desk)
    came = [press(guest, path).status_code for _ in range(8)]
    assert came == [303] * 6 + [429] * 2


def test_a_guests_name_stays_text(desk: Desk) -> None:
    order_id = waiting(desk, guest_name="<b>&\"'</b>")
    page = phone(desk).get(link(desk, order_id)).text
    assert "<b>" not in page
    services = desk.app.extensions["ridedash"]
    with services.db.read() as s:
        assert [row.name for row in s.query(Guest)] == ["<b>&\"'</b>"]


def test_a_time_that_clocks_show_twice_is_the_one_to_come() -> None:
    berlin, second = ZoneInfo("Europe/Berlin"), datetime(2026, 10, 25, 1, 10, tzinfo=UTC)
    for now, until in ((second - timedelta(hours=1), 0), (second, 1)):
        limits = TypedLimits("02:40", "300")
        expected = datetime(2026, 10, 25, until, 40, tzinfo=UTC)
        assert (_until(limits, now, berlin), limits.wrong) == (expected, {})


@pytest.mark.parametrize(
    ("now", "until"),
    [
        # 02:30 does not exist in Berlin on the 29th; on the days before and after it does
        (datetime(2026, 3, 28, 0, 10, tzinfo=UTC), datetime(2026, 3, 28, 1, 30, tzinfo=UTC)),
        (datetime(2026, 3, 29, 1, 5, tzinfo=UTC), datetime(2026, 3, 30, 0, 30, tzinfo=UTC)),
        (datetime(2026, 3, 28, 21, 0, tzinfo=UTC), None),
        (datetime(2026, 3, 29, 0, 30, tzinfo=UTC), None),
    ],
)
def test_a_time_that_clocks_leave_out_is_refused_only_where_it_is_the_next_one(
    now: datetime, until: datetime | None
) -> None:
    limits = TypedLimits("02:30", "300")
    assert _until(limits, now, ZoneInfo("Europe/Berlin")) == until
    wrong = {} if until else {"until": "That time does not exist tonight: clocks go forward."}
    assert limits.wrong == wrong
