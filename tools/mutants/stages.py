"""Who judges a change: first its own test files, then the tests that enter what is changed."""

import gc
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from tools.mutants.changes import Mutant
from tools.mutants.near import Near, Unit
from tools.mutants.plugins import Reach, warm
from tools.mutants.runs import (
    Ended,
    changed,
    failure_in,
    first_failure,
    in_turns,
    libraries_of,
    reach_of,
)


class Judge(Protocol):
    """Says what notices a change."""

    def __call__(self, mutant: Mutant, copy: Path, /) -> str:
        """The first test that fails with the change, or how the run ended; "" if none noticed."""


def stages(near: Near, left: Mapping[Mutant, object], copies: Sequence[Path]) -> Iterator[Judge]:
    """The judges in their order; each judges the changes that no earlier one has noticed.

    A module's own test files are the quickest. Before each of the later judges the tests run
    unchanged, to record which functions they enter: that decides which tests the judge runs.
    """
    files = {file for mutant in left for file in near.files(mutant)}
    _warm(libraries_of(sorted(files), copies[0]))
    yield OwnFiles(near)
    for kind in near.kinds:
        units = {unit for mutant in left for unit in near.units(mutant.path) if unit[1] == kind}
        yield Meeting(near, kind, _reaches(units, copies))


class OwnFiles:
    """Runs all tests of the files that are nearest to a change, on SQLite."""

    def __init__(self, near: Near) -> None:
        self._near = near
        self._failing: dict[str, set[str]] = {}  # tests of a file that fail on the unchanged code
        self._unfit: set[str] = set()  # files that can't be collected unchanged, or take too long

    def __call__(self, mutant: Mutant, copy: Path, /) -> str:
        """See Judge. A failure counts only if the same run ends well without the change."""
        for file in self._near.files(mutant):
            while file not in self._unfit:
                failing = self._failing.setdefault(file, set())
                with changed(copy / mutant.path, mutant):
                    ended = failure_in(file, self._near.first, failing, copy)
                if not ended.by:
                    break
                unchanged = self._unchanged(file, ended, copy)
                if not unchanged.by:
                    return ended.by
                print(f"left out, since it fails unchanged: {file}: {unchanged.by}", flush=True)
                if "::" in unchanged.failed:
                    failing.add(unchanged.failed)
                else:
                    self._unfit.add(file)
        return ""

    def _unchanged(self, file: str, ended: Ended, copy: Path) -> Ended:
        """How a run without the change ends: of the failed test, or of the file if none failed."""
        if "::" in ended.failed:
            return first_failure([ended.failed], self._near.first, copy, 0.0)
        return failure_in(file, self._near.first, self._failing[file], copy)


class Meeting:
    """Runs the tests that `Near.meeting` finds for a change, on one kind of database."""

    def __init__(self, near: Near, kind: str, reaches: Mapping[Unit, Reach]) -> None:
        self._near, self._kind, self._reaches = near, kind, reaches

    def __call__(self, mutant: Mutant, copy: Path, /) -> str:
        """See Judge."""
        asked = self._near.meeting(mutant, self._kind, self._reaches)
        if not asked.tests:
            return ""
        with changed(copy / mutant.path, mutant):
            return first_failure(asked.tests, asked.kind, copy, asked.cpu_s).by


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


def _warm(libraries: Sequence[str]) -> None:
    """Import the libraries that the tests import, before anything is forked."""
    warm(libraries)
    gc.collect()
    gc.freeze()
