"""Text as it is searched: what people type and what is kept meet without case, accents and spaces.
Pure.
"""

import unicodedata
from typing import Final

MAX_NAME: Final = 120  # characters
# invisible, but part of the spelling in Indic and Arabic scripts, and of some emoji
JOINERS: Final = "\u200c\u200d"


def plain(text: object, longest: int = MAX_NAME) -> str:
    """One line of text for people: no control or bidirectional characters, not long.

    "" for no text.
    """
    if not isinstance(text, str):
        return ""
    kept = (
        " " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text[: longest * 4]
    )
    shown = "".join(
        c for c in kept if c in JOINERS or unicodedata.category(c) not in ("Cf", "Cs", "Co", "Cn")
    )
    return " ".join(shown.split())[:longest]


def shown(char: str) -> str:
    """What a character of a text from outside is shown as: itself, a space, or nothing."""
    if char.isprintable() or char in JOINERS:
        return char
    kind = unicodedata.category(char)
    if char in "\t\r\n" or kind in {"Zl", "Zp"}:
        return " "
    return "" if kind in {"Cc", "Cf", "Cs", "Co", "Cn"} else char


def folded(text: str | None) -> str:
    """Words in small letters without accents, each with a space before it: " jose garcia" is found
    by "gar" as " gar".

    >>> folded("José  García-Ruiz")
    ' jose garcia ruiz'
    """
    parts = unicodedata.normalize("NFKD", (text or "").casefold())
    kept = (char for char in parts if not unicodedata.combining(char))
    words = "".join(char if _is_letter(char) else " " for char in kept).split()
    return "".join(f" {word}" for word in words)[:300]


def squeezed(text: str | None) -> str:
    """Letters and digits only, capitals: a number plate or a booking number in any spacing.

    >>> squeezed("ka 01 ab-1234")
    'KA01AB1234'
    """
    return "".join(char for char in text or "" if char.isalnum()).upper()


def _is_letter(char: str) -> bool:
    """Letters and digits, and the signs that some scripts write vowels with."""
    return char.isalnum() or unicodedata.category(char) in ("Mc", "Mn")
