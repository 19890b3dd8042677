"""What the tests of orders and rides share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ridedash.store.db import Database
from tests.rides.desk_world import World


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated database file to copy: migrating takes longer than most tests."""
    path = tmp_path_factory.mktemp("template") / "desk.sqlite"
    db = Database(f"sqlite:///{path}")
    db.upgrade()
    db.close()
    return path


@pytest.fixture
def world(tmp_path: Path, template: Path) -> Iterator[World]:
    """A desk with an empty database."""
    made = World(tmp_path, template)
    yield made
    made.close()
