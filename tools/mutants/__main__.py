"""Whether tests notice a wrong line: change one expression at a time, and run the nearest tests.

    python -m tools.mutants --seed 7 --count 150

Draws single changes of the modules where a wrong line costs money, truth or security (CORE in
changes.py). First the tests of their folders run unchanged and say which functions each enters.
Then, for each change, those tests run without a browser that enter the changed function, until one
fails: the module's own test file, the rest of its folder, and the same on PostgreSQL.

Not drawn: words for developers, asserts, and what only the type checker reads. A change that is
known to make no difference is listed in `equivalent.txt`, with the reason, and not counted. Each
result is a line of JSON in a file as soon as it is known. The exit code is 1 when fewer than nine
in ten are noticed.
"""

import argparse
import gc
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tools.mutants.changes import ROOT, Mutant, draw, equivalents, modules, mutants
from tools.mutants.near import Near, Round, Unit
from tools.mutants.plugins import Reach, warm
from tools.mutants.runs import (
    changed,
    copied,
    first_failure,
    in_turns,
    reach_of,
    stopped_by_signals,
)

ENOUGH: Final = 0.9


@dataclass(frozen=True)
class Verdict:
    """What noticed a change ("" for nothing), how many tests enter it, and the time that took."""

    by: str
    tests: int
    seconds: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw, run and report. Returns 1 when too few are noticed, 2 when nothing was tried."""
    asked = _arguments(arguments)
    known = equivalents()
    drawn = [mutant for mutant in _wanted(asked) if mutant.name not in known]
    if asked.list:
        print("\n".join(mutant.name for mutant in drawn))
        return 0
    if not drawn:
        print("nothing was drawn that is not known to make no difference", file=sys.stderr)
        return 2
    os.nice(asked.nice)
    stopped_by_signals()
    print(f"each result is added to {asked.json}", flush=True)
    noticed = total = 0
    try:
        for mutant, verdict in run_all(drawn, asked):
            total, noticed = total + 1, noticed + (verdict.by != "")
            _tell(mutant, verdict, asked.json)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
    left = f"; {len(drawn) - total} were not tried" * (total < len(drawn))
    share = noticed / total if total else 0
    print(f"{noticed} of {total} noticed, {share:.0%}; seed {asked.seed}{left}")
    return int(noticed < ENOUGH * total) if total else 2


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tools.mutants", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--minutes", type=float, default=90, help="begin none after these")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="how many run at once")
    parser.add_argument("--nice", type=int, default=10)
    parser.add_argument("--only", default="", help="modules whose path contains one of these words")
    parser.add_argument("--again", type=Path, help="try what such a file says nobody noticed")
    parser.add_argument("--own", action="store_true", help="its own test file alone, on SQLite")
    parser.add_argument("--json", type=Path, help="the file of the results")
    parser.add_argument("--list", action="store_true", help="show what is drawn, run nothing")
    parser.add_argument("--root", type=Path, default=ROOT, help="the project")
    asked = parser.parse_args(arguments)
    if asked.json is None:
        asked.json = Path(tempfile.gettempdir()) / f"ridedash-mutants-{asked.seed}.jsonl"
    return asked


def _wanted(asked: argparse.Namespace) -> list[Mutant]:
    """What is drawn; with --again what the tests did not notice, as far as it is still there."""
    if asked.again is None:
        return draw(asked.seed, asked.count, asked.only, asked.root)
    found = {line["mutant"]: line["by"] for line in map(json.loads, asked.again.open())}
    every = [m for path in modules(asked.only, asked.root) for m in mutants(path, asked.root)]
    return [mutant for mutant in every if found.get(mutant.name, "noticed") == ""]


def _tell(mutant: Mutant, verdict: Verdict, to: Path) -> None:
    said = f"noticed by {verdict.by}" if verdict.by else "UNNOTICED"
    print(f"{said} [{verdict.tests}, {verdict.seconds:.1f} s]: {mutant}", flush=True)
    facts: dict[str, Any] = {"mutant": mutant.name, "line": mutant.line, **vars(verdict)}
    with to.open("a") as file:
        file.write(json.dumps(facts) + "\n")


def run_all(drawn: Sequence[Mutant], asked: argparse.Namespace) -> Iterator[tuple[Mutant, Verdict]]:
    """Each change with what noticed it; none is begun after the minutes that were asked for."""
    end = time.monotonic() + asked.minutes * 60
    memory = Path("/dev/shm")  # where the tests' databases wait for no disk
    place = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="ridedash-mutants-", dir=place) as made:
        copies = [copied(asked.root, Path(made) / str(n)) for n in range(asked.jobs)]
        near = Near(asked.root, own=asked.own)
        units = {unit for mutant in drawn for unit in near.units(mutant.path)}
        reaches = _reaches(units, copies)
        _warm(reaches)

        def tried(task: tuple[int, Mutant], copy: Path) -> Verdict | None:
            number, mutant = task
            if time.monotonic() > end:
                return None
            file, begun = copy / mutant.path, time.monotonic()
            with changed(file, mutant.applied(file.read_bytes()), number):
                by, tests = _noticed_by(near.rounds(mutant, reaches), copy)
            return Verdict(by, tests, round(time.monotonic() - begun, 1))

        for (_, mutant), verdict in in_turns(tried, list(enumerate(drawn, 1)), copies):
            if verdict is not None:
                yield mutant, verdict


def _reaches(units: Iterable[Unit], copies: Sequence[Path]) -> dict[Unit, Reach]:
    """What the tests of each folder enter, on each kind of database."""

    def reach(unit: Unit, copy: Path) -> Reach:
        return reach_of(*unit, copy)

    begun, found = time.monotonic(), dict[Unit, Reach]()
    for unit, each in in_turns(reach, sorted(units), copies):
        found[unit] = each
        for test in each.failed:
            print(f"left out, since it fails unchanged on {unit[1]}: {test}", flush=True)
    took = time.monotonic() - begun
    count = sum(len(each.cpu_s) for each in found.values())
    print(f"{count} tests in {len(found)} runs say what they enter, {took:.0f} s", flush=True)
    return found


def _warm(reaches: Mapping[Unit, Reach]) -> None:
    """Import the libraries that the tests import, before anything is forked."""
    warm(list(dict.fromkeys(name for each in reaches.values() for name in each.libraries)))
    gc.collect()
    gc.freeze()


def _noticed_by(rounds: Iterable[Round], copy: Path) -> tuple[str, int]:
    """The first test that fails with the change, or how a run ended; and how many tests ran."""
    count = 0
    for each in rounds:
        count += len(each.tests)
        ended = first_failure(each.tests, each.kind, copy, each.cpu_s)
        if ended.failed or ended.why:
            return ended.failed or ended.why, count
    return "", count


if __name__ == "__main__":
    sys.exit(main())
