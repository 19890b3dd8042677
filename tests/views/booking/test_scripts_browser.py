"""Sending the compact form, without a server: a clear outcome, or the same bytes again."""

from typing import Any

import pytest

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
ASKED = "POST application/json manual the-form"


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
    assert (done["told"]["kind"], done["lost"], done["bodies"]) == (kind, 0, [ASKED])


@pytest.mark.parametrize(
    "nothing", ["cut", [500, "<html>"], [502, {}], [200, "no JSON"], [409, None]]
)
def test_a_form_without_a_clear_answer_is_sent_again_unchanged(page: Any, nothing: Any) -> None:
    done = page.evaluate(SEND, [nothing, nothing, [200, {"order": 7, "html": "<p>"}]])
    assert (done["told"]["kind"], done["told"]["order"], done["lost"]) == ("made", 7, 2)
    assert done["bodies"] == [ASKED] * 3


def test_after_three_tries_the_outcome_is_shown_as_unknown(page: Any) -> None:
    done = page.evaluate(SEND, [])
    assert done == {"told": {"kind": "lost"}, "lost": 2, "bodies": [ASKED] * 3}


def test_the_seconds_for_undoing_are_counted_and_then_the_button_goes(page: Any) -> None:
    assert page.evaluate(UNDO) == [False, "1 s", True, ""]
