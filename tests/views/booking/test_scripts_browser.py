"""The form's scripts without a server: one clear outcome of a press, prices, a list of guests."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.views.served import SET_BACK
from tests.views.web.test_scripts_browser import page

__all__ = ["page"]
pytestmark = pytest.mark.browser

SEND = """async (answers) => {
  const {send} = await import("/static/js/booking/send.js");
  const bodies = [];
  let lost = 0;
  window.setTimeout = ((wait) => (done) => wait(done, 0))(window.setTimeout.bind(window));
  window.fetch = async (url, options) => {
    const { method, headers, redirect, body } = options;
    bodies.push([method, headers.Accept, redirect, body.get("form_token")].join(" "));
    const next = answers.shift();
    if (next === undefined || next === "cut") throw new TypeError("cut");
    const half = new ReadableStream({start: (stream) => stream.error(new TypeError("cut"))});
    if (next[1] === null) return new Response(half, {status: next[0]});
    const text = typeof next[1] === "string" ? next[1] : JSON.stringify(next[1]);
    return new Response(text, {status: next[0]});
  };
  const data = new FormData();
  data.append("form_token", "the-form");
  const told = await send("/rides/new", data, () => (lost += 1));
  return {told, lost, bodies};
}"""
UNDO = """async () => {
  document.body.innerHTML = `<form data-undo-ms="400"><button>Undo
    <span data-undo-left></span></button></form>`;
  await import("/static/js/booking/undo.js");
  const form = document.querySelector("form");
  const first = [form.hidden, form.querySelector("span").textContent];
  await new Promise((done) => new MutationObserver(done).observe(form, {attributes: true}));
  return [...first, form.hidden, form.querySelector("span").textContent];
}"""
WRONG_END = """async () => {
  const end = (name) => `<div data-place="${name}"><input data-place-input><input data-lat>
    <input data-lng><input data-for><button data-place-clear></button><p id="${name}-error"
    data-place-error data-say-choose="Choose" hidden><span></span></p></div>`;
  document.body.innerHTML = `<form>${end("pickup")}${end("drop")}</form>`;
  const {Trip} = await import("/static/js/booking/trip.js");
  const trip = new Trip(document.querySelector("form"));
  const {input} = trip.ends.drop;
  const told = () => ["aria-invalid", "aria-describedby"].map((name) => input.getAttribute(name));
  input.value = "Nowhere";
  trip.left("drop");
  const wrong = told();
  trip.put("drop", {lat: 1, lng: 2, name: "Pier"});
  return [wrong, told()];
}"""
# the cars of a form; each request for cars waits until the test answers it
CARS = """async (inside) => {
  document.body.innerHTML = `<div data-cars tabindex="-1" data-fresh-ms="60000"
    data-category="">${inside || ""}</div>
    <p data-status></p><template data-unanswered><div role="alert"><p></p>
    <button data-retry>Again</button></div></template><template data-other></template>`;
  const part = (name) => document.querySelector(`[data-${name}]`);
  const {Cars} = await import("/static/js/booking/cars.js");
  const other = part("other"), signal = new AbortController().signal;
  const words = {cars: "{n}", failed: "No answer", signedOut: "Signed out"};
  window.held = [];
  window.fetch = (url) => new Promise((answer, cut) =>
    held.push({url: new URL(url, location), cut: () => cut(new TypeError("cut")),
      fail: (status, html) => answer(new Response(JSON.stringify({html}), {status})),
      answer: (cars, above = "") => answer(
        new Response(JSON.stringify({html: `${above}<ul data-products>${cars}</ul>`})))}));
  window.cars = new Cars(part("cars"), {path: "/cars", words, skeleton: other, empty: other,
    unanswered: part("unanswered"), status: part("status"), signal});
  window.old = 0;
  cars.addEventListener("old", () => (old += 1));
  window.trip = {pickup: {name: "Lobby", lat: 1, lng: 2}, drop: {name: "Pier", lat: 3, lng: 4}};
  window.card = (category, offer, checked = "") => `<li data-product="${category}">
    <input type="radio" name="offer" id="${category}" value="${offer}" data-group=""
      data-category="${category}" ${checked}><b>${category}</b></li>`;
  window.chosen = () => cars.chosen && `${cars.chosen.dataset.category} ${cars.chosen.value}`;
}"""
LISTS = [
    "Heron\vWren\u2028Lark",  # word processors end lines within a paragraph so
    "Heron\r\nWren\rLark\n",
    'Heron\n\u00a0\n\u200b\u202e,\n"";""\n ;, \nWren',
    "Heron\t412\x85Wren, 7\f\fLark",
    "\u05d0\u05d1\u200f\n\u2067\n\U0001f6ba\n",
]
FIRST = [
    "Guest Heron, 412\nGuest Wren",
    "412, Guest Heron",
    "412 Guest Heron, +91 98450 00000",
    "B-12\tHeron, Guest",
    "12½ Guest Heron",
    "\u0661\u0662;Guest Heron",
    "412 Guest Heron,, +91 98450 00000",
    "412 Guest Heron, 413",
    "412, Villa 3",
    "Villa 3, Guest Heron",
    '\n"Guest  Teal 2"; 7',
    "1 Guest Heron\n2 Guest Wren",
    "1.\tGuest Heron, 412\n2.\tGuest Wren",
    '"1","Guest Heron"\n"2","Guest Wren"',
    "1) 412 Guest Heron\n\n(2) Guest Wren",
    "1, 412, Guest Heron\n2, 413, Guest Wren",
    "1. Guest Heron",
]
POSTED = "POST application/json manual the-form"


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (201, {"order": 7, "orders": [7], "html": "<p>"}, "made"),
        (200, {"order": 7, "orders": [7], "html": "<p>"}, "made"),
        (409, {"order": 7, "html": "<p>"}, "before"),
        (409, {"html": "<p>"}, "form"),
        (422, {"html": "<p>"}, "form"),
        (503, {"html": "<p>"}, "form"),
        (429, {}, "limited"),
        (401, {}, "out"),
        (400, "no JSON", "refused"),
        (403, {}, "refused"),
    ],
)
def test_a_form_with_a_clear_answer_is_sent_once(
    page: Any, status: int, body: Any, kind: str
) -> None:
    done = page.evaluate(SEND, [[status, body]])
    assert (done["told"]["kind"], done["lost"], done["bodies"]) == (kind, 0, [POSTED])


@pytest.mark.parametrize(
    "nothing", ["cut", [500, "<html>"], [502, {}], [200, "no JSON"], [409, None]]
)
def test_a_form_without_a_clear_answer_is_sent_again_unchanged(page: Any, nothing: Any) -> None:
    done = page.evaluate(SEND, [nothing, nothing, [200, {"order": 7, "html": "<p>"}]])
    assert (done["told"]["kind"], done["told"]["order"], done["lost"]) == ("made", 7, 2)
    assert done["bodies"] == [POSTED] * 3


def test_after_three_tries_the_outcome_is_shown_as_unknown(page: Any) -> None:
    done = page.evaluate(SEND, [])
    assert done == {"told": {"kind": "lost"}, "lost": 2, "bodies": [POSTED] * 3}


def test_the_seconds_for_undoing_are_counted_and_then_the_button_goes(page: Any) -> None:
    assert page.evaluate(UNDO) == [False, "0:01", True, ""]


def test_old_prices_are_renewed_although_the_clock_is_set_back(page: Any) -> None:
    page.clock.install()
    page.evaluate(CARS)
    page.evaluate(
        "async () => { const done = cars.load(trip); held[0].answer(card('mini', 1)); await done; }"
    )
    page.evaluate(SET_BACK)
    page.clock.run_for(61_000)
    assert page.evaluate("old") == 1


def test_a_renewal_without_an_answer_keeps_the_cars_and_is_requested_again(page: Any) -> None:
    page.clock.install()
    page.evaluate(CARS)
    shown = page.evaluate("""async () => {
      const first = cars.load(trip);
      held[0].answer(card("mini", 1, "checked") + card("suv", 2));
      await first;
      document.querySelector("#suv").click();
      const renewal = cars.load({...trip, compare: true});
      held[1].cut();
      return [await renewal, chosen()];
    }""")
    assert shown == [None, "suv 2"]
    page.clock.run_for(6_000)
    assert page.evaluate("old") == 0  # the prices are not old yet
    page.clock.run_for(60_000)
    assert page.evaluate("old") == 1


def test_an_unanswered_request_for_cars_can_be_repeated(page: Any) -> None:
    page.evaluate(CARS)
    page.evaluate("async () => { const done = cars.load(trip); held[0].cut(); await done; }")
    expect(page.get_by_role("alert")).to_contain_text("No answer")
    expect(page.get_by_role("button", name="Again")).to_be_visible()


def test_an_unanswered_request_for_cars_is_repeated_ever_more_rarely(page: Any) -> None:
    page.clock.install()
    page.evaluate(CARS)
    page.evaluate("""async () => {
      cars.addEventListener("old", () => cars.load({...trip, compare: true}));
      const done = cars.load(trip);
      held[0].cut();
      await done;
    }""")

    def requests_after(seconds: int) -> int:
        """How many requests there were after so many more seconds; each of them is cut."""
        for _second in range(seconds):
            page.clock.run_for(1_000)
            page.evaluate("held.forEach((each) => each.cut())")
        return int(page.evaluate("held.length"))

    alert = page.evaluate_handle("document.querySelector('[role=alert]')")
    assert [requests_after(6), requests_after(6), requests_after(6)] == [2, 2, 3], (
        "after 5 s, then after 10 s"
    )
    assert requests_after(10) == 3, "then after 20 s"
    page.evaluate("window.dispatchEvent(new Event('online'))")
    assert requests_after(2) == 4, "at once when there is a network again"
    assert page.evaluate("(alert) => alert.isConnected", alert), "nothing is announced twice"
    page.clock.run_for(11_000)
    page.evaluate("""async () => {
      held.at(-1).answer(card("mini", 9, "checked"));
      await new Promise((done) => cars.addEventListener("chosen", done, {once: true}));
    }""")
    assert page.evaluate("[chosen(), document.querySelector('[data-status]').textContent]") == [
        "mini 9",
        "1",
    ]
    expect(page.get_by_role("alert")).to_have_count(0)


def test_only_an_answer_that_may_change_by_itself_is_requested_again(page: Any) -> None:
    page.clock.install()
    pressed = "<div role=alert>It went away while it was saving.<button data-retry></button></div>"
    page.evaluate(CARS, pressed)

    def old(seconds: int = 61) -> int:
        page.clock.run_for(seconds * 1_000)
        return int(page.evaluate("old"))

    def fails(status: int, mark: str, words: str = "No cars", compare: bool = False) -> None:
        page.evaluate(
            """async ([status, html, compare]) => {
              const done = cars.load({...trip, compare});
              held.at(-1).fail(status, html);
              await done;
            }""",
            [status, f"<div role=alert><p {mark}>{words}</p><button></button></div>", compare],
        )

    assert old() == 0, "the words about a press stay"
    expect(page.get_by_role("alert")).to_contain_text("while it was saving")
    fails(422, "")
    assert old() == 0, "no cars here"
    fails(503, 'data-asks=""')
    assert old(6) == 1
    fails(503, 'data-asks="40"', "Next try in 40 s")
    alert = page.evaluate_handle("document.querySelector('[role=alert]')")
    assert [old(30), old(11)] == [1, 2], "after the announced seconds"
    fails(503, 'data-asks="20"', "Next try in 20 s", compare=True)
    shown = page.evaluate("(alert) => [alert.isConnected, alert.role, alert.textContent]", alert)
    assert shown == [True, None, "Next try in 20 s"], "another number is shown and not read out"
    assert [old(10), old(11)] == [2, 3]


# cars that are listed, an outage, a press of "Try again" in vain, and the cars that come then
OUTAGE = """async ([checked, last]) => {
  const load = async (answer, compare) => {
    const done = cars.load({...trip, compare});
    answer(held.at(-1));
    await done;
    return held.at(-1).url.searchParams.get("before");
  };
  const alert = "<div role=alert><p data-asks>No cars</p></div>";
  const fails = (each) => each.fail(503, alert);
  await load((each) => each.answer(card("mini", 1, checked) + card("suv", 2)));
  await load(fails, true);
  const shown = cars.box.querySelector("[role=alert]");
  await load(fails, true);
  const twice = !shown.isConnected;
  await load(fails);
  const pressed = !shown.isConnected;
  const before = await load((each) => each.answer(card("mini", 3, "checked")), last);
  return {before, chosen: chosen(), told: [twice, pressed]};
}"""


@pytest.mark.parametrize("renewal", [True, False])
def test_a_choice_outlives_an_outage_and_a_press_in_vain(page: Any, renewal: bool) -> None:
    page.evaluate(CARS)
    done = page.evaluate(OUTAGE, ["checked", renewal])
    assert (done["before"], done["chosen"]) == ("1", "mini 3")
    assert done["told"] == [False, True], "only a press in vain is announced again"
    assert page.evaluate(OUTAGE, ["", renewal])["chosen"] is None


def test_cars_are_requested_again_no_longer_than_half_an_hour(page: Any) -> None:
    page.clock.install()
    page.evaluate(CARS)
    page.evaluate("""async () => {
      cars.addEventListener("old", () => cars.load({...trip, compare: true}));
      window.fetch = async () => { held.push(1); throw new TypeError("cut"); };
      await cars.load(trip);
    }""")
    for _minute in range(40):
        page.clock.run_for(61_000)
        page.evaluate("() => new Promise((done) => queueMicrotask(done))")
    assert page.evaluate("held.length") == 31


def test_only_the_last_change_of_a_price_is_shown_until_a_car_is_chosen(page: Any) -> None:
    page.evaluate(CARS)
    changes = page.evaluate("""async () => {
      document.body.dataset.deskBody = "";
      document.body.insertAdjacentHTML("afterbegin", "<div data-changed>from 1 to 2</div>");
      cars.box.innerHTML = `<ul data-products>${card("mini", 1, "checked")}</ul>`;
      const told = [];
      const tell = () => told.push(
        [...document.querySelectorAll("[data-changed]")].map((each) => each.textContent));
      const news = "<div data-changed><p class=alert>from 2 to 3</p></div>";
      for (const above of ["", news, ""]) {
        const renewal = cars.load({...trip, compare: true});
        held.at(-1).answer(card("mini", 2, "checked") + card("suv", 3), above);
        await renewal;
        tell();
      }
      document.querySelector("#suv").click();
      tell();
      return told;
    }""")
    assert changes == [["from 1 to 2"], ["from 2 to 3"], ["from 2 to 3"], []]


def test_a_renewal_chooses_no_car_for_a_user_who_has_chosen_none(page: Any) -> None:
    page.evaluate(CARS)
    assert (
        page.evaluate("""async () => {
      const first = cars.load(trip);
      held[0].answer(card("mini", 1));
      await first;
      const renewal = cars.load({...trip, compare: true});
      held[1].answer(card("mini", 3, "checked") + card("suv", 4));
      await renewal;
      return chosen();
    }""")
        is None
    )


def test_the_focus_stays_among_the_cars_when_the_focused_one_is_gone(page: Any) -> None:
    page.evaluate(CARS)
    assert page.evaluate("""async () => {
      const first = cars.load(trip);
      held[0].answer(card("mini", 1) + card("suv", 2, "checked"));
      await first;
      cars.focus();
      const renewal = cars.load({...trip, compare: true});
      held[1].answer(card("mini", 3));
      await renewal;
      return document.activeElement.hasAttribute("data-cars");
    }""")


def test_a_guest_who_is_chosen_while_cars_come_gets_their_usual_car(page: Any) -> None:
    page.evaluate(CARS)
    assert (
        page.evaluate("""async () => {
      const first = cars.load(trip);
      cars.prefer("suv");
      held[0].answer(card("mini", 1, "checked") + card("suv", 2));
      await first;
      return chosen();
    }""")
        == "suv 2"
    )


def test_an_end_with_a_place_is_no_longer_described_by_its_error(page: Any) -> None:
    assert page.evaluate(WRONG_END) == [["true", "drop-error"], [None, None]]
