"""People and bags in the booking form: said by key, compared at once, two cars by one press."""

import itertools
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from ridedash.extensions import limiter
from ridedash.rides.health import write_heartbeat
from tests.views.board.test_compact_form_browser import COVERED, fill, go
from tests.views.booking.test_fits import fits, small
from tests.views.booking.test_pages import TRIP, Desk, desk
from tests.views.booking.test_pages_browser import Browsed, browsed
from tests.views.desk_page import PATH
from tests.views.fake_service import category, metered
from tests.views.served import violations

__all__ = ["browsed", "desk"]
pytestmark = [pytest.mark.browser, pytest.mark.database]
SAY = """said => ["people", "bags", "cars"].forEach((name, n) => {
  const select = document.querySelector(`#${name}`);
  select.value = said[n];
  select.dispatchEvent(new Event("input", {bubbles: true}));
})"""
SMALL = "all => all.map((card) => card.querySelector('[data-small]')?.textContent ?? null)"


def take(page: Page) -> None:
    """Press the offer above the button."""
    page.locator("[data-fits-take]").click()


def test_six_people_are_offered_two_cars_by_the_keyboard_and_one_press_books_both(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    fits(desk, mini=(4, 2))
    browsed.open(PATH)
    fill(page)
    page.focus("#people")
    page.keyboard.type("6")
    offer, line = page.locator("[data-fits-take]"), page.locator("[data-fits-words]")
    expect(line).to_have_text("Fits 4 people, not 6 · 2 cars needed")
    expect(page.locator("[data-product=mini] [data-small]")).to_have_text(
        "Fits 4 people, not 6 · 2 cars needed"
    )
    expect(page.locator("[data-product=mini] [data-room]")).to_be_hidden()
    expect(offer).to_have_text("Take 2 cars: 2 × ₹240 = ₹480")
    expect(go(page)).to_have_text("Book Mini to Meridian Airport · ₹240 fixed")
    assert violations(page) == []
    offer.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#cars")).to_be_focused()
    expect(page.locator("#cars")).to_have_value("2")
    expect(line).to_be_hidden()
    expect(offer).to_be_hidden()
    expect(page.locator("[data-product=mini] [data-room]")).to_be_visible()
    expect(go(page)).to_have_text("Book 2 cars: Mini to Meridian Airport · 2 × ₹240 = ₹480")
    assert desk.orders() == [], "the offer orders nothing"
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-desk-said]")).to_have_text("2 cars being booked: Guest Heron")
    assert len(desk.orders()) == 2
    expect(page.locator("#people")).to_have_value("")
    expect(line).to_be_hidden()
    assert browsed.faults == []


def test_the_script_says_what_the_server_says(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    fits(desk, mini=(4, 2), suv=(6, 0))
    browsed.open("/rides/new?" + urlencode(TRIP | {"show": "1"}))
    people, bags, cars, seats = ("", "1", "2", "5", "9"), ("", "1", "5"), ("1", "2"), ("1", "2")
    for said in itertools.product(people, bags, cars, seats):
        page.evaluate(SAY, said[:3])
        page.check(f"[name=seats][value='{said[3]}']", force=True, timeout=2_000)
        named = dict(zip(("people", "bags", "cars", "seats"), said, strict=True))
        html = desk.client.get("/products.json", query_string=TRIP | named).get_json()["html"]
        limiter.reset()
        shown = page.locator("[data-product]").evaluate_all(SMALL)
        assert [text or None for text in shown] == [text or None for text in small(html)], said
    assert browsed.faults == []


def test_a_car_that_is_large_enough_is_chosen_in_place_of_two(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    fits(desk, mini=(4, 2), suv=(6, 4))
    browsed.open("/rides/new?" + urlencode(TRIP | {"show": "1"}))
    page.select_option("#people", "6")
    expect(page.locator("[data-fits]")).to_be_visible()
    page.check("[data-product=suv] [name=offer]", force=True)
    expect(page.locator("[data-fits]")).to_be_hidden()
    page.check("[data-product=auto] [name=offer]", force=True)
    expect(page.locator("[data-fits]")).to_be_hidden()  # nothing is known of it


def test_more_cars_than_one_press_books_are_not_offered(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    fits(desk, mini=(3, None))
    browsed.open("/rides/new?" + urlencode(TRIP | {"show": "1"}))
    page.select_option("#people", "20")
    expect(page.locator("[data-fits-words]")).to_have_text("Fits 3 people, not 20 · 7 cars needed")
    expect(page.locator("[data-fits-take]")).to_be_hidden()
    page.select_option("#people", "18")
    expect(page.locator("[data-fits-take]")).to_have_text("Take 6 cars: 6 × ₹240 = ₹1,440")


def test_a_series_is_of_one_car_and_is_not_offered_two(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    fits(desk, mini=(4, None))
    browsed.open("/rides/new?" + urlencode(TRIP | {"show": "1"}))
    page.select_option("#people", "6")
    expect(page.locator("[data-fits-take]")).to_be_visible()
    page.locator(".when-choice", has_text="Later").click()
    page.locator(".series > summary").click()
    page.locator(".series-day").first.click()
    expect(page.locator("[data-fits-words]")).to_be_visible()
    expect(page.locator("[data-fits-take]")).to_be_hidden()


def test_renewed_prices_keep_who_travels_and_the_opened_fares(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    fits(desk, mini=(4, 2))
    browsed.open(PATH)
    fill(page)
    page.select_option("#people", "6")
    card = page.locator("[data-product=mini]")
    card.locator(".breakup > summary").click()
    page.evaluate("document.querySelector('[data-product=mini]').kept = true")
    with page.expect_response("**/products.json*") as asked:
        page.evaluate("document.dispatchEvent(new Event('ridedash:prices'))")
    assert "people=6" in asked.value.url
    expect(page.locator("[data-fits-words]")).to_have_text("Fits 4 people, not 6 · 2 cars needed")
    assert page.evaluate("document.querySelector('[data-product=mini]').kept"), (
        "a card with the same words is not replaced"
    )


def test_on_a_small_laptop_six_cars_are_seen_with_people_and_bags(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    fits(desk, mini=(4, 2), suv=(6, 4), auto=(3, 1), prime=(4, 3))
    desk.service.categories += [category("prime", "Prime"), category("rental", "Rental")]
    desk.service.estimates += [metered("prime", 300, 340), metered("rental", 600, 700)]
    write_heartbeat(desk.app.extensions["ridedash"].db, "a worker", desk.now)
    browsed.open("/")
    fill(page)
    expect(page.locator(".products [data-product]")).to_have_count(6)
    assert page.evaluate(COVERED) == []


def test_enter_leads_past_people_and_bags_to_the_cars(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    fits(desk, mini=(4, 2))
    browsed.open(PATH)
    page.fill("#guest-find", "Guest Heron")
    for _ in range(3):  # room, phone, drop
        page.keyboard.press("Enter")
    expect(page.locator("#drop")).to_be_focused()
    page.keyboard.type("airp")
    expect(page.locator("#drop-list [role=option]")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(go(page)).to_have_text("Book Mini to Meridian Airport · ₹240 fixed")
    page.keyboard.press("Enter")
    expect(page.locator("[name=offer]:checked")).to_be_focused()


def test_a_planned_ride_that_is_changed_is_not_asked_about_people(
    browsed: Browsed, desk: Desk
) -> None:
    fits(desk, mini=(4, 2))
    later = {"when": "later", "pickup_date": "2026-03-05", "pickup_time": "05:10"}
    desk.press(desk.form(), **later)
    browsed.open(f"/rides/new?change={desk.ride(1)}")
    expect(browsed.page.locator("[data-product=mini] [data-room]")).to_be_visible()
    expect(browsed.page.locator("#people")).to_have_count(0)
    expect(go(browsed.page)).to_contain_text("Save: Mini")
    assert browsed.faults == []
