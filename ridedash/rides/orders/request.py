"""What an order is made of: the wish as pressed, the frozen request, the guard against a second
press.
"""

import hashlib
import json
import secrets
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash.geo import LatLng
from ridedash.rides.orders import schedule_times
from ridedash.service.types.bookings import NewBooking
from ridedash.store.guests import Told
from ridedash.store.models.orders import Offer, Order, OrderState
from ridedash.store.properties import Guest
from ridedash.wire import PICKUP_NOW, Kind

# no I, L, O, U: it is read out on the telephone
MTX_ALPHABET: Final = "ABCDEFGHJKMNPQRSTVWXYZ0123456789"
MTX_LENGTH: Final = 16
GROUP_BYTES: Final = 12
CELL_DIGITS: Final = 3  # of a degree: a pickup cell is about 110 m high


@dataclass(frozen=True)
class Wish:
    """What somebody pressed "Book" for. `seats` 1 or 2 for share only; `payment` cash, svc_money or
    None.
    """

    property_id: int
    staff_id: int | None
    account_id: int
    form_token: str  # minted by the server into the form: one order per token
    offer_id: int
    guest_name: str
    guest_phone: str | None = None
    guest_room: str | None = None
    guest_id: int | None = None  # who was chosen among the guests that are known
    guest_language: str | None = None
    guest_note: str | None = None  # about the guest, for every ride of theirs
    note: str | None = None
    cost_centre_id: int | None = None
    seats: int | None = None
    payment: str | None = None
    coupon: str | None = None
    cars: int = 1  # of a group: so many orders, each for itself
    override_guard: bool = False  # "Book a second car on purpose"
    supersedes: int | None = None  # the order that this one books again
    pickup_at: datetime | None = None  # when the guest wants to be picked up; None: now
    # of a planned ride: so much before the cab's way it is ordered
    margin: timedelta = schedule_times.MARGIN


@dataclass(frozen=True)
class Car:
    """Which car of a group an order is; a single one is the first of no group."""

    number: int = 1
    group: str | None = None

    def token(self, form_token: str) -> str:
        """One form makes one order of each number, ever."""
        return form_token if self.number == 1 else f"{form_token}.{self.number}"


def new_group() -> str:
    """What the cars of a group have in common."""
    return secrets.token_hex(GROUP_BYTES)


def new_mtx() -> str:
    """A fresh merchant_txn_id: 80 random bits, capitals, digits and a hyphen."""
    return "RD-" + "".join(secrets.choice(MTX_ALPHABET) for _ in range(MTX_LENGTH))


def wish_digest(wish: Wish) -> str:
    """A digest of all that a form said: the same token with another digest is refused."""
    facts = asdict(wish)
    del facts["form_token"]
    return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()


def told(wish: Wish) -> Told:
    """What a wish says of its guest."""
    return Told(
        wish.guest_name,
        wish.guest_phone,
        wish.guest_room,
        wish.guest_language,
        wish.guest_note,
        wish.guest_id,
    )


def guard_of(
    property_id: int, name: str, phone: str | None, room: str | None, offer: Offer
) -> str | None:
    """Property, guest and pickup cell; None for a guest without name and phone."""
    digits = "".join(char for char in phone or "" if char.isdigit())
    guest = digits[-10:] or f"{name}/{room or ''}".casefold().strip("/ ")
    if not guest:
        return None
    cell = f"{offer.pickup_lat:.{CELL_DIGITS}f},{offer.pickup_lng:.{CELL_DIGITS}f}"
    hashed = hashlib.sha256(guest.encode()).hexdigest()[:24]
    return f"{property_id}|{hashed}|{cell}"


def other_car(s: Session, property_id: int, key: str) -> Order | None:
    """An open car of a group whose first one, which had the guard, is over: it is the guest's ride
    all the same.
    """
    more = select(Order).where(
        Order.guard_key.is_(None), Order.open, Order.property_id == property_id
    )
    for order in s.scalars(more.where(Order.group_key.is_not(None))):
        guest, offer = s.get_one(Guest, order.guest_id), s.get_one(Offer, order.offer_id)
        if guard_of(property_id, guest.name, guest.phone, guest.room, offer) == key:
            return order
    return None


def request_of(wish: Wish, offer: Offer, mtx: str) -> NewBooking:
    """The request as it will be sent. Raises pydantic.ValidationError."""
    drop = (
        None
        if offer.drop_lat is None or offer.drop_lng is None
        else LatLng(offer.drop_lat, offer.drop_lng)
    )
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


def draft(
    wish: Wish, offer: Offer, guest: Guest, guard: str | None, now: datetime, car: Car
) -> Order:
    """A READY or SCHEDULED order; not yet in a session. Raises pydantic.ValidationError."""
    mtx = new_mtx()
    body = request_of(wish, offer, mtx).model_dump_json()
    return Order(
        **_wished(wish, offer, car),
        guest_id=guest.id,
        mtx=mtx,
        body=body,
        body_digest=digest(body),
        version=0,
        created_at=now,
        **_timed(wish, offer, guard, now),
        attempt=0,
        reauthorised=False,
        throttled=False,
        late_double=False,
    )


def digest(body: str) -> str:
    """Of the frozen request."""
    return hashlib.sha256(body.encode()).hexdigest()


def _timed(wish: Wish, offer: Offer, guard: str | None, now: datetime) -> dict[str, Any]:
    """To be sent now; or planned, and then without a guard until it comes due."""
    if wish.pickup_at is None:
        return {
            "state": OrderState.READY,
            "due_at": now,
            "ready_at": now,
            "guard_key": guard,
            "open": True,
        }
    due = schedule_times.due_at(wish.pickup_at, offer.product, wish.margin, now)
    return {
        "state": OrderState.SCHEDULED,
        "pickup_at": wish.pickup_at,
        "due_at": due,
        "tries": 0,
        "open": False,
    }


def _wished(wish: Wish, offer: Offer, car: Car) -> dict[str, Any]:
    """The columns that say what was asked for, by whom."""
    return {
        "property_id": wish.property_id,
        "staff_id": wish.staff_id,
        "account_id": wish.account_id,
        "offer_id": offer.id,
        "note": wish.note,
        "room": wish.guest_room,
        "cost_centre_id": wish.cost_centre_id,
        "group_key": car.group,
        "form_token": car.token(wish.form_token),
        "form_digest": wish_digest(wish),
        "seats": wish.seats,
        "payment": wish.payment,
        "category": offer.category,
        "kind": offer.kind,
        "supersedes": wish.supersedes,
        "guard_override_by": wish.staff_id if wish.override_guard or car.number > 1 else None,
    }
