"""The hand-over to the next shift: rides that are not over, planned rides, and notes."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session, aliased

from ridedash.store.models.desk import ShiftNote
from ridedash.store.models.orders import Order, OrderState, Ride
from ridedash.store.models.people import Staff

SHIFT: Final = timedelta(hours=12)
UNDER_WAY: Final = (OrderState.WAITING, OrderState.READY, OrderState.SENDING, OrderState.MATCHING)
NOTES: Final = 100


@dataclass(frozen=True)
class Ahead:
    """Ids of orders by their meaning for the next shift, the oldest first."""

    unknown: tuple[int, ...]
    going: tuple[int, ...]  # waiting for the guest, being sent or matched, or with a ride under way
    # planned for the next twelve hours, or overdue; by pickup time
    planned: tuple[int, ...]
    later: int  # how many rides are planned for later


@dataclass(frozen=True)
class Note:
    """A note with its writer, and the person who marked it as done."""

    id: int
    text: str
    by: str
    made_at: datetime
    done_by: str | None
    done_at: datetime | None


def ahead(s: Session, property_id: int, now: datetime) -> Ahead:
    """The orders that the next shift has to know of."""
    here = Order.property_id == property_id
    plans = select(Order.id).where(here, Order.state == OrderState.SCHEDULED)
    late = select(func.count()).where(
        here, Order.state == OrderState.SCHEDULED, Order.pickup_at >= now + SHIFT
    )
    return Ahead(
        unknown=tuple(
            s.scalars(
                select(Order.id).where(here, Order.state == OrderState.UNKNOWN).order_by(Order.id)
            )
        ),
        going=tuple(sorted({*_waiting(s, property_id), *_followed(s, property_id)})),
        planned=tuple(
            s.scalars(
                plans.where(Order.pickup_at < now + SHIFT).order_by(Order.pickup_at, Order.id)
            )
        ),
        later=s.scalar(late) or 0,
    )


def _waiting(s: Session, property_id: int) -> list[int]:
    query = select(Order.id).where(Order.property_id == property_id, Order.state.in_(UNDER_WAY))
    return list(s.scalars(query))


def _followed(s: Session, property_id: int) -> list[int]:
    """Ids of orders with a ride under way: one that is polled and has not ended."""
    query = select(Ride.order_id).where(
        Ride.property_id == property_id, Ride.next_poll_at.is_not(None), Ride.ended_at.is_(None)
    )
    return list(s.scalars(query))


def notes(s: Session, property_id: int, now: datetime) -> list[Note]:
    """Open notes, the oldest first; then those done in the last 12 hours, the latest first.

    At most NOTES of each.
    """
    return _notes(s, property_id, None) + _notes(s, property_id, now - SHIFT)


def _notes(s: Session, property_id: int, done_since: datetime | None) -> list[Note]:
    doer = aliased(Staff)
    query = select(ShiftNote, Staff.name, doer.name).join(Staff, Staff.id == ShiftNote.staff_id)
    query = query.outerjoin(doer, doer.id == ShiftNote.done_by)
    query = query.where(ShiftNote.property_id == property_id).limit(NOTES)
    if done_since is None:
        query = query.where(ShiftNote.done_at.is_(None)).order_by(ShiftNote.id)
    else:
        query = query.where(ShiftNote.done_at >= done_since).order_by(
            ShiftNote.done_at.desc(), ShiftNote.id.desc()
        )
    return [
        Note(row.id, row.text, by, row.made_at, done_by, row.done_at)
        for row, by, done_by in s.execute(query)
    ]


def add_note(s: Session, property_id: int, staff_id: int, text: str, now: datetime) -> None:
    """Write a note for the next shift."""
    s.add(ShiftNote(property_id=property_id, staff_id=staff_id, text=text, made_at=now))


def settle_note(
    s: Session, property_id: int, note_id: int, staff_id: int, now: datetime, *, done: bool
) -> bool:
    """Mark a note as done, or as open again; False if it is unknown or another property's.

    A note that is already in that state stays unchanged, with the person who marked it done.
    """
    query = select(ShiftNote).where(ShiftNote.property_id == property_id, ShiftNote.id == note_id)
    note = s.scalars(query.with_for_update()).first()
    if note is None:
        return False
    if done != (note.done_at is not None):
        note.done_at, note.done_by = (now, staff_id) if done else (None, None)
    return True
