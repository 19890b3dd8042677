"""`python -m bench.five_minutes`: a script acts out the presenter's sheet on the demo's stage.

Each line of the sheet (ridedash/demo/sheet.py) begins at its time, or once the line before it is
done, if that is later. The planned time, the delay and the end of each are printed. A presenter
would speak meanwhile; the script waits only for the stage, which shows each of its sentences for
some time. It is run by hand, because it takes five minutes.
"""

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from playwright.sync_api import Page, ViewportSize, expect, sync_playwright

from ridedash.demo.sheet import FIVE, SheetLine
from tests.conftest import LAUNCH, browser_path
from tests.running import Running, running

WAIT_MS: Final = 200_000  # a story with an outage is long
SIZE: Final[ViewportSize] = {"width": 1440, "height": 900}
READ_S: Final = 12.0  # how long a presenter looks at a call in the lens
# what the stage says from the outage on
DOWN: Final = re.compile("company goes down|says since when|The calls are few|All six rides")
PLATE: Final = "[data-cell=plate]:visible, [data-slot='cab.plate']:visible"


def main(arguments: list[str]) -> int:
    """Print a line for each line of the sheet. Returns 1 if the last one began 1 s late or more."""
    parser = argparse.ArgumentParser(prog="python -m bench.five_minutes", description=__doc__)
    parser.add_argument("--times", type=int, default=1)
    times, late = parser.parse_args(arguments).times, 0.0
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=browser_path() or "chromium", args=LAUNCH)
        for _ in range(times):
            page = browser.new_context(viewport=SIZE).new_page()
            page.set_default_timeout(WAIT_MS)
            with tempfile.TemporaryDirectory() as folder:
                instance = Path(folder) / "instance"
                with running(instance, options=("--demo-stage",)) as demo:
                    _sign_in(page, demo)
                    late = max(late, _presented(page))
            page.context.close()
        browser.close()
    return 1 if late >= 1 else 0


def _sign_in(page: Page, demo: Running) -> None:
    page.goto(f"{demo.url}/demo/stage")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_enabled()


def _presented(page: Page) -> float:
    """By how many seconds the last line began later than the sheet says."""
    acts: list[Callable[[Page, SheetLine], None]] = _acts()
    began, late = time.monotonic(), 0.0
    for line, act in zip(FIVE.lines, acts, strict=True):
        minutes, seconds = line.at.split(":")
        planned = int(minutes) * 60 + int(seconds)
        time.sleep(max(0.0, began + planned - time.monotonic()))
        late = time.monotonic() - began - planned
        act(page, line)
        done = time.monotonic() - began
        print(
            f"{line.at} {line.story or line.do!s:.60}: {late:+.1f} s, done at {done:.1f} s",
            flush=True,
        )
    return late


def _acts() -> list[Callable[[Page, SheetLine], None]]:
    """What is done for each line."""
    found: list[Callable[[Page, SheetLine], None]] = []
    for number, line in enumerate(FIVE.lines):
        if line.story:
            found.append(_first if number == 0 else _story)
        elif line.lens:
            found.append(_lens)
        elif number == len(FIVE.lines) - 1:
            found.append(_reset)
        else:
            found.append(_pause if _first in found[-1:] else _again)
    return found


def _press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def _first(page: Page, _line: SheetLine) -> None:
    _press(page, "Play")
    _press(page, "60×")
    _expect_message(page, "A driver has accepted.")


def _pause(page: Page, _line: SheetLine) -> None:
    _press(page, "Pause")


def _again(page: Page, _line: SheetLine) -> None:
    _press(page, "Play")
    _over(page)


def _story(page: Page, line: SheetLine) -> None:
    page.get_by_label("Story").select_option(line.story)
    _press(page, "Play")
    after = FIVE.lines[FIVE.lines.index(line) + 1]
    if not after.lens:
        _over(page)


def _lens(page: Page, _line: SheetLine) -> None:
    if page.locator("[data-title]").is_visible():
        expect(page.locator("[data-said]")).to_contain_text(DOWN, timeout=WAIT_MS)
    # moves the focus to the stage: it was in the frame of the desk, where the story typed
    page.locator("[data-said]").click()
    page.keyboard.press("~")
    desk = page.frame_locator("iframe[name=desk]")
    desk.get_by_role("button", name="Point at a fact").click()
    desk.locator(PLATE).first.hover()  # a plate on the board, or of the ride that the story shows
    desk.locator("[data-lens-rows] button").first.click()
    time.sleep(READ_S)
    desk.locator("[data-lens-close]").click()
    if page.locator("[data-title]").is_visible():
        _over(page)


def _reset(page: Page, _line: SheetLine) -> None:
    page.locator(".stage-more summary").click()
    _press(page, "Reset for the next partner")
    _expect_message(page, "All rides and guests are deleted.")


def _expect_message(page: Page, words: str) -> None:
    expect(page.locator("[data-said]")).to_contain_text(words, timeout=WAIT_MS)


def _over(page: Page) -> None:
    expect(page.locator("[data-title]")).to_be_hidden(timeout=WAIT_MS)
    _expect_message(page, "The story has ended.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
