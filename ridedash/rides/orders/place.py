"""Places an order: stores a booking request as a row, in one commit, once for each form token.

Step T1 of docs/booking-protocol.md 1.3.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from ridedash.rides.orders.fields import MOST_CARS, BookingRequest
from ridedash.rides.orders.guard import Allowed, PressGuard, check_not_replaced
from ridedash.rides.orders.press import Part, PlaceError, parts, tokens_of
from ridedash.rides.orders.request import (
    bill,
    build_order,
    guest_of,
    new_group,
    request_digest,
)
from ridedash.rides.runtime import Failpoint, no_failpoint
from ridedash.rides.state import transitions
from ridedash.rides.state.states import UNSENT
from ridedash.rides.times import schedule_times
from ridedash.store import audit, guests
from ridedash.store.accounts import account_of, affiliate_uid_of
from ridedash.store.database.database import (
    Clock,
    CommitUnknown,
    Database,
    DatabaseBusy,
    retry_conflict,
)
from ridedash.store.models.orders import Offer, Order
from ridedash.store.models.people import Guest
from ridedash.store.offers import (
    OfferOwner,
    Priced,
    Trip,
    add_offer,
    fixed_price_categories,
    trip_of,
)
from ridedash.store.orders import order_of_form
from ridedash.store.properties import cost_centre_of
from ridedash.wire import Kind

# a price that is older may have changed; the page asks anew before
OFFER_LASTS: Final = timedelta(minutes=2)
# an offer further in the future was stored before a clock stepped back: its age is unknown
OFFER_AHEAD: Final = timedelta(minutes=1)


@dataclass(frozen=True)
class Placed:
    """The order of a form token; for a group, its orders.

    `created` is False when the same form was sent before.
    """

    order_id: int
    created: bool
    order_ids: tuple[int, ...] = ()


class CommitHooks(Protocol):
    """Hooks into the commit of a new order; for a kiosk, its limits and its ticket."""

    def before(self, s: Session, offer: Offer, now: datetime) -> None:
        """Called before anything is stored. Raises a PlaceError if nothing may be ordered."""

    def after(self, s: Session, order_id: int, now: datetime) -> None:
        """Called when the row of the order exists."""


class OfferUnknown(PlaceError):
    """The offer does not exist or belongs to another property."""


class OfferStale(PlaceError):
    """The offer is not fresh (`is_fresh`): show it beside a fresh price, and ask again."""

    def __init__(self, old: Offer) -> None:
        super().__init__(f"offer {old.id} is older than two minutes")
        self.old = old


class TokenReused(PlaceError):
    """This form token was used with other contents: answer 409 and point to that order."""

    def __init__(self, order_id: int) -> None:
        super().__init__(f"the form of order {order_id} was sent again with other contents")
        self.order_id = order_id


class RequestRefused(PlaceError):
    """The request can't be ordered as it is; `field` names what is wrong with it.

    For example: seats are missing for a shared ride, the account is another property's, or the
    coupon is malformed.
    """

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


def place(
    db: Database,
    clock: Clock,
    request: BookingRequest,
    failpoint: Failpoint = no_failpoint,
    hooks: CommitHooks | None = None,
) -> Placed:
    """T1: make a READY order (SCHEDULED with a pickup time), or find the one of this form token.

    It is made in one commit, in which `hooks` take part (docs/booking-protocol.md 1.3). Raises
    OfferUnknown, OfferStale, TokenReused, GuardBusy, RequestRefused and what `hooks` raise;
    DatabaseBusy when nothing was ordered; CommitUnknown when it is not known whether an order was
    made: the same form, sent again, finds it or makes it.
    """
    now = clock()
    placed = _placed_before(db, request)  # a form that is sent again needs no write transaction
    try:
        placed = placed or retry_conflict(lambda: _place(db, request, now, hooks))
    except CommitUnknown as lost:
        placed = _place_after_lost_commit(lambda: _place(db, request, now, hooks), lost)
    except DatabaseBusy:
        # another request with the same form may have come first
        placed = _placed_before(db, request)
        if placed is None:
            raise
    if placed.created:
        failpoint("order.ready")
    return placed


def _placed_before(db: Database, request: BookingRequest) -> Placed | None:
    """The order that this form has made already. Raises DatabaseBusy when it can't be read."""
    try:
        with db.read() as s:
            return placed_before(s, request)
    except SQLAlchemyError as error:
        raise DatabaseBusy("the database can't be read: nothing was written") from error


def _place_after_lost_commit(again: Callable[[], Placed], lost: CommitUnknown) -> Placed:
    """The order that the lost commit wrote, found by its form token; otherwise a new order."""
    try:
        return retry_conflict(again)
    except (DatabaseBusy, SQLAlchemyError):
        raise lost from None  # it is unknown whether something was ordered


def _place(
    db: Database, request: BookingRequest, now: datetime, hooks: CommitHooks | None
) -> Placed:
    press = parts(request, new_group)
    with db.write() as s:
        # From here on another request with the same form waits, and then finds our order.
        _lock_guests(s, request.property_id, press)
        before = placed_before(s, request)
        if before is not None:
            return before
        offer = offer_of(s, request, now)
        check_request(s, request, offer)
        _check_all_times(request, now)
        if hooks is not None:
            hooks.before(s, offer, now)
        ids = _orders(s, request, press, offer, now)
        if hooks is not None:
            hooks.after(s, ids[0], now)
        return Placed(ids[0], created=True, order_ids=tuple(ids))


def _lock_guests(s: Session, property_id: int, press: Sequence[Part]) -> None:
    """Lock each guest of the press, always in the same order, so that no two forms wait for each
    other.
    """
    stated = {guest_of(part.request) for part in press}
    for each in sorted(stated, key=lambda guest: (guest.phone or "", guest.room or "", guest.name)):
        guests.lock_guest(s, property_id, each)


def placed_before(s: Session, request: BookingRequest, **beside: Any) -> Placed | None:
    """The order that this form has made before.

    `beside` has what the form says beside the request, by column. Raises OfferUnknown for a form of
    another property, TokenReused for other contents.
    """
    order = order_of_form(s, request.form_token)
    if order is None:
        return None
    if order.property_id != request.property_id:
        raise OfferUnknown("the form was another property's")
    said = {"form_digest": request_digest(request), **beside}
    if said != {column: getattr(order, column) for column in said}:
        raise TokenReused(order.id)
    made = select(Order.id).where(Order.form_token.in_(tokens_of(request.form_token)))
    return Placed(order.id, created=False, order_ids=tuple(s.scalars(made.order_by(Order.id))))


def offer_of(s: Session, request: BookingRequest, now: datetime) -> Offer:
    """The offer of a request. Raises OfferUnknown and OfferStale.

    A planned ride is priced again when it is ordered, so its offer may be of any age.
    """
    offer = s.get(Offer, request.offer_id)
    if offer is None or offer.property_id != request.property_id:
        raise OfferUnknown(f"offer {request.offer_id}")
    if request.pickup_at is None and not is_fresh(offer, now):
        s.expunge(offer)  # it remains readable after a rollback
        raise OfferStale(offer)
    return offer


def is_fresh(offer: Offer, now: datetime) -> bool:
    """Whether the price of an offer is recent enough to be ordered as it was shown."""
    return -OFFER_AHEAD <= now - offer.fetched_at <= OFFER_LASTS


def check_request(s: Session, request: BookingRequest, offer: Offer) -> None:
    """Raises RequestRefused if a request can't be ordered, and GuardBusy if it was booked again."""
    if account_of(s, request.property_id, request.account_id) is None:
        raise RequestRefused("account", "not an account of this property")
    if offer.account_id is not None and offer.fare_id and offer.account_id != request.account_id:
        raise RequestRefused("account", "the price was fixed for another account")
    if (offer.kind == Kind.SHARE) != (request.seats is not None):
        raise RequestRefused("seats", "1 or 2 for a shared ride, none for any other")
    if offer.drop_lat is None and _needs_drop(s, offer):
        raise RequestRefused("drop", "a fixed price needs a drop")
    if not 1 <= request.cars <= MOST_CARS:
        raise RequestRefused("cars", f"1 to {MOST_CARS} in one go")
    centre_id = request.cost_centre_id
    if centre_id is not None and cost_centre_of(s, request.property_id, centre_id) is None:
        raise RequestRefused("cost_centre", "not a cost centre of this property")
    if request.supersedes is not None:
        old = s.get(Order, request.supersedes)
        if old is None or old.property_id != request.property_id:
            raise RequestRefused("supersedes", "not an order of this property")
        # read in a write session, and therefore locked: undoing the withdrawal waits, or came first
        if old.state in UNSENT:
            raise RequestRefused("supersedes", "that order is on its way again")
        check_not_replaced(s, request)


def _needs_drop(s: Session, offer: Offer) -> bool:
    """Whether the service would refuse this car without a drop, as its price is fixed."""
    if offer.kind == Kind.SHARE:
        return True
    return offer.category in fixed_price_categories(s, offer.property_id)


def check_pickup_time(
    request: BookingRequest, now: datetime, latest: timedelta = schedule_times.LATEST
) -> None:
    """Raises RequestRefused for a pickup that is too soon, or later than `latest` from now."""
    soonest = schedule_times.SOONEST
    if request.pickup_at is not None and not soonest <= request.pickup_at - now <= latest:
        minutes = soonest // timedelta(minutes=1)
        raise RequestRefused("pickup_at", f"{minutes} minutes to {latest.days} days from now")


def _check_all_times(request: BookingRequest, now: datetime) -> None:
    """Raises RequestRefused if a pickup, a way back or a ride of a series has a wrong time."""
    if request.series:
        if len(request.series) > schedule_times.MOST_RIDES:
            raise RequestRefused("series", "more rides than one series may have")
        if request.cars > 1 or request.back_at is not None or request.coupon:
            raise RequestRefused("series", "a series is of one car, one way, without a coupon")
        if list(request.series) != sorted(set(request.series)):
            raise RequestRefused("series", "its times are not in order")
        for at in request.series:
            check_pickup_time(replace(request, pickup_at=at), now, schedule_times.SERIES_LATEST)
        return
    check_pickup_time(request, now)
    if request.back_at is None:
        return
    if request.back_at <= (request.pickup_at or now):
        raise RequestRefused("back_at", "not after the way there")
    try:
        check_pickup_time(replace(request, pickup_at=request.back_at), now)
    except RequestRefused as error:
        raise RequestRefused("back_at", str(error)) from None


def _orders(
    s: Session, request: BookingRequest, press: Sequence[Part], offer: Offer, now: datetime
) -> list[int]:
    """An order for each part of the press; the first car of each guest that leaves now has the
    duplicate-booking guard.
    """
    affiliate_uid = affiliate_uid_of(s, request.account_id)
    form_digest = request_digest(request)
    back_offer = None if request.back_at is None else _offer_back(s, request, offer, now)
    guard = PressGuard(s, request)
    stored: dict[guests.GuestDetails, Guest] = {}
    new_ids: dict[int, int] = {}  # ids of the new orders, by number
    for part in press:
        own = part.request
        own_offer = back_offer if back_offer and part.back_of else offer
        guest = stored.get(guest_of(own)) or _store_guest(s, own, now)
        # one row for all orders of a guest, also if only the name is known
        stored[guest_of(own)] = guest
        allowed = guard.allow(part, guest, own_offer, new_ids.values())
        try:
            order = build_order(part, own_offer, guest, allowed.key, form_digest, now)
            bill(order, affiliate_uid)
        except ValidationError as error:
            raise refused(error) from None
        order.back_of = new_ids.get(part.back_of or 0)
        if own.pickup_at is None and allowed.of_group:
            order.guard_override_by = request.staff_id
        s.add(order)
        s.flush()
        transitions.add_event(s, order, "order", order.state, now)
        _record(s, request, part, order, allowed)
        new_ids[part.number] = order.id
    return list(new_ids.values())


def _store_guest(s: Session, request: BookingRequest, now: datetime) -> Guest:
    """The guest's row. What is typed at a kiosk is never stored in a row that the desk knows."""
    if request.actor.kiosk_id is not None:
        return guests.store_stranger(s, request.property_id, guest_of(request), now)
    return guests.store_guest(s, request.property_id, guest_of(request), now, request.staff_id)


def _offer_back(s: Session, request: BookingRequest, offer: Offer, now: datetime) -> Offer:
    """The offer of the way back: the same car with the ends swapped, and the price that was shown
    for it, if any; it gets a new price when it is ordered. Raises RequestRefused if the drop is
    unknown.
    """
    there = trip_of(offer)
    if there.drop is None:
        raise RequestRefused("back_at", "no drop to come back from")
    trip = Trip(there.drop, there.drop_name, there.pickup, there.pickup_name)
    shown = s.get(Offer, request.back_offer_id) if request.back_offer_id else None
    if shown is not None and _is_of(shown, request, trip, offer.category):
        return shown
    unpriced = {"estimate": None, "share": None}
    priced = Priced(
        category=offer.category,
        kind=offer.kind,
        display_name=offer.display_name,
        currency=offer.currency,
        price_text="",
        product={**offer.product, **unpriced},
        cancellation=offer.cancellation,
    )
    owner = OfferOwner(request.property_id, request.actor, offer.account_id)
    return add_offer(s, owner, trip, priced, now)


def _is_of(shown: Offer, request: BookingRequest, trip: Trip, category: str) -> bool:
    """Whether an offer is this property's, for this trip and this car."""
    ours = shown.property_id == request.property_id
    return ours and trip_of(shown) == trip and shown.category == category


def refused(error: ValidationError) -> RequestRefused:
    """The error that names the field because of which the request to the service can't be built."""
    first = error.errors()[0]
    return RequestRefused(str((first["loc"] or ("request",))[0]), first["msg"])


def _record(
    s: Session, request: BookingRequest, part: Part, order: Order, allowed: Allowed
) -> None:
    """Write the audit entry: the actor, the order, and why the guest may have a second car."""
    facts: dict[str, Any] = {
        "offer": order.offer_id,
        "override": part.request.override_guard,
        "supersedes": request.supersedes,
    }
    if allowed.open_order_id is not None:
        facts["second_to"] = allowed.open_order_id
    if order.group_key:
        # the ways back are numbered after the cars
        number = part.number if part.back_of is None else part.number - request.cars
        facts |= {"car": number, "cars": request.cars, "group": order.group_key}
        facts["override"] = "group" if allowed.of_group else part.request.override_guard
    if order.back_of is not None:
        facts["back_of"] = order.back_of
    if order.series_key:
        facts |= {"ride": part.number, "rides": len(request.series)}
        facts["series"] = order.series_key
    if order.pickup_at is not None:
        facts |= {"pickup_at": order.pickup_at.isoformat(), "due_at": order.due_at.isoformat()}
    who = request.actor
    subject = f"orders:{order.id}"
    facts["property_id"] = order.property_id
    audit.record(s, who, "order.place", subject, order.state, order.created_at, **facts)
