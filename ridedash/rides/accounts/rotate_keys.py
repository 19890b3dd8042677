"""`ridedash keys rotate`: re-encrypts secrets that are not encrypted with the first key.

See docs/security.md 7.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import func, select, update

from ridedash.store import audit
from ridedash.store.actors import CLI
from ridedash.store.database.database import Clock, Database
from ridedash.store.encryption import DecryptionFailed, TokenVault
from ridedash.store.models.orders import Ride
from ridedash.store.models.people import Account, LinkStart

BATCH: Final = 500  # rows in one transaction
# every encrypted column: table, primary key, column, and the name to which the secret is bound
SECRETS: Final[tuple[tuple[Any, Any, str, str], ...]] = (
    (Account, Account.id, "access_token_enc", "access_token"),
    (Account, Account.id, "refresh_token_enc", "refresh_token"),
    (Ride, Ride.id, "otp_enc", "otp"),
    (LinkStart, LinkStart.state_hash, "verifier_enc", "verifier"),
)


@dataclass(frozen=True)
class Rotated:
    """How many secrets were encrypted again, and how many still have another key than the first."""

    done: int
    left: int


def rotate(db: Database, vault: TokenVault, clock: Clock) -> Rotated:
    """Re-encrypt secrets, in batches. Processes that have both keys may run meanwhile."""
    done = left = 0
    for secret in SECRETS:
        for batch in _batches(db, *secret[:3]):
            done += _encrypt_batch(
                db, vault, secret, [each for each in batch if not vault.is_current(each[1])]
            )
        left += _count_older(db, vault, secret)
    with db.write() as s:
        result = "left" if left else "ok"
        audit.record(s, CLI, "keys.rotated", "keys", result, clock(), done=done, left=left)
    return Rotated(done, left)


def _batches(db: Database, table: Any, key: Any, column: str) -> Iterator[list[tuple[Any, str]]]:
    """All rows that have the secret, in batches of (primary key, encrypted secret).

    The batches are in ascending order of the primary key.
    """
    field = getattr(table, column)
    last = None
    while True:
        query = select(key, field).where(field.is_not(None)).order_by(key).limit(BATCH)
        with db.read() as s:
            rows = [
                (row[0], row[1])
                for row in s.execute(query if last is None else query.where(key > last))
            ]
        if not rows:
            return
        yield rows
        last = rows[-1][0]


def _encrypt_batch(
    db: Database, vault: TokenVault, secret: tuple[Any, Any, str, str], rows: list[tuple[Any, str]]
) -> int:
    """Encrypt a batch again, and return how many of its secrets were changed.

    A secret that can't be decrypted, or was changed after the batch was read, stays as it is.
    """
    table, key, column, bound = secret
    field = getattr(table, column)
    done = 0
    with db.write() as s:
        for name, encrypted in rows:
            try:
                plain = vault.decrypt(encrypted, table.__tablename__, name, bound)
            except DecryptionFailed:
                continue
            fresh = vault.encrypt(plain, table.__tablename__, name, bound)
            change = update(table).where(key == name, field == encrypted).values({column: fresh})
            done += s.connection().execute(change).rowcount
    return done


def _count_older(db: Database, vault: TokenVault, secret: tuple[Any, Any, str, str]) -> int:
    table, _, column, _ = secret
    field = getattr(table, column)
    # for a row without a secret, the SQL condition is NULL: neither true nor false
    first = func.substr(field, 1, len(vault.first) + 1) == f"{vault.first}."
    with db.read() as s:
        query = select(func.count()).select_from(table).where(~first)
        return s.scalar(query) or 0
