"""Makes contact sheets of the desk's pages from a demo in the middle of its day.

    make screenshots ARGS="--all"       # into the folder `sheets`

Each page is one picture: a row for light and one for dark, side by side as on a large screen, on a
tablet and on a phone. Pictures show how the pages look together; they are kept out of git.
"""

import io
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from PIL import Image
from playwright.sync_api import Page, ViewportSize, sync_playwright

from tests.conftest import LAUNCH, browser_path
from tests.running import Running, running

SIZES: Final[tuple[ViewportSize, ...]] = (
    {"width": 1440, "height": 900},
    {"width": 1024, "height": 768},
    {"width": 390, "height": 844},
)
SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
SCALE: Final = 0.58  # so that three sizes are no wider than most screens
GAP_PX: Final = 12
GROUND: Final = "#808080"  # neither light nor dark: each page shows where it ends
DAY_S: Final = 600  # how long a busy machine may take for the rides of the day
POLL_MS: Final = 1000
PAGES: Final = {
    "board": "/",
    "booking": "/rides/new",
    "list": "/lists/new",
    "history": "/history",
    "search": "/search",
    "insights": "/insights",
    "hand-over": "/handover",
    "me": "/me",
    "property": "/admin/property",
    "staff": "/admin/staff",
    "accounts": "/admin/accounts",
    "places": "/admin/places",
    "languages": "/admin/languages",
    "kiosks": "/admin/kiosks",
    "audit": "/admin/audit",
    "demo": "/demo",
    "sheet": "/demo/sheet",
    "not-found": "/nothing-here",
}
OF_A_RIDE: Final = ("", "/receipt", "/card")
# the first ride of each group of the board
FIRST_RIDES: Final = """() => Object.fromEntries(
  [...document.querySelectorAll("[data-group]")]
    .map((group) => [group.dataset.group, group.querySelector(".row-link")])
    .filter(([, link]) => link)
    .map(([name, link]) => [name, new URL(link.href).pathname]))"""


def make(folder: Path) -> None:
    """Write one picture for each page into the folder, which is made if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as made,
        running(Path(made) / "instance", RIDEDASH_DEMO="day") as desk,
        sync_playwright() as started,
    ):
        browser = started.chromium.launch(executable_path=browser_path() or "chromium", args=LAUNCH)
        with browser.new_context(base_url=desk.url, reduced_motion="reduce") as context:
            page = context.new_page()
            keep(page, "/sign-in", folder / "sign-in.png")
            sign_in(page, desk)
            wait_for_the_day(page)
            for name, address in PAGES.items():
                keep(page, address, folder / f"{name}.png")
            page.goto("/")
            for group, ride in page.evaluate(FIRST_RIDES).items():
                for part in OF_A_RIDE:
                    name = f"ride-{group}{part.replace('/', '-')}"
                    keep(page, ride + part, folder / f"{name}.png")
        browser.close()


def sign_in(page: Page, desk: Running) -> None:
    """Sign in as the demo's manager."""
    page.goto("/sign-in")
    page.get_by_label("Name").fill(desk.name)
    page.get_by_label("Password", exact=True).fill(desk.password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/")


def wait_for_the_day(page: Page) -> None:
    """Wait until the rides of the demo's day are made."""
    end = time.monotonic() + DAY_S
    while page.request.get("/demo/day.json").json()["words"]:
        assert time.monotonic() < end, "the rides of the day take too long"
        page.wait_for_timeout(POLL_MS)


def keep(page: Page, address: str, file: Path) -> None:
    """Write the contact sheet of a page, which is loaded anew for each size."""
    columns = [column(page, address, size) for size in SIZES]
    sheet(list(zip(*columns, strict=True))).save(file)
    print(file, flush=True)


def column(page: Page, address: str, size: ViewportSize) -> list[Image.Image]:
    """The visible part of a page in one size, in each scheme, made smaller by SCALE."""
    page.set_viewport_size(size)
    page.goto(address)
    return [picture(page, scheme) for scheme in SCHEMES]


def picture(page: Page, scheme: Literal["light", "dark"]) -> Image.Image:
    page.emulate_media(color_scheme=scheme)
    page.wait_for_load_state("networkidle")
    shot = Image.open(io.BytesIO(page.screenshot()))
    return shot.resize((int(shot.width * SCALE), int(shot.height * SCALE)), Image.Resampling.BOX)


def sheet(rows: Sequence[Sequence[Image.Image]]) -> Image.Image:
    """The pictures in rows, with gaps between them."""
    width = max(sum(each.width + GAP_PX for each in row) for row in rows) + GAP_PX
    heights = [max(each.height for each in row) + GAP_PX for row in rows]
    made = Image.new("RGB", (width, sum(heights) + GAP_PX), GROUND)
    top = GAP_PX
    for row, height in zip(rows, heights, strict=True):
        left = GAP_PX
        for each in row:
            made.paste(each, (left, top))
            left += each.width + GAP_PX
        top += height
    return made
