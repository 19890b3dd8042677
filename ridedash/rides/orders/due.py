"""Planned rides that come due: priced afresh and put to READY, so that the ordinary protocol sends
them (1.3, 1.6).

Until the service is known to answer an order stays SCHEDULED: a try in vain is repeated until ten
minutes after the pickup time, and a person is told of the first one. READY is reached once; from
there no send is repeated by itself. I7 counts from `ready_at`, which is the due time unless this
worker was late.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pydantic import ValidationError
from sqlalchemy import ColumnElement, func, or_, select, update
from sqlalchemy.orm import Session

from ridedash import wire
from ridedash.rides.accounts.tokens import ELSEWHERE, AccountTokens, NeedsReconnect, NoRefreshNow
from ridedash.rides.codes import (
    NO_ANSWER,
    NO_CONNECTION,
    NOT_BUILT,
    PLAN_MISSED,
    RATE_LIMITED,
    RECONNECT,
)
from ridedash.rides.orders import request, transitions
from ridedash.rides.orders.answer_journal import BlackBox
from ridedash.rides.orders.schedule_times import WINDOW, wait_after
from ridedash.rides.runtime import Clock, Failpoint, no_failpoint
from ridedash.service.client import RideClient
from ridedash.service.errors import (
    NoAnswer,
    RateLimited,
    Refused,
    ServiceError,
    Throttled,
    Unauthorized,
)
from ridedash.service.throttle.traffic import Priority
from ridedash.service.types.bookings import NewBooking
from ridedash.service.types.products import Product, ProductList
from ridedash.store.database.database import Database, retry_conflict
from ridedash.store.models.orders import Offer, Order, OrderState
from ridedash.store.models.people import Guest
from ridedash.store.orders import OfferOwner, Priced, Trip, add_offer, trip_of

# why a planned ride can't be ordered yet, beside our codes of classify.py and the service's own
CAR_GONE: Final = "PLAN_CAR_GONE"  # the category is not offered at the pickup now
NO_PRICE: Final = "PLAN_NO_PRICE"  # a fixed price is due and the service gave none
GUARD_BUSY: Final = "PLAN_GUARD_BUSY"  # the guest has an open ride from there
NO_BOX: Final = "PLAN_NO_BOX"  # an answer could not be kept, so nothing is sent
NO_WORKER: Final = "PLAN_NO_WORKER"  # nobody was there to try
REFUSED: Final = "PLAN_REFUSED"  # the service refused to say, and gave no code
SHORT_S: Final = 5.0  # a wait for a turn that the sender has time for


class NotYet(Exception):
    """A planned ride can't be ordered now; `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def check_room(client: RideClient) -> None:
    """Raise NotYet while a send would be held back: READY lasts 30 s only."""
    if client.traffic.wait_s(Priority.WRITE) > SHORT_S:
        raise NotYet(NO_CONNECTION if client.traffic.is_open(write=True) else RATE_LIMITED)


def ask_again(
    client: RideClient, tokens: AccountTokens, order: Order, trip: Trip, *, fixed: bool
) -> Product:
    """The order's car as it is offered now, to its account; `fixed`: its price was.

    Raises NotYet.
    """
    try:
        listed = _listed(client, tokens, order, trip)
    except ServiceError as error:
        raise NotYet(_why(error)) from error
    except (NeedsReconnect, NoRefreshNow) as error:
        raise NotYet(error.code) from None
    product = listed.product(order.category)
    if product is None:
        raise NotYet(CAR_GONE)
    if not _priced(product, order.seats, fixed):
        raise NotYet(NO_PRICE)
    return product


def _listed(client: RideClient, tokens: AccountTokens, order: Order, trip: Trip) -> ProductList:
    token = tokens.bearer(order.account_id)
    try:
        return client.products(trip.pickup, trip.drop, order.category, token)
    except Unauthorized:
        fresh = tokens.refreshed(order.account_id, token)
        return client.products(trip.pickup, trip.drop, order.category, fresh)


def _priced(product: Product, seats: int | None, fixed: bool) -> bool:
    """Whether a price is there where one must be: fixed for shared rides, fixed or by the meter
    where it was fixed.
    """
    if product.kind is wire.Kind.SHARE:
        fares = product.share.fares if product.share else ()
        return any(fare.seats == seats and fare.cost is not None for fare in fares)
    estimate = product.estimate
    by_meter = estimate is not None and (estimate.amount_min or estimate.amount_max) is not None
    return not fixed or by_meter or (estimate is not None and estimate.upfront)


def _why(error: ServiceError) -> str:
    if isinstance(error, RateLimited) or (
        isinstance(error, Throttled) and error.why == Throttled.LIMITED
    ):
        return RATE_LIMITED
    if isinstance(error, Unauthorized):
        return RECONNECT
    if isinstance(error, Refused):
        wanted = wire.normal_code(error.code or "")
        gone = {
            wire.normal_code(code)
            for code in (wire.INVALID_CAR_CATEGORY, wire.INVALID_CITY_CAR_CATEGORY)
        }
        return CAR_GONE if wanted in gone else error.code or REFUSED
    return NO_CONNECTION if isinstance(error, NoAnswer) and not error.sent else NO_ANSWER


def same_with(body: str, fare_id: str | None) -> str:
    """The frozen request with today's fixed price. Raises pydantic.ValidationError."""
    asked = NewBooking.model_validate_json(body).model_dump()
    return NewBooking.model_validate(asked | {"fare_id": fare_id}).model_dump_json()


LEASE: Final = timedelta(seconds=60)  # longer than the questions of one try take
LATE: Final = timedelta(seconds=60)  # later than this after the due time is worth a word
ORDERED_LATE: Final = "ordered_late"  # an event of the timeline; its detail is minutes


@dataclass(frozen=True)
class Claim:
    """The right to try one order until `until`; whoever changes or withdraws it meanwhile ends that
    right.
    """

    order: Order
    trip: Trip
    fixed: bool  # whether its price was a fixed one when it was planned
    until: datetime


class Promoter:
    """Orders planned rides for one worker. Safe to share between threads."""

    def __init__(
        self,
        db: Database,
        client: RideClient,
        tokens: AccountTokens,
        box: BlackBox,
        clock: Clock,
        *,
        owner: str = "worker",
        at: Failpoint = no_failpoint,
    ) -> None:
        self.db, self.client, self.tokens, self.box, self.clock = db, client, tokens, box, clock
        self.owner, self.at = owner, at
        self.closed = False  # a worker that ends makes nothing READY: it would not send it

    def due(self, limit: int) -> Sequence[int]:
        """Planned orders that may be tried now, the longest due first."""
        now = self.clock()
        # whoever has the key goes first, after each try
        since = func.coalesce(Order.lease_until, Order.due_at)
        ours = or_(since <= now - ELSEWHERE, ~self.tokens.foreign(Order.account_id))
        query = select(Order.id).where(*_due(now), ours).order_by(Order.due_at).limit(limit)
        with self.db.read() as s:
            return s.scalars(query).all()

    def promote(self, order_id: int) -> bool:
        """One try. False when there was nothing to do, or somebody else does it."""
        claim = self._claim(order_id)
        if claim is None:
            return False
        self.at("plan.claimed")
        if self.clock() > _ends(claim.order):
            return self._missed(claim)
        try:
            product = self._asked(claim)
            self.at("plan.asked")
            retry_conflict(lambda: self._ready(claim, product))
        except NotYet as reason:
            self._not_yet(claim, reason.code)
        self.at("plan.ready")
        return True

    def _claim(self, order_id: int) -> Claim | None:
        """Ours when exactly one row changed."""
        now = self.clock()
        ours = (
            update(Order)
            .where(Order.id == order_id, *_due(now))
            .values(owner=self.owner, lease_until=now + LEASE)
        )
        with self.db.write() as s:
            if self.closed or s.connection().execute(ours).rowcount != 1:
                return None
            order = s.get_one(Order, order_id)
            offer = s.get_one(Offer, order.offer_id)
            return Claim(order, trip_of(offer), offer.fare_id is not None, now + LEASE)

    def _asked(self, claim: Claim) -> Product:
        """The same car for the same trip, as it is offered now. Raises NotYet."""
        if not self.box.ready():
            raise NotYet(NO_BOX)
        check_room(self.client)
        return ask_again(self.client, self.tokens, claim.order, claim.trip, fixed=claim.fixed)

    def _ready(self, claim: Claim, product: Product) -> None:
        """SCHEDULED to READY in one commit, with a fresh offer, a frozen body and the guard. Raises
        NotYet.
        """
        now, priced = self.clock(), request.offered(product)
        with self.db.write() as s:
            order = self._still(s, claim)
            if order is None or self.closed:
                return
            try:
                body = same_with(order.body, priced.fare_id)
            except ValidationError:
                raise NotYet(NOT_BUILT) from None
            guard = _guard(s, order)
            order.offer_id = _offer(s, order, claim.trip, priced, now)
            order.body, order.body_digest, order.guard_key = body, request.digest(body), guard
            order.ready_at, order.owner, order.lease_until, order.message = now, None, None, None
            late = now - order.due_at
            transitions.move(
                s,
                order,
                OrderState.READY,
                now,
                "worker",
                late_s=int(late.total_seconds()),
                tries=order.tries,
            )
            if late > LATE:
                transitions.moment(
                    s, order, "event", ORDERED_LATE, now, str(int(late.total_seconds() // 60))
                )

    def _not_yet(self, claim: Claim, code: str) -> None:
        """Not now: a person is told why, and it is tried again."""
        now = self.clock()
        with self.db.write() as s:
            order = self._still(s, claim)
            if order is None:
                return
            order.tries += 1
            order.owner, order.lease_until = None, now + wait_after(order.tries)
            order.version += 1  # when it is tried next is shown
            if order.message != code:  # another reason than last time
                transitions.clear_attention(s, order, transitions.NOT_YET, now)
            transitions.attention(s, order, transitions.NOT_YET, code, now)
            order.message = code

    def _missed(self, claim: Claim) -> bool:
        """The window is over: never ordered, and a person is told."""
        with self.db.write() as s:
            order = self._still(s, claim)
            if order is None:
                return False
            order.code, order.message = PLAN_MISSED, order.message or NO_WORKER
            order.owner = order.lease_until = None
            transitions.move(
                s,
                order,
                OrderState.NOT_SENT,
                self.clock(),
                "worker",
                code=PLAN_MISSED,
                why=order.message,
            )
            return True

    def _still(self, s: Session, claim: Claim) -> Order | None:
        """The order, locked, unless somebody changed it, took it back, or tries it now."""
        order = s.scalars(select(Order).where(Order.id == claim.order.id)).one()
        ours = (OrderState.SCHEDULED, self.owner, claim.until)
        return order if (order.state, order.owner, order.lease_until) == ours else None


def _due(now: datetime) -> tuple[ColumnElement[bool], ...]:
    """Due and free: a lease too far ahead is the work of a clock that stepped back."""
    free = or_(
        Order.lease_until.is_(None),
        Order.lease_until <= now,
        Order.lease_until > now + LEASE + LATE,
    )
    return Order.state == OrderState.SCHEDULED, Order.due_at <= now, free


def _ends(order: Order) -> datetime:
    return (order.pickup_at or order.due_at) + WINDOW


def _offer(s: Session, order: Order, trip: Trip, priced: Priced, now: datetime) -> int:
    """Today's price, kept like any that was shown; it was fixed for the order's account."""
    return add_offer(
        s,
        OfferOwner(order.property_id, order.staff_id, order.account_id),
        trip,
        priced,
        now,
    ).id


def _guard(s: Session, order: Order) -> str | None:
    """The guard against a second car, from now on; none when it was overridden on purpose. Raises
    NotYet.
    """
    if order.guard_override_by is not None:
        return None
    guest, offer = s.get_one(Guest, order.guest_id), s.get_one(Offer, order.offer_id)
    key = request.guard_of(order.property_id, guest.name, guest.phone, guest.room, offer)
    busy = select(Order.id).where(Order.guard_key == key, Order.open)
    if key and s.scalars(busy).first() is not None:
        raise NotYet(GUARD_BUSY)
    return key
