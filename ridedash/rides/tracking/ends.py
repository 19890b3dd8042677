"""Where a ride that was booked without a drop ended: its point, and the address found for it.

The point is the drop that the service reports when the ride is over; an auto's answers have none,
so it is where the car was seen last (docs/booking-protocol.md 3.4).
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from pydantic import ValidationError
from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from ridedash import wire
from ridedash.geo import LatLng
from ridedash.service.types.tracking import Snapshot
from ridedash.store.database.database import Database
from ridedash.store.models.orders import Action, Offer, Order, Ride

AddressOf = Callable[[LatLng], str]  # "" where no address is found
# for so long after the end an address is looked for: the place search may be away meanwhile
NAMED_WITHIN: Final = timedelta(hours=1)
# a position older than this at the end is not where the ride ended
SEEN_WITHIN: Final = timedelta(minutes=5)
TOGETHER: Final = 20  # rides in one run; few are booked without a drop


def no_address(_point: LatLng) -> str:
    """The address where there is no place search."""
    return ""


def end_of(
    facts: Snapshot, ended_at: datetime | None, position_at: datetime | None
) -> LatLng | None:
    """Where a completed ride ended; None if neither the service nor the car's last place says."""
    if facts.drop is not None:
        return facts.drop
    if facts.position is None or ended_at is None or position_at is None:
        return None
    if ended_at - position_at > SEEN_WITHIN:
        return None
    return facts.position


def name_ends(db: Database, address_of: AddressOf, now: datetime) -> int:
    """Store the ends of rides without a drop that were completed lately. Returns how many.

    Addresses are looked up outside of any transaction.
    """
    with db.read() as s:
        found = {ride.order_id: end for ride in _unnamed(s, now) if (end := _end(ride)) is not None}
    named = {order_id: address_of(end)[:200] for order_id, end in found.items()}
    changed = 0
    for order_id, end in found.items():
        with db.write() as s:
            changed += _store(s, order_id, end, named[order_id])
    return changed


def _unnamed(s: Session, now: datetime) -> list[Ride]:
    moved = select(Action.id).where(
        Action.order_id == Order.id, Action.name == "drop", Action.state == "done"
    )
    query = (
        select(Ride)
        .join(Order, Order.id == Ride.order_id)
        .join(Offer, Offer.id == Order.offer_id)
        .where(
            Ride.status == wire.COMPLETED,
            Ride.ended_at > now - NAMED_WITHIN,
            or_(Ride.end_lat.is_(None), Ride.end_name.is_(None)),
            Offer.drop_lat.is_(None),
            ~moved.exists(),
        )
    )
    return list(s.scalars(query.order_by(Ride.ended_at.desc()).limit(TOGETHER)))


def _end(ride: Ride) -> LatLng | None:
    try:
        facts = Snapshot.model_validate(ride.facts)
    except ValidationError:
        return None
    return end_of(facts, ride.ended_at, ride.position_at)


def _store(s: Session, order_id: int, end: LatLng, name: str) -> int:
    """Store an end; nothing if it is stored already, or still without an address."""
    order = s.get_one(Order, order_id, with_for_update=True)
    ride = s.scalars(select(Ride).where(Ride.order_id == order_id)).one()
    new: dict[str, Any] = {"end_lat": end.lat, "end_lng": end.lng, "end_name": name or None}
    if all(getattr(ride, column) == value for column, value in new.items()):
        return 0
    for column, value in new.items():
        setattr(ride, column, value)
    order.version += 1
    return 1
