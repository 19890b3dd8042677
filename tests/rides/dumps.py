"""A database that goes back in time: all rows as they were, as after the restore of a backup."""

from typing import Any, Final

from sqlalchemy import Integer, text

from ridedash.store.database.database import Base, Database

Dump = dict[str, list[dict[str, Any]]]
# numbers go on from the highest one, as after a restore
SEQUENCES: Final = (
    "SELECT setval(pg_get_serial_sequence('{t}', 'id'), GREATEST(MAX(id), 1)) FROM {t}"
)


def dump(db: Database) -> Dump:
    """All rows of all tables, as a backup holds them."""
    with db.read() as s:
        return {
            table.name: [dict(row) for row in s.execute(table.select()).mappings()]
            for table in Base.metadata.sorted_tables
        }


def restore(db: Database, backup: Dump) -> None:
    """Put the database back into the state of `backup`."""
    with db.engine.begin() as connection:
        for table in reversed(Base.metadata.sorted_tables):
            connection.execute(table.delete())
        for table in Base.metadata.sorted_tables:
            rows = backup[table.name]
            if rows:
                connection.execute(table.insert(), rows)
            numbered = "id" in table.c and isinstance(table.c.id.type, Integer)
            if db.dialect == "postgresql" and numbered:
                connection.execute(text(SEQUENCES.format(t=table.name)))
