"""Workers killed at any time during create, and mutants that must be detected.

Rows 1 to 3 of the fault matrix (docs/reliability.md 2).
"""

from collections import Counter
from dataclasses import replace
from typing import Any, Final

from bench.faults.answers import MIXED
from bench.faults.checking import check
from bench.faults.crashing import POINTS, READY, CrashRun, Tally, crash_run
from bench.faults.desk import database
from bench.faults.mutants import MUTANTS, OURS
from bench.faults.scoreboard import POSTGRESQL, Case, Verdict, row

BATCH: Final = 250
EACH_POINT: Final = 100
MUTANT_KILLS: Final = 120
OFTEN: Final = {  # answers that are frequent for a mutant, so that few kills detect it
    "a 5xx is a refusal": ("502_after", "500_after"),
    "retry on timeout": ("silent_after", "reset_after"),
    "accept a crossed answer": ("crossed", "crossed_after"),
}


@row(1, "kill -9 of one worker, any instant of create")
def one_worker(case: Case) -> Verdict:
    """At least 1,000 workers are killed, and at each fail point at least 100 processes."""
    return _killed(case, kills=case.size(1000, 60), slots=1)


@row(2, "kill -9 of two workers on one database, SQLite")
def two_workers(case: Case) -> Verdict:
    """At least 700 workers are killed; two run at a time, and each is killed."""
    return _killed(case, kills=case.size(700, 40), slots=2)


@row(2, "kill -9 of two workers on one database, PostgreSQL", database=POSTGRESQL)
def two_workers_postgresql(case: Case) -> Verdict:
    """The same on PostgreSQL."""
    return _killed(case, kills=case.size(700, 40), slots=2)


def _killed(case: Case, kills: int, slots: int) -> Verdict:
    tally = Tally()
    while tally.total < kills or not (case.short or slots > 1 or _enough(tally)):
        with database(case) as url, crash_run(case, url, f"run-{tally.orders}", CrashRun) as run:
            run.kill(min(BATCH, kills), slots)
            run.tally.found = run.settle()
            run.tally.orders = len(run.desk.orders())
            tally.add(run.tally)
        if tally.found or tally.exits:
            break
    whole = verdict(tally)
    # without any booked order nothing was tested
    return replace(whole, ok=whole.ok and tally.found.states["BOOKED"] > 0)


def _enough(tally: Tally) -> bool:
    killed = tally.kills + tally.presses
    return all(killed[point] >= EACH_POINT for point in (READY, *POINTS))


def verdict(tally: Tally) -> Verdict:
    """The verdict on the counts of a run."""
    found = tally.found
    kills, presses, states = map(_listed, (tally.kills, tally.presses, found.states))
    kills += (
        f"; {tally.presses.total()} processes killed that pressed: {presses}" if presses else ""
    )
    wrong = "; ".join(
        [*found.messages, *(f"a process ended with {code}" for code in tally.exits[:3])]
    )
    return Verdict(
        tried=tally.total,
        lost=found.lost + found.forgotten,
        doubled=found.doubled,
        false_booked=found.false_booked + found.taken_back,
        false_not_booked=found.false_not_booked,
        ok=not (found.stuck or found.late or tally.exits),
        note=wrong or f"kills: {kills}; {tally.orders} orders: {states}",
    )


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))


@row(3, "six broken protocols, each must be caught")
def mutants(case: Case) -> Verdict:
    """Each broken protocol is detected.

    There is a seventh besides the six of the fault matrix.
    """
    caught = {name: _caught_after(case, name) for name in (*MUTANTS, *OURS)}
    six, ours = (
        ", ".join(f"{name}: {caught[name] or 'NOT CAUGHT'}" for name in names)
        for names in (MUTANTS, OURS)
    )
    note = f"kills until caught: {six}; beside the six, one of ours: {ours}"
    return Verdict(tried=len(caught), ok=all(caught.values()), note=note)


def _caught_after(case: Case, mutant: str) -> int:
    """The number of kills until the harness detects the mistake; 0 for never."""
    options: dict[str, Any] = {
        "mutant": mutant,
        "locked_share": 0.15,
        "answer_kinds": (*MIXED, *OFTEN.get(mutant, ()) * 10),
    }
    with (
        database(case) as url,
        crash_run(case, url, mutant.replace(" ", "-"), CrashRun, **options) as run,
    ):
        while run.tally.total + len(run.tally.exits) < MUTANT_KILLS:
            run.kill(5, slots=1)
            if check(run.desk, quiet=False, shown=run.shown) or run.overdue.found or _forgets(run):
                return run.tally.total
    return 0


def _forgets(run: CrashRun) -> bool:
    """Whether settling all orders shows a violation, if a killed worker had got an answer."""
    return bool(run.answered) and bool(run.settle())
