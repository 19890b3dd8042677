"""The tiers of the tests: `make quick`, `make test`, and `make sweeps`, which has the rest.

| marker | tests | run by |
|---|---|---|
| quick | short ones, without a browser or a process of their own, on SQLite | quick, test |
| none of the two | the others | test |
| sweep | every page in every state | sweeps |

`tests/durations.txt` has the time of each test that is not quick, as `make durations` measured it.
A test that is missing there counts as quick, and fails there once it has grown slow (`Watch`).
"""

import contextlib
import os
import resource
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from tests import databases, statements

ROOT: Final = Path(__file__).parents[1]
DURATIONS: Final = ROOT / "tests" / "durations.txt"
HEAD: Final = """\
# Tests that are not quick: seconds of CPU time of the longest run, "process" if it starts one, and
# the function. Written by `make durations`; read by tests/tiers.py.
"""
KINDS: Final = {True: "process", False: "-"}
STARTS: Final = ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn")  # audit events
SERVERS: Final = ("initdb", "postgres", "redis-server")
PROPERTY: Final = "needed"  # of a report: what `make durations` writes
QUICK_SHARE: Final = 0.85
TEST_SHARE: Final = 0.97
LONG_S: Final = 0.25  # of CPU time: what is measured as longer is not quick
# A quick test that takes this much has grown slow, whatever else the machine does meanwhile.
GROWN_S: Final = 4.0

# On SQLite: what tries one thing on every page, and rows that break what can break. The first share
# of the hostile values runs in `make test`, so that a fault of a whole kind is seen there.
SWEEPS: Final = (
    "tests/test_hostile_input.py",
    "tests/views/test_axe.py",
    "tests/views/test_axe_languages.py",
    "tests/views/test_layouts_browser.py",
    "tests/faults/test_rows.py::test_the_row_of_the_fault_matrix_holds",
)
IN_TEST: Final = ("tests/test_hostile_input.py::test_no_value_of_any_field_makes_a_route_fail[0]",)
# On PostgreSQL `make test` runs these, and of the others those that send a statement that these
# don't send (`statements.chosen`): a dialect of SQL changes no page.
OF_DIALECT: Final = (
    "tests/rides/",
    "tests/store/",
    "tests/processes/",
    "tests/cli/",
    "tests/test_foreign_values.py",
    "tests/test_hostile_input.py::test_no_value_of_any_field_makes_a_route_fail[0]",
)


class Duration(NamedTuple):
    """The time of a test function's longest run in seconds, and whether it starts a process."""

    seconds: float
    process: bool


def function_of(nodeid: str) -> str:
    """The name of a test without its parameters."""
    return nodeid.partition("[")[0]


@cache
def durations() -> dict[str, Duration]:
    """The kept times, by test function."""
    found = {}
    for line in DURATIONS.read_text().splitlines():
        if not line.startswith("#"):
            seconds, kind, function = line.split(maxsplit=2)
            found[function] = Duration(float(seconds), kind == "process")
    return found


def written(found: dict[str, Duration]) -> str:
    """The text of the file of times: those that are not quick, the longest first."""
    slow = {name: each for name, each in found.items() if each.process or each.seconds >= LONG_S}
    return HEAD + "".join(
        f"{each.seconds:.1f} {KINDS[each.process]} {name}\n"
        for name, each in sorted(slow.items(), key=lambda row: (-row[1].seconds, row[0]))
    )


def is_sweep(nodeid: str) -> bool:
    """Whether `make sweeps` runs a test."""
    return nodeid.startswith(SWEEPS) and nodeid not in IN_TEST


def is_collected(name: str) -> bool:
    """Whether this run collects a test file. `make sweeps` and PostgreSQL need few of them."""
    if os.environ.get("RIDEDASH_TEST_TIER") == "sweeps":
        return any(each.partition("::")[0] == name for each in SWEEPS)
    chosen = statements.chosen(OF_DIALECT)
    return chosen is None or any(each.startswith(f"{name}::") for each in chosen)


def is_chosen(item: pytest.Item) -> bool:
    """Whether a test runs on this run's kind of database."""
    chosen = statements.chosen(OF_DIALECT)
    return chosen is None or item.nodeid in chosen


def is_quick(item: pytest.Item) -> bool:
    """Whether `make quick` runs a test that is no sweep."""
    if databases.kind() != databases.SQLITE or item.get_closest_marker("browser"):
        return False
    return function_of(item.nodeid) not in durations()


def mark(items: Iterable[pytest.Item]) -> None:
    """Mark each test with its tier."""
    for item in items:
        if item.get_closest_marker("engine"):
            continue  # `make engines` runs it
        if is_sweep(item.nodeid):
            item.add_marker(pytest.mark.sweep)
        elif is_quick(item):
            item.add_marker(pytest.mark.quick)


def check_shares(items: Iterable[pytest.Item]) -> None:
    """Refuse to run all tests while too few of them are quick, or too many are sweeps."""
    every = list(items)
    for name, least, has in (
        ("quick", QUICK_SHARE, lambda item: item.get_closest_marker("quick") is not None),
        ("in `make test`", TEST_SHARE, lambda item: item.get_closest_marker("sweep") is None),
    ):
        share = sum(map(has, every)) / len(every)
        if share < least:
            raise pytest.UsageError(f"only {share:.1%} of the tests are {name}, of {least:.0%}")


_started: list[str] = []
_starting: set[tuple[str, str]] = set()  # shared fixtures that start a process: where, and name


def watch() -> None:
    """Note, from now on, each process that a test starts."""

    def audit_hook(event: str, about: tuple[Any, ...]) -> None:
        # no module has names any more when Python ends
        if STARTS and event in STARTS and not _is_shared(about):
            _started.append(event)

    sys.addaudithook(audit_hook)


def _is_shared(about: tuple[Any, ...]) -> bool:
    """Whether a server is started that all tests share: the test that comes first starts it."""
    words: list[Any] = []
    for part in about[:2]:  # the program and its arguments; nothing is said of a fork
        words += part if isinstance(part, list) else [part]
    return any(os.path.basename(str(word)) in SERVERS for word in words)


def _cpu_s() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


class Watch:
    """What a test needs from its begin on. Shared fixtures have begun before: only whether they
    start a process counts.
    """

    def __init__(self) -> None:
        self._before = len(_started)
        self._begun = _cpu_s()

    def ended(self, item: pytest.Item) -> Duration:
        names = getattr(item, "fixturenames", ())
        shared = any(item.nodeid.startswith(of) and name in names for of, name in _starting)
        return Duration(_cpu_s() - self._begun, shared or len(_started) > self._before)


@contextlib.contextmanager
def noting(fixture: pytest.FixtureDef[Any]) -> Iterator[None]:
    """Note whether the set-up of a shared fixture starts a process."""
    before = len(_started)
    yield
    if len(_started) > before and fixture.scope != "function":
        _starting.add((fixture.baseid, fixture.argname))


def fault(item: pytest.Item, needed: Duration) -> str:
    """What is wrong with a quick test that is not quick; "" when nothing is."""
    if item.get_closest_marker("quick") is None:
        return ""
    line = f"{needed.seconds:.1f} {KINDS[needed.process]} {function_of(item.nodeid)}"
    if needed.process:
        return f"a quick test starts no process; is it meant? Then tests/durations.txt has: {line}"
    if needed.seconds >= GROWN_S:
        return f"a quick test has grown slow; is it meant? Then tests/durations.txt has: {line}"
    return ""


class Measured:
    """A plugin of `make durations`: it writes the times of all tests into the kept file."""

    def __init__(self) -> None:
        self.found: dict[str, Duration] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "teardown":
            return
        for name, needed in report.user_properties:
            if name == PROPERTY:
                self.add(function_of(report.nodeid), Duration(*needed))

    def add(self, function: str, needed: Duration) -> None:
        before = self.found.get(function, Duration(0.0, process=False))
        self.found[function] = Duration(
            max(before.seconds, needed.seconds), before.process or needed.process
        )

    def pytest_sessionfinish(self) -> None:
        DURATIONS.write_text(written(self.found))
