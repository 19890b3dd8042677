"""A demo's database is marked."""

import sqlalchemy as sa
from alembic import op

from ridedash.store.database import database as db

revision = "0029"
down_revision: str | None = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add an empty table: a demo of an earlier release is marked when it starts again."""
    op.create_table(
        "demo_mark",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
        sa.Column("made_at", db.UtcDateTime(timezone=True), nullable=False),
        sa.Column("day", sa.String(8).with_variant(sa.Text(), "postgresql"), nullable=False),
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("demo_mark")
