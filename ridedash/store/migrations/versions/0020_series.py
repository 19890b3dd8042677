"""Rides that belong together: a way back, and a series of planned rides."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision: str | None = "0019"
branch_labels = None
depends_on = None

LENGTH = 32


def upgrade() -> None:
    """Add two columns, which are empty for existing orders."""
    text = sa.String(LENGTH).with_variant(sa.Text(), "postgresql")
    whole = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.add_column("orders", sa.Column("series_key", text, nullable=True))
    op.add_column("orders", sa.Column("back_of", whole, nullable=True))
    op.create_index("orders_of_series", "orders", ["series_key"])
    op.create_index("orders_going_back", "orders", ["back_of"])


def downgrade() -> None:
    """Drop what upgrade() added."""
    op.drop_index("orders_going_back", "orders")
    op.drop_index("orders_of_series", "orders")
    op.drop_column("orders", "back_of")
    op.drop_column("orders", "series_key")
