"""What a kiosk shows after a press of Book, and how many bytes a visit loads."""

import gzip
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Response, Route, expect

from tests.views.kiosk.kiosk_screens import (
    CODE,
    RIDE,
    VIEW,
    FakeKiosk,
    at,
    fake_kiosk,
    press,
    to_check,
    type_on,
)
from tests.views.ride_pages import NOON, without_tokens

pytestmark = [pytest.mark.browser, pytest.mark.database]
MOST_BYTES = 120_000  # compressed, of all that a visit loads


@pytest.fixture
def kiosk(tmp_path: Path, browser: Browser) -> Iterator[FakeKiosk]:
    with fake_kiosk(tmp_path, browser) as made:
        yield made


def left_of(page: Page, one: str, other: str) -> bool:
    """Whether a control stands to the left of another one."""
    boxes = [page.locator(f'[data-press="{name}"]').bounding_box() for name in (one, other)]
    return all(boxes) and boxes[0]["x"] < boxes[1]["x"]  # type: ignore[index]


def stop_the_clock(page: Page) -> None:
    """From now on the clock of a page moves only when the test moves it."""
    page.clock.install(time=NOON)
    page.clock.pause_at(NOON + timedelta(hours=1))


def run_on(page: Page, seconds: int) -> None:
    """Move the page's clock second by second: what it asks for meanwhile is answered.

    In one step it would seem to the page that no answer came for all these seconds.
    """
    for _ in range(seconds):
        page.clock.run_for(1_000)


def orders(kiosk: FakeKiosk) -> list[dict[str, str]]:
    return [given for name, given in kiosk.requests if name == "order"]


def test_a_press_of_book_leads_through_code_price_and_desk_to_its_outcome(
    kiosk: FakeKiosk,
) -> None:
    page = kiosk.page(before=lambda page: page.clock.install())
    to_check(page, "car-4")
    expect(page.locator(".k-book")).to_contain_text("₹190")
    kiosk.order = [{"state": "needs_code"}]
    press(page, "book")
    at(page, "code")
    type_on(page, "123456")
    kiosk.order = [{"state": "wrong_code"}]
    press(page, "next")
    expect(page.get_by_role("alert")).to_contain_text("That code is not right.")
    type_on(page, "654321")
    changed = {"offer": 9, "old": "₹190", "new": "₹215"}
    kiosk.order = [{"state": "changed", "changed": changed}]
    press(page, "next")
    at(page, "check")
    expect(page.get_by_role("alert")).to_contain_text("It was ₹190.")
    expect(page.locator(".k-book")).to_contain_text("Book for ₹215")
    kiosk.order = [{"state": "asking"}]
    press(page, "book")
    expect(page.locator("h1")).to_have_text("Our desk is confirming your ride.")
    kiosk.order = [{"state": "unknown", "ride": RIDE, "words": {"headline": "We are checking."}}]
    page.clock.fast_forward(1_500)
    expect(page.locator("h1")).to_have_text("We are checking.")
    # the words in the former language are dropped
    press(page, "bar-language", "lang-de", "bar-language", "lang-en")
    expect(page.locator("h1")).to_contain_text("Please don't book again.")
    expect(page.locator(".k-number")).to_have_text("Ride K27")
    assert page.locator('[data-press="again"]').count() == 0
    sent = orders(kiosk)
    assert len({given["form_token"] for given in sent}) == 1  # one press, one order
    assert [given["offer"] for given in sent][-1] == "9"
    assert {given["seats"] for given in sent} == {"2"}
    assert [given["code"] for given in sent][-1] == "654321"


def test_a_press_without_an_answer_is_not_called_usual_and_books_nothing_later(
    kiosk: FakeKiosk,
) -> None:
    page = kiosk.page(before=lambda page: page.clock.install())
    to_check(page)
    kiosk.order = [{"state": "sending", "words": {"headline": "Booking your ride", "next": ""}}]
    press(page, "book")
    # leaving would not cancel the order
    expect(page.locator('[data-press="bar-over"]')).to_be_hidden()
    page.clock.fast_forward(21_000)
    at(page, "unknown")
    expect(page.locator("h1")).to_contain_text("Please don't book again.")
    expect(page.locator("[data-stage]")).not_to_contain_text("knows about it")
    with page.expect_request("**/kiosk/order") as looks:
        page.clock.fast_forward(1_500)
    assert "look=1" in (looks.value.post_data or "")
    assert "look" not in orders(kiosk)[0]


def test_a_try_that_came_to_nothing_may_be_repeated_as_another_order(kiosk: FakeKiosk) -> None:
    page = kiosk.page()
    to_check(page)
    kiosk.order = [{"state": "no_driver"}]
    press(page, "book")
    expect(page.locator("h1")).to_have_text("No driver found this time. Nothing to pay.")
    press(page, "again")
    page.locator(".k-car").first.wait_for()
    press(page, "car-1", "next")
    kiosk.order = [kiosk.booked()]
    press(page, "book")
    page.locator(".k-pin").wait_for()
    first, *_, last = orders(kiosk)
    assert first["form_token"] != last["form_token"]
    assert (first["name"], last["name"]) == ("Anna", "Anna")


def test_a_ticket_shows_where_to_stand_and_no_empty_map(kiosk: FakeKiosk) -> None:
    kiosk.order = [kiosk.booked()]
    for failing, count in (("", 1), ("tiles", 0)):
        kiosk.failing = {failing}
        page = kiosk.page()
        to_check(page)
        press(page, "book")
        page.locator(".k-pin").wait_for()
        expect(page.get_by_role("img", name="Map of the meeting point")).to_have_count(count)
    kiosk.failing = set()
    page = kiosk.page()
    held: list[Route] = []
    page.route("**/tiles/**", lambda route: held.append(route))
    to_check(page)
    with page.expect_request("**/tiles/**"):
        press(page, "book")
    shown = expect(page.locator(".k-map-box"))
    shown.to_be_hidden()  # a pin needs a map below it
    kiosk.tile(held[0])
    shown.to_be_visible()
    for route in held[1:]:
        route.abort()


def test_after_a_visit_number_and_pin_show_the_plate_and_for_ten_seconds_the_code(
    kiosk: FakeKiosk,
) -> None:
    page = kiosk.page(before=stop_the_clock)
    kiosk.order = [kiosk.booked()]
    to_check(page)
    press(page, "book", "done")  # the visit has ended: all that is left is number and PIN
    press(page, "have")
    type_on(page, RIDE["number"].removeprefix("K"))
    press(page, "field-pin")
    type_on(page, RIDE["pin"])
    press(page, "next")
    code = expect(page.locator(".k-code"))
    code.to_contain_text("••••")
    expect(page.locator(".k-plate")).to_have_text("KA 01 AB 1234")

    press(page, "show-code")
    code.to_have_text(CODE)
    run_on(page, 6)
    kiosk.code = "9116"  # another car has another code
    press(page, "show-code")
    code.to_have_text("9116")
    run_on(page, 9)
    code.to_have_text("9116")
    page.clock.run_for(1_000)
    code.to_contain_text("••••")

    def becomes(**facts: Any) -> None:
        kiosk.view = VIEW | facts
        press(page, "bar-language", "lang-en")  # this requests the ride at once
        page.clock.run_for(1)
        expect(page.locator("h1")).to_have_text(facts["headline"])

    press(page, "show-code")
    code.to_have_text("9116")
    becomes(headline="Your car has changed", plate="KA 05 MC 9912")
    code.to_contain_text("••••")
    press(page, "show-code")
    code.to_have_text("9116")
    becomes(headline="On your way", code_due=False)
    code.to_have_count(0)
    expect(page.locator('[data-press="show-code"]')).to_have_count(0)
    assert "9116" not in without_tokens(page.content())


def test_a_ticket_says_who_pays_before_the_first_news_of_its_ride(kiosk: FakeKiosk) -> None:
    page = kiosk.page()
    kiosk.order = [kiosk.booked()]
    kiosk.failing.add("ride")
    to_check(page)
    press(page, "book")
    expect(page.locator(".k-pay")).to_contain_text("You pay the driver in cash.")
    expect(page.locator(".k-pay")).to_contain_text("₹")


def test_languages_change_on_any_screen_and_lose_nothing(kiosk: FakeKiosk) -> None:
    page = kiosk.page()
    to_check(page)
    press(page, "bar-language", "lang-ar")
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    expect(page.locator(".k-fact-for dd")).to_have_text("Anna")
    pays = ["تدفع للسائق نقدًا.", "You pay the driver in cash."]
    expect(page.locator(".k-fact-pay dd")).to_have_text(pays)
    expect(page.locator('.k-english[lang="en"][dir="ltr"]')).to_have_count(1)
    press(page, "bar-back")
    assert left_of(page, "key-ض", "key-ص")  # Arabic keyboards begin at the left too
    press(page, "field-phone")
    assert left_of(page, "key-1", "key-3")
    press(page, "next", "bar-language", "lang-en")
    expect(page.locator(".k-fact-pay dd")).to_have_text([pays[1]])
    press(page, "bar-over")
    expect(page.locator("html")).to_have_attribute("lang", "en")


def test_all_that_a_visit_loads_is_light(kiosk: FakeKiosk) -> None:
    loaded: list[Response] = []
    page = kiosk.page(before=lambda page: page.on("response", lambda each: loaded.append(each)))
    page.wait_for_load_state("networkidle")
    wanted = [each for each in loaded if re.search(r"\.(js|css|svg)$|/kiosk$", each.url)]
    # compressed: test_pages.py checks that the server compresses the page
    sizes = [len(gzip.compress(each.body())) for each in wanted]
    assert len(sizes) > 20
    assert sum(sizes) < MOST_BYTES
