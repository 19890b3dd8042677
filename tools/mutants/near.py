"""Which tests run for a change: those that enter the changed function, the nearest first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.mutants.changes import Mutant
from tools.mutants.plugins import SHARED, Reach

# Runs of tests: on these databases, or of the quick tests alone (tests/tiers.py). At last the quick
# tests of all other folders: pages enter what is below them, too.
KINDS: Final = ("sqlite", "postgresql")
QUICK: Final = "quick"
ELSEWHERE: Final = "elsewhere"
# tests that may notice a change of any module: they compare its numbers with docs/limits.md
LIMITS: Final = "tests/test_limits.py"
# a folder of tests or a single test file, and a kind of run: its tests run in one process to
# record what they enter
Unit = tuple[str, str]


@dataclass(frozen=True)
class Round:
    """Tests to be run in one process, in this order, and the CPU seconds they take unchanged."""

    kind: str
    tests: Sequence[str]
    cpu_s: float


class Near:
    """Finds the tests for the changes of a project; with `own` only those of `files`, on SQLite.

    With `own` a run is short enough to be used while a test file is written, but it notices less.
    With `quick` only tests of that tier run, of all folders.
    """

    def __init__(self, root: Path, *, own: bool = False, quick: bool = False) -> None:
        self.root = root
        every = (QUICK,) if quick else KINDS
        self.first, self.kinds = every[0], () if own else (*every, ELSEWHERE)
        folders = {test.parent for test in (root / "tests").rglob("test_*.py")}
        self._folders = sorted(folder.relative_to(root).as_posix() for folder in folders)

    def files(self, mutant: Mutant) -> list[str]:
        """The nearest test files: the module's own; LIMITS too, if the change has no `function`."""
        files = [_own(mutant.path)] + [LIMITS] * (mutant.function is None)
        return [file for file in files if (self.root / file).exists()]

    def units(self, path: str) -> list[Unit]:
        """Where the tests of a module are: the folder that mirrors its folder, and LIMITS.

        Folders inside that folder are included if they hold tests themselves. The others are
        ELSEWHERE.
        """
        mirror = Path(_own(path)).parent
        near = [each for each in self._folders if Path(each).is_relative_to(mirror)]
        units = [(each, kind) for kind in self.kinds if kind != ELSEWHERE for each in near]
        limits = [(LIMITS, self.first)] * (self.root / LIMITS).exists()
        others = [(each, ELSEWHERE) for each in self._folders if each not in near]
        return [*units, *limits, *others * (ELSEWHERE in self.kinds)]

    def meeting(self, mutant: Mutant, kind: str, reaches: Mapping[Unit, Reach]) -> Round:
        """The tests that may notice a change: the module's own file first, then the others."""
        near = [reaches[unit] for unit in self.units(mutant.path) if unit[1] == kind]
        cpu_s = {test: s for reach in near for test, s in reach.cpu_s.items()}
        met = {test for reach in near for test in _meeting(mutant, reach)}
        taken = sum(cpu_s[test] for test in met)
        return Round(kind, _sorted(list(met), cpu_s, _own(mutant.path)), taken)


def _own(path: str) -> str:
    """A module's own test file."""
    module = Path(path).relative_to("ridedash")
    return (Path("tests") / module.parent / f"test_{module.name}").as_posix()


def _meeting(mutant: Mutant, reach: Reach) -> set[str]:
    """The tests that may notice a change: those that pass unchanged and enter its function.

    All of them may if the change is in no function, or in one that runs on import or in a fixture
    of several tests.
    """
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
