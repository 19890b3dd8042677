"""Groups of cars: the page of the group, its cards, and cancelling all of it."""

import re
from collections.abc import Iterator
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from ridedash.extensions import limiter
from ridedash.service.types.bookings import Done
from ridedash.store.companions import Companion
from ridedash.store.orders import Offer, Order
from tests.views.booking.test_pages import desk
from tests.views.ride_pages import NOON, Desk, compact, make_desk, token
from tests.views.rides.test_pages import Service, Tokens

__all__ = ["desk"]
pytestmark = pytest.mark.database


@pytest.fixture
def rides(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path, PUBLIC_URL="https://rides.example.test")
    made.services.tokens = Tokens()
    yield made
    made.close()


def group(rides: Desk, *cars: tuple[str, str | None], **facts: Any) -> int:
    """Make a group of orders in these states and statuses. Returns the id of the first one."""
    ids = [rides.order(state, status, **facts) for state, status in cars]

    def join(s: Any) -> None:
        s.query(Order).filter(Order.id.in_(ids)).update({"group_key": f"G-{ids[0]}"})

    rides.add(join)
    return ids[0]


def words(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def test_a_drop_without_a_name_is_a_pinned_place_and_a_missing_one_is_for_the_guest_to_tell(
    rides: Desk,
) -> None:
    first = group(rides, ("BOOKED", "CALL_DRIVER"), ("BOOKED", "CALL_DRIVER"))

    def unname(s: Any) -> None:
        s.query(Offer).update({"drop_name": None})

    rides.add(unname)
    page = words(rides.client().get(f"/groups/{first}").text)
    assert "the pinned place" in page
    assert "The guest tells the driver" not in page
    rides.add(lambda s: s.query(Offer).update({"drop_lat": None, "drop_lng": None}))
    assert "The guest tells the driver" in words(rides.client().get(f"/groups/{first}").text)


def test_the_group_says_how_many_are_here(rides: Desk) -> None:
    cars = [("BOOKED", "CLIENT_LOCATED")] * 2 + [("BOOKED", "CALL_DRIVER")]
    page = rides.client().get(f"/groups/{group(rides, *cars)}").text
    assert "2 of 3 here · 1 on the way" in page


def test_the_cards_of_a_group_are_one_page_and_links_are_made_by_a_press(rides: Desk) -> None:
    first = group(rides, ("BOOKED", "CALL_DRIVER"), ("BOOKED", "CALL_DRIVER"), ("REJECTED", None))
    browser = rides.client()
    path = f"/groups/{first}/cards"
    page = browser.get(path).text
    assert (page.count('class="mini column"'), page.count("mini-qr-ground")) == (3, 0)
    with rides.app.app_context():
        limiter.reset()
    made = browser.post(path, data={"csrf_token": token(browser)}).text
    assert made.count("mini-qr-ground") == 2, "the refused car has no ride to follow"
    links = re.findall(r"rides\.example\.test/t/[\w-]+", made)
    assert len(set(links)) == 2
    for link in links:
        assert rides.client(signed_in=False).get(link.split("test", 1)[1]).status_code == 200


def test_every_guest_of_a_shared_car_has_a_card(rides: Desk) -> None:
    first = group(rides, ("BOOKED", "CALL_DRIVER"), ("BOOKED", "CALL_DRIVER"))
    shared_by(rides, first, "Guest Wren", "413")
    browser = rides.client()
    path = f"/groups/{first}/cards"
    page = words(browser.get(path).text)
    assert page.count("Car 1 of 2") == 2
    assert page.count("Guest Wren Room 413") == 1
    assert page.count("Car 2 of 2") == 1
    with rides.app.app_context():
        limiter.reset()
    made = browser.post(path, data={"csrf_token": token(browser)}).text
    assert made.count("mini-qr-ground") == 3
    assert len(set(re.findall(r"rides\.example\.test/t/[\w-]+", made))) == 2, "one for each ride"


def shared_by(rides: Desk, order_id: int, name: str, room: str) -> None:
    """Let another guest ride along."""
    home = rides.ids["desk.property"]
    rides.add(lambda s: s.add(Companion(property_id=home, order_id=order_id, name=name, room=room)))


def cancel_all(browser: FlaskClient, first: int, **form: str) -> Any:
    path = f"/groups/{first}/cancel"
    page = browser.get(path).text
    plan = re.search(r'name="plan" value="([^"]*)"', page)
    form = {"plan": plan[1] if plan else "", "csrf_token": token(browser)} | form
    return browser.post(path, data=form)


def test_all_cars_are_cancelled_each_by_its_own_call_and_the_total_fee_is_shown_before(
    rides: Desk,
) -> None:
    late = {"allotted_at": NOON - timedelta(hours=1)}
    first = group(
        rides,
        *[("BOOKED", "CALL_DRIVER")] * 2,
        *[("BOOKED", "ALLOTMENT_PENDING"), ("READY", None), ("BOOKED", "IN_PROGRESS")],
        ride=late,
    )
    rides.services.client = service = Service(Done())
    browser = rides.client()
    page = words(browser.get(f"/groups/{first}/cancel").text)
    assert "Cancelling may cost 2 × ₹30 = ₹60 now." in page
    assert "Nothing is booked yet: free" in page
    assert "The search is stopped: free" in page
    assert "Stays as it is" in page
    assert service.calls == []
    answer = cancel_all(browser, first, reason="Wait is too long")
    assert answer.headers["Location"] == f"/groups/{first}"
    assert sorted(each[0] for each in service.calls) == ["abort", "cancel", "cancel"]
    assert "1 cancelled" in browser.get(f"/groups/{first}").text, "the one that was not sent yet"


def test_cancelling_planned_cars_is_undone_and_cancelling_others_is_not(rides: Desk) -> None:
    first = group(rides, ("SCHEDULED", None), ("SCHEDULED", None), ("READY", None))
    with rides.services.db.read() as s:
        _first, second, third = s.scalars(select(Order.id).order_by(Order.id))
    pickup = {"pickup_at": rides.now + timedelta(hours=3)}
    rides.add(lambda s: s.query(Order).filter(Order.state == "SCHEDULED").update(pickup))
    browser = rides.client()
    cancel_all(browser, first)
    page = browser.get(f"/groups/{first}").text
    ids = re.findall(r'name="ride" value="(\d+)"', page)
    assert ids == [str(first), str(second)], "the one for now was about to be sent"
    form = {"ride": [*ids, str(third), "x"], "csrf_token": token(browser)}
    assert browser.post(f"/groups/{first}/restore", data=form).status_code == 303
    assert "2 planned · 1 cancelled" in browser.get(f"/groups/{first}").text


def test_a_fee_that_began_after_the_page_was_shown_is_shown_before_anything_is_cancelled(
    rides: Desk,
) -> None:
    first = group(rides, ("BOOKED", "CALL_DRIVER"), ("BOOKED", "CALL_DRIVER"))
    rides.services.client = service = Service(Done())
    browser = rides.client()
    path = f"/groups/{first}/cancel"
    page = browser.get(path).text
    assert "Cancelling is free now." in page
    assert "Free until 14:04:00, then ₹30" in compact(page)
    plan = re.search(r'name="plan" value="([^"]*)"', page)
    assert plan
    rides.now += timedelta(minutes=5)
    answer = browser.post(path, data={"plan": plan[1], "csrf_token": token(browser)})
    assert (answer.status_code, service.calls) == (409, [])
    assert "Nothing was cancelled yet" in answer.text
    assert "Cancelling may cost 2 × ₹30 = ₹60 now." in words(answer.text)
    assert cancel_all(browser, first).status_code == 303
    assert len(service.calls) == 2


def test_a_single_ride_has_no_pages_of_a_group(rides: Desk) -> None:
    order_id, browser = rides.order("BOOKED", "CALL_DRIVER"), rides.client()
    for path, to in (("", ""), ("/cancel", ""), ("/cards", "/card")):
        answer = browser.get(f"/groups/{order_id}{path}")
        assert answer.headers["Location"] == f"/rides/{order_id}{to}"
