"""`python -m bench.stories`: every story of the demo to its end, by each way and each kept seed.

A story must end as it says with seeds 1 to 3: stepped, played at 20 and at 60 times the speed, and
played while a second window of the same person plays it too and loads its page anew. No order may
be made twice. With `--times 20` each is stepped so often, and must have the same cast and the same
facts each time. The tests of each change step one seed alone; this is the long form, by hand.
"""

import argparse
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from ridedash.demo.stories import STORIES
from tests.demo import sameness
from tests.demo.presenter import OVER, Presenter
from tests.running import running

WAYS: Final = {"step": 0, "20x": 20, "60x": 60, "twice": 60}  # the speed of the clock
SEEDS: Final = (1, 2, 3)
AGAIN_S: Final = 0.1
PATIENCE_S: Final = 300.0

Same = dict[tuple[str, int], tuple[object, str]]  # cast and facts, by story and seed


def main(arguments: list[str]) -> int:
    """Play what is asked for, and print a line for each. 1 if one did not end as it says."""
    parser = argparse.ArgumentParser(prog="python -m bench.stories", description=__doc__)
    parser.add_argument("--only", nargs="+", default=list(STORIES), choices=list(STORIES))
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=list(WAYS))
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS)
    parser.add_argument("--programs", type=int, default=2, help="demos that run side by side")
    parser.add_argument("--times", type=int, default=1, help="that each story is stepped")
    asked = parser.parse_args(arguments)
    began = time.monotonic()
    shares = [asked.only[number :: asked.programs] for number in range(asked.programs)]
    with ThreadPoolExecutor(asked.programs) as pool:
        done = pool.map(lambda names: _share(names, asked), shares)
        failed = sum(done)
    print(f"{failed} failed, {time.monotonic() - began:.0f} s")
    return 1 if failed else 0


def _share(names: list[str], asked: argparse.Namespace) -> int:
    """Play some stories in one program. How many did not end as they say."""
    failed, same = 0, Same()
    with tempfile.TemporaryDirectory() as folder, running(Path(folder), stumbles=True) as demo:
        windows = Presenter(demo), Presenter(demo)
        for name in names:
            for way in asked.ways:
                for seed in list(asked.seeds) * (asked.times if way == "step" else 1):
                    failed += not _ends_well(windows, name, way, seed, same)
        for window in windows:
            window.http.close()
    return failed


def _ends_well(
    windows: tuple[Presenter, Presenter], name: str, way: str, seed: int, same: Same
) -> bool:
    began = time.monotonic()
    moment = _played(windows if way == "twice" else windows[:1], name, WAYS[way], seed)
    wrong = [words for words, holds in moment["lines"] if not holds]
    references = [each["merchant_txn_id"] for each in windows[0].bookings()]
    if len(set(references)) != len(references):
        wrong.append("an order was made twice")
    if way == "step":
        cast, told = sameness.cast(windows[0].demo), sameness.told(windows[0].demo)
        first_cast, first_told = same.setdefault((name, seed), (cast, told))
        wrong += ["another cast"] if cast != first_cast else []
        wrong += ["other facts"] if told != first_told else []
    good = moment["state"] == "ended" and not wrong
    took = f"{time.monotonic() - began:6.1f} s"
    print(f"{name:16} {way:6} {seed} {took} {'ok' if good else 'FAILS'}", flush=True)
    if not good:
        print(f"    {moment['state']} at {moment['step']}: {moment['why']} {wrong}", flush=True)
    return good


def _played(windows: tuple[Presenter, ...], name: str, speed: int, seed: int) -> dict[str, Any]:
    """The last moment. With two windows both press, and one of them loads its page in between."""
    moment, end = windows[0].begin(name, seed), time.monotonic() + PATIENCE_S
    with ThreadPoolExecutor(len(windows)) as pool:
        while moment["state"] not in OVER and time.monotonic() < end:
            now = moment
            pressed = [pool.submit(window.step, now, speed) for window in windows]
            moment = [each.result() for each in pressed][-1]
            if len(windows) > 1:
                moment = windows[0].at(moment["run"])
            if moment["again_s"]:
                time.sleep(AGAIN_S)
    return moment


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
