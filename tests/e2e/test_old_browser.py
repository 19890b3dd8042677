"""A ride in a browser that lacks what the oldest browsers of docs/browsers.md section 1 lack."""

import re
from collections.abc import Callable
from typing import Final

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e import story
from tests.running import Running

pytestmark = [pytest.mark.browser, pytest.mark.database]

OLD: Final = """
for (const [owner, names] of [
  [Element.prototype, ["checkVisibility", "ariaBusy", "moveBefore", "setHTMLUnsafe", "getHTML"]],
  [HTMLElement.prototype, ["showPopover", "hidePopover", "togglePopover"]],
  [Document.prototype, ["startViewTransition"]],
  [Set.prototype, ["union", "intersection", "difference", "isSubsetOf"]],
  [Object, ["groupBy"]], [Map, ["groupBy"]], [Array, ["fromAsync"]],
  [Promise, ["withResolvers", "try"]], [URL, ["canParse", "parse"]],
  [AbortSignal, ["any"]], [Iterator.prototype, ["map", "filter", "toArray"]],
  [window, ["navigation", "scheduler", "requestIdleCallback", "ClipboardItem"]],
])
  for (const name of names) delete owner[name];
for (const kind of [Element, Document, DocumentFragment])
  for (const name of ["querySelector", "querySelectorAll", "matches", "closest"]) {
    const known = kind.prototype[name];
    if (!known) continue;
    kind.prototype[name] = function (selector) {
      if (selector.includes(":has(")) throw new SyntaxError(selector);
      return known.call(this, selector);
    };
  }
window.FormData = class extends FormData {
  constructor(form) {
    super(form);
  }
};
"""
MARK: Final = """
getComputedStyle(document.querySelector(".product-radio:checked ~ .product-face"), "::before")
  .boxShadow
"""


def serve_old(route: Route, replaced: list[int]) -> None:
    """Serve a style sheet as a browser without :has() reads it: rules with :has() are invalid."""
    answer = route.fetch()
    text = answer.text().replace("@supports not selector(:has(*))", "@supports (color: red)")
    body, count = re.subn(r":has\(", ":unknown(", text)
    replaced.append(count)
    route.fulfill(response=answer, body=body)


@pytest.fixture
def old_page(open_page: Callable[..., Page], desk: Running) -> Page:
    page, replaced = open_page(), list[int]()
    page.add_init_script(OLD)
    page.route("**/*.css*", lambda route: serve_old(route, replaced))
    page.goto("/sign-in")
    page.get_by_label("Name").fill(desk.name)
    page.get_by_label("Password", exact=True).fill(desk.password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/")
    assert page.evaluate("'groupBy' in Object") is False
    assert sum(replaced), "a style sheet with :has("
    return page


def test_a_ride_is_booked_and_rated_in_the_oldest_supported_browser(
    old_page: Page, desk: Running
) -> None:
    story.hold(desk)
    story.book(old_page, "prime", "Guest Smew")
    story.reach(old_page, desk, "COMPLETED")
    stars = old_page.locator(".star-choice input")
    expect(stars.first).to_be_visible()
    stars.nth(3).check()
    old_page.get_by_role("button", name="Send feedback").click()
    expect(old_page.locator("main")).to_contain_text("Feedback sent")


def test_the_board_goes_by_keys_in_the_oldest_supported_browser(
    old_page: Page, desk: Running
) -> None:
    story.hold(desk)
    old_page.keyboard.press("n")
    expect(old_page.locator("#guest-find")).to_be_focused()
    old_page.keyboard.type("Guest Garganey")
    old_page.get_by_role("combobox", name="Drop").fill("airport")
    expect(old_page.locator("#drop-list [role=option]").first).to_contain_text("Airport")
    old_page.keyboard.press("Enter")
    expect(old_page.locator("[data-book-go]")).to_have_text(re.compile("^Book .*₹"))
    assert old_page.evaluate(MARK) != "none"
    old_page.keyboard.press("Control+Enter")
    row = old_page.locator(".row[data-id]", has_text="Guest Garganey")
    expect(row).to_be_visible()
    old_page.keyboard.press("Escape")
    old_page.keyboard.press("j")
    expect(old_page.locator(".row-link:focus")).to_have_count(1)
    row.locator(".row-link").focus()
    old_page.keyboard.press("Enter")
    expect(old_page.locator("[data-detail]")).to_be_focused()
