"""From a key to what the board shows, by the browser's clock, while the server answers nothing."""

import re
from collections.abc import Callable
from typing import Any, Final

from bench import frame
from bench.browser import NO_BROWSER, opened
from bench.frame import Absent, Result, Run, line

RIDES: Final = 12
STEPS: Final = 6
SHOWN_MS: Final = 60_000  # a machine without a screen may be that slow before it is given up
FEEL: Final = "A press that is answered at once is pressed once."
# until the frame after the one in which the element stands is drawn
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
    """A form that is filled in, on a board with RIDES rides."""
    return _measured(run, run.of(4, 2), _press)


@line(
    "step",
    "browser: from J to the plate of the next ride, while the server is silent",
    aim="≤ 50 ms",
    protects="Who reads out plates goes through the rides without waiting for any.",
)
def step(run: Run) -> Result:
    """Steps through a board with RIDES rides; none of their pages comes."""
    return _measured(run, run.of(4, 2), _step)


def _measured(run: Run, boards: int, took: Callable[[Any], list[float]]) -> Result:
    """The lower quartile of what `took` measures on so many boards, each opened anew."""
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

        fresh()  # the first page compiles its scripts

        def figure() -> float:
            return frame.quiet([each for _ in range(boards) for each in fresh()])

        return frame.alone(run, figure, "ms")


def _silent(route: Any) -> None:
    """No answer, as long as the page is open; a page that is opened gets its own."""
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
    """Each step but the first one, which loads what shows rides."""
    page.keyboard.press("j")
    page.locator(".peek .plate").wait_for(timeout=SHOWN_MS)
    links = page.locator(".row-link[href]")
    rides = [links.nth(at).get_attribute("href") for at in range(1, STEPS)]
    return [_from_key(page, "j", f'.peek [data-own][href$="{ride}"]', "j") for ride in rides]


def _from_key(page: Any, key: str, selector: str, pressed: str) -> float:
    """Milliseconds from a key to the frame that shows what it brings."""
    page.evaluate(TIMED, [key, selector])
    page.keyboard.press(pressed)
    return float(page.evaluate("window.took"))
