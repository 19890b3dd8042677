"""Access and refresh tokens of the sandbox's users.

Only hashes of tokens are stored. Tokens expire by wall time.
"""

import hashlib
import secrets
import sqlite3
from pathlib import Path
from typing import Final, NamedTuple

from ridedash.sandbox.settings import wall_clock
from ridedash.sandbox.store import ReadCache, Store
from ridedash.sandbox.users import find_user

ACCESS: Final = "access"
REFRESH: Final = "refresh"
ACCESS_SECONDS: Final = 3600.0
REFRESH_SECONDS: Final = 90 * 86400.0
LONG_LIVED_SECONDS: Final = 3650 * 86400.0


class TokenGrant(NamedTuple):
    """The user and scope of a token, and the family of tokens that are revoked together."""

    user: str
    scope: str
    family: str


def mint_token(database: Path, user: str) -> str:
    """Issue a new long-lived access token for a sandbox user (an id of SANDBOX_USERS).

    A user may have many tokens. The sandbox need not be running. Raises ValueError for an unknown
    user.
    """
    if find_user(user) is None:
        raise ValueError(f"the sandbox has no user {user!r}")
    store = Store(database)
    try:
        with store.write() as connection:
            grant = TokenGrant(user, "", secrets.token_hex(8))
            return issue(connection, ACCESS, grant, wall_clock().timestamp() + LONG_LIVED_SECONDS)
    finally:
        store.close()


def issue(connection: sqlite3.Connection, kind: str, grant: TokenGrant, expires_at: float) -> str:
    """Store a new token of a kind and return its text, which is not stored."""
    token = secrets.token_urlsafe(32)
    connection.execute(
        "INSERT INTO tokens (hash, kind, user, family, scope, expires_at)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (fingerprint(token), kind, grant.user, grant.family, grant.scope, expires_at),
    )
    return token


def user_of(cache: ReadCache, access_token: str, wall: float) -> str | None:
    """The user of an access token that hasn't expired, or None."""
    user, expires_at = cache.get(
        ("token", access_token), lambda connection: _access(connection, access_token)
    )
    if expires_at <= wall:
        return None
    return user


def _access(connection: sqlite3.Connection, token: str) -> tuple[str, float]:
    sql = "SELECT user, expires_at FROM tokens WHERE hash = ? AND kind = 'access'"
    row = connection.execute(sql, (fingerprint(token),)).fetchone()
    if row is None:
        return "", 0.0
    return row["user"], row["expires_at"]


def spend_refresh(connection: sqlite3.Connection, token: str, wall: float) -> TokenGrant | None:
    """Use a refresh token; None if it is unknown, expired or already used.

    A token that is used again revokes its whole family, because it may have been stolen.
    """
    row = connection.execute(
        "SELECT * FROM tokens WHERE hash = ? AND kind = 'refresh'", (fingerprint(token),)
    ).fetchone()
    if row is None or row["expires_at"] <= wall:
        return None
    if row["spent"]:
        revoke_family(connection, row["family"])
        return None
    connection.execute("UPDATE tokens SET spent = 1 WHERE hash = ?", (row["hash"],))
    return TokenGrant(row["user"], row["scope"], row["family"])


def revoke(connection: sqlite3.Connection, token: str) -> None:
    """Revoke an access or refresh token and its whole family.

    An unknown token is not an error (RFC 7009).
    """
    row = connection.execute(
        "SELECT family FROM tokens WHERE hash = ?", (fingerprint(token),)
    ).fetchone()
    if row is not None:
        revoke_family(connection, row["family"])


def revoke_family(connection: sqlite3.Connection, family: str) -> None:
    """Delete every token that descends from one authorization."""
    connection.execute("DELETE FROM tokens WHERE family = ?", (family,))


def fingerprint(secret: str) -> str:
    """The SHA-256 hash under which a secret is stored."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
