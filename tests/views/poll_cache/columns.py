"""How a stored poll notices a change of each column that its page shows.

A column that a ride's page, a guest's link or a row of the board reads stands in exactly one of
these. test_columns.py compares them with what the view models read; `versions_rise` compares them
with what the tests in tests/rides write.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy import Connection, event

from ridedash.store.database.database import Database

# Written only in a transaction that raises orders.version.
VERSIONED: Final[dict[str, frozenset[str]]] = {
    "orders": frozenset(
        {
            "booking_id",
            "booking_timeout_at",
            "code",
            "due_at",
            "late_double",
            "message",
            "next_retry",
            "pickup_at",
            "ready_at",
            "resolved_at",
            "room",
            "seats",
            "sent_at",
            "state",
            "tries",
        }
    ),
    "rides": frozenset(
        {
            "allotted_at",
            "ended_at",
            "facts",
            "otp_enc",
            "position_at",
            "previous_plate",
            "reported",
            "status",
            "swapped_at",
        }
    ),
    "actions": frozenset(
        {"code", "header", "made_at", "name", "payload", "settled_at", "state", "text"}
    ),
    "moments": frozenset({"at", "name", "what"}),
    "attention": frozenset({"detail", "name", "cleared_at"}),
}
# In store.poll_marks.Revision.
REVISION: Final[dict[str, frozenset[str]]] = {
    "orders": frozenset({"version"}),
    "accounts": frozenset({"state"}),
    "rides": frozenset({"seen_at", "interval_s", "next_poll_at"}),
}
# Never written again after the row was made.
FIXED: Final[dict[str, frozenset[str]]] = {
    "offers": frozenset(
        {
            "cancellation",
            "currency",
            "drop_lat",
            "drop_lng",
            "drop_name",
            "pickup_lat",
            "pickup_lng",
            "pickup_name",
            "price_text",
            "product",
            "seat_prices",
        }
    ),
    "orders": frozenset({"id", "category", "created_at"}),
}
# Seen within cache.FRESH_S: half a minute late is early enough for a name.
LATE: Final[dict[str, frozenset[str]]] = {
    "guests": frozenset({"name", "phone"}),
    "properties": frozenset({"currency", "timezone"}),
}
ROWS_OF_AN_ORDER: Final = ("rides", "actions", "moments", "attention")


def noticed(table: str) -> frozenset[str]:
    """The columns of a table whose changes a stored poll notices."""
    return frozenset().union(
        *(found.get(table, ()) for found in (VERSIONED, REVISION, FIXED, LATE))
    )


@contextmanager
def versions_rise(db: Database) -> Iterator[None]:
    """Fail where a transaction changes a VERSIONED column without a new orders.version.

    SQLite only: triggers note each change, and each commit compares them.
    """
    wrong: list[str] = []

    def compare(connection: Connection) -> None:
        found = connection.exec_driver_sql(
            "SELECT DISTINCT what FROM shown_changes "
            "WHERE order_id NOT IN (SELECT order_id FROM version_changes)"
        )
        wrong.extend(what for (what,) in found)
        for table in ("shown_changes", "version_changes"):
            connection.exec_driver_sql(f"DELETE FROM {table}")

    with db.engine.begin() as connection:
        for statement in _triggers():
            connection.exec_driver_sql(statement)
    event.listen(db.engine, "commit", compare)
    try:
        yield
    finally:
        event.remove(db.engine, "commit", compare)
    assert not wrong, (
        f"changed without a new orders.version, so stored polls don't notice: {set(wrong)}"
    )


def _triggers() -> Iterator[str]:
    yield "CREATE TABLE shown_changes (order_id INTEGER, what TEXT)"
    yield "CREATE TABLE version_changes (order_id INTEGER)"
    noted = "INSERT INTO version_changes VALUES (NEW.id)"
    raised = "AFTER UPDATE OF version ON orders WHEN NEW.version > OLD.version"
    yield f"CREATE TRIGGER raised {raised} BEGIN {noted}; END"
    yield f"CREATE TRIGGER began AFTER INSERT ON orders BEGIN {noted}; END"
    for table in ROWS_OF_AN_ORDER:
        noted = f"INSERT INTO shown_changes VALUES (NEW.order_id, '{table}: a new row')"
        yield f"CREATE TRIGGER {table}_new AFTER INSERT ON {table} BEGIN {noted}; END"
    for table, columns in _written().items():
        order = "NEW.id" if table == "orders" else "NEW.order_id"
        for column in columns:
            noted = f"INSERT INTO shown_changes VALUES ({order}, '{table}.{column}')"
            yield (
                f"CREATE TRIGGER {table}_{column} AFTER UPDATE OF {column} ON {table} "
                f"WHEN NEW.{column} IS NOT OLD.{column} BEGIN {noted}; END"
            )


def _written() -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for table, columns in VERSIONED.items():
        found[table] |= columns
    return found
