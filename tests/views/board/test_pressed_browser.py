"""A press of Book on the board in Chromium: a row appears at once, and says what became of it."""

import pytest
from playwright.sync_api import Page, Route, expect
from sqlalchemy import select

from ridedash.store.orders import Order, OrderState
from tests.views.board.test_compact_form_browser import fill, go
from tests.views.booking.test_pages import Desk, desk
from tests.views.booking.test_pages_browser import Browsed, browsed

__all__ = ["browsed", "desk"]
pytestmark = [pytest.mark.browser, pytest.mark.database]

PRESSED = "[data-pressed] .row"
UNDO = "[data-detail] [data-undo] button"
TOPS = """() => [...document.querySelectorAll("[data-group] .row")]
    .map((row) => row.getBoundingClientRect().top)"""
MOVES = """() => {
  window.moved = [];
  const { animate } = Element.prototype;
  Element.prototype.animate = function (...how) {
    if (this.matches(".row")) window.moved.push(this.dataset.id);
    return animate.apply(this, how);
  };
}"""


def to_the_form(url: str) -> bool:
    return url.endswith("/rides/new")


def cell(page: Page, name: str) -> str:
    return page.locator(f'{PRESSED} [data-cell="{name}"]').inner_text()


def test_a_press_is_a_row_before_the_server_answers_and_then_the_ride_itself(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    held: list[Route] = []
    desk.press(desk.form(), guest_name="Guest Wren")
    with desk.app.extensions["ridedash"].db.write() as s:
        s.scalars(select(Order)).one().guard_key = None
    browsed.open("/")
    fill(page)
    page.fill("#guest_room", "412")
    page.route(to_the_form, lambda route: held.append(route))
    page.evaluate(MOVES)
    tops = page.evaluate(TOPS)
    with page.expect_request(lambda sent: to_the_form(sent.url)):
        page.keyboard.press("Control+Enter")
    expect(page.locator(PRESSED)).to_be_in_viewport()
    assert [cell(page, name) for name in ("headline", "guest", "room", "to")] == [
        "Being booked",
        "Guest Heron",
        "412",
        "Meridian Airport",
    ]
    assert page.locator(f"{PRESSED} .row-link").get_attribute("href") is None
    assert page.evaluate(TOPS) == tops
    assert len(desk.orders()) == 1
    page.keyboard.press("Control+Enter")  # a second press of the same form
    expect(page.locator(PRESSED)).to_have_count(1)
    held[0].continue_()
    row = page.locator("[data-group] .row[data-id]", has_text="Guest Heron")
    expect(row).to_have_count(1)
    expect(page.locator(PRESSED)).to_have_count(0)
    _first, second = desk.orders()
    expect(row).to_have_attribute("data-id", f"{second.id}")
    assert len(held) == 1
    assert page.evaluate("moved") == [f"{second.id}"]
    assert browsed.faults == []


def test_a_press_without_an_answer_is_shown_as_unanswered_until_the_outcome_is_known(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    page.clock.install()
    page.emulate_media(reduced_motion="reduce")
    browsed.open("/")
    fill(page)
    page.evaluate(MOVES)
    page.route(to_the_form, lambda route: route.abort())
    page.keyboard.press("Control+Enter")
    expect(page.locator(PRESSED)).to_contain_text("No answer yet")
    page.clock.run_for(6_000)
    expect(page.locator(PRESSED)).to_contain_text("We don't know")
    expect(page.locator(PRESSED)).to_contain_text("nothing is booked twice")
    page.unroute_all()
    go(page).press("Enter")
    expect(page.locator("#guest-find")).to_have_value("")
    page.clock.run_for(3_000)  # the next poll
    row = page.locator("[data-group] .row[data-id]", has_text="Guest Heron")
    expect(row).to_have_count(1)
    expect(page.locator(PRESSED)).to_have_count(0)
    (order,) = desk.orders()
    expect(row).to_have_attribute("data-id", f"{order.id}")
    assert page.evaluate("moved") == []


def test_a_press_that_the_server_refuses_says_why_and_keeps_what_was_typed(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    browsed.open("/")
    fill(page)
    page.fill("#guest_phone", "12")
    page.keyboard.press("Control+Enter")
    expect(page.locator(PRESSED)).to_contain_text("Not booked")
    expect(page.locator(PRESSED)).to_contain_text("No phone has this number.")
    expect(page.locator(PRESSED)).not_to_contain_text("below")
    expect(page.locator("#guest-find")).to_have_value("Guest Heron")
    page.fill("#guest_phone", "")
    expect(page.locator(PRESSED)).to_have_count(0)
    assert desk.orders() == []


def test_what_was_booked_is_chosen_with_its_link_and_an_undo_while_the_form_is_typed_into(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    browsed.open("/")
    fill(page)
    page.keyboard.press("Control+Enter")
    chosen = page.locator("[data-group] .row.is-chosen", has_text="Guest Heron")
    expect(chosen).to_be_in_viewport(ratio=0.9)
    expect(chosen.locator(".row-link")).to_have_attribute("aria-current", "true")
    link = page.locator("[data-detail]").get_by_role("button", name="Copy link")
    for offered in (link, page.locator(UNDO)):
        expect(offered).to_be_in_viewport(ratio=0.9)
        expect(offered).to_be_enabled()
    expect(page.locator("#guest-find")).to_be_focused()
    page.keyboard.type("xdl wo")  # each of these letters is a shortcut on the page
    expect(page.locator("#guest-find")).to_have_value("xdl wo")
    expect(page.locator("[data-detail] .action[open]")).to_have_count(0)
    (order,) = desk.orders()
    assert order.state == OrderState.READY
    page.locator("#drop").focus()  # the map is the next guest's from now on
    expect(page.locator("[data-detail] [data-ride]")).to_have_count(0)
    expect(page.locator("#drop")).to_be_focused()
    assert browsed.faults == []


def test_an_undo_takes_the_order_back_or_says_that_it_came_too_late(
    browsed: Browsed, desk: Desk
) -> None:
    page, said = browsed.page, browsed.page.locator("[data-detail] #said")
    browsed.open("/")
    fill(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator(UNDO)).to_be_visible()
    page.keyboard.press("Escape")  # out of the form, where it is a letter
    page.keyboard.press("u")
    expect(said).to_contain_text("Nothing was booked.")
    (order,) = desk.orders()
    assert order.state == OrderState.NOT_SENT
    fill(page, "Guest Wren")
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-detail] .ride-guest")).to_contain_text("Guest Wren")
    expect(page.locator(UNDO)).to_be_visible()
    with desk.app.extensions["ridedash"].db.write() as s:
        s.get_one(Order, desk.orders()[1].id).state = OrderState.SENDING
    page.click(UNDO)
    expect(said).to_contain_text("Not possible any more")
    assert desk.orders()[1].state == OrderState.SENDING
    assert browsed.faults == []


def test_a_page_that_somebody_works_with_stays_when_the_next_trip_begins(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    browsed.open("/")
    fill(page)
    page.keyboard.press("Control+Enter")
    page.locator("[data-detail]").get_by_role("button", name="Copy link").click()
    page.locator("#drop").focus()
    fill(page, "Guest Wren")
    expect(page.locator("[data-detail] .ride-guest")).to_contain_text("Guest Heron")
    assert len(desk.orders()) == 1
