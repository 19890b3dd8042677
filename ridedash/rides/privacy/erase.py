"""`ridedash erase`: removes a guest's name, phone and room from the database at once.

Rides keep their prices, times, start and end. See docs/security.md 8.
"""

import re
import sqlite3
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import phonenumbers
from sqlalchemy import or_, select, text
from sqlalchemy.orm import Session

from ridedash.rides.privacy.retention import forget_guest
from ridedash.rides.runtime import Clock
from ridedash.store import audit
from ridedash.store.actors import CLI
from ridedash.store.database.database import Database
from ridedash.store.models.desk import ShiftNote
from ridedash.store.models.orders import UNSETTLED, Action, Order, Ride
from ridedash.store.models.people import Guest
from ridedash.text import ascii_digits, normalised

ERASED: Final = "[erased]"
PHONE_LEAST: Final = 7  # digits; a shorter number would match many others
# characters that people write between the digits of a number
GAP: Final = r"[\s().\-/·\u2010-\u2015]*"
# trunk prefixes, dialled before a number within its country; 8 in Russia and Kazakhstan
TRUNK: Final = "[08]"
APOSTROPHES: Final = str.maketrans("\u2018\u2019\u02bc", "'''")
FREE_TEXT: Final[tuple[tuple[Any, str], ...]] = (  # columns in which staff may type anything
    (ShiftNote, "text"),
    (Guest, "note"),
    (Order, "note"),
    (Order, "resolve_reason"),
    (Action, "text"),
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
)


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

    Letter case and accents of name and room don't matter.
    """

    property_id: int
    phone: str | None = None
    name: str | None = None
    room: str | None = None


def erase(db: Database, clock: Clock, key: str, wanted: ErasedGuest) -> tuple[int, int]:
    """Erase one guest in all rows. Returns how many rows of guests, and how many of their orders.

    `key` makes the pseudonym. Adds an audit entry for each row, with its id but without the name,
    and then calls `compact`. Raises StillRiding, NotCompacted.
    """
    now, property_id = clock(), wanted.property_id
    with db.write() as s:
        if db.dialect == "sqlite":
            s.execute(text("PRAGMA secure_delete = ON"))
        guests = _matching(s, wanted)
        if any(_is_riding(s, guest) for guest in guests):
            raise StillRiding
        words = {word for guest in guests for word in (guest.name, guest.phone) if word}
        rides = sum(forget_guest(s, guest, now, key) for guest in guests)
        s.flush()
        _erase_from_free_text(s, property_id, words)
        for guest in guests:
            subject, facts = f"guests:{guest.id}", {"property_id": property_id}
            audit.record(s, CLI, "guest.erased", subject, "ok", now, **facts)
    compact(db)  # also when no guest was found: an earlier run may have stopped before this step
    return len(guests), rides


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
        return list(s.scalars(query.where(Guest.phone == wanted.phone)))
    name, room = wanted.name or "", wanted.room or ""
    alike = s.scalars(query.where(Guest.folded == normalised(name)))
    found = (_comparable(name), _comparable(room))
    return [
        guest
        for guest in alike
        if (_comparable(guest.name), _comparable(guest.room or "")) == found
    ]


def _comparable(text: str) -> str:
    """A name or a room as `normalised`; a text without letters and digits in lower case."""
    return normalised(text) or text.casefold().strip()


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
    patterns = [re.compile(each, re.IGNORECASE) for word in words if (each := _pattern(word))]
    for table, column in FREE_TEXT:
        field = getattr(table, column)
        rows = select(table).where(table.property_id == property_id, field.is_not(None))
        for row in s.scalars(rows):
            old = getattr(row, column)
            new = _erase_matches(old, patterns)
            if new != old:
                setattr(row, column, new)
    for action in s.scalars(select(Action).where(Action.property_id == property_id)):
        payload = {
            name: _erase_matches(value, patterns) if isinstance(value, str) else value
            for name, value in action.payload.items()
        }
        if payload != action.payload:
            action.payload = payload


def _erase_matches(old: str, patterns: Sequence[re.Pattern[str]]) -> str:
    """The text with all matches of the patterns replaced; the text itself if nothing matches."""
    new = unicodedata.normalize("NFC", old)
    for pattern in patterns:
        found = [each.span() for each in pattern.finditer(_compose(new))]
        for begin, end in reversed(found):
            new = f"{new[:begin]}{ERASED}{new[end:]}"
    return new if ERASED in new else old


def _compose(text: str) -> str:
    """A text prepared for patterns: in NFC, with ASCII digits and one kind of apostrophe.

    It has the length of the text in NFC, so that a match has the same position in both.
    """
    composed = unicodedata.normalize("NFC", text).translate(APOSTROPHES)
    return ascii_digits(composed)


def _pattern(word: str) -> str:
    """A pattern for a phone number (E.164) or a name; "" for a name of one letter.

    A number matches in any spacing, as written in its country or abroad; a name matches as whole
    words.
    """
    if word.startswith("+") and len(word) > PHONE_LEAST:
        return _phone_pattern(word)
    parts = _compose(word).split()
    words = r"\s+".join(map(re.escape, parts))
    return rf"(?<!\w){words}(?!\w)" if len("".join(parts)) > 1 else ""


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
