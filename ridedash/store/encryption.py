"""Encrypts stored secrets: AES-256-GCM, bound to their row and column.

See docs/security.md 7.
"""

import base64
import binascii
import hashlib
import secrets
from collections.abc import Collection
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES: Final = 32  # a key of AES-256
NONCE_BYTES: Final = 12  # the nonce of GCM
# the longest name of an unknown key that `key_of` returns, in characters
LONGEST_NAME: Final = 16


class BadKeys(ValueError):
    """RIDEDASH_TOKEN_KEYS is no list of `name:base64 of 32 random bytes` with different names."""


class DecryptionFailed(Exception):
    """A stored secret can't be decrypted: its key is missing, or the secret was moved or changed.

    The secret must be obtained again.
    """


def new_key() -> str:
    """A random key as the base64 text that TokenVault takes after `k1:`."""
    return base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()


class TokenVault:
    """Encrypts with the first key of a list such as `k2:<base64>,k1:<base64>`, decrypts with any.

    The constructor raises BadKeys for other texts.
    """

    def __init__(self, keys: str) -> None:
        parsed = list(map(_parsed, keys.split(",")))
        self._keys = {kid: AESGCM(key) for kid, key in parsed}
        if len(self._keys) < len(parsed):  # otherwise one of them would never be used
            raise BadKeys("two token keys have one name")
        self.first = keys.partition(":")[0].strip()

    def __repr__(self) -> str:
        return f"TokenVault(keys={sorted(self._keys)})"

    @property
    def names(self) -> frozenset[str]:
        """The names of this process's keys."""
        return frozenset(self._keys)

    def is_current(self, text: str) -> bool:
        """Whether a stored secret begins with the name of the first key."""
        return text.partition(".")[0] == self.first

    def encrypt(self, plain: str, table: str, row: int | str, column: str) -> str:
        """`kid.nonce.ciphertext`, readable only for this table, row and column."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        ciphertext = self._keys[self.first].encrypt(
            nonce, plain.encode(), _bound(self.first, table, row, column)
        )
        return f"{self.first}.{_b64(nonce)}.{_b64(ciphertext)}"

    def opens(self, text: str, table: str, row: int | str, column: str) -> bool:
        """Whether these keys decrypt a stored secret; a key with the right name is not enough."""
        try:
            self.decrypt(text, table, row, column)
        except DecryptionFailed:
            return False
        return True

    def decrypt(self, text: str, table: str, row: int | str, column: str) -> str:
        """The plain text.

        Raises DecryptionFailed when the key is unknown, and when the text is malformed or was
        encrypted for another table, row or column.
        """
        try:
            kid, nonce, ciphertext = text.split(".")
            key = self._keys[kid]
            return key.decrypt(
                _unb64(nonce), _unb64(ciphertext), _bound(kid, table, row, column)
            ).decode()
        except (KeyError, ValueError, InvalidTag) as error:
            raise DecryptionFailed(
                f"the secret in {table}.{column} of row {row} can't be read"
            ) from error


def secret_hash(secret: str) -> str:
    """The SHA-256 of a secret in hexadecimal, by which its holder is recognised.

    Only the hash is stored, which no reader of the table can use in place of the secret.
    """
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def key_of(text: str, known: Collection[str] = ()) -> str:
    """The name of the key that a stored secret was encrypted with; "?" for other text.

    Other text must not get into a log, so only one of `known`, or a short name, is returned.
    """
    kid, dot, _ = text.partition(".")
    short = kid.isalnum() and len(kid) <= LONGEST_NAME
    if not dot or not (short or kid in known):
        return "?"
    return kid


def _bound(kid: str, table: str, row: int | str, column: str) -> bytes:
    """The additional authenticated data of AES-GCM: only with these is a secret decrypted."""
    return f"{kid}|{table}|{row}|{column}".encode()


def _parsed(entry: str) -> tuple[str, bytes]:
    kid, colon, text = entry.strip().partition(":")
    try:
        key = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadKeys(f"token key {kid!r} is not base64") from error
    if not colon or not kid.isalnum() or len(key) != KEY_BYTES or len(set(key)) < 8:
        raise BadKeys(f"token key {kid!r} must be `name:base64` of {KEY_BYTES} random bytes")
    return kid, key


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _unb64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
