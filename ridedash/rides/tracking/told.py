"""What the guest was told of their car, as far as the program knows (docs/wording.md 2).

They were told the number plate if a message with it was prepared, their own page of the ride showed
it, it was printed on their card, its start code was shown, or staff pressed “Guest told”.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash import wire
from ridedash.rides.state.transitions import add_event, clear_attention
from ridedash.rides.tracking.merge import CAR_SWAPPED, DRIVER_LOST
from ridedash.store.models.orders import Attention, Order, Ride, TimelineEvent

TOLD: Final = "guest_told"  # a timeline event; the detail is the plate
# attention items that end when the guest has been told
TO_TELL: Final = (CAR_SWAPPED, DRIVER_LOST)


def note_told(s: Session, order: Order, now: datetime) -> None:
    """Record that the guest knows of their present car, or that the old one no longer comes."""
    for name in TO_TELL:
        clear_attention(s, order, name, now)
    plate = _plate_now(s, order.id)
    if plate is not None and plate != told_plate(s, order.id):
        add_event(s, order, "event", TOLD, now, plate)


def told_plate(s: Session, order_id: int) -> str | None:
    """The plate that the guest knows; None if they know none, or its driver was lost since."""
    query = select(TimelineEvent).where(
        TimelineEvent.order_id == order_id, TimelineEvent.name.in_((TOLD, DRIVER_LOST))
    )
    return _told_by(s.scalars(query.order_by(TimelineEvent.id.desc()).limit(1)).first())


def _told_by(last: TimelineEvent | None) -> str | None:
    """The plate that the last event of a driver has told the guest, if it told one."""
    if last is None or last.name != TOLD:
        return None
    return last.detail


def is_news(events: Sequence[TimelineEvent], items: Sequence[Attention], ride: Ride | None) -> bool:
    """Whether an open page of the guest tells them something that they did not know of their car.

    `ride` is the ride if the page shows its plate. It needs no query, because each poll asks.
    """
    if any(item.name in TO_TELL for item in items):
        return True
    if ride is None:
        return False
    last = next((each for each in reversed(events) if each.name in (TOLD, DRIVER_LOST)), None)
    plate = ride.facts.get("vehicle_number")
    return plate is not None and plate != _told_by(last)


def _plate_now(s: Session, order_id: int) -> str | None:
    """The plate of the car that comes for the guest; None without one."""
    ride = s.scalars(select(Ride).where(Ride.order_id == order_id)).first()
    if ride is None or ride.status not in wire.BEFORE_RIDE:
        return None
    plate: str | None = ride.facts.get("vehicle_number")
    return plate
