"""How soon the board of a demo shows the result of a leap of the clock, and of a Reset."""

import contextlib
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from bench import frame
from bench.browser import NO_BROWSER
from bench.frame import Absent, Result, Run, line
from tests.conftest import LAUNCH, browser_path
from tests.demo.presenter import Presenter
from tests.running import running

SIX_RIDES: Final = "down"  # a story that begins with six bookings
BOOKINGS: Final = 6
LEAPS: Final = 20  # leaps of one demo; six rides have more states ahead than that
SHOWN: Final = """([id, before]) => {
  const row = document.querySelector(`[data-id="${id}"] [data-cell="headline"]`);
  return !row || row.textContent !== before;
}"""
ROWS: Final = "[data-id]:not([data-id=''])"
EMPTY: Final = "(rows) => !document.querySelector(rows)"
FULL: Final = "([rows, n]) => document.querySelectorAll(rows).length >= n"
PROTECTS: Final = "A partner who has seen a press sees what came of it before the next sentence."


@dataclass
class Watched:
    """A demo whose clock is stopped, with six rides, and a browser that shows its board."""

    presenter: Presenter
    page: Any

    def leap(self) -> float:
        """Seconds from the press of Next event until the board shows the ride's next state."""
        before = {
            row.get_attribute("data-id"): row.locator("[data-cell=headline]").text_content()
            for row in self.page.locator(ROWS).all()
        }
        began = time.perf_counter()
        answer = self.presenter.press("/demo/next")
        came = self.presenter.http.get(answer.headers["location"]).text
        found = re.search(r'href="/rides/(\d+)"', came)
        if found is None or found[1] not in before:
            raise RuntimeError("no ride of the board had anything ahead")
        self.page.wait_for_function(SHOWN, arg=[found[1], before[found[1]]])
        return time.perf_counter() - began

    def reset(self) -> float:
        """Seconds from the press of Reset until the board is empty."""
        began = time.perf_counter()
        self.presenter.press("/demo/reset")
        self.page.wait_for_function(EMPTY, arg=ROWS)
        return time.perf_counter() - began


@contextlib.contextmanager
def _watched() -> Iterator[Watched | None]:
    """A demo with an open board; None without a browser."""
    if browser_path() is None:
        yield None
        return
    from playwright.sync_api import sync_playwright

    with (
        frame.folder() as folder,
        running(folder / "instance", options=("--demo-stage",)) as demo,
        sync_playwright() as started,
    ):
        browser = started.chromium.launch(executable_path=browser_path(), args=LAUNCH)
        page = browser.new_page(base_url=demo.url)
        page.goto("/sign-in")
        page.get_by_label("Name").fill(demo.name)
        page.get_by_label("Password", exact=True).fill(demo.password)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/")
        presenter = Presenter(demo)
        with contextlib.closing(presenter.http):
            yield Watched(presenter, page)
        browser.close()


def _six_rides(watched: Watched) -> None:
    """Let a story book six rides, drop the story, and wait until the board shows the rides."""
    presenter = watched.presenter
    run = presenter.begin(SIX_RIDES)
    while run["step"] < BOOKINGS:
        run = presenter.step(run, 0)
        time.sleep(run["again_s"])
    presenter.press(f"/demo/runs/{run['run']}/drop", step=run["step"])
    watched.page.wait_for_function(FULL, arg=[ROWS, BOOKINGS])


@line(
    "leap",
    "from Next event, six rides under way, until an open board shows the ride's next state, p95",
    aim="≤ 1.5 s",
    protects=PROTECTS,
)
def leap(run: Run) -> Result:
    """Seconds by the wall clock, the press and its answer included."""
    return _measured(run, _latest_leap)


@line(
    "reset",
    "from Reset, six rides under way, until an open board is empty",
    aim="≤ 3 s",
    protects=PROTECTS,
)
def reset(run: Run) -> Result:
    """Seconds by the wall clock, the press and its answer included."""
    return _measured(run, Watched.reset)


def _latest_leap(watched: Watched) -> float:
    """The p95 of LEAPS leaps."""
    taken = sorted(watched.leap() for _ in range(LEAPS))
    return taken[len(taken) * 19 // 20 - 1]


def _measured(run: Run, figure: Callable[[Watched], float]) -> Result:
    """A figure of a demo that has six rides under way each time."""
    with _watched() as watched:
        if watched is None:
            return Absent(NO_BROWSER)

        def ours() -> float:
            _six_rides(watched)
            return figure(watched)

        return frame.alone(run, ours, "s")
