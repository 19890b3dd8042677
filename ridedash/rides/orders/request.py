"""Builds the row of a new order: the body for the service, and the columns.

See docs/booking-protocol.md 1.2 and 1.3.
"""

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from ridedash.geo import LatLng
from ridedash.rides.orders.fields import (
    BookingField,
    BookingRequest,
    body_values,
    guest_values,
    order_columns,
)
from ridedash.rides.orders.press import Part, token_of
from ridedash.rides.times import schedule_times
from ridedash.service.types.bookings import NewBooking
from ridedash.service.types.products import Product
from ridedash.store.guests import GuestDetails
from ridedash.store.models.orders import Offer, Order, OrderState
from ridedash.store.models.people import Guest
from ridedash.store.offers import Priced
from ridedash.wire import PICKUP_NOW, Kind

# Without I, L, O and U, because people read references out on the telephone.
REFERENCE_ALPHABET: Final = "ABCDEFGHJKMNPQRSTVWXYZ0123456789"
REFERENCE_LENGTH: Final = 16  # 80 random bits: two orders never share a reference
GROUP_BYTES: Final = 12  # 96 random bits: two groups never share a key


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
    if estimate is None or not estimate.upfront or estimate.upfront_fare is None:
        return {}
    return {"": str(estimate.upfront_fare)}


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
