"""Row numbers that are never given twice, also when the database goes back in time.

A restored backup, or a replica that takes over without the last seconds, would otherwise give the
number of a lost row to another one, and an open page of the lost row would show and do things to
that other one (docs/booking-protocol.md 1.7).

A number is the second of its insert, shifted by SHIFT bits, plus a part that keeps numbers of one
second apart and in order: on PostgreSQL the table's sequence and a few random bits, by a default
that migration 0032 sets; on SQLite, which has one writer at a time, the fraction of the second, or
the next number after the table's last. Time goes on while a database is restored, so its next
numbers are higher than all that it ever gave. Numbers stay below 2**53, which JavaScript counts
exactly.

Numbers of one table rise, but not by one. On PostgreSQL they fall if its clock is set back. Rows
that triggers insert (insight_changes) have SQLite's own numbers, which nothing reads.
"""

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import event
from sqlalchemy.engine import Connection
from sqlalchemy.orm import Mapper

SINCE: Final = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp())
SHIFT: Final = 22
NS: Final = 10**9  # nanoseconds in a second
LATEST: Final = 1 << 53 - SHIFT  # seconds after SINCE
PART_BITS: Final = 4  # on PostgreSQL, below the sequence: the sixteenth of the second
# of the sequence: a tool that copies a database may set it to the highest number of the table
SEQUENCE_BITS: Final = 32
# what people set up keeps small numbers: sums by member of staff and cost centre pack the two into
# one integer (store/insight_queries.py, ID_FACTOR)
SMALL: Final = frozenset({"properties", "staff", "cost_centres"})


def keep_numbers(base: type[Any]) -> None:
    """Number the rows of all tables with a column `id` on SQLite, as their rows are inserted."""
    event.listen(base, "before_insert", _number, propagate=True)


def made_at(number: int) -> datetime | None:
    """The second in which a row was inserted; None for a number of an earlier release, or none.

    On PostgreSQL it is too late by the length of the table's sequence: 4 s for a million rows.
    """
    second = number >> SHIFT
    if not 0 < second < LATEST:
        return None
    return datetime.fromtimestamp(SINCE + second, UTC)


def postgresql_default(table: str) -> str:
    """The SQL expression of a new number for a table of PostgreSQL."""
    parts = 1 << PART_BITS
    part = f"floor(extract(epoch FROM statement_timestamp()) * {parts})::bigint"
    return (
        f"(greatest(({part} >> {PART_BITS}) - {SINCE}, 0) << {SHIFT})"
        f" + ((nextval('{table}_id_seq') & {(1 << SEQUENCE_BITS) - 1}) << {PART_BITS})"
        f" + ({part} & {parts - 1})"
    )


def number_rows(connection: Connection, table: str) -> None:
    """Let PostgreSQL number the rows of a table by the time; for the migration that adds it."""
    if connection.dialect.name == "postgresql":
        default = postgresql_default(table)
        connection.exec_driver_sql(f"ALTER TABLE {table} ALTER COLUMN id SET DEFAULT {default}")


def numbered(
    connection: Connection, table: str, rows: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Rows to be inserted without objects: on SQLite with their numbers, in the same order."""
    if connection.dialect.name != "sqlite":
        return list(rows)
    first = first_number(connection, table, len(rows))
    return [row | {"id": first + place} for place, row in enumerate(rows)]


def first_number(connection: Connection, table: str, count: int) -> int:
    """The first of `count` new numbers in a row, all above the table's last, whatever the clock.

    For tables with one writer at a time: those of SQLite, and one that the transaction has locked.
    """
    transaction = connection.get_transaction()
    given = connection.info.setdefault("numbers", {})
    known, last = given.get(table, (None, 0))
    if known is not transaction:
        newest = f"SELECT max(id) FROM {table}"  # noqa: S608 - the name of one of our tables
        last = connection.exec_driver_sql(newest).scalar() or 0
    fresh = (time.time_ns() - SINCE * NS << SHIFT) // NS
    first: int = max(fresh, last + 1)
    given[table] = transaction, first + count - 1
    return first


def _number(mapper: Mapper[Any], connection: Connection, row: Any) -> None:
    if connection.dialect.name != "sqlite" or "id" not in mapper.columns or row.id is not None:
        return
    table: str = row.__tablename__
    if table not in SMALL:
        row.id = first_number(connection, table, 1)
