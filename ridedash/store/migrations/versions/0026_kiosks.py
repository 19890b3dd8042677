"""Kiosks and door displays: devices, their visits, desk codes, approvals, tickets and hints."""

from typing import Any, Final

import sqlalchemy as sa
from alembic import op

from ridedash.store.database import database as db

revision = "0026"
down_revision: str | None = "0025"
branch_labels = None
depends_on = None


def _whole(name: str, *more: Any, nullable: bool = True, **options: Any) -> sa.Column[int]:
    kind = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    return sa.Column(name, kind, *more, nullable=nullable, **options)


def _text(name: str, length: int, *, nullable: bool = True, **options: Any) -> sa.Column[str]:
    kind = sa.String(length).with_variant(sa.Text(), "postgresql")
    return sa.Column(name, kind, nullable=nullable, **options)


def _time(name: str, *, nullable: bool = True) -> sa.Column[Any]:
    return sa.Column(name, db.UtcDateTime(timezone=True), nullable=nullable)


def _yes_no(name: str, *, nullable: bool = False) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean(), nullable=nullable)


def _json(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.JSON(none_as_null=True), nullable=False)


def _point() -> tuple[sa.Column[float], sa.Column[float]]:
    return sa.Column("lat", sa.Float()), sa.Column("lng", sa.Float())


def _reference(table: str, name: str, *, nullable: bool = True) -> sa.Column[int]:
    """A column that refers to a row of another table."""
    return _whole(name, sa.ForeignKey(f"{table}.id"), nullable=nullable)


TABLES: Final = (
    "kiosks",
    "kiosk_visits",
    "kiosk_codes",
    "kiosk_asks",
    "tickets",
    "pickup_hints",
    "kiosk_phones",
)
WITH_KIOSK: Final = ("orders", "offers", "actions")
INDEXES: Final = (
    ("kiosks_of_property", "kiosks", ["property_id"]),
    ("kiosks_pairing", "kiosks", ["pairing_hash"]),
    ("kiosks_by_old_token", "kiosks", ["old_token_hash"]),
    ("kiosk_visits_by_day", "kiosk_visits", ["property_id", "began_at"]),
    ("kiosk_visits_of_kiosk", "kiosk_visits", ["kiosk_id", "began_at"]),
    ("kiosk_codes_of_property", "kiosk_codes", ["property_id", "code_hash"]),
    ("kiosk_asks_of_property", "kiosk_asks", ["property_id", "state"]),
    ("kiosk_asks_of_visit", "kiosk_asks", ["visit_id"]),
    ("pickup_hints_of_property", "pickup_hints", ["property_id"]),
)


def upgrade() -> None:
    """Create seven tables, kiosk_id of orders, offers and actions, and unverified of guests.

    In existing rows kiosk_id is empty and unverified false: none of them came from a kiosk.
    """
    _devices()
    _visits()
    _codes_and_approvals()
    _tickets_and_pickup_hints()
    for name, table, columns in INDEXES:
        op.create_index(name, table, columns)
    op.create_index("ticket_numbers", "tickets", ["property_id", "day", "number"], unique=True)
    for table in WITH_KIOSK:
        op.add_column(table, _whole("kiosk_id"))
    op.add_column(
        "guests", sa.Column("unverified", sa.Boolean(), nullable=False, server_default=sa.false())
    )


def _devices() -> None:
    rules = (
        _reference("accounts", "account_id"),
        _text("rule", 12, nullable=False),
        _json("hours"),
        _json("languages"),
        _text("default_language", 8),
        sa.Column("mm_per_px", sa.Float()),
        _whole("bottom_mm"),
        _whole("idle_s"),
        _yes_no("printer"),
        _yes_no("attended"),
        _text("desk_phone", 32),
        _text("shows", 12, nullable=False),
        _yes_no("marks"),
    )
    op.create_table(
        "kiosks",
        _whole("id", nullable=False, primary_key=True),
        _reference("properties", "property_id", nullable=False),
        _text("kind", 8, nullable=False),
        _text("name", 120, nullable=False),
        _text("place", 200),
        *_point(),
        *rules,
        *_pairing(),
        _time("seen_at"),
        _text("release", 64),
        _json("health"),
        _yes_no("out_of_order"),
        _time("code_until"),
        _time("handed_at"),
        _text("handed_language", 8),
        _time("made_at", nullable=False),
        _time("revoked_at"),
    )


def _pairing() -> tuple[sa.Column[Any], ...]:
    return (
        _text("pairing_hash", 64),
        _time("pairing_until"),
        _text("token_hash", 64, unique=True),
        _text("old_token_hash", 64),
        _time("replaced_at"),
        _time("confirmed_at"),
        _text("pin_hash", 255),
        _whole("pin_tries", nullable=False),
        _time("pin_blocked_until"),
        _reference("staff", "paired_by"),
        _time("paired_at"),
    )


def _visits() -> None:
    op.create_table(
        "kiosk_visits",
        _text("id", 32, nullable=False, primary_key=True),
        _reference("kiosks", "kiosk_id", nullable=False),
        _reference("properties", "property_id", nullable=False),
        _time("began_at", nullable=False),
        _time("ended_at"),
        _text("how", 8),
        _text("language", 8),
        _json("aids"),
        _text("screen", 20),
        _whole("seconds"),
        _whole("order_id"),
        _time("help_at"),
        _time("help_answered_at"),
        _reference("staff", "help_answered_by"),
    )
    op.create_table(
        "kiosk_phones",
        _text("token_hash", 64, nullable=False, primary_key=True),
        _reference("kiosks", "kiosk_id", nullable=False),
        _reference("properties", "property_id", nullable=False),
        _text("visit_id", 32),
        _time("made_at", nullable=False),
        _time("expires_at", nullable=False),
        _time("opened_at"),
        _text("session_hash", 64),
        _time("used_at"),
    )


def _codes_and_approvals() -> None:
    op.create_table(
        "kiosk_codes",
        _whole("id", nullable=False, primary_key=True),
        _text("code_hash", 64, nullable=False),
        _reference("properties", "property_id", nullable=False),
        _reference("guests", "guest_id"),
        _yes_no("house_pays"),
        _reference("staff", "made_by"),
        _time("made_at", nullable=False),
        _time("expires_at", nullable=False),
        _time("used_at"),
        _reference("kiosks", "used_by_kiosk"),
    )
    op.create_table(
        "kiosk_asks",
        _whole("id", nullable=False, primary_key=True),
        _reference("properties", "property_id", nullable=False),
        _reference("kiosks", "kiosk_id", nullable=False),
        _text("visit_id", 32, nullable=False),
        _json("wish"),
        sa.Column("wish_enc", sa.Text()),
        _whole("offer_id", nullable=False),
        _text("state", 12, nullable=False),
        _yes_no("house_pays"),
        _text("reason", 40),
        _whole("order_id"),
        _time("asked_at", nullable=False),
        _reference("staff", "answered_by"),
        _time("answered_at"),
    )


def _tickets_and_pickup_hints() -> None:
    op.create_table(
        "tickets",
        _whole("id", nullable=False, primary_key=True),
        _reference("properties", "property_id", nullable=False),
        _whole("order_id", sa.ForeignKey("orders.id"), nullable=False, unique=True),
        _whole("number", nullable=False),
        _text("day", 10, nullable=False),
        _text("pin_hash", 255, nullable=False),
        _whole("tries", nullable=False),
        _time("closed_at"),
    )
    op.create_table(
        "pickup_hints",
        _whole("id", nullable=False, primary_key=True),
        _reference("properties", "property_id", nullable=False),
        _reference("kiosks", "kiosk_id"),
        _text("point", 200),
        *_point(),
        _json("words"),
        _whole("metres"),
        _whole("minutes"),
        _yes_no("steps", nullable=True),
    )


def downgrade() -> None:
    """Drop the tables and columns; the indexes go with their tables."""
    op.drop_column("guests", "unverified")
    for table in WITH_KIOSK:
        op.drop_column(table, "kiosk_id")
    for table in reversed(TABLES):
        op.drop_table(table)
