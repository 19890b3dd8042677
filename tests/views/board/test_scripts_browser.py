"""The board's scripts without a server: guests at kiosks, forms of a ride that the user left."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.views.web.test_scripts_browser import page

__all__ = ["page"]
pytestmark = pytest.mark.browser
STYLES = Path(__file__).parents[3] / "static/css/board/board.css"

# each request waits for the test, which answers it in its turn
HOLD = """() => {
  window.held = [];
  window.fetch = (path, {body = ""} = {}) => new Promise((answer, cut) => held.push({
    path: `${path}`, sent: `${body}`, cut: () => cut(new TypeError("cut")),
    answer: (body, status = 200) => {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const made = new Response(text, {status});
      Object.defineProperty(made, "url", {value: new URL(path, location).href});
      answer(made);
    },
  }));
  // all that comes of an answer has happened once other tasks have had their turn
  window.turns = async () => {
    for (let turn = 0; turn < 5; turn += 1) await new Promise((done) => setTimeout(done));
  };
}"""
KIOSKS = """async () => {
  document.body.innerHTML = `<div data-board data-failed="Failed"><div class="calls" data-calls>
    </div><a href="/kiosk-codes" data-opens="kcode">Kiosk code</a>
    <template data-call-pattern="ask"><div class="call"><p data-cell="title"></p>
      <p data-cell="detail"></p><p data-cell="age"></p><form method="post"><button name="answer"
      value="house">The house pays</button></form></div></template>
    <dialog data-kcode-dialog><form data-kcode-form><input id="code-guest"><ul
      id="code-guest-list" role="listbox" hidden></ul><input type="hidden" name="guest_id"><input
      type="hidden" name="csrf_token"><button type="submit">Make a code</button></form>
      <div data-kcode-shown hidden><p data-kcode-digits></p><p data-kcode-until
      data-pattern="{time}"></p><p data-kcode-house></p></div>
      <p data-kcode-failed hidden><span></span></p></dialog></div>`;
  const {Kiosks} = await import("/static/js/board/kiosks.js");
  const patterns = {now: "now", s: "{n} s", m: "{n} min", h: "{n} h"};
  window.kiosks = new Kiosks(document.querySelector("[data-board]"),
    {patterns, done: () => {}, say: () => {}});
  window.ask = (id) => ({name: `ask-${id}`, what: "ask", title: `Room ${id}`,
    since: "2026-03-04T09:00:00Z", address: `/kiosk-asks/${id}`});
}"""
CODE = {"code": "123456", "until": "09:10", "house_pays": True}


def made_codes(page: Any) -> int:
    return page.evaluate("held.filter(({path}) => path === '/kiosk-codes').length")


def test_a_code_is_made_once_and_shown_to_the_guest_it_was_made_for(page: Any) -> None:
    page.evaluate(HOLD)
    page.evaluate(KIOSKS)
    page.get_by_text("Kiosk code").click()
    page.get_by_role("button", name="Make a code").dblclick()
    assert made_codes(page) == 1
    page.keyboard.press("Escape")
    page.get_by_text("Kiosk code").click()  # for the next guest
    page.evaluate("async (code) => { held[0].answer(code); await turns(); }", CODE)
    expect(page.get_by_role("button", name="Make a code")).to_be_visible()
    expect(page.locator("[data-kcode-digits]")).to_have_text("")
    page.get_by_role("button", name="Make a code").click()
    page.evaluate("(code) => held[1].answer(code)", CODE | {"code": "654321"})
    expect(page.locator("[data-kcode-digits]")).to_have_text("654 321")


def test_enter_before_the_guests_have_come_takes_the_guest_and_makes_no_code(page: Any) -> None:
    page.evaluate(HOLD)
    page.evaluate(KIOSKS)
    page.get_by_text("Kiosk code").click()
    page.locator("#code-guest").fill("412")
    page.keyboard.press("Enter")
    assert made_codes(page) == 0
    guests = [{"id": 7, "name": "Guest Heron", "room": "412"}]
    page.evaluate("(guests) => held.at(-1).answer({guests})", guests)
    expect(page.locator("#code-guest")).to_have_value("Guest Heron")
    page.keyboard.press("Enter")
    page.wait_for_function("held.at(-1).path === '/kiosk-codes'")
    assert "guest_id=7" in page.evaluate("held.at(-1).sent")


def test_a_press_answers_no_guest_whose_card_has_just_moved_there(page: Any) -> None:
    page.clock.install()
    page.evaluate(HOLD)
    page.evaluate(KIOSKS)
    page.add_style_tag(path=STYLES)
    page.evaluate("kiosks.show([ask(1), ask(2)])")
    page.clock.run_for(1_000)
    box = page.get_by_role("button").first.bounding_box()
    page.evaluate("kiosks.show([ask(2)])")  # the first one was answered at another desk
    page.mouse.click(box["x"] + 5, box["y"] + 5)
    assert page.evaluate("held.length") == 0
    page.clock.run_for(1_000)
    page.mouse.click(box["x"] + 5, box["y"] + 5)
    page.wait_for_function("held.length === 1")
    assert page.evaluate("held[0].path") == "/kiosk-asks/2"


DETAIL = """async () => {
  document.body.innerHTML = `<div id="box"></div><meta name="csrf-token" content="x">`;
  const {Detail} = await import("/static/js/board/detail.js");
  const box = document.querySelector("#box"), none = () => {};
  window.failed = 0;
  window.detail = new Detail(box, {refill: none, done: none, mounted: none,
    failed: () => (failed += 1)});
}"""


@pytest.mark.parametrize("answer", ["held[0].answer('<p>Wi-Fi of the house')", "held[0].cut()"])
def test_a_page_that_is_no_ride_is_reported_and_requested_again(page: Any, answer: str) -> None:
    page.evaluate(HOLD)
    page.evaluate(DETAIL)
    tried = page.evaluate(f"""async () => {{
      const opened = detail.open(7);
      {answer};
      const shown = await opened;
      detail.open(7);
      return [shown, failed, held.length];
    }}""")
    assert tried == [None, 1, 2]


@pytest.mark.parametrize(
    ("answer", "failures"),
    [
        ("answer('', 500)", 1),
        ("answer('<div data-ride=7>', 422)", 1),
        ("answer('<div data-ride=7>')", 0),
    ],
)
def test_a_press_that_did_nothing_is_reported_after_the_user_has_gone_on(
    page: Any, answer: str, failures: int
) -> None:
    page.evaluate(HOLD)
    page.evaluate(DETAIL)
    assert page.evaluate(f"""async () => {{
      box.innerHTML = '<form method="post" action="/rides/7/cancel"><button>Cancel</button></form>';
      box.querySelector("button").click();
      detail.open(8);
      held[0].{answer};
      await turns();
      return [held[0].path, failed];
    }}""") == ["/rides/7/cancel", failures]
