"""Answers that come late, in another order, or after the guest has gone on; clocks that jump."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.views.kiosk.kiosk_screens import FakeKiosk, at, fake_kiosk, press, to_check, type_on

pytestmark = [pytest.mark.browser, pytest.mark.database]

# requests for cars wait until a test answers them, in any order
HOLD = """() => {
  globalThis.held = [];
  const usual = globalThis.fetch;
  globalThis.fetch = (path, options) => {
    if (path !== "/kiosk/cars") return usual(path, options);
    return new Promise((answer) => {
      held.push((body, status) => answer({ status, ok: status < 400, json: async () => body }));
    });
  };
}"""
# after five turns of the event loop, the page has dealt with the answer
SETTLE = """async () => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((done) => setTimeout(done));
}"""
ANSWER = f"async ([i, body, status]) => {{ held[i](body, status); await ({SETTLE})(); }}"
JUMP = """(ms) => {
  const usual = Date.now.bind(Date);
  Date.now = () => usual() + ms;
}"""


@pytest.fixture
def kiosk(tmp_path: Path, browser: Browser) -> Iterator[FakeKiosk]:
    with fake_kiosk(tmp_path, browser) as made:
        yield made


def answer(page: Page, i: int, body: dict[str, Any], status: int = 200) -> None:
    page.evaluate(ANSWER, [i, body, status])


def test_late_cars_are_of_no_other_place_seat_or_order(kiosk: FakeKiosk) -> None:
    page = kiosk.page()
    page.evaluate(HOLD)
    found = kiosk.cars({"lang": "en"})
    share = found | {"cars": [found["cars"][4]]}
    other = found | {"cars": [found["cars"][0] | {"name": "To the other place"}]}
    press(page, "start", "place-0", "bar-back", "place-1")
    answer(page, 1, share)
    answer(page, 0, other)  # the answer to an earlier request
    expect(page.locator(".k-car-name")).to_have_text("Share")
    expect(page.locator(".k-car use")).to_have_attribute("href", re.compile(r"cars\.svg\S*#share$"))

    press(page, "change", "bar-language", "lang-de")  # before any car is chosen
    answer(page, 2, share | {"meet": found["meet"] | {"points": [{"name": "A"}, {"name": "B"}]}})
    expect(page.locator(".k-place-name")).to_have_text(["A", "B"])
    press(page, "bar-back", "car-0", "bar-language", "lang-en", "seats-2")
    answer(page, 3, share)
    type_on(page, "anna")
    press(page, "next")
    expect(page.locator(".k-book")).to_contain_text("₹190")  # the price of two seats

    kiosk.order = [{"state": "sending"}]
    press(page, "bar-language", "lang-fr", "bar-language", "lang-en", "book")
    answer(page, 4, {"state": "none"})
    answer(page, 5, {}, 400)
    at(page, "sending")  # no other screen while an order is sent
    kiosk.order = [kiosk.booked()]
    page.locator(".k-pin").wait_for()
    sent = {(each["seats"], each["offer"]) for name, each in kiosk.requests if name == "order"}
    assert sent == {("2", "4")}


def test_a_refused_look_at_an_order_does_not_say_that_nothing_was_booked(kiosk: FakeKiosk) -> None:
    page = kiosk.page()
    to_check(page)
    kiosk.order = [{"state": "sending"}]
    with page.expect_response("**/kiosk/order"):
        press(page, "book")
    page.route("**/kiosk/order", lambda route: route.fulfill(status=400))
    at(page, "unknown")
    page.unroute("**/kiosk/order")
    kiosk.order = [kiosk.booked()]
    page.locator(".k-pin").wait_for()


def test_a_late_refusal_about_a_closed_sheet_says_nothing_of_the_order(kiosk: FakeKiosk) -> None:
    kiosk.more = {"own_phone": "/kiosk/own"}
    link = {"words": {}, "phone": {"qr": kiosk.booked()["ride"]["qr"]}}
    kiosk.answers["own"] = lambda _: link
    held: list[Route] = []
    page = kiosk.page()
    press(page, "start", "phone")
    page.get_by_role("dialog").wait_for()
    with page.expect_request("**/kiosk/own"):  # it asks whether a phone has opened the link
        page.route("**/kiosk/own", lambda route: held.append(route))
    press(page, "close", "place-0", "car-0")
    type_on(page, "anna")
    press(page, "next")
    kiosk.order = [{"state": "sending"}]
    with page.expect_response("**/kiosk/order"):
        press(page, "book")
    with page.expect_response("**/kiosk/own"):
        held[0].fulfill(status=400)
    page.evaluate(SETTLE)
    assert "Nothing was booked" not in page.locator("h1").inner_text()
    kiosk.order = [kiosk.booked()]
    page.locator(".k-pin").wait_for()


def test_a_call_for_help_does_not_end_a_wait_for_the_desk(kiosk: FakeKiosk) -> None:
    page = kiosk.page(before=lambda page: page.clock.install())
    to_check(page)
    kiosk.order = [{"state": "asking"}]
    press(page, "book")
    at(page, "asking")
    with page.expect_response("**/kiosk/help"):
        press(page, "bar-help")
    page.clock.fast_forward(125_000)
    at(page, "asking")
    assert not [name for name, _ in kiosk.requests if name == "end"]


def test_no_clock_that_jumps_keeps_a_guest_on_the_screen(kiosk: FakeKiosk) -> None:
    page = kiosk.page(before=lambda page: page.clock.install())
    press(page, "start")
    kiosk.failing = {"cars"}
    press(page, "place-0")
    page.evaluate(JUMP, -3_600_000)
    page.clock.fast_forward(6_000)
    expect(page.locator("[data-look]")).to_have_attribute(
        "data-look", "sorry"
    )  # the guest doesn't wait for an hour
    kiosk.failing = set()
    press(page, "bar-over")
    to_check(page)
    page.evaluate(JUMP, -3_600_000)
    page.clock.fast_forward(112_000)
    at(page, "start")
    to_check(page)
    # the screen has slept for hours: another guest's touch wakes it
    page.evaluate(f"({JUMP})(7_200_000); document.querySelector('[data-press=bar-back]').click()")
    at(page, "start")
    assert "Anna" not in page.content()
