"""A ride to a flight in Chromium: the proposal is read, and one press takes it."""

import pytest
from playwright.sync_api import expect

from tests.views.booking.test_flights import PROPOSAL
from tests.views.booking.test_pages import Desk, desk
from tests.views.booking.test_pages_browser import TO_AIRPORT, Browsed, browsed
from tests.views.served import violations

__all__ = ["browsed", "desk"]
pytestmark = [pytest.mark.browser, pytest.mark.database]


def test_a_pickup_for_a_flight_is_proposed_and_taken_by_one_press(
    browsed: Browsed, desk: Desk
) -> None:
    page, go = browsed.page, browsed.page.locator("[data-book-go]")
    browsed.open(TO_AIRPORT)
    expect(go).to_have_text("Book Mini · ₹240 fixed")
    page.fill("#guest-find", "Guest Heron")
    expect(page.locator("#flight")).to_be_hidden()
    page.get_by_role("checkbox", name="Flight").check()
    expect(page.locator("#flight")).to_be_focused()
    page.keyboard.type("lh760")
    page.fill("#departs", "21:40")
    expect(page.locator("[data-flight-said]")).to_have_text(PROPOSAL)
    expect(go).to_have_text("Book Mini · ₹240 fixed")  # nothing is set by itself
    assert violations(page) == []
    page.get_by_role("button", name="Pick up at 19:18 today").click()
    expect(page.locator("[data-when-said]")).to_have_text("Today, Wed 4 Mar, 19:18, in 4 h 48 min")
    expect(go).to_have_text("Plan Mini for 19:18 today")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(f"{browsed.url}/rides/1")
    expect(page.locator(".guest-card")).to_contain_text("LH 760, leaves Wed 4 Mar 21:40")
    assert browsed.faults == []
