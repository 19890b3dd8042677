"""Text as it is searched: what people type and what is kept meet without case, accents and spaces. Pure."""

import unicodedata


def folded(text: str | None) -> str:
    """Words in small letters without accents, each with a space before it: " jose garcia" is found by "gar" as " gar".

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
