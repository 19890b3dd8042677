"""Changes or withdraws a ride of a series together with all later rides of the series.

The *shown* ride is the one whose page is open; "onward" means this ride and the later ones.
Each ride stays an order of its own, with its own audit entry and timeline event. Only rides in the
state SCHEDULED are touched, and each is read under its lock: rides that are ordered already, were
withdrawn or are over stay as they are (docs/booking-protocol.md 1.2).

When the trip or the car changes, each ride needs a new price, for the car and the trip that it will
then have. These prices are requested from the service before anything is locked.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash.rides.accounts.tokens import NeedsReconnect, NoRefreshNow, call_with_token
from ridedash.rides.orders.change import Change, Overtaken, apply, differences, differs
from ridedash.rides.orders.due import CAR_GONE, reason_code
from ridedash.rides.orders.fields import CHANGEABLE, BookingRequest
from ridedash.rides.orders.place import RequestRefused, offer_of
from ridedash.rides.orders.request import offered, ordered_value, seat_prices
from ridedash.rides.runtime import Runtime
from ridedash.rides.state import transitions
from ridedash.rides.state.codes import WITHDRAWN
from ridedash.rides.times.schedule_times import departure_of, ride_on
from ridedash.service.errors import ServiceError
from ridedash.service.types.products import Product
from ridedash.store.actors import by_staff
from ridedash.store.database.database import Clock, Database, retry_conflict
from ridedash.store.models.orders import Offer, Order, OrderState
from ridedash.store.models.people import Guest
from ridedash.store.offers import OfferOwner, Trip, add_offer, trip_of
from ridedash.store.orders import order_of_staff
from ridedash.wire import Kind


class NoCarLater(RequestRefused):
    """The car of a later ride, at `pickup_at`, is not offered for its trip."""

    def __init__(self, pickup_at: datetime, car: str) -> None:
        super().__init__("later_car", car)
        self.pickup_at = pickup_at
        self.car = car


@dataclass(frozen=True)
class _PriceRequest:
    """A price that is requested from the service: a car for a trip, with an account's token."""

    trip: Trip
    category: str
    account_id: int


# the product for each price request; None if the car is not offered for the trip
Listed = Mapping[_PriceRequest, Product | None]


@dataclass(frozen=True)
class _Onward:
    """The changes of the shown ride, which are made in the later ones too.

    `changed` has names as `change.differences` gives them; `was` has the earlier values of the
    shown ride, by attribute of BookingRequest.
    """

    shown_id: int
    request: BookingRequest
    changed: Collection[str]
    trip: Trip
    category: str
    was: Mapping[str, Any]

    @property
    def is_priced(self) -> bool:
        """Whether the rides need new prices, because the trip or the car changes."""
        return bool({"trip", "category"} & set(self.changed))

    def price_request(self, s: Session, order: Order) -> _PriceRequest:
        """The price request for a later ride, with the car and trip that it will have."""
        trip = self.trip
        category = self.category
        account_id = order.account_id
        if "trip" not in self.changed:
            trip = trip_of(s.get_one(Offer, order.offer_id))
        if "category" not in self.changed:
            category = order.category
        if "account" in self.changed:
            account_id = self.request.account_id
        return _PriceRequest(trip, category, account_id)


def change_onward(runtime: Runtime, wanted: Change) -> int:
    """Change the shown ride, and make the same change in each later one that is still planned.

    A value that the request does not change in the shown ride stays as it is in every later one,
    for example its note, its car if only the trip changes, or its trip if only the car changes.
    Each ride keeps its day; a new time of day is in the request's zone, for the pickup and for the
    departure of a flight. Either all rides change or none. Returns how many rides were changed.

    Raises what `change` raises, and NoCarLater; RequestRefused("pickup_day") when the request moves
    the shown ride to another day, RequestRefused("later_price") when the service gives no price for
    a later ride.
    """
    listed = _listed(runtime, wanted)
    return retry_conflict(lambda: _change_onward(runtime, wanted, listed))


def _listed(runtime: Runtime, wanted: Change) -> Listed:
    """The products that the later rides need, as the service offers them now.

    Empty if neither the trip nor the car changes.
    """
    request = wanted.request
    # read without a lock: _change_onward() determines the changes again when the rides are locked
    with runtime.db.read() as s:
        shown = s.get(Order, wanted.order_id)
        if shown is None or shown.property_id != request.property_id:
            return {}
        old = s.get_one(Offer, shown.offer_id)
        offer = offer_of(s, request, runtime.clock())
        differ = {
            "trip": trip_of(old) != trip_of(offer),
            "category": old.category != offer.category,
        }
        changed = [name for name, other in differ.items() if other]
        if shown.account_id != request.account_id:
            changed.append("account")
        onward = _onward(shown, wanted, changed, offer)
        if not onward.is_priced:
            return {}
        later = [each for each in _planned_from(s, shown) if each.id != shown.id]
        requests = {onward.price_request(s, each) for each in later}
    return {each: _product(runtime, each) for each in requests}


def _product(runtime: Runtime, wanted: _PriceRequest) -> Product | None:
    """A car as the service offers it for a trip now; None if it does not. Raises RequestRefused."""
    trip = wanted.trip
    category = wanted.category
    try:
        listed = call_with_token(
            runtime.tokens,
            wanted.account_id,
            lambda token: runtime.client.products(trip.pickup, trip.drop, category, token),
        )
    except (ServiceError, NeedsReconnect, NoRefreshNow) as error:
        if isinstance(error, ServiceError) and reason_code(error) == CAR_GONE:
            return None
        raise RequestRefused("later_price", "no answer") from error
    return listed.product(category)


def _onward(shown: Order, wanted: Change, changed: Collection[str], offer: Offer) -> _Onward:
    """The changes to make; `offer` is the one that was chosen for the shown ride."""
    names = "flight", "departs_at", "flight_lands", "pickup_at"
    was = {name: getattr(shown, name) for name in names}
    return _Onward(shown.id, wanted.request, changed, trip_of(offer), offer.category, was)


def _change_onward(runtime: Runtime, wanted: Change, listed: Listed) -> int:
    now = runtime.clock()
    request = wanted.request
    with runtime.db.write() as s:
        shown, changed = differs(s, wanted, now)
        onward = _onward(shown, wanted, changed, offer_of(s, request, now))
        if not onward.changed:
            return 0
        tz = request.tz
        moved = "pickup_at" in onward.changed
        if moved and _day(request.pickup_at, tz) != _day(shown.pickup_at, tz):
            raise RequestRefused("pickup_day", "a series keeps its days")
        count = 0
        for order in _planned_from(s, shown):
            own = request if order.id == onward.shown_id else _of_ride(s, order, onward)
            if order.id != onward.shown_id and onward.is_priced:
                own = replace(own, offer_id=_own_offer(s, order, onward, listed, now))
            differing = differences(s, order, own, offer_of(s, own, now))
            if differing:
                apply(s, order, own, differing, now)
                count += 1
        return count


def _own_offer(s: Session, order: Order, onward: _Onward, listed: Listed, now: datetime) -> int:
    """Store the new price of a later ride as an offer. Returns the id of the offer.

    Raises NoCarLater and RequestRefused; Overtaken when the rides have changed since `listed`.
    """
    wanted = onward.price_request(s, order)
    if wanted not in listed:
        raise Overtaken(f"order {order.id}")
    product = listed[wanted]
    if product is None:
        old = s.get_one(Offer, order.offer_id)
        raise NoCarLater(order.pickup_at or order.due_at, old.display_name)
    if product.kind is Kind.SHARE and not seat_prices(product):
        raise RequestRefused("later_price", "no price for a shared ride")
    owner = OfferOwner(order.property_id, onward.request.actor, wanted.account_id)
    return add_offer(s, owner, wanted.trip, offered(product), now).id


def withdraw_onward(
    db: Database, clock: Clock, order_id: int, staff_id: int, shown: Collection[int]
) -> int:
    """Withdraw a ride of a series and each later one that is still planned.

    Only rides that the page has shown to the user are withdrawn: `shown` has their ids. Returns how
    many were withdrawn.
    """
    now = clock()
    with db.write() as s:
        order = order_of_staff(s, order_id, staff_id)
        if order is None or order.series_key is None:
            return 0
        planned = [each for each in _planned_from(s, order) if each.id in shown]
        for each in planned:
            each.code = WITHDRAWN
            each.resolved_by = staff_id
            to = OrderState.NOT_SENT
            who = by_staff(staff_id)
            transitions.change_state(s, each, to, now, who, code=WITHDRAWN, onward=order_id)
        return len(planned)


def _planned_from(s: Session, first: Order) -> list[Order]:
    """The rides of the series, from this one on, that are still planned, sorted by id.

    A write session locks the rides in this sequence, so that two changes can't deadlock.
    """
    query = select(Order).where(
        Order.property_id == first.property_id,
        Order.series_key == first.series_key,
        Order.pickup_at >= first.pickup_at,
        Order.state == OrderState.SCHEDULED,
    )
    if first.series_key is None:
        query = query.where(Order.id == first.id)
    return list(s.scalars(query.order_by(Order.id)))


def _of_ride(s: Session, order: Order, onward: _Onward) -> BookingRequest:
    """The request for a later ride: its own values, except those that the shown ride changes."""
    request = onward.request
    changed = onward.changed
    tz = onward.request.tz
    values: dict[str, Any] = {
        each.name: ordered_value(order, each) for each in CHANGEABLE if each.change not in changed
    }
    values["offer_id"] = order.offer_id
    values["override_guard"] = False  # staff chose it for the shown ride only
    if "category" in changed:  # the number of seats changes with the car
        values["seats"] = request.seats
    if "guest" not in changed:
        guest = s.get_one(Guest, order.guest_id)
        values |= {"guest_id": guest.id, "guest_name": guest.name, "guest_phone": guest.phone}
        values |= {
            "guest_phone2": guest.phone2,
            "guest_language": guest.language,
            "guest_note": guest.note,
        }
    if "pickup_at" in changed and request.pickup_at is not None and order.pickup_at is not None:
        clock = request.pickup_at.astimezone(tz).time()
        values["pickup_at"] = ride_on(order.pickup_at.astimezone(tz).date(), clock, tz).at
    if "flight" in changed:
        values |= _flight_of(order, onward)
    return replace(request, **values)


def _flight_of(order: Order, onward: _Onward) -> dict[str, Any]:
    """The flight of a later ride: the changed number, and the changed time on its own day."""
    request = onward.request
    flight = order.flight
    departs_at = order.departs_at
    lands = order.flight_lands
    if request.flight != onward.was["flight"]:
        flight = request.flight
    if request.flight_lands != onward.was["flight_lands"]:
        lands = request.flight_lands
    if request.departs_at != onward.was["departs_at"]:
        departs_at = request.departs_at
        first_at = onward.was["pickup_at"] or request.pickup_at
        if departs_at and first_at and order.pickup_at:
            departs_at = departure_of(
                order.pickup_at, first_at, departs_at, request.tz, lands=lands
            )
    return {"flight": flight, "departs_at": departs_at, "flight_lands": lands}


def _day(at: datetime | None, tz: ZoneInfo) -> object:
    if at is None:
        return None
    return at.astimezone(tz).date()
