"""Names as they were folded before there was one folding: accents and case alone, by letter."""

import hashlib
import unicodedata
from collections.abc import Sequence
from typing import Final

from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from ridedash.store.guests import GuestDetails
from ridedash.store.models.people import Guest
from ridedash.store.search import spellings
from ridedash.text import ascii_digits

ARABIC_FORMS: Final = dict(zip("ٱةیىکہھە", "اهييكههه", strict=True)) | {"ـ": None}
_COMPARED: Final = str.maketrans(ARABIC_FORMS | dict.fromkeys("\u200c\u200d"))


def normalised(text: str) -> str:
    """Lower-case words without accents, a space before each."""
    parts = unicodedata.normalize("NFKD", text).casefold()
    bare = "".join(char for char in parts if not unicodedata.combining(char))
    comparable = ascii_digits(bare.translate(_COMPARED))
    words = "".join(char if _is_letter(char) else " " for char in comparable).split()
    return "".join(f" {word}" for word in words)[:300]


def find_same(s: Session, property_id: int, details: GuestDetails) -> Guest | None:
    """The row of a guest of this room, found by the folded name."""
    query = select(Guest).where(Guest.property_id == property_id, Guest.erased_at.is_(None))
    query = query.where(Guest.unverified.is_(False), Guest.room.in_(spellings(details.room or "")))
    query = query.order_by(Guest.unverified, Guest.seen_at.is_(None), Guest.seen_at.desc())
    query = query.where(Guest.folded == normalised(details.name))
    found = [each for each in s.scalars(query) if _alike(each.name, details.name)]
    wanted = normalised(details.name)
    return next((each for each in found if normalised(each.name) == wanted), None)


def guard_of(name: str, room: str) -> str:
    """The guest's part of the duplicate-booking guard."""
    return hashlib.sha256(f"{name}/{room}".casefold().encode()).hexdigest()[:24]


def guests_like(s: Session, property_id: int, typed: str) -> Sequence[Guest]:
    """Guests of whose names words begin as the typed ones."""
    words = [Guest.folded.like(f"% {word}%") for word in normalised(typed).split()]
    return s.scalars(select(Guest).where(Guest.property_id == property_id, and_(*words))).all()


def _alike(one: str, other: str) -> bool:
    first, second = set(normalised(one).split()), set(normalised(other).split())
    return first <= second or second <= first


def _is_letter(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char) in ("Mc", "Mn")
