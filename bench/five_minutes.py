"""`python -m bench.five_minutes`: plays the five minutes in a browser, and measures silences.

The stage plays by itself, at its own pace. A silence is a time in which neither the sentence nor
what the story shows changes: the words below the screens, the rows of the board, the screen of the
kiosk, the headline of the phone, a field that is being typed into. From Play to the end card it may
take LIMIT_S, and no silence may be longer than SILENCE_S. `--pictures FOLDER` keeps one picture for
each sentence. Run it on a quiet machine: it is no test, because it measures time.
"""

import argparse
import re
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Page, sync_playwright

from tests.conftest import LAUNCH, browser_path
from tests.running import running

LIMIT_S: Final = 300.0
SILENCE_S: Final = 8.0
LOOK_MS: Final = 200
PATIENCE_S: Final = 600.0
BEGINS_S: Final = 10.0  # how long the old rides may take to be deleted
SIZE: Final = {"width": 1440, "height": 900}
# what the audience sees of the story; ages and the clock are left out, because they always change
SEEN: Final = """() => {
  const page = (name) => document.querySelector(`iframe[name=${name}]`)?.contentDocument;
  const texts = (root, selector) =>
    [...(root?.querySelectorAll(selector) ?? [])].map((each) => each.value ?? each.textContent);
  const lines = "[data-said], [data-told], [data-waits-words], [data-card='end']:not([hidden])";
  const said = document.querySelector("[data-said]").textContent;
  return [said, JSON.stringify([
    texts(document, lines),
    texts(page("desk"), ".row-link, #book input, .plate, [data-lens-origin]"),
    texts(page("kiosk"), "h1, h2, input, .k-key[aria-pressed], [data-screen]"),
    page("kiosk")?.body?.dataset.screen,
    texts(page("phone"), "h1, h2, .plate"),
  ]), Boolean(document.querySelector("[data-card='end']:not([hidden])")),
    document.querySelector(".stage-play.is-playing") !== null];
}"""


def main(arguments: list[str]) -> int:
    """Play once, and print each sentence with its time. Returns 1 if it took or paused too long."""
    parser = argparse.ArgumentParser(prog="python -m bench.five_minutes", description=__doc__)
    parser.add_argument("--pictures", type=Path, help="folder for a picture of each sentence")
    options = parser.parse_args(arguments)
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder), options=("--demo-stage",)) as demo,
        sync_playwright() as started,
    ):
        browser = started.chromium.launch(executable_path=browser_path(), args=LAUNCH)
        page = browser.new_page(viewport=SIZE, base_url=demo.url)
        changes, ended = played(page, options.pictures)
        browser.close()
    return judged(changes, ended)


def played(page: Page, pictures: Path | None) -> tuple[list[tuple[float, str]], bool]:
    """Sign in, press Play, and note each change as (seconds, sentence), until the end card."""
    page.goto("/demo/stage")
    page.get_by_role("button", name="Sign in").click()
    page.locator("[data-card=title] [data-card-play]").click(timeout=60_000)
    began = time.monotonic()
    changes: list[tuple[float, str]] = []
    before: Any = None
    ended = False
    plays = True
    while plays and not ended and time.monotonic() - began < PATIENCE_S:
        said, seen, ended, plays = page.evaluate(SEEN)
        plays = plays or not changes or time.monotonic() - began < BEGINS_S
        if seen != before:
            changes.append((time.monotonic() - began, said))
            if pictures and (len(changes) < 2 or changes[-2][1] != said):
                name = re.sub(r"\W+", "-", said)[:40]
                page.screenshot(path=pictures / f"{len(changes):04}-{name}.png")
        before = seen
        page.wait_for_timeout(LOOK_MS)
    return changes, ended


def judged(changes: list[tuple[float, str]], ended: bool) -> int:
    """Print the sentences and the silences."""
    said = ""
    for at, words in changes:
        if words != said:
            print(f"{at:6.1f}  {words}")
        said = words
    silences = [(after - at, at, words) for (at, words), (after, _) in pairwise(changes)]
    length = changes[-1][0]
    print(f"\n{length:.1f} s in all (at most {LIMIT_S:.0f}); the longest silences:")
    for seconds, at, words in sorted(silences, reverse=True)[:5]:
        print(f"  {seconds:4.1f} s from {at:6.1f}: {words}")
    too_long = max(seconds for seconds, *_ in silences) > SILENCE_S
    return 0 if ended and length <= LIMIT_S and not too_long else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
