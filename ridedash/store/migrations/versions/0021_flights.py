"""The flight that a ride is for, and how long before it a property's guests want to arrive."""

import sqlalchemy as sa
from alembic import op

from ridedash.store.database import database as db

revision = "0021"
down_revision: str | None = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns: existing rides are for no flight."""
    code = sa.String(8).with_variant(sa.Text(), "postgresql")
    minutes = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.add_column("orders", sa.Column("flight", code, nullable=True))
    op.add_column("orders", sa.Column("departs_at", db.UtcDateTime(timezone=True), nullable=True))
    op.add_column(
        "properties",
        sa.Column("flight_margin_min", minutes, nullable=False, server_default="120"),
    )


def downgrade() -> None:
    """Drop what upgrade() added."""
    op.drop_column("properties", "flight_margin_min")
    op.drop_column("orders", "departs_at")
    op.drop_column("orders", "flight")
