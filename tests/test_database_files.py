"""The run on PostgreSQL collects the files with database tests, and no others."""

import subprocess
import sys
from pathlib import Path

from tests.running import clean_environment

ROOT = Path(__file__).parent.parent


def collected(listed: Path, kind: str, *options: str) -> set[str]:
    """The files in tests/store that pytest collects."""
    environ = clean_environment(RIDEDASH_TEST_FILES=str(listed), RIDEDASH_TEST_DATABASE=kind)
    # the process below is not a worker of pytest-xdist, even if this one is
    environ.pop("PYTEST_XDIST_WORKER", None)
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *options, "tests/store"], cwd=ROOT, env=environ, capture_output=True, text=True
    )
    assert done.returncode in (0, 5), done.stdout + done.stderr
    return {line.partition("::")[0] for line in done.stdout.splitlines() if "::" in line}


def test_only_files_with_tests_of_a_database_are_collected_again(tmp_path: Path) -> None:
    listed = tmp_path / "files"
    marked = collected(listed, "sqlite", "-m", "database and not browser")
    every = collected(listed, "sqlite")
    assert collected(listed, "postgresql") == set(listed.read_text().splitlines()) == marked
    assert marked < every


def test_no_file_is_listed_when_no_chosen_test_touches_a_database(tmp_path: Path) -> None:
    listed = tmp_path / "files"
    assert collected(listed, "sqlite", "-k", "test_a_file_has_no_clock_and_a_server_has")
    assert listed.read_text() == ""
