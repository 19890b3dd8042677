"""`ridedash erase`: removes a guest's name, phone and room from the database at once.

Rides keep their prices, times, start and end. See docs/security.md 8.
"""

import re
import sqlite3
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import phonenumbers
from sqlalchemy import or_, select, text
from sqlalchemy.orm import Session

from ridedash.names import RUN_ON, name_key, spelt
from ridedash.rides.privacy.retention import forget_guest
from ridedash.store import audit
from ridedash.store.actors import CLI
from ridedash.store.companions import erase_companions, named_companions
from ridedash.store.database.database import Clock, Database
from ridedash.store.guest_lists import erase_words
from ridedash.store.models.desk import ShiftNote
from ridedash.store.models.orders import UNSETTLED, Action, Order, Ride, TimelineEvent
from ridedash.store.models.people import Guest
from ridedash.text import ascii_digits, normalised, room_key

ERASED: Final = "[erased]"
PHONE_LEAST: Final = 7  # digits; a shorter number would match many others
# characters that people write between the digits of a number
GAP: Final = r"[\s().\-/·\u2010-\u2015]*"
# trunk prefixes, dialled before a number within its country; 8 in Russia and Kazakhstan
TRUNK: Final = "[08]"
FREE_TEXT: Final[tuple[tuple[Any, str], ...]] = (  # columns in which staff may type anything
    (ShiftNote, "text"),
    (Guest, "note"),
    (Order, "note"),
    (Order, "resolve_reason"),
    (Action, "text"),
    (TimelineEvent, "detail"),  # of a correction: what was typed wrongly
)
# tables that may have contained a guest's data: on PostgreSQL these are vacuumed
REWRITTEN: Final = (
    "guests",
    "orders",
    "rides",
    "actions",
    "moments",
    "insight_spans",
    "path_points",
    "attention",
    "shift_notes",
    "kiosk_asks",
    "tickets",
    "guest_lists",
    "list_lines",
    "order_companions",
)


Finder = Callable[[str], Iterable[tuple[int, int]]]  # where something begins and ends in a text


class NotCompacted(Exception):
    """The guest is erased, but another process is reading the file, whose free pages may still
    contain the data. Erase again.
    """


class StillRiding(Exception):
    """The guest has an order in a state of UNSETTLED, or a ride that is still polled.

    Nothing was changed.
    """


@dataclass(frozen=True)
class ErasedGuest:
    """The guest to erase at a property: by a phone number (E.164), or by name and room.

    The name may be in any of its spellings, and so may the room.
    """

    property_id: int
    phone: str | None = None
    name: str | None = None
    room: str | None = None


def erase(db: Database, clock: Clock, key: str, wanted: ErasedGuest) -> tuple[int, int]:
    """Erase one guest in all rows. Returns how many guests, and how many orders of theirs.

    `key` makes the pseudonym. Adds an audit entry for each row, with its id but without the name,
    and then calls `compact`. Raises StillRiding, NotCompacted.
    """
    now = clock()
    property_id = wanted.property_id
    with db.write() as s:
        if db.dialect == "sqlite":
            s.execute(text("PRAGMA secure_delete = ON"))
        guests = _matching(s, wanted)
        if any(_is_riding(s, guest) for guest in guests):
            raise StillRiding
        words = {
            word for guest in guests for word in (guest.name, guest.phone, guest.phone2) if word
        }
        # a list may name a guest who has no row yet
        words |= {word for word in (wanted.name, wanted.phone) if word}
        along = named_companions(s, property_id, wanted.phone, wanted.name, wanted.room)
        words |= {word for each in along for word in (each.name, each.phone, each.phone2) if word}
        rides = sum(forget_guest(s, guest, now, key) for guest in guests)
        s.flush()
        _erase_from_free_text(s, property_id, words)
        for guest in guests:
            subject = f"guests:{guest.id}"
            facts = {"property_id": property_id}
            audit.record(s, CLI, "guest.erased", subject, "ok", now, **facts)
    compact(db)  # also when no guest was found: an earlier run may have stopped before this step
    return len(guests) + len(along), rides


def compact(db: Database) -> None:
    """Rewrite the SQLite file, so that no free page has old data; vacuum tables of PostgreSQL.

    Raises NotCompacted.
    """
    with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if db.dialect == "sqlite":
            driver_connection: Any = connection.connection.driver_connection
            _rewrite(driver_connection)
            return
        for table in REWRITTEN:
            connection.exec_driver_sql(f"VACUUM {table}")


def _matching(s: Session, wanted: ErasedGuest) -> list[Guest]:
    query = select(Guest).where(Guest.property_id == wanted.property_id, Guest.erased_at.is_(None))
    if wanted.phone:
        number = wanted.phone
        extension = f"{wanted.phone};"
        theirs = (
            or_(column == number, column.startswith(extension, autoescape=True))
            for column in (Guest.phone, Guest.phone2)
        )
        return list(s.scalars(query.where(or_(*theirs))))
    named = s.scalars(query.where(Guest.name_key == name_key(wanted.name or "")))
    room = _room(wanted.room)
    return [guest for guest in named if _room(guest.room) == room]


def _room(room: str | None) -> str:
    return room_key(normalised(room) or room)


def _is_riding(s: Session, guest: Guest) -> bool:
    followed = (
        select(Ride.id).where(Ride.order_id == Order.id, Ride.next_poll_at.is_not(None)).exists()
    )
    query = select(Order.id).where(
        Order.guest_id == guest.id, or_(Order.state.in_(UNSETTLED), followed)
    )
    return s.scalars(query.limit(1)).first() is not None


def _erase_from_free_text(s: Session, property_id: int, words: set[str]) -> None:
    """Replace these names and phone numbers in all texts that staff of the property typed."""
    finders = [_finder(word) for word in words]
    for erase_all in (erase_words, erase_companions):
        erase_all(s, property_id, lambda text: _erase_matches(text, finders) != text)
    for table, column in FREE_TEXT:
        field = getattr(table, column)
        rows = select(table).where(table.property_id == property_id, field.is_not(None))
        for row in s.scalars(rows):
            old = getattr(row, column)
            new = _erase_matches(old, finders)
            if new != old:
                setattr(row, column, new)
    for action in s.scalars(select(Action).where(Action.property_id == property_id)):
        payload = {
            name: _erase_matches(value, finders) if isinstance(value, str) else value
            for name, value in action.payload.items()
        }
        if payload != action.payload:
            action.payload = payload


def _erase_matches(old: str, finders: Sequence[Finder]) -> str:
    """The text with all that is found replaced; the text itself if nothing is found."""
    new = unicodedata.normalize("NFC", old)
    for find in finders:
        for begin, end in reversed(list(find(new))):
            new = f"{new[:begin]}{ERASED}{new[end:]}"
    if ERASED not in new:
        return old
    return new


def _finder(word: str) -> Finder:
    """What finds a phone number (E.164) or a name in a text in NFC.

    A number matches in any spacing, as written in its country or abroad; a name matches in any
    spelling, as whole words or, in a script without spaces, anywhere.
    """
    if word.startswith("+") and len(word) > PHONE_LEAST:
        number = re.compile(_phone_pattern(word))
        return lambda text: [found.span() for found in number.finditer(ascii_digits(text))]
    letters = "".join(unicodedata.normalize("NFC", word).split())
    if len(letters) > 1 and all(map(RUN_ON.match, letters)):
        row = re.compile(r"\s*".join(letters))
        return lambda text: [found.span() for found in row.finditer(text)] or spelt(word, text)
    return lambda text: spelt(word, text)


def _phone_pattern(phone: str) -> str:
    """A pattern of the number, with or without its country code and a trunk prefix."""
    try:
        number = phonenumbers.parse(phone)
    except phonenumbers.NumberParseException:  # for example an unknown country code
        return rf"(?<!\d)\+?{GAP.join(re.escape(phone[1:]))}(?!\d)"
    digits = phonenumbers.national_significant_number(number)
    abroad = rf"(?:(?:\+|00)?{GAP.join(str(number.country_code))}{GAP})?"
    return rf"(?<!\d){abroad}(?:{TRUNK}{GAP})?{GAP.join(digits)}(?!\d)"


def _rewrite(connection: sqlite3.Connection) -> None:
    try:
        connection.execute("VACUUM").close()
        busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    except sqlite3.OperationalError as error:
        raise NotCompacted from error
    if busy:
        raise NotCompacted
