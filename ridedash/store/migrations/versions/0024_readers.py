"""The languages that people read: staff's own choice and the property's default."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision: str | None = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the languages, empty in existing rows: people still read English.

    `machine_words` says whether guests are offered machine translations; it is true at first.
    """
    code = sa.String(8).with_variant(sa.Text(), "postgresql")
    op.add_column("staff", sa.Column("language", code, nullable=True))
    op.add_column("properties", sa.Column("language", code, nullable=True))
    op.add_column(
        "properties",
        sa.Column("machine_words", sa.Boolean(), nullable=False, server_default=sa.true()),
    )


def downgrade() -> None:
    """Drop what upgrade() added."""
    op.drop_column("properties", "machine_words")
    op.drop_column("properties", "language")
    op.drop_column("staff", "language")
