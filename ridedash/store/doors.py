"""The rides that a door display shows, and the numbers by which their guests know them."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import and_, bindparam, case, exists, or_, select
from sqlalchemy.orm import Session

from ridedash import wire
from ridedash.store.models.kiosks import Ticket
from ridedash.store.models.orders import Order, OrderState, Ride, TimelineEvent

# more cars than a door ever shows at once, or anybody could read
MOST_READ: Final = 40
# guests who have gone to the door read there that no driver was found
NO_DRIVER_FOR: Final = timedelta(minutes=10)
LONGEST_WAIT: Final = timedelta(hours=24)  # from an order to the end of its search, or its cancel


def cars_at_door(s: Session, property_id: int, began_after: datetime) -> list[int]:
    """The orders of rides that are still polled and have not begun, or began after this instant.

    Rides without a status yet are left out. Cars at the door come first, then cars on their way,
    then the others; the oldest orders of each come first. At most MOST_READ orders are returned.
    """
    return list(s.scalars(_CARS, {"property_id": property_id, "began_after": began_after}))


def ended_without_ride(s: Session, property_id: int, now: datetime) -> list[int]:
    """The orders whose ride ended in the last NO_DRIVER_FOR before it began, the newest first.

    Their search found no driver, or they were cancelled. At most MOST_READ orders.
    """
    after = now - NO_DRIVER_FOR
    query = (
        select(Ride.order_id)
        .join(Order, Order.id == Ride.order_id)
        .where(
            Order.property_id == property_id,
            Order.state.in_((OrderState.BOOKED, OrderState.FAILED)),
            Order.due_at > after - LONGEST_WAIT,
            Ride.ended_at > after,
            Ride.status.in_((wire.ALLOTMENT_FAILED, wire.BOOKING_CANCELLED)),
        )
        .order_by(Ride.ended_at.desc(), Ride.order_id)
        .limit(MOST_READ)
    )
    return list(s.scalars(query))


def ticket_numbers(s: Session, order_ids: Collection[int]) -> dict[int, int]:
    """The ride number of each of these orders that has a ticket."""
    if not order_ids:
        return {}
    query = select(Ticket.order_id, Ticket.number).where(Ticket.order_id.in_(order_ids))
    return dict(s.execute(query).tuples().all())


_BEGAN: Final = exists().where(
    TimelineEvent.order_id == Ride.order_id,
    TimelineEvent.name == wire.IN_PROGRESS,
    TimelineEvent.at > bindparam("began_after"),
)
_LATER: Final = (wire.IN_PROGRESS, wire.INVOICE)  # INVOICE follows the ride only for an auto
_CARS: Final = (
    select(Ride.order_id)
    .where(
        Ride.property_id == bindparam("property_id"),
        Ride.next_poll_at.is_not(None),
        Ride.status.not_in(wire.TERMINAL),
        or_(
            Ride.status.not_in(_LATER),
            and_(Ride.status == wire.INVOICE, Ride.kind != wire.Kind.AUTO),
            _BEGAN,
        ),
    )
    .order_by(
        case(
            (Ride.status == wire.CLIENT_LOCATED, 0), (Ride.status == wire.CALL_DRIVER, 1), else_=2
        ),
        Ride.order_id,
    )
    .limit(MOST_READ)
)
