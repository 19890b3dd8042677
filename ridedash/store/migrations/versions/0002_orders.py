"""Offers, orders, rides, actions, timelines."""

import sqlalchemy as sa
from alembic import op

from ridedash.store.database import database as db

revision = "0002"
down_revision: str | None = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "offers",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("property_id", sa.Integer(), nullable=False),
        sa.Column("staff_id", sa.Integer(), nullable=True),
        sa.Column("account_id", sa.Integer(), nullable=True),
        sa.Column("pickup_lat", sa.Float(), nullable=False),
        sa.Column("pickup_lng", sa.Float(), nullable=False),
        sa.Column("pickup_name", sa.String(length=200), nullable=True),
        sa.Column("drop_lat", sa.Float(), nullable=True),
        sa.Column("drop_lng", sa.Float(), nullable=True),
        sa.Column("drop_name", sa.String(length=200), nullable=True),
        sa.Column("category", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("display_name", sa.String(length=300), nullable=False),
        sa.Column("currency", sa.String(length=8), nullable=True),
        sa.Column("price_text", sa.String(length=300), nullable=True),
        sa.Column("product", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("fare_id", sa.String(length=500), nullable=True),
        sa.Column("seat_prices", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("cancellation", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("fetched_at", db.UtcDateTime(timezone=True), nullable=False),
        sa.Column("signature", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
        ),
        sa.ForeignKeyConstraint(
            ["property_id"],
            ["properties.id"],
        ),
        sa.ForeignKeyConstraint(
            ["staff_id"],
            ["staff.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_offers_property_id"), "offers", ["property_id"], unique=False)
    op.create_table(
        "orders",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("property_id", sa.Integer(), nullable=False),
        sa.Column("staff_id", sa.Integer(), nullable=True),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("guest_id", sa.Integer(), nullable=False),
        sa.Column("offer_id", sa.Integer(), nullable=False),
        sa.Column("note", sa.String(length=500), nullable=True),
        sa.Column("form_token", sa.String(length=64), nullable=False),
        sa.Column("form_digest", sa.String(length=64), nullable=False),
        sa.Column("mtx", sa.String(length=32), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("body_digest", sa.String(length=64), nullable=False),
        sa.Column("seats", sa.Integer(), nullable=True),
        sa.Column("payment", sa.String(length=16), nullable=True),
        sa.Column("category", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", db.UtcDateTime(timezone=True), nullable=False),
        sa.Column("due_at", db.UtcDateTime(timezone=True), nullable=False),
        sa.Column("ready_at", db.UtcDateTime(timezone=True), nullable=True),
        sa.Column("sent_at", db.UtcDateTime(timezone=True), nullable=True),
        sa.Column("resolved_at", db.UtcDateTime(timezone=True), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("owner", sa.String(length=80), nullable=True),
        sa.Column("lease_until", db.UtcDateTime(timezone=True), nullable=True),
        sa.Column("reauthorised", sa.Boolean(), nullable=False),
        sa.Column("throttled", sa.Boolean(), nullable=False),
        sa.Column("booking_id", sa.String(length=300), nullable=True),
        sa.Column("txn_id", sa.String(length=300), nullable=True),
        sa.Column("booking_timeout_at", db.UtcDateTime(timezone=True), nullable=True),
        sa.Column("booking_timeout_s", sa.Float(), nullable=True),
        sa.Column("next_retry", sa.String(length=300), nullable=True),
        sa.Column("http_status", sa.Integer(), nullable=True),
        sa.Column("code", sa.String(length=300), nullable=True),
        sa.Column("message", sa.String(length=300), nullable=True),
        sa.Column("evidence", sa.Text(), nullable=True),
        sa.Column("supersedes", sa.Integer(), nullable=True),
        sa.Column("resolved_by", sa.Integer(), nullable=True),
        sa.Column("resolve_reason", sa.String(length=500), nullable=True),
        sa.Column("guard_key", sa.String(length=200), nullable=True),
        sa.Column("guard_override_by", sa.Integer(), nullable=True),
        sa.Column("open", sa.Boolean(), nullable=False),
        sa.Column("late_double", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
        ),
        sa.ForeignKeyConstraint(
            ["guard_override_by"],
            ["staff.id"],
        ),
        sa.ForeignKeyConstraint(
            ["guest_id"],
            ["guests.id"],
        ),
        sa.ForeignKeyConstraint(
            ["offer_id"],
            ["offers.id"],
        ),
        sa.ForeignKeyConstraint(
            ["property_id"],
            ["properties.id"],
        ),
        sa.ForeignKeyConstraint(
            ["resolved_by"],
            ["staff.id"],
        ),
        sa.ForeignKeyConstraint(
            ["staff_id"],
            ["staff.id"],
        ),
        sa.ForeignKeyConstraint(
            ["supersedes"],
            ["orders.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("booking_id"),
        sa.UniqueConstraint("form_token"),
        sa.UniqueConstraint("mtx"),
    )
    op.create_index(op.f("ix_orders_txn_id"), "orders", ["txn_id"], unique=False)
    op.create_index(
        "one_open_order_per_guest",
        "orders",
        ["guard_key"],
        unique=True,
        sqlite_where=sa.text("open"),
        postgresql_where=sa.text("open"),
    )
    op.create_index("orders_by_state", "orders", ["state", "due_at"], unique=False)
    op.create_index("orders_recent", "orders", ["property_id", "id"], unique=False)
    op.create_table(
        "actions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("property_id", sa.Integer(), nullable=False),
        sa.Column("staff_id", sa.Integer(), nullable=True),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("order_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=12), nullable=False),
        sa.Column("payload", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("made_at", db.UtcDateTime(timezone=True), nullable=False),
        sa.Column("called_at", db.UtcDateTime(timezone=True), nullable=True),
        sa.Column("settled_at", db.UtcDateTime(timezone=True), nullable=True),
        sa.Column("next_try_at", db.UtcDateTime(timezone=True), nullable=True),
        sa.Column("code", sa.String(length=300), nullable=True),
        sa.Column("header", sa.String(length=300), nullable=True),
        sa.Column("text", sa.String(length=300), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
        ),
        sa.ForeignKeyConstraint(
            ["order_id"],
            ["orders.id"],
        ),
        sa.ForeignKeyConstraint(
            ["property_id"],
            ["properties.id"],
        ),
        sa.ForeignKeyConstraint(
            ["staff_id"],
            ["staff.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("actions_by_order", "actions", ["order_id", "id"], unique=False)
    op.create_index("actions_open", "actions", ["state", "next_try_at"], unique=False)
    op.create_table(
        "attention",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("property_id", sa.Integer(), nullable=False),
        sa.Column("order_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("detail", sa.String(length=300), nullable=True),
        sa.Column("raised_at", db.UtcDateTime(timezone=True), nullable=False),
        sa.Column("cleared_at", db.UtcDateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["order_id"],
            ["orders.id"],
        ),
        sa.ForeignKeyConstraint(
            ["property_id"],
            ["properties.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("order_id", "name"),
    )
    op.create_table(
        "moments",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("property_id", sa.Integer(), nullable=False),
        sa.Column("order_id", sa.Integer(), nullable=False),
        sa.Column("what", sa.String(length=8), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("detail", sa.String(length=300), nullable=True),
        sa.Column("at", db.UtcDateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["order_id"],
            ["orders.id"],
        ),
        sa.ForeignKeyConstraint(
            ["property_id"],
            ["properties.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("moments_by_order", "moments", ["order_id", "id"], unique=False)
    op.create_table(
        "rides",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("property_id", sa.Integer(), nullable=False),
        sa.Column("staff_id", sa.Integer(), nullable=True),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("order_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("booking_id", sa.String(length=300), nullable=True),
        sa.Column("txn_id", sa.String(length=300), nullable=True),
        sa.Column("status", sa.String(length=64), nullable=True),
        sa.Column("reported", sa.String(length=300), nullable=True),
        sa.Column("facts", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("otp_enc", sa.String(), nullable=True),
        sa.Column("back_status", sa.String(length=64), nullable=True),
        sa.Column("previous_plate", sa.String(length=300), nullable=True),
        sa.Column("swapped_at", db.UtcDateTime(timezone=True), nullable=True),
        sa.Column("retried", sa.Boolean(), nullable=False),
        sa.Column("allotted_at", db.UtcDateTime(timezone=True), nullable=True),
        sa.Column("ended_at", db.UtcDateTime(timezone=True), nullable=True),
        sa.Column("position_at", db.UtcDateTime(timezone=True), nullable=True),
        sa.Column("seen_at", db.UtcDateTime(timezone=True), nullable=True),
        sa.Column("created_at", db.UtcDateTime(timezone=True), nullable=False),
        sa.Column("poll_seq", sa.Integer(), nullable=False),
        sa.Column("merged_seq", sa.Integer(), nullable=False),
        sa.Column("next_poll_at", db.UtcDateTime(timezone=True), nullable=True),
        sa.Column("interval_s", sa.Float(), nullable=False),
        sa.Column("lease_until", db.UtcDateTime(timezone=True), nullable=True),
        sa.Column("owner", sa.String(length=80), nullable=True),
        sa.Column("errors", sa.Integer(), nullable=False),
        sa.Column("poison", sa.Integer(), nullable=False),
        sa.Column("unknown_id", sa.Integer(), nullable=False),
        sa.Column("final_polls", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
        ),
        sa.ForeignKeyConstraint(
            ["order_id"],
            ["orders.id"],
        ),
        sa.ForeignKeyConstraint(
            ["property_id"],
            ["properties.id"],
        ),
        sa.ForeignKeyConstraint(
            ["staff_id"],
            ["staff.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("booking_id"),
        sa.UniqueConstraint("order_id"),
    )
    op.create_index("rides_due", "rides", ["next_poll_at"], unique=False)


def downgrade() -> None:
    """Drop the tables."""
    op.drop_table("rides")
    op.drop_table("moments")
    op.drop_table("attention")
    op.drop_table("actions")
    op.drop_table("orders")
    op.drop_table("offers")
