"""Queries about restores: the database's watermark, held orders, and lost orders.

See docs/booking-protocol.md 1.7.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, exists, func, or_, select, true, update
from sqlalchemy.orm import Session

from ridedash.store.database.database import insert_if_new
from ridedash.store.database.numbers import made_at
from ridedash.store.models.orders import Heartbeat, Order, OrderState
from ridedash.store.models.people import Property
from ridedash.store.models.restores import LostOrder, Restore, Watermark

ROW: Final = 1  # the id of the one row of Watermark
AT_ONCE: Final = 500  # references in one statement
# by how much the clocks of servers and processes may differ
CLOCKS_DIFFER: Final = timedelta(seconds=5)
# by how much the time of a number may be too late (numbers.made_at)
NUMBERS_LATE: Final = timedelta(hours=1)


def identity(s: Session) -> str:
    """A name of this database and of its backups, made from its first property.

    "" while there is none.
    """
    first = select(Property.id, Property.created_at).order_by(Property.id).limit(1)
    row = s.execute(first).first()
    if row is None:
        return ""
    return hashlib.sha256(f"{row.id} {row.created_at.isoformat()}".encode()).hexdigest()[:16]


def begin_anew(s: Session) -> None:
    """Change the `identity` of this database, so that old entries of journals don't belong to it.

    For a demo that deletes its orders: they must not be listed as lost.
    """
    first = s.scalars(select(Property).order_by(Property.id).limit(1)).first()
    if first is not None:
        first.created_at += timedelta(microseconds=1)


def watermark(s: Session) -> Watermark:
    """The row of the watermark, locked until the transaction ends; made if it is missing."""
    query = select(Watermark).with_for_update()
    found = s.scalars(query).first()
    if found is None:
        insert_if_new(s, Watermark, id=ROW, epoch=0, beats=0)
        found = s.scalars(query).one()
    return found


def epoch(s: Session) -> int:
    """How many restores the database has recorded."""
    return s.scalar(select(Watermark.epoch)) or 0


def is_at_least(of: int, beats: int) -> ColumnElement[bool]:
    """An SQL condition: the database is in epoch `of`, and has had at least `beats` heartbeats."""
    return exists().where(Watermark.epoch == of, Watermark.beats >= beats)


def last_known_moment(s: Session) -> datetime | None:
    """The last instant that the database knows of: its last watermark, else its last heartbeat."""
    at = s.scalar(select(Watermark.beat_at))
    return at or s.scalar(select(func.max(Heartbeat.beat_at)))


class KnownOrder(NamedTuple):
    """The values of an order with which a journal is compared."""

    id: int
    reference: str
    attempt: int
    state: OrderState


def known_orders(s: Session, references: Collection[str]) -> list[KnownOrder]:
    """The orders that have one of these partner references; give at most AT_ONCE references."""
    query = select(Order.id, Order.mtx, Order.attempt, Order.state)
    rows = s.execute(query.where(Order.mtx.in_(list(references)))).all()
    return [KnownOrder(row.id, row.mtx, row.attempt, OrderState(row.state)) for row in rows]


def listed(s: Session, references: Collection[str]) -> dict[str, bool]:
    """Which of these references are listed as lost; give at most AT_ONCE references.

    The value is True if the order's outcome is known, or staff have dealt with it.
    """
    done = or_(LostOrder.outcome.is_not(None), LostOrder.closed_at.is_not(None))
    query = select(LostOrder.mtx, done).where(LostOrder.mtx.in_(list(references)))
    return {row[0]: bool(row[1]) for row in s.execute(query)}


def property_of(s: Session, property_id: int, at: datetime) -> int | None:
    """The property of an order that was sent at a time; None when the property is lost.

    After a restore another property may have got this id; it is younger than the order.
    """
    found = s.get(Property, property_id)
    if found is None or found.created_at > at:
        return None
    return found.id


def open_restore(s: Session) -> Restore | None:
    """The last restore, unless it has been accepted."""
    last = last_restore(s)
    if last is None or last.accepted_at is not None:
        return None
    return last


def last_restore(s: Session) -> Restore | None:
    """The last restore that was noticed or declared."""
    return s.scalars(select(Restore).order_by(Restore.id.desc()).limit(1)).first()


def forgot(s: Session, number: int, now: datetime) -> bool:
    """Whether the database has forgotten the time in which it gave out this row number.

    The number is none of its rows. It was given between the moment to which the database was
    restored and the one at which that was noticed; or, as long as no worker has noticed it, after
    the last instant that the database knows of. False for a number of an early release.
    """
    made = made_at(number)
    if made is None or made > now + NUMBERS_LATE:
        return False
    known = last_known_moment(s)
    if known is not None and made > known + CLOCKS_DIFFER:
        return True
    lost = select(Restore.id).where(
        or_(Restore.restored_to.is_(None), Restore.restored_to <= made + CLOCKS_DIFFER),
        Restore.noticed_at >= made - NUMBERS_LATE,
    )
    return s.scalars(lost.limit(1)).first() is not None


class Waiting(NamedTuple):
    """The parts of a restore that wait for a decision."""

    restored_to: datetime | None
    is_open: bool  # not accepted yet
    held: int  # rides that are not ordered until a person decides
    lost: int  # orders that were sent, and that the database has lost
    is_bare: bool = False  # the journals were lost; maybe the database was restored as well


def waiting(
    s: Session, property_id: int | None = None, *, homeless: bool = False
) -> Waiting | None:
    """What waits for a decision after the last restore, at one property or at all of them.

    None if nothing does.

    `homeless`: include lost orders of properties that are lost too.
    """
    last = last_restore(s)
    if last is None:
        return None
    held = select(func.count()).where(*_held(property_id))
    lost = select(func.count()).where(*_lost(property_id, homeless=homeless))
    found = Waiting(
        last.restored_to,
        last.accepted_at is None,
        s.scalar(held) or 0,
        s.scalar(lost) or 0,
        last.bare,
    )
    if not (found.is_open or found.held or found.lost):
        return None
    return found


def held_orders(s: Session, property_id: int | None = None) -> list[Order]:
    """The rides that are held, planned or waiting for their guest, the next pickup first."""
    return list(s.scalars(select(Order).where(*_held(property_id)).order_by(Order.pickup_at)))


def lost_orders(s: Session, property_id: int | None = None) -> list[LostOrder]:
    """The lost orders that no one has dealt with, the last one first."""
    query = select(LostOrder).where(*_lost(property_id)).order_by(LostOrder.sent_at.desc())
    return list(s.scalars(query))


def homeless_orders(s: Session) -> list[LostOrder]:
    """Lost orders of lost properties that no one has dealt with, for admins; the last one first."""
    mine = LostOrder.closed_at.is_(None), LostOrder.property_id.is_(None)
    return list(s.scalars(select(LostOrder).where(*mine).order_by(LostOrder.sent_at.desc())))


def homeless_order(s: Session, reference: str) -> LostOrder | None:
    """One lost order of a lost property, dealt with or not, locked until the transaction ends."""
    mine = LostOrder.property_id.is_(None), LostOrder.mtx == reference
    return s.scalars(select(LostOrder).where(*mine).with_for_update()).first()


def lost_order(
    s: Session, property_id: int, reference: str, *, lock: bool = False
) -> LostOrder | None:
    """One lost order of a property, dealt with or not; `lock` it until the transaction ends."""
    mine = LostOrder.property_id == property_id, LostOrder.mtx == reference
    query = select(LostOrder).where(*mine)
    if lock:
        query = query.with_for_update()
    return s.scalars(query).first()


def list_lost(s: Session, rows: Iterable[Mapping[str, Any]]) -> None:
    """List orders as lost, by the columns of LostOrder.

    An order that is listed already, is open and has no outcome gets the outcome of its row.
    """
    for row in rows:
        insert_if_new(s, LostOrder, **row)
        late = {"outcome": row["outcome"], "closed_at": row["closed_at"]}
        if row["outcome"] is not None:
            unknown = LostOrder.mtx == row["mtx"], LostOrder.outcome.is_(None)
            s.execute(update(LostOrder).where(*unknown, LostOrder.closed_at.is_(None)).values(late))


CAN_BE_HELD: Final = (OrderState.SCHEDULED, OrderState.WAITING)


def has_sent(s: Session) -> bool:
    """Whether the database knows of an order that the service has booked."""
    query = select(Order.id).where(Order.booking_id.is_not(None)).limit(1)
    return s.scalars(query).first() is not None


def _held(property_id: int | None) -> tuple[ColumnElement[bool], ...]:
    here = true() if property_id is None else Order.property_id == property_id
    return Order.state.in_(CAN_BE_HELD), Order.held_at.is_not(None), here


def _lost(property_id: int | None, *, homeless: bool = False) -> tuple[ColumnElement[bool], ...]:
    here = true() if property_id is None else LostOrder.property_id == property_id
    if homeless:
        here = or_(here, LostOrder.property_id.is_(None))
    return LostOrder.closed_at.is_(None), here
