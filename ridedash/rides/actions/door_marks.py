"""The doorman's mark on a ride: the guest is in the car, or away. The service is not told."""

from datetime import datetime
from typing import Final

from sqlalchemy import select

from ridedash import wire
from ridedash.rides.state import transitions
from ridedash.store import audit
from ridedash.store.actors import Actor
from ridedash.store.database.database import Database
from ridedash.store.models.orders import Order, OrderState, Ride, TimelineEvent
from ridedash.store.orders import OrderPage

IN: Final = "door_in"  # timeline events: the guest got into the car
AWAY: Final = "door_away"  # the guest is not at the door
MARKS: Final = {"in": IN, "away": AWAY}
NAMES: Final = {event: name for name, event in MARKS.items()}


def mark(
    db: Database, now: datetime, actor: Actor, property_id: int, order_id: int, name: str
) -> bool:
    """Mark the guest of a ride as `in` the car or `away`, in its timeline and the audit log.

    False for a ride of another property, and for one whose car is neither coming nor here. The
    same mark again changes nothing.
    """
    with db.write() as s:
        wanted = select(Order).where(Order.id == order_id, Order.property_id == property_id)
        order = s.scalars(wanted).first()
        ride = s.scalars(select(Ride).where(Ride.order_id == order_id)).first()
        if order is None or order.state != OrderState.BOOKED or ride is None:
            return False
        # IN_PROGRESS too: it may come while the guest still looks for the car
        if ride.status not in wire.CAB_KNOWN or ride.next_poll_at is None:
            return False
        last = s.scalars(
            select(TimelineEvent.name)
            .where(TimelineEvent.order_id == order_id, TimelineEvent.name.in_(NAMES))
            .order_by(TimelineEvent.id.desc())
        ).first()
        if last != MARKS[name]:
            transitions.add_event(s, order, "event", MARKS[name], now)
            subject = f"orders:{order_id}"
            audit.record(s, actor, "door.mark", subject, name, now, property_id=property_id)
        return True


def mark_of(page: OrderPage) -> tuple[str, datetime] | None:
    """The last mark of a ride, `in` or `away`, and when it was made; None without one.

    A mark belongs to the car of that time and ends with a change of car.
    """
    last = next((each for each in reversed(page.events) if each.name in NAMES), None)
    if last is None:
        return None
    swapped = page.ride.swapped_at if page.ride else None
    if swapped is not None and last.at < swapped:
        return None
    return NAMES[last.name], last.at
