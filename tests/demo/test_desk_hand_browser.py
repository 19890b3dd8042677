"""The stage types into the desk's form; nothing that happens there keeps it waiting."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.views.booking.test_pages import Desk, desk
from tests.views.booking.test_pages_browser import Browsed, browsed
from tests.views.desk_page import PATH

__all__ = ["browsed", "desk"]
pytestmark = [pytest.mark.browser, pytest.mark.database]
DROP = "Meridian Airport"
# the result; whether it came within PATIENCE_MS; the field in which a user has typed
HAND = """async ([what, wanted]) => {
  const { PATIENCE_MS } = await import("/static/js/demo/hand.js");
  const { [what]: hand } = await import("/static/js/demo/desk_hand.js");
  const { typedInto } = await import("/static/js/demo/typed.js");
  const began = performance.now();
  const found = await hand(() => document, wanted, async () => true);
  return [found, performance.now() - began < PATIENCE_MS, typedInto(document)?.id];
}"""
BEGUN = """async wanted => {
  const { book } = await import("/static/js/demo/desk_hand.js");
  const { watch } = await import("/static/js/demo/typed.js");
  watch(document);
  window.found = book(() => document, wanted, async () => true);
}"""
TWO = """async wanted => {
  const { ask } = await import("/static/js/demo/desk_hand.js");
  return Promise.all([ask(() => document, wanted), ask(() => document, wanted)]);
}"""
# the field in which a person has typed, and whether only the hand has filled in the form
LEFT = """async () => {
  const { typedInto, isLeftBehind } = await import("/static/js/demo/typed.js");
  return [typedInto(document)?.id, isLeftBehind(document)];
}"""
# the field loses the focus with the last letter, as when a user clicks beside the frame
LOSES = """name => document.querySelector("#drop").addEventListener("input", function gone(event) {
  if (event.target.value !== name) return;
  event.target.removeEventListener("input", gone);
  event.target.blur();
})"""


def hand(page: Page, what: str, **wanted: str) -> Any:
    expect(page.locator(".has-script #book")).to_be_visible()
    return page.evaluate(HAND, [what, {"drop": DROP, "car": "mini"} | wanted])


def test_a_field_that_loses_the_focus_is_focused_again(browsed: Browsed, desk: Desk) -> None:
    browsed.open(PATH)
    browsed.page.evaluate(LOSES, DROP)
    assert hand(browsed.page, "ask") == [True, True, None]
    expect(browsed.page.locator("[data-book-go]")).to_contain_text("Mini to Meridian Airport ·")
    expect(browsed.page.locator("[data-place-error]:visible")).to_have_count(0)


def test_a_press_that_the_form_refuses_ends_at_once_with_its_words(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    browsed.open(PATH)
    page.route(
        "**/rides/new",
        lambda route: (
            route.fulfill(status=429, json={})
            if route.request.method == "POST"
            else route.continue_()
        ),
    )
    found, in_time, theirs = hand(page, "book", guest="Kestrel", room="214", form_token="a" * 24)
    assert (found["refused"], in_time, theirs) == (
        page.locator("[data-desk-said]").inner_text(),
        True,
        None,
    )
    assert found["refused"]
    assert desk.orders() == []


def test_a_form_that_comes_back_after_the_hand_gave_up_was_not_typed_by_a_person(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    page.clock.install()
    browsed.open(PATH)
    page.route("**/rides/new", lambda each: None)  # no answer
    expect(page.locator(".has-script #book")).to_be_visible()
    wanted = {"drop": DROP, "car": "mini", "guest": "Kestrel", "room": "2" * 40}
    with page.expect_request("**/rides/new"):
        page.evaluate(BEGUN, wanted | {"form_token": "a" * 24})
    page.clock.fast_forward(20_000)
    assert page.evaluate("window.found") == {"booked": False, "refused": ""}
    page.unroute("**/rides/new")  # the page sends the form again by itself
    page.clock.fast_forward(20_000)
    expect(page.locator("#booking-wrong")).to_be_visible()
    assert page.evaluate(LEFT) == [None, True]
    page.locator("#guest_phone").fill("1")
    assert page.evaluate(LEFT) == ["guest_phone", False]


def test_of_two_hands_the_one_that_began_last_types(browsed: Browsed, desk: Desk) -> None:
    """The speed may be switched, or Pause and Play be pressed, while the stage types."""
    browsed.open(PATH)
    expect(browsed.page.locator(".has-script #book")).to_be_visible()
    assert browsed.page.evaluate(TWO, {"drop": DROP, "car": "mini"}) == [False, True]
    expect(browsed.page.locator("#drop")).to_have_value(DROP)
    expect(browsed.page.locator("[data-book-go]")).to_contain_text("Mini to Meridian Airport ·")
