"""Delays of polls, with one or several worker processes on one database."""

import math
import multiprocessing
import time
from collections.abc import Callable
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path

from sqlalchemy import select, update

from bench.fake_tracking import fake_tracking
from bench.worker_loop import warm_up
from bench.worker_rig import clock, fill, resident_mb, running, worker_on
from ridedash.rides.tracking.poll import Tracker
from ridedash.rides.tracking.record import Polled
from ridedash.store.database.database import Database
from ridedash.store.models.orders import Ride

# The mean time between two polls of a fake ride: two kinds every four seconds, one every five.
INTERVAL_S = 30 / 7
SETTLED_S = 4.0  # time until connections are open and the worker has a steady rate
LATE_S = 0.5
KEPT = 0.95  # the least part of the due polls that must be made, for a lateness to count


class Measured:
    """Records for each poll how long after its due time it began."""

    def __init__(self, tracker: Tracker) -> None:
        self._ask: Callable[..., Polled] = tracker.ask
        self.late: list[float] = []

    def __call__(self, claim: object) -> Polled:
        """Poll, and record the delay."""
        row = claim.row  # type: ignore[attr-defined]
        self.late.append((clock() - row.next_poll_at).total_seconds())
        return self._ask(claim)


def _work(url: str, service: str, folder: str, seconds: float, parent: Connection) -> None:
    db = Database(url)
    with worker_on(db, service, Path(folder), pace=1.0) as worker:
        worker.tracker.ask = measured = Measured(worker.tracker)  # type: ignore[method-assign,assignment]
        parent.send(True)
        parent.recv()
        with running(worker):
            time.sleep(SETTLED_S)
            measured.late, before = [], time.process_time()
            time.sleep(seconds)
            late, spent = measured.late, time.process_time() - before
        parent.send((late, spent, resident_mb()))
    db.close()


def lateness(
    url: str, folder: Path, *, workers: int, required: float, seconds: float = 10.0
) -> dict[str, float]:
    """Delays in seconds (median, p99), polls a second (due, done), cores and megabytes used.

    The p99 is infinite if fewer than KEPT of the due polls were made.
    `required` polls a second are due, evenly from the start on; the first seconds are not counted.
    """
    rides = round(required * INTERVAL_S)
    with fake_tracking() as service:
        db = Database(url)
        db.upgrade()
        fill(db, rides)
        warm_up(db, service, folder)
        found = _together(db, service, folder, workers, seconds)
        db.close()
    late = sorted(each for lates, _, _ in found for each in lates) or [math.inf]
    # polls that were not made at all are in no list: they count as never
    kept = len(late) >= KEPT * required * seconds
    return {
        "asked": required,
        "done": len(late) / seconds,
        "median_s": late[len(late) // 2],
        "p99_s": late[int(len(late) * 0.99)] if kept else math.inf,
        "cores": sum(spent for _, spent, _ in found) / seconds,
        "megabytes": max(memory for _, _, memory in found),
    }


def highest(
    measure: Callable[[float], dict[str, float]], required: float
) -> tuple[dict[str, float], float]:
    """The result at the required rate, and the highest rate at which polls were on time.

    The latter is the required rate, a part of it, or 0 if polls were late at all rates tried.
    """
    first = measure(required)
    reached, found = required, first
    while found["p99_s"] > LATE_S and reached > required / 10:
        reached *= 0.7
        found = measure(reached)
    return first, reached if found["p99_s"] <= LATE_S else 0.0


def _together(
    db: Database, service: str, folder: Path, workers: int, seconds: float
) -> list[tuple[list[float], float, float]]:
    context = multiprocessing.get_context("spawn")
    ends = []
    for number in range(workers):
        ours, theirs = context.Pipe()
        place = str(folder / f"worker-{number}")
        process = context.Process(
            target=_work, args=(db.url, service, place, seconds, theirs), daemon=True
        )
        process.start()
        theirs.close()  # so that recv() raises EOFError if the process ends early
        ends.append((process, ours))
    for _, line in ends:
        line.recv()
    _spread(db)
    for _, line in ends:
        line.send(True)
    found = [line.recv() for _, line in ends]
    for process, _ in ends:
        process.join()
        if process.exitcode:
            raise RuntimeError(f"a worker ended with code {process.exitcode}")
    return found


def _spread(db: Database) -> None:
    """Spread the due times of all rides evenly over one interval from now on."""
    now = clock()
    with db.write() as s:
        ids = s.scalars(select(Ride.id)).all()
        # ends the leases of rides that the warm-up had claimed and not polled
        free = {"lease_until": None, "owner": None}
        step = timedelta(seconds=INTERVAL_S) / len(ids)
        due = [{"id": n, "next_poll_at": now + step * i} | free for i, n in enumerate(ids)]
        s.execute(update(Ride), due)


if __name__ == "__main__":
    import sys
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as made:
        given = sys.argv[2] if len(sys.argv) > 2 else f"sqlite:///{made}/desk.sqlite"
        print(
            lateness(
                given,
                Path(made),
                workers=1,
                required=float(sys.argv[1]) if len(sys.argv) > 1 else 1000,
            )
        )
