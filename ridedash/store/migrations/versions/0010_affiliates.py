"""The affiliate_uid of a linked account, which the service demands for affiliate payment."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision: str | None = "0009"
branch_labels = None
depends_on = None

LENGTH = 100


def upgrade() -> None:
    """Add a column, which is empty for existing accounts."""
    text = sa.String(LENGTH).with_variant(sa.Text(), "postgresql")
    op.add_column("accounts", sa.Column("affiliate_uid", text, nullable=True))


def downgrade() -> None:
    """Drop what upgrade() added."""
    op.drop_column("accounts", "affiliate_uid")
