"""A PostgreSQL database of an earlier test is equal to a new one, or is not used again."""

import contextlib
from pathlib import Path

import pytest
from sqlalchemy import text

from ridedash.store.database.database import Database
from tests import databases, emptying
from tests.databases import POSTGRESQL

ADD = text(
    "INSERT INTO heartbeats (worker, beat_at) SELECT 'w' || n, now() FROM generate_series(1, :n) n"
)
INSERT_PROPERTY = text(
    "INSERT INTO properties (name, timezone, created_at) VALUES ('a', 'UTC', now()) RETURNING id"
)


def left_by_a_test(folder: Path, change: str = "", rows: int = 3) -> str:
    """The address of a database that was filled, and perhaps changed, without open connections."""
    url = databases.new_database(folder, POSTGRESQL)
    with contextlib.closing(Database(url)) as db, db.write() as s:
        s.execute(ADD, {"n": rows})
        s.execute(INSERT_PROPERTY)
        if change:
            s.execute(text(change))
    return url


def test_an_emptied_database_has_no_rows_and_its_ids_begin_at_one(tmp_path: Path) -> None:
    first = left_by_a_test(tmp_path)
    databases.forget(tmp_path)
    again = databases.new_database(tmp_path, POSTGRESQL)
    assert again == first
    with contextlib.closing(Database(again)) as db, db.write() as s:
        db.require_current()
        assert s.execute(text("SELECT count(*) FROM heartbeats")).scalar_one() == 0
        assert s.execute(INSERT_PROPERTY).scalar_one() == 1


@pytest.mark.parametrize(
    ("change", "rows"),
    [
        ("ALTER TABLE heartbeats DROP COLUMN silent_since", 3),
        ("DELETE FROM alembic_version", 3),
        ("DROP INDEX orders_by_state", 3),
        ("ALTER TABLE audit ALTER COLUMN id SET DEFAULT 1", 3),
        ("", emptying.HEAVY + 1),
    ],
)
def test_a_changed_or_large_database_is_dropped(tmp_path: Path, change: str, rows: int) -> None:
    first = left_by_a_test(tmp_path, change, rows)
    databases.forget(tmp_path)
    assert databases.new_database(tmp_path, POSTGRESQL) != first
    with databases.shared_postgres().connect() as line:
        found = line.execute(
            "SELECT 1 FROM pg_database WHERE datname = %s", [first.split("/")[3].split("?")[0]]
        )
        assert found.fetchone() is None
