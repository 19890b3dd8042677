"""A database that goes back in time: all rows as they were, as after the restore of a backup."""

from typing import Any, Final

from sqlalchemy import text

from ridedash.store.database.database import Base, Database

Dump = dict[str, list[dict[str, Any]]]
# the sequences of PostgreSQL under this name: a backup has their values too
SEQUENCES: Final = "sequences"
VALUES: Final = "SELECT sequencename AS name, last_value AS value FROM pg_sequences"
SET: Final = "SELECT setval(:name, coalesce(:value, 1), :value IS NOT NULL)"


def dump(db: Database) -> Dump:
    """All rows of all tables, as a backup holds them."""
    with db.read() as s:
        rows = {
            table.name: [dict(row) for row in s.execute(table.select()).mappings()]
            for table in Base.metadata.sorted_tables
        }
        values = s.execute(text(VALUES)).mappings() if db.dialect == "postgresql" else ()
        return {**rows, SEQUENCES: [dict(row) for row in values]}


def restore(db: Database, backup: Dump) -> None:
    """Put the database back into the state of `backup`."""
    with db.engine.begin() as connection:
        for table in reversed(Base.metadata.sorted_tables):
            connection.execute(table.delete())
        for table in Base.metadata.sorted_tables:
            rows = backup[table.name]
            if rows:
                connection.execute(table.insert(), rows)
        for row in backup[SEQUENCES]:
            connection.execute(text(SET), row)
