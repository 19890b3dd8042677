"""Placing an order, taking it back, and what a person may say about one whose outcome is
unknown.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from ridedash.rides.orders import request, transitions
from ridedash.rides.orders.request import Wish
from ridedash.rides.orders.resolve import reopen, resolve_not_booked, withdraw
from ridedash.rides.orders.schedule_times import LATEST, SOONEST
from ridedash.rides.runtime import Clock, Failpoint, no_failpoint
from ridedash.store import audit, guests
from ridedash.store.accounts import account_of
from ridedash.store.database.database import CommitUnknown, Database, DatabaseBusy, once_more
from ridedash.store.models.orders import Offer, Order
from ridedash.store.properties import Staff, cost_centre_of
from ridedash.wire import Kind

__all__ = [
    "GuardBusy",
    "OfferStale",
    "OfferUnknown",
    "PlaceError",
    "Placed",
    "TokenReused",
    "Wish",
    "WishRefused",
    "place",
    "reopen",
    "resolve_not_booked",
    "withdraw",
]

MOST_CARS: Final = 6
OFFER_LASTS: Final = timedelta(minutes=2)


@dataclass(frozen=True)
class Placed:
    """The order of a form token, all of them for a group; `created` is False when the same form was
    sent before.
    """

    order_id: int
    created: bool
    order_ids: tuple[int, ...] = ()


class PlaceError(Exception):
    """No order was made."""


class OfferUnknown(PlaceError):
    """The offer does not exist or belongs to another property."""


class OfferStale(PlaceError):
    """The offer is older than two minutes: show it beside a fresh price, and ask again."""

    def __init__(self, old: Offer) -> None:
        super().__init__(f"offer {old.id} is older than two minutes")
        self.old = old


class TokenReused(PlaceError):
    """This form token was used with other contents: answer 409 and point to that order."""

    def __init__(self, order_id: int) -> None:
        super().__init__(f"the form of order {order_id} was sent again with other contents")
        self.order_id = order_id


class GuardBusy(PlaceError):
    """The guest already has a ride being booked from here (docs/booking-protocol.md 1.2)."""

    def __init__(self, order_id: int, staff_name: str | None, placed_at: datetime) -> None:
        super().__init__(f"order {order_id} is open for the same guest and pickup")
        self.order_id, self.staff_name, self.placed_at = order_id, staff_name, placed_at


class WishRefused(PlaceError):
    """The wish itself can't be ordered: seats missing for share, an account of another property, a
    bad coupon.
    """

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field, self.reason = field, reason


def place(db: Database, clock: Clock, wish: Wish, at: Failpoint = no_failpoint) -> Placed:
    """T1: one READY order in one commit (SCHEDULED with a pickup time), or the order that this form
    token already made.

    Raises OfferUnknown, OfferStale, TokenReused, GuardBusy, WishRefused; store.db.DatabaseBusy when
    nothing was ordered, store.db.CommitUnknown when nobody knows: the same form pressed again finds
    the order or makes it.
    """
    now = clock()
    placed = _seen_before(db, wish)  # a form that is pressed again needs no turn at writing
    try:
        placed = placed or once_more(lambda: _place(db, wish, now))
    except CommitUnknown as lost:
        placed = _looked_up(db, wish, now, lost)
    except DatabaseBusy:
        placed = _seen_before(db, wish)  # another press of the same form may have had the turn
        if placed is None:
            raise
    if placed.created:
        at("order.ready")
    return placed


def _seen_before(db: Database, wish: Wish) -> Placed | None:
    """The order that this form made already.

    Raises DatabaseBusy when the database can't be asked.
    """
    try:
        with db.read() as s:
            return _made_before(s, wish)
    except SQLAlchemyError as error:
        raise DatabaseBusy("the database can't be asked: nothing was written") from error


def _looked_up(db: Database, wish: Wish, now: datetime, lost: CommitUnknown) -> Placed:
    """After a commit without an answer: the form token finds what was written, else it is written
    now.
    """
    try:
        return once_more(lambda: _place(db, wish, now))
    except (DatabaseBusy, SQLAlchemyError):
        raise lost from None  # "nothing was ordered" is not known


def _place(db: Database, wish: Wish, now: datetime) -> Placed:
    with db.write() as s:
        # the same form pressed beside us finds our order
        guests.take_turns(s, wish.property_id, request.told(wish))
        before = _made_before(s, wish)
        if before is not None:
            return before
        offer = offer_of(s, wish, now)
        check(s, wish, offer)
        check_time(wish, now)
        ids = _orders(s, wish, offer, now)
        return Placed(ids[0], created=True, order_ids=tuple(ids))


def _made_before(s: Session, wish: Wish) -> Placed | None:
    """The order of this form token. Raises OfferUnknown for a form of another property, TokenReused
    for other words.
    """
    order = s.scalars(select(Order).where(Order.form_token == wish.form_token)).first()
    if order is None:
        return None
    if order.property_id != wish.property_id:
        raise OfferUnknown("the form was another property's")
    if order.form_digest != request.wish_digest(wish):
        raise TokenReused(order.id)
    group = (
        select(Order.id).where(Order.group_key == order.group_key).order_by(Order.id)
        if order.group_key
        else None
    )
    return Placed(
        order.id, created=False, order_ids=(order.id,) if group is None else tuple(s.scalars(group))
    )


def offer_of(s: Session, wish: Wish, now: datetime) -> Offer:
    """The offer of a wish. Raises OfferUnknown; OfferStale unless the ride is planned and so priced
    when ordered.
    """
    offer = s.get(Offer, wish.offer_id)
    if offer is None or offer.property_id != wish.property_id:
        raise OfferUnknown(f"offer {wish.offer_id}")
    if wish.pickup_at is None and now - offer.fetched_at > OFFER_LASTS:
        s.expunge(offer)  # it stays readable when the transaction is undone
        raise OfferStale(offer)
    return offer


def check(s: Session, wish: Wish, offer: Offer) -> None:
    """Raises WishRefused for a wish that can't be ordered."""
    if account_of(s, wish.property_id, wish.account_id) is None:
        raise WishRefused("account", "not an account of this property")
    if offer.account_id is not None and offer.fare_id and offer.account_id != wish.account_id:
        raise WishRefused("account", "the price was fixed for another account")
    if (offer.kind == Kind.SHARE) != (wish.seats is not None):
        raise WishRefused("seats", "1 or 2 for a shared ride, none for any other")
    if not 1 <= wish.cars <= MOST_CARS:
        raise WishRefused("cars", "1 to 6 in one go")
    centre = (
        None
        if wish.cost_centre_id is None
        else cost_centre_of(s, wish.property_id, wish.cost_centre_id)
    )
    if wish.cost_centre_id is not None and centre is None:
        raise WishRefused("cost_centre", "not a cost centre of this property")
    if wish.supersedes is not None:
        old = s.get(Order, wish.supersedes)
        if old is None or old.property_id != wish.property_id:
            raise WishRefused("supersedes", "not an order of this property")


def check_time(wish: Wish, now: datetime) -> None:
    """Raises WishRefused for a pickup that is too near or too far."""
    if wish.pickup_at is not None and not SOONEST <= wish.pickup_at - now <= LATEST:
        raise WishRefused("pickup_at", "15 minutes to 30 days from now")


def _orders(s: Session, wish: Wish, offer: Offer, now: datetime) -> list[int]:
    """An order for each car. The first has the guard; those after it are more cars for one guest on
    purpose.
    """
    guest = guests.remember(s, wish.property_id, request.told(wish), now, wish.staff_id)
    key = None
    if wish.pickup_at is None:  # today's ride does not block tomorrow's
        key = request.guard_of(wish.property_id, guest.name, guest.phone, guest.room, offer)
    busy = _busy(s, wish, key)
    group = request.new_group() if wish.cars > 1 else None
    made = []
    for number in range(1, wish.cars + 1):
        guard = key if number == 1 and not wish.override_guard else None
        try:
            order = request.draft(wish, offer, guest, guard, now, request.Car(number, group))
        except ValidationError as error:
            raise refused(error) from None
        s.add(order)
        s.flush()
        transitions.moment(s, order, "order", order.state, now)
        _record(s, wish, order, now, number, busy)
        made.append(order.id)
    return made


def _busy(s: Session, wish: Wish, key: str | None) -> int | None:
    """The guest's other open ride from there, overridden on purpose; None when there is none.

    Raises GuardBusy.
    """
    busy = (
        s.scalars(select(Order).where(Order.guard_key == key, Order.open)).first() if key else None
    )
    if key and busy is None:
        busy = request.other_car(s, wish.property_id, key)
    if busy is None:
        return None
    if not wish.override_guard:
        owner = s.get(Staff, busy.staff_id) if busy.staff_id else None
        raise GuardBusy(busy.id, owner.name if owner else None, busy.created_at)
    return busy.id


def refused(error: ValidationError) -> WishRefused:
    """What of a wish could not be put into a request."""
    first = error.errors()[0]
    return WishRefused(str((first["loc"] or ("wish",))[0]), first["msg"])


def _record(
    s: Session, wish: Wish, order: Order, now: datetime, number: int, busy: int | None
) -> None:
    """Who ordered what, and why a guest may have a second car: on purpose, or as a group."""
    facts: dict[str, Any] = {
        "offer": wish.offer_id,
        "override": wish.override_guard,
        "supersedes": wish.supersedes,
    }
    if busy is not None:
        facts["second_to"] = busy
    if order.group_key:
        facts |= {"car": number, "cars": wish.cars, "group": order.group_key}
        facts["override"] = "group" if number > 1 else wish.override_guard
    if order.pickup_at is not None:
        facts |= {"pickup_at": order.pickup_at.isoformat(), "due_at": order.due_at.isoformat()}
    who, subject = f"staff:{wish.staff_id}", f"orders:{order.id}"
    audit.record(
        s, who, "order.place", subject, order.state, now, property_id=order.property_id, **facts
    )
