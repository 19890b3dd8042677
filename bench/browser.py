"""The cost of a page in the browser: the list of rides, and a moving cab on the map."""

import contextlib
import copy
import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from werkzeug.serving import make_server

from bench import frame
from bench.frame import Absent, Result, Run, line
from bench.page_desk import Pages, pages
from tests.conftest import LAUNCH, browser_path
from tests.running import whole
from tests.views.ride_pages import PASSWORD

ROWS: Final = 200
# whether the first and the last row show this answer of the stub, or a later one
APPLIED: Final = """([rows, least]) => [1, rows].every((id) => {
  const headline = document.querySelector(`[data-id="${id}"] [data-cell="headline"]`);
  return Number(headline.textContent.split("poll ")[1]) >= least;
})"""
CAB_AT: Final = """() => {
  const cab = document.querySelector(".map-cab");
  return cab.closest(".leaflet-marker-icon").style.transform + cab.style.transform;
}"""
LOOKS: Final = 16  # at the cab, four a second: a cab that jumps has two or three places in them
GLIDES: Final = 6  # the least number of places of one that glides
NO_BROWSER: Final = (
    "no Chromium on this machine: apt install chromium-headless-shell, or "
    "RIDEDASH_TEST_CHROMIUM=/path"
)


@line(
    "board-update",
    "browser: one update of a board of 200 rides, milliseconds of script",
    aim="≤ 16 ms",
    protects="The list of a busy property never stutters while a user scrolls or types.",
)
def board_update(run: Run) -> Result:
    """Script time of a poll that changes a text in every row.

    The answers are stubs, because the server has only a few rides.
    """
    with opened() as found:
        if found is None:
            return Absent(NO_BROWSER)
        shown, page, url = found
        for _ in range(3):
            shown.desk.order(status="CALL_DRIVER")
        rows = json.loads(shown.get("/board.json"))
        polls = [0]
        page.route(
            "**/board.json*",
            lambda route: route.fulfill(json=_played(rows, polls), headers={"ETag": str(polls)}),
        )
        page.goto(f"{url}/")
        page.locator(f'[data-id="{ROWS}"]').wait_for()
        metrics = _metrics(page)

        def updated() -> float:
            took = _script_ms(metrics, polls, run.of(4, 2))
            page.wait_for_function(APPLIED, arg=[ROWS, polls[0]])  # else the page did nothing
            return took

        return frame.alone(run, updated, "ms of script for each update")


def _played(rows: dict[str, Any], polls: list[int]) -> dict[str, Any]:
    """A stubbed answer with ROWS rides, each with a changed text and position."""
    polls[0] += 1
    n = polls[0]
    first = copy.deepcopy(rows["rows"][0])
    facts = {"headline": f"Driver on the way, poll {n}", "rev": f"{n:04d}"}
    played = [first | facts | {"id": number} for number in range(1, ROWS + 1)]
    cabs = [
        [number, -38.5 + number / 9_000, -128 + n / 3_000, n * 20 % 360]
        for number in range(1, ROWS + 1)
    ]
    return rows | {
        "v": f"order.{n}.",
        "rows": played,
        "order": list(range(1, ROWS + 1)),
        "cabs": cabs,
    }


def _script_ms(metrics: Callable[[], dict[str, float]], polls: list[int], updates: int) -> float:
    """Milliseconds of script time for each poll, including the page's timers."""
    before, began = metrics(), polls[0]
    while polls[0] < began + updates:
        metrics()  # lets the stubbed answers through
        time.sleep(0.05)
    time.sleep(0.5)
    return (metrics()["ScriptDuration"] - before["ScriptDuration"]) * 1000 / (polls[0] - began)


@line(
    "glide",
    "browser: a cab that glides on the ride's map, share of a core's main thread",
    aim="≤ 2 %",
    protects="A tablet at the door follows a cab all evening without running hot.",
)
def glide(run: Run) -> Result:
    """The main thread's time for tasks while each poll brings a new position.

    The time of the same page with a standing cab is subtracted.
    """
    with opened() as found:
        if found is None:
            return Absent(NO_BROWSER)
        shown, page, url = found
        order = shown.desk.order(status="CALL_DRIVER", ride={"interval_s": 4.0})
        body = json.loads(shown.get(f"/rides/{order}/snapshot.json"))
        going = [True, 0]
        page.route(
            f"**/rides/{order}/snapshot.json",
            lambda route: route.fulfill(json=_driven(body, going)),
        )
        page.goto(f"{url}/rides/{order}")
        page.locator(".leaflet-marker-icon").first.wait_for()
        metrics, seconds = _metrics(page), run.of(10, 6)

        def gliding() -> float:
            moving = _task_share(metrics, seconds, going, moves=True)
            glided = _places(page)
            standing = _task_share(metrics, seconds, going, moves=False)
            if glided < GLIDES or _places(page) != 1:
                raise RuntimeError(f"the cab had {glided} places while it moved, or did not stand")
            return moving - standing

        return frame.alone(run, gliding, "of a core")


def _driven(body: dict[str, Any], going: list[Any]) -> dict[str, Any]:
    """The snapshot with the cab some 40 m further at each poll while it moves."""
    going[1] += bool(going[0])
    moved = copy.deepcopy(body)
    moved["version"] = going[1] + 10
    moved["position"]["lat"] = body["position"]["lat"] + 0.0004 * (going[1] % 20)
    return moved


def _task_share(
    metrics: Callable[[], dict[str, float]], seconds: float, going: list[Any], *, moves: bool
) -> float:
    going[0] = moves
    _pass(metrics, 6)  # waits for the end of the last move, or the start of the first
    before, began = metrics()["TaskDuration"], time.monotonic()
    _pass(metrics, seconds)
    return (metrics()["TaskDuration"] - before) / (time.monotonic() - began)


def _places(page: Any) -> int:
    """The number of places at which the cab is seen in four seconds."""
    found = set()
    for _ in range(LOOKS):
        page.wait_for_timeout(250)
        found.add(page.evaluate(CAB_AT))
    return len(found)


def _pass(metrics: Callable[[], dict[str, float]], seconds: float) -> None:
    """Let time pass while stubbed answers are served."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.25)
        metrics()


def _metrics(page: Any) -> Callable[[], dict[str, float]]:
    """Chromium's counters of a page: seconds of script, of tasks, of layout."""
    session = page.context.new_cdp_session(page)
    # CPU time, which other load doesn't affect
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def read() -> dict[str, float]:
        return {
            each["name"]: each["value"]
            for each in session.send("Performance.getMetrics")["metrics"]
        }

    return read


@contextlib.contextmanager
def opened() -> Iterator[tuple[Pages, Any, str] | None]:
    """Yields an application on a socket, a signed-in page, the address; None without a browser."""
    if browser_path() is None:
        yield None
        return
    from playwright.sync_api import sync_playwright

    with pages() as shown, _served(shown) as url, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=browser_path(), args=LAUNCH)
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        page.goto(f"{url}/sign-in")
        page.get_by_label("Name").fill("desk")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/")
        yield shown, page, url
        browser.close()


@contextlib.contextmanager
def _served(shown: Pages) -> Iterator[str]:
    server = make_server("127.0.0.1", 0, whole(shown.desk.app), threaded=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()
