"""Passwords that staff choose: long enough, and not one that everybody tries first (security.md 6.2)."""

import re
from collections.abc import Iterable
from typing import Final

from werkzeug.security import generate_password_hash

from ridedash.store.common_passwords import COMMON

SHORTEST: Final = 12
LONGEST: Final = 128
OWN_LEAST: Final = 8  # letters and digits that are left without the words that anybody would guess here
DIFFERENT_LEAST: Final = 5
GUESSED: Final = (
    "ridedash", "concierge", "frontdesk", "reception", "password", "passwort", "welcome", "hotel", "hospital",
    "manager", "admin", "driver", "guest", "desk", "ride", "dash", "taxi", "login", "qwerty", "letmein", "secret",
    "123456789", "12345678", "1234567", "123456", "12345", "1234", "123",
)  # fmt: skip
_LEET: Final = str.maketrans("013457@$!", "oleastasi")


def weakness(password: str, words: Iterable[str] = ()) -> str | None:
    """Why a password can't be used: `short`, `long` or `common`; None when it can.

    `words` are names that whoever guesses knows: of the property, of the person.
    """
    if len(password) < SHORTEST:
        return "short"
    if len(password) > LONGEST:
        return "long"
    return "common" if _guessable(password, words) else None


def hashed(password: str) -> str:
    """How it is stored: scrypt with a salt."""
    return generate_password_hash(password)


def _guessable(password: str, words: Iterable[str]) -> bool:
    plain = _letters(password)
    if plain in COMMON or len(set(plain)) < DIFFERENT_LEAST:
        return True
    known = {_letters(part) for name in words for part in (name, *name.split())}
    guessed = sorted({word for word in (*GUESSED, *known) if len(word) >= 3}, key=len, reverse=True)
    return any(_left(spelt, guessed) < OWN_LEAST for spelt in (plain, _letters(password.translate(_LEET))))


def _left(text: str, guessed: Iterable[str]) -> int:
    for word in guessed:
        text = text.replace(word, "")
    return len(text)


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())
