"""Changing a planned ride until it is ordered: a new version of the same order, by hand and
recorded.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash.rides.orders import place, request, schedule_times, transitions
from ridedash.rides.orders.place import PlaceError, WishRefused
from ridedash.rides.orders.request import Wish
from ridedash.rides.runtime import Clock
from ridedash.service.types.bookings import NewBooking
from ridedash.store import audit, guests
from ridedash.store.database.database import Database, once_more
from ridedash.store.models.orders import Offer, Order, OrderState

CHANGED: Final = "plan_changed"  # an event of the timeline; its detail says what


class TooLate(PlaceError):
    """The order is planned no longer: it was sent, withdrawn, or given up."""


class Overtaken(PlaceError):
    """Somebody changed the order after this form was shown: show it as it is now."""


@dataclass(frozen=True)
class Change:
    """What a planned ride shall be. `version` is the order's when the form was shown."""

    order_id: int
    version: int
    wish: Wish


def change(db: Database, clock: Clock, wanted: Change) -> bool:
    """Make the order what is wanted. False when it is that already: the same press came twice.

    It may also be changed while it is due and can't be ordered: then it is tried again at once.
    Raises TooLate, Overtaken, OfferUnknown, WishRefused; store.db.DatabaseBusy and CommitUnknown
    like `place`.
    """
    return once_more(lambda: _change(db, clock(), wanted))


def _change(db: Database, now: datetime, wanted: Change) -> bool:
    wish = wanted.wish
    with db.write() as s:
        order = s.scalars(select(Order).where(Order.id == wanted.order_id)).first()
        if (
            order is None
            or order.property_id != wish.property_id
            or order.state != OrderState.SCHEDULED
        ):
            raise TooLate(f"order {wanted.order_id}")
        offer = place.offer_of(s, wish, now)
        changed = _differences(s, order, wish, offer)
        if not changed:
            return False
        if order.version != wanted.version:
            raise Overtaken(f"order {order.id}")
        place.check(s, wish, offer)
        if "pickup_at" in changed:
            place.check_time(wish, now)
        before = _said(order)
        _put(s, order, wish, offer, now)
        transitions.clear_attention(s, order, transitions.NOT_YET, now)
        transitions.moment(s, order, "event", CHANGED, now, ", ".join(changed))
        facts = {
            "property_id": order.property_id,
            "changed": changed,
            "was": before,
            "is": _said(order),
        }
        audit.record(
            s,
            f"staff:{wish.staff_id}",
            "order.change",
            f"orders:{order.id}",
            order.state,
            now,
            **facts,
        )
        return True


def _differences(s: Session, order: Order, wish: Wish, offer: Offer) -> list[str]:
    """What the change changes, by name. A fresh offer of the same car for the same trip is none."""
    old = s.get_one(Offer, order.offer_id)
    coupon = NewBooking.model_validate_json(order.body).coupon_code
    pairs: dict[str, tuple[Any, Any]] = {
        "pickup_at": (order.pickup_at, wish.pickup_at),
        "trip": (_ends(old), _ends(offer)),
        "category": (order.category, offer.category),
        "guest": ((True, order.room), (_same_guest(s, order, wish), wish.guest_room)),
        "cost_centre": (order.cost_centre_id, wish.cost_centre_id),
        "note": (order.note, wish.note),
        "seats": (order.seats, wish.seats),
        "payment": (order.payment, wish.payment),
        "coupon": (coupon, wish.coupon),
        "account": (order.account_id, wish.account_id),
        "second_car": (
            order.guard_override_by is not None,
            order.guard_override_by is not None or wish.override_guard,
        ),
    }
    return [name for name, (is_so, shall_be) in pairs.items() if is_so != shall_be]


def _ends(offer: Offer) -> tuple[Any, ...]:
    return (
        offer.pickup_lat,
        offer.pickup_lng,
        offer.pickup_name,
        offer.drop_lat,
        offer.drop_lng,
        offer.drop_name,
    )


def _put(s: Session, order: Order, wish: Wish, offer: Offer, now: datetime) -> None:
    """The order made anew in its row; whoever tries it now finds that it is no longer theirs."""
    if wish.pickup_at is None:
        raise WishRefused("pickup_at", "a planned ride has a pickup time")
    try:
        body = request.request_of(wish, offer, order.mtx).model_dump_json()
    except ValidationError as error:
        raise place.refused(error) from None
    guests.take_turns(s, wish.property_id, _told(order, wish))
    guest = guests.remember(s, wish.property_id, _told(order, wish), now, wish.staff_id)
    order.pickup_at, order.due_at = (
        wish.pickup_at,
        schedule_times.due_at(wish.pickup_at, offer.product, wish.margin, now),
    )
    order.offer_id, order.category, order.kind, order.guest_id = (
        offer.id,
        offer.category,
        offer.kind,
        guest.id,
    )
    order.room, order.cost_centre_id = wish.guest_room, wish.cost_centre_id
    order.note, order.seats, order.payment, order.account_id = (
        wish.note,
        wish.seats,
        wish.payment,
        wish.account_id,
    )
    order.body, order.body_digest = body, request.digest(body)
    order.guard_override_by = order.guard_override_by or (
        wish.staff_id if wish.override_guard else None
    )
    order.tries, order.message, order.owner, order.lease_until = 0, None, None, None


def _same_guest(s: Session, order: Order, wish: Wish) -> bool:
    """Whether the order is for this guest, of whom nothing new is told."""
    told = _told(order, wish)
    guest = guests.known(s, wish.property_id, told)
    return guest is not None and guest.id == order.guest_id and not guests.news(guest, told)


def _told(order: Order, wish: Wish) -> guests.Told:
    """What the wish says of its guest, who is the order's own unless another was chosen."""
    told = request.told(wish)
    return replace(told, guest_id=told.guest_id or order.guest_id)


def _said(order: Order) -> dict[str, Any]:
    """What the audit keeps of an order's plan: no guest in it."""
    at = order.pickup_at.isoformat() if order.pickup_at else None
    return {
        "pickup_at": at,
        "category": order.category,
        "offer": order.offer_id,
        "guest": order.guest_id,
    }
