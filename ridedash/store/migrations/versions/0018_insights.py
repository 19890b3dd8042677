"""How long guests waited, also in the index from which history and insights compute sums."""

from typing import Final

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision: str | None = "0017"
branch_labels = None
depends_on = None

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
WAITS: Final = ("driver_s", "guest_s")
PARTIAL: Final = (
    ("drops_changed", "actions", "name = 'drop' AND state = 'done'"),
    ("moments_unknown", "moments", "what = 'order' AND name = 'UNKNOWN'"),
)
# whole seconds between two instants, never below 0
SECONDS: Final = {
    "sqlite": "max(0, CAST(round((julianday({to}) - julianday({since})) * 86400) AS INTEGER))",
    "postgresql": "greatest(0, CAST(round(EXTRACT(EPOCH FROM {to} - {since})) AS BIGINT))",
}
# the values that note_wait in rides/state/transitions.py stores from now on
DRIVER: Final = (
    "UPDATE orders SET driver_s = (SELECT {seconds} FROM rides r WHERE r.order_id = orders.id"
    " AND r.allotted_at IS NOT NULL)"
    " WHERE recovered_at IS NULL AND (pickup_at IS NULL OR ready_at IS NOT NULL)"
)
PRESSED: Final = "(CASE WHEN orders.pickup_at IS NULL THEN orders.created_at ELSE ready_at END)"
GUEST: Final = (
    "UPDATE orders SET guest_s = (SELECT {seconds} FROM rides r JOIN moments m"
    " ON m.order_id = r.order_id WHERE r.order_id = orders.id AND r.allotted_at IS NOT NULL"
    " AND m.what = 'ride' AND (m.name IN ('CLIENT_LOCATED', 'IN_PROGRESS')"
    " OR (m.name = 'INVOICE' AND r.kind <> 'auto')) GROUP BY r.allotted_at)"
    " WHERE driver_s IS NOT NULL"
)


def upgrade() -> None:
    """Add the waits, fill them from what was recorded, and make the indexes."""
    for name in WAITS:
        op.add_column(
            "orders", sa.Column(name, sa.BigInteger().with_variant(sa.Integer(), "sqlite"))
        )
    seconds = SECONDS[op.get_bind().dialect.name]
    op.execute(DRIVER.format(seconds=seconds.format(to="r.allotted_at", since=PRESSED)))
    op.execute(GUEST.format(seconds=seconds.format(to="min(m.at)", since="r.allotted_at")))
    op.drop_index("orders_history", "orders")
    op.create_index("orders_history", "orders", [*HISTORY, *WAITS, "offer_id"])
    for name, table, where in PARTIAL:
        op.create_index(
            name,
            table,
            ["property_id", "order_id"],
            sqlite_where=sa.text(where),
            postgresql_where=sa.text(where),
        )


def downgrade() -> None:
    """Drop what upgrade() added."""
    for name, table, _where in PARTIAL:
        op.drop_index(name, table)
    op.drop_index("orders_history", "orders")
    op.create_index("orders_history", "orders", HISTORY)
    for name in WAITS:
        op.drop_column("orders", name)
