"""Builds the row of a new order: the body for the service, columns, the duplicate-booking guard.

See docs/booking-protocol.md 1.2 and 1.3.
"""

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import and_, select
from sqlalchemy.orm import Session

from ridedash.geo import LatLng
from ridedash.names import name_key
from ridedash.rides.orders import schedule_times
from ridedash.rides.orders.fields import (
    BookingField,
    BookingRequest,
    body_values,
    guest_values,
    order_columns,
)
from ridedash.rides.orders.press import Part, token_of
from ridedash.service.types.bookings import NewBooking
from ridedash.service.types.products import Product
from ridedash.store.guests import GuestDetails
from ridedash.store.models.lists import Companion
from ridedash.store.models.orders import Offer, Order, OrderState
from ridedash.store.models.people import Guest
from ridedash.store.offers import Priced
from ridedash.text import room_key
from ridedash.wire import PICKUP_NOW, Kind

# Without I, L, O and U, because people read references out on the telephone.
REFERENCE_ALPHABET: Final = "ABCDEFGHJKMNPQRSTVWXYZ0123456789"
REFERENCE_LENGTH: Final = 16  # 80 random bits: two orders never share a reference
GROUP_BYTES: Final = 12  # 96 random bits: two groups never share a key
# digits after the decimal point of degrees: a pickup cell is about 110 m high
CELL_DIGITS: Final = 3


def new_group() -> str:
    """A random key for all orders of a group, or of a series."""
    return secrets.token_hex(GROUP_BYTES)


def new_reference() -> str:
    """A fresh partner reference: 80 random bits as capitals, digits and a hyphen."""
    return "RD-" + "".join(secrets.choice(REFERENCE_ALPHABET) for _ in range(REFERENCE_LENGTH))


def request_digest(request: BookingRequest) -> str:
    """A digest of the request and its sender: a form token with another digest is refused."""
    facts = asdict(request)
    del facts["form_token"], facts["actor"], facts["group"], facts["reference"]
    # forms of earlier releases had a list of guests, which was mostly empty
    facts["guests"] = ()
    # `second_to`, `guest_phone2`, `phone_as_typed`, `flight_lands` and `kiosk_id` are left out
    # while they are empty: earlier releases did not have them, and the digest of a form must stay
    # the same after an update of the program.
    facts["staff_id"] = request.staff_id
    for name in ("second_to", "guest_phone2", "phone_as_typed", "flight_lands"):
        if not facts[name]:
            del facts[name]
    if request.actor.kiosk_id is not None:
        facts["kiosk_id"] = request.actor.kiosk_id
    return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()


def guest_of(request: BookingRequest) -> GuestDetails:
    """The details of the guest in a booking request."""
    return GuestDetails(**guest_values(request))


def guard_of(
    property_id: int, name: str, phone: str | None, room: str | None, offer: Offer
) -> str | None:
    """The key of the duplicate-booking guard: property, guest and pickup cell.

    The guest is identified by the telephone number, else by name and room, each in any spelling
    (docs/booking-protocol.md 1.2). None when none of these is known.
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


class OpenOrder(NamedTuple):
    """The facts about an open order that a press needs; read without a lock."""

    id: int
    staff_id: int | None
    created_at: datetime
    guard_key: str | None
    group_key: str | None
    supersedes: int | None


OPEN_ORDER: Final = tuple(getattr(Order, name) for name in OpenOrder._fields)


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
    query = select(*OPEN_ORDER).where(Order.open)
    # two queries, because each uses its own index
    found = query.where(Order.guard_key == key), query.where(same)
    return list(dict.fromkeys(OpenOrder(*row) for each in found for row in s.execute(each)))


def _unguarded(s: Session, property_id: int, key: str) -> list[OpenOrder]:
    """Open orders without a guard, whose guard would be `key`.

    They are the cars of a group after the first, or second cars that staff booked on purpose. Once
    the order with the guard is over, the guest's other orders are found only in this way.
    """
    without_guard = (Order.guard_key.is_(None), Order.open, Order.property_id == property_id)
    query = select(*OPEN_ORDER, Guest, Offer).where(*without_guard)
    query = query.join(Guest, Guest.id == Order.guest_id).join(Offer, Offer.id == Order.offer_id)
    return [
        OpenOrder(*row)
        for *row, guest, offer in s.execute(query.order_by(Order.id))
        if guard_of(property_id, guest.name, guest.phone, guest.room, offer) == key
    ]


def _along(s: Session, property_id: int, key: str) -> list[OpenOrder]:
    """Open orders with a further guest, whose guard would be `key`."""
    query = select(*OPEN_ORDER, Companion, Offer).where(Order.open)
    query = query.where(Order.property_id == property_id)
    query = query.join(Companion, Companion.order_id == Order.id)
    query = query.join(Offer, Offer.id == Order.offer_id)
    return [
        OpenOrder(*row)
        for *row, who, offer in s.execute(query.order_by(Order.id))
        if guard_of(property_id, who.name, who.phone, who.room, offer) == key
    ]


def new_booking(request: BookingRequest, offer: Offer, reference: str) -> NewBooking:
    """The request to the service as it will be sent. Raises pydantic.ValidationError."""
    drop = None
    if offer.drop_lat is not None and offer.drop_lng is not None:
        drop = LatLng(offer.drop_lat, offer.drop_lng)
    return NewBooking.model_validate(
        {
            "pickup": LatLng(offer.pickup_lat, offer.pickup_lng),
            "drop": drop,
            "category": offer.category,
            "pickup_mode": PICKUP_NOW,
            "fare_id": offer.fare_id,
            "merchant_txn_id": reference,
            "retry": True if offer.kind == Kind.SHARE else None,
            **body_values(request),
        }
    )


# fields of a product that no page shows; they are not stored
UNSHOWN: Final = {"ride_later", "select_applicable", "nearest", "image"}


def offered(product: Product) -> Priced:
    """The fields of a product that an offer stores.

    The text of the price is made when a page shows the offer.
    """
    estimate = product.estimate
    return Priced(
        category=product.category,
        kind=product.kind.value,
        display_name=product.display_name,
        currency=product.currency,
        price_text=None,
        product=product.model_dump(mode="json", exclude=UNSHOWN),
        fare_id=estimate.fare_id if estimate and estimate.upfront else None,
        seat_prices=seat_prices(product),
        cancellation=product.cancellation.model_dump(mode="json") if product.cancellation else None,
    )


def seat_prices(product: Product) -> Mapping[str, str]:
    """Fixed prices as an offer stores them: by number of seats for share, under "" for upfront."""
    if product.share:
        fares = product.share.fares
        return {str(fare.seats): str(fare.cost) for fare in fares if fare.cost is not None}
    estimate = product.estimate
    fixed = estimate.upfront_fare if estimate and estimate.upfront else None
    return {} if fixed is None else {"": str(fixed)}


def build_order(
    part: Part,
    offer: Offer,
    guest: Guest,
    guard: str | None,
    form_digest: str,
    now: datetime,
) -> Order:
    """A READY or SCHEDULED order; not yet in a session. Raises pydantic.ValidationError.

    `form_digest` is that of the whole press of Book (`request_digest`). The caller adds the values
    that depend on its other orders: whether the guest has another car, and the order whose way back
    this is.
    """
    request = part.request
    reference = request.reference or new_reference()
    body = new_booking(request, offer, reference).model_dump_json()
    return Order(
        **order_columns(request),
        property_id=request.property_id,
        staff_id=request.staff_id,
        kiosk_id=request.actor.kiosk_id,
        offer_id=offer.id,
        category=offer.category,
        kind=offer.kind,
        guest_id=guest.id,
        group_key=part.group,
        series_key=part.series,
        form_token=token_of(request.form_token, part.number),
        form_digest=form_digest,
        guard_override_by=request.staff_id if request.override_guard else None,
        mtx=reference,
        body=body,
        body_digest=digest(body),
        version=0,
        created_at=now,
        **_schedule_columns(request, offer, guard, now),
        attempt=0,
        reauthorised=False,
        throttled=False,
        late_double=False,
    )


def ordered_value(order: Order, field: BookingField) -> Any:
    """The value of an order's field: from its column, else from its frozen body."""
    if field.column:
        return getattr(order, field.column)
    return getattr(NewBooking.model_validate_json(order.body), field.body)


def restated(body: str, **changes: str | None) -> str:
    """A frozen body with new values of some fields. Raises pydantic.ValidationError."""
    frozen = NewBooking.model_validate_json(body).model_dump()
    return NewBooking.model_validate(frozen | changes).model_dump_json()


def bill(order: Order, affiliate_uid: str | None) -> None:
    """Put the `affiliate_uid` of the order's account, which is billed, into the frozen body.

    The uid is not part of the form, so the digest of the form does not depend on it. Raises
    pydantic.ValidationError.
    """
    if NewBooking.model_validate_json(order.body).affiliate_uid == affiliate_uid:
        return
    order.body = restated(order.body, affiliate_uid=affiliate_uid)
    order.body_digest = digest(order.body)


def digest(body: str) -> str:
    """The digest of a frozen body."""
    return hashlib.sha256(body.encode()).hexdigest()


def _schedule_columns(
    request: BookingRequest, offer: Offer, guard: str | None, now: datetime
) -> dict[str, Any]:
    """The columns of the state: READY for a ride now; else SCHEDULED, with no guard before due."""
    if request.pickup_at is None:
        return {
            "state": OrderState.READY,
            "due_at": now,
            "ready_at": now,
            "guard_key": guard,
            "open": True,
        }
    due = schedule_times.due_at(request.pickup_at, offer.product, request.margin, now)
    return {"state": OrderState.SCHEDULED, "due_at": due, "tries": 0, "open": False}
