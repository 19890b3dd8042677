"""The tests near a change: which of them enter the function that is changed, the nearest first."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.mutants.changes import Mutant
from tools.mutants.plugins import SHARED, Reach

KINDS_IN_TURN: Final = ("sqlite", "postgresql")
Unit = tuple[str, str]  # a folder of tests, and a kind of database: what is run unchanged at once


@dataclass(frozen=True)
class Round:
    """Tests to be run at once, in this order, and the seconds of CPU they take unchanged."""

    kind: str
    tests: Sequence[str]
    cpu_s: float


def folder_of(path: str) -> Path:
    """The folder of a module's tests."""
    return Path("tests") / Path(path).relative_to("ridedash").parent


def folders(path: str, root: Path) -> list[str]:
    """The folder of a module's tests and those in it, as far as they hold tests themselves."""
    top = root / folder_of(path)
    found = {test.parent for test in top.rglob("test_*.py")}
    return sorted(folder.relative_to(root).as_posix() for folder in found)


def rounds(mutant: Mutant, reaches: Mapping[Unit, Reach], root: Path) -> Iterator[Round]:
    """What to run: the module's own test file, the rest of its folder, and on PostgreSQL."""
    own = str(folder_of(mutant.path) / f"test_{Path(mutant.path).name}")
    where = folders(mutant.path, root)
    for kind in KINDS_IN_TURN:
        near = [reaches[folder, kind] for folder in where]
        cpu_s = {test: s for reach in near for test, s in reach.cpu_s.items()}
        met = {test for reach in near for test in _meeting(mutant, reach)}
        ours = [test for test in met if _file(test) == own]
        others = [test for test in met if _file(test) != own]
        for tests in [ours, others] if kind == KINDS_IN_TURN[0] else [ours + others]:
            if tests:
                yield Round(kind, _sorted(tests, cpu_s, own), sum(cpu_s[test] for test in tests))


def _meeting(mutant: Mutant, reach: Reach) -> set[str]:
    """The tests that may notice a change: all, unless it is in a function."""
    tests = {test for test in reach.cpu_s if test not in reach.failed}
    place = mutant.path, mutant.function
    if mutant.function is None or place in reach.entered[SHARED]:
        return tests
    return {test for test in tests if place in reach.entered.get(test, ())}


def _sorted(tests: Sequence[str], cpu_s: Mapping[str, float], own: str) -> list[str]:
    """The module's own file first, then file by file: quick ones before slow ones."""
    files: dict[str, float] = {}
    for test in tests:
        files[_file(test)] = files.get(_file(test), 0.0) + cpu_s[test]
    return sorted(
        tests,
        key=lambda test: (_file(test) != own, files[_file(test)], _file(test), cpu_s[test]),
    )


def _file(test: str) -> str:
    return test.partition("::")[0]
