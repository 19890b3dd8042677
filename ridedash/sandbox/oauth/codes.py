"""Authorization codes: issued by the authorize page, exchanged once at the token endpoint.

Only hashes of codes are stored.
"""

import base64
import hashlib
import hmac
import secrets
import sqlite3
from typing import Final, NamedTuple

from ridedash.sandbox.oauth.tokens import TokenGrant, fingerprint, revoke_family

CODE_SECONDS: Final = 120.0


class CodeRequest(NamedTuple):
    """The authorization request that a code was issued for."""

    user: str
    redirect_uri: str
    challenge: str
    scope: str


class Presented(NamedTuple):
    """The fields with which a client exchanges a code for tokens."""

    code: str
    redirect_uri: str
    verifier: str


def issue_code(connection: sqlite3.Connection, authorized: CodeRequest, wall: float) -> str:
    """Store a new code and return it."""
    code = secrets.token_urlsafe(24)
    connection.execute(
        "INSERT INTO codes (hash, user, redirect_uri, challenge, scope, expires_at)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (fingerprint(code), *authorized, wall + CODE_SECONDS),
    )
    return code


def spend_code(
    connection: sqlite3.Connection, presented: Presented, wall: float
) -> TokenGrant | None:
    """Exchange a code for a grant; None if it is unknown, expired, used or doesn't match.

    A code that is presented twice revokes the tokens of its first use (RFC 6749, 4.1.2).
    """
    row = connection.execute(
        "SELECT * FROM codes WHERE hash = ?", (fingerprint(presented.code),)
    ).fetchone()
    if row is None:
        return None
    if row["family"] is not None:
        revoke_family(connection, row["family"])
        return None
    proved = hmac.compare_digest(challenge_of(presented.verifier), row["challenge"])
    if row["expires_at"] <= wall or row["redirect_uri"] != presented.redirect_uri or not proved:
        return None
    family = secrets.token_hex(8)
    connection.execute("UPDATE codes SET family = ? WHERE hash = ?", (family, row["hash"]))
    return TokenGrant(row["user"], row["scope"], family)


def challenge_of(verifier: str) -> str:
    """The S256 challenge of a verifier (RFC 7636, 4.2)."""
    digest = hashlib.sha256(verifier.encode("utf-8", "replace")).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
