"""New normalised forms of names, rooms and plates with letters or digits beyond ASCII."""

import unicodedata
from collections.abc import Callable
from typing import Any, Final

import sqlalchemy as sa
from alembic import op

from ridedash.text import compact_key, normalised, plain_code

revision = "0031"
down_revision: str | None = "0030"
branch_labels = None
depends_on = None

AT_ONCE: Final = 1000
# the condition of rows that may change: the rule for ASCII letters and digits is as before
BEYOND_ASCII: Final = {
    "postgresql": "octet_length({column}) > char_length({column})",
    "sqlite": "length(CAST({column} AS BLOB)) > length({column})",
}


def upgrade() -> None:
    """Write the new values where they differ from the stored ones; a second run changes nothing."""
    _rewrite("guests", "name", "folded", normalised)
    for table in ("guests", "orders"):
        _rewrite(table, "room", "room", plain_code)
    _rewrite("rides", "plate", "plate", compact_key)


def downgrade() -> None:
    """Write the names as the previous release compares them; rooms and plates stay as they are."""
    _rewrite("guests", "name", "folded", _before)


def _rewrite(table: str, read: str, written: str, made: Callable[[str], str]) -> None:
    """Fill `written` from `read` in rows with characters beyond ASCII, a thousand at a time."""
    line, last = op.get_bind(), 0
    beyond = BEYOND_ASCII[line.dialect.name].format(column=read)
    page = sa.text(
        f"SELECT id, {read} AS given, {written} AS present FROM {table}"  # noqa: S608 - constants
        f" WHERE {beyond} AND id > :last ORDER BY id LIMIT {AT_ONCE}"
    )
    change = sa.text(f"UPDATE {table} SET {written} = :made WHERE id = :id")  # noqa: S608
    while rows := line.execute(page, {"last": last}).all():
        found: list[dict[str, Any]] = [
            {"id": row.id, "made": new} for row in rows if (new := made(row.given)) != row.present
        ]
        if found:
            line.execute(change, found)
        last = rows[-1].id


def _before(name: str) -> str:
    parts = unicodedata.normalize("NFKD", name.casefold())
    kept = (char for char in parts if not unicodedata.combining(char))
    words = "".join(
        char if char.isalnum() or unicodedata.category(char) in ("Mc", "Mn") else " "
        for char in kept
    ).split()
    return "".join(f" {word}" for word in words)[:300]
