"""The path that a cab has driven: its positions, at most one every ten seconds."""

import sqlalchemy as sa
from alembic import op

from ridedash.store.database import database as db

revision = "0016"
down_revision: str | None = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add a table, which is empty for existing rides."""
    whole = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "path_points",
        sa.Column("id", whole, nullable=False),
        sa.Column("order_id", whole, nullable=False),
        sa.Column("at", db.UtcDateTime(timezone=True), nullable=False),
        sa.Column("lat", sa.Float(), nullable=False),
        sa.Column("lng", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["order_id"], ["orders.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("path_points_by_order", "path_points", ["order_id", "id"])
    op.create_index("path_points_by_age", "path_points", ["at"])


def downgrade() -> None:
    """Drop what upgrade() added."""
    op.drop_table("path_points")
