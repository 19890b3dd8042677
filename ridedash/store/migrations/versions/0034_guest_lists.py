"""Lists of guests, with a row for each line."""

import sqlalchemy as sa
from alembic import op

from ridedash.store.database import database as db
from ridedash.store.database.numbers import number_rows

revision = "0034"
down_revision: str | None = "0032"
branch_labels = None
depends_on = None

INT = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
AT = db.UtcDateTime(timezone=True)
FACTS = sa.JSON(none_as_null=True)


def upgrade() -> None:
    """Make both tables."""
    op.create_table(
        "guest_lists",
        sa.Column("id", INT, primary_key=True),
        sa.Column("property_id", INT, sa.ForeignKey("properties.id"), nullable=False),
        sa.Column("staff_id", INT, sa.ForeignKey("staff.id"), nullable=False),
        sa.Column("label", db.ShortText(120), nullable=False),
        sa.Column("state", db.ShortText(12), nullable=False),
        sa.Column("version", INT, nullable=False),
        sa.Column("created_at", AT, nullable=False),
        sa.Column("changed_at", AT, nullable=False),
        sa.Column("digest", db.ShortText(64), nullable=False),
        sa.Column("form_token", db.ShortText(64), nullable=False, unique=True),
        sa.Column("group_key", db.ShortText(32), nullable=False),
        sa.Column("sheet", FACTS, nullable=False),
        sa.Column("trip", FACTS, nullable=False),
        sa.Column("pressed_by", INT, sa.ForeignKey("staff.id"), nullable=True),
        sa.Column("pressed_at", AT, nullable=True),
        sa.Column("next_at", AT, nullable=True),
        sa.Column("owner", db.ShortText(80), nullable=True),
        sa.Column("lease_until", AT, nullable=True),
        sa.Column("tries", INT, nullable=False, server_default="0"),
        sa.Column("code", db.ShortText(40), nullable=True),
    )
    op.create_index("guest_lists_due", "guest_lists", ["state", "next_at"])
    op.create_index("guest_lists_alike", "guest_lists", ["property_id", "digest"])
    op.create_index("ix_guest_lists_property_id", "guest_lists", ["property_id"])
    op.create_table(
        "list_lines",
        sa.Column("id", INT, primary_key=True),
        sa.Column("list_id", INT, sa.ForeignKey("guest_lists.id"), nullable=False),
        sa.Column("property_id", INT, sa.ForeignKey("properties.id"), nullable=False),
        sa.Column("number", INT, nullable=False),
        sa.Column("row", INT, nullable=False),
        sa.Column("data", FACTS, nullable=False),
        sa.Column("out", db.ShortText(16), nullable=True),
        sa.Column("car", INT, nullable=False),
        sa.Column("mtx", db.ShortText(32), nullable=False, unique=True),
        sa.Column("state", db.ShortText(12), nullable=False),
        sa.Column("plan", FACTS, nullable=True),
        sa.Column("offer_id", INT, nullable=True),
        sa.Column("shown_minor", INT, nullable=True),
        sa.Column("currency", db.ShortText(8), nullable=True),
        sa.Column("metered", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("code", db.ShortText(40), nullable=True),
        sa.Column("price_minor", INT, nullable=True),
        sa.Column("order_id", INT, nullable=True),
        sa.UniqueConstraint("list_id", "number"),
    )
    op.create_index("list_lines_of_order", "list_lines", ["order_id"])
    op.create_index("list_lines_of_offer", "list_lines", ["offer_id"])
    op.create_index("list_lines_of_property", "list_lines", ["property_id"])
    for table in ("guest_lists", "list_lines"):
        number_rows(op.get_bind(), table)


def downgrade() -> None:
    """Drop both tables. Orders that were made of lists stay."""
    op.drop_table("list_lines")
    op.drop_table("guest_lists")
