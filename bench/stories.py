"""`python -m bench.stories`: plays every story of the demo to its end, in four ways.

A story must end as it says with each of the seeds 1 to 3: stepped, played at 20 and at 60 times the
speed, and played while a second window of the same person plays it too and loads its page again. No
order may be made twice, every call in the lens must belong to a ride, and all plays of a story with
the same seed must have the same cast. With `--times 10` each story is stepped ten times with each
seed, and must have the same facts each time. Hashes of the facts, one for each story and seed, are
printed at the end; they must be the same on SQLite and on PostgreSQL
(RIDEDASH_TEST_DATABASE=postgresql). This long form is run by hand: the tests only step each story
with one seed.

Most time is spent waiting, for the service's clock and for an outage of a minute. So several
programs play side by side, and the longest plays begin first.
"""

import argparse
import re
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final, NamedTuple

from ridedash.demo.stories import STORIES
from tests import databases
from tests.demo import sameness
from tests.demo.presenter import OVER, Presenter
from tests.running import Running, running

SPEEDS: Final = {"step": 0, "20x": 20, "60x": 60, "twice": 60}  # the speed of the clock
SEEDS: Final = (1, 2, 3)
PROGRAMS: Final = 12  # they wait far more than they compute
AGAIN_S: Final = 0.1
PATIENCE_S: Final = 400.0
# the option with which presenters start a demo; it makes the sandbox read its places at once
WARMED: Final = ("--demo-stage",)
OUTAGE: Final = "down"
OUTAGE_S: Final = 80.0
RIDE_S: Final = 1500.0  # about how long a story lasts by the service's clock


class Play(NamedTuple):
    """A story that is to be played."""

    story: str
    speed_name: str
    seed: int

    @property
    def seconds(self) -> float:
        """About how long the play takes."""
        speed = SPEEDS[self.speed_name]
        runs = RIDE_S / speed if speed else 10.0
        return OUTAGE_S if self.story == OUTAGE else runs


@dataclass
class Same:
    """The cast and the facts of the first play of each story and seed."""

    casts: dict[tuple[str, int], Any] = field(default_factory=dict)
    facts: dict[tuple[str, int], Any] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def differs(self, play: Play, demo: Running) -> list[str]:
        """How a play differs from the first play of the same story and seed."""
        key, wrong = (play.story, play.seed), []
        cast, facts = sameness.cast(demo), sameness.named(sameness.facts(demo))
        with self.lock:
            first = self.casts.setdefault(key, cast)
            if other := sameness.difference(first, cast):
                wrong.append(f"another cast: {other}")
            if play.speed_name == "step":
                first = self.facts.setdefault(key, facts)
                if other := sameness.difference(first, facts):
                    wrong.append(f"other facts: {other}")
        return wrong


def main(arguments: list[str]) -> int:
    """Play the chosen stories, and print a line for each play. Returns 1 if one went wrong."""
    parser = argparse.ArgumentParser(prog="python -m bench.stories", description=__doc__)
    parser.add_argument("--only", nargs="+", default=list(STORIES), choices=list(STORIES))
    parser.add_argument("--ways", nargs="+", default=list(SPEEDS), choices=list(SPEEDS))
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS)
    parser.add_argument("--programs", type=int, default=PROGRAMS, help="that run side by side")
    parser.add_argument("--times", type=int, default=1, help="that each story is stepped")
    options = parser.parse_args(arguments)
    began, same, waiting = time.monotonic(), Same(), SimpleQueue[Play]()
    plays = [
        Play(story, speed_name, seed)
        for story in options.only
        for speed_name in options.ways
        # "20x" would be as "60x": its outage is in real time at any speed
        if (story, speed_name) != (OUTAGE, "20x")
        for seed in list(options.seeds) * (options.times if speed_name == "step" else 1)
    ]
    for play in sorted(plays, key=lambda each: -each.seconds):
        waiting.put(play)
    programs = min(options.programs, len(plays))
    if databases.kind() == databases.POSTGRESQL:
        databases.shared_postgres()  # one server, started before the programs ask for it at once
    with ThreadPoolExecutor(programs) as pool:
        failed = sum(pool.map(lambda _: _program(waiting, same), range(programs)))
    for (story, seed), facts in sorted(same.facts.items()):
        print(f"{story:16} {seed} {sameness.digest(facts)[:16]}")
    print(f"{len(plays)} plays, {failed} failed, {time.monotonic() - began:.0f} s")
    return 1 if failed else 0


def _program(waiting: "SimpleQueue[Play]", same: Same) -> int:
    """Play waiting plays in one program, until none is left. Returns how many went wrong.

    A program that has logged a traceback counts as one more.
    """
    failed = 0
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder), stumbles=True, options=WARMED) as demo,
    ):
        windows = Presenter(demo), Presenter(demo)
        while (play := _next(waiting)) is not None:
            failed += not _ends_well(windows, play, same)
        for window in windows:
            window.http.close()
        if demo.has_broken:
            print((demo.instance / "stderr.log").read_text()[-3000:], file=sys.stderr)
            failed += 1
    return failed


def _next(waiting: "SimpleQueue[Play]") -> Play | None:
    with suppress(Empty):
        return waiting.get_nowait()
    return None


def _ends_well(windows: tuple[Presenter, Presenter], play: Play, same: Same) -> bool:
    began, demo = time.monotonic(), windows[0].demo
    try:
        run = _played(windows if play.speed_name == "twice" else windows[:1], play)
    except AssertionError as error:  # the program refused a press; the other plays go on
        print(f"{play.story:16} {play.speed_name:6} {play.seed} FAILS\n    {error}", flush=True)
        return False
    wrong = [words for words, holds in run["lines"] if not holds]
    references = [each["merchant_txn_id"] for each in windows[0].bookings()]
    if len(set(references)) != len(references):
        wrong.append("an order was made twice")
    wrong += [f"of no ride: {each}" for each in windows[0].orphans(play.story)]
    has_ended = run["state"] == "ended"
    if has_ended and not run["lines"]:
        wrong.append("it ended and says nothing of its end")
    if has_ended:  # otherwise the lens may have no file, because no call was made
        wrong += same.differs(play, demo)
    counted = [words for words, _ in run["lines"] if "outage" in words]
    if play.story == OUTAGE and has_ended:
        calls = sameness.calls_in_vain(demo)
        if str(calls) not in _numbers(counted):
            wrong.append(f"the lens has {calls} calls in vain")
    good = has_ended and not wrong
    took = f"{time.monotonic() - began:6.1f} s"
    parts = [
        f"{play.story:16} {play.speed_name:6} {play.seed} {took}",
        "ok" if good else "FAILS",
        *counted,
    ]
    if not good:
        parts.append(f"\n    {run['state']} at {run['step']}: {run['why']} {wrong}")
    print(*parts, flush=True)
    return good


def _numbers(words: list[str]) -> list[str]:
    return re.findall(r"\d+", words[0]) if words else []


def _played(windows: tuple[Presenter, ...], play: Play) -> dict[str, Any]:
    """Play to the last moment. Two windows both press, and one loads its page in between."""
    speed, end = SPEEDS[play.speed_name], time.monotonic() + PATIENCE_S
    run = windows[0].begin(play.story, play.seed)
    with ThreadPoolExecutor(len(windows)) as pool:
        while run["state"] not in OVER and time.monotonic() < end:
            now = run
            pressed = [pool.submit(window.step, now, speed) for window in windows]
            run = [each.result() for each in pressed][-1]
            if len(windows) > 1:
                run = windows[0].at(run["run"])
            if run["again_s"]:
                time.sleep(AGAIN_S)
    return run


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
