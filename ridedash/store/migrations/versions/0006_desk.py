"""The desk: search of earlier guests, favourites, planned rides, groups, links, invitations and
shift notes.
"""

from collections.abc import Callable
from typing import Any, Final

import sqlalchemy as sa
from alembic import op

from ridedash.store.database import database as db

revision = "0006"
down_revision: str | None = "0005"
branch_labels = None
depends_on = None


def _whole(name: str, **options: Any) -> sa.Column[int]:
    """A column of 64-bit integers; SQLite has one size of INTEGER."""
    return sa.Column(name, sa.BigInteger().with_variant(sa.Integer(), "sqlite"), **options)


def _text(name: str, length: int, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(
        name, sa.String(length).with_variant(sa.Text(), "postgresql"), nullable=nullable
    )


def _time(name: str, *, nullable: bool = True) -> sa.Column[Any]:
    return sa.Column(name, db.UtcDateTime(timezone=True), nullable=nullable)


ADDED: Final[dict[str, Callable[[], tuple[sa.Column[Any], ...]]]] = {
    "guests": lambda: (
        _text("language", 8, nullable=True),
        _text("note", 500, nullable=True),
        _time("seen_at"),
        _time("erased_at"),
    ),
    "staff": lambda: (
        sa.Column("shortcuts", sa.Boolean(), nullable=False, server_default=sa.true()),
        sa.Column("sound", sa.Boolean(), nullable=False, server_default=sa.false()),
    ),
    "orders": lambda: (
        _time("pickup_at"),
        _whole("tries", nullable=False, server_default="0"),
        _text("group_key", 32, nullable=True),
        _whole("cost_centre_id"),
    ),
    "rides": lambda: (_whole("total_minor"), _text("currency", 8, nullable=True)),
}
INDEXES: Final = (
    ("guests_by_phone", "guests", ["property_id", "phone"]),
    ("guests_by_room", "guests", ["property_id", "room"]),
    ("guests_by_seen", "guests", ["property_id", "seen_at"]),
    ("orders_of_property", "orders", ["property_id", "state", "due_at"]),
    ("orders_by_day", "orders", ["property_id", "created_at"]),
    ("orders_of_guest", "orders", ["guest_id"]),
    ("orders_of_group", "orders", ["group_key"]),
    ("orders_superseding", "orders", ["supersedes"]),
    ("ix_cost_centres_property_id", "cost_centres", ["property_id"]),
    ("links_by_order", "links", ["order_id"]),
    ("shift_notes_open", "shift_notes", ["property_id", "done_at"]),
)
TABLES: Final = ("favourites", "cost_centres", "links", "invitations", "shift_notes")


def upgrade() -> None:
    """Add columns, tables and indexes."""
    for table, columns in ADDED.items():
        for column in columns():
            op.add_column(table, column)
    _favourites_and_cost_centres()
    _links_and_invitations()
    _owned(
        "shift_notes",
        _whole("staff_id", nullable=False),
        _text("text", 1000),
        _time("made_at", nullable=False),
        _time("done_at"),
        _whole("done_by"),
        staff=("staff_id", "done_by"),
    )
    for name, table, indexed in INDEXES:
        op.create_index(name, table, indexed)
    op.create_index("favourite_slots", "favourites", ["property_id", "kind", "slot"], unique=True)


def _favourites_and_cost_centres() -> None:
    point = (
        sa.Column("lat", sa.Float(), nullable=False),
        sa.Column("lng", sa.Float(), nullable=False),
    )
    _owned(
        "favourites", _text("kind", 8), _whole("slot", nullable=False), _text("name", 200), *point
    )
    _owned("cost_centres", _text("name", 80), _time("closed_at"))


def _links_and_invitations() -> None:
    """Whoever has the token of a link or an invitation gets in, so only its hash is stored."""
    _owned(
        "links",
        *_token_columns(),
        _whole("order_id", nullable=False),
        _text("kind", 10),
        _time("revoked_at"),
        sa.ForeignKeyConstraint(["order_id"], ["orders.id"]),
        staff=("made_by",),
    )
    _owned(
        "invitations",
        *_token_columns(),
        _text("role", 20),
        _text("name", 120),
        _whole("staff_id"),
        _time("expires_at", nullable=False),
        _time("used_at"),
        staff=("staff_id", "made_by"),
    )


def _token_columns() -> tuple[sa.Column[Any], ...]:
    hashed = sa.Column(
        "token_hash",
        sa.String(64).with_variant(sa.Text(), "postgresql"),
        nullable=False,
        unique=True,
    )
    return hashed, _whole("made_by"), _time("made_at", nullable=False)


def _owned(table: str, *columns: Any, staff: tuple[str, ...] = ()) -> None:
    """Create a table whose rows belong to a property; the columns of `staff` refer to its staff."""
    op.create_table(
        table,
        _whole("id", nullable=False),
        _whole("property_id", nullable=False),
        *columns,
        *(sa.ForeignKeyConstraint([name], ["staff.id"]) for name in staff),
        sa.ForeignKeyConstraint(["property_id"], ["properties.id"]),
        sa.PrimaryKeyConstraint("id"),
    )


def downgrade() -> None:
    """Drop the columns, tables and indexes."""
    for name, table, _columns in INDEXES:
        op.drop_index(name, table)
    op.drop_index("favourite_slots", "favourites")
    for table in reversed(TABLES):
        op.drop_table(table)
    for table, columns in ADDED.items():
        for column in columns():
            op.drop_column(table, column.name)
