"""Small scripts of several pages in Chromium, each without a server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

STATIC = Path(__file__).parents[3] / "static"
pytestmark = pytest.mark.browser


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """An empty page of our origin with our scripts."""
    context = browser.new_context()
    opened = context.new_page()

    def serve(route: Any) -> None:
        file = (
            STATIC / route.request.url.split("/static/")[-1]
            if "/static/" in route.request.url
            else None
        )
        if file is None:
            route.fulfill(body="<!doctype html><title>x</title>", content_type="text/html")
        else:
            route.fulfill(body=file.read_text(), content_type="text/javascript")

    opened.route("**/*", serve)
    opened.goto("http://127.0.0.1:1/")
    yield opened
    context.close()


GLIDE = """async ({ms, at, calm}) => {
  const {Glide} = await import("/static/js/shared/glide.js");
  const seen = [], frames = [];
  const glide = new Glide((lat, lng, bearing) => seen.push([lat, lng, bearing]),
    {next: (step) => frames.push(step), cancel: () => frames.splice(0), calm: () => calm});
  glide.to({lat: 0, lng: 0, bearing: 10}, ms);
  glide.to({lat: 0.001, lng: 0.002, bearing: 90}, ms);
  for (const now of at) { const step = frames.shift(); if (step) step(now); }
  return {seen, waiting: frames.length};
}"""


OFFLINE = """async () => {
  Object.defineProperty(navigator, "onLine", {value: false});
  document.body.innerHTML = `<dialog><form method="dialog"><button>Close</button></form></dialog>
    <form method="post" action="/rides/new"><button id="send">Book</button></form>`;
  await import("/static/js/shared/top_bar.js");
  let sent = 0;
  document.addEventListener("submit", () => (sent += 1));
  document.querySelector("#send").click();
  const held = sent === 0;
  const dialog = document.querySelector("dialog");
  dialog.showModal();
  dialog.querySelector("button").click();
  return {held, open: dialog.open};
}"""


def test_an_offline_device_sends_no_form_and_closes_dialogs(page: Any) -> None:
    assert page.evaluate(OFFLINE) == {"held": True, "open": False}


def test_a_cab_glides_in_a_straight_line_and_never_beyond_the_last_known_point(page: Any) -> None:
    done = page.evaluate(GLIDE, {"ms": 4000, "at": [1000, 2000, 3000, 9000, 20000], "calm": False})
    assert done["seen"] == [
        [0, 0, 10],
        [0, 0, 90],
        [0.00025, 0.0005, 90],
        [0.0005, 0.001, 90],
        [0.001, 0.002, 90],
    ]
    assert done["waiting"] == 0


def test_with_reduced_motion_the_cab_jumps(page: Any) -> None:
    done = page.evaluate(GLIDE, {"ms": 4000, "at": [], "calm": True})
    assert done["seen"] == [[0, 0, 10], [0.001, 0.002, 90]]


def test_ages_and_timers_have_the_same_format_as_on_the_server(page: Any) -> None:
    shown = page.evaluate("""async () => {
      const {ageText, span, timerText, freshness} = await import("/static/js/shared/ages.js");
      const words = {now: "just now", s: "{n} s ago", m: "{n} min ago", h: "{n} h ago"};
      const times = {since: "2026-05-04T08:00:00Z", until: "2026-05-04T08:01:30Z"};
      const timer = {pattern: "{up} of {total}, {down} left", ...times};
      document.body.dataset.ageHm = "{h} h {m} min";
      return [[1, 25, 130, 7300, -5].map((s) => ageText(s, words)), [725, 5117].map(span),
        timerText(timer, Date.parse("2026-05-04T08:00:42Z")),
        timerText({pattern: "{up} of {total}", ...times}, Date.parse("2026-05-04T08:03:12Z")),
        [2, 25, 70, 400, NaN].map((s) => freshness(s, 4))];
    }""")
    assert shown == [
        ["just now", "25 s ago", "2 min ago", "2 h ago", "just now"],
        ["12:05", "1 h 25 min"],
        "0:42 of 1:30, 0:48 left",
        "3:12",
        ["fresh", "aging", "stale", "lost", "stale"],
    ]


ASK = """async ([status, text]) => {
  const {ask} = await import("/static/js/shared/ask.js");
  const cut = new ReadableStream({start: (stream) => stream.error(new TypeError("cut"))});
  window.fetch = async () => new Response(text ?? cut, {status});
  return ask("/x.json", {});
}"""


@pytest.mark.parametrize(
    ("answer", "ok", "status", "body"),
    [
        ([200, '{"n": 1}'], True, 200, {"n": 1}),
        ([422, '{"message": "No"}'], False, 422, {"message": "No"}),
        ([502, "<html>"], False, 502, {}),
        ([200, None], False, 0, {}),
        ([200, '{"n": '], False, 0, {}),
        ([200, "<html>"], False, 0, {}),
        ([422, None], False, 0, {}),
    ],
)
def test_an_answer_that_breaks_off_or_is_another_page_is_none(
    page: Any, answer: list[Any], ok: bool, status: int, body: Any
) -> None:
    done = page.evaluate(ASK, answer)
    assert (done["ok"], done["status"], done["body"]) == (ok, status, body)


PATIENCE = """async () => {
  const {patience} = await import("/static/js/shared/ask.js");
  delete AbortSignal.any; // the oldest supported browsers have none
  const limits = [];
  AbortSignal.timeout = () => {
    limits.push(new AbortController());
    return limits.at(-1).signal;
  };
  const form = new AbortController();
  const late = [patience(), patience(form.signal)], ended = patience(form.signal);
  for (const each of limits.slice(0, 2)) each.abort("late");
  form.abort("ended");
  return [...late, ended, patience(form.signal)].map(({aborted, reason}) => aborted && reason);
}"""


def test_a_request_ends_by_its_time_limit_or_with_its_form_in_every_browser(page: Any) -> None:
    assert page.evaluate(PATIENCE) == ["late", "late", "ended", "ended"]


COPY = """async () => {
  document.body.innerHTML = `<input value="x"><button data-copy="input"
    data-copied="Copied" data-by-hand="By hand"><span>Copy</span></button>`;
  const {watchCopies} = await import("/static/js/shared/copy.js");
  watchCopies(document.body);
}"""


def test_a_second_press_says_copied_for_its_whole_time(page: Any) -> None:
    page.clock.install()
    page.evaluate(COPY)
    page.evaluate(
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async () => 1}})"
    )
    button = page.locator("button")
    button.click()
    expect(button).to_have_text("Copied")
    page.clock.pause_at(page.evaluate("Date.now() + 3000"))
    button.click()
    page.clock.run_for(3_000)  # the first press would say "Copy" again
    expect(button).to_have_text("Copied")
    page.clock.run_for(2_000)
    expect(button).to_have_text("Copy")


POLLER = """async (answers) => {
  const {Poller} = await import("/static/js/shared/poller.js");
  const got = [], asked = [], failed = [];
  window.fetch = async (url, options) => {
    asked.push(options.headers["If-None-Match"] ?? "");
    const next = answers.shift();
    if (next === undefined || next === "cut") throw new TypeError("cut");
    const body = next[0] === 200 ? JSON.stringify(next[1]) : null;
    return new Response(body, {status: next[0], headers: {ETag: next[2] ?? "a"}});
  };
  await new Promise((done) => {
    const poller = new Poller("/x.json", {waitMs: 1,
      got: (body) => {
        got.push(body && body.n);
        if (body?.stop) { done(); return null; }
        return 1;
      },
      failed: (status) => {
        failed.push(status);
        if (status === 401) { done(); return "stop"; }
        return undefined;
      }});
    poller.start();
  });
  return {got, asked, failed};
}"""


def test_the_poller_sends_its_revision_survives_errors_and_obeys_stop(page: Any) -> None:
    done = page.evaluate(
        POLLER,
        [[200, {"n": 1}, "a"], [304, None], "cut", [503, None], [200, {"n": 2, "stop": True}, "b"]],
    )
    assert done == {"got": [1, None, 2], "asked": ["", "a", "a", "a", "a"], "failed": [0, 503]}


def test_an_answer_that_could_not_be_shown_is_requested_again_without_an_etag(page: Any) -> None:
    etags = page.evaluate("""async () => {
      const {Poller} = await import("/static/js/shared/poller.js");
      const asked = [];
      window.fetch = async (url, {headers}) => {
        asked.push(headers["If-None-Match"] ?? "");
        return new Response("{}", {headers: {ETag: "a"}});
      };
      return await new Promise((done) => {
        const got = () => {
          if (asked.length < 2) throw new Error("not shown");
          return done(asked) ?? null;
        };
        new Poller("/x.json", {waitMs: 1, got}).now();
      });
    }""")
    assert etags == ["", ""]


def test_the_poller_stops_after_a_sign_out(page: Any) -> None:
    assert page.evaluate(POLLER, [[200, {"n": 1}], [401, None]])["failed"] == [401]


def test_no_request_for_a_long_wait_stops_the_poller(page: Any) -> None:
    waited = page.evaluate("""async () => {
      const {Poller} = await import("/static/js/shared/poller.js");
      const headers = {"Retry-After": "99999999"}, usual = setTimeout;
      window.fetch = async () => new Response(null, {status: 503, headers});
      return await new Promise((done) => {
        window.setTimeout = (act, ms) => (ms ? done(ms) : usual(act, 0));
        new Poller("/x.json", {got: () => 1}).now();
      });
    }""")
    assert waited == 120_000  # a timer of more than 2^31 ms would end at once


def test_a_page_of_a_demo_waits_no_longer_than_it_says(page: Any) -> None:
    polls = page.evaluate("""async () => {
      document.body.dataset.pollWithin = "5";
      const {Poller} = await import("/static/js/shared/poller.js");
      let asked = 0;
      window.fetch = async () => { asked += 1; return new Response("{}"); };
      return await new Promise((done) => {
        const minute = 60000;
        const got = () => (asked === 3 ? done(asked) ?? null : minute);
        new Poller("/x.json", {waitMs: minute, got}).start();
        setTimeout(() => done(asked), 10000);
      });
    }""")
    assert polls == 3


def test_a_late_answer_is_dropped(page: Any) -> None:
    got = page.evaluate("""async () => {
      const {Poller} = await import("/static/js/shared/poller.js");
      const waiting = [], got = [];
      window.fetch = () => new Promise((answer) => {
        waiting.push((n) => answer(new Response(JSON.stringify({n}))));
      });
      const poller = new Poller("/x.json", {
        waitMs: 60000, got: (body) => { got.push(body.n); return 60000; },
      });
      const turn = () => new Promise((done) => setTimeout(done, 20));
      poller.now(); await turn();
      poller.now(); await turn();
      waiting[1](2); while (!got.length) await turn();
      waiting[0](1); await turn();
      poller.stop();
      return got;
    }""")
    assert got == [2]


@pytest.mark.parametrize(("hidden_ms", "polls"), [("null", 1), ("5", 4)])
def test_a_hidden_page_polls_only_for_its_title_or_sound(
    page: Any, hidden_ms: str, polls: int
) -> None:
    script = """async () => {
      const {Poller} = await import("/static/js/shared/poller.js");
      let asked = 0, hidden = false;
      Object.defineProperty(document, "hidden", {get: () => hidden});
      window.fetch = async () => { asked += 1; return new Response("{}"); };
      await new Promise((done) => {
        const poller = new Poller("/x.json", {hiddenMs: HIDDEN, waitMs: 1, got: () => {
          hidden = true;
          if (asked === 4) { done(); return null; }
          if (asked === 1 && HIDDEN === null) setTimeout(done, 400);
          return 1;
        }});
        poller.start();
      });
      return asked;
    }""".replace("HIDDEN", hidden_ms)
    assert page.evaluate(script) == polls


LABELS = """async ({mark, sides, size, others}) => {
  const {placed} = await import("/static/js/board/labels.js");
  return placed(mark, sides, size, others);
}"""
APART = """async ({boxes, fixed}) => {
  const {apart, overlaps} = await import("/static/js/board/labels.js");
  const found = apart(boxes, fixed, {x: 400, y: 300});
  const all = [...fixed, ...found];
  return [found, all.some((a, i) => all.some((b, j) => i < j && overlaps(a, b)))];
}"""


@pytest.mark.parametrize("at", [(5, 5), (395, 5), (5, 295), (395, 295), (200, 150)])
def test_a_label_stays_inside_the_map_and_beside_its_mark(page: Any, at: tuple[int, int]) -> None:
    mark = {"x": at[0], "y": at[1], "width": 30, "height": 30}
    sides = {"width": 120, "height": 20}
    box = page.evaluate(
        LABELS, {"mark": mark, "sides": sides, "size": {"x": 400, "y": 300}, "others": []}
    )
    assert 60 <= box["x"] <= 340
    assert 10 <= box["y"] <= 290
    assert abs(box["x"] - at[0]) >= 75 or abs(box["y"] - at[1]) >= 25
    assert box["free"]


def test_a_label_takes_the_side_that_covers_nothing(page: Any) -> None:
    right = {"x": 280, "y": 150, "width": 40, "height": 40}
    left = {"x": 120, "y": 150, "width": 40, "height": 40}
    labels = {
        "mark": {"x": 200, "y": 150, "width": 30, "height": 30},
        "sides": {"width": 120, "height": 20},
        "size": {"x": 400, "y": 300},
        "others": [right, left],
    }
    box = page.evaluate(LABELS, labels)
    assert (box["x"], box["free"]) == (200, True)
    assert box["y"] < 150


def test_signs_of_cabs_at_one_place_are_moved_apart_and_the_first_one_stays(page: Any) -> None:
    here = {"x": 100, "y": 100, "width": 40, "height": 22}
    hotel = {"x": 130, "y": 100, "width": 28, "height": 28}
    boxes, still_covered = page.evaluate(APART, {"boxes": [here] * 5, "fixed": []})
    assert boxes[0] == here
    assert all((box["fromX"], box["fromY"]) == (100, 100) for box in boxes[1:])
    assert not still_covered
    assert not page.evaluate(APART, {"boxes": [here] * 5, "fixed": [hotel]})[1]


def test_twenty_signs_at_one_place_are_all_read_and_inside_the_map(page: Any) -> None:
    here = {"x": 380, "y": 20, "width": 44, "height": 22}
    boxes, covered = page.evaluate(APART, {"boxes": [here] * 20, "fixed": []})
    assert not covered
    inside = [box for box in boxes[1:] if 22 <= box["x"] <= 378 and 11 <= box["y"] <= 289]
    assert len(inside) == 19


FLEET = """async ({turns, choose}) => {
  const {Fleet} = await import("/static/js/board/fleet.js");
  const pen = document.createElement("canvas").getContext("2d"), size = {x: 400, y: 300};
  let draw;
  const map = {
    element: document.body, zoom: 15, home: null, boxes: () => [],
    canvas: (paint) => (draw = () =>
      paint(pen, (lat, lng) => ({x: 200 + lng * 1e4, y: 150 + lat * 1e4}), size)),
  };
  const look = (id) => ({sign: `${id}`, tone: "ok", label: "", moves: false, stale: false});
  const fleet = new Fleet(map, {look, chosen: () => {}});
  return turns.map((cabs, at) => {
    if (at === choose) fleet.choose(cabs[0][0]);
    fleet.show(cabs);
    return Object.fromEntries(fleet.shown.map(({id, x, y}) => [id, [x, y]]));
  });
}"""


def test_the_sign_of_a_standing_cab_stays_whichever_cab_comes_leaves_or_is_chosen(
    page: Any,
) -> None:
    standing = [[5, 0, 0, None], [7, 0, 0, None]]
    turns = [
        standing,
        [[2, 0, 0, None], *standing],  # a cab with an older order comes
        [[2, 0, 0, None], *standing],  # this cab is chosen
        [standing[1]],
        [[7, 0.004, 0, None]],  # the cab drives on, and its sign is at its position
    ]
    before, came, chosen, left, drove = page.evaluate(FLEET, {"turns": turns, "choose": 2})
    assert before["5"] != before["7"]
    assert {each: came[each] for each in "57"} == before
    assert chosen == came
    assert left == {"7": before["7"]}
    assert drove == {"7": [200, 190]}


CHIME = """async (kinds) => {
  const {Chime} = await import("/static/js/board/sound.js");
  const resumed = [];
  window.AudioContext = class extends EventTarget {
    resume() { resumed.push(window.event.type); return new Promise(() => {}); }
  };
  new Chime(true, document.createElement("p"));
  for (const kind of kinds) dispatchEvent(new Event(kind));
  return resumed;
}"""


def test_the_chime_is_made_ready_at_the_end_of_a_touch_which_allows_sound(page: Any) -> None:
    kinds = ["pointerdown", "pointerup", "click", "keydown"]
    assert page.evaluate(CHIME, kinds) == kinds[1:]


SHOWN_AGAIN = """async ({anew, persisted}) => {
  await import("/static/js/shared/anew.js");
  if (anew) document.body.dataset.anew = anew;
  window.old = true;
  dispatchEvent(new PageTransitionEvent("pageshow", {persisted}));
}"""


@pytest.mark.parametrize(
    ("start", "anew", "opened"),
    [
        ("/history?to=2026-01-02#totals", "", "/history?to=2026-01-02"),
        ("/rides/7/cancel", "/rides/7", "/rides/7"),
        ("/rides/new", "/rides/new", "/rides/new"),
    ],
)
def test_a_page_from_the_browsers_memory_is_opened_anew_without_its_form(
    page: Any, start: str, anew: str, opened: str
) -> None:
    page.goto(f"http://127.0.0.1:1{start}")
    with page.expect_request(f"http://127.0.0.1:1{opened}") as sent:
        # in a task of its own: the page is left while it runs
        page.evaluate(
            f"(given) => void setTimeout({SHOWN_AGAIN}, 0, given)",
            {"anew": anew, "persisted": True},
        )
    assert sent.value.method == "GET"
    page.wait_for_function("!window.old")


def test_a_page_that_is_loaded_stays(page: Any) -> None:
    page.evaluate(SHOWN_AGAIN, {"anew": "/elsewhere", "persisted": False})
    assert page.evaluate("[document.documentElement.hidden, window.old]") == [False, True]


def test_an_empty_field_says_what_it_has_room_for(page: Any) -> None:
    placeholders = page.evaluate("""async () => {
      const {fitWords} = await import("/static/js/shared/fit_words.js");
      const drawn = () => new Promise((done) =>
        requestAnimationFrame(() => requestAnimationFrame(done)));
      document.body.innerHTML = `<input placeholder="Room, guest, phone" data-short="Search"
        style="font: 16px monospace; font-feature-settings: 'tnum'; padding: 0; border: 0">`;
      const field = document.querySelector("input"), said = [];
      fitWords(field);
      for (const width of [400, 150, 80, 40, 400]) {
        field.style.width = `${width}px`;
        await drawn();
        said.push(field.placeholder);
      }
      return said;
    }""")
    assert placeholders == ["Room, guest, phone", "Search", "Search", "", "Room, guest, phone"]


PRESS = """async () => {
  const {released} = await import("/static/js/shared/press.js");
  const {ask} = await import("/static/js/shared/ask.js");
  window.said = [];
  window.wait = () => void released().then(() => said.push("released"));
  window.fetch = async () => new Response("{}");
  window.asked = () => void ask("/x", {}).then(() => said.push("answered"));
  document.body.innerHTML = "<button>Go</button>";
  document.querySelector("button").addEventListener("click", () => said.push("click"));
}"""


def test_what_moves_a_page_waits_for_the_click_of_a_press(page: Any) -> None:
    page.evaluate(PRESS)
    page.evaluate("wait()")
    assert page.evaluate("said") == ["released"]
    page.get_by_role("button").hover()
    page.mouse.down()
    page.evaluate("wait()")
    page.evaluate("asked()")
    page.mouse.up()
    page.wait_for_function("said.length === 4")
    assert page.evaluate("said.slice(0, 3)") == ["released", "click", "released"]


def test_a_press_whose_end_is_not_reported_delays_nothing_for_long(page: Any) -> None:
    page.clock.install()
    page.evaluate(PRESS)
    page.get_by_role("button").hover()
    page.mouse.down()
    page.evaluate("asked()")
    page.clock.run_for(1_000)
    page.wait_for_function("said.includes('answered')")
