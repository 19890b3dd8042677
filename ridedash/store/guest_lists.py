"""Guest lists: reading and storing them, finding the same list again, forgetting their guests."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import and_, case, delete, func, or_, select
from sqlalchemy.orm import Session

from ridedash.store.models.lists import Companion, GuestList, LineState, ListLine, ListState
from ridedash.store.models.orders import Order
from ridedash.store.models.people import Guest, Staff

__all__ = [
    "DRAFT_LASTS",
    "GuestList",
    "LineState",
    "ListInNeed",
    "ListLine",
    "ListState",
    "NewLine",
    "alike",
    "erase_words",
    "forget_orders",
    "lines_of",
    "list_of",
    "lists_in_need",
    "locked_list",
    "planned_nearby",
    "recent",
    "remove_old",
    "store_list",
]
DRAFT_LASTS: Final = timedelta(days=7)  # a list that nobody has pressed is deleted after it
NEAR: Final = timedelta(hours=2)  # two planned rides of one guest this close may be one
SHOWN: Final = 12  # lists that are offered on the page of a new one
# why a list is stopped
LIST_STOPPED: Final = "LIST_STOPPED"  # by a person
LIST_FAILING: Final = "LIST_FAILING"  # none of the last wave was booked
LIST_RESTORED: Final = "LIST_RESTORED"  # the database was restored
LIST_SILENT: Final = "LIST_SILENT"  # the ride service could not be asked for ten minutes


@dataclass(frozen=True)
class NewLine:
    """A line to be stored."""

    row: int
    cells: tuple[str, ...]
    out: str | None
    mtx: str


def store_list(s: Session, new: GuestList, lines: Sequence[NewLine]) -> GuestList:
    """Store a list with its lines, each with a car of its own. Flushes."""
    s.add(new)
    s.flush()
    for number, line in enumerate(lines, 1):
        s.add(
            ListLine(
                list_id=new.id,
                property_id=new.property_id,
                number=number,
                row=line.row,
                data={"cells": list(line.cells)},
                out=line.out,
                car=number,
                mtx=line.mtx,
                state=LineState.OPEN,
            )
        )
    s.flush()
    return new


def list_of(s: Session, property_id: int, list_id: int) -> GuestList | None:
    """One list of a property."""
    query = select(GuestList).where(GuestList.id == list_id, GuestList.property_id == property_id)
    return s.scalars(query).first()


def locked_list(s: Session, list_id: int) -> GuestList | None:
    """A list, locked until the transaction ends: its lines are changed under this lock alone."""
    return s.get(GuestList, list_id, with_for_update=True, populate_existing=True)


def lines_of(s: Session, list_id: int) -> list[ListLine]:
    """The lines of a list in their order."""
    query = select(ListLine).where(ListLine.list_id == list_id).order_by(ListLine.number)
    return list(s.scalars(query))


def alike(s: Session, this: GuestList) -> GuestList | None:
    """The newest other list of the property with the same guests, if there is one."""
    query = select(GuestList).where(
        GuestList.property_id == this.property_id,
        GuestList.digest == this.digest,
        GuestList.id != this.id,
    )
    return s.scalars(query.order_by(GuestList.id.desc()).limit(1)).first()


def recent(s: Session, property_id: int) -> list[tuple[GuestList, str, int, int]]:
    """The newest lists of a property: each with who has read it, its guests, and those ordered."""
    counted = (
        select(
            ListLine.list_id,
            func.count().label("guests"),
            func.count(ListLine.order_id).label("ordered"),
        )
        .where(ListLine.property_id == property_id, ListLine.out.is_(None))
        .group_by(ListLine.list_id)
        .subquery()
    )
    query = (
        select(GuestList, Staff.name, counted.c.guests, counted.c.ordered)
        .join(Staff, Staff.id == GuestList.staff_id)
        .outerjoin(counted, counted.c.list_id == GuestList.id)
        .where(GuestList.property_id == property_id)
        .order_by(GuestList.id.desc())
        .limit(SHOWN)
    )
    return [(row[0], row[1], row[2] or 0, row[3] or 0) for row in s.execute(query)]


@dataclass(frozen=True)
class ListInNeed:
    """A list that does not go on by itself: lines of it ask, or it was stopped, by no person."""

    id: int
    label: str
    asking: int
    code: str | None  # why it is stopped; None while it runs or is done


def lists_in_need(s: Session, property_id: int, by_person: str) -> list[ListInNeed]:
    """The lists of a property that wait for a person. `by_person`: the code of a person's stop."""
    stopped = and_(GuestList.state == ListState.STOPPED, GuestList.code != by_person)
    asks = func.count(ListLine.id)
    query = (
        select(GuestList.id, GuestList.label, asks, case((stopped, GuestList.code)))
        .outerjoin(
            ListLine, and_(ListLine.list_id == GuestList.id, ListLine.state == LineState.ASKED)
        )
        .where(GuestList.property_id == property_id)
        .group_by(GuestList.id, GuestList.label, GuestList.state, GuestList.code)
        .having(or_(asks > 0, stopped))
        .order_by(GuestList.id)
    )
    return [ListInNeed(*row) for row in s.execute(query)]


def planned_nearby(
    s: Session, property_id: int, first: datetime, last: datetime, but: str
) -> list[tuple[Order, Guest | Companion]]:
    """Planned rides of a property around some pickup times, without those of the group `but`.

    Each with its guest, and once more with each guest who rides along.
    """
    planned = (
        Order.property_id == property_id,
        Order.pickup_at.between(first - NEAR, last + NEAR),
        Order.state.in_(("SCHEDULED", "READY", "SENDING", "BOOKED", "MATCHING", "UNKNOWN")),
        or_(Order.group_key.is_(None), Order.group_key != but),
    )
    guests = select(Order, Guest).join(Guest, Guest.id == Order.guest_id).where(*planned)
    along = select(Order, Companion).join(Companion, Companion.order_id == Order.id).where(*planned)
    return [(row[0], row[1]) for query in (guests, along) for row in s.execute(query)]


def stop_list(found: GuestList, code: str, now: datetime) -> None:
    """RUNNING to STOPPED, with the reason; the lines keep waiting."""
    found.state = ListState.STOPPED
    found.code = code
    found.owner = found.lease_until = found.next_at = None
    touch(found, now)


def touch(found: GuestList, now: datetime) -> None:
    """Note a change that the page of the list shows."""
    found.version += 1
    found.changed_at = now


# ---- privacy (docs/security.md 8)


def forget_orders(s: Session, order_ids: Collection[int]) -> None:
    """Remove the guests of these orders from their lines."""
    for line in s.scalars(select(ListLine).where(ListLine.order_id.in_(order_ids))):
        line.data = {}
        line.plan = None


def erase_words(s: Session, property_id: int, is_named: Callable[[str], bool]) -> None:
    """Empty each line of the property of which a text names a guest, and the labels of lists."""
    for line in s.scalars(select(ListLine).where(ListLine.property_id == property_id)):
        if any(is_named(text) for text in _texts((line.data, line.plan))):
            line.data = {}
            line.plan = None
            line.out = "person"
            if line.state != LineState.ORDERED:
                line.state = LineState.OPEN
    for each in s.scalars(select(GuestList).where(GuestList.property_id == property_id)):
        if is_named(each.label):
            each.label = ""


def remove_old(s: Session, before: datetime, draft_before: datetime, limit: int) -> int:
    """Delete lists that nobody touched since these times, with their lines. Returns how many."""
    drafts = GuestList.state == ListState.DRAFT, GuestList.changed_at < draft_before
    others = GuestList.state != ListState.RUNNING, GuestList.changed_at < before
    old = select(GuestList.id).where(or_(drafts[0] & drafts[1], others[0] & others[1]))
    ids = s.scalars(old.order_by(GuestList.id).limit(limit)).all()
    if ids:
        s.execute(delete(ListLine).where(ListLine.list_id.in_(ids)))
        s.execute(delete(GuestList).where(GuestList.id.in_(ids)))
    return len(ids)


def _texts(value: Any) -> list[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [text for each in value for text in _texts(each)]
    return []
