"""The rules for passwords of staff: long enough, and hard to guess (docs/security.md ASVS 6.2).

Keyboards write one letter in several ways: composed or not, full width or half. A password is
stored in one form (NFKC), so that it opens on each of them.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

SHORTEST: Final = 12  # characters
LONGEST: Final = 128  # more adds no safety, and hashing takes time
LONGEST_TYPED: Final = 512  # characters of a form, before letters and their marks are composed
GUESSES_LEAST: Final = 10**10  # guesses that an attacker needs, as zxcvbn estimates them
# characters that zxcvbn gets: its time grows with the square of the length
ESTIMATED_LENGTH: Final = 32
OWN_LEAST: Final = 8  # letters and digits that must remain without LOCAL_WORDS and names
LOCAL_WORDS: Final = (
    "ridedash",
    "concierge",
    "frontdesk",
    "reception",
    "hotel",
    "hospital",
    "manager",
    "admin",
    "driver",
    "guest",
    "desk",
    "ride",
    "dash",
    "taxi",
    "login",
    "password",
    "passwort",
    "welcome",
    "qwerty",
    "letmein",
    "secret",
    "123456789",
    "12345678",
    "1234567",
    "123456",
    "12345",
    "1234",
    "123",
)
_LEET: Final = str.maketrans("013457@$!", "oleastasi")
# Symbols that zxcvbn also reads as letters (_PLAIN has the most common one of each). zxcvbn tries
# every combination of readings, so each further symbol doubles its time.
SYMBOLS: Final = "4@8({[<3691!|70$5+%2"
MOST_SYMBOLS: Final = 10  # different symbols; this many take about 10 ms
_PLAIN: Final = str.maketrans(SYMBOLS, "aabcccceggiiitosstxz")


def weakness(password: str, words: Iterable[str] = ()) -> str | None:
    """Why a password can't be used: `short`, `long` or `common`; None when it can.

    `words` are names that an attacker knows: those of the property and of the person.
    """
    if len(password) > LONGEST_TYPED:
        return "long"
    password = plain(password)
    if len(password) < SHORTEST:
        return "short"
    if len(password) > LONGEST:
        return "long"
    if _made_of_known_words(password, words) or _guesses(password) < GUESSES_LEAST:
        return "common"
    return None


def hashed(secret: str) -> str:
    """The stored form of a password or a PIN: scrypt with a salt."""
    from werkzeug.security import generate_password_hash  # a worker needs none of werkzeug

    return generate_password_hash(plain(secret))


def matches(stored: str, secret: str) -> bool:
    """Whether a password or a PIN is the one that was stored; slow by design.

    Earlier releases stored passwords as they were typed. How many forms are tried depends on what
    is typed alone, so that the time tells nothing of what is stored.
    """
    from werkzeug.security import check_password_hash

    forms = plain(secret), secret, *(unicodedata.normalize(form, secret) for form in ("NFC", "NFD"))
    return any(check_password_hash(stored, each) for each in dict.fromkeys(forms))


def is_outdated(stored: str, secret: str) -> bool:
    """Whether `stored`, which this password opens, was made before all had one form."""
    from werkzeug.security import check_password_hash

    return not secret.isascii() and not check_password_hash(stored, plain(secret))


def are_same(password: str, repeated: str) -> bool:
    """Whether a password was typed twice, on whichever keyboard."""
    return len(repeated) <= LONGEST_TYPED and plain(password) == plain(repeated)


def plain(secret: str) -> str:
    """A password in the form that is stored.

    >>> plain("Jose\u0301 ４７１１") == "José 4711"
    True
    """
    return unicodedata.normalize("NFKC", secret)


def _guesses(password: str) -> float:
    """The guesses, as zxcvbn estimates them, for the `estimated_part` of a password."""
    # imported here because its word lists take 16 MB of memory and passwords are rarely set
    from zxcvbn import zxcvbn

    return float(zxcvbn(estimated_part(password))["guesses"])


def estimated_part(password: str) -> str:
    """The part of a password that zxcvbn gets: short, with few symbols that stand for letters."""
    part = password[:ESTIMATED_LENGTH]
    if len(set(part) & set(SYMBOLS)) > MOST_SYMBOLS:
        return part.translate(_PLAIN)
    return part


def _made_of_known_words(password: str, words: Iterable[str]) -> bool:
    """Whether a password without names and LOCAL_WORDS is too short, in plain or leet spelling."""
    names = {_letters(part) for name in words for part in (name, *name.split())}
    known = sorted(
        {word for word in (*LOCAL_WORDS, *names) if len(word) >= 3}, key=len, reverse=True
    )
    spellings = (_letters(password), _letters(password.translate(_LEET)))
    return any(_length_without(known, spelling) < OWN_LEAST for spelling in spellings)


def _length_without(words: Iterable[str], text: str) -> int:
    for word in words:
        text = text.replace(word, "")
    return len(text)


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())
