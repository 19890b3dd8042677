"""Makes the README's two pictures from the running program: `make screenshots`. Needs a Chromium."""

import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import sync_playwright  # noqa: E402

from tests.conftest import LAUNCH, browser_path  # noqa: E402
from tests.e2e import story  # noqa: E402
from tests.e2e.conftest import control  # noqa: E402
from tests.running import Running, running  # noqa: E402

IMAGES = ROOT / "docs" / "images"
SIZE = {"width": 1280, "height": 800}


def main() -> None:
    """Start a demo, book as the front desk does, and keep two pictures."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, running(Path(folder) / "instance", pace="60") as desk:
        take(desk)


def take(desk: Running) -> None:
    """The picker with its cards, and a ride whose driver is on the way."""
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=browser_path() or "chromium", args=LAUNCH)
        page = browser.new_context(viewport=SIZE, base_url=desk.url, color_scheme="light").new_page()
        page.goto("/sign-in")
        page.get_by_label("Name").fill(desk.name)
        page.get_by_label("Password", exact=True).fill(desk.password)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/")
        story.choose_trip(page)
        story.choose_car(page, "mini")
        page.wait_for_load_state("networkidle")
        page.screenshot(path=IMAGES / "booking.png")
        story.press_book(page, "Guest Heron")
        story.wait_status(page, "CALL_DRIVER")
        control(desk, "speed", speed=1)
        page.wait_for_load_state("networkidle")
        page.locator(".plate").filter(has_text=re.compile(r"\d")).wait_for()
        page.screenshot(path=IMAGES / "tracking.png")
        browser.close()


if __name__ == "__main__":
    main()
