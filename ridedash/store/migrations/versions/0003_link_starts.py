"""Account linkings that have begun at the service's OAuth page and have not ended."""

import sqlalchemy as sa
from alembic import op

from ridedash.store.database import database as db

revision = "0003"
down_revision: str | None = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "link_starts",
        sa.Column("state_hash", sa.String(length=64), nullable=False),
        sa.Column("sign_in_hash", sa.String(length=64), nullable=False),
        sa.Column("property_id", sa.Integer(), nullable=False),
        sa.Column("staff_id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("order_id", sa.Integer(), nullable=True),
        sa.Column("verifier_enc", sa.String(), nullable=False),
        sa.Column("expires_at", db.UtcDateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["property_id"], ["properties.id"]),
        sa.ForeignKeyConstraint(["staff_id"], ["staff.id"]),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"]),
        sa.PrimaryKeyConstraint("state_hash"),
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("link_starts")
