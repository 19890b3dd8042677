"""Encryption of stored secrets: what earlier releases stored stays readable."""

import base64

import pytest

from ridedash.store.encryption import (
    BadKeys,
    DecryptionFailed,
    TokenVault,
    key_of,
    new_key,
)

KEYS = "k1:" + base64.b64encode(bytes(range(32))).decode()
# AES-256-GCM of "a token" for accounts.access_enc of row 7, in the format of all releases so far.
STORED = "k1.jfBhh5sjsQFRNY6G.p7GPOZq0BVTAGj9UQVhfKNsR72rRrqI"
PLACE = ("accounts", 7, "access_enc")


def test_what_earlier_releases_stored_is_readable() -> None:
    assert TokenVault(KEYS).decrypt(STORED, *PLACE) == "a token"


def test_a_secret_is_stored_as_earlier_releases_read_it() -> None:
    """Three parts: the key's name, a nonce of 96 bits, and the ciphertext with its 128-bit tag."""
    kid, nonce, ciphertext = TokenVault(KEYS).encrypt("a token", *PLACE).split(".")
    sizes = [len(base64.urlsafe_b64decode(text + "==")) for text in (nonce, ciphertext)]
    assert (kid, sizes) == ("k1", [12, len("a token") + 16])


@pytest.mark.parametrize(
    "place", [("orders", 7, "access_enc"), ("accounts", 8, "access_enc"), ("accounts", 7, "other")]
)
def test_a_secret_that_was_moved_is_not_read(place: tuple[str, int, str]) -> None:
    with pytest.raises(DecryptionFailed):
        TokenVault(KEYS).decrypt(STORED, *place)


def test_a_secret_of_an_unknown_key_is_not_read() -> None:
    with pytest.raises(DecryptionFailed):
        TokenVault("k2:" + new_key()).decrypt(STORED, *PLACE)


def test_a_secret_of_the_first_key_alone_is_current() -> None:
    vault = TokenVault(f"k2:{new_key()},{KEYS}")
    assert not vault.is_current(STORED)
    assert vault.is_current(vault.encrypt("a token", *PLACE))
    assert not vault.is_current("k22.x.y")


@pytest.mark.parametrize("length", range(7))
def test_a_secret_of_any_length_is_read_back(length: int) -> None:
    vault, plaintext = TokenVault(KEYS), "7" * length
    assert vault.decrypt(vault.encrypt(plaintext, *PLACE), *PLACE) == plaintext


def test_the_key_of_a_secret_is_named_and_nothing_that_could_be_a_secret_itself() -> None:
    assert key_of(STORED) == "k1"
    assert key_of("k" * 16 + ".x.y") == "k" * 16
    for other in ("", "k1", ".x.y", "a-b.x.y", "k" * 17 + ".x.y"):
        assert key_of(other) == "?", other


def test_a_key_is_32_bytes_of_at_least_eight_different_ones() -> None:
    def key(*parts: bytes) -> str:
        return "k1:" + base64.b64encode(b"".join(parts)).decode()

    plaintext = bytes(range(8))
    assert TokenVault(key(plaintext, bytes(24))).first == "k1"
    for weak in (
        key(plaintext[:7], bytes(25)),
        key(plaintext, bytes(23)),
        key(plaintext, bytes(25)),
    ):
        with pytest.raises(BadKeys, match="32 random bytes"):
            TokenVault(weak)
    with pytest.raises(BadKeys, match="is not base64"):
        TokenVault(KEYS + "!")
    assert TokenVault(f" k2:{new_key()} , {KEYS}").names == {"k1", "k2"}
