"""The compact booking form of the board in Chromium: it books once, in place, and is cleared."""

import re
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from ridedash.geo import LatLng
from ridedash.rides.health import write_heartbeat
from ridedash.store.orders import Order, OrderState
from ridedash.store.properties import set_favourite
from tests.views.board.test_scripts_browser import HOLD
from tests.views.booking.test_pages import Desk, desk
from tests.views.booking.test_pages_browser import EVIL, Browsed, browsed
from tests.views.desk_page import PATH
from tests.views.fake_service import ZONE, category, metered
from tests.views.served import map_there, violations

__all__ = ["browsed", "desk"]
pytestmark = [pytest.mark.browser, pytest.mark.database]


def go(page: Page) -> Any:
    return page.locator("[data-book-go]")


def fill(page: Page, guest: str = "Guest Heron") -> None:
    """Fill in guest and trip, up to the price on the button."""
    page.fill("#guest-find", guest)
    page.fill("#drop", "airp")
    expect(page.locator("#drop-list [role=option]")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(go(page)).to_have_text("Book Mini to Meridian Airport · ₹240 fixed")


def test_booking_stays_on_the_page_and_clears_the_form(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    browsed.open(PATH)
    first = page.input_value("[name=form_token]")
    fill(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-desk-said]")).to_have_text("Being booked: Guest Heron")
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


def test_ctrl_enter_that_can_not_book_leads_to_what_is_missing(
    browsed: Browsed, desk: Desk
) -> None:
    page, hint = browsed.page, browsed.page.locator("[data-keys]")
    browsed.open(PATH)
    beside = "document.activeElement.blur()"
    page.evaluate(beside)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#guest-find")).to_be_focused()
    expect(hint).to_have_text("Choose a drop")
    fill(page)
    page.evaluate(beside)
    page.keyboard.press("Control+Enter")
    expect(go(page)).to_be_focused()
    expect(hint).to_have_text("Only Ctrl+Enter books.")
    page.fill("#drop", "")
    page.focus("#guest-find")
    page.keyboard.press("Control+Enter")
    expect(hint).to_have_text("Choose a drop")
    assert desk.orders() == []
    assert browsed.faults == []


def test_the_trip_of_the_form_is_shown_on_the_boards_map(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    desk.press(desk.form())
    browsed.open("/")
    pins = page.locator(".desk-map .map-pin")
    page.fill("#guest-find", "Guest Heron")
    expect(pins).to_have_count(0)
    fill(page)
    expect(pins).to_have_count(2)
    expect(page.locator(".desk-map").get_by_role("img", name="Meridian Airport")).to_be_visible()
    page.locator(".row-link").first.click()  # the map shows only the pins of the chosen ride
    expect(page.locator("[data-detail] [data-ride]")).to_be_visible()
    expect(page.locator(".desk-map").get_by_role("img", name="Meridian Airport")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.locator(".desk-map").get_by_role("img", name="Meridian Airport")).to_be_visible()
    page.fill("#drop", "")
    page.locator("#guest-find").focus()
    expect(pins).to_have_count(0)
    assert browsed.faults == []


def test_after_a_lost_answer_the_same_form_is_sent_again_and_makes_one_order(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    browsed.open(PATH)
    lost: list[str] = []

    def lose(route: Route) -> None:
        if lost:
            return route.continue_()
        lost.append(route.request.url)
        route.fetch()  # the request arrives, and its answer is lost
        return route.abort()

    page.route(lambda url: url.endswith("/rides/new"), lose)
    fill(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-desk-said]")).to_have_text("Being booked: Guest Heron")
    assert len(lost) == 1
    assert page.evaluate("window.booked") == [order.id for order in desk.orders()]
    assert len(desk.orders()) == 1


def test_while_the_outcome_is_unknown_fields_are_locked_and_the_button_sends_again(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    page.clock.install()
    browsed.open(PATH)
    fill(page)
    page.route(lambda url: url.endswith("/rides/new"), lambda route: route.abort())
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-desk-said]")).to_contain_text("No answer yet")
    page.clock.run_for(6_000)
    expect(page.locator("[data-desk-said]")).to_contain_text(
        "Nobody knows yet whether this was booked"
    )
    expect(go(page)).to_have_text("Ask again")
    assert page.evaluate("document.querySelector('#guest-find').closest('[inert]') !== null")
    assert desk.orders() == []
    page.route("**/products.json*", lambda route: route.abort())
    # the prices are old and can't be renewed: the form is sent again all the same
    page.clock.run_for(300_000)
    expect(go(page)).to_have_text("Ask again")
    expect(go(page)).to_be_enabled()
    page.route(lambda url: url.endswith("/rides/new"), lambda route: route.fulfill(status=400))
    go(page).press("Enter")  # this refusal says nothing about the earlier tries
    expect(page.locator("[data-desk-said]")).to_contain_text(
        "Nobody knows yet whether this was booked"
    )
    page.unroute_all()
    go(page).press("Enter")
    expect(page.locator("#guest-find")).to_have_value("")
    assert len(desk.orders()) == 1


def test_errors_are_shown_at_their_fields_and_typed_text_is_preserved(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    browsed.open(PATH)
    fill(page)
    page.fill("#guest_phone", "12")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#guest_phone-error")).to_contain_text("No phone has this number")
    expect(page.locator("#guest_phone")).to_be_focused()
    expect(page.locator("#guest-find")).to_have_value("Guest Heron")
    expect(go(page)).to_have_text("Book Mini to Meridian Airport · ₹240 fixed")
    assert desk.orders() == []
    page.fill("#guest_phone", "022-2778 3300")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#guest-find")).to_have_value("")
    assert len(desk.orders()) == 1


def test_what_more_opens_comes_into_sight(browsed: Browsed) -> None:
    browsed.open(PATH)
    more = browsed.page.locator(".more")
    expect(browsed.page.locator(".has-script .more")).to_have_count(1)
    more.locator("summary").press("Enter")
    expect(more.get_by_label("Language")).to_be_in_viewport(ratio=1)


def test_a_second_car_needs_a_confirmation(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    desk.press(desk.form(pickup="Grand Hotel, lobby"))
    browsed.open(PATH)
    fill(page)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("Guest Heron already has a ride from here")
    assert len(desk.orders()) == 1
    page.get_by_role("button", name="Book a second car on purpose").click()
    expect(page.locator("#guest-find")).to_have_value("")
    assert [order.guard_override_by is not None for order in desk.orders()] == [False, True]


def test_an_expired_price_is_renewed_and_accepted_by_a_second_press(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    browsed.open(PATH)
    fill(page)
    desk.now += timedelta(seconds=121)
    desk.service.estimates[0]["upfront"]["fare"] = 265
    page.keyboard.press("Control+Enter")
    changed = page.locator("[data-changed] .alert-title")
    expect(changed).to_have_text("Price changed from ₹240 fixed to ₹265 fixed")
    expect(go(page)).to_have_text("Book Mini to Meridian Airport · ₹265 fixed")
    expect(page.locator("#guest-find")).to_have_value("Guest Heron")
    assert desk.orders() == []
    page.keyboard.press("Control+Enter")
    expect(page.locator("#guest-find")).to_have_value("")
    assert len(desk.orders()) == 1


NO_LONG_WAITS = """
const real = window.setTimeout;
window.setTimeout = (call, ms, ...args) => (ms >= 20_000 ? 0 : real(call, ms, ...args));
"""


def move(desk: Desk, order_id: int, state: OrderState) -> None:
    """Move the order to a state, as the worker records it."""
    with desk.app.extensions["ridedash"].db.write() as s:
        order = s.get_one(Order, order_id)
        order.state, order.version, order.sent_at = state, order.version + 1, desk.now
        order.open = state == OrderState.UNKNOWN


def test_being_booked_goes_when_the_order_has_left_sending(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    page.add_init_script(NO_LONG_WAITS)  # so only a new state removes the words
    browsed.open("/")
    message = page.locator("[data-desk-said]")
    fill(page)
    page.keyboard.press("Control+Enter")
    expect(message).to_have_text("Being booked: Guest Heron")
    expect(page.locator(".row")).to_have_count(1)
    move(desk, desk.ride(1), OrderState.SENDING)
    expect(page.locator(".row-headline")).to_have_text("Waiting for the ride company")
    expect(message).to_have_text("Being booked: Guest Heron")
    move(desk, desk.ride(1), OrderState.NOT_SENT)
    expect(message).to_have_text("")
    assert browsed.faults == []


def test_the_cars_of_a_group_that_wait_are_counted(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    page.add_init_script(NO_LONG_WAITS)  # so only a new state removes the words
    browsed.open("/")
    message = page.locator("[data-desk-said]")
    fill(page)
    page.select_option("#cars", "3")
    expect(go(page)).to_contain_text("Book 3 cars")
    page.keyboard.press("Control+Enter")
    expect(message).to_have_text("3 cars being booked: Guest Heron")
    move(desk, desk.ride(1), OrderState.REJECTED)
    expect(message).to_have_text("2 cars being booked: Guest Heron")
    move(desk, desk.ride(2), OrderState.REJECTED)
    expect(message).to_have_text("Being booked: Guest Heron")
    move(desk, desk.ride(3), OrderState.UNKNOWN)
    expect(message).to_have_text("")


def test_a_metered_car_is_booked_without_a_drop(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    browsed.open(PATH)
    page.fill("#guest-find", "Guest Heron")
    page.get_by_role("button", name="No drop: the guest tells the driver").click()
    expect(page.locator("[name=offer]:enabled").first).to_be_focused()
    expect(go(page)).to_be_disabled()  # no car is chosen for the user
    expect(go(page)).to_have_text("Choose a car")
    page.locator("[data-product=suv] .product-face").click()
    expect(go(page)).to_have_text("Book SUV · meter fare, from ₹80")
    expect(page.locator("[data-bar-terms]")).to_contain_text("No drop: the guest tells the driver")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#guest-find")).to_have_value("")
    assert [order.category for order in desk.orders()] == ["suv"]
    assert browsed.faults == []


def test_a_drop_after_all_shows_its_prices(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    browsed.open(PATH)
    page.get_by_role("button", name="No drop: the guest tells the driver").click()
    expect(page.locator("[data-product]")).to_have_count(4)
    fill(page)
    page.fill("#drop", "")
    page.locator("#guest-find").focus()
    expect(go(page)).to_have_text("Choose a drop")
    expect(page.locator("[data-product]")).to_have_count(0)


def test_a_drop_that_is_taken_out_and_chosen_again_shows_its_cars(browsed: Browsed) -> None:
    page = browsed.page
    browsed.open(PATH)
    fill(page)
    page.get_by_role("button", name="Clear Drop").click()
    expect(go(page)).to_have_text("Choose a drop")
    missing, seen = page.locator("[data-missing]"), "to see cars, times and prices."
    expect(missing).to_have_text(f"Choose a drop {seen}")
    page.get_by_role("button", name="Swap pickup and drop").click()
    expect(missing).to_have_text(f"Choose a pickup {seen}")
    page.get_by_role("button", name="Swap pickup and drop").click()
    expect(missing).to_have_text(f"Choose a drop {seen}")
    fill(page)
    page.fill("#drop", "harb")  # words that are no place yet are swapped too
    page.get_by_role("button", name="Swap pickup and drop").press("Enter")
    expect(page.locator("#pickup")).to_have_value("harb")
    expect(page.locator("#drop")).to_have_value("Grand Hotel, lobby")
    page.get_by_role("button", name="Clear Drop").click()
    expect(missing).to_have_text(f"Choose a pickup and a drop {seen}")


def test_the_ride_that_was_pressed_last_fills_the_form(browsed: Browsed) -> None:
    page = browsed.page
    browsed.open(PATH)
    expect(page.locator("[data-desk-form].has-script")).to_be_visible()
    page.evaluate(HOLD)
    page.evaluate("""async () => {
      const body = document.querySelector("[data-desk-body]").innerHTML;
      const fill = (order) => document.dispatchEvent(
        new CustomEvent("ridedash:refill", {detail: {order, how: "again"}}));
      const html = (name) =>
        body.replace('id="guest-find"', `value="${name}" id="guest-find"`);
      fill(1);
      fill(2);
      held[1].answer({html: html("Guest Wren")});
      await turns();
      held[0].answer({html: html("Guest Heron")});
      await turns();
    }""")
    expect(page.locator("#guest-find")).to_have_value("Guest Wren")


def test_three_cars_are_booked_with_one_press_and_confirmed(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    browsed.open(PATH)
    fill(page)
    page.select_option("#cars", "3")
    expect(go(page)).to_have_text("Book 3 cars: Mini to Meridian Airport · 3 × ₹240 = ₹720")
    expect(page.locator("[data-bar-terms]")).to_contain_text("Each is a ride of its own.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-desk-said]")).to_have_text("3 cars being booked: Guest Heron")
    assert [order.group_key for order in desk.orders()] == [desk.orders()[0].group_key] * 3
    browsed.open(f"/groups/{desk.ride(1)}")
    expect(page.locator(".group-car")).to_have_count(3)
    with desk.app.extensions["ridedash"].db.write() as s:
        s.get_one(Order, desk.ride(2)).state = "REJECTED"
    expect(page.locator(".group-summary")).to_have_text(
        "2 waiting for the ride company · 1 not booked"
    )
    expect(page.get_by_role("link", name="Book car 2 again")).to_be_visible()
    assert violations(page) == []
    assert browsed.faults == []


def test_a_ride_for_later_is_shown_as_planned(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    browsed.open(PATH)
    fill(page)
    page.locator(".when-choice", has_text="Later").click()
    page.fill("#pickup_words", "tomorrow 0510")
    expect(go(page)).to_have_text("Plan Mini to Meridian Airport for 05:10 tomorrow · now ₹240")
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-desk-said]")).to_have_text("Planned: Guest Heron")
    assert [order.state for order in desk.orders()] == ["SCHEDULED"]
    # the form is back at "now" for the next guest
    expect(page.locator("#pickup_words")).to_be_hidden()


def test_hostile_names_of_guests_and_favourites_never_run(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    desk.press(desk.form(), guest_name=f"Evil {EVIL}"[:110], guest_room="1337", guest_note=EVIL)
    with desk.app.extensions["ridedash"].db.write() as s:
        set_favourite(s, 1, "drop", 1, f"Fav {EVIL}'\"", LatLng(-38.55, -128.06))
    browsed.open(PATH)
    page.focus("#guest-find")
    page.keyboard.type("1337")
    expect(page.locator("#guest-find-list [role=option]")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator("#drop")).to_be_focused()
    page.keyboard.press("1")
    expect(page.locator("#drop")).to_have_value(re.compile("^Fav "))
    expect(go(page)).to_be_enabled()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("already has a ride")
    assert "7*191" in page.locator(".alert").inner_text()
    assert page.evaluate("window.__ran") is None
    assert browsed.faults == []


def test_the_focus_is_not_taken_from_a_user_who_went_on_meanwhile(browsed: Browsed) -> None:
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


@pytest.mark.parametrize("scheme", ["dark"])
def test_axe_finds_nothing_in_any_state_of_the_form(
    browsed: Browsed, desk: Desk, scheme: str
) -> None:
    page = browsed.page
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    desk.press(desk.form(pickup="Grand Hotel, lobby"), guest_room="412")
    browsed.open(PATH)
    looked(page, "empty")
    page.focus("#guest-find")
    page.keyboard.type("412")
    expect(page.locator("#guest-find-list [role=option]")).to_have_count(1)
    looked(page, "guests")
    page.keyboard.press("Enter")
    expect(page.locator("#drop-list [role=option]").first).to_be_visible()
    looked(page, "places")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(go(page)).to_be_enabled()
    page.locator(".more > summary").click()
    looked(page, "cars")
    page.fill("#guest_phone", "12")
    with page.expect_response("**/rides/new"):  # until then no field can be used
        page.keyboard.press("Control+Enter")
    expect(page.locator("#guest_phone-error")).to_be_visible()
    expect(page.locator("#guest_phone")).to_be_focused()
    looked(page, "wrong")
    page.fill("#guest_phone", "")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("button", name="Book a second car on purpose")).to_be_visible()
    looked(page, "busy")


def looked(page: Page, state: str) -> None:
    assert violations(page) == [], state


COVERED = """() => {
  const column = document.querySelector("[data-desk-form]").getBoundingClientRect();
  const bar = document.querySelector("[data-bar]").getBoundingClientRect();
  const parts = [...document.querySelectorAll(".products [data-product], .trip-facts")];
  return parts.filter((part) => {
    const {top, bottom} = part.getBoundingClientRect();
    return top < column.top || bottom > bar.top;
  }).map((part) => part.dataset.product ?? "facts");
}"""


def assert_reached(page: Page) -> None:
    """Each car is in view; or only the last one is cut, and the column shows that more follows."""
    covered = page.evaluate(COVERED)
    assert covered in ([], ["rental"])
    if covered:
        expect(page.locator(".desk-form")).to_have_class(re.compile("is-cut"))


HEAD = """() => {
  const box = (query) => document.querySelector(query).getBoundingClientRect();
  const form = document.querySelector("[data-desk-form]");
  const labels = [...form.querySelectorAll(".guest-fields label")];
  return {
    column: Math.round(box(".guest-fields").width),
    name: Math.round(box("#guest-find").width),
    nameEnds: box("#guest-find").bottom,
    roomBegins: box("label[for=guest_room]").top,
    side: [box("#guest_room").top, box("#guest_phone").top],
    labels: labels.map((label) => parseFloat(getComputedStyle(label).fontSize)),
    words: Math.max(...labels.map((label) => label.scrollWidth - label.clientWidth)),
    gutter: getComputedStyle(form).scrollbarGutter,
  };
}"""


@pytest.mark.parametrize("size", [(1280, 800), (1024, 768)])
def test_the_name_has_a_line_of_its_own_above_room_and_phone(
    browsed: Browsed, desk: Desk, size: tuple[int, int]
) -> None:
    page = browsed.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    browsed.open("/")
    fill(page)
    head = page.evaluate(HEAD)
    assert head["name"] == head["column"]
    assert head["roomBegins"] >= head["nameEnds"]
    assert head["side"][0] == head["side"][1]
    assert min(head["labels"]) >= 13
    assert head["words"] == 0
    assert head["gutter"] == "stable"
    expect(go(page)).to_be_in_viewport(ratio=1)
    expect(page.locator("[data-product=mini] .product-price")).to_be_in_viewport(ratio=1)


PRICE_EDGES = """() => [...document.querySelectorAll(".product-cost")]
  .map((part) => Math.round(part.getBoundingClientRect().right))"""


def refilled(page: Page, order_id: int, how: str) -> None:
    """Fill the board's form from an order, and wait for its price."""
    page.evaluate(
        "detail => document.dispatchEvent(new CustomEvent('ridedash:refill', {detail}))",
        {"order": order_id, "how": how},
    )
    expect(page.locator("[data-filled]")).to_be_visible()
    expect(go(page)).to_contain_text("Book Mini")
    expect(page.locator(".products [data-product]")).to_have_count(6)


def test_on_a_small_laptop_six_cars_are_visible_with_a_drop_later_again_and_on_the_return_trip(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    desk.service.categories += [category("prime", "Prime"), category("rental", "Rental")]
    desk.service.estimates += [metered("prime", 300, 340), metered("rental", 600, 700)]
    desk.press(desk.form(pickup="Grand Hotel, lobby"), guest_room="412")
    order_id = desk.ride(1)
    write_heartbeat(desk.app.extensions["ridedash"].db, "a worker", desk.now)
    browsed.open("/")
    fill(page)
    expect(page.locator(".products [data-product]")).to_have_count(6)
    assert page.evaluate(COVERED) == []
    assert len(set(page.evaluate(PRICE_EDGES))) == 1
    page.locator(".when-choice", has_text="Later").click()
    expect(page.locator(".chip").first).to_be_visible()
    assert_reached(page)
    page.fill("#pickup_words", "tomorrow 0510")
    expect(page.locator("[data-when-said]")).to_contain_text("in 14 h 40 min")
    assert_reached(page)
    refilled(page, order_id, "again")
    assert_reached(page)
    desk.service.zone = ZONE
    refilled(page, order_id, "return")
    expect(page.locator("[data-zone-pick]")).to_be_visible()
    assert_reached(page)
    # the column shows that more follows; a chosen car is scrolled into view, above the bar
    page.locator(".when-choice", has_text="Later").click()
    expect(page.locator(".desk-form")).to_have_class(re.compile("is-cut"))
    page.locator("[data-product=prime] .product-radio").focus()
    page.keyboard.press("ArrowDown")
    chosen = page.locator(".product:has(.product-radio:checked)")
    expect(chosen).to_have_attribute("data-product", "rental")
    assert "rental" not in page.evaluate(COVERED)
    assert browsed.faults == []


def test_a_pickup_point_is_chosen_from_a_list_box_in_the_column(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    desk.service.zone = ZONE
    browsed.open(PATH)
    fill(page)
    point = page.get_by_role("combobox", name="Pickup point")
    expect(point).to_have_value("2")  # the service's default
    point.focus()
    point.select_option("1. North Gate")
    expect(page.locator("#pickup")).to_have_value("Grand Hotel, lobby – North Gate")
    expect(point).to_have_value("1")
    expect(point).to_be_focused()
    expect(go(page)).to_be_enabled()
    assert desk.offers()[-1].pickup_name == "Grand Hotel, lobby – North Gate"


SHOWS = """([lat, lng]) =>
  window[document.querySelector("[data-map]").dataset.map].getBounds().contains([lat, lng])"""


def test_a_click_on_the_boards_map_sets_the_end_whose_empty_field_is_in_use(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    browsed.open("/")
    line, place = page.locator("[data-map-asks]"), {"x": 150, "y": 300}
    map_there(page)
    expect(line).to_be_hidden()
    page.locator(".desk-map").click(position=place)
    expect(page.locator("#drop")).to_have_value("")  # no field waits for a place
    page.focus("#drop")
    expect(line).to_have_text("A click on the map sets the drop")
    page.fill("#drop", "zzz")
    expect(page.locator("#drop-list")).to_contain_text("or click the map")
    page.locator(".desk-map").click(position=place)
    expect(page.locator("#drop")).to_have_value(re.compile("^Pin on the map "))
    expect(go(page)).to_have_text(re.compile("^Book Mini to Pin on the map .* · ₹240 fixed$"))
    expect(page.locator(".desk-map .map-pin")).to_have_count(2)
    expect(line).to_be_hidden()
    pinned = page.input_value("#drop")
    page.locator(".desk-map").click(position={"x": 200, "y": 200})
    expect(page.locator("#drop")).to_have_value(pinned)  # a place that is set stays
    page.locator("#pickup").focus()
    page.get_by_role("button", name="Clear Pickup").click()
    expect(line).to_have_text("A click on the map sets the pickup")
    page.locator(".desk-map").click(position=place)
    expect(page.locator("#pickup")).to_have_value(re.compile("^Pin on the map "))
    page.get_by_role("button", name="Clear Drop").click()
    expect(line).to_be_visible()
    page.focus("#guest-find")
    expect(line).to_be_hidden()
    assert browsed.faults == []


@pytest.mark.parametrize("path", ["/", "/rides/new"])
def test_the_map_stays_where_it_is_when_no_service_goes_to_the_typed_place(
    browsed: Browsed, desk: Desk, path: str
) -> None:
    page = browsed.page
    ring = [[-40.0, -130.0], [-40.0, -120.0], [-30.0, -120.0], [-30.0, -130.0]]
    city = {"slug": "port", "name": "Port", "center": [-38.5, -128.0], "zoom": 14}
    desk.service.cities = [city | {"boundary": ring}]
    browsed.open(path)
    map_there(page)
    page.fill("#drop", "-41.5, -128.1")
    page.locator("#drop-list [role=option]").first.click()
    expect(page.locator("#drop-error")).to_contain_text("outside the cities")
    assert not page.evaluate(SHOWS, [-41.5, -128.1])
    assert page.evaluate(SHOWS, [-38.5, -128.0])
    page.fill("#drop", "-38.6, -128.1")
    page.locator("#drop-list [role=option]").first.click()
    expect(go(page)).to_be_enabled()
    page.wait_for_function(SHOWS, arg=[-38.6, -128.1])


def test_from_right_to_left_the_keys_of_the_cars_stand_where_their_lines_begin(
    browsed: Browsed,
) -> None:
    page = browsed.page
    browsed.open(PATH)
    fill(page)
    page.evaluate("document.documentElement.dir = 'rtl'")
    page.locator(".product-radio").first.focus()
    key = page.locator(".product-key").first
    expect(key).to_be_visible()
    card = page.locator(".product").first.bounding_box()
    box = key.bounding_box()
    assert card is not None
    assert box is not None
    assert box["x"] > card["x"] + card["width"] / 2


def test_tab_leads_from_field_to_field_and_a_chosen_pickup_to_the_drop(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    browsed.open(PATH)
    page.locator("#pickup").focus()
    page.keyboard.press("Tab")
    expect(page.locator("#drop")).to_be_focused()
    page.keyboard.type("airp")
    expect(page.locator("#drop-list [role=option]")).to_have_count(1)
    expect(page.locator("#pickup")).to_have_value("Grand Hotel, lobby")
    page.fill("#drop", "")
    for key in ("Enter", "Tab"):
        page.locator("#pickup").focus()
        page.keyboard.type("airp")
        expect(page.locator("#pickup-list [role=option]", has_text="Airport")).to_be_visible()
        if key == "Tab":
            page.keyboard.press("ArrowDown")
        page.keyboard.press(key)
        expect(page.locator("#drop")).to_be_focused()
        expect(page.locator("#pickup")).to_have_value("Meridian Airport")


def test_what_is_typed_after_more_was_opened_is_a_note(browsed: Browsed) -> None:
    page = browsed.page
    browsed.open(PATH)
    page.locator(".more > summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.type("two bags")
    expect(page.locator("#note")).to_have_value("two bags")


def test_the_button_names_a_pickup_that_is_not_the_propertys_own(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    browsed.open(PATH)
    fill(page)
    page.get_by_role("button", name="Swap pickup and drop").click()
    expect(go(page)).to_have_text(
        "Book Mini from Meridian Airport to Grand Hotel, lobby · ₹240 fixed"
    )
    page.select_option("#cars", "2")
    expect(go(page)).to_contain_text("Mini from Meridian Airport to Grand Hotel, lobby")
    page.get_by_role("button", name="Clear Drop").click()
    page.get_by_role("button", name="No drop: the guest tells the driver").click()
    page.locator("[data-product=suv] .product-face").click()
    expect(go(page)).to_contain_text("SUV from Meridian Airport")
    browsed.open(PATH)
    page.fill("#pickup", "-38.5012, -128.001")  # 160 m from the property's own
    page.locator("#pickup-list [role=option]").first.click()
    fill(page)


def test_the_button_says_why_a_time_can_not_be_planned(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    browsed.open(PATH)
    fill(page)
    page.locator(".when-choice", has_text="Later").click()
    for typed, why in (
        ("3 jun 18:00", "Choose a pickup that is not so far ahead"),
        ("+5 min", "Choose a pickup at least 15 minutes ahead"),
        ("soon", "Choose day and time"),
    ):
        page.fill("[name=pickup_words]", typed)
        expect(go(page)).to_have_text(why)
        expect(go(page)).to_be_disabled()
    page.fill("[name=pickup_words]", "6/3 18:00")
    expect(go(page)).to_have_text("Which time is meant?")
    page.get_by_role("button", name="Fri 6 Mar").click()
    expect(go(page)).to_have_text("Plan Mini to Meridian Airport for 18:00 on Fri 6 Mar · now ₹240")
