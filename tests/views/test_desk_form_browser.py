"""The booking form in the board's column, in Chromium: books without leaving the page, once, and is clean after."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Route, expect

from tests.views.desk_page import PATH
from tests.views.test_booking import Desk, desk
from tests.views.test_booking_browser import Browsed, browsed

__all__ = ["browsed", "desk"]
pytestmark = [pytest.mark.browser, pytest.mark.database]


def go(page: Page) -> Any:
    return page.locator("[data-book-go]")


def fill(page: Page, guest: str = "Guest Heron") -> None:
    """A guest and a trip, up to the price on the button."""
    page.fill("#guest-find", guest)
    page.fill("#drop", "airp")
    expect(page.locator("#drop-list [role=option]")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(go(page)).to_have_text("Book Mini · ₹240 fixed")


def test_booking_leaves_the_page_where_it_is_and_the_form_clean_for_the_next_guest(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    browsed.open(PATH)
    first = page.input_value("[name=form_token]")
    fill(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-desk-said]")).to_have_text("Guest Heron: ordered")
    expect(page.locator("#guest-find")).to_have_value("")
    expect(page.locator("#guest-find")).to_be_focused()
    expect(page.locator("#drop")).to_have_value("")
    assert page.input_value("[name=form_token]") != first
    assert page.evaluate("window.booked") == [order.id for order in desk.orders()]
    fill(page, "Guest Wren")
    go(page).click()
    expect(page.locator("#drop")).to_have_value("")
    assert desk.orders()[0].form_token == first
    assert len(desk.orders()) == 2
    assert browsed.faults == []


def test_a_lost_answer_is_asked_for_again_with_the_same_form_and_makes_one_order(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    browsed.open(PATH)
    lost: list[str] = []

    def lose(route: Route) -> None:
        if lost:
            return route.continue_()
        lost.append(route.request.url)
        route.fetch()  # it arrives, and its answer never comes back
        return route.abort()

    page.route(lambda url: url.endswith("/rides/new"), lose)
    fill(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-desk-said]")).to_have_text("Guest Heron: ordered")
    assert len(lost) == 1
    assert page.evaluate("window.booked") == [order.id for order in desk.orders()]
    assert len(desk.orders()) == 1


def test_while_nobody_knows_no_field_changes_and_the_button_asks_again(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    page.clock.install()
    browsed.open(PATH)
    fill(page)
    page.route(lambda url: url.endswith("/rides/new"), lambda route: route.abort())
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-desk-said]")).to_contain_text("No answer yet")
    page.clock.run_for(6_000)
    expect(page.locator("[data-desk-said]")).to_contain_text("Nobody knows yet whether this was ordered")
    expect(go(page)).to_have_text("Ask again")
    assert page.evaluate("document.querySelector('#guest-find').closest('[inert]') !== null")
    assert desk.orders() == []
    page.unroute_all()
    page.keyboard.press("Enter")
    expect(page.locator("#guest-find")).to_have_value("")
    assert len(desk.orders()) == 1


def test_what_is_wrong_is_said_in_place_and_everything_typed_is_kept(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    browsed.open(PATH)
    fill(page)
    page.fill("#guest_phone", "12")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#guest_phone-error")).to_contain_text("No phone has this number")
    expect(page.locator("#guest_phone")).to_be_focused()
    expect(page.locator("#guest-find")).to_have_value("Guest Heron")
    expect(go(page)).to_have_text("Book Mini · ₹240 fixed")
    assert desk.orders() == []
    page.fill("#guest_phone", "022-2778 3300")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#guest-find")).to_have_value("")
    assert len(desk.orders()) == 1


def test_a_second_car_is_asked_for_and_booked_on_purpose(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    desk.press(desk.form(pickup="Grand Hotel, lobby"))
    browsed.open(PATH)
    fill(page)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("Guest Heron already has a ride being booked")
    assert len(desk.orders()) == 1
    page.get_by_role("button", name="Book a second car on purpose").click()
    expect(page.locator("#guest-find")).to_have_value("")
    assert [order.guard_override_by is not None for order in desk.orders()] == [False, True]


def test_the_focus_stays_with_whoever_went_on_meanwhile(browsed: Browsed) -> None:
    page = browsed.page
    browsed.open(PATH)
    fill(page)
    held: list[Route] = []
    page.route(lambda url: url.endswith("/rides/new"), lambda route: held.append(route))
    with page.expect_request("**/rides/new"):
        page.keyboard.press("Control+Enter")
    page.focus("#elsewhere")
    held[0].continue_()
    expect(page.locator("#drop")).to_have_value("")
    expect(page.locator("#elsewhere")).to_be_focused()


def test_axe_finds_nothing_in_the_form_of_the_desk(browsed: Browsed) -> None:
    page = browsed.page
    options = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        browsed.open(PATH)
        assert Axe().run(page, options=options).violations_count == 0
        fill(page)
        found = Axe().run(page, options=options)
        assert found.violations_count == 0, found.generate_report()
