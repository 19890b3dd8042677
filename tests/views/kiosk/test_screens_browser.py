"""The kiosk's screens in Chromium: nothing of a visit is left; a machine's words are labelled."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, CDPSession, Page, expect

from tests.views.kiosk.kiosk_screens import FakeKiosk, fake_kiosk, press, type_on

pytestmark = [pytest.mark.browser, pytest.mark.database]

# a name, a phone, a place, a PIN and a start code, of which nothing may be left
MARKED = ("Zyxa", "5550199", "Zzyzx", "4821", "7305")
LEFT = """async () => {
  const held = [document.documentElement.outerHTML, document.title, location.href];
  for (const field of document.querySelectorAll("input")) held.push(field.value);
  for (const store of [localStorage, sessionStorage]) held.push(JSON.stringify({ ...store }));
  held.push(document.cookie, ...(await caches.keys()));
  held.push(...(await indexedDB.databases()).map((each) => each.name));
  held.push(...(globalThis.queue ?? []).map((each) => each.text));
  held.push(JSON.stringify(history.state));
  return { held: held.join(" "), length: history.length };
}"""


@pytest.fixture
def kiosk(tmp_path: Path, browser: Browser) -> Iterator[FakeKiosk]:
    with fake_kiosk(tmp_path, browser) as made:
        yield made


def to_booked(kiosk: FakeKiosk, page: Page) -> None:
    """Book a ride with the name, the phone, the place and the PIN of MARKED."""
    press(page, "start", "other")
    type_on(page, "zyzx")
    page.locator(".k-results [data-press]").first.wait_for()
    press(page, "found-0")
    page.locator(".k-car").first.wait_for()
    press(page, "car-0")
    type_on(page, "zyxa")
    press(page, "field-phone")
    type_on(page, "5550199")
    press(page, "next")
    kiosk.order = [kiosk.booked()]
    press(page, "book")
    page.locator(".k-pin").wait_for()


def nothing_left(page: Page, history: int) -> None:
    """Check the start screen for marks; the history is as long as before the visit."""
    expect(page.locator("body")).to_have_attribute("data-screen", "start")
    found = page.evaluate(LEFT)
    assert [mark for mark in MARKED if mark.lower() in found["held"].lower()] == []
    assert found["length"] == history
    assert [mark for mark in MARKED if mark in page.locator("body").aria_snapshot()] == []


def marked(kiosk: FakeKiosk) -> None:
    place = {"name": "Zzyzx Road", "address": "Zzyzx", "lat": 1.0, "lng": 2.0}
    kiosk.answers["places.json"] = lambda _: {"results": [place]}


@pytest.mark.parametrize("how", ["done", "over", "idle", "network"])
def test_nothing_of_a_visit_is_left_after_its_end(kiosk: FakeKiosk, how: str) -> None:
    marked(kiosk)
    page = kiosk.page(voices=True, before=lambda page: page.clock.install())
    history = page.evaluate("history.length")
    press(page, "aid-aloud")
    to_booked(kiosk, page)
    assert page.evaluate(LEFT)["held"].count("4821")
    if how == "done":
        press(page, "done")
    elif how == "over":
        press(page, "bar-over")
    elif how == "idle":
        page.clock.fast_forward(61_000)
        expect(page.locator("[data-clears]")).to_contain_text(re.compile(r"clears in 1\d s"))
        page.clock.fast_forward(20_000)
    else:
        kiosk.away = True
        page.evaluate("dispatchEvent(new Event('offline'))")
        expect(page.locator(".k-pin")).to_have_text("4821")  # the ticket stays
        page.clock.fast_forward(6_000)
        expect(page.locator(".k-pin")).to_have_text("4821")
        press(page, "done")
        expect(page.locator("h1")).to_have_text("Out of order. Please ask our staff.")
        kiosk.away = False
        page.clock.fast_forward(2_000)
    nothing_left(page, history)
    assert page.evaluate("queue.length") == 0
    ends = [given for name, given in kiosk.requests if name == "end"]
    usual = {"done": "done", "over": "left", "idle": "idle", "network": "lost"}
    if how != "network":  # without a network no `end` arrives
        assert [given["how"] for given in ends] == [usual[how]]
        assert not [mark for mark in MARKED if mark in json.dumps(ends)]


def test_a_machines_words_are_named_as_such_beside_the_english_ones(kiosk: FakeKiosk) -> None:
    page, note = kiosk.page(), "[data-stage] .k-machine"
    expect(page.locator(note)).to_have_count(0)
    press(page, "lang-de")
    expect(page.locator(note)).to_contain_text("Maschine")
    expect(page.locator('[data-press="lang-en"]')).to_be_visible()
    press(page, "lang-en")
    expect(page.locator(note)).to_have_count(0)


def test_a_reload_a_back_and_a_wipe_leave_nothing_and_take_no_time(kiosk: FakeKiosk) -> None:
    marked(kiosk)
    page = kiosk.page()
    history = page.evaluate("history.length")
    to_booked(kiosk, page)
    page.go_back()
    assert page.url == "about:blank", "one step back leaves the kiosk"
    page.goto("/kiosk")
    nothing_left(page, history)
    to_booked(kiosk, page)
    page.reload()
    nothing_left(page, history)
    to_booked(kiosk, page)
    tools = page.context.new_cdp_session(page)
    tools.send("Performance.enable", {"timeDomain": "threadTicks"})  # CPU time, on a busy machine
    before = scripts_s(tools)
    assert not page.evaluate(
        """() => {
          document.querySelector('[data-press="done"]').click();
          return document.body.textContent.includes("4821");
        }"""
    )
    assert scripts_s(tools) - before < 0.1


def scripts_s(tools: CDPSession) -> float:
    """The seconds that a page's scripts have run."""
    found = tools.send("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in found if each["name"] == "ScriptDuration"))
