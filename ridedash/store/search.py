"""Search for orders by room, guest, phone, plate or number, along indexes."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, false, or_, select, union
from sqlalchemy.orm import InstrumentedAttribute, Session

from ridedash.names import begins
from ridedash.store.models.lists import Companion
from ridedash.store.models.orders import UNSETTLED, Order, Ride
from ridedash.store.models.people import Guest
from ridedash.text import compact_key, plain_code

PHONE: Final = re.compile(r"[+\d\s().\-/]+")
PHONE_LEAST: Final = 4  # digits; people remember the last four of a phone
# characters; a shorter text is not searched for in plates, booking ids and partner references,
# because it would match too many rides
LEAST: Final = 3
MANY: Final = 200  # guests; if so many match, rides are scanned from the newest instead
LAST: Final = "\U0010ffff"  # sorts after every letter


def find_orders(s: Session, property_id: int, text: str, limit: int) -> list[int]:
    """Ids of orders that match a text: orders that are not over first, then the newest.

    The text may be a room, a name, a phone in any notation, a plate in any spacing, a booking id or
    a partner reference.
    """
    text = plain_code(" ".join(text.split()))
    if not text:
        return []
    going = _going(s, property_id, text, limit)
    found = {id_ for way in _ways(s, property_id, text, limit) for id_ in s.scalars(way)}
    return (going + sorted(found - set(going), reverse=True))[:limit]


def guests_like(property_id: int, text: str) -> Select[tuple[int]]:
    """Ids of guests whose phone has these digits, or whose name has words with these beginnings."""
    return select(Guest.id).where(Guest.property_id == property_id, _guest_is(text))


def _guest_is(text: str) -> ColumnElement[bool]:
    return _person_is(Guest, text)


def _person_is(who: type[Guest | Companion], text: str) -> ColumnElement[bool]:
    digits = phone_digits(text)
    if digits:
        return or_(who.phone.like(f"%{digits}%"), who.phone2.like(f"%{digits}%"))
    words = begins(text)
    if not words:
        return false()
    return and_(*(or_(*(who.folded.contains(form) for form in forms)) for forms in words))


def _rides_along(property_id: int, text: str) -> Select[tuple[int]]:
    """Ids of orders with a further guest of this room, or whom the text means as it does a guest.

    A property has few of them, as they are deleted with the rides' guests.
    """
    means = _person_is(Companion, text), Companion.room.istartswith(text, autoescape=True)
    return select(Companion.order_id).where(Companion.property_id == property_id, or_(*means))


def phone_digits(text: str) -> str:
    """The digits of a phone number that are the same in every notation; "" for other text.

    >>> phone_digits("+44 (0)20 7946 0958"), phone_digits("020 7946 0958")
    ('442079460958', '2079460958')
    >>> phone_digits("Room 12")
    ''
    """
    plain = plain_code(text).strip()
    if not PHONE.fullmatch(plain):
        return ""
    digits = re.sub(r"\D", "", plain.replace("(0)", "")).lstrip("0")
    if len(digits) < PHONE_LEAST:
        return ""
    return digits


def spellings(room: str) -> Sequence[str]:
    """A room in ASCII digits and half-width letters, as typed and in other cases of letters."""
    room = plain_code(room)
    return sorted({room, room.upper(), room.lower(), room.title()})


def _going(s: Session, property_id: int, text: str, limit: int) -> list[int]:
    """Ids of the matching orders that are not over.

    At most a few hundred orders are not over, so every column is compared.
    """
    here = Order.property_id == property_id
    going = union(
        select(Order.id).where(here, Order.state.in_(UNSETTLED)),
        select(Ride.order_id).where(
            Ride.property_id == property_id, Ride.next_poll_at.is_not(None)
        ),
    ).subquery()
    fits = [
        _guest_is(text),
        Order.id.in_(_rides_along(property_id, text)),
        Order.room.istartswith(text, autoescape=True),
        *(number for _index, number in _numbers(s, text)),
    ]
    part = compact_key(text)
    if _is_plate(part):
        fits.append(Ride.plate.contains(part))
    query = (
        select(Order.id).join(going, going.c[0] == Order.id).join(Guest, Guest.id == Order.guest_id)
    )
    query = query.outerjoin(Ride, Ride.order_id == Order.id).where(or_(*fits))
    return list(s.scalars(query.order_by(Order.id.desc()).limit(limit)))


def _ways(s: Session, property_id: int, text: str, limit: int) -> Iterator[Select[Any]]:
    """Queries for the newest orders, one for each meaning that the text may have.

    Each names the index that SQLite shall use.
    """
    orders = (
        select(Order.id)
        .where(Order.property_id == property_id)
        .order_by(Order.id.desc())
        .limit(limit)
    )
    for room in spellings(text):
        yield _by("orders_of_room", orders.where(Order.room == room))
    yield from _of_guests(s, property_id, text, limit)
    yield _rides_along(property_id, text).order_by(Companion.order_id.desc()).limit(limit)
    part = compact_key(text)
    if _is_plate(part):
        plates = select(Ride.order_id).where(
            Ride.property_id == property_id, Ride.plate.contains(part)
        )
        plates = plates.with_hint(Ride, "INDEXED BY rides_by_plate", "sqlite")
        yield plates.order_by(Ride.order_id.desc()).limit(limit)
    for index, number in _numbers(s, text):
        yield _by(index, orders.where(number))


def _of_guests(s: Session, property_id: int, text: str, limit: int) -> Iterator[Select[Any]]:
    """Orders of a few guests, by guest; for many guests, by a scan back from the newest ride."""
    guests = guests_like(property_id, text)
    known = s.scalars(guests.limit(MANY)).all()
    query = select(Order.id).where(Order.property_id == property_id).limit(limit)
    if len(known) >= MANY:
        query = query.where(Order.guest_id.in_(guests)).order_by(
            Order.happens_at.desc(), Order.id.desc()
        )
        yield _by("orders_history", query)
    elif known:
        yield _by(
            "orders_of_guest", query.where(Order.guest_id.in_(known)).order_by(Order.id.desc())
        )


def _by(index: str, query: Select[Any]) -> Select[Any]:
    """Name the index for SQLite, which would otherwise scan all orders to avoid sorting a few."""
    return query.with_hint(Order, f"INDEXED BY {index}", "sqlite")


def _numbers(s: Session, text: str) -> list[tuple[str, ColumnElement[bool]]]:
    """Conditions for booking ids and partner references with this prefix, each with its index."""
    plain = text.replace(" ", "")
    if len(plain) < LEAST:
        return []
    columns = (("orders_by_booking", Order.booking_id), ("orders_by_mtx", Order.mtx))
    return [
        (index, _begins(s, column, each))
        for each in {plain, plain.upper()}
        for index, column in columns
    ]


def _begins(s: Session, column: InstrumentedAttribute[Any], text: str) -> ColumnElement[bool]:
    """A condition for a prefix that each kind of database answers by an index."""
    if s.get_bind().dialect.name == "sqlite":
        return and_(column >= text, column < text + LAST)
    return column.startswith(text, autoescape=True)


def _is_plate(part: str) -> bool:
    return len(part) >= LEAST and any(char.isdigit() for char in part)
