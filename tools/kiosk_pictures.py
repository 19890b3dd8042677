"""Pictures of every screen of the kiosk, on sheets of twelve: `python -m tools.kiosk_pictures`.

Each layout is shown in several languages and looks, with the example data of the tests. The sheets
are for people to look at. Needs a Chromium.
"""

import argparse
import base64
import html
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.conftest import LAUNCH, browser_path
from tests.views.kiosk.kiosk_screens import LAYOUTS, FakeKiosk, fake_kiosk, press, walk

LOOKS = ("light", "dark", "contrast", "large", "lower")
LANGUAGES = ("en", "ar", "hi", "ja")
A_SHEET = 12
UPRIGHT, ACROSS = 6, {"landscape": 3}  # screens beside each other; four of a tablet
WIDE_PX = 1600
Shot = tuple[str, bytes]


def main(arguments: list[str]) -> int:
    """Take the pictures that the arguments ask for, and lay them on sheets."""
    parser = argparse.ArgumentParser(prog="python -m tools.kiosk_pictures", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--layouts", nargs="+", default=[*LAYOUTS], choices=[*LAYOUTS])
    parser.add_argument("--languages", nargs="+", default=LANGUAGES)
    parser.add_argument("--looks", nargs="+", default=LOOKS, choices=LOOKS)
    parser.add_argument("--screens", nargs="+", help="these alone, such as: booked ride")
    asked = parser.parse_args(arguments)
    asked.folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as started, tempfile.TemporaryDirectory() as folder:
        browser = started.chromium.launch(executable_path=browser_path(), args=LAUNCH)
        with fake_kiosk(Path(folder), browser) as kiosk:
            for layout, look in product(asked.layouts, asked.looks):
                shots = [
                    shot
                    for language in asked.languages
                    for shot in taken(kiosk, layout, look, language)
                    if not asked.screens or shot[0].split()[0] in asked.screens
                ]
                across = UPRIGHT if "portrait" in layout else ACROSS.get(layout, 4)
                for first in range(0, len(shots), A_SHEET):
                    path = asked.folder / f"{layout}-{look}-{first // A_SHEET + 1}.png"
                    lay(browser, shots[first : first + A_SHEET], across, path)
                    print(path, flush=True)
        browser.close()
    return 0


def taken(kiosk: FakeKiosk, layout: str, look: str, language: str) -> Iterator[Shot]:
    """A picture of each screen, with its name."""
    scheme = "dark" if look == "dark" else "light"
    page = kiosk.page(layout, color_scheme=scheme)
    aid = look if look in ("contrast", "large", "lower") else ""
    for screen in walk(kiosk, page, language):
        if aid:
            press(page, f"aid-{aid}")
        page.wait_for_load_state("networkidle")
        yield f"{screen} {language} {look}", page.screenshot(type="jpeg", quality=80)
        if aid:
            press(page, f"aid-{aid}")
    page.context.close()


def lay(browser: Browser, shots: list[Shot], across: int, path: Path) -> None:
    """Lay pictures on one sheet, each with its name below."""
    cells = "".join(
        f'<figure><img src="data:image/jpeg;base64,{base64.b64encode(data).decode()}">'
        f"<figcaption>{html.escape(name)}</figcaption></figure>"
        for name, data in shots
    )
    page = browser.new_page(viewport={"width": WIDE_PX, "height": 100})
    page.set_content(
        "<style>body{margin:0;display:grid;gap:8px;background:#888;font:16px sans-serif;"
        f"grid-template-columns:repeat({across},1fr)}}img{{width:100%;display:block}}"
        f"figure{{margin:0}}</style>{cells}"
    )
    page.screenshot(path=path, full_page=True)
    page.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
