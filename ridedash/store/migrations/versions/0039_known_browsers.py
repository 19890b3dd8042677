"""Staff have a value that the cookies of their known browsers hold."""

import sqlalchemy as sa
from alembic import op

from ridedash.store.database import database as db

revision = "0039"
down_revision: str | None = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    column = sa.Column("browsers", db.ShortText(16), nullable=False, server_default="")
    op.add_column("staff", column)


def downgrade() -> None:
    """Drop it: no browser is known any more."""
    op.drop_column("staff", "browsers")
