"""Finding a guest, a ride, a plate or a number by what somebody remembers of it, with indexes where rides are many."""

import re
from typing import Final

from sqlalchemy import Select, false, select

from ridedash.store.folding import folded
from ridedash.store.people_tables import Guest

PHONE: Final = re.compile(r"[+\d\s().\-/]+")
PHONE_LEAST: Final = 4  # digits; the last four of a phone are what people remember


def guests_like(property_id: int, text: str) -> Select[tuple[int]]:
    """Ids of guests whose phone has these digits, or whose name has words that begin so."""
    query = select(Guest.id).where(Guest.property_id == property_id)
    digits = phone_digits(text)
    if digits:
        return query.where(Guest.phone.like(f"%{digits}%"))
    words = folded(text).split()
    return query.where(*(Guest.folded.like(f"% {word}%") for word in words)) if words else query.where(false())


def phone_digits(text: str) -> str:
    """The digits of a phone number in any notation that all notations have; "" for what is no number.

    >>> phone_digits("+44 (0)20 7946 0958"), phone_digits("020 7946 0958"), phone_digits("Room 12")
    ('442079460958', '2079460958', '')
    """
    if not PHONE.fullmatch(text.strip()):
        return ""
    digits = re.sub(r"\D", "", text.replace("(0)", "")).lstrip("0")
    return digits if len(digits) >= PHONE_LEAST else ""
