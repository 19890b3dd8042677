"""Rides kept on schedule: how late polls begin, with one or several worker processes on one database."""

import multiprocessing
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from bench.fake_tracking import fake_tracking
from bench.worker_loop import warm_up
from bench.worker_rig import clock, fill, polls_of, resident_mb, run_for, worker_on
from ridedash.rides.tracking import Polled, Tracker
from ridedash.store.db import Database

INTERVAL_S = 3.5  # between two polls of a ride of the fake's, on average


class Measured:
    """Notes for each poll how long after its due time it began."""

    def __init__(self, tracker: Tracker) -> None:
        self._ask: Callable[..., Polled] = tracker.ask
        self.late: list[float] = []

    def __call__(self, claim: object) -> Polled:
        """Ask, and note when."""
        row = claim.row  # type: ignore[attr-defined]
        self.late.append((clock() - row.next_poll_at).total_seconds())
        return self._ask(claim)


def _work(url: str, service: str, folder: str, seconds: float, told: Connection) -> None:
    db = Database(url)
    with worker_on(db, service, Path(folder), pace=1.0) as worker:
        worker.tracker.ask = measured = Measured(worker.tracker)  # type: ignore[method-assign,assignment]
        before = time.process_time()
        run_for(worker, seconds)
        told.send((measured.late, time.process_time() - before, resident_mb()))
    db.close()


def lateness(url: str, folder: Path, *, workers: int, asked: float, seconds: float = 10.0) -> dict[str, float]:
    """Seconds late (median, p99), polls a second that were asked for and were done, cores and megabytes used.

    `asked` polls a second are due; the first third of the time is for the start and is not counted.
    """
    rides = round(asked * INTERVAL_S)
    with fake_tracking() as service:
        db = Database(url)
        db.upgrade()
        fill(db, rides)
        warm_up(db, service, folder)
        before = polls_of(db)
        found = _together(url, service, folder, workers, seconds)
        done = polls_of(db) - before
        db.close()
    late = sorted(each for lates, _, _ in found for each in lates[len(lates) // 3 :])
    return {
        "asked": asked,
        "done": done / seconds,
        "median_s": late[len(late) // 2],
        "p99_s": late[int(len(late) * 0.99)],
        "cores": sum(spent for _, spent, _ in found) / seconds,
        "megabytes": max(memory for _, _, memory in found),
    }


def _together(
    url: str, service: str, folder: Path, workers: int, seconds: float
) -> list[tuple[list[float], float, float]]:
    context = multiprocessing.get_context("spawn")
    ends = []
    for number in range(workers):
        ours, theirs = context.Pipe(duplex=False)
        place = str(folder / f"worker-{number}")
        process = context.Process(target=_work, args=(url, service, place, seconds, theirs))
        process.start()
        ends.append((process, ours))
    found = [line.recv() for _, line in ends]
    for process, _ in ends:
        process.join()
    return found


if __name__ == "__main__":
    import sys
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as made:
        given = sys.argv[2] if len(sys.argv) > 2 else f"sqlite:///{made}/desk.sqlite"
        print(lateness(given, Path(made), workers=1, asked=float(sys.argv[1]) if len(sys.argv) > 1 else 1000))
