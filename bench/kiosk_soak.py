"""`python -m bench.kiosk_soak --minutes 1440`: a day at the guest's kiosk, a visit every 2 minutes.

It starts the program, and one browser tab that is never closed. Of every five guests one books a
ride, one finds it again, one looks for a place by its letters, one walks away in the middle, and
one starts over in another language. Measured are the tab's memory, nodes and listeners after
garbage collection, whether each visit came back to the start screen, and how often the page was
loaded again, which may happen only after a new release or once a day.

The first visits are not compared: in them the browser compiles the code that runs often, and keeps
the result. Snapshots of the heap before and after 45 equal visits differed only by such code.
"""

import argparse
import itertools
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

from playwright.sync_api import Error as PlaywrightError

from bench import frame
from bench.kiosk_lobby import START_S, Guest, LobbyProgram, browser, lobby_program
from bench.processes import rss_mb
from bench.table import commit

GROWS: Final = 0.10  # the most that the tab's memory, nodes and listeners may grow
SHARE: Final = 5  # the first and the last fifth of the samples are compared
WARM: Final = 20  # visits until the browser has compiled all that it will
LEAST: Final = 10  # samples after the warm-up, for a verdict
COLLECTIONS: Final = 3  # in a row: the first may leave what its garbage still referred to
BACK_S: Final = 90.0  # after this time a screen that a guest left must be the start again
DAY_MINUTES: Final = 24 * 60
FOUND_OR_TOLD: Final = """() => document.body.dataset.screen === "ride" ||
  document.querySelector(".k-problem")?.textContent.trim()"""


@dataclass
class Soak:
    """One tab, its visits, and a sample after each."""

    program: LobbyProgram
    page: Any
    tools: Any
    began: float = field(default_factory=time.monotonic)
    samples: list[dict[str, float]] = field(default_factory=list)
    visits: dict[str, int] = field(default_factory=dict)
    finds: dict[str, int] = field(default_factory=dict)  # what those who looked for a ride saw
    stuck: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    loads: int = 0
    guests: int = 0
    ticket: tuple[str, str] = ("", "")

    @property
    def minutes(self) -> float:
        return (time.monotonic() - self.began) / 60

    def visit(self, number: int) -> None:
        """One guest, from the start screen to the start screen."""
        guest = Guest(self.page, self.program.url)
        name, act = self._kinds()[number % len(self._kinds())]
        try:
            act(guest)
            guest.wait("start", within_s=BACK_S)
            self.visits[name] = self.visits.get(name, 0) + 1
        except Exception as error:  # a stuck screen is a finding
            self.stuck.append(f"{name} at minute {self.minutes:.1f}: {error}"[:200] + self._left())
            print(self.stuck[-1], file=sys.stderr, flush=True)
            guest.open()
        self._sample()

    def _kinds(self) -> list[tuple[str, Callable[[Guest], None]]]:
        return [
            ("books", self._books),
            ("finds", self._finds),
            ("types", self._types),
            ("leaves", self._leaves),
            ("another language", self._another_language),
        ]

    def _books(self, guest: Guest) -> None:
        self.guests += 1
        guest.to_check("guest " + "".join(chr(ord("a") + int(d)) for d in str(self.guests)))
        guest.press("book")
        self.ticket = guest.ticket()
        guest.press("done")

    def _finds(self, guest: Guest) -> None:
        guest.find(*self.ticket)
        guest.press("next")
        guest.page.wait_for_function(FOUND_OR_TOLD, timeout=START_S * 1000)
        kind = "the ride" if guest.screen == "ride" else "words why not"
        self.finds[kind] = self.finds.get(kind, 0) + 1
        guest.press("bar-over")

    def _types(self, guest: Guest) -> None:
        guest.press("start", "other")
        guest.type("airp")
        guest.page.locator(".k-results [data-press]").first.wait_for()
        guest.press("aid-large", "aid-large", "bar-over")

    def _leaves(self, guest: Guest) -> None:
        """The guest walks away: after its idle time the kiosk asks, and 20 s later starts over."""
        guest.cars("place-1")

    def _another_language(self, guest: Guest) -> None:
        guest.press("lang-ar")
        guest.cars("place-2")
        guest.press("bar-language", "lang-ja", "bar-over")

    def _left(self) -> str:
        """What the screen shows where a visit got stuck."""
        try:
            words = self.page.locator("[data-stage]").inner_text()
            return f"; {Guest(self.page, self.program.url).screen} says {words[:100]!r}"
        except PlaywrightError as error:
            return f"; and nothing is shown: {error}"[:200]

    def _sample(self) -> None:
        for _ in range(COLLECTIONS):
            self.tools.send("HeapProfiler.collectGarbage")
        counted = self.tools.send("Memory.getDOMCounters")
        heap = self.tools.send("Runtime.getHeapUsage")
        sample = {
            "minute": round(self.minutes, 2),
            "heap_mb": heap["usedSize"] / 2**20,
            "nodes": counted["nodes"],
            "listeners": counted["jsEventListeners"],
            "tab_mb": self._tab_mb(),
        }
        self.samples.append(sample)
        print(json.dumps(sample | {"loads": self.loads, "stuck": len(self.stuck)}), flush=True)

    def _tab_mb(self) -> float:
        """Resident memory of the browser's largest renderer: there is one tab.

        Raises RuntimeError without a renderer: no memory would be no growth.
        """
        found = 0.0
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                command = (folder / "cmdline").read_bytes()
                if b"--type=renderer" in command and _ours(int(folder.name)):
                    found = max(found, rss_mb(int(folder.name)))
            except OSError:
                continue
        if not found:
            raise RuntimeError("no renderer of the browser was found")
        return round(found, 1)

    def results(self) -> dict[str, Any]:
        """The results, and the verdict on them."""
        grown = {name: self._growth(name) for name in ("heap_mb", "tab_mb", "nodes", "listeners")}
        usual = 1 + int(self.minutes // DAY_MINUTES)
        enough = len(self.samples) >= WARM + LEAST
        fine = all(each is not None and each <= GROWS for each in grown.values())
        good = fine and not self.stuck and not self.errors and self.loads <= usual
        verdict = "holds" if good else "does not hold"
        return {
            "commit": commit(),
            "minutes": round(self.minutes, 1),
            "visits": self.visits,
            "finds": self.finds,
            "grows": grown,
            "loads": self.loads,
            "stuck": self.stuck,
            "errors": self.errors,
            "verdict": verdict if enough else "too short to tell",
        }

    def _growth(self, name: str) -> float | None:
        """By how much the last samples are above the first ones, as a share."""
        warm = self.samples[WARM:]
        part = len(warm) // SHARE
        if not part:
            return None
        first, last = warm[:part], warm[-part:]
        began, ended = (median(each[name] for each in some) for some in (first, last))
        return round(ended / began - 1, 3) if began else None


def _ours(pid: int) -> bool:
    """Whether a process is a descendant of this one."""
    while pid > 1:
        if pid == os.getpid():
            return True
        status = (Path("/proc") / str(pid) / "status").read_text()
        pid = next(int(line.split()[1]) for line in status.splitlines() if "PPid" in line)
    return False


def main() -> int:
    """Run, print and keep the results. Returns 1 unless everything holds."""
    parser = argparse.ArgumentParser("python -m bench.kiosk_soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=DAY_MINUTES)
    parser.add_argument("--every", type=float, default=120.0, help="seconds from visit to visit")
    parser.add_argument("--json", type=Path, help="keep samples and verdict in this file")
    options = parser.parse_args()
    os.nice(5)
    with (
        frame.folder() as folder,
        lobby_program(folder) as place,
        browser(folder, place) as context,
    ):
        page = context.pages[0]
        soak = Soak(place, page, context.new_cdp_session(page))
        page.on("load", lambda _: setattr(soak, "loads", soak.loads + 1))
        page.on("pageerror", lambda error: soak.errors.append(str(error)[:200]))
        soak.tools.send("HeapProfiler.enable")
        Guest(page, place.url).open()
        try:
            _visits(soak, options.minutes, options.every)
        except KeyboardInterrupt:
            print("stopped", file=sys.stderr)
        results = soak.results()
    print(json.dumps(results, indent=1))
    if options.json:
        options.json.write_text(json.dumps(results | {"samples": soak.samples}, indent=1) + "\n")
    return 0 if results["verdict"] == "holds" else 1


def _visits(soak: Soak, minutes: float, every: float) -> None:
    """A visit every so many seconds, until the time is over."""
    for number in itertools.count():
        due = number * every
        if max(due, soak.minutes * 60) > minutes * 60:  # visits may last longer than `every`
            return
        rest = due - (time.monotonic() - soak.began)
        if rest > 0:
            soak.page.wait_for_timeout(rest * 1000)  # the page's events go on meanwhile
        soak.visit(number)


if __name__ == "__main__":
    sys.exit(main())
