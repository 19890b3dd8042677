"""Times from a key press until the board shows its effect, while the server does not answer."""

import re
from collections.abc import Callable
from typing import Any, Final

from bench import frame
from bench.browser import NO_BROWSER, opened
from bench.frame import Absent, Result, Run, line

RIDES: Final = 12
STEPS: Final = 6
SHOWN_MS: Final = 60_000  # how long a slow machine may take to show an element
FEEL: Final = "A press that is answered at once is pressed once."
# window.took: milliseconds from the key until the first frame with the element was drawn
TIMED: Final = """([key, selector]) => {
  window.took = new Promise((done) => addEventListener("keydown", function timed(event) {
    if (event.key !== key) return;
    removeEventListener("keydown", timed, true);
    const look = () => requestAnimationFrame(() => document.querySelector(selector)
      ? setTimeout(() => done(performance.now() - event.timeStamp)) : look());
    look();
  }, true));
}"""


@line(
    "press",
    "browser: from Ctrl+Enter to the row that says so, while the server is silent",
    aim="≤ 100 ms",
    protects=FEEL,
)
def press(run: Run) -> Result:
    """Press Book in a filled-in form, on a board with RIDES rides."""
    return _measured(run, run.of(4, 2), _press)


@line(
    "step",
    "browser: from J to the plate of the next ride, while the server is silent",
    aim="≤ 50 ms",
    protects="Who reads out plates goes through the rides without waiting for any.",
)
def step(run: Run) -> Result:
    """Step through the first STEPS of the board's RIDES rides, whose pages get no answer."""
    return _measured(run, run.of(4, 2), _step)


def _measured(run: Run, boards: int, took: Callable[[Any], list[float]]) -> Result:
    """The lower quartile of the times that `took` measures on `boards` newly opened boards."""
    with opened() as found:
        if found is None:
            return Absent(NO_BROWSER)
        shown, page, url = found
        for _ in range(RIDES):
            shown.desk.order(status="CALL_DRIVER")
        page.route(re.compile(r"/rides/(\d+|new)$"), _silent)

        def fresh() -> list[float]:
            with page.expect_response("**/board.json*"):
                page.goto(f"{url}/")
            return took(page)

        fresh()  # not measured: on the first page the browser compiles the scripts

        def figure() -> float:
            return frame.quiet([each for _ in range(boards) for each in fresh()])

        return frame.alone(run, figure, "ms")


def _silent(route: Any) -> None:
    """Leave requests of scripts without an answer; let the navigation to a page through."""
    if route.request.is_navigation_request():
        route.continue_()


def _press(page: Any) -> list[float]:
    page.fill("#guest-find", "Guest Heron")
    for end, place in (("pickup", "-38.5, -128.0"), ("drop", "-38.51, -128.01")):
        page.fill(f"#{end}", place)
        page.press(f"#{end}", "Enter")
    page.locator("[data-book-go]:enabled").wait_for(timeout=SHOWN_MS)
    page.locator("#guest-find").focus()
    return [_from_key(page, "Enter", "[data-pressed] .row", "Control+Enter")]


def _step(page: Any) -> list[float]:
    """The times of all steps but the first, which also loads what is needed to show a ride."""
    page.keyboard.press("j")
    page.locator(".peek .plate").wait_for(timeout=SHOWN_MS)
    links = page.locator(".row-link[href]")
    rides = [links.nth(at).get_attribute("href") for at in range(1, STEPS)]
    return [_from_key(page, "j", f'.peek [data-own][href$="{ride}"]', "j") for ride in rides]


def _from_key(page: Any, key: str, selector: str, pressed: str) -> float:
    """Milliseconds from a key to the first frame with an element that matches `selector`."""
    page.evaluate(TIMED, [key, selector])
    page.keyboard.press(pressed)
    return float(page.evaluate("window.took"))
