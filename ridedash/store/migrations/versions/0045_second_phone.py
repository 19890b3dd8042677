"""A guest's second phone."""

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision: str | None = "0044"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, and the index by which its guest is found."""
    phone = sa.String(32).with_variant(sa.Text(), "postgresql")
    op.add_column("guests", sa.Column("phone2", phone, nullable=True))
    op.create_index("guests_by_phone2", "guests", ["property_id", "phone2"])


def downgrade() -> None:
    """Drop both."""
    op.drop_index("guests_by_phone2", "guests")
    op.drop_column("guests", "phone2")
