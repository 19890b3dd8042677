"""The worker's line of the table; its loop and its rig are beside (worker_loop, worker_rig)."""

from statistics import median

from bench import frame
from bench.frame import Ratio, Run, line
from bench.worker_loop import compared


@line(
    "worker-polls",
    "worker: polls for each second of CPU, against a bare httpx.Client loop with as many threads",
    aim="≥ 70 %",
    protects="Following a ride costs little more than asking for it: one core keeps thousands fresh.",
)
def polls(run: Run) -> Ratio:
    """Claimed, asked, merged and recorded, against asked and parsed; on SQLite, in turns."""
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
