"""Saved views of the history."""

import sqlalchemy as sa
from alembic import op

from ridedash.store.database.numbers import number_rows

revision = "0050"
down_revision: str | None = "0049"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

    def short(length: int) -> sa.types.TypeEngine[str]:
        return sa.String(length).with_variant(sa.Text(), "postgresql")

    op.create_table(
        "saved_views",
        sa.Column("id", number, primary_key=True),
        sa.Column("property_id", number, sa.ForeignKey("properties.id"), nullable=False),
        sa.Column("staff_id", number, sa.ForeignKey("staff.id"), nullable=True),
        sa.Column("name", short(40), nullable=False),
        sa.Column("query", short(300), nullable=False),
    )
    op.create_index("ix_saved_views_property_id", "saved_views", ["property_id"])
    number_rows(op.get_bind(), "saved_views")


def downgrade() -> None:
    """Drop it."""
    op.drop_table("saved_views")
