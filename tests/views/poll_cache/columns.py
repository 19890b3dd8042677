"""How a stored poll notices a change of each column that its page shows.

Each column that a ride's page, a guest's link or a row of the board reads is in exactly one of the
sets below. test_columns.py compares these sets with the columns that the view models read;
`versions_rise` compares them with the columns that the tests in tests/rides write.
"""

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
            "booking_timeout_s",
            "category",
            "code",
            "currency",
            "due_at",
            "held_at",
            "http_status",
            "late_double",
            "message",
            "next_retry",
            "payment",
            "pickup_at",
            "ready_at",
            "resolved_at",
            "room",
            "seats",
            "sent_at",
            "started_by",
            "state",
            "tries",
            "txn_id",
        }
    ),
    "rides": frozenset(
        {
            "allotted_at",
            "end_lat",
            "end_lng",
            "end_name",
            "ended_at",
            "facts",
            "otp_enc",
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
# Part of store.poll_marks.Revision.
REVISION: Final[dict[str, frozenset[str]]] = {
    "orders": frozenset({"version"}),
    "accounts": frozenset({"state"}),
    # position_at is only written together with seen_at
    "rides": frozenset({"seen_at", "interval_s", "next_poll_at", "position_at"}),
}
# Never written again after the row was made.
FIXED: Final[dict[str, frozenset[str]]] = {
    "offers": frozenset(
        {
            "cancellation",
            "currency",
            "display_name",
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
    "orders": frozenset(
        {"id", "back_of", "ceiling_minor", "created_at", "group_key", "guest_until"}
        | {"recovered_at", "series_key"}
    ),
    "rides": frozenset({"created_at"}),
}
# Noticed within cache.FRESH_S: a name may be half a minute late. So may be, on an order's page, the
# note that a newer order was booked in its place (OrderPage.superseded_by).
LATE: Final[dict[str, frozenset[str]]] = {
    "guests": frozenset({"erased_at", "language", "name", "phone", "phone2", "unverified"}),
    "properties": frozenset({"currency", "language", "machine_words", "timezone", "words_version"}),
}
# During the call for an action, pages may show the action's former state for some seconds, until
# the outcome of the call raises the version. A call that was not sent, or has no answer, changes no
# page.
CALLED: Final = (
    "NEW.state = 'calling' OR (OLD.state = 'calling' AND NEW.state IN ('unconfirmed', 'armed'))"
)
ROWS_OF_AN_ORDER: Final = ("rides", "actions", "moments", "attention")


def noticed(table: str) -> frozenset[str]:
    """The columns of a table whose changes a stored poll notices."""
    return frozenset().union(
        *(found.get(table, ()) for found in (VERSIONED, REVISION, FIXED, LATE))
    )


@contextmanager
def versions_rise(db: Database) -> Iterator[None]:
    """Fail where a VERSIONED column changes without a new orders.version, or a FIXED one at all.

    SQLite only: triggers note each change, and each commit compares them.
    """
    if db.dialect != "sqlite":
        yield
        return
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
    for table, column, order in _shown():
        noted = f"INSERT INTO shown_changes VALUES ({order}, '{table}.{column}')"
        changed = f"OF {column} ON {table} WHEN NEW.{column} IS NOT OLD.{column}"
        if (table, column) == ("actions", "state"):
            changed += f" AND NOT ({CALLED})"
        yield f"CREATE TRIGGER {table}_{column} AFTER UPDATE {changed} BEGIN {noted}; END"


def _shown() -> Iterator[tuple[str, str, str]]:
    """Table, column, and SQL for the id of the order whose version must rise; -1 if it is FIXED."""
    for table, columns in VERSIONED.items():
        for column in columns:
            yield table, column, "NEW.id" if table == "orders" else "NEW.order_id"
    for table, columns in FIXED.items():
        for column in columns:
            yield table, column, "-1"
