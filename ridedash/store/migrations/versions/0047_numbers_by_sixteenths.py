"""Row numbers of PostgreSQL have the sixteenth of the second of their insert, and no random bits.

Two rows of one second, before and after the database went back, had the same number once in sixteen
times if their sequence had gone back too.
"""

import sqlalchemy as sa
from alembic import op

from ridedash.store.database.numbers import number_rows

revision = "0047"
down_revision: str | None = "0046"
branch_labels = None
depends_on = None

_NUMBERED = sa.text(
    "SELECT table_name FROM information_schema.columns WHERE table_schema = current_schema()"
    " AND column_name = 'id' AND column_default LIKE '%statement_timestamp%' ORDER BY table_name"
)


def upgrade() -> None:
    """Set the default of each table's numbers anew; SQLite has none."""
    if op.get_bind().dialect.name != "postgresql":
        return
    for table in op.get_bind().scalars(_NUMBERED).all():
        number_rows(op.get_bind(), table)


def downgrade() -> None:
    """Keep the defaults: an earlier release makes no use of the lowest bits."""
