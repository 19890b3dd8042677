"""The list of test files that the run on PostgreSQL collects; the run on SQLite before writes it.

RIDEDASH_TEST_FILES, which tools/test.sh sets, is the path of the list. Collecting all files would
take each process of the second run several seconds, even if no chosen test touches a database.
"""

import functools
import os
from pathlib import Path

import pytest

from tests import databases


def record(session: pytest.Session) -> None:
    """Write the names of the files with tests marked `database`, one a line; not on PostgreSQL."""
    target = os.environ.get("RIDEDASH_TEST_FILES")
    # every process collects the same tests
    first = os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0"
    if target and first and databases.kind() == databases.SQLITE:
        found = {
            name_of(item.path, session.config.rootpath)
            for item in session.items
            if runs_again(item)
        }
        Path(target).write_text("".join(f"{name}\n" for name in sorted(found)))


def runs_again(item: pytest.Item) -> bool:
    """Whether a test belongs to the run on PostgreSQL; browser tests run on SQLite only."""
    return (
        item.get_closest_marker("database") is not None
        and item.get_closest_marker("browser") is None
    )


@functools.cache
def chosen() -> frozenset[str] | None:
    """The files to collect on PostgreSQL; None for all of them."""
    source = os.environ.get("RIDEDASH_TEST_FILES")
    if not source or databases.kind() == databases.SQLITE:
        return None
    return frozenset(Path(source).read_text().splitlines())


def name_of(path: Path, root: Path) -> str:
    """A file as the list names it: relative to the project."""
    return path.relative_to(root).as_posix()
