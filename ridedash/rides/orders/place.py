"""Placing an order: a booking request becomes a row, in one commit, once for each form token.

Step T1 of docs/booking-protocol.md 1.3.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from ridedash.rides.orders import transitions
from ridedash.rides.orders.fields import MOST_CARS, BookingRequest
from ridedash.rides.orders.request import (
    Car,
    bill,
    build_order,
    guard_of,
    guest_of,
    new_group,
    other_car,
    request_digest,
)
from ridedash.rides.orders.schedule_times import LATEST, SOONEST
from ridedash.rides.runtime import Clock, Failpoint, no_failpoint
from ridedash.store import audit, guests
from ridedash.store.accounts import account_of, affiliate_uid_of
from ridedash.store.actors import by_staff
from ridedash.store.database.database import CommitUnknown, Database, DatabaseBusy, retry_conflict
from ridedash.store.models.orders import Offer, Order, OrderState
from ridedash.store.models.people import Staff
from ridedash.store.properties import cost_centre_of
from ridedash.wire import Kind

OFFER_LASTS: Final = timedelta(minutes=2)
UNSENT: Final = frozenset({OrderState.SCHEDULED, OrderState.WAITING, OrderState.READY})


@dataclass(frozen=True)
class Placed:
    """The order of a form token, all of them for a group.

    `created` is False when the same form was sent before.
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


class RequestRefused(PlaceError):
    """The request can't be ordered as it is; `field` names what is wrong with it.

    Seats are missing for a shared ride, the account is another property's, the coupon is malformed.
    """

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field, self.reason = field, reason


def place(
    db: Database, clock: Clock, request: BookingRequest, failpoint: Failpoint = no_failpoint
) -> Placed:
    """T1: one READY order in one commit (SCHEDULED with a pickup time), or the form token's order.

    Raises OfferUnknown, OfferStale, TokenReused, GuardBusy, RequestRefused; DatabaseBusy when
    nothing was ordered, CommitUnknown when it is not known whether it was: the same form pressed
    again finds the order or makes it (docs/booking-protocol.md 1.3).
    """
    now = clock()
    placed = _placed_before(db, request)  # a form that is sent again needs no write transaction
    try:
        placed = placed or retry_conflict(lambda: _place(db, request, now))
    except CommitUnknown as lost:
        placed = _place_after_lost_commit(db, request, now, lost)
    except DatabaseBusy:
        placed = _placed_before(
            db, request
        )  # another request with the same form may have been first
        if placed is None:
            raise
    if placed.created:
        failpoint("order.ready")
    return placed


def _placed_before(db: Database, request: BookingRequest) -> Placed | None:
    """The order that this form made already. Raises DatabaseBusy when it can't be read."""
    try:
        with db.read() as s:
            return _order_of_token(s, request)
    except SQLAlchemyError as error:
        raise DatabaseBusy("the database can't be read: nothing was written") from error


def _place_after_lost_commit(
    db: Database, request: BookingRequest, now: datetime, lost: CommitUnknown
) -> Placed:
    """The order that the lost commit wrote, found by its form token, else a new one."""
    try:
        return retry_conflict(lambda: _place(db, request, now))
    except (DatabaseBusy, SQLAlchemyError):
        raise lost from None  # "nothing was ordered" is not known


def _place(db: Database, request: BookingRequest, now: datetime) -> Placed:
    with db.write() as s:
        # From here on the same form, sent to another process, waits and then finds our order.
        guests.lock_guest(s, request.property_id, guest_of(request))
        before = _order_of_token(s, request)
        if before is not None:
            return before
        offer = offer_of(s, request, now)
        check(s, request, offer)
        check_time(request, now)
        ids = _orders(s, request, offer, now)
        return Placed(ids[0], created=True, order_ids=tuple(ids))


def _order_of_token(s: Session, request: BookingRequest) -> Placed | None:
    """The order of this form token.

    Raises OfferUnknown for a form of another property, TokenReused for other contents.
    """
    order = s.scalars(select(Order).where(Order.form_token == request.form_token)).first()
    if order is None:
        return None
    if order.property_id != request.property_id:
        raise OfferUnknown("the form was another property's")
    if order.form_digest != request_digest(request):
        raise TokenReused(order.id)
    if order.group_key is None:
        return Placed(order.id, created=False, order_ids=(order.id,))
    group = select(Order.id).where(Order.group_key == order.group_key).order_by(Order.id)
    return Placed(order.id, created=False, order_ids=tuple(s.scalars(group)))


def offer_of(s: Session, request: BookingRequest, now: datetime) -> Offer:
    """The offer of a request. Raises OfferUnknown and OfferStale.

    A planned ride is priced again when it is ordered, so its offer may be of any age.
    """
    offer = s.get(Offer, request.offer_id)
    if offer is None or offer.property_id != request.property_id:
        raise OfferUnknown(f"offer {request.offer_id}")
    if request.pickup_at is None and now - offer.fetched_at > OFFER_LASTS:
        s.expunge(offer)  # it stays readable when the transaction is undone
        raise OfferStale(offer)
    return offer


def check(s: Session, request: BookingRequest, offer: Offer) -> None:
    """Raises RequestRefused for a request that can't be ordered."""
    if account_of(s, request.property_id, request.account_id) is None:
        raise RequestRefused("account", "not an account of this property")
    if offer.account_id is not None and offer.fare_id and offer.account_id != request.account_id:
        raise RequestRefused("account", "the price was fixed for another account")
    if (offer.kind == Kind.SHARE) != (request.seats is not None):
        raise RequestRefused("seats", "1 or 2 for a shared ride, none for any other")
    if not 1 <= request.cars <= MOST_CARS:
        raise RequestRefused("cars", "1 to 6 in one go")
    centre_id = request.cost_centre_id
    if centre_id is not None and cost_centre_of(s, request.property_id, centre_id) is None:
        raise RequestRefused("cost_centre", "not a cost centre of this property")
    if request.supersedes is not None:
        old = s.get(Order, request.supersedes)
        if old is None or old.property_id != request.property_id:
            raise RequestRefused("supersedes", "not an order of this property")
        # read in a write session, so locked: undoing the withdrawal waits, or has won
        if old.state in UNSENT:
            raise RequestRefused("supersedes", "that order is on its way again")


def check_time(request: BookingRequest, now: datetime) -> None:
    """Raises RequestRefused for a pickup that is too near or too far."""
    if request.pickup_at is not None and not SOONEST <= request.pickup_at - now <= LATEST:
        raise RequestRefused("pickup_at", "15 minutes to 30 days from now")


def _orders(s: Session, request: BookingRequest, offer: Offer, now: datetime) -> list[int]:
    """An order for each car of the group; the first one has the duplicate-booking guard."""
    guest = guests.store_guest(s, request.property_id, guest_of(request), now, request.staff_id)
    key = None
    if request.pickup_at is None:  # today's ride does not block tomorrow's
        key = guard_of(request.property_id, guest.name, guest.phone, guest.room, offer)
    busy = _busy(s, request, key)
    group = new_group() if request.cars > 1 else None
    affiliate_uid = affiliate_uid_of(s, request.account_id)
    made = []
    for number in range(1, request.cars + 1):
        guard = key if number == 1 and not request.override_guard else None
        try:
            order = build_order(request, offer, guest, guard, now, Car(number, group))
            bill(order, affiliate_uid)
        except ValidationError as error:
            raise refused(error) from None
        s.add(order)
        s.flush()
        transitions.add_event(s, order, "order", order.state, now)
        _record(s, request, order, now, number, busy)
        made.append(order.id)
    return made


def _busy(s: Session, request: BookingRequest, key: str | None) -> int | None:
    """The guest's other open ride from the same pickup, where the guard is overridden.

    None when there is no such ride. Raises GuardBusy unless the request overrides the guard.
    """
    if key is None:
        return None
    busy = s.scalars(select(Order).where(Order.guard_key == key, Order.open)).first()
    busy = busy or other_car(s, request.property_id, key)
    if busy is None:
        return None
    if not request.override_guard:
        owner = s.get(Staff, busy.staff_id) if busy.staff_id else None
        raise GuardBusy(busy.id, owner.name if owner else None, busy.created_at)
    return busy.id


def refused(error: ValidationError) -> RequestRefused:
    """The field that the request to the service can't be built with."""
    first = error.errors()[0]
    return RequestRefused(str((first["loc"] or ("request",))[0]), first["msg"])


def _record(
    s: Session, request: BookingRequest, order: Order, now: datetime, number: int, busy: int | None
) -> None:
    """The audit entry: who ordered what, and why a guest may have a second car."""
    facts: dict[str, Any] = {
        "offer": request.offer_id,
        "override": request.override_guard,
        "supersedes": request.supersedes,
    }
    if busy is not None:
        facts["second_to"] = busy
    if order.group_key:
        facts |= {"car": number, "cars": request.cars, "group": order.group_key}
        facts["override"] = "group" if number > 1 else request.override_guard
    if order.pickup_at is not None:
        facts |= {"pickup_at": order.pickup_at.isoformat(), "due_at": order.due_at.isoformat()}
    who, subject = by_staff(request.staff_id), f"orders:{order.id}"
    facts["property_id"] = order.property_id
    audit.record(s, who, "order.place", subject, order.state, now, **facts)
