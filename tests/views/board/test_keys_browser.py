"""Fast booking by keyboard in Chromium: guest search, digits of favourites, and counted keys."""

import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Locator, Page, Route, expect
from sqlalchemy import select

from ridedash.geo import LatLng
from ridedash.store.models.people import Guest
from ridedash.store.orders import Order
from ridedash.store.properties import set_favourite
from tests.views.booking.test_pages import TRIP, Desk, desk
from tests.views.booking.test_pages_browser import Browsed, browsed
from tests.views.desk_page import PATH

__all__ = ["browsed", "desk"]
pytestmark = [pytest.mark.browser, pytest.mark.database]

AIRPORT = ("Airport", LatLng(-38.55, -128.06))
STATION = ("Harbour Station", LatLng(-38.52, -128.02))
N = 1  # the key that leads from the board's list to the guest field; other tests press it
KNOWN, NEW = 11, 36  # the most keys for a known guest, and for a new one
SOON_S = 5  # even a busy machine stops the page's clock within this time


@pytest.fixture
def counted(browsed: Browsed, desk: Desk) -> Page:
    """The compact form with two favourites and a known guest, and a count of all pressed keys."""
    desk.press(
        desk.form(category="suv"),
        guest_name="Guest Heron",
        guest_room="412",
        guest_phone="022 2778 3300",
        language="hi",
        guest_note="Wheelchair",
    )
    with desk.app.extensions["ridedash"].db.write() as s:
        set_favourite(s, 1, "drop", 1, *AIRPORT)
        set_favourite(s, 1, "drop", 2, *STATION)
        s.scalars(select(Order)).one().open = False  # the guest's first ride has ended
    browsed.open(PATH)
    browsed.page.evaluate(
        """() => {
          window.keys = 0;
          window.presses = 0; // Ctrl+Enter is one
          addEventListener("keydown", ({ key }) => {
            window.keys += 1;
            if (key !== "Control") window.presses += 1;
          }, true);
        }"""
    )
    browsed.page.focus("#guest-find")
    return browsed.page


def go(page: Page) -> Locator:
    return page.locator("[data-book-go]")


def keys(page: Page) -> int:
    return int(page.evaluate("window.keys"))


def known_guest_to_a_favourite(page: Page) -> None:
    """From anywhere on the page, choose the guest of a room, and the first favourite drop."""
    page.focus("#elsewhere")
    page.keyboard.press("n")
    for digit in "412":
        page.keyboard.press(digit)
    page.keyboard.press("Enter")
    expect(page.locator("#drop")).to_be_focused()
    page.keyboard.press("1")


def booked_with(page: Page, most: int) -> None:
    """Press Book, and check that the whole booking took at most `most` presses."""
    page.keyboard.press("Control+Enter")
    expect(page.locator("#guest-find")).to_have_value("")
    assert int(page.evaluate("window.presses")) <= most


def guest_of(desk: Desk, order: Order) -> Guest:
    with desk.app.extensions["ridedash"].db.read() as s:
        return s.get_one(Guest, order.guest_id)


def test_a_known_guest_goes_to_a_favourite_place_with_eleven_keys_at_most(
    counted: Page, desk: Desk
) -> None:
    page = counted
    for digit in "412":
        page.keyboard.press(digit)
    page.keyboard.press("Enter")
    expect(page.locator("#guest-find")).to_have_value("Guest Heron")
    expect(page.locator("#drop")).to_be_focused()
    page.keyboard.press("1")
    expect(page.locator("#drop")).to_have_value("Airport")
    expect(go(page)).to_contain_text("Book SUV to Airport · meter fare")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#guest-find")).to_have_value("")
    assert keys(page) + N <= KNOWN
    assert keys(page) + N == 8
    first, second = desk.orders()
    assert second.guest_id == first.guest_id
    assert (second.category, guest_of(desk, second).phone) == ("suv", "+912227783300")


def test_a_new_guest_is_typed_in_full_with_thirty_six_keys_at_most(
    counted: Page, desk: Desk
) -> None:
    page = counted
    for words in ("Guest Merle", "515", "2227783311"):
        for letter in words:
            page.keyboard.press("Space" if letter == " " else letter)
        page.keyboard.press("Enter")
    expect(page.locator("#drop")).to_be_focused()
    page.keyboard.press("2")
    expect(go(page)).to_have_text("Book Mini to Harbour Station · ₹240 fixed")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#guest-find")).to_have_value("")
    assert keys(page) + N <= NEW
    guest = guest_of(desk, desk.orders()[1])
    assert (guest.name, guest.room, guest.phone) == ("Guest Merle", "515", "+912227783311")


def test_choosing_a_guest_fills_in_known_fields_and_another_name_clears_them(
    counted: Page, desk: Desk
) -> None:
    page = counted
    page.keyboard.type("her")
    option = page.locator("#guest-find-list [role=option]")
    expect(option).to_have_count(1)
    expect(option).to_contain_text(re.compile("Guest Heron.*412.*2227783300"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    filled = {
        "#guest_room": "412",
        "#guest_phone": "+912227783300",
        "#language": "hi",
        "#guest_note": "Wheelchair",
    }
    for field, value in filled.items():
        expect(page.locator(field)).to_have_value(value)
    expect(page.locator("[data-guest-about]")).to_contain_text("Wheelchair")
    # the guest's earlier drop
    expect(page.locator("#drop-list [role=option]").first).to_contain_text("Airport")
    page.fill("#guest-find", "Guest Merle")
    for field in filled:
        expect(page.locator(field)).to_have_value("")
    expect(page.locator("[data-guest-about]")).to_be_hidden()


def test_a_room_without_a_known_guest_goes_to_its_own_field(counted: Page) -> None:
    page = counted
    page.keyboard.type("777")
    page.keyboard.press("Enter")
    expect(page.locator("#guest_room")).to_have_value("777")
    expect(page.locator("#guest-find")).to_have_value("")
    expect(page.locator("#guest-find")).to_be_focused()


def test_a_digit_followed_by_text_is_no_favourite(counted: Page) -> None:
    page = counted
    page.clock.install()
    page.reload()
    page.focus("#drop")
    page.keyboard.type("-38.51, -128.01")
    page.keyboard.press("Enter")
    expect(page.locator("#drop")).to_have_value("-38.51000, -128.01000")
    page.fill("#drop", "")
    page.clock.pause_at(page.evaluate("Date.now() / 1000") + SOON_S)  # typed without a pause
    page.keyboard.type("12 Quay")
    page.clock.resume()
    expect(page.locator("#drop-list")).to_contain_text("No place of that name")
    expect(page.locator("#drop")).to_have_value("12 Quay")


def test_the_empty_drop_lists_favourites_and_their_digits_choose_them(
    counted: Page,
) -> None:
    page = counted
    page.focus("#drop")
    options = page.locator("#drop-list [role=option]")
    expect(options).to_have_count(2)
    expect(options.nth(0)).to_contain_text("1")
    page.focus("#elsewhere")
    page.keyboard.press("2")
    expect(page.locator("#drop")).to_have_value("Harbour Station")
    expect(go(page)).to_have_text("Book Mini to Harbour Station · ₹240 fixed")
    expect(page.locator("#elsewhere")).to_be_focused()
    page.keyboard.press("9")
    expect(page.locator("#drop")).to_have_value("Harbour Station")


def test_a_known_guest_to_a_favourite_takes_seven_presses(counted: Page, desk: Desk) -> None:
    page = counted
    known_guest_to_a_favourite(page)
    expect(go(page)).to_contain_text("Book SUV to Airport · meter fare")
    booked_with(page, 7)
    assert desk.orders()[1].category == "suv"


def test_a_shared_ride_for_two_takes_ten_presses_although_they_come_before_the_cars(
    counted: Page, desk: Desk
) -> None:
    page = counted
    held: list[Route] = []
    page.route("**/products.json*", lambda route: held.append(route))
    with page.expect_request("**/products.json*"):
        known_guest_to_a_favourite(page)
        page.keyboard.press("Enter")
    expect(page.locator("[data-cars]")).to_be_focused()
    for key in ("3", "s"):  # the third car, and its other number of seats
        page.keyboard.press(key)
    held[0].continue_()
    expect(page.locator("[data-product=share] .product-radio")).to_be_focused()
    expect(go(page)).to_have_text("Book Share, 2 seats to Airport · ₹140 fixed")
    booked_with(page, 10)
    assert (desk.orders()[1].category, desk.orders()[1].seats) == ("share", 2)


def test_a_ride_for_tomorrow_morning_takes_fourteen_presses(counted: Page, desk: Desk) -> None:
    page = counted
    known_guest_to_a_favourite(page)
    page.keyboard.press("Enter")
    expect(page.locator("[data-cars]:focus, .product-radio:checked:focus")).to_have_count(1)
    page.keyboard.press("a")
    expect(page.locator("#pickup_words")).to_be_focused()
    for digit in "0615":
        page.keyboard.press(digit)
    expect(page.locator("[data-when-said]")).to_have_text(
        "Tomorrow, Thu 5 Mar, 06:15, in 15 h 45 min"
    )
    expect(go(page)).to_have_text("Plan SUV to Airport for 06:15 tomorrow · now ₹310–360")
    booked_with(page, 14)
    assert desk.orders()[1].pickup_at == datetime(2026, 3, 5, 0, 45, tzinfo=UTC)


def test_letters_lead_to_the_parts_of_the_form_and_digits_mean_what_has_the_focus(
    counted: Page,
) -> None:
    page = counted
    page.focus("#elsewhere")
    for key, part in (("g", "#drop"), ("p", "#pickup")):
        page.keyboard.press(key)
        expect(page.locator(part)).to_be_focused()
        page.focus("#elsewhere")  # Escape would only close a list that has just opened
    page.keyboard.press("c")  # no trip yet: drops stand in place of the cars
    first = page.locator(".drop-tile").first
    expect(first).to_be_focused()
    expect(first).to_have_text(re.compile(r"^\s*1\s+Airport\s+about 22 min\s*$"))
    page.keyboard.press("1")
    expect(page.locator("#drop")).to_have_value("Airport")
    expect(page.locator(".product-radio:checked")).to_be_focused()
    page.keyboard.press("2")
    expect(page.locator("[data-product=suv] .product-radio")).to_be_focused()
    expect(page.locator("#drop")).to_have_value("Airport")
    page.keyboard.press("a")
    expect(page.locator("#pickup_words")).to_be_focused()


def test_the_empty_box_offers_the_drops_of_the_guest_and_a_press_shows_cars(
    counted: Page,
) -> None:
    page = counted
    tiles = page.locator("[data-cars] .drop-tile")
    expect(tiles).to_have_count(2)
    page.keyboard.type("412")
    page.keyboard.press("Enter")
    expect(tiles.first).to_contain_text("often · about 22 min")
    page.keyboard.press("Escape")
    tiles.nth(1).click()
    expect(page.locator("#drop")).to_have_value("Harbour Station")
    expect(go(page)).to_contain_text("Book SUV")
    expect(page.locator(".product-radio:checked")).to_be_focused()


def test_an_earlier_ride_fills_the_form_again_or_for_the_return_trip(
    counted: Page, desk: Desk
) -> None:
    page = counted
    (order,) = desk.orders()
    refill = "detail => document.dispatchEvent(new CustomEvent('ridedash:refill', {detail}))"
    page.evaluate(refill, {"order": order.id, "how": "return"})
    expect(page.locator("#guest-find")).to_have_value("Guest Heron")
    expect(page.locator("#pickup")).to_have_value(TRIP["drop"])
    expect(page.locator("#drop")).to_have_value(TRIP["pickup"])
    expect(go(page)).to_contain_text("Book SUV")
    page.evaluate(refill, {"order": order.id, "how": "again"})
    expect(page.locator("#pickup")).to_have_value(TRIP["pickup"])
    expect(page.locator("[data-guest] [name=guest_id]")).to_have_value(f"{order.guest_id}")
    expect(page.locator("#guest_phone")).to_have_value("+912227783300")
    # another person: the first guest's phone is not used
    page.fill("#guest-find", "Guest Merle")
    expect(page.locator("#guest_phone")).to_have_value("")
    expect(page.locator("[data-guest] [name=guest_id]")).to_have_value("")
