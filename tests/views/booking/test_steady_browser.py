"""Prices appear in Chromium without moving anything that is on the page already."""

import pytest
from playwright.sync_api import Request, Route, expect

from tests.views.booking.test_pages import Desk, desk
from tests.views.booking.test_pages_browser import Browsed, browsed

__all__ = ["browsed", "desk"]
pytestmark = [pytest.mark.browser, pytest.mark.database]

WATCH = """() => {
  window.moved = [];
  const sources = (entry) => entry.sources.map(({ node }) => node?.className ?? "gone").join();
  new PerformanceObserver((list) => list.getEntries().forEach((each) => moved.push(sources(each))))
    .observe({ type: "layout-shift" });
}"""
# the browser has drawn the answer and reported its layout shifts to the observer
DRAWN = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(
  () => setTimeout(done))))"""


def is_whole(request: Request) -> bool:
    """Whether a request for prices has the drop too, and not only the pickup."""
    return "products.json" in request.url and "-38.51" in request.url + (request.post_data or "")


@pytest.mark.parametrize("path", ["/", "/rides/new"])
def test_prices_move_nothing(browsed: Browsed, desk: Desk, path: str) -> None:
    page = browsed.page
    held: list[Route] = []
    page.route("**/products.json*", lambda route: held.append(route))
    browsed.open(path)
    page.fill("#pickup", "-38.5, -128.0")
    page.press("#pickup", "Enter")
    page.fill("#drop", "-38.51, -128.01")
    with page.expect_request(is_whole):
        page.press("#drop", "Enter")
    expect(page.locator(".product-ghost").first).to_be_visible()
    page.evaluate(DRAWN)
    page.evaluate(WATCH)
    next(route for route in held if is_whole(route.request)).continue_()
    expect(page.locator(".product-radio:checked")).to_be_visible()
    expect(page.locator("[data-book-go]")).to_be_enabled()
    page.evaluate(DRAWN)
    assert page.evaluate("window.moved") == []
    assert browsed.faults == []


@pytest.mark.parametrize("path", ["/", "/rides/new"])
@pytest.mark.parametrize(
    ("button", "done"),
    [
        ("[data-swap]", "#pickup"),
        (".when-choice:has([value=later])", "[name=pickup_words]"),
        (".when-toggle:has([name=back])", "[name=back_words]"),
    ],
)
def test_a_press_that_leaves_a_field_meets_its_button(
    browsed: Browsed, path: str, button: str, done: str
) -> None:
    page = browsed.page
    browsed.open(path)
    expect(page.locator("[data-swap]")).to_be_visible()
    page.fill("#drop", "nowhere at all")
    expect(page.locator("#drop-list")).to_be_visible()
    page.press("#drop", "Escape")
    expect(page.locator("#drop-list")).to_be_hidden()
    box = page.locator(button).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 3)
    page.mouse.down()
    page.mouse.up()
    if done == "#pickup":
        expect(page.locator(done)).to_have_value("nowhere at all")
    else:
        expect(page.locator(done)).to_be_visible()
        expect(page.locator("#drop-error")).to_be_visible()
    assert browsed.faults == []
