"""Changes a planned ride before it is ordered: the same order gets new values.

See docs/booking-protocol.md 1.3.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash.rides.orders import place
from ridedash.rides.orders.fields import CHANGEABLE, BookingRequest
from ridedash.rides.orders.guard import stays_second_car
from ridedash.rides.orders.place import RequestRefused
from ridedash.rides.orders.press import PlaceError
from ridedash.rides.orders.request import (
    digest,
    guest_of,
    new_booking,
    ordered_value,
    restated,
)
from ridedash.rides.state import transitions
from ridedash.rides.times import schedule_times
from ridedash.store import audit, guests
from ridedash.store.accounts import affiliate_uid_of
from ridedash.store.database.database import Clock, Database, retry_conflict
from ridedash.store.models.orders import Offer, Order, OrderState

CHANGED: Final = "plan_changed"  # a timeline event; its detail names what changed
# The fields that may change, in the order in which changes are described.
_ASPECTS: Final = tuple(
    dict.fromkeys(
        [
            "pickup_at",
            "trip",
            "category",
            "guest",
            *(each.change for each in CHANGEABLE),
            "second_car",
        ]
    )
)


class TooLate(PlaceError):
    """The order is no longer planned: it was ordered, withdrawn, or missed its time."""


class Overtaken(PlaceError):
    """The order was changed after this form was shown: show its current values."""


@dataclass(frozen=True)
class Change:
    """The new values of a planned ride.

    `version` is the order's version when the form was shown.
    """

    order_id: int
    version: int
    request: BookingRequest


def change(db: Database, clock: Clock, wanted: Change) -> bool:
    """Update the order to the request. False when nothing changes.

    A due order that could not be sent yet may be changed too; it is retried as soon as it is due.
    Raises TooLate, Overtaken, OfferUnknown, RequestRefused; DatabaseBusy and CommitUnknown like
    `place`.
    """
    return retry_conflict(lambda: _change(db, clock(), wanted))


def _change(db: Database, now: datetime, wanted: Change) -> bool:
    with db.write() as s:
        order, changed = differs(s, wanted, now)
        if changed:
            apply(s, order, wanted.request, changed, now)
        return bool(changed)


def differs(s: Session, wanted: Change, now: datetime) -> tuple[Order, list[str]]:
    """The locked order, and the names of the fields that the request changes.

    Raises TooLate, Overtaken, OfferUnknown.
    """
    request = wanted.request
    order = s.scalars(select(Order).where(Order.id == wanted.order_id)).first()
    if order is None or order.property_id != request.property_id:
        raise TooLate(f"order {wanted.order_id}")
    if order.state != OrderState.SCHEDULED:
        raise TooLate(f"order {wanted.order_id}")
    changed = differences(s, order, request, place.offer_of(s, request, now))
    if changed and order.version != wanted.version:
        raise Overtaken(f"order {order.id}")
    return order, changed


def apply(
    s: Session, order: Order, request: BookingRequest, changed: list[str], now: datetime
) -> None:
    """Write the request into a planned order, with its timeline event and audit entry.

    `changed` names the changed fields. Raises OfferUnknown, RequestRefused.
    """
    offer = place.offer_of(s, request, now)
    place.check_request(s, request, offer)
    if "pickup_at" in changed:
        latest = schedule_times.SERIES_LATEST if order.series_key else schedule_times.LATEST
        place.check_pickup_time(request, now, latest)
    before = _audited(order)
    _update(s, order, request, offer, now)
    transitions.clear_attention(s, order, transitions.NOT_YET, now)
    transitions.add_event(s, order, "event", CHANGED, now, ", ".join(changed))
    facts = {
        "property_id": order.property_id,
        "changed": changed,
        "was": before,
        "is": _audited(order),
    }
    who = request.actor
    subject = f"orders:{order.id}"
    audit.record(s, who, "order.change", subject, order.state, now, **facts)


def differences(s: Session, order: Order, request: BookingRequest, offer: Offer) -> list[str]:
    """The names of the fields that the request changes.

    A new offer of the same product and trip is not a change.
    """
    old = s.get_one(Offer, order.offer_id)
    changed = {
        "trip": _ends(old) != _ends(offer),
        "category": order.category != offer.category,
        "guest": not _same_guest(s, order, request),
        "second_car": request.override_guard and order.guard_override_by is None,
    }
    for each in CHANGEABLE:
        if ordered_value(order, each) != getattr(request, each.name):
            changed[each.change] = True
    return [aspect for aspect in _ASPECTS if changed.get(aspect)]


def _ends(offer: Offer) -> tuple[Any, ...]:
    pickup = offer.pickup_lat, offer.pickup_lng, offer.pickup_name
    return *pickup, offer.drop_lat, offer.drop_lng, offer.drop_name


def _update(s: Session, order: Order, request: BookingRequest, offer: Offer, now: datetime) -> None:
    """Write the new values into the row. A worker that holds a lease on the order loses it."""
    if request.pickup_at is None:
        raise RequestRefused("pickup_at", "a planned ride has a pickup time")
    try:
        body = restated(
            new_booking(request, offer, order.mtx).model_dump_json(),
            affiliate_uid=affiliate_uid_of(s, request.account_id),
        )
    except ValidationError as error:
        raise place.refused(error) from None
    stated = _stated_guest(order, request)
    guests.lock_guest(s, request.property_id, stated)
    guest = guests.store_guest(s, request.property_id, stated, now, request.staff_id)
    if not stays_second_car(s, order, request, offer, guest):
        order.guard_override_by = None
    for each in CHANGEABLE:
        if each.column:
            setattr(order, each.column, getattr(request, each.name))
    margin = request.margin
    product = offer.product
    order.due_at = schedule_times.due_at(request.pickup_at, product, margin, now)
    order.offer_id = offer.id
    order.category = offer.category
    order.kind = offer.kind
    order.guest_id = guest.id
    order.body = body
    order.body_digest = digest(body)
    if request.override_guard and not order.guard_override_by:
        order.guard_override_by = request.staff_id
    order.tries = 0
    order.message = None
    order.owner = None
    order.lease_until = None


def _same_guest(s: Session, order: Order, request: BookingRequest) -> bool:
    """Whether the order is for this guest, and the request states nothing new about them."""
    stated = _stated_guest(order, request)
    guest = guests.find_same(s, request.property_id, stated)
    return (
        guest is not None
        and guest.id == order.guest_id
        and not guests.has_new_details(guest, stated)
    )


def _stated_guest(order: Order, request: BookingRequest) -> guests.GuestDetails:
    """The guest in the request: the order's own unless another one was chosen."""
    stated = guest_of(request)
    return replace(stated, guest_id=stated.guest_id or order.guest_id)


def _audited(order: Order) -> dict[str, Any]:
    """The values of a planned ride that the audit log stores, without name, phone and room."""
    return {
        "pickup_at": order.pickup_at.isoformat() if order.pickup_at else None,
        "category": order.category,
        "offer": order.offer_id,
        "guest": order.guest_id,
    }
