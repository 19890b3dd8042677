"""A ride that the guest starts: its order waits for a press, within limits that staff have set.

See docs/booking-protocol.md 1.8. The order is WAITING until a person presses: the guest by their
link, or staff. Then the price of the same car is requested again. Within the limits the order
becomes READY in one commit, and is sent like any other; otherwise nothing is ordered, and staff are
told. A later press finds that the order no longer waits.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_CEILING, Decimal
from typing import Any, Final

from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash.rides.accounts.tokens import NeedsReconnect, NoRefreshNow, call_with_token
from ridedash.rides.orders import request as requests
from ridedash.rides.orders.due import CAR_GONE, GUARD_BUSY, NO_PRICE, reason_code
from ridedash.rides.orders.fields import BookingRequest
from ridedash.rides.orders.guard import OtherRideOpen, key_when_due
from ridedash.rides.orders.place import (
    OfferUnknown,
    Placed,
    RequestRefused,
    check_request,
    placed_before,
)
from ridedash.rides.orders.press import Part
from ridedash.rides.runtime import Runtime
from ridedash.rides.state import transitions
from ridedash.rides.state.codes import NO_CONNECTION, NOT_BUILT, START_MISSED
from ridedash.service.errors import ServiceError
from ridedash.service.types.products import Product
from ridedash.store import audit, guests
from ridedash.store.accounts import affiliate_uid_of
from ridedash.store.actors import WORKER, Actor
from ridedash.store.database.database import Clock, Database, retry_conflict
from ridedash.store.models.orders import Offer, Order, OrderState
from ridedash.store.models.people import Property
from ridedash.store.offers import OfferOwner, add_offer, trip_of
from ridedash.store.orders import placed_by
from ridedash.wire import Kind

SHORTEST: Final = timedelta(minutes=10)  # less, and a guest who is still packing would find it over
# a ride for the day; later ones are planned with a pickup time
LONGEST: Final = timedelta(hours=24)
MOST_MINOR: Final = 2**31 - 1  # the largest value of the ceiling's column
# reasons why a press ordered nothing; others are in rides/state/codes.py and due.py
ABOVE: Final = "START_ABOVE"  # the current price is above the ceiling
START_METERED: Final = "START_METERED"  # the price was fixed and is now metered
START_HELD: Final = "START_HELD"  # the database was restored: staff decide


@dataclass(frozen=True)
class Limits:
    """The latest time at which the guest may start the ride, and its highest price."""

    until: datetime
    ceiling: Decimal


class NotStarted(Exception):
    """A press ordered nothing. `code` says why; `price` is the current one, if it was requested."""

    def __init__(self, code: str, price: Decimal | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.price = price


def wait_for_guest(db: Database, clock: Clock, request: BookingRequest, limits: Limits) -> Placed:
    """Step T1 for a ride that the guest starts: make a WAITING order, or return the token's order.

    Raises OfferUnknown, TokenReused, RequestRefused; DatabaseBusy and CommitUnknown like `place`.
    """
    now = clock()
    return retry_conflict(lambda: _wait(db, request, limits, now))


def start(runtime: Runtime, order_id: int, actor: Actor) -> bool:
    """Handle a press: WAITING to READY. False when the order no longer waits.

    Raises NotStarted when nothing was ordered, and tells staff; LookupError when there is no such
    order; DatabaseBusy and CommitUnknown like `place`: the next press shows whether it was ordered.
    """
    with runtime.db.read() as s:
        order = s.get(Order, order_id)
        if order is None:
            raise LookupError(f"order {order_id}")
        offer = s.get_one(Offer, order.offer_id)
        home = s.get_one(Property, order.property_id)
    if order.state != OrderState.WAITING:
        return False
    try:
        _check_limits(order, runtime.clock())
        product = _product(runtime, order, offer, home.currency)
        return retry_conflict(lambda: _make_ready(runtime, order_id, product, actor))
    except NotStarted as reason:
        _tell_staff(runtime, order_id, actor, reason)
        raise


def may_start(order: Order, now: datetime) -> bool:
    """Whether a press could start this order now, as far as the row shows."""
    waits = order.state == OrderState.WAITING and order.held_at is None
    return waits and order.guest_until is not None and now < order.guest_until


def price_of(product: Product, seats: int | None) -> Decimal | None:
    """The highest price of one car of a product, as the service states it; None without a price.

    A fixed price, or the upper end of an estimate, which the meter may exceed (`is_metered`). An
    estimate without an upper end gives None.
    """
    if product.packages:
        return None
    if product.kind is Kind.SHARE:
        fares = product.share.fares if product.share else ()
        return next((fare.cost for fare in fares if fare.seats == seats), None)
    estimate = product.estimate
    if estimate is None:
        return None
    if not is_metered(product):
        return estimate.upfront_fare
    if estimate.amount_max is None:
        return None
    return max(estimate.amount_max, estimate.amount_min or estimate.amount_max)


def is_metered(product: Product) -> bool:
    """Whether the final price is known only after the ride."""
    if product.kind is Kind.SHARE:
        return False
    estimate = product.estimate
    return estimate is None or not estimate.upfront or estimate.upfront_fare is None


def in_minor(amount: Decimal) -> int:
    """An amount in hundredths, rounded up."""
    return int((amount * 100).to_integral_value(ROUND_CEILING))


def end_missed(s: Session, order: Order, now: datetime) -> None:
    """End an order that no one started in time: WAITING to NOT_SENT."""
    order.code = START_MISSED
    transitions.change_state(s, order, OrderState.NOT_SENT, now, WORKER, code=START_MISSED)


def _wait(db: Database, request: BookingRequest, limits: Limits, now: datetime) -> Placed:
    with db.write() as s:
        guests.lock_guest(s, request.property_id, requests.guest_of(request))
        ceiling_minor = in_minor(limits.ceiling)
        before = placed_before(s, request, guest_until=limits.until, ceiling_minor=ceiling_minor)
        if before is not None:
            return before
        offer = s.get(Offer, request.offer_id)
        if offer is None or offer.property_id != request.property_id:
            raise OfferUnknown(f"offer {request.offer_id}")
        check_request(s, request, offer)
        _check_waiting_request(request, limits, now)
        guest = guests.store_guest(
            s, request.property_id, requests.guest_of(request), now, request.staff_id
        )
        try:
            digest = requests.request_digest(request)
            order = requests.build_order(Part(1, request), offer, guest, None, digest, now)
            requests.bill(order, affiliate_uid_of(s, request.account_id))
        except ValidationError:
            raise RequestRefused("offer", "the request can't be built") from None
        order.state = OrderState.WAITING
        order.open = False
        order.ready_at = None
        order.guest_until = order.due_at = limits.until
        order.ceiling_minor = ceiling_minor
        s.add(order)
        s.flush()
        transitions.add_event(s, order, "order", order.state, now)
        facts: dict[str, Any] = {"property_id": order.property_id, "offer": offer.id}
        facts |= {"until": limits.until.isoformat(), "ceiling": str(limits.ceiling)}
        who = request.actor
        subject = f"orders:{order.id}"
        audit.record(s, who, "order.place", subject, order.state, now, **facts)
        return Placed(order.id, created=True, order_ids=(order.id,))


def _check_waiting_request(request: BookingRequest, limits: Limits, now: datetime) -> None:
    planned = request.pickup_at is not None or request.back_at is not None
    if planned or request.cars != 1:
        raise RequestRefused("cars", "one car, and no pickup time")
    if not SHORTEST <= limits.until - now <= LONGEST:
        raise RequestRefused("until", "10 minutes to 24 hours from now")
    if not 0 < in_minor(limits.ceiling) <= MOST_MINOR:
        raise RequestRefused("ceiling", "more than nothing")


def _check_limits(order: Order, now: datetime) -> None:
    """Raises NotStarted when the order is held, or can't be started any more."""
    if order.held_at is not None:
        raise NotStarted(START_HELD)
    if not may_start(order, now):
        raise NotStarted(START_MISSED)


def _product(runtime: Runtime, order: Order, offer: Offer, usual: str | None) -> Product:
    """The car of the order as it is offered now, within the ceiling. Raises NotStarted.

    `usual` is the property's currency, which staff saw if the offer had none.
    """
    client = runtime.client
    trip = trip_of(offer)
    if client.traffic.is_open(write=True):
        raise NotStarted(NO_CONNECTION)
    try:
        listed = call_with_token(
            runtime.tokens,
            order.account_id,
            lambda token: client.products(trip.pickup, trip.drop, order.category, token),
        )
    except ServiceError as error:
        raise NotStarted(reason_code(error)) from error
    except (NeedsReconnect, NoRefreshNow) as error:
        raise NotStarted(error.code) from None
    product = listed.product(order.category)
    if product is None:
        raise NotStarted(CAR_GONE)
    price = price_of(product, order.seats)
    agreed = offer.currency, offer.currency or usual
    if price is None or product.currency not in agreed:
        raise NotStarted(NO_PRICE)
    if offer.seat_prices and is_metered(product):
        raise NotStarted(START_METERED)  # no one has agreed to a metered price
    if in_minor(price) > (order.ceiling_minor or 0):
        raise NotStarted(ABOVE, price)
    return product


def _make_ready(runtime: Runtime, order_id: int, product: Product, actor: Actor) -> bool:
    """WAITING to READY in one commit, with a new offer and a new frozen body.

    It also stores the duplicate-booking guard and the actor. False when another press, a withdrawal
    or the end of the time came first.
    """
    now = runtime.clock()
    priced = requests.offered(product)
    with runtime.db.write() as s:
        order = s.scalars(select(Order).where(Order.id == order_id)).one()
        if order.state != OrderState.WAITING:
            return False
        _check_limits(order, now)
        try:
            body = requests.restated(
                order.body,
                fare_id=priced.fare_id,
                affiliate_uid=affiliate_uid_of(s, order.account_id),
            )
        except ValidationError:
            raise NotStarted(NOT_BUILT) from None
        try:
            order.guard_key = key_when_due(s, order)
        except OtherRideOpen:
            raise NotStarted(GUARD_BUSY) from None
        trip = trip_of(s.get_one(Offer, order.offer_id))
        owner = OfferOwner(order.property_id, placed_by(order), order.account_id)
        order.offer_id = add_offer(s, owner, trip, priced, now).id
        order.body = body
        order.body_digest = requests.digest(body)
        order.ready_at = order.due_at = now
        order.message = None
        order.started_by = str(actor)
        transitions.change_state(s, order, OrderState.READY, now, actor, offer=order.offer_id)
    runtime.failpoint("order.ready")
    return True


def _tell_staff(runtime: Runtime, order_id: int, actor: Actor, reason: NotStarted) -> None:
    """Record a press that ordered nothing, and raise the attention item with the reason."""
    now = runtime.clock()
    with runtime.db.write() as s:
        order = s.scalars(select(Order).where(Order.id == order_id)).one()
        facts = {"property_id": order.property_id, "code": reason.code}
        if reason.price is not None:
            facts["price"] = str(reason.price)
        subject = f"orders:{order.id}"
        audit.record(s, actor, "order.not_started", subject, "refused", now, **facts)
        if not may_start(order, now):
            return
        transitions.clear_attention(s, order, transitions.NOT_STARTED, now)
        transitions.raise_attention(s, order, transitions.NOT_STARTED, reason.code, now)
        # pages of the guest and of the desk show the price that was too high
        order.message = None if reason.price is None else str(reason.price)
        order.version += 1
