"""Orders planned rides when they are due: requests a new price and makes them READY to be sent.

See docs/booking-protocol.md 1.3 and 1.6. An order stays SCHEDULED until the service has answered
with a price. A failed attempt is repeated until ten minutes after the pickup time; the first one
raises an attention item. An order becomes READY once, and after that no send is repeated
automatically. The 30 s of the protocol's invariant I7 count from `ready_at`.
"""

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from pydantic import ValidationError
from sqlalchemy import ColumnElement, func, or_, select, update
from sqlalchemy.orm import Session

from ridedash import wire
from ridedash.rides.accounts.tokens import (
    ELSEWHERE,
    NeedsReconnect,
    NoRefreshNow,
    call_with_token,
)
from ridedash.rides.journals.answer_journal import AnswerJournal
from ridedash.rides.journals.restore import KnownToJournal, RestoreWatch
from ridedash.rides.orders import request
from ridedash.rides.orders.guard import OtherRideOpen, key_when_due
from ridedash.rides.runtime import APART_S, Runtime
from ridedash.rides.state import transitions
from ridedash.rides.state.codes import (
    NO_ANSWER,
    NO_CONNECTION,
    NOT_BUILT,
    PLAN_MISSED,
    RATE_LIMITED,
    RECONNECT,
)
from ridedash.rides.times.schedule_times import WINDOW, wait_after
from ridedash.service.errors import (
    NoAnswer,
    Refused,
    ServiceError,
    Unauthorized,
    is_rate_limited,
)
from ridedash.service.throttle.traffic import Priority
from ridedash.service.types.products import Product, ProductList
from ridedash.store.accounts import affiliate_uid_of
from ridedash.store.actors import WORKER
from ridedash.store.database.database import UtcDateTime, retry_conflict
from ridedash.store.models.orders import Offer, Order, OrderState
from ridedash.store.offers import OfferOwner, Trip, add_offer, trip_of
from ridedash.store.orders import placed_by

LEASE: Final = timedelta(seconds=60)  # longer than the requests of one attempt take
# an order that becomes READY later than this after its due time is reported as late
LATE: Final = timedelta(seconds=60)
SHORT_WAIT_S: Final = 5.0  # a wait as short as this still leaves the sender enough time
ORDERED_LATE: Final = "ordered_late"  # a timeline event; its detail is minutes
# reasons why a planned ride can't be ordered yet; others are in rides/state/codes.py, or are the
# service's own codes
CAR_GONE: Final = "PLAN_CAR_GONE"  # the category is not offered at the pickup now
NO_PRICE: Final = "PLAN_NO_PRICE"  # a price is needed and the service gave none
GUARD_BUSY: Final = "PLAN_GUARD_BUSY"  # the guest has an open ride from that pickup
NO_JOURNAL: Final = "PLAN_NO_BOX"  # an answer could not be stored, so nothing may be sent
CLOCK: Final = "PLAN_CLOCK"  # our clock differs too much from the service's
NO_WORKER: Final = "PLAN_NO_WORKER"  # no worker was running
REFUSED: Final = "PLAN_REFUSED"  # the service refused the request for prices without giving a code
_NOT_OFFERED: Final = frozenset(
    map(wire.normal_code, (wire.INVALID_CAR_CATEGORY, wire.INVALID_CITY_CAR_CATEGORY))
)


log = logging.getLogger(__name__)


class NotOrderable(Exception):
    """A planned ride can't be ordered now; `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True)
class PlanClaim:
    """The right to try one order until `until`. A change or a withdrawal of the order ends it."""

    order: Order
    trip: Trip
    fixed_price: bool  # whether the price was fixed when the ride was planned
    until: datetime


class Promoter:
    """Makes planned orders READY for one worker. Safe to share between threads."""

    def __init__(
        self, runtime: Runtime, journal: AnswerJournal, watch: RestoreWatch | None = None
    ) -> None:
        self.runtime = runtime
        self.journal = journal
        self.watch = watch or RestoreWatch(runtime.db, runtime.clock, journal.sent)
        # a worker that is stopping makes nothing READY, because it would not send it
        self.closed = False

    def due(self, limit: int) -> Sequence[int]:
        """Planned orders that may be tried now, the longest due first."""
        now = self.runtime.clock()
        # workers that can decrypt the account's token come first, at each attempt
        since = func.coalesce(Order.lease_until, Order.due_at)
        foreign = self.runtime.tokens.foreign(Order.account_id)
        ours = or_(since <= now - ELSEWHERE, ~foreign)
        query = select(Order.id).where(*_due(now), ours).order_by(Order.due_at).limit(limit)
        with self.runtime.db.read() as s:
            return s.scalars(query).all()

    def promote(self, order_id: int) -> bool:
        """Make one attempt. False when the order is not due, or when another worker has it."""
        claim = self._claim(order_id)
        if claim is None:
            return False
        self.runtime.failpoint("plan.claimed")
        try:
            if self.runtime.clock() > _window_end(claim.order):
                self._compare_window(claim)
                return self._give_up(claim)
            product = self._product(claim)
            if self.runtime.clock_ahead_s() is not None:
                raise NotOrderable(CLOCK)
            self.runtime.failpoint("plan.asked")
            retry_conflict(lambda: self._make_ready(claim, product))
        except NotOrderable as reason:
            self._postpone(claim, reason.code)
        self.runtime.failpoint("plan.ready")
        return True

    def _claim(self, order_id: int) -> PlanClaim | None:
        """Claim the order: it is ours when exactly one row changed.

        None also when a journal of this machine shows that the order was sent already.
        """
        self.journal.sent.refresh()
        try:
            return self._commit_claim(order_id, self.runtime.clock())
        except KnownToJournal:
            log.warning("order %d was sent before: the database is older", order_id)
            return None

    def _commit_claim(self, order_id: int, now: datetime) -> PlanClaim | None:
        claim = (
            update(Order)
            .where(Order.id == order_id, *_due(now), self.watch.is_as_seen())
            .where(*self._is_now(now))
            .values(owner=self.runtime.owner, lease_until=now + LEASE)
        )
        with self.runtime.db.write() as s:
            if self.closed or s.connection().execute(claim).rowcount != 1:
                return None
            order = s.get_one(Order, order_id)
            if self.watch.refuses(s, order.mtx, order.attempt + 1):
                raise KnownToJournal
            offer = s.get_one(Offer, order.offer_id)
            return PlanClaim(order, trip_of(offer), _was_fixed(s, order, offer), now + LEASE)

    def _is_now(self, now: datetime) -> tuple[ColumnElement[bool], ...]:
        """The condition that PostgreSQL's clock is near `now`; none on SQLite.

        A process that has not read the database's clock yet uses its machine's clock, which may be
        wrong (docs/booking-protocol.md 3.6).
        """
        if not self.runtime.compares_clock or self.runtime.db.dialect == "sqlite":
            return ()
        apart = timedelta(seconds=APART_S)
        return (func.clock_timestamp(type_=UtcDateTime()).between(now - apart, now + apart),)

    def _product(self, claim: PlanClaim) -> Product:
        """The product of the order as it is offered now, with a price if one is needed.

        Raises NotOrderable.
        """
        if not self.journal.ready():
            raise NotOrderable(NO_JOURNAL)
        traffic = self.runtime.client.traffic
        if traffic.wait_s(Priority.WRITE) > SHORT_WAIT_S:  # an order stays READY for 30 s only
            raise NotOrderable(NO_CONNECTION if traffic.is_open(write=True) else RATE_LIMITED)
        try:
            listed = self._products(claim)
        except ServiceError as error:
            raise NotOrderable(reason_code(error)) from error
        except (NeedsReconnect, NoRefreshNow) as error:
            raise NotOrderable(error.code) from None
        product = listed.product(claim.order.category)
        if product is None:
            raise NotOrderable(CAR_GONE)
        if not _has_price(product, claim):
            raise NotOrderable(NO_PRICE)
        return product

    def _compare_window(self, claim: PlanClaim) -> None:
        """Raise NotOrderable where the window is over by our clock, but not by the service's.

        Prices are requested just for the Date header of the answer. Without one our clock decides.
        """
        if not self.runtime.compares_clock:
            return
        with suppress(ServiceError, NeedsReconnect, NoRefreshNow):
            self._products(claim)
        ahead = timedelta(seconds=self.runtime.clock_ahead_s() or 0.0)
        if self.runtime.clock() - ahead <= _window_end(claim.order):
            raise NotOrderable(CLOCK)

    def _products(self, claim: PlanClaim) -> ProductList:
        client = self.runtime.client
        order = claim.order
        trip = claim.trip
        return call_with_token(
            self.runtime.tokens,
            order.account_id,
            lambda token: client.products(trip.pickup, trip.drop, order.category, token),
        )

    def _make_ready(self, claim: PlanClaim, product: Product) -> None:
        """SCHEDULED to READY in one commit, with a new offer, a new frozen body and the
        duplicate-booking guard. Raises NotOrderable.
        """
        now = self.runtime.clock()
        priced = request.offered(product)
        with self.runtime.db.write() as s:
            order = self._claimed_order(s, claim)
            if order is None or self.closed:
                return
            try:
                body = request.restated(
                    order.body,
                    fare_id=priced.fare_id,
                    affiliate_uid=affiliate_uid_of(s, order.account_id),
                )
            except ValidationError:
                raise NotOrderable(NOT_BUILT) from None
            try:
                key = key_when_due(s, order)
            except OtherRideOpen:
                raise NotOrderable(GUARD_BUSY) from None
            owner = OfferOwner(order.property_id, placed_by(order), order.account_id)
            order.offer_id = add_offer(s, owner, claim.trip, priced, now).id
            order.body = body
            order.body_digest = request.digest(body)
            order.guard_key = key
            order.ready_at = now
            order.message = None
            order.owner = order.lease_until = None
            late = now - order.due_at
            facts = {"late_s": int(late.total_seconds()), "tries": order.tries}
            transitions.change_state(s, order, OrderState.READY, now, WORKER, **facts)
            if late > LATE:
                minutes = str(int(late.total_seconds() // 60))
                transitions.add_event(s, order, "event", ORDERED_LATE, now, minutes)

    def _postpone(self, claim: PlanClaim, code: str) -> None:
        """Set the time of the next attempt, and raise the attention item with the reason."""
        now = self.runtime.clock()
        with self.runtime.db.write() as s:
            order = self._claimed_order(s, claim)
            if order is None:
                return
            order.tries += 1
            order.owner, order.lease_until = None, now + wait_after(order.tries)
            order.version += 1  # pages show the time of the next attempt
            if order.message != code:  # the reason differs from that of the last attempt
                transitions.clear_attention(s, order, transitions.NOT_YET, now)
            transitions.raise_attention(s, order, transitions.NOT_YET, code, now)
            order.message = code

    def _give_up(self, claim: PlanClaim) -> bool:
        """End an order whose window is over as NOT_SENT. False when it was changed meanwhile."""
        now = self.runtime.clock()
        with self.runtime.db.write() as s:
            order = self._claimed_order(s, claim)
            if order is None:
                return False
            order.code = PLAN_MISSED
            order.message = order.message or NO_WORKER
            order.owner = order.lease_until = None
            facts = {"code": PLAN_MISSED, "why": order.message}
            transitions.change_state(s, order, OrderState.NOT_SENT, now, WORKER, **facts)
            return True

    def _claimed_order(self, s: Session, claim: PlanClaim) -> Order | None:
        """The locked order; None when it was changed, withdrawn or claimed again meanwhile."""
        order = s.scalars(select(Order).where(Order.id == claim.order.id)).one()
        ours = (OrderState.SCHEDULED, self.runtime.owner, claim.until)
        if (order.state, order.owner, order.lease_until) != ours:
            return None
        return order


def _due(now: datetime) -> tuple[ColumnElement[bool], ...]:
    """Due orders that are neither held since a restore nor leased.

    A lease too far in the future was written by a clock that has stepped back since.
    """
    free = or_(
        Order.lease_until.is_(None),
        Order.lease_until <= now,
        Order.lease_until > now + LEASE + LATE,
    )
    planned = Order.state == OrderState.SCHEDULED, Order.held_at.is_(None)
    return *planned, Order.due_at <= now, free


def _window_end(order: Order) -> datetime:
    return (order.pickup_at or order.due_at) + WINDOW


def _was_fixed(s: Session, order: Order, offer: Offer) -> bool:
    """Whether the price was fixed at the press.

    For a way back that had no price, the price of the way there counts.
    """
    if offer.fare_id is not None or order.back_of is None or offer.price_text != "":
        return offer.fare_id is not None
    there = select(Offer.fare_id).join(Order, Order.offer_id == Offer.id)
    there = there.where(Order.id == order.back_of, Offer.category == offer.category)
    return s.scalar(there) is not None


def _has_price(product: Product, claim: PlanClaim) -> bool:
    """Whether a product has the price that it needs.

    A shared ride needs the fixed price for its seats. A ride whose price was fixed needs a fixed
    price or an estimate. Any other ride needs none.
    """
    if product.kind is wire.Kind.SHARE:
        fares = product.share.fares if product.share else ()
        return any(fare.seats == claim.order.seats and fare.cost is not None for fare in fares)
    if not claim.fixed_price:
        return True
    estimate = product.estimate
    if estimate is None:
        return False
    return estimate.upfront or (estimate.amount_min or estimate.amount_max) is not None


def reason_code(error: ServiceError) -> str:
    """The code of the reason for a failed request for prices."""
    if is_rate_limited(error):
        return RATE_LIMITED
    if isinstance(error, Unauthorized):
        return RECONNECT
    if isinstance(error, Refused):
        if wire.normal_code(error.code or "") in _NOT_OFFERED:
            return CAR_GONE
        return error.code or REFUSED
    if isinstance(error, NoAnswer) and not error.sent:
        return NO_CONNECTION
    return NO_ANSWER
