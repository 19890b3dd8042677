"""What the lens of a demo costs: the worker's loop with the recorder of calls, and without it.

Live mode has the same loop without a recorder, as the baseline here: it costs nothing there.
"""

import os
from pathlib import Path
from statistics import median
from typing import Final

from bench import frame
from bench.fake_tracking import fake_tracking
from bench.frame import Ratio, Result, Run, line
from bench.worker_loop import polls_per_second, warm_up
from bench.worker_rig import clock, fill
from ridedash.demo.lens.recorder import Recorder
from ridedash.demo.lens.store import LensFile
from ridedash.observability.hooks import NoHooks
from ridedash.store.database.database import Database

TURNS: Final = 12  # at least: the turns of one process differ by more than the aim allows


@line(
    "lens-cost",
    "worker of a demo with its recorder: polls for each second of CPU, against not recording",
    aim="≥ 95 %",
    protects="What a partner sees of our calls is not bought with the speed at which we make them.",
    minutes=10,
)
def cost(run: Run) -> list[Result]:
    """In turns in one process. The second figure compares without a recorder twice: the noise."""
    turns = max(run.repeats, run.of(TURNS, 2))
    with frame.folder() as folder, fake_tracking() as service:
        db = Database(f"sqlite:///{folder}/desk.sqlite")
        db.upgrade()
        fill(db, run.of(3000, 1000))
        warm_up(db, service, folder)
        taken = [_turn(db, service, folder, backwards=n % 2 == 1) for n in range(turns)]
        db.close()
    return [
        _ratio([(ours, bare) for ours, bare, _ in taken], "recorded"),
        _ratio([(again, bare) for _, bare, again in taken], "without it twice"),
    ]


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
