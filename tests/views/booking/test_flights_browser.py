"""A ride to a flight in Chromium: the proposal is read, and one press takes it."""

import pytest
from playwright.sync_api import expect

from tests.views.booking.test_flights import PROPOSAL
from tests.views.booking.test_pages import Desk, desk
from tests.views.booking.test_pages_browser import TO_AIRPORT, Browsed, browsed, shown_order
from tests.views.served import violations

__all__ = ["browsed", "desk"]
pytestmark = [pytest.mark.browser, pytest.mark.database]


def test_a_pickup_for_a_flight_is_proposed_and_taken_by_one_press(
    browsed: Browsed, desk: Desk
) -> None:
    page, go = browsed.page, browsed.page.locator("[data-book-go]")
    browsed.open(TO_AIRPORT)
    expect(go).to_have_text("Book Mini to Airport · ₹240 fixed")
    page.fill("#guest-find", "Guest Heron")
    expect(page.locator("#flight")).to_be_hidden()
    page.get_by_role("checkbox", name="Flight").check()
    expect(page.locator("#flight")).to_be_focused()
    page.keyboard.type("lh760")
    page.fill("#departs", "21:40")
    expect(page.locator("[data-flight-said]")).to_have_text(PROPOSAL)
    expect(go).to_have_text("Now: Book Mini to Airport · ₹240 fixed")  # nothing is set by itself
    assert violations(page) == []
    page.get_by_role("button", name="Pick up at 19:18 today").click()
    expect(page.locator("[data-when-said]")).to_have_text("Today, Wed 4 Mar, 19:18, in 4 h 48 min")
    expect(go).to_have_text("Plan Mini to Airport for 19:18 today · now ₹240")
    page.keyboard.press("Control+Enter")
    shown_order(browsed, desk)
    expect(page.locator(".guest-card")).to_contain_text("LH 760, leaves Wed 4 Mar 21:40")
    assert browsed.faults == []


@pytest.mark.parametrize("path", ["/rides/new", "/"])
def test_a_flight_days_away_is_never_booked_now_without_a_question(
    browsed: Browsed, desk: Desk, path: str
) -> None:
    page, go = browsed.page, browsed.page.locator("[data-book-go]")
    browsed.open(path)
    page.fill("#guest-find", "Guest Heron")
    page.fill("#drop", "airp")
    expect(page.locator("#drop-list [role=option]")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(go).to_have_text("Book Mini to Meridian Airport · ₹240 fixed")
    page.get_by_role("checkbox", name="Flight").check()
    page.keyboard.type("EK 501")
    page.keyboard.press("Enter")
    page.keyboard.type("10MAR26 0615")
    expect(go).to_have_text("Now: Book Mini to Meridian Airport · ₹240 fixed")
    page.keyboard.press("Control+Enter")
    asked = page.get_by_role("alert")
    expect(asked).to_contain_text("The flight leaves at 06:15 on Tue 10 Mar. A car now?")
    assert desk.orders() == []
    asked.get_by_role("button", name="Pick up at 03:53 on Tue 10 Mar").click()
    planned = "Plan Mini to Meridian Airport for 03:53 on Tue 10 Mar · now ₹240"
    expect(go).to_have_text(planned)
    expect(page.get_by_role("alert")).to_have_count(0)
    page.locator("#departs").press("Control+Enter")
    expect(page.get_by_text(planned)).to_have_count(0)
    expect(page.get_by_text("Booking…")).to_have_count(0)
    assert [f"{order.pickup_at:%d %H:%M}" for order in desk.orders()] == ["09 22:23"]
    assert browsed.faults == []


def test_a_car_now_for_a_flight_hours_away_is_confirmed_by_a_press(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    browsed.open(TO_AIRPORT)
    page.fill("#guest-find", "Guest Heron")
    page.get_by_role("checkbox", name="Flight").check()
    page.fill("#departs", "21:40")
    page.keyboard.press("Control+Enter")
    page.get_by_role("alert").get_by_role("button", name="Pick up now").click()
    shown_order(browsed, desk)
    assert [order.pickup_at for order in desk.orders()] == [None]


@pytest.mark.parametrize(
    ("typed", "leads"),
    [
        ("21:40", "Pick up at 19:18 today"),
        ("7", "Today, Wed 4 Mar, 19:00, in 4 h 30 min"),
        ("soon", ""),
    ],
)
def test_enter_in_the_time_of_a_flight_leads_to_what_the_page_offers_for_it(
    browsed: Browsed, typed: str, leads: str
) -> None:
    page = browsed.page
    browsed.open(TO_AIRPORT)
    expect(page.locator("[data-book-go]")).to_be_enabled()
    page.get_by_role("checkbox", name="Flight").check()
    page.locator("#departs").focus()
    page.keyboard.type(typed)
    page.keyboard.press("Enter")
    button = page.get_by_role("button", name=leads)
    expect(button if leads else page.locator("[name=offer]:checked")).to_be_focused()
