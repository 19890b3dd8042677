"""What a merged answer does beside the ride's own row: timeline, order, alarms, an armed cancel."""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash import wire
from ridedash.rides import merging, moves
from ridedash.rides.merging import Merged
from ridedash.store import audit
from ridedash.store.order_tables import Action, Order, OrderState, Ride

TIMELINE = frozenset({merging.DRIVER_LOST, merging.CAR_SWAPPED, merging.HANDOVER})


def record(s: Session, order: Order, ride: Ride, merged: Merged, now: datetime) -> None:
    """Write down what happened, in the transaction that wrote the ride. Raises moves.BadMove."""
    if merged.changed:
        order.version += 1
    for event in merged.events:
        if event.name == merging.STATUS:
            moves.moment(s, order, "ride", event.detail or "", now)
        elif event.name in TIMELINE:
            moves.moment(s, order, "event", event.name, now, event.detail)
        if event.name in merging.ALARMS:
            _alarm(s, order, event, now)
    if any(event.name == merging.HANDOVER for event in merged.events):
        _hand_over(s, order, ride, now)
    if ride.ended_at is not None and order.open:
        _end(s, order, ride, now)


def _alarm(s: Session, order: Order, event: merging.Event, now: datetime) -> None:
    if moves.attention(s, order, event.name, event.detail, now):
        subject = f"orders:{order.id}"
        audit.record(s, "worker", "ride.alarm", subject, event.name, now, property_id=order.property_id)


def _hand_over(s: Session, order: Order, ride: Ride, now: datetime) -> None:
    """The booking id has come: the order is booked, and a cancel that was armed may go."""
    order.booking_id = ride.booking_id
    if order.state == OrderState.MATCHING:
        moves.move(s, order, OrderState.BOOKED, now, "worker", booking_id=ride.booking_id)
    armed = select(Action).where(Action.order_id == order.id, Action.state == "armed")
    for action in s.scalars(armed):
        action.next_try_at = now


def _end(s: Session, order: Order, ride: Ride, now: datetime) -> None:
    """The journey is over: the guest may book again. A match that never got a booking id has failed."""
    if order.state == OrderState.MATCHING and ride.status != wire.COMPLETED:
        moves.move(s, order, OrderState.FAILED, now, "worker", status=ride.status)
    order.open = False
    for action in s.scalars(select(Action).where(Action.order_id == order.id, Action.state == "armed")):
        action.state, action.settled_at, action.next_try_at = "dropped", now, None
