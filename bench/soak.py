"""`python -m bench.soak --minutes 60`: the memory of the whole program with rides kept alive."""

import argparse
import itertools
import json
import os
import signal
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import linear_regression, median, quantiles
from typing import Any, Final

from sqlalchemy import func, select

from bench import frame
from bench.people import Desk, Tally
from bench.processes import use
from bench.program import Program, program
from bench.table import commit, machine
from ridedash.store.orders import Order, Ride

SAMPLE_S: Final = 30.0
WARM_MINUTES: Final = 10.0
MB_AN_HOUR: Final = 1.0
WAITING: Final = 20  # pages that may wait to be requested
WATCHED: Final = ("web", "worker")  # the sandbox is reported, not judged
LATE_S: Final = 5.0  # the most that the median sample's earliest poll may be late


@dataclass(frozen=True)
class Options:
    """The options of the soak."""

    minutes: float
    rides: int
    pages: float
    pace: float
    seed: int
    warm: float


class Soak:
    """Rides kept alive and pages requested, with a sample of every process each half minute."""

    def __init__(self, running: Program, options: Options, file: Path | None) -> None:
        self.running, self.options, self.file, self.began = running, options, file, time.monotonic()
        self.commit, self.tally = commit(), Tally()
        self.desks = [
            Desk(running.url, name, self.tally, options.seed + n)
            for n, name in enumerate(running.desks)
        ]
        self.desk_cycle, self.numbers = itertools.cycle(self.desks), itertools.count(1)
        self.samples: list[dict[str, Any]] = []
        self.alive: list[int] = []
        self.waiting: list[Future[None]] = []  # pages and bookings whose end is not read yet
        self.booked = 0

    def run(self, stop: threading.Event) -> None:
        """Request pages and book rides until the time is over or `stop` is set."""
        end, pause = self.began + self.options.minutes * 60, 1 / self.options.pages
        with ThreadPoolExecutor(4) as pool:
            for n in itertools.count():
                due = self.began + n * pause
                if due >= end or stop.wait(max(0.0, due - time.monotonic())):
                    break
                # On a busy machine, requests that can't be sent now are dropped.
                if pool._work_queue.qsize() < WAITING:
                    desk, ride = next(self.desk_cycle), self._some_ride(n)
                    self.waiting.append(pool.submit(desk.look, ride))
                    if n % max(1, round(self.options.pages)) == 0:
                        self.waiting.append(pool.submit(self._each_second))
                if due - self.began >= len(self.samples) * SAMPLE_S:
                    self._sample()

    def _some_ride(self, n: int) -> int | None:
        return self.alive[n % len(self.alive)] if self.alive else None

    def _each_second(self) -> None:
        with self.running.services.db.read() as s:
            self.alive = list(
                s.scalars(
                    select(Ride.order_id).where(
                        Ride.ended_at.is_(None), Ride.next_poll_at.is_not(None)
                    )
                )
            )
        if len(self.alive) < self.options.rides:
            self.booked += next(self.desk_cycle).book(next(self.numbers))

    def _read_ended(self) -> None:
        """Count pages and bookings that ended with an exception as wrong."""
        ended = [each for each in self.waiting if each.done()]
        self.waiting = [each for each in self.waiting if each not in ended]
        for error in filter(None, (each.exception() for each in ended)):
            name = type(error).__name__
            self.tally.wrong[name] = self.tally.wrong.get(name, 0) + 1

    def _sample(self) -> None:
        """Store a sample. Raises RuntimeError if a process has ended."""
        self._read_ended()
        took, self.tally.took = self.tally.took, []
        database = self.running.database
        uses = {name: use(pid) for name, pid in self.running.pids.items()}
        if gone := [name for name, found in uses.items() if not found.rss_mb]:
            raise RuntimeError(f"ended by itself: {', '.join(gone)}")
        self.samples.append(
            {
                "minute": round((time.monotonic() - self.began) / 60, 2),
                "alive": len(self.alive),
                "booked": self.booked,
                "late_s": self._late_s(),
                "pages": len(took),
                "page_ms": [round(each, 1) for each in (median(took), quantiles(took, n=100)[98])]
                if len(took) > 2
                else [],
                "database_mb": round(database.stat().st_size / 2**20, 1) if database else None,
                **{name: asdict(found) for name, found in uses.items()},
            }
        )
        print(json.dumps(self.samples[-1]), flush=True)
        self.keep()

    def _late_s(self) -> float | None:
        """The seconds since the earliest due poll; negative if none is due, None without rides."""
        with self.running.services.db.read() as s:
            due = s.scalar(select(func.min(Ride.next_poll_at)))
        return (
            None if due is None else round((self.running.services.clock() - due).total_seconds(), 2)
        )

    def keep(self) -> dict[str, Any]:
        """The results so far, written to the file too: a soak that is stopped keeps its results."""
        with self.running.services.db.read() as s:
            orders = (
                s.execute(select(Order.state, func.count()).group_by(Order.state)).tuples().all()
            )
        report = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "commit": self.commit,
            "machine": machine(),
            "asked": asdict(self.options),
            "database": self.running.services.db.engine.dialect.name,
            "verdict": verdict(self.samples, self.options, self.tally.wrong),
            "orders": dict(orders),
            "wrong": self.tally.wrong,
            "samples": self.samples,
        }
        if self.file:
            self.file.write_text(json.dumps(report, indent=1) + "\n")
        return report


def verdict(
    samples: list[dict[str, Any]], options: Options, wrong: dict[str, int]
) -> dict[str, Any]:
    """The growth of each process, and whether memory and descriptors of web and worker are flat.

    The growth, in megabytes and descriptors an hour, is fitted by least squares after the warm-up.
    `flat` is None when there are too few samples. `worked`: no answer was wrong, half the rides
    were alive, and polls were made: memory of a program that does nothing is flat too.
    """
    after = [sample for sample in samples if sample["minute"] >= options.warm]
    if len(after) < 5:
        return {"flat": None, "worked": None, "why": "too short to tell"}
    alive = median(sample["alive"] for sample in after)
    late_s = median(sample["late_s"] or 0.0 for sample in after)
    worked = not wrong and alive >= options.rides / 2 and late_s <= LATE_S
    found: dict[str, Any] = {"worked": worked, "alive": alive, "late_s": late_s}
    for name in ("web", "worker", "sandbox"):
        hours = [sample["minute"] / 60 for sample in after]
        slope = linear_regression(hours, [sample[name]["rss_mb"] for sample in after]).slope
        files = [sample[name]["descriptors"] for sample in after]
        found[name] = {
            "mb_an_hour": round(slope, 2),
            "rss_mb": [round(after[0][name]["rss_mb"], 1), round(after[-1][name]["rss_mb"], 1)],
            "descriptors": [min(files), max(files)],
            "descriptors_an_hour": round(linear_regression(hours, files).slope, 2),
        }
    flat = all(
        found[n]["mb_an_hour"] < MB_AN_HOUR and found[n]["descriptors_an_hour"] < 1 for n in WATCHED
    )
    return {"flat": flat, **found}


def main() -> int:
    """Run, print and store the soak.

    Returns 0 only if memory and descriptors were flat, and the program worked.
    """
    parser = argparse.ArgumentParser("python -m bench.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rides", type=int, default=300, help="rides kept alive")
    parser.add_argument("--pages", type=float, default=10, help="pages a second")
    parser.add_argument("--pace", type=float, default=1, help="of the service's clock")
    parser.add_argument(
        "--database", help="URL of an empty database; SQLite in a temporary folder without it"
    )
    parser.add_argument("--json", type=Path, help="keep samples and verdict in this file")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    warm = min(WARM_MINUTES, given.minutes / 3)
    options = Options(given.minutes, given.rides, given.pages, given.pace, given.seed, warm)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    os.nice(5)
    with frame.folder() as folder, program(folder, given.database, given.pace) as running:
        soak = Soak(running, options, given.json)
        soak.run(stop)
        report = soak.keep()
        print(json.dumps({k: v for k, v in report.items() if k != "samples"}, indent=1))
    return 0 if report["verdict"]["flat"] and report["verdict"]["worked"] else 1


if __name__ == "__main__":
    sys.exit(main())
