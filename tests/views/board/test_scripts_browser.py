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


LIST = """async () => {
  document.body.innerHTML = `<ul id="list"><li class="row" tabindex="0">A</li>
    <li class="row" tabindex="0">B</li></ul>`;
  const {Hold} = await import("/static/js/board/hold.js");
  const list = document.querySelector("#list");
  window.hold = new Hold(list);
  window.exchange = () => hold.change("rows", () => list.prepend(list.lastElementChild));
  window.first = () => list.firstElementChild.textContent;
}"""


def test_news_waits_while_a_row_is_about_to_be_pressed_and_two_seconds_at_most(page: Any) -> None:
    page.clock.install()
    page.evaluate(LIST)
    page.clock.pause_at("2126-03-04T09:00:00Z")
    page.evaluate("exchange()")
    assert page.evaluate("first()") == "B"  # the pointer is elsewhere
    first = page.locator(".row").first.bounding_box()
    page.mouse.move(first["x"] + 2, first["y"] + 3)
    page.evaluate("exchange()")
    assert page.evaluate("first()") == "B"
    page.mouse.move(first["x"] + 7, first["y"] + 3)  # it goes on moving
    page.clock.run_for(1_999)
    assert page.evaluate("first()") == "B"
    page.clock.run_for(1)
    assert page.evaluate("first()") == "A"
    assert page.locator("#list.is-moved").count() == 1  # A came under the pointer: no press yet
    page.clock.run_for(2_000)
    assert page.locator("#list.is-moved").count() == 0
    page.mouse.move(first["x"] + 8, first["y"] + 4)  # the hand has not moved it
    page.evaluate("exchange()")
    assert page.evaluate("first()") == "B"


def test_news_moves_rows_once_the_pointer_or_the_focus_has_left_them(page: Any) -> None:
    page.evaluate(LIST)
    page.locator(".row").first.hover()
    page.evaluate("exchange()")
    assert page.evaluate("first()") == "A"
    page.mouse.move(400, 400)
    page.wait_for_function("first() === 'B'")
    page.locator(".row").first.focus()
    page.evaluate("exchange()")
    assert page.evaluate("first()") == "B"
    page.evaluate("document.body.append(document.createElement('input'))")
    page.locator("input").focus()
    page.wait_for_function("first() === 'A'")


SOUND = """async (state) => {
  document.body.innerHTML = `<p id="sign" hidden><button>Sound is blocked</button></p>`;
  window.played = 0;
  window.AudioContext = class extends EventTarget {
    state = state;
    currentTime = 0;
    createOscillator() {
      played += 1;
      return {frequency: {}, connect: (to) => to, start() {}, stop() {}};
    }
    createGain() {
      return {gain: {setValueAtTime() {}, exponentialRampToValueAtTime() {}}, connect() {}};
    }
    become(state) {
      this.state = state;
      this.dispatchEvent(new Event("statechange"));
    }
    async resume() { this.become("running"); }
  };
  const {Chime} = await import("/static/js/board/sound.js");
  window.chime = new Chime(true, document.querySelector("#sign"));
  chime.hear([]);
}"""


@pytest.mark.parametrize("lost", ["suspended", "interrupted"])
def test_a_blocked_sound_says_so_until_any_press_and_again_when_the_system_stops_it(
    page: Any, lost: str
) -> None:
    page.evaluate(SOUND, "suspended")  # as after a reload
    sign = page.locator("#sign")
    expect(sign).to_be_visible()
    page.get_by_role("button").click()
    expect(sign).to_be_hidden()
    page.evaluate("chime.hear(['a'])")
    assert page.evaluate("played") == 2
    page.evaluate("(lost) => chime.context.become(lost)", lost)
    expect(sign).to_be_visible()
    page.keyboard.press("j")
    expect(sign).to_be_hidden()
    page.evaluate("chime.hear(['a', 'b'])")
    assert page.evaluate("played") == 4


def test_a_sound_that_may_be_played_says_nothing(page: Any) -> None:
    page.evaluate(SOUND, "running")
    expect(page.locator("#sign")).to_be_hidden()


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


def test_a_poll_names_five_hundred_rows_and_forgets_those_that_left(page: Any) -> None:
    """Some servers refuse a request line of more than 4,094 bytes (gunicorn)."""
    address, after, too_long = page.evaluate("""async () => {
      const {Known} = await import("/static/js/board/feed.js");
      const known = new Known();
      const rows = Array.from({length: 500}, (_, n) =>
        ({id: 29_360_128_000_000 + n * 62_914_561, rev: `r${n}`.padEnd(6, "-")}));
      const ids = rows.map((row) => row.id);
      known.take({v: "orders.cabs--.ride--", rows, order: ids, cabs: []});
      const address = known.url();
      known.take({v: "order2.cabs--.ride--", rows: [], order: ids.slice(1)});
      const after = known.url();
      const more = Array.from({length: 100}, (_, n) => ({id: n + 1, rev: "------"}));
      known.take({v: "order3.cabs--.ride--", rows: more,
        order: [...ids, ...more.map((row) => row.id)]});
      return [address, after, known.url()];
    }""")
    revisions = [f"r{n}".ljust(6, "-") for n in range(500)]
    assert address == f"/board.json?since=orders.cabs--.ride--~{''.join(revisions)}"
    assert len(address) < 3_600
    assert after == f"/board.json?since=order2.cabs--.ride--~{''.join(revisions[1:])}"
    assert too_long == "/board.json?since=order3.cabs--.ride--~", "all rows are requested"
