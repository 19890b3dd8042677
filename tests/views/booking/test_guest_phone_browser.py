"""The phone field in Chromium: its reading is shown while it is typed, and for a chosen guest."""

import pytest
from playwright.sync_api import Route, expect

from ridedash.geo import LatLng
from ridedash.store.properties import set_favourite
from tests.views.booking.test_guest_phone import INDIAN, guest, of_country
from tests.views.booking.test_pages import Desk, desk
from tests.views.booking.test_pages_browser import Browsed, browsed, shown_order

__all__ = ["browsed", "desk"]
pytestmark = pytest.mark.browser


def test_a_number_is_shown_as_it_is_read_and_asked_before_the_press(
    browsed: Browsed, desk: Desk
) -> None:
    of_country(desk, "DE")
    page = browsed.page
    browsed.open("/rides/new")
    page.fill("#guest-find", "Guest Heron")
    said = page.locator("#guest_phone-said")
    page.locator("#guest_phone").press_sequentially("030 1234")
    expect(said).to_contain_text("Germany, landline · +49 30 1234")
    page.fill("#guest_phone", "")
    page.locator("#guest_phone").press_sequentially("0151 2345 6789")
    expect(said).to_contain_text("Germany, mobile · +49 1512 3456789")
    page.fill("#guest_phone", "91 98765 43214")
    page.locator("#guest_room").focus()
    expect(said.get_by_role("radio")).to_have_count(2)
    expect(page.locator("#guest_phone")).to_have_attribute("aria-invalid", "true")
    page.fill("#guest_phone", "l5l 2345")
    page.locator("#guest_room").focus()
    expect(said).to_contain_text("no letters")
    expect(said.get_by_role("radio")).to_have_count(0)
    page.fill("#guest_phone", "91 98765 43214")
    page.locator("#guest_room").focus()
    said.get_by_role("radio", name="India, mobile").check()
    page.fill("#drop", "airp")
    page.locator("#drop-list [role=option]").click()
    page.locator("[data-book-go]").click()
    shown_order(browsed, desk)
    assert guest(desk).phone == INDIAN
    assert browsed.faults == []


def test_the_number_of_a_chosen_guest_is_shown_as_it_is_read(browsed: Browsed, desk: Desk) -> None:
    numbers = {"guest_phone": "98450 11111", "guest_phone2": "+44 20 7946 0958"}
    desk.press(desk.form(), **numbers, guest_room="412")
    page = browsed.page
    browsed.open("/rides/new")
    page.fill("#guest-find", "412")
    page.locator("#guest-find-list [role=option]").first.click()
    expect(page.locator("#guest_phone")).to_have_value("+919845011111")
    said = page.locator("#guest_phone-said")
    expect(said).to_contain_text("India, mobile · +91 98450 11111")
    expect(page.locator("#guest_phone2")).to_have_value("+442079460958")
    expect(page.locator("#guest_phone2-said")).to_contain_text("United Kingdom, landline")
    page.fill("#guest-find", "Guest Wren")
    expect(page.locator("#guest_phone2")).to_have_value("")
    expect(page.locator("#guest_phone")).to_have_value("")
    expect(said).to_be_empty()
    page.fill("#guest-find", "98450 22222")
    page.locator("#guest_room").focus()
    expect(said).to_contain_text("India, mobile · +91 98450 22222")


def on_the_desk(browsed: Browsed, desk: Desk) -> None:
    """The board, with a favourite drop that the key 3 chooses."""
    with desk.app.extensions["ridedash"].db.write() as s:
        set_favourite(s, 1, "drop", 3, "Old Harbour", LatLng(-38.53, -128.02))
    browsed.open("/")


def test_a_phone_that_is_corrected_fast_leaves_the_focus_in_the_next_field(
    browsed: Browsed, desk: Desk
) -> None:
    on_the_desk(browsed, desk)
    page, said = browsed.page, browsed.page.locator("#guest_phone-said")
    page.locator("#guest_phone").focus()
    page.keyboard.type("0612 345 678")
    page.keyboard.press("Tab")
    expect(said.get_by_role("radio")).to_have_count(1)
    page.locator("#guest_phone").focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("+31 6 12345678")
    page.keyboard.press("Tab")
    expect(page.locator("#pickup")).to_be_focused()
    expect(said).to_contain_text("Netherlands, mobile")
    expect(page.locator("#pickup")).to_be_focused()
    page.keyboard.type("38.5020 S, 128.0300 W")
    expect(page.locator("#pickup")).to_have_value("38.5020 S, 128.0300 W")
    expect(page.locator("#drop")).to_have_value("")


def test_a_question_about_a_phone_gets_the_focus_unless_the_user_has_gone_on(
    browsed: Browsed, desk: Desk
) -> None:
    on_the_desk(browsed, desk)
    page, said = browsed.page, browsed.page.locator("#guest_phone-said")
    page.locator("#guest_phone").focus()
    page.keyboard.type("65 6253 0000")
    page.keyboard.press("Tab")
    first = said.get_by_role("radio").first
    expect(first).to_be_focused()
    page.keyboard.type("38c")  # no shortcuts
    expect(first).to_be_focused()
    expect(page.locator("#drop")).to_have_value("")
    # the question may come while the number is still typed, and Tab would lead to it
    held: list[Route] = []
    page.route("**/guest-phone.json", lambda route: held.append(route))
    page.locator("#guest_phone").focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("65 6253 0001")
    page.keyboard.press("Tab")
    page.keyboard.type("Lobby")
    while not held:
        page.wait_for_load_state()
    for route in held:
        route.continue_()
    page.unroute("**/guest-phone.json")
    expect(said.get_by_role("radio")).to_have_count(2)
    expect(page.locator("#pickup")).to_be_focused()
    expect(page.locator("#pickup")).to_have_value("Lobby")


def test_enter_leads_on_before_the_server_has_read_the_number(browsed: Browsed, desk: Desk) -> None:
    on_the_desk(browsed, desk)
    page, said = browsed.page, browsed.page.locator("#guest_phone-said")
    held: list[Route] = []
    page.route("**/guest-phone.json", lambda route: held.append(route))
    page.locator("#guest_phone").focus()
    page.keyboard.type("65 6253 0000")
    page.keyboard.press("Enter")
    page.keyboard.type("airp")
    expect(page.locator("#guest_phone")).to_have_value("65 6253 0000")
    expect(page.locator("#drop")).to_have_value("airp")
    while not held:
        page.wait_for_load_state()
    for route in held:
        route.continue_()
    page.unroute("**/guest-phone.json")
    expect(said.get_by_role("radio")).to_have_count(2)
    expect(page.locator("#drop")).to_be_focused()
    # who has not gone on is led back to the question
    page.locator("#guest_phone").fill("65 6253 0001")
    page.keyboard.press("Enter")
    expect(said.get_by_role("radio").first).to_be_focused()


def test_book_names_the_open_question_and_leads_to_it(browsed: Browsed, desk: Desk) -> None:
    page, go = browsed.page, browsed.page.locator("[data-book-go]")
    browsed.open("/rides/new?drop=Airport&drop_lat=-38.55&drop_lng=-128.06")
    page.fill("#guest-find", "Guest Heron")
    page.fill("#guest_phone", "65 6253 0000")
    page.locator("#guest_room").focus()
    expect(go).to_have_text("Which phone number is meant?")
    page.keyboard.press("Control+Enter")
    first = page.locator("#guest_phone-said").get_by_role("radio").first
    expect(first).to_be_focused()
    assert desk.orders() == []
    page.keyboard.press("Space")
    expect(go).to_have_text("Book Mini to Airport · ₹240 fixed")
    page.get_by_role("checkbox", name="Flight").check()
    page.fill("#departs", "7")
    expect(go).to_have_text("Which time of the flight is meant?")
    go.click()
    expect(page.get_by_role("button", name="19:00")).to_be_focused()
    page.fill("#departs", "")
    page.locator(".when-choice", has_text="Later").click()
    page.keyboard.type("7")
    expect(go).to_have_text("Which time is meant?")
    go.click()
    expect(page.get_by_role("button", name="19:00")).to_be_focused()
    assert desk.orders() == []


def test_a_key_after_an_answer_has_taken_the_focus_away_is_no_shortcut(
    browsed: Browsed, desk: Desk
) -> None:
    on_the_desk(browsed, desk)
    page = browsed.page
    page.locator("#guest_phone").focus()
    page.evaluate("document.activeElement.closest('.field').remove()")
    page.keyboard.type("38.5")
    expect(page.locator("#drop")).to_have_value("")
    page.locator(".list-head h1, .list-head h2").first.click()
    page.keyboard.type("3")
    expect(page.locator("#drop")).to_have_value("Old Harbour")
