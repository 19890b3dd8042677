"""The guest's kiosk: its bytes, its start on a slow line, the times to a screen and to a ride."""

import contextlib
import itertools
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from bench import frame
from bench.browser import NO_BROWSER
from bench.frame import Absent, Result, Run, line
from bench.kiosk_lobby import kiosk_cookies
from bench.people import Desk, Tally
from bench.poor_line import PoorConnection
from tests.conftest import LAUNCH, browser_path
from tests.running import running

SIZE: Final = {"width": 1080, "height": 1920}
PALM_MS: Final = 450  # an earlier touch would be taken for a palm
PLACES: Final = itertools.cycle(f"place-{n}" for n in range(3))
STARTS: Final = "A guest with a suitcase looks at a start screen and not at an empty one."
SOON: Final = "A guest with a taxi at the door waits for no screen."
PRESSED: Final = "Nobody presses twice because nothing happened."
# Records, in ms, when the start can be pressed, and the time from each touch to the painted screen.
WATCH: Final = """
  globalThis.startedAt = 0;
  globalThis.took = [];
  let from = 0;
  addEventListener("pointerup", (event) => { from = event.timeStamp; }, true);
  const painted = (act) => requestAnimationFrame(() => setTimeout(act));
  new MutationObserver((changes) => {
    if (!startedAt && document.querySelector('[data-press="start"]'))
      painted(() => { globalThis.startedAt = performance.now(); });
    if (changes.some((each) => each.attributeName === "data-screen") && from) {
      const touched = from;
      from = 0;
      painted(() => took.push(performance.now() - touched));
    }
  }).observe(document, { subtree: true, childList: true, attributeFilter: ["data-screen"] });
"""
# controls touched in a visit up to the screen that asks for the name, and back. `place-0` is timed
# until the next screen is shown, not until the service answers
WALK: Final = ("start", "other", "bar-back", "place-0", "car-0", "bar-back", "bar-over")


@dataclass
class Lobby:
    """The running program, and a browser with the cookies that make it a kiosk."""

    url: str
    browser: Any
    cookies: list[dict[str, str]]
    desk: Desk

    def anew(self) -> None:
        """Reset the demo, because at most three rides of a kiosk may wait for their passenger."""
        answer = self.desk.http.post("/demo/reset")
        if "said=reset" not in answer.headers.get("Location", ""):
            raise RuntimeError(f"the demo was not reset: {answer.status_code} {answer.headers}")

    @contextlib.contextmanager
    def page(self) -> Iterator[Any]:
        """A new page in a browser context of its own, so nothing is in its cache."""
        context = self.browser.new_context(viewport=SIZE, has_touch=True)
        context.add_cookies(self.cookies)
        context.add_init_script(WATCH)
        try:
            yield context.new_page()
        finally:
            context.close()


@contextlib.contextmanager
def _lobby(pace: str) -> Iterator[Lobby | None]:
    """`ridedash up` at this pace with a paired kiosk; None without a browser."""
    if browser_path() is None:
        yield None
        return
    from playwright.sync_api import sync_playwright

    with frame.folder() as folder, running(folder / "instance", pace) as demo:
        desk = Desk(demo.url, demo.name, Tally(), 7, password=demo.password)
        page = desk.http.get("/admin/kiosks").text
        token = re.search(r'name="csrf-token" content="([^"]+)"', page)
        desk.http.headers["X-CSRFToken"] = token[1] if token else ""
        cookies = kiosk_cookies(desk.http, demo.url)
        with contextlib.closing(desk.http), sync_playwright() as started:
            browser = started.chromium.launch(executable_path=browser_path(), args=LAUNCH)
            yield Lobby(demo.url, browser, cookies, desk)
            browser.close()


@line(
    "kiosk-weight",
    "what a kiosk's document transfers with a cold cache, map tiles excepted",
    aim="≤ 120 kB",
    protects=STARTS,
)
def weight(run: Run) -> Result:
    """Kilobytes of all answers until the page is quiet, headers included, map tiles excluded."""
    return _measured(run, lambda lobby: _loaded(lobby)[0], "kB")


@line(
    "kiosk-start",
    "a kiosk's start screen on a line of 1.6 Mbit/s and 150 ms, cold cache: until it is usable",
    aim="≤ 1.2 s",
    protects=STARTS,
)
def start(run: Run) -> Result:
    """Seconds from the request until "Book a ride" is painted and can be pressed."""
    return _measured(run, lambda lobby: _loaded(lobby)[1], "s")


@line(
    "kiosk-touch",
    "a kiosk: from the end of a touch until the next screen is painted, the slowest of a visit",
    aim="≤ 100 ms",
    protects=PRESSED,
)
def touch(run: Run) -> Result:
    """Milliseconds. The next screen is shown without waiting for an answer of the server."""
    return _measured(run, _slowest_touch, "ms")


@line(
    "kiosk-cars",
    "a kiosk: from a touch on a place until its cars are painted, with the sandbox",
    aim="≤ 1.5 s",
    protects=SOON,
)
def cars(run: Run) -> Result:
    """Seconds; each measurement touches the next of three places."""
    return _measured(run, _seconds_to_cars, "s", "20")


@line(
    "kiosk-ride",
    "a kiosk: from the first touch to the ticket, by five touches and four letters, at pace 20",
    aim="≤ 20 s",
    protects=SOON,
)
def ride(run: Run) -> Result:
    """Seconds for a script that waits PALM_MS before each touch, except for letters."""
    return _measured(run, _seconds_to_ticket, "s", "20")


def _measured(run: Run, figure: Callable[[Lobby], float], unit: str, pace: str = "1") -> Result:
    with _lobby(pace) as lobby:
        if lobby is None:
            return Absent(NO_BROWSER)
        figure(lobby)  # warms up the server, whose first answers are slow
        return frame.alone(run, lambda: figure(lobby), unit)


def _loaded(lobby: Lobby) -> tuple[float, float]:
    """Kilobytes of a cold start, and the seconds until "Book a ride" can be pressed."""
    with lobby.page() as page:
        load = PoorConnection(page).load(f"{lobby.url}/kiosk")
        page.wait_for_function("() => startedAt > 0")
        return load.kilobytes, page.evaluate("startedAt") / 1000


def _slowest_touch(lobby: Lobby) -> float:
    with lobby.page() as page:
        page.goto(f"{lobby.url}/kiosk")
        for count, name in enumerate(WALK, 1):
            control = page.locator(f'[data-stage] [data-press="{name}"]')
            if name.startswith("bar-"):
                control = page.locator(f'[data-press="{name}"]')
            control.first.wait_for()
            page.wait_for_timeout(PALM_MS)
            control.first.tap()
            page.wait_for_function("(count) => took.length === count", arg=count)
        return float(max(page.evaluate("took")))


def _seconds_to_cars(lobby: Lobby) -> float:
    with lobby.page() as page:
        page.goto(f"{lobby.url}/kiosk")
        _tap(page, "start")
        return _cars(page, next(PLACES))


def _cars(page: Any, place: str) -> float:
    """Touch a place. Returns the seconds until its cars are shown."""
    _tap(page, place)
    began = time.monotonic()
    page.locator(".k-car").first.wait_for()
    return time.monotonic() - began


def _seconds_to_ticket(lobby: Lobby) -> float:
    lobby.anew()
    _seconds_to_cars(lobby)  # waits until the service answers after the reset
    with lobby.page() as page:
        page.goto(f"{lobby.url}/kiosk")
        page.locator('[data-press="start"]').wait_for()
        began = time.monotonic()
        _tap(page, "start", "place-0")
        page.locator(".k-car").first.wait_for()
        _tap(page, "car-0")
        page.wait_for_timeout(PALM_MS)
        _tap(page, *(f"key-{letter}" for letter in "wren"), "next", "book")
        page.locator(".k-pin").wait_for()
        return time.monotonic() - began


def _tap(page: Any, *names: str) -> None:
    """Touch controls: letters of the on-screen keyboard at once, all others after PALM_MS."""
    for name in names:
        page.wait_for_timeout(0 if name.startswith("key-") else PALM_MS)
        page.locator(f'[data-press="{name}"]').tap()
