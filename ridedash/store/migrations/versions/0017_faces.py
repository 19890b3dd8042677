"""A property's own logo and colour, and the secret part of its sign-in address."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision: str | None = "0016"
branch_labels = None
depends_on = None

COLUMNS = ("colour", "logo", "logo_width", "logo_height", "logo_ground", "door")


def _whole(name: str, *more: Any, **options: Any) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger().with_variant(sa.Integer(), "sqlite"), *more, **options)


def _text(name: str, length: int, *, nullable: bool = True) -> sa.Column[str]:
    kind = sa.String(length).with_variant(sa.Text(), "postgresql")
    return sa.Column(name, kind, nullable=nullable)


def upgrade() -> None:
    """Add columns of a property, all empty, and a table of the logos' bytes."""
    op.add_column("properties", _text("colour", 7))
    op.add_column("properties", _text("logo", 72))
    op.add_column("properties", _whole("logo_width", nullable=True))
    op.add_column("properties", _whole("logo_height", nullable=True))
    op.add_column("properties", _text("logo_ground", 5))
    op.add_column("properties", _text("door", 32))
    op.create_table(
        "logos",
        _whole("property_id", sa.ForeignKey("properties.id"), primary_key=True),
        _text("name", 72, nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
    )
    op.create_index("logos_by_name", "logos", ["name"])


def downgrade() -> None:
    """Drop what upgrade() added."""
    op.drop_table("logos")
    for column in COLUMNS:
        op.drop_column("properties", column)
