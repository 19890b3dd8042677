"""What an order is made of: the wish as pressed, the frozen request, the guard against a second press."""

import hashlib
import json
import secrets
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy.orm import Session

from ridedash.geo import LatLng
from ridedash.service.bookings import NewBooking
from ridedash.store.order_tables import Offer, Order, OrderState
from ridedash.store.people import Guest
from ridedash.wire import PICKUP_NOW, Kind

MTX_ALPHABET: Final = "ABCDEFGHJKMNPQRSTVWXYZ0123456789"  # no I, L, O, U: it is read out on the telephone
MTX_LENGTH: Final = 16
CELL_DIGITS: Final = 3  # of a degree: a pickup cell is about 110 m high


@dataclass(frozen=True)
class Wish:
    """What somebody pressed "Book" for. `seats` 1 or 2 for share only; `payment` cash, svc_money or None."""

    property_id: int
    staff_id: int | None
    account_id: int
    form_token: str  # minted by the server into the form: one order per token
    offer_id: int
    guest_name: str
    guest_phone: str | None = None
    guest_room: str | None = None
    note: str | None = None
    seats: int | None = None
    payment: str | None = None
    coupon: str | None = None
    override_guard: bool = False  # "Book a second car on purpose"
    supersedes: int | None = None  # the order that this one books again


def new_mtx() -> str:
    """A fresh merchant_txn_id: 80 random bits, capitals, digits and a hyphen."""
    return "RD-" + "".join(secrets.choice(MTX_ALPHABET) for _ in range(MTX_LENGTH))


def wish_digest(wish: Wish) -> str:
    """A digest of all that a form said: the same token with another digest is refused."""
    facts = asdict(wish)
    del facts["form_token"]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def guard_key(wish: Wish, offer: Offer) -> str | None:
    """Property, guest and pickup cell; None for a guest without name and phone."""
    phone = "".join(char for char in wish.guest_phone or "" if char.isdigit())
    guest = phone[-10:] or f"{wish.guest_name}/{wish.guest_room or ''}".casefold().strip("/ ")
    if not guest:
        return None
    cell = f"{offer.pickup_lat:.{CELL_DIGITS}f},{offer.pickup_lng:.{CELL_DIGITS}f}"
    hashed = hashlib.sha256(guest.encode()).hexdigest()[:24]
    return f"{wish.property_id}|{hashed}|{cell}"


def request_of(wish: Wish, offer: Offer, mtx: str) -> NewBooking:
    """The request as it will be sent. Raises pydantic.ValidationError."""
    drop = None if offer.drop_lat is None or offer.drop_lng is None else LatLng(offer.drop_lat, offer.drop_lng)
    return NewBooking.model_validate(
        {
            "pickup": LatLng(offer.pickup_lat, offer.pickup_lng),
            "drop": drop,
            "category": offer.category,
            "pickup_mode": PICKUP_NOW,
            "fare_id": offer.fare_id,
            "payment_instrument_type": wish.payment or None,
            "coupon_code": wish.coupon or None,
            "merchant_txn_id": mtx,
            "seats": wish.seats,
            "retry": True if offer.kind == Kind.SHARE else None,
        }
    )


def draft(s: Session, wish: Wish, offer: Offer, guard: str | None, now: datetime) -> Order:
    """A READY order and its guest; the order is not yet in the session. Raises pydantic.ValidationError."""
    mtx = new_mtx()
    body = request_of(wish, offer, mtx).model_dump_json()
    return Order(
        **_wished(wish, offer),
        guest_id=_guest(s, wish, now).id,
        mtx=mtx,
        body=body,
        body_digest=hashlib.sha256(body.encode()).hexdigest(),
        state=OrderState.READY,
        version=0,
        created_at=now,
        due_at=now,
        ready_at=now,
        attempt=0,
        reauthorised=False,
        throttled=False,
        guard_key=guard,
        open=True,
        late_double=False,
    )


def _wished(wish: Wish, offer: Offer) -> dict[str, Any]:
    """The columns that say what was asked for, by whom."""
    return {
        "property_id": wish.property_id,
        "staff_id": wish.staff_id,
        "account_id": wish.account_id,
        "offer_id": offer.id,
        "note": wish.note,
        "form_token": wish.form_token,
        "form_digest": wish_digest(wish),
        "seats": wish.seats,
        "payment": wish.payment,
        "category": offer.category,
        "kind": offer.kind,
        "supersedes": wish.supersedes,
        "guard_override_by": wish.staff_id if wish.override_guard else None,
    }


def _guest(s: Session, wish: Wish, now: datetime) -> Guest:
    guest = Guest(
        property_id=wish.property_id,
        staff_id=wish.staff_id,
        name=wish.guest_name,
        phone=wish.guest_phone,
        room=wish.guest_room,
        created_at=now,
    )
    s.add(guest)
    s.flush()
    return guest
