"""A property with a year of rides (bench.history), and leaks of memory (bench.soak).

Rows 35 and 36 of the fault matrix (docs/reliability.md 2).
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from bench.faults.nursery import ROOT
from bench.faults.scoreboard import POSTGRESQL, Case, Verdict, row
from bench.faults.shop import database_in

HOUR: Final = 60.0  # minutes from which the verdict of bench.soak is used
# Live rides in a run of an hour. At one booking a second, a few minutes are too short for so many.
RIDES: Final = 300
FEW_RIDES: Final = 60
# In the first minutes the memory of Python still grows by tens of megabytes an hour. There are ten
# pages or polls a second. A short run therefore detects only a leak of at least four kilobytes in
# each page or poll, or of one descriptor in sixty of them.
MB_AN_HOUR: Final = 150.0
DESCRIPTORS_AN_HOUR: Final = 600.0


@row(35, "a hundred thousand rides: history and search, SQLite", short=False)
def many_rides(case: Case) -> Verdict:
    """Each list takes at most 150 ms in 95 % of requests."""
    return _lists(case, "history-sqlite")


@row(
    35, "a hundred thousand rides: history and search, PostgreSQL", short=False, database=POSTGRESQL
)
def many_rides_postgresql(case: Case) -> Verdict:
    """The same on PostgreSQL."""
    # Without a server this raises Missing, and the row is skipped. A line that is absent in the
    # report is a failure.
    database_in(case.folder / "is-there", POSTGRESQL)
    return _lists(case, "history-postgresql")


def _lists(case: Case, line: str) -> Verdict:
    words = ["--only", line, "--repeats", str(case.size(3, 1)), "--seed", str(case.seed)]
    load = os.getloadavg()[0]
    report = _reported(
        "bench", [*words, "--short"] if case.short else words, case.folder / "lists.json"
    )
    absent = [each["why"] for each in report["lines"] if each["verdict"] == "absent"]
    if absent:
        return Verdict(len(report["lines"]), ok=False, note="; ".join(absent))
    slowest = max(report["lines"], key=lambda each: float(each["ratio"]))
    slow = sum(each["verdict"] != "reached" for each in report["lines"])
    note = (
        f"{slow} too slow at a load of {load:.1f}; slowest: {slowest['what']} "
        f"{slowest['ratio']:.0f} ms"
    )
    return Verdict(len(report["lines"]), ok=not slow, note=note)


@row(36, "memory and descriptors under ten pages a second", short=False)
def soaked(case: Case) -> Verdict:
    """The whole program with rides kept alive.

    It takes an hour with --minutes 60, and a few minutes without.
    """
    minutes = case.minutes or case.size(6, 4) * 1.0
    rides = RIDES if minutes >= HOUR else FEW_RIDES
    words = ["--minutes", f"{minutes:g}", "--rides", str(rides), "--seed", str(case.seed)]
    report = _reported("bench.soak", words, case.folder / "soak.json")
    pages, wrong = sum(sample["pages"] for sample in report["samples"]), report["wrong"]
    errors = sum(count for name, count in wrong.items() if name.endswith(" 500"))
    ok, summary = judged(report["verdict"], minutes)
    last = report["samples"][-1]["minute"]
    if last <= minutes - 1:
        ok, summary = False, f"{summary}; it ended after minute {last:g}"
    return Verdict(
        pages,
        errors500=errors,
        ok=ok,
        note=f"{summary}; answered otherwise: {wrong}" if wrong else summary,
    )


def judged(found: dict[str, Any], minutes: float) -> tuple[bool, str]:
    """Whether a soak worked with flat memory and descriptors, and a text about both.

    A run of an hour has the limits of bench.soak, a shorter one has wider limits.
    """
    if found["flat"] is None:
        return False, f"{minutes:g} minutes: {found['why']}"
    whole = minutes >= HOUR
    grown = {
        name: (found[name]["mb_an_hour"], found[name]["descriptors_an_hour"])
        for name in ("web", "worker")
    }
    flat = (
        found["flat"]
        if whole
        else all(mb < MB_AN_HOUR and fd < DESCRIPTORS_AN_HOUR for mb, fd in grown.values())
    )
    summary = ", ".join(
        f"{name} {mb:+g} MB/h {fd:+g} descriptors/h" for name, (mb, fd) in grown.items()
    )
    limits = (
        ""
        if whole
        else f" (a leak is seen above {MB_AN_HOUR:g} MB/h; --minutes {HOUR:g} is the proof)"
    )
    if not found["worked"]:
        summary += "; it did not work all the time"
    return bool(flat and found["worked"]), f"{minutes:g} minutes{limits}: {summary}"


def _reported(module: str, words: list[str], file: Path) -> dict[str, Any]:
    """The report of a bench, run in a new process because it changes limits and settings.

    Raises RuntimeError if the bench wrote no report, or broke off after it had written some.
    """
    command = [sys.executable, "-m", module, *words, "--json", str(file)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if not file.exists() or "Traceback" in ran.stderr:
        raise RuntimeError(f"{module} did not come to its end: {ran.stderr[-200:]}")
    stored: dict[str, Any] = json.loads(file.read_text())
    return stored
