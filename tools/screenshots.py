"""Makes the README's three pictures from the running program: `make screenshots`.

With --all it makes contact sheets of the pages instead (contact_sheets.py). Needs a Chromium.
"""

import argparse
import re
import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from tests.conftest import LAUNCH, browser_path
from tests.e2e import story
from tests.e2e.conftest import control
from tests.running import Running, running
from tools import contact_sheets

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
SHEETS = ROOT / "sheets"  # not in git
SIZE = {"width": 1440, "height": 900}
# with this option the sandbox reads its places at once, so that the first search is not slow
WARMED = ("--demo-stage",)
WAIT_MS = 60_000  # how long a busy machine may take until something is drawn
RIDES = (  # room and guest, car, where to, seats of a share, what the sandbox makes of it
    ("118 Guest Wren", "suv", "station", None, "no_cab"),
    ("301 Guest Curlew", "auto", "airport", None, None),
    ("207 Guest Teal", "share", "museum", 1, "share_immediate"),
    ("412 Guest Heron", "mini", "airport", None, None),
)


def main() -> None:
    """Start a demo, book as the front desk does, play a story, and keep three pictures."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    expect.set_options(timeout=WAIT_MS)
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder) / "instance", pace="60", options=WARMED) as desk,
        sync_playwright() as started,
    ):
        browser = started.chromium.launch(executable_path=browser_path() or "chromium", args=LAUNCH)
        page = browser.new_context(
            viewport=SIZE, base_url=desk.url, color_scheme="light"
        ).new_page()
        contact_sheets.sign_in(page, desk)
        take(desk, page)
        take_stage(page)
        browser.close()


def take(desk: Running, page: Page) -> None:
    """Book RIDES, then take the pictures of a ride on its page, and of the board with a form."""
    for who, car, drop, seats, scenario in RIDES:
        if scenario:
            control(desk, "next", scenario=scenario)
        room, guest = who.split(" ", 1)
        story.choose_trip(page, drop)
        page.locator("#guest_room").fill(room)
        story.choose_car(page, car, seats)
        story.press_book(page, guest)
    story.wait_status(page, "CALL_DRIVER")
    control(desk, "speed", speed=1)
    page.locator(".plate").filter(has_text=re.compile(r"\d")).wait_for()
    page.wait_for_load_state("networkidle")
    page.screenshot(path=IMAGES / "tracking.png")
    page.goto("/")
    page.locator("#guest-find").fill("Guest Sanderling")
    page.locator("#drop").fill("airp")
    page.get_by_role("listbox", name="Drop").get_by_role("option").first.click()
    page.locator(".row-link", has_text="Guest Heron").click()
    page.locator("[data-detail] .plate").filter(has_text=re.compile(r"\d")).wait_for()
    page.get_by_role("button", name=re.compile("^Book ")).wait_for()
    page.wait_for_load_state("networkidle")
    page.screenshot(path=IMAGES / "board.png")


def take_stage(page: Page) -> None:
    """Take the picture of the stage in the middle of a story: desk and phone show the plate."""
    page.goto("/demo/stage?story=receipt")
    screens = [page.frame_locator(f"iframe[name={name}]") for name in ("desk", "phone")]
    for number in range(1, 5):
        page.locator(".stage-more > summary").click()
        page.get_by_role("button", name="Step", exact=True).click()
        page.locator("[data-title-step]", has_text=f"{number} / ").wait_for()
        page.locator("[data-play-words]", has_text="Play").wait_for()
    for screen in screens:
        screen.locator(".plate").filter(has_text=re.compile(r"\d")).first.wait_for()
        expect(screen.locator(".leaflet-tile-loaded").first).to_be_visible()
        expect(screen.locator("img.leaflet-tile:not(.leaflet-tile-loaded)")).to_have_count(0)
    page.screenshot(path=IMAGES / "stage.png")


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, prog="python -m tools.screenshots")
    options.add_argument("--all", action="store_true", help=f"contact sheets, in {SHEETS.name}/")
    if options.parse_args().all:
        contact_sheets.make(SHEETS)
    else:
        main()
