"""The scripts of a ride's page, without a server: start code and panels when answers are late."""

from typing import Any

import pytest

from tests.views.board.test_scripts_browser import HOLD
from tests.views.web.test_scripts_browser import page

__all__ = ["page"]
pytestmark = pytest.mark.browser

CODE = """async () => {
  document.body.innerHTML = `<meta name="csrf-token" content="x"><div id="ride">
    <p data-key-said></p><form id="start-code" action="/rides/7/code" data-code
    data-failed="That did not work. Try again."><b data-code-digits></b>
    <button data-code-button data-hide="Hide"><span>Show code</span></button></form>
    <div data-code-shown hidden><p class="to-guest-digits"></p></div></div>`;
  const code = await import("/static/js/rides/start_code.js");
  const root = document.querySelector("#ride");
  code.watchCode(root);
  window.leave = () => code.hideCode(root);
  window.press = () => root.querySelector("button").click();
  window.shown = () => root.querySelector("[data-code-digits]").textContent;
}"""


def test_a_code_that_comes_late_is_of_no_ride_that_was_left(page: Any) -> None:
    page.evaluate(HOLD)
    page.evaluate(CODE)
    assert page.evaluate("""async () => {
      const seen = [];
      press(); press();
      seen.push(held.length);
      leave();  // another ride is chosen
      held[0].answer({code: "4821", seconds: 20});
      await turns();
      seen.push(shown());
      press();  // the first press for that one asks for its code
      held[1].answer({code: "7350", seconds: 20});
      await turns();
      seen.push(shown());
      press();
      return [...seen, shown()];
    }""") == [1, "••••", "7350", "••••"]


def test_a_refused_code_says_so(page: Any) -> None:
    page.evaluate(HOLD)
    page.evaluate(CODE)
    assert page.evaluate("""async () => {
      press();
      held[0].answer({}, 500);
      await turns();
      return [shown(), document.querySelector("[data-key-said]").textContent];
    }""") == ["••••", "That did not work. Try again."]


PANELS = """async () => {
  const snapshot = (...allowed) => ({order_state: "BOOKED", actions: ["cancel", "drop"].map(
    (name) => ({name, label: name, allowed: allowed.includes(name)}))});
  const panels = (...names) => `<section data-actions>${names.map((name) =>
    `<details data-action="${name}" class="action" open><summary>${name}</summary><input></details>`
  ).join("")}</section>`;
  const of = (facts, ...names) => `<script type="application/json" data-points>${
    JSON.stringify({snapshot: facts})}</script>${panels(...names)}`;
  document.body.innerHTML = `<p role="status"><b class="state-headline"></b></p>${
    panels("cancel", "drop")}`;
  const {ActionPanels} = await import("/static/js/rides/actions.js");
  const end = new AbortController();
  let replaced = 0;
  const all = snapshot("cancel", "drop"), fewer = snapshot("cancel");
  const made = new ActionPanels(document.body, "/rides/7", all, () => (replaced += 1),
    {signal: end.signal});
  const open = () => [...document.querySelectorAll("[data-action]")]
    .filter((each) => !each.hidden).map((each) => each.dataset.action);
  const seen = [];
  const follow = async (facts, answer) => {
    const done = made.follow(facts);
    answer?.(held.at(-1));
    await done;
    seen.push(open().join());
  };
  document.querySelector("[data-action=drop] input").value = "Pier";
  await follow(fewer, (asked) => asked.cut());
  await follow(all, (asked) => asked?.answer(of(all, "cancel", "drop")));
  seen.push(document.querySelector("[data-action=drop] input").value);
  document.querySelector("[data-action=drop] input").focus();
  await follow(snapshot("drop"), (asked) => asked?.answer(of(snapshot("drop"), "cancel", "drop")));
  seen.push(document.activeElement.closest("[data-action]")?.dataset.action ?? "none");
  await follow(all, (asked) => asked?.answer(of(all, "cancel", "drop")));
  const field = document.querySelector("[data-action=cancel] input");
  const escape = (isComposing) => field.dispatchEvent(
    new KeyboardEvent("keydown", {key: "Escape", bubbles: true, isComposing}));
  escape(true);
  seen.push(field.closest("details").open);
  escape(false);
  seen.push(field.closest("details").open);
  const before = replaced;
  const late = made.follow(fewer);
  end.abort();  // another ride is chosen
  held.at(-1).answer(of(fewer, "cancel"));
  await late;
  return [...seen, replaced - before];
}"""


def test_panels_come_back_with_typed_text_and_end_with_their_ride(page: Any) -> None:
    page.evaluate(HOLD)
    assert page.evaluate(PANELS) == [
        *("cancel", "cancel,drop", "Pier"),
        *("cancel,drop", "drop", "cancel,drop"),  # the field that is typed in keeps the focus
        *(True, False, 0),
    ]
