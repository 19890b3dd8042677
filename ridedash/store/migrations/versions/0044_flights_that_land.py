"""A flight may bring the guest to the pickup."""

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision: str | None = "0042"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns: the flights of existing rides leave after them."""
    minutes = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.add_column(
        "orders",
        sa.Column("flight_lands", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    op.add_column(
        "properties", sa.Column("luggage_min", minutes, nullable=False, server_default="40")
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_column("properties", "luggage_min")
    op.drop_column("orders", "flight_lands")
