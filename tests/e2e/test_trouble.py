"""Failures in a real browser: unknown outcomes, refusals, stops and changes during a ride."""

import contextlib
import re
import sqlite3
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e import story
from tests.e2e.conftest import READY, control
from tests.running import Running
from tests.views.served import press_in_more

pytestmark = [pytest.mark.browser, pytest.mark.database]

StaffPage = Callable[..., Page]


@pytest.mark.parametrize("scheme", ["dark"])
def test_an_unknown_outcome_is_shown_pinned_and_resolved_by_the_booking_number(
    staff_page: StaffPage, desk: Running, scheme: str
) -> None:
    control(desk, "faults", operation="create", fault="cut_after", times=1)
    page = staff_page("desktop", scheme)
    ride = story.book(page, "mini", f"Guest Knot {scheme}")
    expect(page.locator("#headline")).to_have_text("We don't know if this ride was booked")
    story.look(page, f"unknown-{scheme}")
    made = [
        b
        for b in control(desk, "ledger")["bookings"]
        if b["merchant_txn_id"] in page.inner_text("main")
    ]
    assert len(made) == 1  # sent once, and never again
    page.goto("/")
    expect(page.get_by_text(re.compile("1 unknown"))).to_be_visible()
    story.look(page, f"unknown-list-{scheme}")
    page.goto(ride)
    page.get_by_label("Booking number").fill(made[0]["booking_id"])
    page.get_by_role("button", name="Check and link it").click()
    story.wait_status(page, "COMPLETED")


def test_a_lost_link_is_connected_again_from_the_rides_page(
    staff_page: StaffPage, desk: Running
) -> None:
    page = staff_page()
    story.hold(desk)
    ride = story.book(page, "mini", "Guest Gadwall")
    with (
        contextlib.closing(sqlite3.connect(desk.instance / "sandbox.db", timeout=60)) as service,
        service,
    ):
        # the service has revoked the token
        service.execute("DELETE FROM tokens WHERE user = 'house'")
    expect(page.get_by_text("The account needs reconnecting")).to_be_visible()
    page.get_by_role("button", name="Reconnect").click()
    page.wait_for_url(re.compile("/oauth/authorize"))
    page.get_by_label("House account").check()
    page.get_by_role("button", name="Allow", exact=True).click()
    page.wait_for_url(re.compile(re.escape(ride)))
    expect(page.locator("#said")).to_contain_text("The account is connected again.")
    story.reach(page, desk, "COMPLETED")


def test_an_account_that_may_not_book_is_explained(staff_page: StaffPage) -> None:
    page = staff_page()
    story.choose_trip(page)
    story.choose_car(page, "mini")
    page.locator("main summary", has_text="More").click()
    page.get_by_label("Account").select_option(label="Banned account")
    story.press_book(page, "Guest Teal")
    expect(page.locator("main")).to_contain_text(re.compile("blocked", re.IGNORECASE))
    expect(page.get_by_role("button", name=re.compile("again", re.IGNORECASE))).to_be_visible()
    story.look(page, "refused-blocked")


def test_a_search_can_be_stopped(staff_page: StaffPage, desk: Running) -> None:
    control(desk, "next", scenario="slow_allotment")
    story.hold(desk)
    page = staff_page()
    story.book(page, "mini", "Guest Sanderling")
    story.wait_status(page, "ALLOTMENT_PENDING")
    page.locator("[data-action=abort]").wait_for()  # in place of that of an order without a number
    story.open_panel(page, "Cancel ride")
    story.look(page, "taxi-stop-asked")
    page.get_by_role("button", name="Cancel ride").click()
    story.wait_status(page, "BOOKING_CANCELLED")
    story.look(page, "taxi-stopped")


def test_a_ride_can_be_cancelled_and_the_fee_is_shown_before_the_button(
    staff_page: StaffPage, desk: Running
) -> None:
    page = staff_page()
    story.hold(desk)
    story.book(page, "mini", "Guest Whimbrel")
    story.reach(page, desk, "CALL_DRIVER")
    page.locator("[data-action=cancel]").wait_for()  # in place of that of the search
    story.open_panel(page, "Cancel ride")
    expect(page.locator("[data-fee]")).to_contain_text("₹30")
    story.look(page, "taxi-cancel-asked")
    page.get_by_role("button", name="Cancel ride").click()
    story.wait_status(page, "BOOKING_CANCELLED")


def test_the_drop_can_be_changed_by_name(staff_page: StaffPage, desk: Running) -> None:
    page = staff_page()
    story.hold(desk)
    story.book(page, "suv", "Guest Curlew")
    story.reach(page, desk, "CALL_DRIVER")
    story.open_panel(page, "Change drop")
    field = page.get_by_role("combobox", name="New drop")
    field.fill("station")
    option = page.get_by_role("listbox", name="Places").get_by_role("option").first
    expect(option).to_be_visible()
    story.look(page, "taxi-drop-asked")
    wanted = option.inner_text().split("\n")[0]
    field.press("Enter")
    expect(page.get_by_text("To this drop:")).to_be_visible()
    page.get_by_role("button", name="Change drop").click()
    expect(page.locator(".trip-drop")).to_contain_text(wanted)


def test_the_picker_shows_that_the_service_is_down(staff_page: StaffPage, desk: Running) -> None:
    control(desk, "faults", operation="products", fault="http_500", times=10)
    page = staff_page()
    page.goto("/rides/new?drop_lat=-38.52&drop_lng=-128.02", wait_until=READY)
    expect(page.get_by_role("alert").first).to_be_visible()
    story.look(page, "picker-service-down")


def test_signing_out_ends_the_sign_in(staff_page: StaffPage) -> None:
    page = staff_page()
    press_in_more(page, "Sign out")
    page.wait_for_url("**/sign-in*")
    page.goto("/")
    expect(page).to_have_url(re.compile(r"/sign-in"))
