"""How many people and pieces of luggage fit into the cars of a category."""

import sqlalchemy as sa
from alembic import op

revision = "0046"
down_revision: str | None = "0045"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table. It is empty: the service does not tell what fits, only a property does."""
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    category = sa.String(64).with_variant(sa.Text(), "postgresql")
    name = sa.String(300).with_variant(sa.Text(), "postgresql")
    op.create_table(
        "car_capacities",
        sa.Column("property_id", number, sa.ForeignKey("properties.id"), nullable=False),
        sa.Column("category", category, nullable=False),
        sa.Column("name", name, nullable=False),
        sa.Column("persons", number, nullable=True),
        sa.Column("bags", number, nullable=True),
        sa.PrimaryKeyConstraint("property_id", "category"),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("car_capacities")
