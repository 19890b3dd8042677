"""What the tests of orders and rides share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rides.desk_world import World
from tests.views.poll_cache.columns import versions_rise


@pytest.fixture
def world(tmp_path: Path, database: str) -> Iterator[World]:
    """A desk without orders; each change of a shown column has to raise the version."""
    made = World(tmp_path, database)
    with versions_rise(made.db):
        yield made
    made.close()
