"""The guests of a property.

A booking by staff finds the row of a known person by id, phone, or room and name. A booking at a
kiosk makes a new row, unless staff have chosen the guest. Erased guests are never found.
"""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlalchemy.orm import Session

from ridedash.names import begins, name_key, same_words
from ridedash.store import audit
from ridedash.store.actors import by_staff
from ridedash.store.models.orders import Offer, Order
from ridedash.store.models.people import Guest
from ridedash.store.search import guests_like, phone_digits, spellings
from ridedash.text import plain_code, room_key

SHOWN: Final = 8  # few enough to read while a guest waits
LATEST_ORDERS: Final = (
    12  # latest orders of a guest that are read for the places where they usually go
)
PLACES: Final = 3  # a choice that is read at one glance


@dataclass(frozen=True)
class GuestDetails:
    """What a form states about a guest.

    `guest_id` is the row that staff have chosen; `find_same` uses it only if the names are `alike`.
    """

    name: str
    phone: str | None = None  # as ridedash/forms/phones.py stores it
    room: str | None = None
    language: str | None = None
    note: str | None = None
    guest_id: int | None = None
    phone2: str | None = None
    phone_as_typed: bool = False  # whether staff have confirmed a number that no country has


@dataclass(frozen=True)
class Usual:
    """The drops of a guest's latest orders, each name once, and the category of the last order."""

    category: str = ""
    places: tuple[tuple[str, float, float], ...] = ()


def lock_guest(s: Session, property_id: int, details: GuestDetails) -> None:
    """Let other transactions that lock the same guest wait until this one ends.

    The same guest means the same phone, or without a phone the same room and name. Otherwise two
    transactions could both store a new row for one person. SQLite runs one write transaction at a
    time anyway.
    """
    if s.get_bind().dialect.name != "postgresql":
        return
    who = details.phone or f"{room_key(details.room)}/{name_key(details.name)}"
    key = int.from_bytes(
        hashlib.sha256(f"{property_id}|{who}".encode()).digest()[:8], "big", signed=True
    )
    s.connection().execute(select(func.pg_advisory_xact_lock(key)))


def store_guest(
    s: Session, property_id: int, details: GuestDetails, now: datetime, staff_id: int | None
) -> Guest:
    """Store these details in the guest's row, or in a new row for a new guest. Flushes.

    Call `lock_guest` before.
    """
    guest = find_same(s, property_id, details)
    if guest is None:
        guest = Guest(property_id=property_id, staff_id=staff_id, created_at=now, name=details.name)
        s.add(guest)
    for name, value in _merged(guest, details).items():
        if getattr(guest, name) != value:
            setattr(guest, name, value)
    guest.seen_at, guest.unverified = now, False  # staff have booked for this person
    s.flush()
    if details.phone_as_typed and staff_id is not None:
        subject = f"guests:{guest.id}"
        facts = {"property_id": property_id}
        audit.record(s, by_staff(staff_id), "guest.phone_as_typed", subject, "ok", now, **facts)
    return guest


def store_stranger(s: Session, property_id: int, details: GuestDetails, now: datetime) -> Guest:
    """A new row for a guest who booked at a kiosk, marked unverified. Flushes.

    If the details have the id of a guest whom staff have chosen, that row is returned unchanged.
    """
    if details.guest_id is not None:
        named = guest_of(s, property_id, details.guest_id)
        if named is not None:
            return named
    guest = Guest(
        property_id=property_id,
        staff_id=None,
        name=details.name,
        phone=details.phone,
        room=details.room,
        language=details.language,
        unverified=True,
        created_at=now,
        seen_at=now,
    )
    s.add(guest)
    s.flush()
    return guest


def find_same(s: Session, property_id: int, details: GuestDetails) -> Guest | None:
    """The row of this person, locked; None for a new guest.

    Families often share a phone, and couples a room: a different name means another person.
    Unverified rows, which kiosks make, are found only by `guest_id`.
    """
    if details.guest_id is not None:
        chosen = _first(s, details, _mine(property_id).where(Guest.id == details.guest_id))
        if chosen is not None:
            return chosen
    known = _mine(property_id).where(Guest.unverified.is_(False))
    if details.phone:
        theirs = or_(Guest.phone == details.phone, Guest.phone2 == details.phone)
        found = _first(s, details, known.where(theirs), means)
        if found is not None:
            return found
    if not details.room:
        return None
    here = known.where(
        Guest.room.in_(spellings(details.room)), Guest.name_key == name_key(details.name)
    )
    if details.phone:
        here = here.where(Guest.phone.is_(None))
    return _first(s, details, here)


def has_new_details(guest: Guest, details: GuestDetails) -> bool:
    """Whether storing these details would change the row."""
    return any(getattr(guest, name) != value for name, value in _merged(guest, details).items())


def alike(one: str, other: str) -> bool:
    """Whether two names may be one person's: spellings of one name, or one has all words of the
    other.

    >>> alike("Mr Heron", "HERON"), alike("Guest Heron", "Guest Wren")
    (True, False)
    """
    if name_key(one) == name_key(other):
        return True
    first = same_words(one)
    second = same_words(other)
    return bool(first and second) and (first <= second or second <= first)


def means(row: str, stated: str) -> bool:
    """Whether all words of a stated name occur in the row's name, which then stays as it is.

    It is stricter than `alike`, because a family may share a phone.

    >>> means("Guest Heron", "Heron"), means("Heron", "Guest Heron")
    (True, False)
    """
    words = same_words(stated)
    return name_key(row) == name_key(stated) or (bool(words) and words <= same_words(row))


def guest_of(s: Session, property_id: int, guest_id: int) -> Guest | None:
    """One guest of a property; None when the guest is another property's, or erased."""
    return s.scalars(_mine(property_id).where(Guest.id == guest_id)).first()


def phones_of(s: Session, property_id: int, guest_id: int) -> frozenset[str]:
    """The stored phone numbers of a guest; none for another property's guest."""
    guest = guest_of(s, property_id, guest_id)
    if guest is None:
        return frozenset()
    return frozenset(filter(None, (guest.phone, guest.phone2)))


def find(s: Session, property_id: int, typed: str, limit: int = SHOWN) -> list[Guest]:
    """Guests by a typed room, phone or name.

    First those in exactly this room, then those whose room begins with the text, then those whose
    phone or name matches; in each of these, those seen last come first. Without a text: the guests
    who were seen last. Unverified guests come after all others.
    """
    text = plain_code(" ".join(typed.split()))[:120]
    if not text:
        lately = (
            _mine(property_id)
            .where(Guest.seen_at.is_not(None))
            .order_by(None)
            .order_by(Guest.unverified, Guest.seen_at.desc())
        )
        return list(s.scalars(lately.limit(limit)))
    found: dict[int, Guest] = {}
    ways = list(_ways(property_id, text))
    known = [(which, Guest.unverified.is_(False)) for which in ways]
    for conditions in (*known, (or_(*ways), Guest.unverified.is_(True))):
        if len(found) < limit:
            more = (
                _mine(property_id)
                .where(*conditions, Guest.id.not_in(list(found)))
                .limit(limit - len(found))
            )
            found |= {guest.id: guest for guest in s.scalars(more)}
    return list(found.values())


def usual(s: Session, guest_id: int) -> Usual:
    """The usual places of a guest, from their LATEST_ORDERS."""
    columns = Offer.category, Offer.drop_name, Offer.drop_lat, Offer.drop_lng
    query = (
        select(*columns).join(Order, Order.offer_id == Offer.id).where(Order.guest_id == guest_id)
    )
    rows = s.execute(query.order_by(Order.id.desc()).limit(LATEST_ORDERS)).all()
    places = {
        name: (name, lat, lng) for _, name, lat, lng in reversed(rows) if name and lat is not None
    }
    return Usual(rows[0].category if rows else "", tuple(reversed(places.values()))[:PLACES])


def _mine(property_id: int) -> Select[tuple[Guest]]:
    query = select(Guest).where(Guest.property_id == property_id, Guest.erased_at.is_(None))
    return query.order_by(
        Guest.unverified, Guest.seen_at.is_(None), Guest.seen_at.desc(), Guest.id.desc()
    )


def _ways(property_id: int, text: str) -> Iterable[ColumnElement[bool]]:
    """Conditions that find a guest, the most certain first."""
    yield Guest.room.in_(spellings(text))
    yield Guest.room.istartswith(text, autoescape=True)
    if phone_digits(text) or begins(text):
        yield Guest.id.in_(guests_like(property_id, text))


def _first(
    s: Session,
    details: GuestDetails,
    query: Select[tuple[Guest]],
    fits: Callable[[str, str], bool] = alike,
) -> Guest | None:
    """The newest row with this name in any spelling, else the only row whose name fits, else None.

    Locks all rows of the query.
    """
    found = [
        guest for guest in s.scalars(query.with_for_update()) if fits(guest.name, details.name)
    ]
    key = name_key(details.name)
    exact = [guest for guest in found if guest.name_key == key]
    if len(found) > 1 and not exact:
        return None
    return next(iter(exact or found), None)


def _merged(guest: Guest, details: GuestDetails) -> dict[str, Any]:
    """The new values of a row. Details that are not stated stay, and a name never loses a word.

    For a chosen row the form shows language, note and second phone, so empty fields delete them.
    """
    second = details.phone2 or None
    language = details.language or None
    note = details.note or None
    if guest.id is None or details.guest_id != guest.id:
        second = second or guest.phone2
        language = language or guest.language
        note = note or guest.note
    same = name_key(guest.name) == name_key(details.name)
    fuller = same or same_words(guest.name) <= same_words(details.name)
    return {
        "name": details.name if fuller else guest.name,
        "phone": details.phone or guest.phone,
        "phone2": _second_phone(guest, details.phone, second),
        "room": details.room or guest.room,
        "language": language,
        "note": note,
    }


def _second_phone(guest: Guest, stated: str | None, second: str | None) -> str | None:
    """The new second phone of a row. A guest who gives their second number keeps the first."""
    if not stated or stated != second:
        return second
    if guest.phone == stated:
        return None
    return guest.phone
