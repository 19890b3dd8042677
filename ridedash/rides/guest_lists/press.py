"""Presses on a list of guests: book it, stop, go on, leave lines out, answer a question of a line.

See docs/booking-protocol.md 1.10. Each of them is one commit with the list locked. A press orders
nothing by itself: a worker books the lines that wait (waves.py).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy.orm import Session

from ridedash.store import audit
from ridedash.store.actors import by_staff
from ridedash.store.database.database import Clock, Database
from ridedash.store.guest_lists import (
    LIST_STOPPED,
    GuestList,
    LineState,
    ListLine,
    ListState,
    lines_of,
    list_of,
    locked_list,
    stop_list,
    touch,
)

# questions of a line; others are in rides/orders/due.py and rides/state/codes.py
LIST_PRICE: Final = "LIST_PRICE"  # the price is now higher than the one that was shown
LIST_METERED: Final = "LIST_METERED"  # the price was fixed, and is by the meter now
LIST_GUARD: Final = "LIST_GUARD"  # the guest has an open ride from there
LIST_NOT_BOOKABLE: Final = "LIST_NOT_BOOKABLE"  # a part of the request is not possible any more
WHO: Final = ("name", "room", "phone", "phone2")  # of a guest who rides along, in a plan
ANSWERABLE: Final = (LIST_PRICE, LIST_METERED, LIST_GUARD)  # questions that a yes answers


class ListChanged(Exception):
    """The list was changed since its page was shown: show it again."""


class Along(NamedTuple):
    """A further guest of a car: the number of the line, and who it is.

    `shown` is the name as cards show it, with the room.
    """

    number: int
    shown: str
    name: str = ""
    room: str | None = None
    phone: str | None = None
    phone2: str | None = None


@dataclass(frozen=True)
class CarPlan:
    """What is ordered for one car of a list: the guest of its first line, and who rides along.

    `pickup_at` is None for a ride now. `others` are the guests of the further lines of the car.
    """

    number: int
    name: str
    room: str | None
    phone: str | None
    pickup_at: datetime | None
    flight: str | None
    note: str | None
    # whether a person has said that the same guest stands in the list twice
    twice: bool = False
    phone2: str | None = None
    others: tuple[Along, ...] = ()
    # the place where this line goes, as lists store it; None: where the list goes
    own_drop: Mapping[str, object] | None = None


def book(
    db: Database, clock: Clock, shown: tuple[int, int, int], staff_id: int, cars: Sequence[CarPlan]
) -> bool:
    """Let these cars be booked. `shown`: property, list and version as the page showed it.

    False when nothing is left to do, because the same press came before. Raises ListChanged.
    """
    now = clock()
    property_id, list_id, version = shown
    with db.write() as s:
        found = _locked(s, property_id, list_id)
        lines = {line.number: line for line in lines_of(s, list_id)}
        free = [car for car in cars if _is_free(lines.get(car.number))]
        if found.version != version:
            if found.state == ListState.RUNNING and not free:
                return False
            raise ListChanged
        if not free:
            return False
        for car in free:
            _plan(found, lines, car)
        # a press on the button that names the car has chosen it for the further lines, too
        found.trip = {**found.trip, "car_by_person": True}
        _run(found, staff_id, now)
        _record(s, found, staff_id, "list.book", now, cars=len(free))
        return True


def stop(db: Database, clock: Clock, property_id: int, list_id: int, staff_id: int) -> bool:
    """Book no further line; what a worker has begun with is ordered. False if it does not run."""
    now = clock()
    with db.write() as s:
        found = _locked(s, property_id, list_id)
        if found.state != ListState.RUNNING:
            return False
        stop_list(found, LIST_STOPPED, now)
        _record(s, found, staff_id, "list.stop", now)
        return True


def go_on(db: Database, clock: Clock, property_id: int, list_id: int, staff_id: int) -> bool:
    """Book the lines that still wait. False when none does, or the list is running."""
    now = clock()
    with db.write() as s:
        found = _locked(s, property_id, list_id)
        waits = any(line.state == LineState.WAITING for line in lines_of(s, list_id))
        if found.state != ListState.STOPPED or not waits:
            return False
        _run(found, staff_id, now)
        _record(s, found, staff_id, "list.continue", now)
        return True


def answer(
    db: Database, clock: Clock, line_of: tuple[int, int, int], staff_id: int, code: str
) -> bool:
    """Yes to the question of a line: it waits again. `line_of`: property, list and line number.

    `code` is the question that was shown. False when it is another one by now.
    """
    now = clock()
    property_id, list_id, number = line_of
    with db.write() as s:
        found = _locked(s, property_id, list_id)
        line = next((each for each in lines_of(s, list_id) if each.number == number), None)
        if line is None or line.state != LineState.ASKED or line.code != code:
            return False
        if code not in ANSWERABLE or line.plan is None:
            return False
        if code == LIST_GUARD:
            line.plan = {**line.plan, "beside": line.plan.get("busy", [])}
        else:
            line.shown_minor = line.price_minor
            line.metered = code == LIST_METERED or line.metered
        line.state = LineState.WAITING
        line.code = None
        line.price_minor = None
        if found.state != ListState.STOPPED:
            _run(found, staff_id, now)
        touch(found, now)
        facts = {"line": number, "code": code}
        _record(s, found, staff_id, "list.answer", now, **facts)
        return True


def open_again(s: Session, found: GuestList, numbers: Collection[int], now: datetime) -> int:
    """Take lines that are not ordered out of what waits, so that they can be corrected.

    With a line of a shared car all its lines are opened. Returns how many.
    """
    lines = lines_of(s, found.id)
    heads = {_head(line) for line in lines if line.number in numbers}
    opened = 0
    for line in lines:
        if _head(line) in heads and line.state in (LineState.WAITING, LineState.ASKED):
            line.state = LineState.OPEN
            line.plan = None
            line.code = None
            line.price_minor = None
            opened += 1
    touch(found, now)
    return opened


def ask(line: ListLine, code: str, price_minor: int | None = None) -> None:
    """Stop one line with a question; the others go on."""
    line.state = LineState.ASKED
    line.code = code
    line.price_minor = price_minor


def _locked(s: Session, property_id: int, list_id: int) -> GuestList:
    """The list of this property, locked. Raises LookupError."""
    if list_of(s, property_id, list_id) is None:
        raise LookupError(f"list {list_id}")
    found = locked_list(s, list_id)
    if found is None:
        raise LookupError(f"list {list_id}")
    return found


def _head(line: ListLine) -> int:
    """The number of the first line of a car that was pressed."""
    return int((line.plan or {}).get("head", line.number))


def _is_free(line: ListLine | None) -> bool:
    return line is not None and line.out is None and line.state == LineState.OPEN


def _plan(found: GuestList, lines: dict[int, ListLine], car: CarPlan) -> None:
    """Freeze what is ordered, with its trip: what is changed later needs another press."""
    head = lines[car.number]
    facts = asdict(car)
    del facts["others"], facts["number"], facts["own_drop"]
    facts["pickup_at"] = car.pickup_at.isoformat() if car.pickup_at else None
    facts["trip"] = {**found.trip, "drop": car.own_drop or found.trip.get("drop")}
    head.plan = facts
    head.state = LineState.WAITING
    head.code = None
    for along in car.others:
        other = lines.get(along.number)
        if other is not None and _is_free(other):
            who = {key: value for key, value in along._asdict().items() if key in WHO}
            other.plan = {**who, "with": along.shown, "head": head.number}
            other.state = LineState.WAITING


def _run(found: GuestList, staff_id: int, now: datetime) -> None:
    found.state = ListState.RUNNING
    found.code = None
    found.tries = 0
    found.pressed_by = staff_id
    found.pressed_at = now
    found.next_at = now
    touch(found, now)


def _record(
    s: Session, found: GuestList, staff_id: int, what: str, now: datetime, **facts: object
) -> None:
    subject = f"guest_lists:{found.id}"
    audit.record(
        s,
        by_staff(staff_id),
        what,
        subject,
        found.state,
        now,
        property_id=found.property_id,
        **facts,
    )
