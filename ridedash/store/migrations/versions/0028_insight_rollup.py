"""Figures of days that are over, and triggers that note what changes them afterwards."""

from collections.abc import Iterator
from typing import Final

import sqlalchemy as sa
from alembic import op

from ridedash.store.database import database as db

revision = "0028"
down_revision: str | None = "0027"
branch_labels = None
depends_on = None

WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
# what the insights read of each table (tests/store/test_insight_rollup.py compares)
COUNTED: Final = {
    "orders": (
        *("property_id", "happens_at", "state", "ended_as", "total_minor", "currency", "staff_id"),
        *("category", "cost_centre_id", "driver_s", "guest_s", "offer_id"),
    ),
    "rides": ("order_id", "allotted_at", "ended_at"),
    "actions": ("property_id", "order_id", "name", "state", "payload", "made_at"),
    "moments": ("property_id", "order_id", "what", "name"),
    "offers": ("drop_name", "drop_lat", "currency", "cancellation"),
}
# rows of these tables that the insights read; of the others all of them
READ: Final = {
    "actions": "{row}.state = 'done' AND {row}.name IN ('drop', 'abort', 'cancel')",
    "moments": "{row}.what = 'order' AND {row}.name = 'UNKNOWN'",
}
ROWS: Final = {"INSERT": ("NEW",), "UPDATE": ("OLD", "NEW"), "DELETE": ("OLD",)}
DIFFER: Final = {"sqlite": "IS NOT", "postgresql": "IS DISTINCT FROM"}
COMPARED: Final = {"cancellation": "CAST({row}.cancellation AS text)"}  # PostgreSQL's JSON can't be
NOTE: Final = "INSERT INTO insight_changes (token) SELECT s.token FROM insight_spans s"
# the spans that have the instant under which a row is counted
OF_ORDER: Final = (
    f"{NOTE} WHERE s.property_id = {{row}}.property_id"
    " AND s.until > {row}.happens_at AND s.since <= {row}.happens_at"
)
OF_ITS_ROW: Final = (
    f"{NOTE} JOIN orders o ON s.property_id = o.property_id"
    " AND s.until > o.happens_at AND s.since <= o.happens_at WHERE o.id = {row}.order_id"
)
# which orders have an offer is not indexed, and offers never change: all spans of the property
OF_OFFER: Final = f"{NOTE} WHERE s.property_id = {{row}}.property_id"
NOTED: Final = {"orders": OF_ORDER, "offers": OF_OFFER}


def upgrade() -> None:
    """Nothing is added up yet: the first look at some days does that."""
    op.create_table(
        "insight_spans",
        sa.Column("property_id", WHOLE, sa.ForeignKey("properties.id"), primary_key=True),
        sa.Column("until", db.UtcDateTime(timezone=True), primary_key=True),
        sa.Column("since", db.UtcDateTime(timezone=True), primary_key=True),
        _text("zone", 64),
        _text("counted_by", 64),
        sa.Column("token", WHOLE, nullable=False),
        sa.Column("figures", sa.Text()),
    )
    op.create_table(
        "insight_changes",
        sa.Column("id", WHOLE, primary_key=True),
        sa.Column("token", WHOLE, nullable=False),
    )
    op.create_index("insight_changes_of_span", "insight_changes", ["token"])
    for table, event in _noted():
        for statement in _trigger(op.get_bind().dialect.name, table, event):
            op.execute(sa.text(statement))


def downgrade() -> None:
    """Drop what upgrade() added."""
    for table, event in _noted():
        name = _name(table, event)
        if op.get_bind().dialect.name == "sqlite":
            op.execute(f"DROP TRIGGER {name}")
        else:
            op.execute(f"DROP TRIGGER {name} ON {table}")
            op.execute(f"DROP FUNCTION {name}()")
    op.drop_table("insight_changes")
    op.drop_table("insight_spans")


def _text(name: str, length: int) -> sa.Column[str]:
    return sa.Column(name, sa.String(length).with_variant(sa.Text(), "postgresql"), nullable=False)


def _noted() -> Iterator[tuple[str, str]]:
    """Tables, and which changes of them: an offer is stored before any order has it."""
    for table in COUNTED:
        for event in ("UPDATE",) if table == "offers" else ROWS:
            yield table, event


def _name(table: str, event: str) -> str:
    return f"insights_{table}_{event.lower()}"


def _trigger(dialect: str, table: str, event: str) -> Iterator[str]:
    """The statements that make a trigger."""
    name, rows = _name(table, event), ROWS[event]
    noted = "; ".join(NOTED.get(table, OF_ITS_ROW).format(row=row) for row in rows)
    of = f" OF {', '.join(COUNTED[table])}" if event == "UPDATE" else ""
    when = f" WHEN ({condition})" if (condition := _condition(dialect, table, event)) else ""
    begin = f"CREATE TRIGGER {name} AFTER {event}{of} ON {table}"
    if dialect == "sqlite":
        yield f"{begin} FOR EACH ROW{when} BEGIN {noted}; END"
        return
    body = f"BEGIN {noted}; RETURN NULL; END"
    yield f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $${body}$$"
    yield f"{begin} FOR EACH ROW{when} EXECUTE FUNCTION {name}()"


def _condition(dialect: str, table: str, event: str) -> str:
    """When a change is of what the insights read; empty for always."""
    if table in READ:
        return " OR ".join(f"({READ[table].format(row=row)})" for row in ROWS[event])
    if event != "UPDATE":
        return ""
    return " OR ".join(
        COMPARED.get(each, "{row}." + each).format(row="OLD")
        + f" {DIFFER[dialect]} "
        + COMPARED.get(each, "{row}." + each).format(row="NEW")
        for each in COUNTED[table]
    )
