"""The worker's loop against a plain httpx.Client loop with as many threads."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from bench.fake_tracking import fake_tracking
from bench.worker_rig import (
    APP_TOKEN,
    USER_TOKEN,
    booking_id,
    fill,
    resident_mb,
    running,
    worker_on,
)
from ridedash.rides.tracking.poll import Tracker
from ridedash.rides.tracking.record import Polled
from ridedash.service.hooks import Hooks
from ridedash.store.database.database import Database

THREADS = 8


SETTLED_S = 1.0  # time until connections are open and the worker has a steady rate


def bare_polls_per_second(url: str, polls: int = 2000, threads: int = THREADS) -> float:
    """How many answers a plain loop fetches and parses in a second of processor time."""
    headers = {"X-APP-TOKEN": APP_TOKEN, "Authorization": f"Bearer {USER_TOKEN}"}
    with httpx.Client(headers=headers, timeout=5) as client:

        def ask(number: int) -> None:
            params = {"booking_id": booking_id(number)}
            client.get(f"{url}/v1/bookings/track_ride", params=params).raise_for_status().json()

        def poll_range(first: int) -> None:
            for number in range(first, polls, threads):
                ask(number)

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(ask, range(10 * threads)))  # opens the connections, as in our loop
            before = time.process_time()
            list(pool.map(poll_range, range(threads)))
            return polls / (time.process_time() - before)


class Counted:
    """Counts the answers that a Tracker has recorded."""

    def __init__(self, tracker: Tracker) -> None:
        self._record: Callable[[Sequence[Polled]], int] = tracker.record
        self.count = 0

    def __call__(self, polled: Sequence[Polled]) -> int:
        """Record, and count."""
        recorded = self._record(polled)
        self.count += recorded
        return recorded


def polls_per_second(
    db: Database,
    url: str,
    folder: Path,
    seconds: float = 3.0,
    threads: int = THREADS,
    hooks: Hooks | None = None,
) -> float:
    """How many rides are claimed, polled, merged and recorded in a second of processor time.

    `db` holds more rides than can be polled in the time between two polls of one ride.
    """
    with worker_on(db, url, folder, threads=threads, hooks=hooks) as worker:
        worker.tracker.record = counted = Counted(worker.tracker)  # type: ignore[method-assign,assignment]
        with running(worker):
            time.sleep(SETTLED_S)
            began, before = counted.count, time.process_time()
            time.sleep(seconds)
            done, spent = counted.count - began, time.process_time() - before
    return done / spent


def warm_up(db: Database, url: str, folder: Path, hooks: Hooks | None = None) -> None:
    """Poll each ride once: a first answer is an event, and costs more than those that follow."""
    with worker_on(db, url, folder, threads=1, hooks=hooks) as worker:
        while claims := [each for each in worker.tracker.claim(200) if each.row.merged_seq == 0]:
            worker.tracker.record([worker.tracker.ask(claim) for claim in claims])


def compared(
    url: str, folder: Path, rides: int = 3000, repeats: int = 3
) -> list[tuple[float, float]]:
    """The results of both loops, in turns, on a database with this URL."""
    with fake_tracking() as service:
        db = Database(url)
        db.upgrade()
        fill(db, rides)
        warm_up(db, service, folder)
        pairs = []
        for number in range(repeats):
            baseline = bare_polls_per_second(service) if number % 2 else None
            ours = polls_per_second(db, service, folder)
            pairs.append((ours, baseline or bare_polls_per_second(service)))
        db.close()
    return pairs


if __name__ == "__main__":
    import sys
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as made:
        for ours, bare in compared(
            sys.argv[1] if len(sys.argv) > 1 else f"sqlite:///{made}/desk.sqlite", Path(made)
        ):
            print(
                f"{ours:6.0f} {bare:6.0f} {ours / bare:.2f}  threads {threading.active_count()} "
                f"{resident_mb():.0f} MB"
            )
