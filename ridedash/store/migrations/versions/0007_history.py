"""Columns and indexes by which the history lists, sums and searches."""

import json
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import sqlalchemy as sa
from alembic import op

from ridedash.store.database import database as db
from ridedash.text import compact_key, normalised

revision = "0007"
down_revision: str | None = "0006"
branch_labels = None
depends_on = None

Row = Mapping[Any, Any]
AT_ONCE: Final = 1_000


def _whole(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger().with_variant(sa.Integer(), "sqlite"))


def _text(name: str, length: int) -> sa.Column[str]:
    return sa.Column(name, sa.String(length).with_variant(sa.Text(), "postgresql"))


ADDED: Final[dict[str, Callable[[], tuple[sa.Column[Any], ...]]]] = {
    "orders": lambda: (
        sa.Column("happens_at", db.UtcDateTime(timezone=True)),
        _text("room", 32),
        _text("ended_as", 64),
        _whole("total_minor"),
        _text("currency", 8),
    ),
    "rides": lambda: (_text("plate", 300),),
    "guests": lambda: (_text("folded", 300),),
}
HISTORY: Final = [
    "property_id",
    "happens_at",
    "id",
    "state",
    "ended_as",
    "total_minor",
    "currency",
    "guest_id",
    "staff_id",
    "category",
    "cost_centre_id",
    "room",
]
INDEXES: Final[tuple[tuple[str, str, list[str], dict[str, str]], ...]] = (
    ("orders_history", "orders", HISTORY, {}),
    ("orders_of_room", "orders", ["property_id", "room", "id"], {}),
    ("orders_of_category", "orders", ["property_id", "category"], {}),
    ("orders_by_mtx", "orders", ["property_id", "mtx"], {"mtx": "text_pattern_ops"}),
    (
        "orders_by_booking",
        "orders",
        ["property_id", "booking_id"],
        {"booking_id": "text_pattern_ops"},
    ),
    ("rides_by_plate", "rides", ["property_id", "plate", "order_id"], {}),
    ("guests_by_name", "guests", ["property_id", "folded"], {}),
)


def upgrade() -> None:
    """Add the columns, fill them from the existing rows, and make the indexes."""
    for table, columns in ADDED.items():
        for column in columns():
            op.add_column(table, column)
    op.execute(
        "UPDATE orders SET happens_at = coalesce(pickup_at, created_at),"
        " room = (SELECT room FROM guests WHERE guests.id = orders.guest_id)"
    )
    _each(
        "SELECT id, name FROM guests", "UPDATE guests SET folded = :folded WHERE id = :id", _guest
    )
    _each(
        "SELECT r.id, r.order_id, r.status, r.ended_at, r.kind, r.facts, coalesce(f.currency, "
        "p.currency) AS currency"
        " FROM rides r JOIN orders o ON o.id = r.order_id JOIN offers f ON f.id = o.offer_id"
        " JOIN properties p ON p.id = r.property_id",
        "UPDATE rides SET plate = :plate, total_minor = :total, currency = :currency WHERE id = "
        ":id",
        _ride,
        "UPDATE orders SET ended_as = :ended_as, total_minor = :total, currency = :currency WHERE "
        "id = :order_id",
    )
    for name, table, columns_of, ops in INDEXES:
        op.create_index(name, table, columns_of, postgresql_ops=ops)


def _each(query: str, change: str, values: Callable[[Row], dict[str, Any]], *more: str) -> None:
    """Read rows in the order of their ids, some at a time, and write the values made from them."""
    line, last = op.get_bind(), 0
    id_ = "r.id" if " r " in query else "id"
    page = sa.text(f"{query} WHERE {id_} > :last ORDER BY {id_} LIMIT {AT_ONCE}")
    while rows := line.execute(page, {"last": last}).mappings().all():
        for each in (change, *more):
            line.execute(sa.text(each), [values(row) for row in rows])
        last = rows[-1]["id"]


def _guest(row: Row) -> dict[str, Any]:
    return {"id": row["id"], "folded": normalised(row["name"])}


def _ride(row: Row) -> dict[str, Any]:
    facts = json.loads(row["facts"]) if isinstance(row["facts"], str) else row["facts"] or {}
    over = row["ended_at"] is not None
    total = _total(row["kind"], facts) if over and row["status"] == "COMPLETED" else None
    return {
        "id": row["id"],
        "order_id": row["order_id"],
        "plate": compact_key(facts.get("vehicle_number")) or None,
        "ended_as": row["status"] if over else None,
        "total": total,
        "currency": row["currency"] if total is not None else None,
    }


def _total(kind: str, facts: Row) -> int | None:
    """The total in hundredths, as the release of this migration computes it."""
    trip, price = facts.get("trip") or {}, facts.get("price") or {}
    try:
        if kind != "auto":
            return _sum(price, ("fare", "service_tax", "toll_charges"), ("discount_value",))
        for name in ("payable_amount", "cash_paid"):
            if trip.get(name) is not None and (name == "payable_amount" or Decimal(trip[name])):
                return round(Decimal(trip[name]) * 100)
        return _sum(trip, ("amount", "convenience_charge"), ("discount", "advance"))
    except (InvalidOperation, OverflowError, ValueError):
        return None


def _sum(facts: Row, plus: tuple[str, ...], minus: tuple[str, ...]) -> int | None:
    if facts.get(plus[0]) is None:
        return None
    got = [
        (Decimal(facts.get(name) or 0), sign)
        for names, sign in ((plus, 1), (minus, -1))
        for name in names
    ]
    return round(sum((amount * sign for amount, sign in got), Decimal(0)) * 100)


def downgrade() -> None:
    """Drop what upgrade() added."""
    for name, table, _columns, _ops in INDEXES:
        op.drop_index(name, table)
    for table, columns in ADDED.items():
        for column in columns():
            op.drop_column(table, column.name)
