"""Columns and a table for several processes: account leases, ended sign-ins, worker health."""

import sqlalchemy as sa
from alembic import op

from ridedash.store.database import database as db

revision = "0004"
down_revision: str | None = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns and the table."""
    with op.batch_alter_table("accounts") as accounts:
        accounts.add_column(sa.Column("refresh_owner", sa.String(length=80), nullable=True))
        accounts.add_column(
            sa.Column("refresh_until", db.UtcDateTime(timezone=True), nullable=True)
        )
    with op.batch_alter_table("heartbeats") as heartbeats:
        heartbeats.add_column(
            sa.Column("silent_since", db.UtcDateTime(timezone=True), nullable=True)
        )
        heartbeats.add_column(
            sa.Column("unready_since", db.UtcDateTime(timezone=True), nullable=True)
        )
    op.create_table(
        "ended_sign_ins",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("id_hash", sa.String(length=64), nullable=False),
        sa.Column("at", db.UtcDateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ended_sign_ins_by_time", "ended_sign_ins", ["at"])


def downgrade() -> None:
    """Drop what upgrade() added."""
    op.drop_table("ended_sign_ins")
    with op.batch_alter_table("heartbeats") as heartbeats:
        heartbeats.drop_column("unready_since")
        heartbeats.drop_column("silent_since")
    with op.batch_alter_table("accounts") as accounts:
        accounts.drop_column("refresh_until")
        accounts.drop_column("refresh_owner")
