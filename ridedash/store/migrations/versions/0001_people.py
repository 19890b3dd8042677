"""People, sign-ins, accounts, the audit log."""

import sqlalchemy as sa
from alembic import op

from ridedash.store.database import database as db

revision = "0001"
down_revision: str | None = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", db.UtcDateTime(timezone=True), nullable=False),
        sa.Column("property_id", sa.Integer(), nullable=True),
        sa.Column("who", sa.String(length=80), nullable=False),
        sa.Column("what", sa.String(length=60), nullable=False),
        sa.Column("subject", sa.String(length=80), nullable=False),
        sa.Column("result", sa.String(length=60), nullable=False),
        sa.Column("facts", sa.JSON(none_as_null=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("audit_by_subject", "audit", ["subject"], unique=False)
    op.create_index("audit_by_time", "audit", ["property_id", "at"], unique=False)
    op.create_table(
        "heartbeats",
        sa.Column("worker", sa.String(length=80), nullable=False),
        sa.Column("beat_at", db.UtcDateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("worker"),
    )
    op.create_table(
        "properties",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("timezone", sa.String(length=64), nullable=False),
        sa.Column("country", sa.String(length=2), nullable=True),
        sa.Column("currency", sa.String(length=3), nullable=True),
        sa.Column("pickup_name", sa.String(length=200), nullable=True),
        sa.Column("pickup_lat", sa.Float(), nullable=True),
        sa.Column("pickup_lng", sa.Float(), nullable=True),
        sa.Column("phone", sa.String(length=32), nullable=True),
        sa.Column("created_at", db.UtcDateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "throttles",
        sa.Column("key", sa.String(length=80), nullable=False),
        sa.Column("fails", sa.Integer(), nullable=False),
        sa.Column("since", db.UtcDateTime(timezone=True), nullable=False),
        sa.Column("blocked_until", db.UtcDateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_table(
        "staff",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("property_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("sign_in_name", sa.String(length=120), nullable=False),
        sa.Column("password_hash", sa.String(length=255), nullable=False),
        sa.Column("role", sa.String(length=20), nullable=False),
        sa.Column("created_at", db.UtcDateTime(timezone=True), nullable=False),
        sa.Column("disabled_at", db.UtcDateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["property_id"],
            ["properties.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("sign_in_name"),
    )
    op.create_index(op.f("ix_staff_property_id"), "staff", ["property_id"], unique=False)
    op.create_table(
        "accounts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("property_id", sa.Integer(), nullable=False),
        sa.Column("staff_id", sa.Integer(), nullable=True),
        sa.Column("label", sa.String(length=120), nullable=False),
        sa.Column("is_default", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("access_token_enc", sa.String(), nullable=True),
        sa.Column("refresh_token_enc", sa.String(), nullable=True),
        sa.Column("expires_at", db.UtcDateTime(timezone=True), nullable=True),
        sa.Column("created_at", db.UtcDateTime(timezone=True), nullable=False),
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
    op.create_index(op.f("ix_accounts_property_id"), "accounts", ["property_id"], unique=False)
    op.create_index(
        "one_default_account",
        "accounts",
        ["property_id"],
        unique=True,
        sqlite_where=sa.text("is_default"),
        postgresql_where=sa.text("is_default"),
    )
    op.create_table(
        "guests",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("property_id", sa.Integer(), nullable=False),
        sa.Column("staff_id", sa.Integer(), nullable=True),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("phone", sa.String(length=32), nullable=True),
        sa.Column("room", sa.String(length=32), nullable=True),
        sa.Column("created_at", db.UtcDateTime(timezone=True), nullable=False),
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
    op.create_index(op.f("ix_guests_property_id"), "guests", ["property_id"], unique=False)
    op.create_table(
        "sign_ins",
        sa.Column("id_hash", sa.String(length=64), nullable=False),
        sa.Column("property_id", sa.Integer(), nullable=False),
        sa.Column("staff_id", sa.Integer(), nullable=False),
        sa.Column("created_at", db.UtcDateTime(timezone=True), nullable=False),
        sa.Column("expires_at", db.UtcDateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["property_id"],
            ["properties.id"],
        ),
        sa.ForeignKeyConstraint(
            ["staff_id"],
            ["staff.id"],
        ),
        sa.PrimaryKeyConstraint("id_hash"),
    )
    op.create_index(op.f("ix_sign_ins_staff_id"), "sign_ins", ["staff_id"], unique=False)


def downgrade() -> None:
    """Drop the tables."""
    op.drop_table("sign_ins")
    op.drop_table("guests")
    op.drop_table("accounts")
    op.drop_table("staff")
    op.drop_table("throttles")
    op.drop_table("properties")
    op.drop_table("heartbeats")
    op.drop_table("audit")
