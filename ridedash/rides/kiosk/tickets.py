"""Tickets of rides that guests book at a kiosk: a ride number of the day and a four-digit PIN.

The number and the PIN open the guest's view of the ride on the kiosk (docs/security.md 9). A PIN of
four digits can be guessed in 10,000 tries, so its hash has a key, and five wrong PINs close a
number: then only the desk can open the ride. Each kiosk also limits the wrong tries with any
numbers. When they are used up, a number with which nobody has tried a wrong PIN still opens with
its right one, so that a stranger's guesses don't keep other guests from their rides.
"""

import hashlib
import hmac
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from zoneinfo import ZoneInfo

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from ridedash.store import audit, restores, tries
from ridedash.store.actors import Actor
from ridedash.store.models.kiosks import Ticket
from ridedash.store.models.orders import Order
from ridedash.text import compact_key, plain_code

PIN_DIGITS: Final = 4  # as many as people remember; five wrong ones close the number
WRONG_PINS: Final = 5  # wrong PINs that close a ride number
WRONG_LOOKS: Final = 10  # wrong tries at one kiosk in ten minutes, for all numbers together
# for how long after the booking a ticket opens its ride; each day the numbers begin again at 1
LASTS: Final = timedelta(hours=24)
MOST_NUMBER: Final = 9_999  # four digits can be read from a ticket; no house orders more in a day
AFTER_RESTORE: Final = 1_000  # the first number after a restore follows the next multiple of this


class Looked(StrEnum):
    """The result of typing a number and a PIN."""

    FOUND = "ok"
    WRONG = "wrong"  # a wrong PIN, or no such number: the same answer for both
    CLOSED = "closed"  # too many wrong PINs
    LIMITED = "limited"  # too many wrong tries at this kiosk, with any numbers
    GONE = "gone"  # the page ordered a ride that a restored database does not have


@dataclass(frozen=True)
class Look:
    """The result of a try with a number and a PIN; `order_id` only if it is FOUND.

    `shut`: the ids of orders whose tickets this try has closed, sorted as for locking the orders.
    `last`: whether it was the last wrong try that the kiosk allows.
    """

    what: Looked
    order_id: int | None = None
    shut: tuple[int, ...] = ()
    last: bool = False


def pin_of(key: str, secret: str) -> str:
    """The PIN of a visit's ticket: four digits, derived from a secret of the visit's page.

    It is the same in every answer to that page, so no table needs to hold it.
    """
    made = hmac.new(key.encode(), f"pin|{secret}".encode(), hashlib.sha256).digest()
    return f"{int.from_bytes(made[:8], 'big') % 10**PIN_DIGITS:0{PIN_DIGITS}d}"


def local_day(now: datetime, tz: ZoneInfo) -> str:
    """The property's day, to which ride numbers belong: "2026-11-23"."""
    return now.astimezone(tz).date().isoformat()


def ride_number(number: int) -> str:
    """A ride number as people read it: K27."""
    return f"K{number}"


def read_number(typed: str) -> int | None:
    """The number of "K27", "k 27" or "27", in the digits of any script; None for anything else.

    >>> [read_number(text) for text in ("K27", "k 7", "27", "K", "K0", "K99999", "K\u0662")]
    [27, 7, 27, None, None, None, 2]
    """
    digits = "".join(plain_code(typed).split()).upper().removeprefix("K")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= len(str(MOST_NUMBER))):
        return None
    return int(digits) or None


def add_ticket(
    s: Session, key: str, order: Order, pin: str, day: str, *, on_phone: bool = False
) -> Ticket:
    """Make the ticket of a new order, with the next number of its property and day. Flushes.

    `on_phone`: the guest booked on their own phone.

    Called in the transaction that makes the order, so no kiosk order is without a ticket.
    """
    _lock_day(s, order.property_id, day)
    number = _next_number(s, order.property_id, day, order.created_at)
    row = Ticket(
        property_id=order.property_id,
        order_id=order.id,
        number=number,
        day=day,
        pin_hash=_hashed(key, order.id, pin),
        on_phone=on_phone,
        tries=0,
    )
    s.add(row)
    s.flush()
    return row


def ticket_of(s: Session, order_id: int) -> Ticket | None:
    """The ticket of an order; None when it was not booked at a kiosk."""
    return s.scalars(select(Ticket).where(Ticket.order_id == order_id)).first()


def look_up_at(
    s: Session, key: str, kiosk: tuple[int, int], typed: tuple[str, str], now: datetime
) -> Look:
    """Like `look_up`, for a kiosk, which allows ten wrong tries in ten minutes.

    `kiosk` is (property id, kiosk id). A try with a closed number reveals nothing about its PIN and
    does not count. Without a try left, each number has the one of `_look_once`.
    """
    property_id, kiosk_id = kiosk
    throttle = tries.pins_of(kiosk_id)
    left = tries.tries_left(s, throttle, WRONG_LOOKS, now)
    if not left:
        return _look_once(s, key, property_id, typed, now)
    look = look_up(s, key, property_id, typed, now)
    if look.what is Looked.FOUND or (look.what is Looked.CLOSED and not look.shut):
        tries.was_right(s, throttle)
        return look
    return replace(look, last=left == 1)


def looks_stopped_until(s: Session, kiosk_id: int, now: datetime) -> datetime | None:
    """Until when no wrong try is left at a kiosk; None while one is."""
    return tries.stopped_until(s, tries.pins_of(kiosk_id), WRONG_LOOKS, now)


def _look_once(
    s: Session, key: str, property_id: int, typed: tuple[str, str], now: datetime
) -> Look:
    """Like `look_up`, for a number with which nobody has tried a wrong PIN; LIMITED for any other.

    A guess more for each number finds a PIN in one of 10,000 cases. Needs a write session.
    """
    number = read_number(typed[0])
    pin = compact_key(typed[1])
    if number is None:
        return Look(Looked.LIMITED)
    rows = _tickets(s, property_id, number, now)
    for row in [row for row in rows if row.closed_at is None and not row.tries]:
        if hmac.compare_digest(row.pin_hash, _hashed(key, row.order_id, pin)):
            return Look(Looked.FOUND, row.order_id)
        row.tries += 1
    return Look(Looked.LIMITED)


def look_up(s: Session, key: str, property_id: int, typed: tuple[str, str], now: datetime) -> Look:
    """The ride of a typed ride number and PIN, at this property, the newest day first.

    Needs a write session: the tickets are locked, so that tries made in parallel are all counted. A
    wrong PIN counts for each open ticket of the last 24 hours that has this number. A right PIN
    does not reset the count: the guest's own screen sends it every few seconds, and would reset the
    count between the tries of someone else.
    """
    number = read_number(typed[0])
    pin = compact_key(typed[1])
    if number is None:
        return Look(Looked.WRONG)
    rows = _tickets(s, property_id, number, now)
    still = [row for row in rows if row.closed_at is None]
    for row in still:
        if hmac.compare_digest(row.pin_hash, _hashed(key, row.order_id, pin)):
            return Look(Looked.FOUND, row.order_id)
    if rows and not still:
        return Look(Looked.CLOSED)
    for row in still:
        row.tries += 1
        if row.tries >= WRONG_PINS:
            row.closed_at = now
    shut = tuple(sorted(row.order_id for row in still if row.closed_at is not None))
    return Look(Looked.CLOSED if shut else Looked.WRONG, shut=shut)


def reopen(s: Session, property_id: int, order_id: int, actor: Actor, now: datetime) -> bool:
    """Open a ticket again that wrong PINs have closed. False when it was not closed."""
    query = select(Ticket).where(Ticket.order_id == order_id, Ticket.property_id == property_id)
    row = s.scalars(query.with_for_update()).first()
    if row is None or row.closed_at is None:
        return False
    row.tries = 0
    row.closed_at = None
    subject = f"orders:{order_id}"
    audit.record(s, actor, "ticket.reopened", subject, "ok", now, property_id=property_id)
    return True


def _tickets(s: Session, property_id: int, number: int, now: datetime) -> list[Ticket]:
    """The tickets of the last 24 hours that have this number, locked, the newest first."""
    query = (
        select(Ticket)
        .join(Order, Order.id == Ticket.order_id)
        .where(
            Ticket.property_id == property_id,
            Ticket.number == number,
            Order.created_at > now - LASTS,
        )
        .order_by(Ticket.day.desc(), Ticket.id.desc())
    )
    return list(s.scalars(query.with_for_update(of=Ticket)))


def _next_number(s: Session, property_id: int, day: str, now: datetime) -> int:
    """The next ride number of the property's day.

    For a day after a restore the numbers go on in another thousand: a guest whose ride the database
    has lost may hold a ticket with any of the next numbers, and look for it at the door.
    """
    newest = select(Ticket.number, Order.created_at).join(Order, Order.id == Ticket.order_id)
    here = Ticket.property_id == property_id, Ticket.day == day
    row = s.execute(newest.where(*here).order_by(Ticket.number.desc()).limit(1)).first()
    number, made = (row.number, row.created_at) if row is not None else (0, now - LASTS)
    restored = restores.last_restore(s)
    if restored is not None and made < restored.noticed_at and now - restored.noticed_at < LASTS:
        number = (number // AFTER_RESTORE + 1) * AFTER_RESTORE
    return number + 1


def _hashed(key: str, order_id: int, pin: str) -> str:
    """The keyed hash of a PIN, as it is stored: without the key, trying all PINs is useless."""
    message = f"ticket|{order_id}|{pin}".encode("utf-8", "replace")
    return hmac.new(key.encode(), message, hashlib.sha256).hexdigest()


def _lock_day(s: Session, property_id: int, day: str) -> None:
    """Keep other transactions from taking a number of this property and day until this one ends.

    SQLite runs one write transaction at a time anyway.
    """
    if s.get_bind().dialect.name != "postgresql":
        return
    digest = hashlib.sha256(f"ticket|{property_id}|{day}".encode()).digest()
    key = int.from_bytes(digest[:8], "big", signed=True)
    s.connection().execute(select(func.pg_advisory_xact_lock(key)))
