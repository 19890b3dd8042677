"""The desk of the tests of retention and erasure."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rides.desk_world import World


@pytest.fixture
def world(tmp_path: Path, database: str) -> Iterator[World]:
    """A desk without the check that each change raises a revision: old positions go without one."""
    made = World(tmp_path, database)
    yield made
    made.close()
