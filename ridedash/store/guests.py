"""The guests of a property: one row for one person, found again by id, phone, or room and name;
never an erased one.
"""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session

from ridedash.store.models.orders import Offer, Order
from ridedash.store.models.people import Guest
from ridedash.store.search import guests_like, phone_digits
from ridedash.text import folded

SHOWN: Final = 8
LATELY: Final = 12  # orders of a guest that tell where they usually go
PLACES: Final = 3
MAX_ID: Final = 2**63 - 1


@dataclass(frozen=True)
class Told:
    """What a form says of a guest.

    `guest_id` is the row that was chosen: it holds while the name is like its own.
    """

    name: str
    phone: str | None = None  # E.164
    room: str | None = None
    language: str | None = None
    note: str | None = None
    guest_id: int | None = None


@dataclass(frozen=True)
class Usual:
    """Where a guest went lately, each place once, and the category of the last ride."""

    category: str = ""
    places: tuple[tuple[str, float, float], ...] = ()


def take_turns(s: Session, property_id: int, told: Told) -> None:
    """From here on nobody else writes down this guest: two desks make one row of them. SQLite's
    writers take turns.
    """
    if s.get_bind().dialect.name != "postgresql":
        return
    who = told.phone or f"{told.room}/{folded(told.name)}"
    key = int.from_bytes(
        hashlib.sha256(f"{property_id}|{who}".encode()).digest()[:8], "big", signed=True
    )
    s.connection().execute(select(func.pg_advisory_xact_lock(key)))


def remember(
    s: Session, property_id: int, told: Told, now: datetime, staff_id: int | None
) -> Guest:
    """The guest's row with what was told, seen now; a new one for somebody new. Flushes.

    `take_turns` comes before.
    """
    guest = known(s, property_id, told)
    if guest is None:
        guest = Guest(property_id=property_id, staff_id=staff_id, created_at=now, name=told.name)
        s.add(guest)
    for name, value in _merged(guest, told).items():
        if getattr(guest, name) != value:
            setattr(guest, name, value)
    guest.seen_at = now
    s.flush()
    return guest


def known(s: Session, property_id: int, told: Told) -> Guest | None:
    """The row of this person, locked; None for somebody new.

    A phone is often shared by a family, a room by a couple: without a name like theirs it is
    another person.
    """
    if told.guest_id is not None and 0 < told.guest_id <= MAX_ID:
        chosen = _first(s, told, _mine(property_id).where(Guest.id == told.guest_id))
        if chosen is not None:
            return chosen
    if told.phone:
        found = _first(s, told, _mine(property_id).where(Guest.phone == told.phone), means)
        if found is not None:
            return found
    if not told.room:
        return None
    here = _mine(property_id).where(
        Guest.room.in_(_cases(told.room)), Guest.folded == folded(told.name)
    )
    return _first(s, told, here.where(Guest.phone.is_(None)) if told.phone else here)


def news(guest: Guest, told: Told) -> bool:
    """Whether what was told is not in the row yet."""
    return any(getattr(guest, name) != value for name, value in _merged(guest, told).items())


def alike(one: str, other: str) -> bool:
    """Whether two names may be one person's: the words of one are among the other's.

    >>> alike("Mr Heron", "HERON"), alike("Guest Heron", "Guest Wren")
    (True, False)
    """
    first, second = set(folded(one).split()), set(folded(other).split())
    return (
        first <= second or second <= first
        if first and second
        else one.casefold() == other.casefold()
    )


def means(row: str, told: str) -> bool:
    """Whether who is told by that name is the one of the row: one phone may be a family's, and
    nobody is renamed by it.

    >>> means("Guest Heron", "Heron"), means("Heron", "Guest Heron")
    (True, False)
    """
    said, known_as = set(folded(told).split()), set(folded(row).split())
    return said <= known_as if said else row.casefold() == told.casefold()


def of(s: Session, property_id: int, guest_id: int) -> Guest | None:
    """One guest of a property; None when they are another's, or erased."""
    return (
        s.scalars(_mine(property_id).where(Guest.id == guest_id)).first()
        if 0 < guest_id <= MAX_ID
        else None
    )


def find(s: Session, property_id: int, typed: str, limit: int = SHOWN) -> list[Guest]:
    """Guests by room, phone or name, the best first: rooms of that number, rooms that begin so,
    then who was seen last.

    Nothing typed: who was seen last.
    """
    text = " ".join(typed.split())[:120]
    if not text:
        lately = (
            _mine(property_id)
            .where(Guest.seen_at.is_not(None))
            .order_by(None)
            .order_by(Guest.seen_at.desc())
        )
        return list(s.scalars(lately.limit(limit)))
    found: dict[int, Guest] = {}
    for which in _ways(property_id, text):
        if len(found) < limit:
            more = (
                _mine(property_id)
                .where(which, Guest.id.not_in(list(found)))
                .limit(limit - len(found))
            )
            found |= {guest.id: guest for guest in s.scalars(more)}
    return list(found.values())


def usual(s: Session, guest_id: int) -> Usual:
    """Where a guest usually goes."""
    columns = Offer.category, Offer.drop_name, Offer.drop_lat, Offer.drop_lng
    query = (
        select(*columns).join(Order, Order.offer_id == Offer.id).where(Order.guest_id == guest_id)
    )
    rows = s.execute(query.order_by(Order.id.desc()).limit(LATELY)).all()
    places = {
        name: (name, lat, lng) for _, name, lat, lng in reversed(rows) if name and lat is not None
    }
    return Usual(rows[0].category if rows else "", tuple(reversed(places.values()))[:PLACES])


def _mine(property_id: int) -> Select[tuple[Guest]]:
    query = select(Guest).where(Guest.property_id == property_id, Guest.erased_at.is_(None))
    return query.order_by(Guest.seen_at.is_(None), Guest.seen_at.desc(), Guest.id.desc())


def _ways(property_id: int, text: str) -> Iterable[ColumnElement[bool]]:
    """Conditions, the surest first."""
    escaped = text.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
    yield Guest.room.in_(_cases(text))
    yield Guest.room.like(f"{escaped}%", escape="\\")
    if phone_digits(text) or folded(text):
        yield Guest.id.in_(guests_like(property_id, text))


def _first(
    s: Session, told: Told, query: Select[tuple[Guest]], fits: Callable[[str, str], bool] = alike
) -> Guest | None:
    """The one of them whose name fits the one told, and none where several do; nobody erases them
    meanwhile.
    """
    found = [guest for guest in s.scalars(query.with_for_update()) if fits(guest.name, told.name)]
    exact = [guest for guest in found if folded(guest.name) == folded(told.name)]
    return next(iter(exact or found), None) if len(found) == 1 or exact else None


def _cases(room: str) -> set[str]:
    return {room, room.upper(), room.lower()}


def _merged(guest: Guest, told: Told) -> dict[str, Any]:
    """What the row shall hold: what was not said stays, and a name does not get shorter."""
    chosen = guest.id is not None and told.guest_id == guest.id
    fuller = set(folded(guest.name).split()) <= set(folded(told.name).split())
    return {
        "name": told.name if fuller else guest.name,
        "phone": told.phone or guest.phone,
        "room": told.room or guest.room,
        "language": told.language or (None if chosen else guest.language),
        "note": told.note or (None if chosen else guest.note),
    }
