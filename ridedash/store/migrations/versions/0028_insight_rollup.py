"""Stored figures of past days, and triggers that record changes of the counted data."""

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
# the columns of each table that the insights read (tests/store/test_insight_rollup.py compares)
COUNTED: Final = {
    "orders": (
        "property_id",
        "happens_at",
        "state",
        "ended_as",
        "total_minor",
        "currency",
        "staff_id",
        "category",
        "cost_centre_id",
        "driver_s",
        "guest_s",
        "offer_id",
    ),
    "rides": ("order_id", "allotted_at", "ended_at"),
    "actions": ("property_id", "order_id", "name", "state", "payload", "made_at"),
    "moments": ("property_id", "order_id", "what", "name"),
    "offers": ("drop_name", "drop_lat", "currency", "cancellation"),
}
# The condition of the rows whose changes are recorded; changes of all rows of the other tables are.
# Insights also read the timeline events (table moments) about lost and new drivers. These precede
# the end of the ride, which the triggers of `orders` record.
READ: Final = {
    "actions": "{row}.state = 'done' AND {row}.name IN ('drop', 'abort', 'cancel')",
    "moments": "{row}.what = 'order' AND {row}.name = 'UNKNOWN'",
}
ROWS: Final = {"INSERT": ("NEW",), "UPDATE": ("OLD", "NEW"), "DELETE": ("OLD",)}
DIFFER: Final = {"sqlite": "IS NOT", "postgresql": "IS DISTINCT FROM"}
# PostgreSQL can't compare JSON
COMPARED: Final = {"cancellation": "CAST({row}.cancellation AS text)"}
NOTE: Final = "INSERT INTO insight_changes (token) SELECT s.token FROM insight_spans s"
# the spans that contain the instant of an order
OF_ORDER: Final = (
    f"{NOTE} WHERE s.property_id = {{row}}.property_id"
    " AND s.until > {row}.happens_at AND s.since <= {row}.happens_at"
)
OF_ORDER_ID: Final = (
    f"{NOTE} JOIN orders o ON s.property_id = o.property_id"
    " AND s.until > o.happens_at AND s.since <= o.happens_at WHERE o.id = {row}.order_id"
)
# all spans of the property: there is no index from an offer to its orders, and offers rarely change
OF_OFFER: Final = f"{NOTE} WHERE s.property_id = {{row}}.property_id"
NOTED: Final = {"orders": OF_ORDER, "offers": OF_OFFER}


def upgrade() -> None:
    """Create empty tables and the triggers: the first view of a span computes its figures."""
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
    """The tables, each with the events that are recorded.

    For offers only updates are recorded: an offer is stored before any order refers to it.
    """
    for table in COUNTED:
        for event in ("UPDATE",) if table == "offers" else ROWS:
            yield table, event


def _name(table: str, event: str) -> str:
    return f"insights_{table}_{event.lower()}"


def _trigger(dialect: str, table: str, event: str) -> Iterator[str]:
    """The statements that make a trigger."""
    name = _name(table, event)
    noted = "; ".join(NOTED.get(table, OF_ORDER_ID).format(row=row) for row in ROWS[event])
    of = f" OF {', '.join(COUNTED[table])}" if event == "UPDATE" else ""
    condition = _condition(dialect, table, event)
    when = f" WHEN ({condition})" if condition else ""
    begin = f"CREATE TRIGGER {name} AFTER {event}{of} ON {table}"
    if dialect == "sqlite":
        yield f"{begin} FOR EACH ROW{when} BEGIN {noted}; END"
        return
    body = f"BEGIN {noted}; RETURN NULL; END"
    yield f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $${body}$$"
    yield f"{begin} FOR EACH ROW{when} EXECUTE FUNCTION {name}()"


def _condition(dialect: str, table: str, event: str) -> str:
    """The condition under which a change concerns the insights; "" for always."""
    if table in READ:
        return " OR ".join(f"({READ[table].format(row=row)})" for row in ROWS[event])
    if event != "UPDATE":
        return ""
    differences = []
    for column in COUNTED[table]:
        value = COMPARED.get(column, "{row}." + column)
        old, new = value.format(row="OLD"), value.format(row="NEW")
        differences.append(f"{old} {DIFFER[dialect]} {new}")
    return " OR ".join(differences)
