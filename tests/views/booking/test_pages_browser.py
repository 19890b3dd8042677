"""The booking page in Chromium: hostile text never runs, the keyboard books, no foreign host."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from ridedash.service_time import at_pace
from ridedash.store.orders import Order
from tests.views.booking.test_pages import Desk, desk
from tests.views.fake_service import ZONE
from tests.views.ride_pages import without_tokens
from tests.views.served import carry_sign_in, map_there, on_a_port, violations

__all__ = ["desk"]
pytestmark = pytest.mark.browser

RUN = "window.__ran=1"
EVIL = (
    f"{{{{7*191}}}}${{{RUN}}}`+({RUN})+`<img src=x onerror='{RUN}'></script><script>{RUN}</script>"
)


@dataclass
class Browsed:
    """A signed-in page, its requests to other hosts, its script errors and policy violations."""

    page: Page
    url: str
    foreign: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def open(self, path: str) -> None:
        self.page.goto(self.url + path)


@pytest.fixture
def browsed(desk: Desk, browser: Browser) -> Iterator[Browsed]:
    with (
        on_a_port(desk.app) as url,
        browser.new_page(viewport={"width": 1280, "height": 800}) as page,
    ):
        found = watched(page, url)
        carry_sign_in(desk.client, page, url)
        yield found


def watched(page: Page, url: str) -> Browsed:
    found = Browsed(page, url)
    page.on(
        "request",
        lambda r: None if r.url.startswith((found.url, "data:")) else found.foreign.append(r.url),
    )
    page.on("pageerror", lambda error: found.faults.append(str(error)))
    page.on(
        "console",
        lambda message: (
            found.faults.append(message.text) if "Content Security" in message.text else None
        ),
    )
    return found


def shown_order(browsed: Browsed, desk: Desk) -> Order:
    """The one order, after the press of Book has led to its page."""
    browsed.page.wait_for_url(re.compile(r"/rides/\d+$"))
    (order,) = desk.orders()
    assert browsed.page.url == f"{browsed.url}/rides/{order.id}"
    return order


def test_a_ride_is_booked_by_keyboard_and_the_button_shows_car_and_price(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    browsed.open("/rides/new")
    expect(page.locator("#guest-find")).to_be_focused()
    page.keyboard.type("Guest Heron")
    expect(page.locator("[data-book-go]")).to_have_text("Choose a drop")
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-keys]")).to_have_text("Choose a drop")
    for place in ("#guest_room", "#guest_phone", "#drop"):  # the pickup is filled in already
        page.keyboard.press("Enter")
        expect(page.locator(place)).to_be_focused()
    page.keyboard.type("airp")
    expect(page.locator("#drop-list [role=option]")).to_have_count(1)
    expect(page.locator("[data-book-go]")).to_have_text("Choose a place first")
    expect(page.locator("[data-keys]")).to_have_text("Ctrl+Enter books")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#drop")).to_have_attribute("aria-activedescendant", "drop-list-0")
    page.keyboard.press("Enter")
    expect(page.locator("[data-book-go]")).to_have_text(
        "Book Mini to Meridian Airport · ₹240 fixed"
    )
    expect(page.locator("[data-bar-terms]")).to_have_text("Free to cancel for 5 min, then ₹30.")
    page.get_by_role("radio", name="2 seats").check()
    expect(page.locator("[data-book-go]")).to_have_text(
        "Book Share, 2 seats to Meridian Airport · ₹140 fixed"
    )
    assert desk.orders() == []
    page.keyboard.press("Control+Enter")
    order = shown_order(browsed, desk)
    assert (order.category, order.seats) == ("share", 2)
    assert browsed.foreign == []
    assert browsed.faults == []


def test_the_map_sets_an_end_and_a_point_of_a_hotspot_can_be_chosen(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    desk.service.zone = ZONE
    browsed.open("/rides/new?drop=Airport&drop_lat=-38.55&drop_lng=-128.06")
    expect(page.locator("#pickup")).to_have_value("Grand Hotel, lobby – South Gate")
    expect(page.locator(".map-point-face")).to_have_text(["1", "2"])
    page.get_by_role("link", name="North Gate").click()
    expect(page.locator("#pickup")).to_have_value("Grand Hotel, lobby – North Gate")
    expect(page.locator("[data-zone-point][aria-current]")).to_have_text("1 1. North Gate")
    expect(page.locator("[data-book-go]")).to_be_enabled()
    page.locator("[data-map]").click(position={"x": 120, "y": 300})
    expect(page.locator("#drop")).to_have_value(
        re.compile(r"Pin on the map \(-38\.\d{5}, -12[78]\.\d{5}\)")
    )
    pin = page.locator("#drop").input_value()
    expect(page.locator("[data-book-go]")).to_have_text(f"Book Mini to {pin} · ₹240 fixed")
    assert browsed.foreign == []
    assert browsed.faults == []


def test_hostile_text_of_the_service_and_of_a_gazetteer_never_runs(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    for one in desk.service.categories:
        one["display_name"] = EVIL
    point = ZONE["pickup_points"][0] | {"name": EVIL}
    desk.service.zone = ZONE | {"desc": EVIL, "pickup_points": [point]}
    evil = {
        "id": "e",
        "name": f"Evil {EVIL}",
        "kind": EVIL,
        "area": EVIL,
        "lat": -38.55,
        "lng": -128.06,
    }
    desk.service.places = [evil]
    browsed.open("/rides/new")
    page.fill("#drop", "evil")
    page.locator("#drop-list [role=option]").first.click()
    expect(page.locator("[data-book-go]")).to_contain_text("₹240 fixed")
    page.locator(".breakup summary").first.click()
    page.fill("#guest-find", EVIL)
    page.fill("#guest_phone", "1")
    page.click("[data-book-go]")  # the form comes back, with all its text and the phone marked
    expect(page.locator("#guest_phone-error")).to_be_visible()
    expect(page.locator("#guest_phone")).to_be_focused()
    assert page.evaluate("window.__ran") is None
    assert "1337" not in without_tokens(page.content())
    assert browsed.faults == []


@pytest.mark.parametrize("pressed", [True, False])
def test_a_service_that_is_down_is_called_again_by_a_press_and_by_itself(
    browsed: Browsed, desk: Desk, pressed: bool
) -> None:
    page = browsed.page
    page.clock.install()
    desk.service.down = True
    browsed.open("/rides/new?drop=Airport&drop_lat=-38.55&drop_lng=-128.06")
    expect(page.locator(".cars [role=alert]")).to_contain_text("The ride company is not answering")
    expect(page.locator("[data-book-go]")).to_be_disabled()
    desk.service.down = False
    if pressed:
        page.click("[data-retry]")
    else:
        page.clock.fast_forward(6_000)
    expect(page.locator("[data-book-go]")).to_have_text("Book Mini to Airport · ₹240 fixed")


def test_prices_are_renewed_in_place_and_a_change_is_marked(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    # at this pace prices are renewed every three seconds
    desk.app.extensions["ridedash"].time = at_pace(60.0)
    browsed.open("/rides/new?drop=Airport&drop_lat=-38.55&drop_lng=-128.06")
    car = page.locator("[name=offer]:checked")
    first = car.get_attribute("value")
    page.locator(".breakup summary").first.click()
    expect(car).not_to_have_attribute("value", str(first))
    expect(page.locator(".breakup summary").first).to_be_focused()
    desk.service.estimates[0]["upfront"]["fare"] = 265
    expect(page.locator(".cars [role=alert]")).to_contain_text("₹240 fixed to ₹265 fixed")
    expect(page.locator("[data-book-go]")).to_have_text("Book Mini to Airport · ₹265 fixed")
    expect(page.locator(".breakup[open]")).to_have_count(1)


SQUARE = [[-38.3, -128.3], [-38.3, -127.7], [-38.7, -127.7], [-38.7, -128.3]]
CITY = {"slug": "port", "name": "Port", "center": [-38.5, -128.0], "zoom": 14, "boundary": SQUARE}
BOOK = "[data-book-go]"
TO_AIRPORT = "/rides/new?drop=Airport&drop_lat=-38.55&drop_lng=-128.06"


def test_a_drop_outside_the_cities_is_marked_and_no_car_is_offered(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    desk.service.cities = [CITY]
    browsed.open(TO_AIRPORT)
    expect(page.locator(BOOK)).to_be_enabled()
    page.fill("#drop", "48.8584, 2.2945")
    page.locator("#drop-list [role=option]").first.click()
    expect(page.locator("#drop-error")).to_contain_text(
        "It lies outside the cities that the ride company covers."
    )
    expect(page.locator("#drop")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("[data-product]")).to_have_count(0)
    expect(page.locator(BOOK)).to_be_disabled()
    expect(page.locator(BOOK)).to_have_text("Choose another drop")
    expect(page.locator("[data-retry]")).to_have_count(0)


def test_a_pin_in_a_hotspot_shows_the_name_of_the_point_that_is_sent(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    desk.service.zone = ZONE
    desk.service.around = {
        "street": "Lower Crossing",
        "area": "Old Town",
        "place": "Harbour Station",
    }
    browsed.open(
        "/rides/new?drop=Pin+on+the+map+(-38.50200,+-127.99500)&drop_lat=-38.502&drop_lng=-127.995"
    )
    expect(page.locator("#drop")).to_have_value("Near Lower Crossing, Old Town")
    expect(page.locator("[name=drop_lat]")).to_have_value(re.compile(r"-38\.5020*"))
    page.click("[data-swap]")
    expect(page.locator("#pickup")).to_have_value("Harbour Station – North Gate")
    expect(page.locator("[name=pickup_lat]")).to_have_value(re.compile(r"-38\.5010*"))
    expect(page.locator(BOOK)).to_be_enabled()
    assert {offer.pickup_name for offer in desk.offers()[-4:]} == {"Harbour Station – North Gate"}


def test_a_click_on_the_map_sets_the_end_that_is_empty_or_has_the_focus(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    browsed.open(TO_AIRPORT)
    expect(page.locator(BOOK)).to_be_enabled()
    page.get_by_role("button", name="Clear Pickup").click()
    expect(page.locator(BOOK)).to_have_text("Choose a pickup")
    expect(page.locator("[data-product]")).to_have_count(0)
    map_there(page)
    page.locator("[data-map]").click(position={"x": 120, "y": 300})
    expect(page.locator("#pickup")).to_have_value(re.compile(r"Pin on the map"))
    expect(page.locator("#drop")).to_have_value("Airport")
    page.focus("#drop")
    page.locator("[data-map]").click(position={"x": 90, "y": 400})
    expect(page.locator("#drop")).to_have_value(re.compile(r"Pin on the map"))


def test_an_emptied_field_disables_the_cars_of_the_old_trip(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    browsed.open(TO_AIRPORT)
    expect(page.locator(BOOK)).to_be_enabled()
    page.fill("#drop", "")
    expect(page.locator(BOOK)).to_be_disabled()
    expect(page.locator(BOOK)).to_have_text("Choose a drop")
    assert desk.orders() == []


def test_the_shared_price_follows_the_seats(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    browsed.open(TO_AIRPORT)
    price = page.locator("[data-product=share] .product-price")
    expect(price).to_have_text("₹96")
    page.get_by_role("radio", name="2 seats").check()
    expect(price).to_have_text("₹140")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_cars_can_be_read_while_new_prices_come(browsed: Browsed, scheme: Any) -> None:
    page = browsed.page
    page.emulate_media(color_scheme=scheme)
    browsed.open(TO_AIRPORT)
    expect(page.locator(BOOK)).to_be_enabled()
    page.route("**/products.json*", lambda _: None)  # no answer
    with page.expect_request("**/products.json*"):
        page.fill("#drop", "-38.51, -128.01")
        page.press("#drop", "Enter")
    expect(page.locator("[data-cars]")).to_have_attribute("aria-busy", "true")
    assert violations(page, "color-contrast") == []
    page.fill("#drop", "somewhere")
    expect(page.locator("[data-cars]")).to_have_class(re.compile("is-loose"))
    assert violations(page, "color-contrast") == []


def test_a_car_that_is_chosen_while_new_prices_come_stays_chosen(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    browsed.open(TO_AIRPORT)
    expect(page.locator(BOOK)).to_be_enabled()
    held: list[Route] = []
    page.route("**/products.json*", lambda route: held.append(route))
    with page.expect_request("**/products.json*"):
        page.fill("#drop", "-38.51, -128.01")
        page.press("#drop", "Enter")
    page.locator("[data-product=share] .product-face").click()
    page.get_by_role("radio", name="2 seats").check()
    with page.expect_response("**/products.json*"):
        held[-1].continue_()
    expect(page.locator("[data-cars]")).not_to_have_attribute("aria-busy", "true")
    expect(page.locator("[data-product=share] .product-radio")).to_be_checked()
    expect(page.get_by_role("radio", name="2 seats")).to_be_checked()
    expect(page.locator(BOOK)).to_contain_text("₹140")


def test_a_breakup_floats_over_the_grid_and_closes_with_escape(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    browsed.open(TO_AIRPORT)
    expect(page.locator(BOOK)).to_have_text("Book Mini to Airport · ₹240 fixed")
    boxes = [card.bounding_box() for card in page.locator("[data-product]").all()]
    summary = page.locator("[data-product=suv] .breakup summary")
    summary.focus()
    page.keyboard.press("Enter")
    expect(page.locator("[data-product=suv] .breakup-panel")).to_be_visible()
    assert [card.bounding_box() for card in page.locator("[data-product]").all()] == boxes
    page.keyboard.press("Escape")
    expect(page.locator(".breakup[open]")).to_have_count(0)
    expect(summary).to_be_focused()


def test_a_changed_price_is_marked_until_a_car_is_chosen(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    desk.app.extensions["ridedash"].time = at_pace(60.0)
    browsed.open(TO_AIRPORT)
    expect(page.locator(BOOK)).to_have_text("Book Mini to Airport · ₹240 fixed")
    desk.service.estimates[0]["upfront"]["fare"] = 265
    alert = page.locator(".cars [role=alert]")
    expect(alert).to_contain_text("₹240 fixed to ₹265 fixed")
    car = page.locator("[name=offer]:checked")
    for _renewal in range(2):
        before = car.get_attribute("value")
        expect(car).not_to_have_attribute("value", str(before))
        expect(alert).to_contain_text("₹240 fixed to ₹265 fixed")
    page.locator("[data-product=suv] .product-face").click()
    expect(alert).to_have_count(0)


def test_a_pressed_price_that_had_changed_is_read_first(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    browsed.open(TO_AIRPORT)
    page.fill("#guest-find", "Guest Heron")
    expect(page.locator(BOOK)).to_have_text("Book Mini to Airport · ₹240 fixed")
    desk.now += timedelta(seconds=121)
    desk.service.estimates[0]["upfront"]["fare"] = 265
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-changed]:focus")).to_contain_text("₹240 fixed to ₹265 fixed")
    expect(page.locator(BOOK)).to_have_text("Book Mini to Airport · ₹265 fixed")
    assert desk.orders() == []
    page.locator("[data-product=suv] .product-face").click()
    expect(page.locator("[data-changed]")).to_have_count(0)


def test_enter_without_a_trip_shows_the_keys_that_book(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    browsed.open(TO_AIRPORT)
    for words in ("#guest-find", "#guest_room", "#guest_phone"):
        page.fill(words, "7")
    page.keyboard.press("Enter")
    expect(page.locator("[data-keys]")).to_have_text("Only Ctrl+Enter books.")
    assert desk.orders() == []


def test_a_touch_screen_opens_the_form_without_its_keyboard(
    desk: Desk, browsed: Browsed, browser: Browser
) -> None:
    state = browsed.page.context.storage_state()
    with browser.new_context(has_touch=True, is_mobile=True, storage_state=state) as context:
        page = context.new_page()
        page.goto(browsed.url + "/rides/new")
        expect(page.locator(".booking.has-script")).to_be_visible()
        expect(page.locator("#guest-find")).not_to_be_focused()


def test_an_error_of_the_phone_has_the_width_of_its_row(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    browsed.open(TO_AIRPORT)
    page.fill("#guest-find", "Guest Heron")
    page.fill("#guest_phone", "12")
    expect(page.locator(BOOK)).to_be_enabled()
    page.click(BOOK)
    box, row = (
        page.locator("#guest_phone-error").bounding_box(),
        page.locator(".guest-fields").bounding_box(),
    )
    assert box
    assert row
    assert box["width"] > row["width"] * 0.9


def test_enter_before_the_list_has_come_takes_a_place_of_the_new_text(
    browsed: Browsed,
) -> None:
    page = browsed.page
    browsed.open("/rides/new")
    page.focus("#drop")
    page.keyboard.type("airp")
    expect(page.locator("#drop-list [role=option]")).to_have_text([re.compile("Meridian Airport")])
    page.evaluate(  # other text and Enter at once, while the list still shows the airport
        """() => {
          const drop = document.querySelector("#drop");
          drop.value = "arcade";
          drop.dispatchEvent(new Event("input", { bubbles: true }));
          const enter = { key: "Enter", bubbles: true, cancelable: true };
          drop.dispatchEvent(new KeyboardEvent("keydown", enter));
        }"""
    )
    expect(page.locator("#drop")).to_have_value("Arcade")


def test_coordinates_are_a_place_when_the_field_is_left(browsed: Browsed) -> None:
    page = browsed.page
    browsed.open("/rides/new")
    page.focus("#drop")
    page.keyboard.type("-38.55, -128.06")
    page.keyboard.press("Tab")
    expect(page.locator("[data-book-go]")).to_have_text(re.compile("^Book "))
    expect(page.locator("[data-book-go]")).to_be_enabled()


def test_swapping_twice_leaves_the_trip_as_it_was(browsed: Browsed) -> None:
    page = browsed.page
    browsed.open("/rides/new?drop=Meridian+Airport&drop_lat=-38.55&drop_lng=-128.06")
    expect(page.locator("[data-book-go]")).to_have_text(re.compile("^Book "))
    pickup = page.locator("#pickup").input_value()
    page.evaluate(
        "() => { const swap = document.querySelector('[data-swap]'); swap.click(); swap.click(); }"
    )
    expect(page.locator("[data-cars]")).not_to_have_attribute("aria-busy", "true")
    expect(page.locator("[data-book-go]")).to_have_text(re.compile("^Book "))
    expect(page.locator("[data-book-go]")).to_be_enabled()
    assert page.locator("#pickup").input_value() == pickup


def test_enter_takes_the_marked_place_and_not_the_one_below_a_resting_pointer(
    browsed: Browsed,
) -> None:
    page = browsed.page
    browsed.open("/rides/new")
    options = page.locator("#drop-list [role=option]")
    page.fill("#drop", "a")
    expect(options).to_have_count(2)
    expect(options.nth(1)).to_be_visible()
    below = options.nth(1).bounding_box()
    assert below
    page.fill("#drop", "")
    page.focus("#guest-find")
    page.mouse.move(below["x"] + 40, below["y"] + 20)  # a user left the pointer here
    page.fill("#drop", "a")
    expect(options).to_have_count(2)
    expect(options.nth(1)).to_be_visible()
    background = "getComputedStyle(document.querySelectorAll('#drop-list li')[1]).backgroundColor"
    assert page.evaluate(background) == "rgba(0, 0, 0, 0)"
    expect(options.nth(0)).to_have_attribute("aria-selected", "true")
    expect(page.locator("#drop")).to_have_attribute("aria-activedescendant", "drop-list-0")
    page.mouse.move(below["x"] + 44, below["y"] + 22)  # a pointer that moves marks its row weakly
    expect(page.locator("#drop-list")).to_have_class(re.compile("is-pointed"))
    assert page.evaluate(background) != "rgba(0, 0, 0, 0)"
    expect(options.nth(1)).to_have_attribute("aria-selected", "false")
    page.keyboard.press("Enter")
    expect(page.locator("#drop")).to_have_value("Meridian Airport")
    page.fill("#drop", "a")
    expect(options).to_have_count(2)
    expect(options.nth(1)).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#drop")).to_have_value("Arcade")


def test_enter_keeps_the_chosen_place_when_its_list_was_only_looked_at(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    arcade = next(each for each in desk.service.places if each["name"] == "Arcade")
    desk.service.places.append(arcade | {"id": "arc2", "lat": -38.52})
    # an answer with prices adds its coordinates to the name of the second
    page.route("**/products.json*", lambda route: route.abort())
    browsed.open("/rides/new")
    page.fill("#drop", "arc")
    expect(page.locator("#drop-list [data-index]")).to_have_count(2)
    page.press("#drop", "ArrowDown")
    page.press("#drop", "Enter")
    expect(page.locator("[name=drop_lat]")).to_have_value("-38.52")
    # the answer for the name with its coordinates is only this one place: it is still awaited
    page.route("**/places.json?q=Arcade*", lambda _route: None)
    page.click("#drop")
    expect(page.locator("#drop-list [data-index]")).to_have_count(2)
    page.press("#drop", "Enter")
    expect(page.locator("#drop-list")).to_be_hidden()
    expect(page.locator("[name=drop_lat]")).to_have_value("-38.52")


def test_the_form_does_not_move_when_its_script_takes_over(browsed: Browsed) -> None:
    page = browsed.page
    page.route("**/js/booking/main.js", lambda route: route.abort())
    page.goto(f"{browsed.url}/rides/new")
    show = page.locator(".trip-go")
    expect(show).to_have_count(1)
    expect(show).to_be_hidden()


def test_suggestions_that_come_after_the_user_typed_are_not_shown(
    browsed: Browsed, desk: Desk
) -> None:
    desk.press(desk.form())  # its drop is suggested
    page = browsed.page
    held: list[Route] = []
    page.route("**/places.json?end=drop*", lambda route: held.append(route))
    page.clock.install(time=0)
    browsed.open("/rides/new")
    page.clock.pause_at(3_600_000)  # the clock stands still, so no search begins
    with page.expect_request("**/places.json?end=drop*"):
        page.focus("#drop")
    page.keyboard.type("airp")
    with page.expect_response("**/places.json?end=drop*"):
        held[0].continue_()
    # when this request is answered, the suggestions have come too
    page.evaluate("fetch('/healthz').then((answer) => answer.text())")
    assert page.locator("#drop-list").is_hidden()
    page.clock.run_for(1_000)
    options = page.locator("#drop-list [role=option]")
    expect(options).to_have_text([re.compile("Meridian Airport")])
    expect(options).to_have_attribute("aria-selected", "true")


def test_tab_takes_no_place_that_the_user_did_not_mark(browsed: Browsed) -> None:
    page = browsed.page
    browsed.open("/rides/new")
    page.focus("#pickup")
    page.fill("#pickup", "")
    page.fill("#drop", "a")
    expect(page.locator("#drop-list [role=option]")).to_have_count(2)
    page.keyboard.press("Tab")
    expect(page.locator("#drop-error")).to_contain_text("Choose a place from the list")


CAR_ABOVE_BAR = """() =>
  document.querySelector("[data-product]").getBoundingClientRect().bottom
  <= document.querySelector("[data-bar]").getBoundingClientRect().top"""
PHONE = {"width": 390, "height": 844}


def bottom(page: Page, selector: str) -> float:
    """The lower edge of an element, in px from the top of the window."""
    box = page.locator(selector).first.bounding_box()
    assert box
    return box["y"] + box["height"]


def test_on_a_phone_the_drop_is_on_the_first_screen_and_no_word_is_broken(
    browsed: Browsed,
) -> None:
    page = browsed.page
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    browsed.open("/rides/new")
    expect(page.locator(BOOK)).to_have_text("Choose a drop")
    assert bottom(page, "#drop") < bottom(page, BOOK) - 50
    page.fill("#drop", "airp")
    page.locator("#drop-list [role=option]").first.click()
    expect(page.locator(BOOK)).to_have_text("Book Mini to Meridian Airport · ₹240 fixed")
    page.wait_for_function(CAR_ABOVE_BAR)
    summary = page.locator(".more > summary").bounding_box()
    assert summary
    assert summary["height"] < 48  # one line
    fields = "[...document.querySelectorAll('.book-form :is(input:not([type=hidden]), select)')]"
    sizes = page.evaluate(f"{fields}.map((field) => parseFloat(getComputedStyle(field).fontSize))")
    assert min(sizes) >= 16  # a phone zooms in on fields with smaller text
    browsed.open("/?view=map")
    assert bottom(page, ".desk-map") <= PHONE["height"]


def test_names_and_times_of_cars_stay_on_one_line_before_a_drop(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    desk.service.categories[1]["display_name"] = "Prime SUV"
    page.set_viewport_size({"width": 1440, "height": 900})
    browsed.open("/rides/new")
    expect(page.locator("[data-product=mini]")).to_contain_text("from ₹80")
    expect(page.locator("[data-product=suv]")).to_contain_text("Prime SUV")
    for words in (".product-name", ".product-eta"):
        for part in page.locator(words).all():
            assert part.evaluate("part => part.getClientRects().length") == 1
            box = part.bounding_box()
            assert box
            assert box["height"] < 24, part.inner_text()


def test_each_car_shows_its_name_and_price_on_a_small_desktop(browsed: Browsed) -> None:
    page = browsed.page
    page.set_viewport_size({"width": 1280, "height": 800})
    browsed.open("/rides/new")
    expect(page.locator("[data-product=mini]")).to_contain_text("from ₹80")
    bar = page.locator(".book-bar").bounding_box()
    assert bar
    for face in page.locator(".product-face").all():
        box = face.bounding_box()
        assert box
        assert box["y"] + box["height"] <= bar["y"], face.inner_text()


def test_with_forced_colours_the_choice_of_now_or_later_is_seen(browsed: Browsed) -> None:
    page = browsed.page
    page.emulate_media(forced_colors="active")
    browsed.open("/rides/new")
    outline = "part => getComputedStyle(part).outlineStyle"
    now, later = page.locator(".when-choice span").all()
    assert [now.evaluate(outline), later.evaluate(outline)] == ["solid", "none"]


SQUEEZED = """() => {
  const row = document.createElement("div");
  row.className = "alert";
  row.style.inlineSize = "12rem";
  row.innerHTML = '<span>The words of a long message</span><a class="btn" href="/">Look</a>';
  document.querySelector("main").append(row);
  const range = document.createRange();
  range.selectNodeContents(row.lastChild);
  return range.getClientRects().length;
}"""


def test_a_button_beside_long_words_stays_as_wide_as_its_longest_word(browsed: Browsed) -> None:
    browsed.open("/rides/new")
    assert browsed.page.evaluate(SQUEEZED) == 1


BAND = """band => {
  const { backgroundImage, color } = getComputedStyle(band);
  return [backgroundImage.split("(")[0], color];
}"""


def test_with_forced_colours_the_band_of_a_demo_keeps_its_stripes(browsed: Browsed) -> None:
    page = browsed.page
    browsed.open("/rides/new")
    usual = page.locator(".demo-band").evaluate(BAND)
    assert usual[0] == "repeating-linear-gradient"
    page.emulate_media(forced_colors="active")
    assert page.locator(".demo-band").evaluate(BAND) == usual


BAR = """() => [...document.querySelectorAll(".bar-in *")]
  .filter((part) => part.matches("a, button, input, summary, .bar-property"))
  .filter((part) => part.checkVisibility())
  .map((part) => [part.textContent.trim(), Math.round(part.getBoundingClientRect().x)])"""


APPEARS = """() => { const unknown = document.querySelector(".bar-unknown");
  unknown.hidden = false; unknown.querySelector("span").textContent = "12 unknown"; }"""


@pytest.mark.parametrize("width", [390, 768, 1024, 1280, 1440])
def test_the_bar_has_the_same_items_at_the_same_places_on_every_page(
    browsed: Browsed, desk: Desk, width: int
) -> None:
    page = browsed.page
    desk.press(desk.form())
    page.set_viewport_size({"width": width, "height": 800})
    browsed.open("/")
    board, height = page.evaluate(BAR), page.locator(".bar").bounding_box()
    assert height
    assert width < 768 or "Grand Hotel" in [words for words, _x in board]
    assert len(board) >= 7
    for path in ("/rides/new", "/history", "/handover", "/me", f"/rides/{desk.ride(1)}"):
        browsed.open(path)
        assert page.evaluate(BAR) == board, path
        page.evaluate(APPEARS)
        assert [part for part in page.evaluate(BAR) if part[0] != "12 unknown"] == board, path
        bar, search = (page.locator(each).bounding_box() for each in (".bar", ".bar-search"))
        assert bar
        assert bar["height"] == height["height"]
        assert search
        assert width < 1280 or search["width"] >= 110, "the search shows that it is one"
    assert height["height"] < (60 if width >= 768 else 110)  # one line, or two on a phone


def test_the_band_of_a_demo_and_the_bar_stay_while_the_page_scrolls(browsed: Browsed) -> None:
    page = browsed.page
    page.set_viewport_size({"width": 1024, "height": 500})
    browsed.open("/rides/new")
    page.evaluate("scrollTo(0, 400)")
    page.wait_for_function("scrollY > 100")
    band, bar = page.locator(".demo-band").bounding_box(), page.locator(".bar").bounding_box()
    assert band
    assert bar
    assert (band["y"], bar["y"]) == (0, band["height"])


def test_new_ride_in_the_bar_of_the_board_leads_to_its_form(browsed: Browsed) -> None:
    page = browsed.page
    browsed.open("/")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="New ride").click()
    expect(page.locator("#guest-find")).to_be_focused()
    assert page.url == f"{browsed.url}/"
