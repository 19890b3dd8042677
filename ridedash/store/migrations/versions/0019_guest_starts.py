"""Rides that the guest starts: the latest time for that, the highest price, and who started."""

import sqlalchemy as sa
from alembic import op

from ridedash.store.database import database as db

revision = "0019"
down_revision: str | None = "0018"
branch_labels = None
depends_on = None

LENGTH = 80


def upgrade() -> None:
    """Add three columns, which are empty for existing orders."""
    text = sa.String(LENGTH).with_variant(sa.Text(), "postgresql")
    op.add_column("orders", sa.Column("guest_until", db.UtcDateTime(timezone=True), nullable=True))
    whole = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.add_column("orders", sa.Column("ceiling_minor", whole, nullable=True))
    op.add_column("orders", sa.Column("started_by", text, nullable=True))


def downgrade() -> None:
    """Drop the columns; orders in state WAITING stay, although older releases don't know it."""
    for name in ("guest_until", "ceiling_minor", "started_by"):
        op.drop_column("orders", name)
