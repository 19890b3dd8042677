"""What the lens of a demo costs: the worker's loop with the recorder of calls, and without it.

Live mode has the same loop without a recorder, as the baseline here: it costs nothing there. The
first figure is of one run: the processor time that the recorder itself takes, in its thread and in
those that hand calls over, is left out of the baseline. It is steady; turns with and without the
recorder, which count what it does to others too, differ by more than the aim allows.
"""

import os
import threading
import time
from collections import deque
from pathlib import Path
from statistics import median
from typing import Final

from bench import frame
from bench.fake_tracking import fake_tracking
from bench.frame import Ratio, Result, Run, line
from bench.worker_loop import SETTLED_S, polls_per_second, warm_up
from bench.worker_rig import clock, fill, running, worker_on
from ridedash.demo.lens.recorder import Recorder
from ridedash.demo.lens.store import LensFile
from ridedash.observability.hooks import Exchange, NoHooks
from ridedash.store.database.database import Database

TURNS: Final = 12
MEASURED_S: Final = 3.0


class Watched(Recorder):
    """A recorder that knows what it costs."""

    def __init__(self, file: LensFile) -> None:
        super().__init__(NoHooks(), file, clock)
        self.handed: deque[int] = deque()  # ns of each call that was handed over

    def exchange(self, exchange: Exchange) -> None:
        """See Recorder."""
        before = time.thread_time_ns()
        super().exchange(exchange)
        self.handed.append(time.thread_time_ns() - before)

    def spent(self) -> float:
        """The processor time that it has taken so far, in seconds; its thread must run."""
        own = time.clock_gettime(time.pthread_getcpuclockid(self.thread))
        return own + sum(self.handed) / 1e9

    def _run(self) -> None:
        self.thread = threading.get_ident()
        super()._run()


@line(
    "lens-cost",
    "worker of a demo with its recorder: polls for each second of CPU, against not recording",
    aim="≥ 95 %",
    protects="What a partner sees of our calls is not bought with the speed at which we make them.",
    minutes=10,
)
def cost(run: Run) -> list[Result]:
    """In turns in one process. The last figure compares without a recorder twice: the noise."""
    turns = max(run.repeats, run.of(TURNS, 2))
    with frame.folder() as folder, fake_tracking() as service:
        db = Database(f"sqlite:///{folder}/desk.sqlite")
        db.upgrade()
        fill(db, run.of(3000, 1000))
        warm_up(db, service, folder)
        own = [_own(db, service, folder) for _ in range(run.of(5, 2))]
        taken = [_turn(db, service, folder, backwards=n % 2 == 1) for n in range(turns)]
        db.close()
    return [
        _ratio(own, "its own time"),
        _ratio([(ours, bare) for ours, bare, _ in taken], "in turns"),
        _ratio([(again, bare) for _, bare, again in taken], "without it twice"),
    ]


def _own(db: Database, service: str, folder: Path) -> tuple[float, float]:
    """Polls for each second of CPU, with what the recorder takes and without it."""
    lens = Watched(LensFile(folder))
    with worker_on(db, service, folder, hooks=lens) as worker, running(worker):
        time.sleep(SETTLED_S)
        polls, own, all_of_it = len(lens.handed), lens.spent(), time.process_time()
        time.sleep(MEASURED_S)
        polls, own = len(lens.handed) - polls, lens.spent() - own
        spent = time.process_time() - all_of_it
    if not lens.flush(30):
        raise RuntimeError("the recorder did not come to an end")
    return polls / spent, polls / (spent - own)


def _turn(
    db: Database, service: str, folder: Path, *, backwards: bool
) -> tuple[float, float, float]:
    """Polls for each second of CPU: recorded, not recorded, and not recorded once more."""
    lens = Recorder(NoHooks(), LensFile(folder), clock)
    order = [lens, None, None]
    found = {}
    for place in (2, 1, 0) if backwards else (0, 1, 2):
        found[place] = polls_per_second(db, service, folder, hooks=order[place])
    if not lens.flush(30):
        raise RuntimeError("the recorder did not come to an end")
    return found[0], found[1], found[2]


def _ratio(pairs: list[tuple[float, float]], label: str) -> Ratio:
    ratios = [ours / bare for ours, bare in pairs]
    return Ratio(
        median(ours for ours, _ in pairs),
        median(bare for _, bare in pairs),
        median(ratios),
        (min(ratios), max(ratios)),
        "polls per CPU second",
        label=label,
        note=f"{len(pairs)} turns, load {os.getloadavg()[0]:.1f}",
    )
