"""The limits of kiosks: rides that wait, rides booked on phones, and an early end of desk codes."""

import sqlalchemy as sa
from alembic import op

from ridedash.store.database.database import UtcDateTime

revision = "0049"
down_revision: str | None = "0048"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns. Rides booked before count as booked on the kiosk's screen."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.add_column("kiosks", sa.Column("most_waiting", number, nullable=True))
    op.add_column("kiosks", sa.Column("code_waived_at", UtcDateTime(timezone=True), nullable=True))
    op.add_column(
        "tickets", sa.Column("on_phone", sa.Boolean(), nullable=False, server_default=sa.false())
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_column("tickets", "on_phone")
    op.drop_column("kiosks", "code_waived_at")
    op.drop_column("kiosks", "most_waiting")
