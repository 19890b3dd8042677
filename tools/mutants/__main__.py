"""Whether tests notice a wrong line: change one expression at a time, and run the nearest tests.

    python -m tools.mutants --seed 7 8 --count 150

Draws single changes of the modules where a wrong line costs money, shows something untrue, or is a
security hole (CORE in changes.py). First the module's own test file runs with each change, without
a browser, until a test fails; the failure counts if that test passes without the change. For
changes that no test has noticed so far, the tests of their folders run on the original code, to
record which functions each test enters. Then the tests that enter the changed function run with the
change, on SQLite; for changes that are still unnoticed they also run on PostgreSQL, and at last the
quick tests of all other folders that enter the changed function.

Log calls, f-strings, `__repr__`, asserts and code for the type checker are not changed. A change
that is known to make no difference is listed in `equivalent.txt`, with the reason, and not counted.
Each result is written into a file as a line of JSON as soon as it is known. Several seeds share one
run of the tests on the original code; each seed is counted by itself. The exit code is 1 when fewer
than nine in ten changes of a seed are noticed, and 2 when not all were judged.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from tools.mutants.changes import ROOT, Mutant, draw, equivalents, modules, mutants
from tools.mutants.near import Near
from tools.mutants.runs import copied, in_turns, stopped_by_signals
from tools.mutants.stages import Judge, stages

ENOUGH: Final = 0.9


@dataclass(frozen=True)
class Verdict:
    """What noticed a change ("" for nothing), and the time that took."""

    by: str
    seconds: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw, run and report. Returns 1 when too few are noticed, 2 when not all were judged."""
    asked = _arguments(arguments)
    known = equivalents()
    wanted = {
        name: [mutant for mutant in each if mutant.name not in known]
        for name, each in _wanted(asked).items()
    }
    drawn = list(dict.fromkeys(mutant for each in wanted.values() for mutant in each))
    if asked.list:
        print("\n".join(mutant.name for mutant in drawn))
        return 0
    if not drawn:
        print("nothing was drawn that is not known to make no difference", file=sys.stderr)
        return 2
    os.nice(asked.nice)
    stopped_by_signals()
    print(f"each result is added to {asked.json}", flush=True)
    found: dict[Mutant, bool] = {}
    try:
        for mutant, verdict in run_all(drawn, asked):
            found[mutant] = verdict.by != ""
            _tell(mutant, verdict, asked.json)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
    return max(_share(name, each, found) for name, each in wanted.items())


def _share(name: str, drawn: Sequence[Mutant], found: Mapping[Mutant, bool]) -> int:
    """Print how many of these changes were noticed. Returns an exit code, as `main` does."""
    judged = [found[mutant] for mutant in drawn if mutant in found]
    noticed = sum(judged)
    # changes that are noticed quickly are judged first: a share of these alone would be too high
    if len(judged) < len(drawn):
        said = f"{noticed} noticed, {len(judged) - noticed} not"
        print(f"{said}, {len(drawn) - len(judged)} not judged to the end; {name}")
        return 2
    if drawn:
        print(f"{noticed} of {len(drawn)} noticed, {noticed / len(drawn):.0%}; {name}")
    return int(noticed < ENOUGH * len(drawn))


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tools.mutants", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument("--seed", type=int, nargs="+", default=[7])
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--minutes", type=float, default=90, help="begin none after these")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="how many run at once")
    parser.add_argument("--nice", type=int, default=10)
    parser.add_argument("--only", default="", help="modules whose path contains one of these words")
    parser.add_argument("--again", type=Path, help="try what such a file says nobody noticed")
    parser.add_argument("--own", action="store_true", help="its own test file alone, on SQLite")
    parser.add_argument("--quick", action="store_true", help="the tests of `make quick` alone")
    parser.add_argument("--json", type=Path, help="the file of the results")
    parser.add_argument("--list", action="store_true", help="show what is drawn, run nothing")
    parser.add_argument("--root", type=Path, default=ROOT, help="the project")
    asked = parser.parse_args(arguments)
    if asked.json is None:
        asked.json = (
            Path(tempfile.gettempdir()) / f"ridedash-mutants-{'-'.join(map(str, asked.seed))}.jsonl"
        )
    return asked


def _wanted(asked: argparse.Namespace) -> dict[str, list[Mutant]]:
    """What each seed draws; with --again, the file's unnoticed changes that still exist."""
    if asked.again is None:
        seeds = dict.fromkeys(asked.seed)
        return {f"seed {n}": draw(n, asked.count, asked.only, asked.root) for n in seeds}
    found = {line["mutant"]: line["by"] for line in map(json.loads, asked.again.open())}
    every = [m for path in modules(asked.only, asked.root) for m in mutants(path, asked.root)]
    return {"again": [mutant for mutant in every if found.get(mutant.name, "noticed") == ""]}


def _tell(mutant: Mutant, verdict: Verdict, to: Path) -> None:
    said = f"noticed by {verdict.by}" if verdict.by else "UNNOTICED"
    print(f"{said} [{verdict.seconds:.1f} s]: {mutant}", flush=True)
    facts: dict[str, Any] = {"mutant": mutant.name, "line": mutant.line, **vars(verdict)}
    with to.open("a") as file:
        file.write(json.dumps(facts) + "\n")


def run_all(drawn: Sequence[Mutant], asked: argparse.Namespace) -> Iterator[tuple[Mutant, Verdict]]:
    """Each change with what noticed it; no run begins after the minutes that were asked for."""
    end = time.monotonic() + asked.minutes * 60
    memory = Path("/dev/shm")  # where the tests' databases wait for no disk
    place = memory if os.access(memory, os.W_OK) else None
    near = Near(asked.root, own=asked.own, quick=asked.quick)
    with tempfile.TemporaryDirectory(prefix="ridedash-mutants-", dir=place) as made:
        copies = [copied(asked.root, Path(made) / str(n)) for n in range(asked.jobs)]
        left = dict.fromkeys(drawn, 0.0)  # with the seconds that each has taken so far
        for judge in stages(near, left, copies):
            for mutant, verdict in _judged(left, judge, copies, end):
                before = left.pop(mutant)
                if verdict is not None and verdict.by:
                    yield mutant, replace(verdict, seconds=before + verdict.seconds)
                elif verdict is not None:
                    left[mutant] = before + verdict.seconds
            print(f"not noticed so far: {len(left)}", flush=True)
        for mutant, seconds in left.items():
            yield mutant, Verdict("", seconds)


def _judged(
    mutants: Iterable[Mutant], judge: Judge, copies: Sequence[Path], end: float
) -> Iterator[tuple[Mutant, Verdict | None]]:
    """What a judge says of each change, in the order of its answers; None once the time is over."""

    def judged(mutant: Mutant, copy: Path) -> Verdict | None:
        begun = time.monotonic()
        return Verdict(judge(mutant, copy), time.monotonic() - begun) if begun < end else None

    return in_turns(judged, list(mutants), copies)


if __name__ == "__main__":
    sys.exit(main())
