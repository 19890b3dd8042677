"""The memory of the processes: of the web process under load, and of a worker with 10,000 rides."""

import contextlib
import itertools
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from bench import frame, processes
from bench.frame import Ratio, Run, line
from bench.people import Desk, Tally
from bench.program import program
from bench.serving import ROOT

PROTECTS: Final = (
    "A property runs its desk on the smallest machine that it can rent, beside other programs."
)


@line(
    "memory-web",
    "resident memory of a web process (granian) under pages of five desks",
    aim="≤ 120 MB",
    protects=PROTECTS,
)
def web(run: Run) -> Ratio:
    """The larger of the web process and its parent, sampled after every few hundred pages."""
    with frame.folder() as folder, program(folder) as running:
        tally, pages = Tally(), run.of(400, 100)
        desks = [
            Desk(running.url, name, tally, run.seed + n) for n, name in enumerate(running.desks)
        ]
        for n, desk in enumerate(desks * 2):
            desk.book(n)
        rides = [ride for desk in desks for ride in desk.rides] or [None]
        time.sleep(2)
        desk_cycle = itertools.cycle(desks)

        def after_pages() -> float:
            with ThreadPoolExecutor(5) as pool:
                looked_at = itertools.islice(itertools.cycle(rides), pages)
                list(pool.map(lambda ride: next(desk_cycle).look(ride), looked_at))
            return max(processes.rss_mb(each) for each in processes.family(running.pids["web"]))

        found = frame.alone(run, after_pages, "MB")
        if tally.wrong:
            raise RuntimeError(f"pages went wrong: {tally.wrong}")
        return found


@line(
    "memory-worker",
    "resident memory of a worker that follows 10,000 rides",
    aim="≤ 100 MB",
    protects=PROTECTS,
)
def worker(run: Run) -> Ratio:
    """A `ridedash worker` on SQLite, whose service answers at once."""
    from bench.fake_tracking import fake_tracking
    from bench.worker_rig import APP_TOKEN, KEYS, fill, polls_of
    from ridedash.store.database.database import Database

    with frame.folder() as folder, fake_tracking() as service:
        url = f"sqlite:///{folder}/desk.sqlite"
        db = Database(url)
        db.upgrade()
        fill(db, run.of(10_000, 2_000))
        environ = {
            "MALLOC_ARENA_MAX": "1",  # as in the systemd units of docs/operating.md
            "RIDEDASH_INSTANCE": str(folder / "instance"),
            "RIDEDASH_DATABASE_URL": url,
            "RIDEDASH_SERVICE_URL": service,
            "RIDEDASH_SERVICE_APP_TOKEN": APP_TOKEN,
            "RIDEDASH_TOKEN_KEYS": KEYS,
            "RIDEDASH_SERVICE_RATE": "100000",
        }
        with _worker(environ, folder) as process:
            _until(lambda: polls_of(db) > run.of(5_000, 1_000))
            found = frame.alone(
                run, lambda: _later(process), "MB", note=f"after {polls_of(db):,} polls"
            )
        db.close()
        return found


def _later(process: "subprocess.Popen[bytes]") -> float:
    time.sleep(2)
    held = processes.rss_mb(process.pid)
    if process.poll() is not None or not held:  # the memory of an ended process reads as 0
        raise RuntimeError(f"the worker ended by itself (code {process.poll()})")
    return held


def _until(condition: Callable[[], bool], patience_s: float = 120) -> None:
    end = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError("the worker is too slow, or does nothing")
        time.sleep(0.5)


@contextlib.contextmanager
def _worker(environ: dict[str, str], folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A worker that runs until the end of the block."""
    command = [sys.executable, "-m", "ridedash.cli", "worker"]
    with (
        (folder / "log.txt").open("w") as log,
        subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **environ}, stdout=log, stderr=log
        ) as process,
    ):
        try:
            yield process
        finally:
            process.terminate()
