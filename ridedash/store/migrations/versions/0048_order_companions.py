"""The further guests of a shared car, so that they are found as its guest is."""

import sqlalchemy as sa
from alembic import op

from ridedash.store.database.numbers import number_rows

revision = "0048"
down_revision: str | None = "0047"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table. Of cars that were ordered before, only the list names these guests."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

    def short(length: int) -> sa.types.TypeEngine[str]:
        return sa.String(length).with_variant(sa.Text(), "postgresql")

    op.create_table(
        "order_companions",
        sa.Column("id", number, primary_key=True),
        sa.Column("property_id", number, sa.ForeignKey("properties.id"), nullable=False),
        sa.Column("order_id", number, sa.ForeignKey("orders.id"), nullable=False),
        sa.Column("name", short(120), nullable=False),
        sa.Column("folded", short(300), nullable=True),
        sa.Column("room", short(32), nullable=True),
        sa.Column("phone", short(32), nullable=True),
        sa.Column("phone2", short(32), nullable=True),
    )
    op.create_index("order_companions_of_order", "order_companions", ["order_id"])
    op.create_index("order_companions_by_room", "order_companions", ["property_id", "room"])
    number_rows(op.get_bind(), "order_companions")


def downgrade() -> None:
    """Drop it."""
    op.drop_table("order_companions")
