"""A property's own words for guests, and its marks of sentences that native readers have read."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from ridedash.store.database import database as db

revision = "0027"
down_revision: str | None = "0026"
branch_labels = None
depends_on = None

WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _of_property() -> sa.Column[int]:
    return sa.Column("property_id", WHOLE, sa.ForeignKey("properties.id"), primary_key=True)


def _text(name: str, length: int, **options: Any) -> sa.Column[str]:
    kind = sa.String(length).with_variant(sa.Text(), "postgresql")
    return sa.Column(name, kind, nullable=False, **options)


def _by_and_at() -> list[sa.Column[Any]]:
    return [
        sa.Column("staff_id", WHOLE, sa.ForeignKey("staff.id"), nullable=False),
        sa.Column("at", db.UtcDateTime(timezone=True), nullable=False),
    ]


def upgrade() -> None:
    """Add two empty tables, and `words_version`, which rises with each change in them."""
    version = sa.Column("words_version", WHOLE, nullable=False, server_default="0")
    op.add_column("properties", version)
    op.create_table(
        "wordings",
        _of_property(),
        _text("language", 8, primary_key=True),
        _text("name", 40, primary_key=True),
        _text("text", 200),
        _text("english", 300),
        *_by_and_at(),
    )
    op.create_table(
        "word_reviews",
        _of_property(),
        _text("language", 8, primary_key=True),
        _text("digest", 64),
        *_by_and_at(),
    )


def downgrade() -> None:
    """Drop what upgrade() added."""
    op.drop_table("word_reviews")
    op.drop_table("wordings")
    op.drop_column("properties", "words_version")
