"""What the tests of old data share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rides.desk_world import World


@pytest.fixture
def world(tmp_path: Path, database: str) -> Iterator[World]:
    """Its rides ended long ago: what is taken from them raises no version."""
    made = World(tmp_path, database)
    yield made
    made.close()
