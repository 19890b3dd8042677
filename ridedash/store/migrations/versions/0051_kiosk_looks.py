"""What a property chooses for its kiosks: a picture, a pattern and a typeface."""

import sqlalchemy as sa
from alembic import op

revision = "0051"
down_revision: str | None = "0050"
branch_labels = None
depends_on = None

COLUMNS = {
    "picture_wide": 72,
    "picture_tall": 72,
    "picture_focus": 8,
    "pattern": 8,
    "typeface": 8,
}


def _text(name: str, length: int, *, nullable: bool = True) -> sa.Column[str]:
    kind = sa.String(length).with_variant(sa.Text(), "postgresql")
    return sa.Column(name, kind, nullable=nullable)


def upgrade() -> None:
    """Add columns of a property, all empty, and a table of the pictures' bytes."""
    for name, length in COLUMNS.items():
        op.add_column("properties", _text(name, length))
    op.create_table(
        "pictures",
        sa.Column(
            "property_id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            sa.ForeignKey("properties.id"),
            primary_key=True,
        ),
        sa.Column("shape", sa.String(4).with_variant(sa.Text(), "postgresql"), primary_key=True),
        _text("name", 72, nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
    )
    op.create_index("pictures_by_name", "pictures", ["name"])


def downgrade() -> None:
    """Drop what upgrade() added."""
    op.drop_table("pictures")
    for name in COLUMNS:
        op.drop_column("properties", name)
