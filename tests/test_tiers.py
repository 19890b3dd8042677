"""Each test lands in its tier, and a quick one that is slow fails."""

import ast
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import databases, statements, tiers
from tests.tiers import Duration

QUICK = "tests/test_names.py::test_x"


def item(nodeid: str, *marks: str) -> Any:
    """A test with these markers."""
    own = {name: getattr(pytest.mark, name) for name in marks}
    return SimpleNamespace(
        nodeid=nodeid,
        fixturenames=(),
        get_closest_marker=own.get,
        add_marker=lambda mark: own.setdefault(mark.name, mark),
    )


def tier(nodeid: str, *marks: str) -> set[str]:
    """The tier that a test is marked with."""
    made = item(nodeid, *marks)
    tiers.mark([made])
    return {name for name in ("quick", "sweep") if made.get_closest_marker(name)}


def functions(path: Path) -> set[str]:
    """The test functions of a file, as the names of tests give them."""
    found: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            inner = (each.name for each in node.body if isinstance(each, ast.FunctionDef))
            found |= {f"{node.name}::{name}" for name in inner}
    return found


def test_the_kept_times_are_those_of_tests_that_exist() -> None:
    for name in (*tiers.durations(), *map(tiers.function_of, (*tiers.SWEEPS, *tiers.IN_TEST))):
        path, _, function = name.partition("::")
        file = tiers.ROOT / path
        assert file.exists(), f"{name} is gone: remove its line"
        assert not function or function in functions(file), f"{name} is gone: remove its line"
    assert all((tiers.ROOT / name.partition("::")[0]).exists() for name in tiers.OF_DIALECT)


def test_a_test_is_quick_unless_it_is_measured_as_slow_or_needs_a_browser(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(databases, "kind", lambda: databases.SQLITE)
    slow = max(tiers.durations(), key=lambda name: tiers.durations()[name].seconds)
    assert tier(QUICK) == {"quick"}
    assert tier(f"{QUICK}[12-a]") == {"quick"}
    assert tier(f"{slow}[0]") in (set(), {"sweep"})
    assert tier(QUICK, "browser") == tier(QUICK, "engine") == set()


def test_one_share_of_a_sweep_stays_in_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    hostile = "tests/test_hostile_input.py::test_no_value_of_any_field_makes_a_route_fail"
    for kind in (databases.SQLITE, databases.POSTGRESQL):
        monkeypatch.setattr(databases, "kind", lambda kind=kind: kind)
        shares = [tier(f"{hostile}[{n}]") for n in range(3)]
        assert shares == [set(), {"sweep"}, {"sweep"}], kind


def test_the_file_of_times_is_read_as_it_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {
        "tests/test_a.py::test_a": Duration(2.5, process=False),
        "tests/test_b.py::test_b": Duration(0.1, process=True),
        "tests/test_c.py::test_c": Duration(0.2, process=False),
    }
    kept = tmp_path / "durations.txt"
    kept.write_text(tiers.written(found))
    monkeypatch.setattr(tiers, "DURATIONS", kept)
    read = tiers.durations.__wrapped__()
    assert read == {name: found[name] for name in list(found)[:2]}


def test_the_longest_run_of_a_function_counts() -> None:
    measured = tiers.Measured()
    for seconds, process in ((0.5, True), (3.0, False), (1.0, False)):
        needed = Duration(seconds, process)
        report: Any = SimpleNamespace(
            when="teardown", nodeid=f"{QUICK}[1]", user_properties=[(tiers.PROPERTY, [*needed])]
        )
        measured.pytest_runtest_logreport(report)
    assert measured.found == {QUICK: Duration(3.0, process=True)}


def test_a_quick_test_that_starts_a_process_fails() -> None:
    watch = tiers.Watch()
    assert not watch.ended(item(QUICK, "quick")).process
    subprocess.run(["true"], check=True)
    needed = watch.ended(item(QUICK, "quick"))
    assert f"process {QUICK}" in tiers.fault(item(QUICK, "quick"), needed)
    assert tiers.fault(item(QUICK), needed) == "", "a test of another tier may"


def test_a_server_that_all_tests_share_is_no_process_of_the_test_that_comes_first() -> None:
    watch = tiers.Watch()
    for program in tiers.SERVERS:
        sys.audit("subprocess.Popen", f"/usr/bin/{program}", [program], None, None)
    assert not watch.ended(item(QUICK, "quick")).process
    sys.audit("subprocess.Popen", "setpriv", ["setpriv", "/usr/bin/initdb"], None, None)
    assert not watch.ended(item(QUICK, "quick")).process
    for about in (("subprocess.Popen", "/usr/bin/postgrest", [], None, None), ("os.fork",)):
        sys.audit(*about)
        assert watch.ended(item(QUICK)).process
        watch = tiers.Watch()


def test_a_quick_test_whose_shared_fixture_starts_a_process_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tiers, "_starting", set())
    fixture: Any = SimpleNamespace(scope="module", baseid="tests/test_names.py", argname="server")
    with tiers.noting(fixture):
        subprocess.run(["true"], check=True)
    using, other = item(QUICK, "quick"), item("tests/test_words.py::test_x", "quick")
    using.fixturenames = other.fixturenames = ("server",)
    watch = tiers.Watch()
    assert watch.ended(using).process
    assert not watch.ended(other).process


def test_a_quick_test_that_has_grown_slow_fails() -> None:
    line = tiers.fault(item(QUICK, "quick"), Duration(tiers.GROWN_S, process=False))
    assert f"{tiers.GROWN_S} - {QUICK}" in line
    assert tiers.fault(item(QUICK, "quick"), Duration(tiers.LONG_S, process=False)) == ""
    assert tiers.fault(item(QUICK), Duration(99.0, process=True)) == ""


def test_sweeps_collect_each_file_that_has_one_and_few_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(statements, "chosen", lambda _of_dialect: None)
    files = [
        each.relative_to(tiers.ROOT).as_posix() for each in tiers.ROOT.glob("tests/**/test_*.py")
    ]
    assert all(map(tiers.is_collected, files))
    monkeypatch.setenv("RIDEDASH_TEST_TIER", "sweeps")
    collected = {name for name in files if tiers.is_collected(name)}
    with_sweeps = {
        name
        for name in files
        for function in functions(tiers.ROOT / name)
        if tiers.is_sweep(f"{name}::{function}")
    }
    assert with_sweeps == collected < set(files)


def test_too_few_quick_tests_or_too_many_sweeps_are_refused() -> None:
    quick, other, sweep = (item(QUICK, *marks) for marks in (("quick",), (), ("sweep",)))
    tiers.check_shares([quick] * 97 + [sweep] * 3)
    with pytest.raises(pytest.UsageError, match=r"84.0% of the tests are quick"):
        tiers.check_shares([quick] * 84 + [other] * 16)
    with pytest.raises(pytest.UsageError, match=r"96.0% of the tests are in `make test`"):
        tiers.check_shares([quick] * 96 + [sweep] * 4)
