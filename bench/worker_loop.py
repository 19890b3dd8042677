"""The worker's loop against a bare httpx.Client loop with as many threads: polls per second of one core's time."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from bench.fake_tracking import fake_tracking
from bench.worker_rig import APP_TOKEN, USER_TOKEN, booking_id, fill, polls_of, resident_mb, run_for, worker_on
from ridedash.store.db import Database

THREADS = 8


def bare_polls_per_second(url: str, polls: int = 2000, threads: int = THREADS) -> float:
    """A GET and `json()`, nothing kept; per second of processor time."""
    headers = {"X-APP-TOKEN": APP_TOKEN, "Authorization": f"Bearer {USER_TOKEN}"}
    with httpx.Client(headers=headers, timeout=5) as client:

        def ask(number: int) -> None:
            params = {"booking_id": booking_id(number)}
            client.get(f"{url}/v1/bookings/track_ride", params=params).raise_for_status().json()

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(ask, range(threads)))  # connections, as ours have them
            before = time.process_time()
            list(pool.map(ask, range(polls)))
            return polls / (time.process_time() - before)


def polls_per_second(db: Database, url: str, folder: Path, seconds: float = 3.0, threads: int = THREADS) -> float:
    """Rides followed as fast as can be: claimed, asked, merged, recorded; per second of processor time.

    `db` holds more rides than can be asked about in the time between two polls of one.
    """
    with worker_on(db, url, folder, threads=threads) as worker:
        began, before = polls_of(db), time.process_time()
        run_for(worker, seconds)
        spent = time.process_time() - before
    return (polls_of(db) - began) / spent


def warm_up(db: Database, url: str, folder: Path) -> None:
    """Until each ride was polled: a first answer is an event, and costs more than those that follow."""
    with worker_on(db, url, folder, threads=1) as worker:
        while claims := [each for each in worker.tracker.claim(200) if each.row.merged_seq == 0]:
            worker.tracker.record([worker.tracker.ask(claim) for claim in claims])


def compared(url: str, folder: Path, rides: int = 3000, repeats: int = 3) -> list[tuple[float, float]]:
    """Ours and the bare loop's figures in turns, on a database of this address."""
    with fake_tracking() as service:
        db = Database(url)
        db.upgrade()
        fill(db, rides)
        warm_up(db, service, folder)
        pairs = []
        for _ in range(repeats):
            pairs.append((polls_per_second(db, service, folder), bare_polls_per_second(service)))
        db.close()
    return pairs


if __name__ == "__main__":
    import sys
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as made:
        for ours, bare in compared(sys.argv[1] if len(sys.argv) > 1 else f"sqlite:///{made}/desk.sqlite", Path(made)):
            print(
                f"{ours:6.0f} {bare:6.0f} {ours / bare:.2f}  threads {threading.active_count()} {resident_mb():.0f} MB"
            )
