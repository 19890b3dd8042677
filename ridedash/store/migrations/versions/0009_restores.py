"""Restored databases: the watermark of a database, noticed restores, and orders that were lost."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from ridedash.store.database import database as db

revision = "0009"
down_revision: str | None = "0008"
branch_labels = None
depends_on = None


def _whole(name: str, *more: Any, **options: Any) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger().with_variant(sa.Integer(), "sqlite"), *more, **options)


def _text(name: str, length: int, **options: Any) -> sa.Column[str]:
    return sa.Column(name, sa.String(length).with_variant(sa.Text(), "postgresql"), **options)


def _time(name: str, *, nullable: bool = True) -> sa.Column[Any]:
    return sa.Column(name, db.UtcDateTime(timezone=True), nullable=nullable)


def upgrade() -> None:
    """Add three tables, and two times of an order: since when it is held, when it was recovered."""
    op.create_table(
        "watermark",
        _whole("id", primary_key=True),
        _whole("epoch", nullable=False),
        _whole("beats", nullable=False),
        _time("beat_at"),
    )
    op.create_table(
        "restores",
        _whole("id", primary_key=True),
        _time("restored_to"),
        _time("noticed_at", nullable=False),
        _time("accepted_at"),
    )
    op.create_table(
        "lost_orders",
        _text("mtx", 32, primary_key=True),
        _whole("property_id", sa.ForeignKey("properties.id"), nullable=True),
        _whole("account_id", nullable=False),
        _text("category", 64, nullable=False),
        _whole("attempt", nullable=False),
        _time("sent_at", nullable=False),
        sa.Column("outcome", sa.JSON(none_as_null=True), nullable=True),
        _time("listed_at", nullable=False),
        _time("closed_at"),
        _whole("order_id", sa.ForeignKey("orders.id"), nullable=True),
    )
    op.create_index("lost_orders_of_property", "lost_orders", ["property_id", "closed_at"])
    op.add_column("orders", _time("held_at"))
    op.add_column("orders", _time("recovered_at"))


def downgrade() -> None:
    """Drop what upgrade() added."""
    for column in ("recovered_at", "held_at"):
        op.drop_column("orders", column)
    for table in ("lost_orders", "restores", "watermark"):
        op.drop_table(table)
