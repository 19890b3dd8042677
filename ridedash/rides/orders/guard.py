"""The duplicate-booking guard: a guest has one open ride from one pickup, unless staff say so.

The whole rule is on this page, in this order (docs/booking-protocol.md 1.2):

1. **The key** of an order says who is picked up where: the property, the guest, the cell of the
   pickup. By a unique index of the database only one open order has a key, whoever presses at the
   same moment. A planned ride gets it when it is due, so that today's ride does not block
   tomorrow's.
2. **Open rides without this key count too**: those that the guest's row had under another phone,
   name or room, second cars, and cars in which the guest rides along.
3. **At a press** that finds such a ride nothing is ordered. Staff are told of it, and may book a
   second car on purpose, which has no key. They say so of the rides that they were told of: about
   any other one they are asked again. They are asked as well when a colleague has booked the same
   order again. Of the cars of one press for a guest, only the first has the key.
4. **When a planned ride is due**, or its guest starts it, it waits while the guest has another open
   ride. A group waits as one: its cars don't hold back each other.
5. **A planned ride that is changed** is asked about again when it is due, if it then is of another
   day, guest or pickup than the one for which staff allowed a second car.
6. **A guest who is corrected** gives the orders new keys; of two equal open ones, one keeps it.

Who places or changes an order locks its guest first (`store.guests.lock_guest`), so that of two
presses for one guest the second sees the order of the first. A planned ride that becomes READY
locks the guest's row, which each press for a known guest holds. An order that staff open again
loses its key to one that has it by now (rides/state/transitions.py).
"""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import and_, or_, select
from sqlalchemy.orm import Session

from ridedash.names import name_key
from ridedash.rides.orders.fields import BookingRequest
from ridedash.rides.orders.press import Part, PlaceError
from ridedash.rides.state.states import UNSENT
from ridedash.store.models.lists import Companion
from ridedash.store.models.orders import Offer, Order
from ridedash.store.models.people import Guest, Staff
from ridedash.text import room_key

# digits after the decimal point of degrees: a pickup cell is about 110 m high
CELL_DIGITS: Final = 3


# 1. The key


def guard_of(
    property_id: int, name: str, phone: str | None, room: str | None, offer: Offer
) -> str | None:
    """The key of the guard: property, guest and pickup cell.

    The guest is identified by the telephone number, else by name and room, each in any spelling.
    None when none of these is known.
    """
    number, _mark, _extension = (phone or "").partition(";")
    digits = "".join(char for char in number if char.isdigit())
    guest = digits[-10:] or f"{name_key(name)}/{room_key(room)}".strip("/ ")
    if not guest:
        return None
    hashed = hashlib.sha256(guest.encode()).hexdigest()[:24]
    return f"{property_id}|{hashed}|{cell_of(offer)}"


def cell_of(offer: Offer) -> str:
    """The cell of an offer's pickup: the guard allows a guest one open order in each cell."""
    return f"{offer.pickup_lat:.{CELL_DIGITS}f},{offer.pickup_lng:.{CELL_DIGITS}f}"


def _key_of(s: Session, order: Order, guest: Guest) -> str | None:
    offer = s.get_one(Offer, order.offer_id)
    return guard_of(order.property_id, guest.name, guest.phone, guest.room, offer)


# 2. The open rides of a guest from a pickup


class OpenOrder(NamedTuple):
    """The facts about an open order that the rule needs; read without a lock."""

    id: int
    staff_id: int | None
    created_at: datetime
    guard_key: str | None
    group_key: str | None
    supersedes: int | None


_OPEN_ORDER: Final = tuple(getattr(Order, name) for name in OpenOrder._fields)


def open_rides(s: Session, guest: Guest, key: str) -> list[OpenOrder]:
    """The open orders of a guest from a pickup cell, first those with a guard, then the others.

    Also those of cars in which the guest rides along.

    They are not locked: polls are recorded in transactions that lock many orders, and a press that
    locked them in another sequence would cause a deadlock.
    """
    property_id = guest.property_id
    found = *_guarded(s, guest, key), *_unguarded(s, property_id, key)
    return list(dict.fromkeys((*found, *_along(s, property_id, key))))


def _guarded(s: Session, guest: Guest, key: str) -> list[OpenOrder]:
    """Open orders with the guard `key`, or with an earlier guard of this guest and pickup cell.

    A guard is made of the guest's data at the time of booking: phone, name or room in the guest's
    row may have changed since.
    """
    same = and_(
        Order.guest_id == guest.id,
        Order.guard_key.endswith(key[key.rindex("|") :], autoescape=True),
    )
    query = select(*_OPEN_ORDER).where(Order.open)
    # two queries, because each uses its own index
    found = query.where(Order.guard_key == key), query.where(same)
    return list(dict.fromkeys(OpenOrder(*row) for each in found for row in s.execute(each)))


def _unguarded(s: Session, property_id: int, key: str) -> list[OpenOrder]:
    """Open orders without a guard, whose guard would be `key`.

    They are the cars of a group after the first, or second cars that staff booked on purpose. Once
    the order with the guard is over, the guest's other orders are found only in this way.
    """
    without_guard = (Order.guard_key.is_(None), Order.open, Order.property_id == property_id)
    query = select(*_OPEN_ORDER, Guest, Offer).where(*without_guard)
    query = query.join(Guest, Guest.id == Order.guest_id).join(Offer, Offer.id == Order.offer_id)
    return [
        OpenOrder(*row)
        for *row, guest, offer in s.execute(query.order_by(Order.id))
        if guard_of(property_id, guest.name, guest.phone, guest.room, offer) == key
    ]


def _along(s: Session, property_id: int, key: str) -> list[OpenOrder]:
    """Open orders with a further guest, whose guard would be `key`."""
    query = select(*_OPEN_ORDER, Companion, Offer).where(Order.open)
    query = query.where(Order.property_id == property_id)
    query = query.join(Companion, Companion.order_id == Order.id)
    query = query.join(Offer, Offer.id == Order.offer_id)
    return [
        OpenOrder(*row)
        for *row, who, offer in s.execute(query.order_by(Order.id))
        if guard_of(property_id, who.name, who.phone, who.room, offer) == key
    ]


# 3. At a press


@dataclass(frozen=True)
class OpenRide:
    """An open ride of a guest: when it was ordered, and by whom."""

    order_id: int
    staff_name: str | None
    placed_at: datetime


class GuardBusy(PlaceError):
    """The guest already has an open ride from this pickup.

    Or the order that this one replaces was replaced already. `rides` are the guest's open rides, or
    the orders that replaced the same one, the newest first. `seen` are the ids that a form for a
    second car must send: those of `rides`, and those that this form sent.
    """

    def __init__(self, rides: Sequence[OpenRide], request: BookingRequest) -> None:
        super().__init__(f"order {rides[0].order_id} is open for the same guest and pickup")
        self.rides = tuple(rides)
        self.guest = request.guest_name
        self.seen = tuple(sorted({*request.second_to, *(each.order_id for each in rides)}))


@dataclass(frozen=True)
class Allowed:
    """An order of a press is allowed: with which key, and why its guest may have a second car.

    `key` is None for an order without a guard. `open_order_id`: staff were told of that open ride.
    `of_group`: an earlier car of the group is for the same guest.
    """

    key: str | None
    open_order_id: int | None
    of_group: bool


@dataclass
class PressGuard:
    """The guard during one press of Book, which may make several orders.

    `other_rides` has, by each key that was looked up, the guest's other open ride or None.
    """

    s: Session
    request: BookingRequest
    other_rides: dict[str | None, int | None] = field(default_factory=dict)

    def allow(self, part: Part, guest: Guest, offer: Offer, made: Collection[int]) -> Allowed:
        """Check one order of the press; `made` are the orders that it has made before.

        Raises GuardBusy if staff have to be asked first.
        """
        key = guard_of(self.request.property_id, guest.name, guest.phone, guest.room, offer)
        of_group = part.group is not None and key in self.other_rides
        if key not in self.other_rides:
            self.other_rides[key] = self._other_ride(part.request, guest, key, made)
        leaves_now = part.request.pickup_at is None
        guarded = leaves_now and not of_group and not self.request.override_guard
        return Allowed(key if guarded else None, self.other_rides[key], of_group)

    def _other_ride(
        self, request: BookingRequest, guest: Guest, key: str | None, made: Collection[int]
    ) -> int | None:
        """The guest's other open ride from the same pickup, if staff were told of it."""
        if key is None or request.pickup_at is not None:  # a planned order is checked when due
            return None
        others = [each for each in open_rides(self.s, guest, key) if each.id not in made]
        _check_told(self.s, request, others)
        if not others:
            return None
        return others[0].id


def check_not_replaced(s: Session, request: BookingRequest) -> None:
    """Raises GuardBusy if a colleague has already booked the replaced order again.

    The key alone does not show it: cars of a group, second cars and planned rides have none.
    """
    alive = or_(Order.open, Order.state.in_(UNSENT))
    newer = select(*_OPEN_ORDER).where(Order.supersedes == request.supersedes, alive)
    _check_told(s, request, [OpenOrder(*row) for row in s.execute(newer)])


def _check_told(s: Session, request: BookingRequest, rides: Sequence[OpenOrder]) -> None:
    """Raises GuardBusy unless the form books a second car on purpose beside each of these rides.

    The person does not know a ride that was booked after the notice was shown: two desks that
    answer the notice at the same time would both book.
    """
    told = request.second_to if request.override_guard else ()
    if all(each.id in told for each in rides):
        return
    newest_first = sorted(rides, reverse=True)
    raise GuardBusy([_open_ride(s, each) for each in newest_first], request)


def _open_ride(s: Session, order: OpenOrder) -> OpenRide:
    owner = s.get(Staff, order.staff_id) if order.staff_id else None
    if owner is None:
        return OpenRide(order.id, None, order.created_at)
    return OpenRide(order.id, owner.name, order.created_at)


# 4. When a planned ride is due, or its guest starts it


class OtherRideOpen(Exception):
    """The guest of a planned ride has another open ride from its pickup: it has to wait."""


def key_when_due(s: Session, order: Order) -> str | None:
    """The key that an order gets when it becomes READY; None if it needs none.

    Raises OtherRideOpen. Cars of the order's own group do not count: the first of them to be due
    gets the guard, and while it is open the others are ordered without one.
    """
    if order.guard_override_by is not None:
        return None
    # a press for this guest that is not committed yet holds the row: its order is seen after it
    guest = s.get_one(Guest, order.guest_id, with_for_update={"key_share": True})
    key = _key_of(s, order, guest)
    if not key:
        return key
    rides = open_rides(s, guest, key)
    ours = [ride for ride in rides if _is_of_group(s, order, ride)]
    if any(ride.guard_key is not None for ride in ours):
        return None
    if len(ours) < len(rides):
        raise OtherRideOpen
    return key


def _is_of_group(s: Session, order: Order, ride: OpenOrder) -> bool:
    """Whether a ride is a car of the order's own group, or replaces one, directly or not."""
    if order.group_key is None:
        return False
    group = ride.group_key
    earlier = ride.supersedes
    while group != order.group_key:
        if earlier is None:
            return False
        before = select(Order.group_key, Order.supersedes).where(Order.id == earlier)
        group, earlier = s.execute(before).one()
    return True


# 5. When a planned ride is changed


def stays_second_car(
    s: Session, order: Order, request: BookingRequest, offer: Offer, guest: Guest
) -> bool:
    """Whether the order keeps the day, guest and pickup cell for which a second car was allowed.

    Otherwise it is checked again when it is due.
    """
    if order.pickup_at is None or request.pickup_at is None:
        return False
    days = {each.astimezone(request.tz).date() for each in (order.pickup_at, request.pickup_at)}
    cells = {cell_of(each) for each in (s.get_one(Offer, order.offer_id), offer)}
    return len(days) == len(cells) == 1 and guest.id == order.guest_id


# 6. When a guest is corrected


def renew_keys(s: Session, orders: Sequence[Order], guest: Guest) -> None:
    """Make the keys of these orders anew; an open order loses its own where it is taken."""
    for each in orders:
        if each.guard_key is None:
            continue
        key = _key_of(s, each, guest)
        taken = select(Order.id).where(Order.guard_key == key, Order.open, Order.id != each.id)
        if each.open and key and s.scalars(taken).first() is not None:
            key = None
        each.guard_key = key
        s.flush()  # the next one must see it


def rides_beside(
    s: Session, orders: Sequence[Order], guest: Guest, known: Collection[int]
) -> tuple[int, ...]:
    """Open rides from the pickups of these open orders that are now the same guest's.

    `known` are those that were known as theirs before.
    """
    keys = {_key_of(s, each, guest) for each in orders if each.open} - {None}
    found = {ride.id for key in keys if key for ride in open_rides(s, guest, key)}
    return tuple(sorted(found - set(known)))
