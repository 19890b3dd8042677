"""Corrects the guest of an order: a wrong name, phone or room, for as long as they are stored.

What the service was sent has none of these, and stays (docs/booking-protocol.md 1.11).
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash.rides import share_links
from ridedash.rides.orders.guard import renew_keys, rides_beside
from ridedash.rides.state import transitions
from ridedash.store import audit, guests
from ridedash.store.actors import by_staff
from ridedash.store.database.database import Clock, Database, retry_conflict
from ridedash.store.models.orders import Attention, Order, TimelineEvent
from ridedash.store.models.people import Guest

CORRECTED: Final = "guest_corrected"  # a timeline event; its detail has the old and new values
AUDITED: Final = "guest.corrected"


class GuestFacts(NamedTuple):
    """What a ride says of its guest: phone as E.164, None where it says nothing."""

    name: str
    phone: str | None
    room: str | None


@dataclass(frozen=True)
class Correction:
    """A correction: the values that its form showed, and those that were typed.

    `others`: whether name and room are also wrong on rides of this guest that another press booked.
    Without it these keep their name, and a corrected name gets a row of its own.
    """

    property_id: int
    order_id: int
    staff_id: int
    shown: GuestFacts
    wanted: GuestFacts
    others: bool = False


@dataclass(frozen=True)
class Corrected:
    """What followed: the names of the changed fields, none if nothing was to change.

    `beside` are open rides of other rows that are the same guest's from the same pickup by now;
    `links_ended` counts the guest's links that the old number may have.
    """

    changed: tuple[str, ...] = ()
    beside: tuple[int, ...] = ()
    links_ended: int = 0


class GuestNotStored(Exception):
    """There is no such order, or its guest was removed: there is nothing to correct."""


class CorrectedMeanwhile(Exception):
    """Somebody else has corrected this guest since the form was shown: show what is stored now."""


def correct(db: Database, clock: Clock, correction: Correction) -> Corrected:
    """Correct a guest in one transaction, audited with both values.

    Raises GuestNotStored, CorrectedMeanwhile, DatabaseBusy, CommitUnknown.
    """
    return retry_conflict(lambda: _correct(db, clock(), correction))


def other_rides(s: Session, order: Order) -> int:
    """How many rides the order's guest has that were not booked by the same press."""
    rides = s.scalars(select(Order).where(Order.guest_id == order.guest_id)).all()
    return len(rides) - len(_of_press(rides, order))


def corrections(s: Session, order_ids: Collection[int]) -> dict[tuple[int, datetime], str]:
    """What each correction of these orders changed, by order and instant: {field: [old, new]} as
    JSON. Without those whose guest was removed since.
    """
    query = select(TimelineEvent.order_id, TimelineEvent.at, TimelineEvent.detail).where(
        TimelineEvent.order_id.in_(order_ids), TimelineEvent.name == CORRECTED
    )
    return {(order_id, at): detail for order_id, at, detail in s.execute(query) if detail}


def _correct(db: Database, now: datetime, correction: Correction) -> Corrected:
    wanted = correction.wanted
    with db.write() as s:
        order = s.get(Order, correction.order_id, with_for_update=True)
        if order is None or order.property_id != correction.property_id:
            raise GuestNotStored
        guest = s.get_one(Guest, order.guest_id, with_for_update=True)
        if guest.erased_at is not None:
            raise GuestNotStored
        stored = GuestFacts(guest.name, guest.phone, order.room)
        changed = [name for name in GuestFacts._fields if _differ(name, stored, wanted)]
        if not changed:
            return Corrected()
        if correction.shown != stored:
            raise CorrectedMeanwhile
        known = s.scalars(select(Order).where(Order.guest_id == guest.id).order_by(Order.id)).all()
        press = _of_press(known, order)
        rides = known
        if "name" in changed and not correction.others and len(press) < len(known):
            guest = _another(s, correction, press, now)
            rides = press
        else:
            guest.name = wanted.name
            guest.phone = wanted.phone
        _correct_room(guest, known if correction.others else press, stored.room, wanted.room)
        s.flush()
        renew_keys(s, rides, guest)
        shown = [each for each in rides if each.open or each in press or correction.others]
        _rename_items(s, shown, stored.name, guest.name)
        ended = 0
        if "phone" in changed and stored.phone:
            ids = [each.id for each in rides]
            ended = share_links.end_given_links(s, ids, by_staff(correction.staff_id), now)
        for each in shown:
            each.version += 1
        _record(s, order, correction, {name: _both(name, stored, wanted) for name in changed}, now)
        beside = rides_beside(s, rides, guest, {each.id for each in known})
        return Corrected(tuple(changed), beside, ended)


def _differ(name: str, stored: GuestFacts, wanted: GuestFacts) -> bool:
    return (getattr(stored, name) or None) != (getattr(wanted, name) or None)


def _both(name: str, stored: GuestFacts, wanted: GuestFacts) -> list[str]:
    return [getattr(stored, name) or "", getattr(wanted, name) or ""]


def _of_press(rides: Sequence[Order], order: Order) -> list[Order]:
    """Those of a guest's rides that were booked with this one: its group, series and way back."""
    found = [order]
    before = 0
    while len(found) > before:
        before = len(found)
        groups = {each.group_key for each in found} - {None}
        series = {each.series_key for each in found} - {None}
        ids = {each.id for each in found}
        ways = {each.back_of for each in found} - {None}
        found = [
            each
            for each in rides
            if each.id in ids | ways
            or each.back_of in ids
            or each.group_key in groups
            or each.series_key in series
        ]
    return found


def _another(s: Session, correction: Correction, press: Sequence[Order], now: datetime) -> Guest:
    """The row of the person whom these rides are for: the guest's other rides keep theirs."""
    wanted = guests.GuestDetails(*correction.wanted)
    guests.lock_guest(s, correction.property_id, wanted)
    guest = guests.store_guest(s, correction.property_id, wanted, now, correction.staff_id)
    for each in press:
        each.guest_id = guest.id
    return guest


def _correct_room(guest: Guest, rides: Sequence[Order], old: str | None, new: str | None) -> None:
    """Correct the room on rides that have the wrong one, and on the row unless it has a later."""
    for each in rides:
        if each.room == old:
            each.room = new
    if guest.room == old:
        guest.room = new


def _rename_items(s: Session, rides: Sequence[Order], old: str, new: str) -> None:
    """Name the guest anew in attention items whose detail ends with the name."""
    end = f" · {old}"
    query = select(Attention).where(
        Attention.order_id.in_([each.id for each in rides]), Attention.cleared_at.is_(None)
    )
    for item in s.scalars(query):
        if item.detail and item.detail.endswith(end):
            item.detail = f"{item.detail.removesuffix(end)} · {new}"


def _record(
    s: Session, order: Order, correction: Correction, both: dict[str, list[str]], now: datetime
) -> None:
    """An audit entry without the values, which are in an event: that is removed with the guest."""
    transitions.add_event(s, order, "event", CORRECTED, now, json.dumps(both, ensure_ascii=False))
    facts = {"property_id": order.property_id, "changed": list(both)}
    who = by_staff(correction.staff_id)
    subject = f"orders:{order.id}"
    audit.record(s, who, AUDITED, subject, "ok", now, **facts)
