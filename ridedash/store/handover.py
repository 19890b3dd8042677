"""The hand-over to the next shift: rides that are not over, planned rides, and notes."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session, aliased

from ridedash import wire
from ridedash.store.actors import by_staff
from ridedash.store.audit import AuditRow
from ridedash.store.board import NOT_SEEN, SHIFT, WHILE_LIVE
from ridedash.store.models.desk import ShiftNote
from ridedash.store.models.orders import Attention, Order, OrderState, Ride
from ridedash.store.models.people import Staff

UNDER_WAY: Final = (OrderState.WAITING, OrderState.READY, OrderState.SENDING, OrderState.MATCHING)
NOTES: Final = 100  # more than anybody reads at a change of shift
LEFT: Final = 100  # more than fit on a sheet


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


class How(StrEnum):
    """Why an order does not need anybody any more."""

    SEEN = "seen"  # somebody pressed its button
    DECIDED = "decided"  # somebody did something else about it
    AGAIN = "again"  # somebody booked again
    ITSELF = "itself"
    UNSEEN = "unseen"  # nobody did anything in a whole shift


@dataclass(frozen=True)
class Left:
    """An order that needed somebody, and left the list at `at`; `by` is a member of staff."""

    order_id: int
    name: str  # of the attention item; NOT_BOOKED for an order that failed
    detail: str | None
    at: datetime
    how: How
    by: str | None = None


NOT_BOOKED: Final = "not_booked"


def left_needs(s: Session, property_id: int, now: datetime) -> list[Left]:
    """What needed somebody and left the list in the last SHIFT, the latest first; at most LEFT.

    A long search, a waiting driver and other things that pass with the ride are not recorded.
    """
    found = _acts(s, property_id, now - SHIFT)
    seen = {(each.order_id, each.name, each.at) for each in found}
    found += [
        each
        for each in _cleared(s, property_id, now - SHIFT)
        if (each.order_id, each.name, each.at) not in seen
    ]
    found += _booked_again(s, property_id, now - SHIFT) + _passed(s, property_id, now)
    return sorted(found, key=lambda each: each.at, reverse=True)[:LEFT]


def _acts(s: Session, property_id: int, since: datetime) -> list[Left]:
    """What staff have pressed as seen."""
    query = select(AuditRow).where(
        AuditRow.property_id == property_id, AuditRow.at >= since, AuditRow.what == "attention.seen"
    )
    rows = list(s.scalars(query.order_by(AuditRow.id.desc()).limit(LEFT)))
    names = _names(s, [row.who for row in rows])
    return [
        Left(int(row.subject.split(":")[1]), row.result, None, row.at, How.SEEN, names.get(row.who))
        for row in rows
    ]


def _cleared(s: Session, property_id: int, since: datetime) -> list[Left]:
    """Attention items that ended otherwise, with who did something about the order just then."""
    query = select(Attention).where(
        Attention.property_id == property_id, Attention.cleared_at >= since
    )
    items = list(s.scalars(query.order_by(Attention.cleared_at.desc()).limit(LEFT)))
    subjects = {f"orders:{item.order_id}" for item in items}
    acts = s.execute(
        select(AuditRow.subject, AuditRow.at, AuditRow.who).where(
            AuditRow.subject.in_(subjects), AuditRow.at >= since, AuditRow.who.startswith("staff:")
        )
    ).all()
    who = {(subject, at): actor for subject, at, actor in acts}
    names = _names(s, list(who.values()))
    found = []
    for item in items:
        by = names.get(who.get((f"orders:{item.order_id}", item.cleared_at), ""))
        how = How.DECIDED if by else How.ITSELF
        at = item.cleared_at or since
        found.append(Left(item.order_id, item.name, item.detail, at, how, by))
    return found


def _booked_again(s: Session, property_id: int, since: datetime) -> list[Left]:
    """Failed orders that were booked again."""
    newer = aliased(Order)
    query = (
        select(Order.id, newer.created_at, Staff.name)
        .join(newer, newer.supersedes == Order.id)
        .outerjoin(Staff, Staff.id == newer.staff_id)
        .where(
            newer.property_id == property_id,
            newer.created_at >= since,
            or_(
                Order.state.in_((OrderState.REJECTED, OrderState.NOT_SENT, OrderState.FAILED)),
                Order.ended_as == wire.ALLOTMENT_FAILED,
            ),
        )
    )
    rows = s.execute(query.order_by(newer.id.desc()).limit(LEFT))
    return [Left(number, NOT_BOOKED, None, at, How.AGAIN, by) for number, at, by in rows]


def _passed(s: Session, property_id: int, now: datetime) -> list[Left]:
    """What nobody saw: failed orders of the shift before, and news that the ride went past."""
    ended = func.coalesce(Ride.ended_at, Order.resolved_at, Order.created_at)
    query = (
        select(Order.id, ended)
        .outerjoin(Ride, Ride.order_id == Order.id)
        .where(
            Order.property_id == property_id,
            Order.due_at > now - 3 * SHIFT,
            ended > now - 2 * SHIFT,
            ended <= now - SHIFT,
            *NOT_SEEN,
        )
    )
    found = [
        Left(number, NOT_BOOKED, None, at + SHIFT, How.UNSEEN)
        for number, at in s.execute(query.limit(LEFT))
    ]
    past = (
        select(Attention)
        .join(Ride, Ride.order_id == Attention.order_id)
        .where(
            Attention.property_id == property_id,
            Attention.cleared_at.is_(None),
            Attention.name.in_(WHILE_LIVE),
            Attention.raised_at >= now - SHIFT,
            Ride.status.in_((wire.IN_PROGRESS, *wire.TERMINAL)),
        )
    )
    return found + [
        Left(item.order_id, item.name, item.detail, item.raised_at, How.UNSEEN)
        for item in s.scalars(past.limit(LEFT))
    ]


def _names(s: Session, actors: list[str]) -> dict[str, str]:
    """The names of staff by their form in the audit log."""
    numbers = {int(each.split(":")[1]) for each in actors if each.startswith("staff:")}
    rows = s.execute(select(Staff.id, Staff.name).where(Staff.id.in_(numbers)))
    return {str(by_staff(number)): name for number, name in rows}


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
    if done and note.done_at is None:
        note.done_at = now
        note.done_by = staff_id
    elif not done:
        note.done_at = None
        note.done_by = None
    return True
