"""What the tests of orders and rides share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rides.desk_world import World


@pytest.fixture
def world(tmp_path: Path, database: str) -> Iterator[World]:
    """A desk with an empty database."""
    made = World(tmp_path, database)
    yield made
    made.close()
