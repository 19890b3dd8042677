"""Indexes of the board's poll: rides that are polled, and open attention items of a property."""

from typing import Any, Final

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision: str | None = "0007"
branch_labels = None
depends_on = None

INDEXES: Final[tuple[tuple[str, str, str], ...]] = (
    ("rides_followed", "rides", "next_poll_at IS NOT NULL"),
    ("attention_open", "attention", "cleared_at IS NULL"),
)


def upgrade() -> None:
    """Make small indexes: they contain only live rides and open items."""
    for name, table, where in INDEXES:
        only: Any = sa.text(where)
        op.create_index(name, table, ["property_id"], sqlite_where=only, postgresql_where=only)


def downgrade() -> None:
    """Drop what upgrade() added."""
    for name, table, _where in INDEXES:
        op.drop_index(name, table)
