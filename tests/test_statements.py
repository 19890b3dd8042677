"""PostgreSQL has the tests that send each statement which was sent on SQLite, and no others."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from tests import databases, statements, tiers
from tests.running import clean_environment

ROOT = Path(__file__).parent.parent
STORE = "tests/store/test_tries.py::test_x"
BOARD = "tests/views/board/test_pages.py"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a run that notes its statements, and none noted yet."""
    monkeypatch.setenv(statements.FOLDER, str(tmp_path))
    monkeypatch.setattr(statements, "_sent", {})
    monkeypatch.setattr(statements, "_running", [set()])
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    return tmp_path


def item(nodeid: str, *marks: str) -> Any:
    """A test with these markers."""
    return SimpleNamespace(
        nodeid=nodeid, get_closest_marker=lambda name: name if name in marks else None
    )


def on(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "kind", lambda: kind)


def chosen(monkeypatch: pytest.MonkeyPatch) -> Any:
    on(databases.POSTGRESQL, monkeypatch)
    return statements.chosen.__wrapped__(tiers.OF_DIALECT)


def test_few_tests_send_all_that_is_not_sent_anyway() -> None:
    sent = {
        "a": {"1", "2", "3"},
        "b": {"1", "2"},
        "c": {"3", "4", "9"},
        "d": {"4", "9"},
        "e": {"5"},
        "f": {"5"},
        "g": set(),
    }
    assert statements.covering(sent, {"9"}) == {"a", "c", "e"}
    assert statements.covering(sent, set("123459")) == set()
    assert statements.covering({}, set()) == set()


def test_the_number_of_values_makes_no_other_statement() -> None:
    assert statements.shape("SELECT x FROM t WHERE x IN (?, ?, ?) AND y = ?") == (
        statements.shape("SELECT x FROM t WHERE x IN (?, ?) AND y = ?")
    )
    assert statements.shape("INSERT INTO t VALUES (?, ?), (?, ?), (?, ?)") == (
        statements.shape("INSERT INTO t VALUES (?, ?)")
    )
    assert statements.shape("SELECT x FROM t") != statements.shape("SELECT y FROM t")


def test_a_run_on_sqlite_notes_what_each_test_of_a_database_sends(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(databases.SQLITE, monkeypatch)
    statements.watch()
    engine = create_engine("sqlite://")
    with engine.connect() as line:
        for test, sent in (
            (item(f"{BOARD}::test_a", "database"), ["SELECT 1", "SELECT 2"]),
            (item(f"{BOARD}::test_b", "database", "browser"), ["SELECT 3"]),
            (item(f"{BOARD}::test_c"), ["SELECT 4"]),
            (item(f"{BOARD}::test_d", "database", "sqlite_only"), ["SELECT 5"]),
            (item(STORE, "database"), ["SELECT 2"]),
        ):
            statements.begin(test)
            for each in sent:
                line.execute(text(each))
    statements.write()
    noted = statements.read(folder)
    assert noted == {f"{BOARD}::test_a": {"SELECT 1", "SELECT 2"}, STORE: {"SELECT 2"}}
    assert chosen(monkeypatch) == {f"{BOARD}::test_a", STORE}


def test_what_all_processes_noted_counts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = [["SELECT 1", "SELECT 2"], {f"{BOARD}::test_a": [0, 1], f"{BOARD}::test_b": [0]}]
    (folder / "gw0.json").write_text(json.dumps(both))
    assert chosen(monkeypatch) == {f"{BOARD}::test_a"}
    (folder / "gw1.json").write_text(json.dumps([["SELECT 1", "SELECT 2"], {STORE: [0, 1]}]))
    assert chosen(monkeypatch) == {STORE}, "a test of the dialect sends them anyway"


def test_without_notes_all_tests_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(statements.FOLDER, raising=False)
    assert chosen(monkeypatch) is None


def test_a_run_without_a_test_of_a_database_writes_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(databases.SQLITE, monkeypatch)
    statements.begin(item(f"{BOARD}::test_c"))
    statements.write()
    assert list(folder.iterdir()) == []


def test_only_the_chosen_tests_are_collected_on_postgresql(tmp_path: Path) -> None:
    names = collected("sqlite", tmp_path / "none", "-m", "database")
    one, other = sorted(names)[0], sorted(names)[-1]
    assert one.partition("::")[0] != other.partition("::")[0]
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "gw0.json").write_text(json.dumps([["SELECT 1"], {one: [0], other: []}]))
    assert collected("postgresql", folder) == {one, other}


def collected(kind: str, noted: Path, *options: str) -> set[str]:
    """The tests in tests/store that pytest collects."""
    environ = clean_environment(RIDEDASH_TEST_STATEMENTS=str(noted), RIDEDASH_TEST_DATABASE=kind)
    # the process below is not a worker of pytest-xdist, even if this one is
    environ.pop("PYTEST_XDIST_WORKER", None)
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *options, "tests/store"], cwd=ROOT, env=environ, capture_output=True, text=True
    )
    assert done.returncode in (0, 5), done.stdout + done.stderr
    return {line for line in done.stdout.splitlines() if "::" in line}
