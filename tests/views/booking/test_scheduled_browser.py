"""Scheduled rides in Chromium: the button shows the time, the keyboard is enough, axe is silent."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Browser, expect

from tests.views.booking.test_pages import PASSWORD, TRIP, Desk, desk
from tests.views.booking.test_pages_browser import Browsed, browsed, shown_order
from tests.views.booking.test_scheduled import go as go_to
from tests.views.booking.test_scheduled import zone
from tests.views.served import SET_BACK, carry_sign_in, violations

__all__ = ["browsed", "desk"]
pytestmark = [pytest.mark.browser, pytest.mark.database]
READY = "/rides/new?show=1&" + "&".join(f"{name}={value}" for name, value in TRIP.items())


def test_a_ride_is_scheduled_by_keyboard_and_the_button_shows_the_time(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    browsed.open(READY)
    page.evaluate(SET_BACK)  # the server's clock says what today and tomorrow are
    go = page.locator("[data-book-go]")
    expect(go).to_have_text("Book Mini to Airport · ₹240 fixed")
    expect(page.locator("#pickup_words")).to_be_hidden()
    page.keyboard.type("Guest Heron")
    page.locator("[name=when][value=now]").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#pickup_words")).to_be_visible()
    expect(go).to_have_text("Choose day and time")
    expect(go).to_be_disabled()
    message = page.locator("[data-when-said]")
    page.locator("#pickup_words").fill("in 5 min")  # it is 14:30 here
    expect(message).to_contain_text("Too soon to plan")
    expect(go).to_be_disabled()
    page.locator("#pickup_words").fill("sometime")
    expect(message).to_contain_text("“sometime” is not understood")
    expect(go).to_be_disabled()
    page.locator(".chip", has_text="today 20:00").click()
    expect(message).to_have_text("Today, Wed 4 Mar, 20:00, in 5 h 30 min")
    expect(go).to_have_text("Plan Mini to Airport for 20:00 today · now ₹240")
    page.locator(".when-exact > summary").click()
    expect(page.locator("#pickup_time")).to_have_value("20:00")
    page.locator("#pickup_time").fill("05:10")
    expect(page.locator("#pickup_words")).to_have_value("")
    expect(go).to_have_text("Choose a pickup at least 15 minutes ahead")
    page.locator("#pickup_date").fill("2026-03-05")
    expect(message).to_have_text("Tomorrow, Thu 5 Mar, 05:10, in 14 h 40 min")
    expect(go).to_have_text("Plan Mini to Airport for 05:10 tomorrow · now ₹240")
    expect(page.locator("[data-bar-terms]")).to_contain_text("Priced when it is booked")
    expect(page.get_by_text("Fixed price", exact=True).first).to_be_hidden()
    # the present distance of a cab says nothing about a later time
    expect(page.locator(".product-eta").first).to_be_hidden()
    page.locator("#pickup_date").fill("2026-03-07")
    expect(go).to_have_text(
        re.compile(r"Plan Mini to Airport for 05:10 on Sat,? (7 Mar|Mar 7) · now ₹240")
    )
    page.locator("#pickup_date").fill("2026-03-05")
    page.keyboard.press("Control+Enter")
    order = shown_order(browsed, desk)
    expect(page.locator("#headline")).to_have_text("Planned for 05:10 tomorrow")
    assert (order.state, order.pickup_at) == ("SCHEDULED", datetime(2026, 3, 4, 23, 40, tzinfo=UTC))
    assert browsed.faults == []


def test_a_time_that_may_be_two_is_asked_and_chosen_by_the_keyboard(browsed: Browsed) -> None:
    page = browsed.page
    browsed.open(READY)
    page.locator(".when-choice", has_text="Later").click()
    page.locator("#pickup_words").fill("tomorrow 6")
    go, choices = page.locator("[data-book-go]"), page.locator("[data-when-asked] button")
    expect(choices).to_have_count(2)
    expect(page.locator("[data-when-said]")).to_contain_text("Which half of the day is meant?")
    expect(go).to_have_text("Which time is meant?")
    choices.first.focus()
    page.keyboard.press("Tab")
    expect(choices.last).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#pickup_words")).to_be_focused()
    expect(page.locator("#pickup_words")).to_have_value("2026-03-05 18:00")
    expect(page.locator("[data-when-said]")).to_contain_text("Tomorrow, Thu 5 Mar, 18:00")
    expect(choices).to_have_count(0)
    expect(go).to_have_text("Plan Mini to Airport for 18:00 tomorrow · now ₹240")
    assert violations(page) == []
    assert browsed.faults == []


def test_in_an_hour_that_clocks_show_twice_quick_choices_and_both_times_can_be_planned(
    browsed: Browsed, desk: Desk
) -> None:
    zone(desk, "Europe/Berlin")
    go_to(desk, datetime(2026, 10, 25, 0, 35, tzinfo=UTC))  # 2:35, before clocks go back to 2:00
    page = browsed.page
    carry_sign_in(desk.client, page, browsed.url)
    browsed.open(READY)
    page.keyboard.type("Guest Heron")
    page.locator(".when-choice", has_text="Later").click()
    go, said = page.locator("[data-book-go]"), page.locator("[data-when-said]")
    page.locator(".when-quick .chip").first.click()
    expect(said).to_contain_text("02:05, in 30 min · second, after clocks go back")
    expect(go).to_be_enabled()
    page.locator("#pickup_words").fill("02:55")
    expect(said).to_contain_text("show 02:55 twice")
    page.locator("[data-when-asked] button").last.click()
    expect(said).to_contain_text("02:55, in 1 h 20 min · second, after clocks go back")
    expect(page.locator("[name=pickup_which]")).to_have_value("second")
    go.click()
    order = shown_order(browsed, desk)
    assert order.pickup_at == datetime(2026, 10, 25, 1, 55, tzinfo=UTC)
    assert browsed.faults == []


def test_a_time_that_could_not_be_read_is_sent_again(browsed: Browsed) -> None:
    page = browsed.page
    page.clock.install()
    browsed.open(READY)
    page.route("**/pickup-time.json*", lambda route: route.abort())
    page.locator(".when-choice", has_text="Later").click()
    page.locator("#pickup_words").fill("tomorrow 06")
    expect(page.locator("[data-when-said]")).to_contain_text("could not be read")
    page.unroute("**/pickup-time.json*")
    page.clock.run_for(4_000)
    expect(page.locator("[data-book-go]")).to_have_text(
        "Plan Mini to Airport for 06:00 tomorrow · now ₹240"
    )


def test_choosing_now_again_restores_the_price(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    browsed.open(READY)
    desk.now += timedelta(hours=10)  # the page stays open past midnight
    page.locator(".when-choice", has_text="Later").click()
    expect(page.locator("[data-book-go]")).to_have_text("Choose day and time")
    expect(page.locator("#pickup_date")).to_have_value("2026-03-05")
    page.locator(".when-choice", has_text="Now").click()
    expect(page.locator("[data-book-go]")).to_have_text("Book Mini to Airport · ₹240 fixed")
    expect(page.locator("#pickup_date")).to_be_hidden()


def test_a_scheduled_ride_is_changed_from_its_page_and_withdrawn(
    browsed: Browsed, desk: Desk
) -> None:
    desk.press(desk.form(), when="later", pickup_date="2026-03-05", pickup_time="05:10")
    page, path = browsed.page, f"/rides/{desk.ride(1)}"
    browsed.open(path)
    page.get_by_role("button", name="Change").click()
    expect(page.locator("[data-book-go]")).to_have_text(
        "Save: Mini to Airport for 05:10 tomorrow · now ₹240"
    )
    expect(page).to_have_title(re.compile("^Change a planned ride · ridedash · Demo"))
    heading = page.get_by_role("heading", name="Change a planned ride").bounding_box()
    assert heading
    assert heading["height"] > 20  # visible, on a small laptop too
    expect(page.locator(".bar-link[aria-current]")).to_have_count(0)
    page.locator("#pickup_time").fill("06:00")
    page.locator("[data-book-go]").click()
    page.wait_for_url(f"{browsed.url}{path}*")
    expect(page.locator("#headline")).to_have_text("Planned for 06:00 tomorrow")
    browsed.open("/")
    expect(page.locator("#later .row")).to_have_count(1)
    browsed.open(path)
    page.keyboard.press("x")
    expect(page.get_by_role("button", name="Keep the ride")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#action-withdraw")).not_to_have_attribute("open", "")
    assert desk.orders()[0].state == "SCHEDULED"
    page.keyboard.press("x")
    page.locator("#action-withdraw").get_by_role("button", name="Cancel ride").click()
    expect(page.locator("#headline")).to_have_text("Cancelled before it was booked")
    assert desk.orders()[0].state == "NOT_SENT"
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#headline")).to_have_text("Planned for 06:00 tomorrow")
    assert desk.orders()[0].state == "SCHEDULED"


def test_a_change_keeps_the_time_although_it_is_near(browsed: Browsed, desk: Desk) -> None:
    desk.press(desk.form(), when="later", pickup_date="2026-03-05", pickup_time="05:10")
    desk.now = datetime(2026, 3, 4, 23, 33, tzinfo=UTC)  # seven minutes before
    page, go = browsed.page, browsed.page.locator("[data-book-go]")
    browsed.open(f"/rides/new?change={desk.ride(1)}")
    page.fill("[name=name]", "desk")  # the sign-in of the evening has ended
    page.fill("[name=password]", PASSWORD)
    page.click("main button[type=submit]")
    expect(go).to_have_text("Save: Mini to Airport for 05:10 today · now ₹240")
    page.locator("#pickup_time").fill("05:12")
    expect(go).to_have_text("Choose a pickup at least 15 minutes ahead")
    page.locator("#pickup_time").fill("05:10")
    expect(go).to_have_text("Save: Mini to Airport for 05:10 today · now ₹240")
    expect(go).to_be_enabled()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_where_a_ride_is_scheduled_shown_and_changed(
    browsed: Browsed, desk: Desk, scheme: str
) -> None:
    page = browsed.page
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
    desk.press(desk.form(), when="later", pickup_date="2026-03-05", pickup_time="05:10")
    order_id = desk.ride(1)
    for path in (f"/rides/{order_id}", f"/rides/new?change={order_id}", READY):
        browsed.open(path)
        if path == READY:
            page.locator(".when-choice", has_text="Later").click()
            page.locator("#pickup_words").fill("0615")
            expect(page.locator("[data-when-said]")).to_contain_text("06:15, in 15 h 45 min")
        assert violations(page) == [], path


def test_scheduling_works_without_scripts(desk: Desk, browsed: Browsed, browser: Browser) -> None:
    state = browsed.page.context.storage_state()
    with browser.new_context(java_script_enabled=False, storage_state=state) as without_scripts:
        page = without_scripts.new_page()
        page.goto(browsed.url + READY)
        expect(page.locator("#pickup_words")).to_be_hidden()
        page.locator(".when-choice", has_text="Later").click()
        expect(page.locator("[data-book-go]")).to_have_text(
            "Plan the chosen car", use_inner_text=True
        )
        page.fill("#guest-find", "Guest Heron")
        page.fill("#pickup_words", "sometime")
        page.click("[data-book-go]")
        expect(page.locator("#pickup_words-error")).to_contain_text("is not understood")
        expect(page.locator("#pickup_words")).to_have_value("sometime")
        page.fill("#pickup_words", "tomorrow 0510")
        page.click("[data-go]")
        expect(page.locator("[data-when-said]")).to_have_text(
            "Tomorrow, Thu 5 Mar, 05:10, in 14 h 40 min"
        )
        page.click("[data-book-go]")
        page.wait_for_url(f"{browsed.url}/rides/{desk.ride(1)}")
        expect(page.locator("#headline")).to_have_text("Planned for 05:10 tomorrow")
