"""Workers killed at any time during create, and mutants that must be detected.

Rows 1 to 3 of the fault matrix (docs/reliability.md 2).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from bench.faults.answers import MIXED
from bench.faults.checking import check
from bench.faults.crashing import LOCKED, POINTS, READY, CrashRun, Tally, crash_run
from bench.faults.desk import database
from bench.faults.mutants import MUTANTS, OURS
from bench.faults.scoreboard import POSTGRESQL, Case, Verdict, row

BATCH: Final = 250
EACH_POINT: Final = 100
MOST: Final = 3  # times the planned kills, after which a row ends without 100 at each point
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
    while tally.total < kills or not (case.short or slots > 1 or _enough(tally, kills)):
        with database(case) as url, crash_run(case, url, f"run-{tally.orders}", CrashRun) as run:
            run.kill(min(BATCH, kills), slots)
            run.tally.found = run.settle()
            run.tally.orders = len(run.desk.orders())
            tally.add(run.tally)
        if tally.found or tally.exits:
            break
    return met(tally, needed(case))


def _enough(tally: Tally, kills: int) -> bool:
    """Whether each fail point had its share of the kills, or seems to be out of reach."""
    killed = tally.kills + tally.presses
    return tally.total > MOST * kills or all(killed[at] >= EACH_POINT for at in (READY, *POINTS))


def needed(
    case: Case, points: Sequence[str] = POINTS, also: Sequence[str] = (READY, LOCKED)
) -> Sequence[str]:
    """What the kills of a row have to meet. In a short form, one fail point is enough."""
    return (*((" or ".join(points),) if case.short else (*points, *also)), "BOOKED")


def met(tally: Tally, names: Sequence[str]) -> Verdict:
    """The verdict on a run, which fails too if it did not meet what it is for.

    `names`: kills, events and states of orders; "a or b" is met by one of them.
    """
    counts = tally.kills + tally.presses + tally.events + tally.found.states
    never = [name for name in names if not any(counts[each] for each in name.split(" or "))]
    whole = verdict(tally)
    if never:
        return replace(whole, ok=False, note=f"never met {', '.join(never)}; {whole.note}")
    return whole


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

    There are two besides the six of the fault matrix. In the long form nothing is detected in the
    protocol as it is, so that no false alarm can count as a catch.
    """
    caught = {name: _caught_after(case, name) for name in (*MUTANTS, *OURS)}
    six, ours = (
        ", ".join(f"{name}: {caught[name] or 'NOT CAUGHT'}" for name in names)
        for names in (MUTANTS, OURS)
    )
    note = f"kills until caught: {six}; beside the six, ours: {ours}"
    alarm = "" if case.short else _caught_after(case, "")
    if alarm:
        note = f"the protocol as it is: {alarm}; {note}"
    return Verdict(tried=len(caught), ok=all(caught.values()) and not alarm, note=note)


def _caught_after(case: Case, mutant: str) -> str:
    """The number of kills until the harness detects the mistake, and as what; "" for never."""
    options: dict[str, Any] = {
        "mutant": mutant,
        "locked_share": 0.15,
        "answer_kinds": (*MIXED, *OFTEN.get(mutant, ()) * 10),
    }
    with (
        database(case) as url,
        crash_run(case, url, mutant.replace(" ", "-") or "none", CrashRun, **options) as run,
    ):
        while run.tally.total + len(run.tally.exits) < MUTANT_KILLS:
            run.kill(5, slots=1)
            found = check(run.desk, quiet=False, shown=run.shown)
            found.add(run.overdue.found)
            if not found and run.answered:  # a killed worker had got an answer: settle all orders
                found = run.settle()
            if found:
                return f"{run.tally.total} ({found.messages[0].partition(':')[0]})"
    return ""
