"""Heartbeats say that the partner's key is refused, and that the clock is wrong."""

import sqlalchemy as sa
from alembic import op

from ridedash.store.database import database as db

revision = "0030"
down_revision: str | None = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns, empty in existing rows."""
    with op.batch_alter_table("heartbeats") as heartbeats:
        heartbeats.add_column(
            sa.Column("key_refused_since", db.UtcDateTime(timezone=True), nullable=True)
        )
        heartbeats.add_column(sa.Column("clock_ahead_s", sa.Float(), nullable=True))


def downgrade() -> None:
    """Drop the columns."""
    with op.batch_alter_table("heartbeats") as heartbeats:
        heartbeats.drop_column("clock_ahead_s")
        heartbeats.drop_column("key_refused_since")
