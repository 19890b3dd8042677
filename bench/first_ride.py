"""`python -m bench.first_ride`: from the start of a new demo to a booked ride on its stage.

It runs the command that `make demo` runs once everything is installed. Then it counts the seconds
until, after two presses, the desk shows the booked ride and the guest's phone follows it, and lists
requests to foreign hosts. It is run by hand: the seconds depend on the machine, and the browser
runs already.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from playwright.sync_api import Page, expect, sync_playwright

from tests.conftest import LAUNCH, browser_path
from tests.e2e.conftest import Seen, watch
from tests.running import running

PRESSES: Final = ("Sign in", "Play the five minutes")
MOST_S: Final = 60.0
WAIT_MS: Final = 120_000
SIZE: Final = {"width": 1440, "height": 900}


def main(arguments: list[str]) -> int:
    """Print a line for each run. Returns 1 if one was too slow or made a foreign request."""
    parser = argparse.ArgumentParser(prog="python -m bench.first_ride", description=__doc__)
    parser.add_argument("--times", type=int, default=3)
    times = parser.parse_args(arguments).times
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=browser_path() or "chromium", args=LAUNCH)
        slow = 0
        for _ in range(times):
            seen = Seen()
            page = browser.new_context(viewport=SIZE).new_page()
            page.set_default_timeout(WAIT_MS)
            took = _booked(page, seen)
            page.context.close()
            slow += took > MOST_S or bool(seen.foreign)
            print(f"{took:5.1f} s, {len(PRESSES)} presses, foreign requests: {seen.foreign}")
        browser.close()
    return 1 if slow else 0


def _booked(page: Page, seen: Seen) -> float:
    """Seconds from the command to the ride."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        instance = Path(folder) / "instance"
        with running(instance, options=("--demo-stage",)) as demo:
            watch(page, (demo.url,), seen)
            page.goto(f"{demo.url}/demo/stage")
            for name in PRESSES:
                page.get_by_role("button", name=name, exact=True).first.click()
            desk, phone = (page.frame_locator(f"iframe[name={each}]") for each in ("desk", "phone"))
            expect(desk.locator(".row-link")).to_have_count(1, timeout=WAIT_MS)
            expect(phone.locator("[data-slot=headline]")).to_be_visible(timeout=WAIT_MS)
            return time.monotonic() - began


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
