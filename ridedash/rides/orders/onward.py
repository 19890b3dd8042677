"""A series of planned rides from one of them on: changed or withdrawn together.

Each ride stays an order of its own, with its own audit entry and timeline event. Rides that are
ordered already, were withdrawn or are over are never touched: only SCHEDULED ones are, each read
under its lock (docs/booking-protocol.md 1.3, Planned rides).
"""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash.rides.codes import WITHDRAWN
from ridedash.rides.orders import transitions
from ridedash.rides.orders.change import Change, apply, differences, differs
from ridedash.rides.orders.fields import CHANGEABLE, BookingRequest
from ridedash.rides.orders.place import RequestRefused, offer_of
from ridedash.rides.orders.request import ordered_value
from ridedash.rides.orders.schedule_times import ride_on
from ridedash.rides.runtime import Clock
from ridedash.store.actors import by_staff
from ridedash.store.database.database import Database, retry_conflict
from ridedash.store.models.orders import Order, OrderState
from ridedash.store.models.people import Guest
from ridedash.store.orders import order_of_staff


def change_onward(db: Database, clock: Clock, wanted: Change, tz: ZoneInfo) -> int:
    """Change a ride of a series and the same of each later one that is still planned.

    Only what the request changes of its own ride is changed of the others: a note that another ride
    has of its own stays. The pickup keeps its day on each ride and gets the new time of day in the
    zone. Returns the number of rides that were changed. All of them change, or none.

    Raises what `change` raises; RequestRefused of "pickup_day" when the request has another day.
    """
    return retry_conflict(lambda: _change_onward(db, clock(), wanted, tz))


def _change_onward(db: Database, now: datetime, wanted: Change, tz: ZoneInfo) -> int:
    request = wanted.request
    with db.write() as s:
        shown, changed = differs(s, wanted, now)
        if not changed:
            return 0
        if "pickup_at" in changed and _day(request.pickup_at, tz) != _day(shown.pickup_at, tz):
            raise RequestRefused("pickup_day", "a series keeps its days")
        count = 0
        for order in _planned_from(s, shown):
            own = request
            if order.id != shown.id:
                own = _of_ride(s, order, request, changed, tz)
            differing = differences(s, order, own, offer_of(s, own, now))
            if differing:
                apply(s, order, own, differing, now)
                count += 1
        return count


def withdraw_onward(
    db: Database, clock: Clock, order_id: int, staff_id: int, shown: Collection[int]
) -> int:
    """Withdraw a ride of a series and each later one that is still planned, of those in `shown`.

    Returns the number of rides that were withdrawn.
    """
    now = clock()
    with db.write() as s:
        order = order_of_staff(s, order_id, staff_id)
        if order is None or order.series_key is None:
            return 0
        planned = [each for each in _planned_from(s, order) if each.id in shown]
        for each in planned:
            each.code, each.resolved_by = WITHDRAWN, staff_id
            to, who = OrderState.NOT_SENT, by_staff(staff_id)
            transitions.change_state(s, each, to, now, who, code=WITHDRAWN, onward=order_id)
        return len(planned)


def _planned_from(s: Session, first: Order) -> list[Order]:
    """The rides of a series from this one on that are still planned, locked in one order."""
    query = select(Order).where(
        Order.property_id == first.property_id,
        Order.series_key == first.series_key,
        Order.pickup_at >= first.pickup_at,
        Order.state == OrderState.SCHEDULED,
    )
    if first.series_key is None:
        query = query.where(Order.id == first.id)
    return list(s.scalars(query.order_by(Order.id)))


def _of_ride(
    s: Session, order: Order, request: BookingRequest, changed: Collection[str], tz: ZoneInfo
) -> BookingRequest:
    """The request for another ride of the series: its own values, but for what was changed."""
    values: dict[str, Any] = {
        each.name: ordered_value(order, each) for each in CHANGEABLE if each.change not in changed
    }
    if not {"trip", "category"} & set(changed):
        values["offer_id"] = order.offer_id
    if "guest" not in changed:
        guest = s.get_one(Guest, order.guest_id)
        values |= {"guest_id": guest.id, "guest_name": guest.name, "guest_phone": guest.phone}
        values |= {"guest_language": guest.language, "guest_note": guest.note}
    if "pickup_at" in changed and request.pickup_at is not None and order.pickup_at is not None:
        clock = request.pickup_at.astimezone(tz).time()
        values["pickup_at"] = ride_on(order.pickup_at.astimezone(tz).date(), clock, tz).at
    return replace(request, **values)


def _day(at: datetime | None, tz: ZoneInfo) -> object:
    return at.astimezone(tz).date() if at else None
