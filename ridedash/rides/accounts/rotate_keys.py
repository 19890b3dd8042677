"""`ridedash keys rotate`: what an older key encrypted is encrypted with the first one.

See docs/security.md 7.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import func, select, update

from ridedash.rides.runtime import Clock
from ridedash.store import audit
from ridedash.store.database.database import Database
from ridedash.store.encryption import DecryptionFailed, TokenVault
from ridedash.store.models.orders import Ride
from ridedash.store.models.people import Account, LinkStart

AT_ONCE: Final = 500  # rows in one transaction
# every encrypted column: its table, the name of its row, and what it is bound to
SECRETS: Final[tuple[tuple[Any, Any, str, str], ...]] = (
    (Account, Account.id, "access_token_enc", "access_token"),
    (Account, Account.id, "refresh_token_enc", "refresh_token"),
    (Ride, Ride.id, "otp_enc", "otp"),
    (LinkStart, LinkStart.state_hash, "verifier_enc", "verifier"),
)


@dataclass(frozen=True)
class Rotated:
    """How many secrets were encrypted anew, and how many still need an older key: those that could
    not be read.
    """

    done: int
    left: int


def rotate(db: Database, vault: TokenVault, clock: Clock) -> Rotated:
    """Encrypt anew, in batches; processes may go on meanwhile if they know both keys."""
    done = left = 0
    for secret in SECRETS:
        for batch in _batches(db, *secret[:3]):
            done += _again(
                db, vault, secret, [each for each in batch if not vault.is_current(each[1])]
            )
        left += _older(db, vault, secret)
    with db.write() as s:
        audit.record(
            s,
            "cli",
            "keys.rotated",
            "keys",
            "ok" if not left else "left",
            clock(),
            done=done,
            left=left,
        )
    return Rotated(done, left)


def _batches(db: Database, table: Any, key: Any, column: str) -> Iterator[list[tuple[Any, str]]]:
    """All rows that hold a secret, in the order of their keys."""
    field, last = getattr(table, column), None
    while True:
        query = select(key, field).where(field.is_not(None)).order_by(key).limit(AT_ONCE)
        with db.read() as s:
            rows = [
                (row[0], row[1])
                for row in s.execute(query if last is None else query.where(key > last))
            ]
        if not rows:
            return
        yield rows
        last = rows[-1][0]


def _again(
    db: Database, vault: TokenVault, secret: tuple[Any, Any, str, str], rows: list[tuple[Any, str]]
) -> int:
    """A secret that changed meanwhile stays: it is newer than what was read."""
    table, key, column, bound = secret
    field, done = getattr(table, column), 0
    with db.write() as s:
        for name, sealed in rows:
            try:
                plain = vault.decrypt(sealed, table.__tablename__, name, bound)
            except DecryptionFailed:
                continue
            fresh = vault.encrypt(plain, table.__tablename__, name, bound)
            change = update(table).where(key == name, field == sealed).values({column: fresh})
            done += s.connection().execute(change).rowcount
    return done


def _older(db: Database, vault: TokenVault, secret: tuple[Any, Any, str, str]) -> int:
    table, _, column, _ = secret
    field = getattr(table, column)
    first = func.substr(field, 1, len(vault.first) + 1) == f"{vault.first}."
    with db.read() as s:
        return (
            s.scalar(select(func.count()).select_from(table).where(field.is_not(None), ~first)) or 0
        )
