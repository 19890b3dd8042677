"""The worker's lines of the table; see worker_loop, worker_lag and worker_rig."""

from functools import partial
from statistics import median

from bench import frame
from bench.frame import Ratio, Result, Run, line
from bench.worker_lag import highest, lateness
from bench.worker_loop import compared
from tests import databases


@line(
    "worker-polls",
    "worker: polls for each second of CPU, against a bare httpx.Client loop with as many threads",
    aim="≥ 70 %",
    protects="Following a ride costs little more than asking for it: one core keeps thousands "
    "fresh.",
)
def polls(run: Run) -> Ratio:
    """Our loop claims, polls, merges and records; the bare one polls and parses. On SQLite."""
    with frame.folder() as folder:
        pairs = compared(f"sqlite:///{folder}/desk.sqlite", folder, run.of(3000, 1000), run.repeats)
    ratios = [ours / bare for ours, bare in pairs]
    return Ratio(
        median(ours for ours, _ in pairs),
        median(bare for _, bare in pairs),
        median(ratios),
        (min(ratios), max(ratios)),
        "polls per CPU second",
    )


@line(
    "worker-lag",
    "worker: how late the latest of 100 polls begins at 1,000 polls a second asked for, seconds",
    aim="≤ 0.5 s",
    protects="What a guest is told about the cab is as new as it is said to be, however many ride.",
    minutes=10,
)
def lag(run: Run) -> list[Result]:
    """On SQLite with one worker; on PostgreSQL with one, two and four that share the rides."""
    required, found = float(run.of(1000, 200)), []
    for kind, workers in ((databases.SQLITE, 1), *((databases.POSTGRESQL, n) for n in (1, 2, 4))):
        first, highest_rate = highest(partial(_late, kind, workers), required)
        note = ", ".join(f"{name} {value:.3g}" for name, value in first.items())
        lates = [
            first["p99_s"],
            *(_late(kind, workers, required)["p99_s"] for _ in range(run.of(2, 0))),
        ]
        note = f"highest rate kept {highest_rate:.0f}/s; {note}"
        spread = min(lates), max(lates)
        label = f"{kind}, {workers} of them"
        found.append(Ratio(median(lates), None, median(lates), spread, "s", label=label, note=note))
    databases.close()
    return [*found]


def _late(kind: str, workers: int, required: float) -> dict[str, float]:
    """The delays on a new database."""
    with frame.folder() as folder:
        return lateness(
            databases.new_database(folder, kind), folder, workers=workers, required=required
        )
