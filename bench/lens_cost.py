"""What the lens of a demo costs: the worker's loop with the recorder of calls, and without it.

Live mode has no recorder, like the baseline here, so the lens costs nothing there. The first figure
comes from runs with the recorder only: their baseline is the same run without the CPU time that the
recorder itself takes, in its own thread and in those that hand calls over. This figure is steady.
The second figure compares runs with and without the recorder, by turns. It includes the recorder's
effect on other code too, but varies by more than the aim allows.
"""

import os
import threading
import time
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

from bench import frame
from bench.fake_tracking import fake_tracking
from bench.frame import Ratio, Result, Run, line
from bench.worker_loop import SETTLED_S, polls_per_second, warm_up
from bench.worker_rig import clock, fill, running, worker_on
from ridedash.demo.lens.recorder import LensRecorder
from ridedash.demo.lens.store import LensFile
from ridedash.demo.lens.writing import Writer
from ridedash.service.hooks import Exchange, NoHooks
from ridedash.store.database.database import Database

ROUNDS: Final = 12
MEASURED_S: Final = 3.0
LOST: Final = 0.01  # the most of the calls that may be lost: a lost call costs nothing
ENDS_S: Final = 60.0  # how long the recorder may take to write all and to end its thread


class Counted(LensRecorder):
    """A recorder that counts the calls that were handed over to it."""

    def __init__(self, file: LensFile) -> None:
        super().__init__(NoHooks(), file, clock)
        self.calls = 0

    def exchange(self, exchange: Exchange) -> None:
        """See LensRecorder."""
        self.calls += 1
        super().exchange(exchange)


class Watched(Counted):
    """A recorder that measures its own processor time.

    Each thread reads its own clock, because the clock of an ended thread can't be read: the
    recorder's thread ends when there is nothing to write or when its file can't be written.
    """

    def __init__(self, file: LensFile) -> None:
        super().__init__(file)
        self.handed: list[int] = []  # ns of each call that was handed over
        self.written_s = 0.0  # by its thread, up to the end of its last round

    def exchange(self, exchange: Exchange) -> None:
        """See LensRecorder."""
        before = time.thread_time_ns()
        super().exchange(exchange)
        self.handed.append(time.thread_time_ns() - before)

    def spent(self) -> float:
        """The processor time that the recorder has taken so far, in seconds."""
        return self.written_s + sum(self.handed) / 1e9

    def _round(self, writer: Writer) -> bool:
        before = time.thread_time()
        try:
            return super()._round(writer)
        finally:
            self.written_s += time.thread_time() - before


@line(
    "lens-cost",
    "worker of a demo with its recorder: polls for each second of CPU, against not recording",
    aim="≥ 95 %",
    protects="What a partner sees of our calls is not bought with the speed at which we make them.",
    minutes=10,
)
def cost(run: Run) -> list[Result]:
    """All runs are in one process. The last figure is the noise: two runs without a recorder."""
    rounds = max(run.repeats, run.of(ROUNDS, 2))
    with frame.folder() as folder, fake_tracking() as service:
        db = Database(f"sqlite:///{folder}/desk.sqlite")
        db.upgrade()
        fill(db, run.of(3000, 1000))
        first = Counted(LensFile(folder))
        warm_up(db, service, folder, hooks=first)  # the lens then knows each ride, as in a demo
        _end(first)
        own = [_own(db, service, folder) for _ in range(run.of(5, 2))]
        taken = [_round(db, service, folder, backwards=n % 2 == 1) for n in range(rounds)]
        db.close()
    return [
        _ratio([(ours, bare) for ours, bare, _ in own], "its own time", sum(n for *_, n in own)),
        _ratio([(t.ours, t.bare) for t in taken], "in turns", sum(t.lost for t in taken)),
        _ratio([(t.again, t.bare) for t in taken], "without it twice"),
    ]


def _own(db: Database, service: str, folder: Path) -> tuple[float, float, int]:
    """Polls per second of CPU, with the recorder's own time and without; the calls that it lost."""
    lens = Watched(LensFile(folder))
    with worker_on(db, service, folder, hooks=lens) as worker, running(worker):
        time.sleep(SETTLED_S)
        polls, own, all_of_it = len(lens.handed), lens.spent(), time.process_time()
        time.sleep(MEASURED_S)
        polls, own = len(lens.handed) - polls, lens.spent() - own
        spent = time.process_time() - all_of_it
    _end(lens)
    return polls / spent, polls / (spent - own), lens.dropped


class Round(NamedTuple):
    """Polls for each second of CPU: recorded, not recorded, and not recorded once more.

    `lost`: calls that the recorder did not keep; if there are many, it seems to cost too little.
    """

    ours: float
    bare: float
    again: float
    lost: int


def _round(db: Database, service: str, folder: Path, *, backwards: bool) -> Round:
    lens = Counted(LensFile(folder))
    order = [lens, None, None]
    found = {}
    for place in (2, 1, 0) if backwards else (0, 1, 2):
        found[place] = polls_per_second(db, service, folder, hooks=order[place])
        _end(lens)  # its delayed work must not fall into the next measurement
    return Round(found[0], found[1], found[2], lens.dropped)


def _end(lens: Counted) -> None:
    """Wait for a recorder's last write and for the end of its thread.

    Raises RuntimeError if it does not end, or has lost too many calls.
    """
    end = time.monotonic() + ENDS_S
    lens.flush(ENDS_S)
    while any(each.name == "lens" for each in threading.enumerate()):
        if time.monotonic() > end:
            raise RuntimeError("the recorder did not come to an end")
        time.sleep(0.1)
    if lens.dropped > LOST * lens.calls:
        raise RuntimeError(f"the recorder lost {lens.dropped} of {lens.calls} calls")


def _ratio(pairs: list[tuple[float, float]], label: str, lost: int = 0) -> Ratio:
    ratios = [ours / bare for ours, bare in pairs]
    note = f"{len(pairs)} turns, load {os.getloadavg()[0]:.1f}"
    return Ratio(
        median(ours for ours, _ in pairs),
        median(bare for _, bare in pairs),
        median(ratios),
        (min(ratios), max(ratios)),
        "polls per CPU second",
        label=label,
        note=f"{note}, {lost} calls lost" if lost else note,
    )
