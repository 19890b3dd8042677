"""`python -m bench.pixels`: the stage at four moments of each story, twice, pixel by pixel.

Two new demos play each story with the same seed, step by step; after a quarter, a half, three
quarters and all of the steps a picture of the stage is taken, once it no longer changes. By hand:
it takes minutes. A picture that differs is kept with its other half, and the place is printed. Ages
("12 s ago") are people's time, and may differ.
"""

import argparse
import base64
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, Page, expect, sync_playwright

from ridedash.demo.stories import STORIES
from tests.conftest import LAUNCH, browser_path
from tests.running import Running, running

PARTS: Final = 4  # of a story
WAIT_MS: Final = 200_000  # an outage lasts
STILL_S: Final = 1.5  # a picture that is the same for so long is taken
CHANGES_S: Final = 25.0  # one that still changes after so long is taken as it is
SIZE: Final = {"width": 1440, "height": 900}
# a rounded corner of which a part was drawn anew differs by a shade from one drawn at once
DRAWN: Final = [*LAUNCH, "--disable-partial-raster"]
COMPARED: Final = """async ([one, other]) => {
  const pixels = async (data) => {
    const image = await createImageBitmap(await (await fetch(data)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height);
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas.getContext("2d").getImageData(0, 0, image.width, image.height);
  };
  const [a, b] = [await pixels(one), await pixels(other)];
  let [count, left, top, right, bottom] = [0, a.width, a.height, 0, 0];
  const [p, q] = [new Uint32Array(a.data.buffer), new Uint32Array(b.data.buffer)];
  for (let i = 0; i < p.length; i += 1) {
    if (p[i] === q[i]) continue;
    const [x, y] = [i % a.width, Math.floor(i / a.width)];
    count += 1;
    [left, top] = [Math.min(left, x), Math.min(top, y)];
    [right, bottom] = [Math.max(right, x), Math.max(bottom, y)];
  }
  return { count, left, top, right, bottom };
}"""


def main(arguments: list[str]) -> int:
    """Print a line for each picture. 1 if two halves of one differ."""
    parser = argparse.ArgumentParser(prog="python -m bench.pixels", description=__doc__)
    parser.add_argument("--only", nargs="+", default=list(STORIES), choices=list(STORIES))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a folder for pictures that differ")
    asked = parser.parse_args(arguments)
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=browser_path() or "chromium", args=DRAWN)
        one, other = (_pictures(browser, asked.only, asked.seed) for _ in range(2))
        page = browser.new_page()
        differ = 0
        for name in one:
            found = _difference(page, one[name], other[name])
            differ += found["count"] > 0
            print(f"{name:20} {_said(found)}")
            if found["count"] and asked.keep:
                asked.keep.mkdir(parents=True, exist_ok=True)
                for half, picture in (("a", one[name]), ("b", other[name])):
                    (asked.keep / f"{name.replace(' ', '-')}-{half}.png").write_bytes(picture)
        browser.close()
    print(f"{len(one) - differ} of {len(one)} pictures are the same twice")
    return 1 if differ else 0


def _pictures(browser: Browser, stories: list[str], seed: int) -> dict[str, bytes]:
    """Of each story its pictures, by "story 1" to "story 4", from a new demo."""
    found: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as folder, _signed_in(browser, Path(folder)) as page:
        for story in stories:
            page.goto(f"/demo/stage?story={story}&seed={seed}")
            expect(page.get_by_role("button", name="Step", exact=True)).to_be_enabled()
            steps = len(STORIES[story].steps)
            moments = {-(-steps * part // PARTS): part for part in range(1, PARTS + 1)}
            for step in range(1, steps + 1):
                _step(page, step)
                if step in moments:
                    found[f"{story} {moments[step]}"] = _still(page)
            page.get_by_role("button", name="End", exact=True).click()
            print(".", end="", flush=True)
    print()
    return found


@contextmanager
def _signed_in(browser: Browser, folder: Path) -> Iterator[Page]:
    """A manager of a new demo."""
    with running(folder / "instance", stumbles=True) as demo:
        context = browser.new_context(viewport=SIZE, base_url=demo.url, reduced_motion="reduce")
        context.set_default_timeout(WAIT_MS)
        page = context.new_page()
        _sign_in(page, demo)
        yield page
        context.close()


def _sign_in(page: Page, demo: Running) -> None:
    page.goto("/sign-in")
    page.get_by_label("Name").fill(demo.name)
    page.get_by_label("Password", exact=True).fill(demo.password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/")


def _step(page: Page, number: int) -> None:
    """Press Step, and wait until it was taken. Raises RuntimeError where the story stopped."""
    page.get_by_role("button", name="Step", exact=True).click()
    expect(page.locator("[data-title-step]")).to_contain_text(f"{number} / ", timeout=WAIT_MS)
    expect(page.locator("[data-play-words]")).to_have_text("Play", timeout=WAIT_MS)
    if not page.locator("[data-title]").is_visible():
        raise RuntimeError(f"step {number}: {page.locator('[data-said]').inner_text()}")


def _still(page: Page) -> bytes:
    """A picture of the stage, once it no longer changes."""
    page.mouse.move(0, 0)
    ends, before, since = time.monotonic() + CHANGES_S, b"", time.monotonic()
    while time.monotonic() < ends:
        now = page.screenshot(animations="disabled", caret="hide")
        if now != before:
            before, since = now, time.monotonic()
        elif time.monotonic() - since > STILL_S:
            break
    return before


def _difference(page: Page, one: bytes, other: bytes) -> dict[str, Any]:
    if one == other:
        return {"count": 0}
    data = [f"data:image/png;base64,{base64.b64encode(each).decode()}" for each in (one, other)]
    found: dict[str, Any] = page.evaluate(COMPARED, data)
    return found


def _said(found: dict[str, Any]) -> str:
    if not found["count"]:
        return "the same"
    return "{count} pixels differ, from {left},{top} to {right},{bottom}".format(**found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
