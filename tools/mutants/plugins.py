"""Pytest plugins that record which functions tests enter, and that run the tests for a change.

A run for a change ends at the first test that fails: these plugins note which one it is.
"""

import contextlib
import sys
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from tools.mutants.changes import modules

SHARED: Final = ""  # the key for what is entered on import or by a fixture of several tests


@dataclass
class Reach:
    """What the tests of a folder enter, by their node ids.

    `entered`: functions of the modules in CORE (changes.py), each as path and first line; those
    under SHARED concern every test. `cpu_s`: CPU seconds of each test, with its fixtures. `failed`:
    tests and files that fail on the unchanged code, and so can't judge a change. `libraries`:
    modules that are not the project's, in order of import.
    """

    entered: dict[str, set[tuple[str, int]]] = field(default_factory=dict)
    cpu_s: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    libraries: list[str] = field(default_factory=list)


class Recorder:
    """Records the reach of each test. For one run of pytest in a process of its own."""

    def __init__(self, root: Path) -> None:
        self.reach = Reach()
        self._paths = {str(path): path.relative_to(root).as_posix() for path in modules("", root)}
        self._now = self.reach.entered[SHARED] = set()

    def trace(self, frame: Any, _event: str, _arg: object) -> None:
        """For sys.settrace: called for each call of a function, in every thread."""
        path = self._paths.get(frame.f_code.co_filename)
        if path is not None:
            self._now.add((path, frame.f_code.co_firstlineno))

    def start(self) -> None:
        """Record from now on."""
        threading.settrace(self.trace)
        sys.settrace(self.trace)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Record a test with its fixtures."""
        self._now = self.reach.entered.setdefault(item.nodeid, set())
        begun = time.process_time()
        try:
            return (yield)
        finally:
            self.reach.cpu_s[item.nodeid] = time.process_time() - begun
            self._now = self.reach.entered[SHARED]

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        """Record under SHARED what a fixture of several tests enters."""
        before = self._now
        if fixturedef.scope != "function":
            self._now = self.reach.entered[SHARED]
        try:
            return (yield)
        finally:
            self._now = before

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that fails although nothing was changed."""
        if report.failed and report.nodeid not in self.reach.failed:
            self.reach.failed.append(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that can't be collected."""
        if report.failed:
            self.reach.failed.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Stop recording: everything has run."""
        sys.settrace(None)
        threading.settrace(lambda *_: None)
        self.reach.libraries = [name for name in sys.modules if is_library(name)]


class First:
    """Notes the first test that fails, and leaves out some tests."""

    def __init__(self, without: Collection[str] = ()) -> None:
        self._without = without
        self.failed = ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out the tests in `without`."""
        items[:] = [item for item in items if item.nodeid not in self._without]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the first test that fails."""
        if report.failed:
            self.failed = self.failed or report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a test file that can't be imported as failed: the change may be the cause."""
        if report.failed:
            self.failed = self.failed or report.nodeid


class Chosen(First):
    """Runs the chosen tests alone, in their order, and notes the first one that fails."""

    def __init__(self, tests: Sequence[str]) -> None:
        super().__init__()
        self._turns = {test: turn for turn, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out all tests that were not chosen, and sort the chosen ones."""
        items[:] = sorted(
            (item for item in items if item.nodeid in self._turns),
            key=lambda item: self._turns[item.nodeid],
        )


def hurried() -> None:
    """Let Hypothesis draw the same examples in each run, and not simplify those that fail."""
    with contextlib.suppress(ImportError):
        import hypothesis

        phases = hypothesis.Phase.explicit, hypothesis.Phase.generate
        hypothesis.settings.register_profile(
            "mutants", phases=phases, database=None, derandomize=True, deadline=None
        )
        hypothesis.settings.load_profile("mutants")


def warm(libraries: Collection[str]) -> None:
    """Import libraries before processes are forked. Never a module of the project."""
    for name in libraries:
        if is_library(name):
            with contextlib.suppress(Exception):
                __import__(name)
    assert not {"ridedash", "tests"} & set(sys.modules), "what is changed is imported anew"
    assert threading.active_count() == 1, "a process with threads can't be forked"


def is_library(name: str) -> bool:
    """Whether a module is none of the project's."""
    top = name.partition(".")[0]
    found = getattr(sys.modules.get(name), "__file__", None) or ""
    ours = top in ("ridedash", "tests", "bench", "tools", "conftest", "__main__")
    # pytest imports test modules under names of its own, so the place of the file counts, too
    return not ours and (name not in sys.modules or "/lib/python" in found)
