"""One folding of names: what guests are found by, their keys, and the guards of open orders."""

import hashlib
import unicodedata
from collections.abc import Callable
from typing import Any, Final

import sqlalchemy as sa
from alembic import op

from ridedash.names import found_by, name_key
from ridedash.store.database import database as db
from ridedash.text import ascii_digits, room_key

revision = "0041"
down_revision: str | None = "0039"
branch_labels = None
depends_on = None

AT_ONCE: Final = 1000  # guests
GUESTS: Final = sa.table(
    "guests", *map(sa.column, ("id", "name", "phone", "room", "folded", "name_key"))
)
ORDERS: Final = sa.table("orders", *map(sa.column, ("id", "guest_id", "guard_key", "open")))
_ARABIC: Final = dict(zip("ٱةیىکہھە", "اهييكههه", strict=True)) | {"ـ": None}
_BEFORE: Final = str.maketrans(_ARABIC | dict.fromkeys("\u200c\u200d"))


def upgrade() -> None:
    """Add the key of names, and fill in the folded forms and the guards. May run again."""
    columns = sa.inspect(op.get_bind()).get_columns("guests")
    if "name_key" not in {each["name"] for each in columns}:
        op.add_column("guests", sa.Column("name_key", db.ShortText(300), nullable=True))
    _fold(lambda name: {"folded": found_by(name), "name_key": name_key(name)})
    _guard_anew(_guarded_before, lambda name, room: f"{name_key(name)}/{room_key(room)}")


def downgrade() -> None:
    """Fold and guard as the previous release does."""
    _guard_anew(lambda name, room: f"{name_key(name)}/{room_key(room)}", _guarded_before)
    _fold(lambda name: {"folded": _folded_before(name)})
    op.drop_column("guests", "name_key")


def _fold(folded: Callable[[str], dict[str, str]]) -> None:
    """Write the folded forms of all names, a thousand guests at a time."""
    line, last = op.get_bind(), 0
    page = sa.select(GUESTS.c.id, GUESTS.c.name).order_by(GUESTS.c.id).limit(AT_ONCE)
    columns: dict[str, Any] = {name: sa.bindparam(name) for name in folded("")}
    change = sa.update(GUESTS).where(GUESTS.c.id == sa.bindparam("row")).values(columns)
    while rows := line.execute(page.where(GUESTS.c.id > last)).all():
        new = [{"row": row.id, **folded(row.name)} for row in rows]
        line.execute(change, new)
        last = rows[-1].id


def _guard_anew(
    before: Callable[[str, str | None], str], after: Callable[[str, str | None], str]
) -> None:
    """Write the guards of open orders that are made of a name and a room.

    A guard of a guest whose data have changed since is known by the guest's row. Of two open
    orders whose guards become one, the later goes on without, as a second car does
    (docs/booking-protocol.md 1.2).
    """
    line = op.get_bind()
    query = sa.select(ORDERS.c.id, ORDERS.c.guard_key, GUESTS.c.name, GUESTS.c.room)
    query = query.join(GUESTS, GUESTS.c.id == ORDERS.c.guest_id)
    guarded = ORDERS.c.open.is_(sa.true()), ORDERS.c.guard_key.is_not(None)
    rows = line.execute(query.where(*guarded).order_by(ORDERS.c.id)).all()
    taken = {row.guard_key for row in rows}
    for row in rows:
        prop, hashed, cell = row.guard_key.split("|")
        if hashed != _hash(before(row.name, row.room)):
            continue
        key = f"{prop}|{_hash(after(row.name, row.room))}|{cell}"
        if key != row.guard_key:
            new = None if key in taken else key
            taken.add(key)
            line.execute(sa.update(ORDERS).where(ORDERS.c.id == row.id).values(guard_key=new))


def _hash(guest: str) -> str:
    return hashlib.sha256(guest.strip("/ ").encode()).hexdigest()[:24]


def _guarded_before(name: str, room: str | None) -> str:
    return f"{name}/{room or ''}".casefold()


def _folded_before(name: str) -> str:
    parts = unicodedata.normalize("NFKD", name).casefold()
    bare = "".join(char for char in parts if not unicodedata.combining(char))
    kept = ascii_digits(bare.translate(_BEFORE))
    words = "".join(char if char.isalnum() or not char.isascii() else " " for char in kept).split()
    return "".join(f" {word}" for word in words)[:300]
