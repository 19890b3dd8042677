"""`ridedash erase`: a guest's name, phone and room leave the database at once; the rides' figures
stay.
"""

import re
import sqlite3
from typing import Any, Final

from sqlalchemy import func, or_, select, text
from sqlalchemy.orm import Session

from ridedash.rides.privacy.retention import forget_guest
from ridedash.rides.runtime import Clock
from ridedash.store import audit
from ridedash.store.database.database import Database
from ridedash.store.models.desk import ShiftNote
from ridedash.store.models.orders import UNSETTLED, Order, Ride
from ridedash.store.models.people import Guest

ERASED: Final = "[erased]"
PHONE_LEAST: Final = 7  # digits; fewer would find half the house
TYPED: Final[tuple[tuple[Any, str], ...]] = (  # where staff type what they like
    (ShiftNote, "text"),
    (Guest, "note"),
    (Order, "note"),
    (Order, "resolve_reason"),
)


class NotCompacted(Exception):
    """The guest is erased, but somebody reads the file just now: its free pages may still tell.

    Erase once more.
    """


class StillRiding(Exception):
    """The guest has a ride that is waiting or under way: it needs the name. Nothing was changed."""


def matching(
    s: Session, property_id: int, *, phone: str | None, name: str | None, room: str | None
) -> list[Guest]:
    """The guest rows of a property with that phone (E.164), or with that name and room, in any case
    of letters.
    """
    query = select(Guest).where(Guest.property_id == property_id, Guest.erased_at.is_(None))
    if phone:
        return list(s.scalars(query.where(Guest.phone == phone)))
    query = query.where(func.lower(Guest.room) == (room or "").lower())
    return [guest for guest in s.scalars(query) if guest.name.casefold() == (name or "").casefold()]


def erase(
    db: Database,
    clock: Clock,
    key: str,
    property_id: int,
    *,
    phone: str | None = None,
    name: str | None = None,
    room: str | None = None,
) -> tuple[int, int]:
    """Erase all rows of one guest: (guests, rides) that were found.

    Raises StillRiding, NotCompacted.

    Writes a line of the record, without saying who it was. Then nothing of it is in the file's free
    pages either.
    """
    now = clock()
    with db.write() as s:
        if db.dialect == "sqlite":
            s.execute(text("PRAGMA secure_delete = ON"))
        guests = matching(s, property_id, phone=phone, name=name, room=room)
        if any(_riding(s, guest) for guest in guests):
            raise StillRiding
        words = {word for guest in guests for word in (guest.name, guest.phone) if word}
        rides = sum(forget_guest(s, guest, now, key) for guest in guests)
        s.flush()
        _out_of_notes(s, property_id, words)
        for guest in guests:
            audit.record(
                s, "cli", "guest.erased", f"guests:{guest.id}", "ok", now, property_id=property_id
            )
    compact(db)  # also when nothing was found: the last time may have been cut off here
    return len(guests), rides


def compact(db: Database) -> None:
    """Write the database's file anew, so that no free page keeps what was there.

    Raises NotCompacted.
    """
    with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        line: Any = connection.connection.driver_connection
        if db.dialect == "sqlite":
            _rewrite(line)
            return
        for table in (
            "guests",
            "orders",
            "rides",
            "actions",
            "moments",
            "attention",
            "shift_notes",
        ):
            connection.exec_driver_sql(f"VACUUM {table}")


def _rewrite(line: sqlite3.Connection) -> None:
    try:
        line.execute("VACUUM").close()
        busy = line.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    except sqlite3.OperationalError as error:
        raise NotCompacted from error
    if busy:
        raise NotCompacted


def _riding(s: Session, guest: Guest) -> bool:
    followed = (
        select(Ride.id).where(Ride.order_id == Order.id, Ride.next_poll_at.is_not(None)).exists()
    )
    query = select(Order.id).where(
        Order.guest_id == guest.id, or_(Order.state.in_(UNSETTLED), followed)
    )
    return s.scalars(query.limit(1)).first() is not None


def _out_of_notes(s: Session, property_id: int, words: set[str]) -> None:
    """Names and numbers that staff wrote down elsewhere: in notes for the next shift, of other
    guests and rides.
    """
    wanted = [re.compile(pattern, re.IGNORECASE) for word in words if (pattern := _pattern(word))]
    for table, column in TYPED:
        field = getattr(table, column)
        for row in s.scalars(
            select(table).where(table.property_id == property_id, field.is_not(None))
        ):
            said = getattr(row, column)
            for each in wanted:
                said = each.sub(ERASED, said)
            if said != getattr(row, column):
                setattr(row, column, said)


def _pattern(word: str) -> str:
    """A phone in any spacing, with or without its country's code; a name as a whole word."""
    digits = re.sub(r"\D", "", word)
    if word.startswith("+") and len(digits) >= PHONE_LEAST:
        gap = r"[\s().\-/]*"
        head, tail = digits[:-10], digits[-10:]
        start = rf"(?:\+?{gap.join(head)}{gap})?" if head else r"\+?"
        return rf"(?<!\d){start}0?{gap.join(tail)}(?!\d)"
    return rf"(?<!\w){re.escape(word)}(?!\w)" if len(word) > 1 else ""
