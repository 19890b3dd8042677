"""What the answer journal costs a send: orders from READY to settled, with its sync and without.

Each measurement has a fresh database (SQLite) and its journals in one folder of TMPDIR. Set TMPDIR
to a folder on a disk, since a file system in memory has nothing to sync.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from bench import frame
from bench.frame import Absent, Ratio, Result, Run, line
from ridedash.rides.journals.answer_journal import SLOT, JournalFile
from ridedash.rides.worker import Worker
from tests import databases
from tests.rides.desk_world import World

IN_MEMORY: Final = {"tmpfs", "ramfs"}
THREADS: Final = (1, 8)  # eight sends at once: a busy moment of a large hotel


class Taken(NamedTuple):
    """Milliseconds for each send: by the wall clock, and of CPU time."""

    wall: float
    cpu: float


@line(
    "sends",
    "worker: a send, READY to settled, against one whose answer journal is not synced; SQLite",
    aim="≤ 1.5",
    protects="Each answer is on disk before the database hears of it, at little cost for a send.",
)
def sends(run: Run) -> list[Result]:
    """Sends with the sync and without it, in turns: first one at a time, then several at once.

    The service answers from memory.
    """
    found: list[Result] = []
    with frame.folder() as folder:
        if (kind := file_system(folder)) in IN_MEMORY:
            return [Absent(f"{folder.parent} is on {kind}, which syncs nothing: set TMPDIR")]
        for threads in THREADS:
            pairs = _alternating(run, folder / str(threads), threads)
            how = f"{threads} at once" if threads > 1 else "one at a time"
            wall = [(synced.wall, bare.wall) for synced, bare in pairs]
            cpu = [(synced.cpu, bare.cpu) for synced, bare in pairs]
            rates = [f"{1000 / median(side):.0f}/s" for side in zip(*wall, strict=True)]
            note = f"{rates[0]}, not synced {rates[1]}; on {file_system(folder)}"
            found += [_ratio(wall, how, note), _ratio(cpu, f"{how}, CPU", "")]
    databases.close()
    return found


def _alternating(run: Run, folder: Path, threads: int) -> list[tuple[Taken, Taken]]:
    """Pairs with the sync and without it; the first pair warms up and is dropped."""
    pairs = []
    for number in range(run.repeats + 1):
        found: dict[bool, Taken] = {}
        for is_synced in (True, False) if number % 2 else (False, True):
            place = folder / f"{number}-{is_synced}"
            if is_synced:
                found[is_synced] = taken(place, run.of(200, 40), threads)
            else:
                with unsynced():
                    found[is_synced] = taken(place, run.of(200, 40), threads)
        pairs.append((found[True], found[False]))
    return pairs[1:]


def taken(folder: Path, orders: int, threads: int) -> Taken:
    """The time per send of `orders` orders in a fresh database. `folder` must not exist."""
    folder.mkdir(parents=True)
    world = World(folder, databases.new_database(folder, databases.SQLITE))
    try:
        ids = [world.place() for _ in range(orders)]
        with world.worker() as worker, ThreadPoolExecutor(threads) as pool:
            return _timed(worker, ids, pool)
    finally:
        world.close()


def _timed(worker: Worker, ids: Sequence[int], pool: ThreadPoolExecutor) -> Taken:
    wall, cpu = time.perf_counter(), time.process_time()
    sent = list(pool.map(worker.sender.send, ids))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    if not all(sent):
        raise RuntimeError(f"{sent.count(False)} of {len(ids)} orders were not sent")
    return Taken(1000 * wall / len(ids), 1000 * cpu / len(ids))


@contextmanager
def unsynced() -> Iterator[None]:
    """In this block, records of the answer journal are not synced to the disk."""
    synced: Callable[[JournalFile, int, bytes], None] = JournalFile._write

    def write(journal: JournalFile, slot: int, data: bytes) -> None:
        os.pwrite(journal._fd, data, slot * SLOT)

    JournalFile._write = write  # type: ignore[method-assign]
    try:
        yield
    finally:
        JournalFile._write = synced  # type: ignore[method-assign]


def _ratio(pairs: Sequence[tuple[float, float]], label: str, note: str) -> Ratio:
    ratios = [synced / bare for synced, bare in pairs]
    return Ratio(
        median(synced for synced, _ in pairs),
        median(bare for _, bare in pairs),
        median(ratios),
        (min(ratios), max(ratios)),
        "ms",
        label=label,
        note=note,
    )


def file_system(folder: Path) -> str:
    """The type of the file system that a folder is on, such as ext4."""
    mounts = [each.split()[1:3] for each in Path("/proc/mounts").read_text().splitlines()]
    above = [(len(point), kind) for point, kind in mounts if folder.resolve().is_relative_to(point)]
    return max(above)[1]
