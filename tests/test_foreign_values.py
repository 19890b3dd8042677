"""What PostgreSQL refuses is seen in statements on SQLite, and PostgreSQL does refuse it."""

from collections.abc import Mapping
from typing import Any

import pytest
from sqlalchemy import Executable, bindparam, insert, select
from sqlalchemy.exc import DBAPIError

from ridedash.store.database.database import Database
from ridedash.store.models.people import Property
from tests import databases, foreign_values
from tests.foreign_values import is_refused

BY_NAME = select(Property.id).where(Property.name == bindparam("name"))
BY_ID = select(Property.name).where(Property.id == bindparam("id"))
BY_IDS = select(Property.name).where(
    Property.name.in_(bindparam("names", expanding=True)),
    Property.id.in_(bindparam("ids", expanding=True)),
)


def ran(db: Database, statement: Executable, values: Mapping[str, Any]) -> bool:
    """Whether the database took a statement."""
    with db.read() as s:
        try:
            s.execute(statement, values)
        except (DBAPIError, OverflowError):
            return False
        return True


def test_text_for_a_number_is_seen_and_postgresql_refuses_it(db: Database) -> None:
    with foreign_values.watched() as found:
        taken = ran(db, BY_ID, {"id": "twelve"})
    assert taken == (databases.kind() == databases.SQLITE)
    assert len(found) == 1
    assert "twelve" in found[0]


def test_text_among_numbers_is_seen(db: Database) -> None:
    with foreign_values.watched() as found:
        assert ran(db, BY_IDS, {"names": ["a", "b"], "ids": [1, 2]})
        assert found == []
        ran(db, BY_IDS, {"names": ["a", "b"], "ids": [1, "2"]})
    assert len(found) == 1


@pytest.mark.parametrize(
    ("statement", "values", "taken"),
    [
        (BY_NAME, {"name": "a\0b"}, True),
        (BY_NAME, {"name": "w" * 10_000}, True),
        (BY_ID, {"id": 12}, True),
        (BY_ID, {"id": 2**63}, False),
        (insert(Property), {"name": "Heron"}, False),  # a column is missing
    ],
)
def test_all_else_is_taken_by_both_kinds_or_by_none(
    db: Database, statement: Executable, values: Mapping[str, Any], taken: bool
) -> None:
    with foreign_values.watched() as found:
        assert ran(db, statement, values) == taken
    assert found == []


def test_nothing_is_watched_afterwards(db: Database) -> None:
    with foreign_values.watched() as found:
        pass
    ran(db, BY_ID, {"id": "twelve"})
    assert found == []


def test_what_is_not_known_is_not_refused() -> None:
    assert not is_refused("12", None)
    assert not is_refused("12", str)
    assert not is_refused(None, int)
    assert is_refused("12", float)
