"""J and K on the board in Chromium: each ride is shown at once, from what the list knows of it."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.views.board.test_pages_browser import headline, opened, row, served
from tests.views.served import Served

__all__ = ["served"]
pytestmark = [pytest.mark.browser, pytest.mark.database]

PEEK = "[data-detail] .peek"


def held_requests(page: Page) -> list[Route]:
    """The requests for pages of rides, which wait until the test continues them."""
    held: list[Route] = []
    page.route(re.compile(r"/rides/\d+$"), lambda route: held.append(route))
    return held


def test_j_shows_a_ride_before_its_page_has_come(served: Served) -> None:
    order_id = served.desk.order("BOOKED", "CALL_DRIVER", room="412")
    page = opened(served)
    held = held_requests(page)
    with page.expect_request(f"**/rides/{order_id}"):
        page.keyboard.press("j")
        expect(page.locator(f"{PEEK} .plate")).to_have_text("KA 01 AB 1234")
        expect(page.locator(f"{PEEK} .state-headline")).to_contain_text("Driver on the way")
    expect(page.locator(PEEK)).to_contain_text("Room 412")
    expect(row(page, order_id).locator(".row-link")).to_be_focused()
    served.move(order_id, "CLIENT_LOCATED")  # what the list learns meanwhile is shown too
    expect(page.locator(f"{PEEK} .state-headline")).to_have_text("Driver is here")
    held[0].continue_()
    expect(headline(page)).to_have_text("Driver is here")
    expect(page.locator(PEEK)).to_have_count(0)
    expect(page).to_have_url(f"{served.url}/?ride={order_id}")
    assert served.faults == []


def test_who_goes_through_the_list_asks_for_the_last_ride_alone(served: Served) -> None:
    rides = [served.desk.order("BOOKED", "CALL_DRIVER") for _ in range(3)]
    page = opened(served)
    held_requests(page)
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now() / 1000") + 5)  # soon, even on a busy machine
    for order_id in reversed(rides):
        page.keyboard.press("j")
        expect(row(page, order_id)).to_have_class(re.compile("is-chosen"))
        expect(page.locator(PEEK)).to_be_visible()
    page.keyboard.press("k")
    last = f"{served.url}/rides/{rides[1]}"
    with page.expect_request(last):
        page.clock.run_for(1_000)
    assert [url for url in urls if re.search(r"/rides/\d+$", url)] == [last]


def test_a_ride_that_does_not_load_is_reported_and_can_be_requested_again(served: Served) -> None:
    order_id = served.desk.order("BOOKED", "CALL_DRIVER")
    page = opened(served)
    page.route(f"**/rides/{order_id}", lambda route: route.abort())
    page.keyboard.press("j")
    expect(page.locator("[data-list-said]")).to_have_text("That did not work. Try again.")
    expect(page.locator(f"{PEEK} .plate")).to_be_visible()
    page.unroute_all()
    page.keyboard.press("Enter")
    expect(headline(page)).to_be_visible()
    expect(page.locator("[data-detail]")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("[data-detail]")).to_be_hidden()
