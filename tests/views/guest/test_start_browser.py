"""The guest's button in Chromium, with and without scripts; it goes when staff cancel the ride."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from ridedash.geo import LatLng
from ridedash.rides.orders.resolve import withdraw
from ridedash.service.types.bookings import NewBooking
from ridedash.store.actors import by_staff
from ridedash.store.orders import Order
from tests.views.fake_service import upfront
from tests.views.rides.test_pages_browser import with_service
from tests.views.served import Served, served_desk, violations

pytestmark = [pytest.mark.browser, pytest.mark.database]
BODY = NewBooking(pickup=LatLng(-38.5, -128.0), category="mini").model_dump_json()


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served_desk(tmp_path, browser) as found:
        yield found


def waiting(served: Served) -> int:
    order_id = served.desk.order("WAITING", seat_prices={"": "240"})
    served.desk.add(lambda s: setattr(s.get_one(Order, order_id), "body", BODY))
    return order_id


def press(page: Page) -> None:
    page.get_by_role("button", name="I'm ready").click()


@pytest.mark.parametrize("scripts", [True, False])
def test_a_press_orders_or_says_why_not_with_and_without_scripts(
    served: Served, scripts: bool
) -> None:
    fake, order_id = with_service(served.desk), waiting(served)
    page = served.phone(java_script_enabled=scripts)
    page.goto(served.link(order_id))
    expect(page.get_by_text("₹240", exact=True)).to_be_visible()
    if scripts:
        assert violations(page) == []
    fake.estimates = [upfront("mini", 320, "F2")]
    press(page)
    expect(page.get_by_role("alert").first).to_contain_text("₹320 now, more than ₹300")
    fake.estimates = [upfront("mini", 240, "F3")]
    press(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Booking your ride…")
    page.go_back()
    page.goto(page.url)
    expect(page.get_by_role("button", name="I'm ready")).to_have_count(0)
    with served.desk.services.db.read() as s:
        assert [order.state for order in s.query(Order)] == ["READY"]


def test_the_button_goes_when_staff_take_the_ride_back(served: Served) -> None:
    order_id, desk = waiting(served), served.desk
    page = served.phone()
    page.goto(served.link(order_id))
    expect(page.get_by_role("button", name="I'm ready")).to_be_visible()
    follower = served.phone()
    follower.goto(served.link(order_id, "follower"))
    follower.wait_for_function("document.querySelector('[data-guest]').matches('.is-fresh')")
    expect(follower.locator(".guest-detail")).to_contain_text("It is booked only when")
    expect(follower.locator("[data-age-line]")).to_be_hidden()
    withdraw(desk.services.db, desk.services.clock, order_id, by_staff(desk.ids["desk"]))
    expect(page.get_by_role("heading", level=1)).to_have_text("Ride cancelled")
    expect(page.get_by_role("button", name="I'm ready")).to_have_count(0)
