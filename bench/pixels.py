"""`python -m bench.pixels`: the stage at four moments of each story, twice, pixel by pixel.

Two new demos play each story with the same seed side by side, step by step. After a quarter, a
half, three quarters and all of the steps a picture of each stage is taken, once it no longer
changes. If the two differ, the area that differs is printed, and `--keep` stores both. This is run
by hand, because it takes minutes.

The pictures leave out what depends on real time, such as ages ("12 s ago") and how long an outcome
has been unknown, and the QR code of a ticket, whose address has the port. Maps are drawn in one
layer, because a layer that moves keeps the fraction of a pixel at which it was first drawn.
`bench.same_dice` makes the PINs of tickets and the partner references equal in both demos. Kiosks
are touched before each picture, because they clear their screens after some real time.

Pictures that differ are taken again: first after every part was drawn anew, then after the desk was
loaded anew too, which the printed line says. A marker on the map stays where it is while its cab
stands, so after a leap of the clock its place may depend on the order in which the polls came.
"""

import argparse
import base64
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

from ridedash.demo.stories import STORIES
from tests.conftest import LAUNCH, browser_path
from tests.running import Running, running

ROOT: Final = Path(__file__).parents[1]
DICE: Final = (sys.executable, "-m", "bench.same_dice")
SETTINGS: Final = {  # of both demos: PINs are derived from the secret key
    "PYTHONPATH": str(ROOT),
    "RIDEDASH_SECRET_KEY": "the same key for both halves of a picture",
}
LEFT_OUT: Final = """
.k-qr-box { visibility: hidden !important; }
[data-age], [data-age-line], [data-age-text], [data-freshness-text], [data-unknown-text],
.group-unknown [data-cell="timer"] { display: none !important; }
"""
PARTS: Final = 4  # pictures of a story, one after each quarter
TAKES: Final = 3  # attempts at a picture, until both halves are the same
LOADED_ANEW: Final = TAKES - 1  # the attempt with the desk loaded anew
WAIT_MS: Final = 200_000  # a story with an outage is long
STILL_S: Final = 1.5  # a picture that is the same for so long is taken
CHANGES_S: Final = 25.0  # a picture that still changes after so long is taken as it is
FLAT: Final = "window.L_DISABLE_3D = true"  # Leaflet then uses no transforms, so no layers
TOUCH: Final = "() => dispatchEvent(new KeyboardEvent('keydown', { key: 'Shift' }))"
# so wide that the desk is not scaled: in a scaled desk an edge may cover half a pixel, and the
# shade of such a pixel depends on when the browser draws it
SIZE: Final[ViewportSize] = {"width": 1600, "height": 900}
# a rounded corner that was redrawn in part differs by a shade from one that was drawn as a whole
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
    """Print a line for each picture. Returns 1 if the two halves of a picture differ."""
    parser = argparse.ArgumentParser(prog="python -m bench.pixels", description=__doc__)
    parser.add_argument("--only", nargs="+", default=list(STORIES), choices=list(STORIES))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a folder for pictures that differ")
    options = parser.parse_args(arguments)
    differ = count = 0
    with sync_playwright() as started, ExitStack() as stack:
        browser = started.chromium.launch(executable_path=browser_path() or "chromium", args=DRAWN)
        halves = [stack.enter_context(_signed_in(browser)) for _ in range(2)]
        judge = browser.new_page()
        for story in options.only:
            for name in _pictures(halves, story, options.seed):
                found = _compared(judge, halves, options.keep and options.keep / name)
                count, differ = count + 1, differ + (found["count"] > 0)
                print(f"{name:20} {_summary(found)}", flush=True)
        browser.close()
    print(f"{count - differ} of {count} pictures are the same twice")
    return 1 if differ else 0


def _pictures(halves: list[Page], story: str, seed: int) -> Iterator[str]:
    """Play a story on both stages. Yields "<story>-1" to "<story>-4", when a picture is due."""
    for page in halves:
        page.goto(f"/demo/stage?story={story}&seed={seed}")
        expect(page.locator("[data-step]")).to_be_enabled()
    steps = len(STORIES[story].steps)
    steps_shown = {-(-steps * part // PARTS): part for part in range(1, PARTS + 1)}
    for step in range(1, steps + 1):
        for page in halves:
            _step(page, step)
        if step in steps_shown:
            yield f"{story}-{steps_shown[step]}"
    for page in halves:
        page.get_by_role("button", name="End", exact=True).click()


def _compared(judge: Page, halves: list[Page], keep: Path | None) -> dict[str, Any]:
    """Compare two new pictures; take them again if they differ, and keep them if they still do."""
    for take in range(TAKES):
        if take == LOADED_ANEW:
            _loaded_anew(halves)
        if take:
            _drawn_anew(halves)
        _stay_at_kiosks(halves)
        one, other = (_still(page) for page in halves)
        found = _difference(judge, one, other) | {"anew": take == LOADED_ANEW}
        if not found["count"]:
            return found
    if keep:
        keep.parent.mkdir(parents=True, exist_ok=True)
        keep.with_name(f"{keep.name}-a.png").write_bytes(one)
        keep.with_name(f"{keep.name}-b.png").write_bytes(other)
    return found


def _drawn_anew(halves: list[Page]) -> None:
    """Let the browser draw every part of both stages anew: at pixel density 2, then again at 1.

    Otherwise the parts of a stage stay as they were drawn at different times, and where a scaled
    frame covers half a pixel, two such drawings may differ by a shade.
    """
    for page in halves:
        line = page.context.new_cdp_session(page)
        for density in (2, 1):
            line.send(
                "Emulation.setDeviceMetricsOverride",
                {**SIZE, "deviceScaleFactor": density, "mobile": False},
            )
            page.screenshot()
        line.detach()


def _loaded_anew(halves: list[Page]) -> None:
    for page in halves:
        frame = page.frame("desk")
        assert frame is not None, "each stage has a desk"
        with page.expect_event("framenavigated", lambda each, mine=frame: each == mine):
            frame.evaluate("location.reload()")
        frame.wait_for_load_state("load")


def _stay_at_kiosks(halves: list[Page]) -> None:
    """Touch the kiosks, as guests who are still there."""
    for frame in (page.frame("kiosk") for page in halves):
        if frame is not None and frame.url.endswith("/kiosk"):
            frame.evaluate(TOUCH)


@contextmanager
def _signed_in(browser: Browser) -> Iterator[Page]:
    """Start a new demo. Yields a page on which its manager is signed in."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder) / "instance", command=DICE, stumbles=True, **SETTINGS) as demo,
    ):
        context = browser.new_context(
            viewport=SIZE, base_url=demo.url, reduced_motion="reduce", bypass_csp=True
        )
        context.set_default_timeout(WAIT_MS)
        context.add_init_script(FLAT)
        page = context.new_page()
        _sign_in(page, demo)
        yield page
        context.close()
        if demo.has_broken:
            raise RuntimeError((demo.instance / "stderr.log").read_text()[-3000:])


def _sign_in(page: Page, demo: Running) -> None:
    page.goto("/sign-in")
    page.get_by_label("Name").fill(demo.name)
    page.get_by_label("Password", exact=True).fill(demo.password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/")


def _step(page: Page, number: int) -> None:
    """Press Step and wait for the end of the step. Raises RuntimeError if the story stopped."""
    page.locator(".stage-more > summary").click()
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
        now = page.screenshot(animations="disabled", caret="hide", style=LEFT_OUT)
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


def _summary(found: dict[str, Any]) -> str:
    if not found["count"]:
        return "the same, the desk loaded anew" if found["anew"] else "the same"
    return "{count} pixels differ, from {left},{top} to {right},{bottom}".format(**found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
