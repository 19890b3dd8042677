"""Actions of staff on an order without a settled outcome: link, close, reopen, withdraw, undo.

See docs/booking-protocol.md 1.6. Guests at a kiosk can withdraw too. An order of another property
is treated like one in another state.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from ridedash import wire
from ridedash.geo import LatLng, distance_m
from ridedash.rides.accounts.tokens import NeedsReconnect, NoRefreshNow, call_with_token
from ridedash.rides.runtime import Runtime
from ridedash.rides.state import transitions
from ridedash.rides.state.codes import WITHDRAWN
from ridedash.rides.state.outcome import Outcome
from ridedash.rides.state.settle import settle
from ridedash.rides.state.states import UNSENT
from ridedash.service.errors import BadStatus, Refused, ServiceError
from ridedash.service.throttle.traffic import Priority
from ridedash.service.types.tracking import Snapshot
from ridedash.store import audit
from ridedash.store.actors import Actor, by_staff
from ridedash.store.database.database import Clock, Database, retry_conflict
from ridedash.store.models.orders import Offer, Order, OrderState, Ride
from ridedash.store.models.people import Guest
from ridedash.store.orders import order_of_actor, order_of_staff
from ridedash.text import one_line

NEAR_M: Final = 250.0  # metres between the booking's pickup and the order's, at most
LINKABLE: Final = (OrderState.UNKNOWN, OrderState.CLOSED_NOT_BOOKED)
LEAST_REASON: Final = 3  # characters
# for how long a page offers to undo a withdrawal
UNDO_OFFERED: Final = timedelta(seconds=10)
# for how long the page of a new order offers to take the press of Book back
BOOK_UNDO: Final = timedelta(seconds=20)
# for how long the undo of a withdrawal is accepted: the time of the page, and of a slow press
UNDO_TAKEN: Final = timedelta(seconds=20)
LONGEST_REASON: Final = 500  # characters; a few sentences for a later question


@dataclass(frozen=True)
class Checked:
    """The result of checking a typed booking number.

    `outcome` is one of: booked (the place is confirmed), booked_place_unconfirmed (the booking
    exists; the answer had no pickup), not_found (the service does not know it), far (its pickup is
    `metres` away, more than 250), linked (another order, `order_id`, has it), no_answer (try
    again), wrong_state (the order is neither UNKNOWN nor CLOSED_NOT_BOOKED).
    """

    outcome: str
    metres: float | None = None
    order_id: int | None = None
    text: str | None = None  # the service's own words when it refused


def resolve_booked(runtime: Runtime, order_id: int, booking_id: str, staff_id: int) -> Checked:
    """Resolve an order as booked, if track_ride shows that the typed number is its booking."""
    booking_id = booking_id.strip()
    with runtime.db.read() as s:
        order = order_of_staff(s, order_id, staff_id, LINKABLE)
        if order is None:
            return Checked("wrong_state")
        if not booking_id:
            return Checked("not_found")
        linked = _other_order(s, order, booking_id)
        offer = s.get_one(Offer, order.offer_id)
    if linked is not None:
        return Checked("linked", order_id=linked)
    checked = _check(runtime, order, offer, booking_id)
    if not checked.outcome.startswith("booked"):
        return checked
    return retry_conflict(lambda: _link(runtime, order_id, booking_id, staff_id, checked))


def resolve_not_booked(
    db: Database, clock: Clock, order_id: int, staff_id: int, reason: str
) -> bool:
    """UNKNOWN to CLOSED_NOT_BOOKED, for a typed reason. False in another state.

    Raises ValueError for a reason of fewer than 3 characters.
    """
    reason = one_line(reason, LONGEST_REASON)
    if len(reason) < LEAST_REASON:
        raise ValueError("say how you know that nothing was booked")
    to = OrderState.CLOSED_NOT_BOOKED
    who = by_staff(staff_id)
    with db.write() as s:
        order = order_of_staff(s, order_id, staff_id, (OrderState.UNKNOWN,))
        if order is None:
            return False
        order.resolved_by = staff_id
        order.resolve_reason = reason
        transitions.change_state(s, order, to, clock(), who, reason=reason)
        return True


def reopen(db: Database, clock: Clock, order_id: int, staff_id: int) -> bool:
    """CLOSED_NOT_BOOKED back to UNKNOWN. False in another state."""

    def reopen_once() -> bool:
        with db.write() as s:
            order = order_of_staff(s, order_id, staff_id, (OrderState.CLOSED_NOT_BOOKED,))
            if order is None:
                return False
            order.resolved_by = order.resolve_reason = None
            transitions.change_state(s, order, OrderState.UNKNOWN, clock(), by_staff(staff_id))
            return True

    return retry_conflict(reopen_once)  # a new order may take the guard at the same time


def withdraw(db: Database, clock: Clock, order_id: int, who: Actor) -> bool:
    """Withdraw an order that is not sent yet: NOT_SENT with the code WITHDRAWN.

    False: it is too late.
    """
    with db.write() as s:
        order = order_of_actor(s, order_id, who, UNSENT)
        if order is None:
            return False
        order.code = WITHDRAWN
        order.resolved_by = who.staff_id
        to = OrderState.NOT_SENT
        transitions.change_state(s, order, to, clock(), who, code=WITHDRAWN)
        return True


def undo_until(order: Order) -> datetime | None:
    """Until when a page offers to undo the withdrawal of an order; None if it can't be undone.

    Only for planned rides, and for rides that waited for their guest to start them.
    """
    withdrawn = order.state == OrderState.NOT_SENT and order.code == WITHDRAWN
    if not withdrawn or order.resolved_at is None or _state_before(order) is None:
        return None
    return order.resolved_at + UNDO_OFFERED


def undo_withdrawal(db: Database, clock: Clock, order_id: int, staff_id: int) -> bool:
    """Undo a recent withdrawal: the order gets its state back. False when it is too late.

    The order was never sent. It is sent when it is due, at the price at that time, or when its
    guest starts the ride.
    """
    return bool(undo_withdrawals(db, clock, [order_id], staff_id))


def undo_withdrawals(
    db: Database, clock: Clock, order_ids: Collection[int], staff_id: int
) -> list[int]:
    """Undo the withdrawal of several orders by one press. Returns the ids of those undone."""
    now = clock()
    with db.write() as s:
        # sorted, so that two presses lock them in the same sequence
        orders = [
            order_of_staff(s, each, staff_id, (OrderState.NOT_SENT,)) for each in sorted(order_ids)
        ]
        return [each.id for each in orders if each and _undo_one(s, each, now, staff_id)]


def _state_before(order: Order) -> OrderState | None:
    """The state that an order had before its withdrawal; None for an order that was due at once."""
    if order.pickup_at is not None:
        return OrderState.SCHEDULED
    if order.guest_until is not None and order.ready_at is None:
        return OrderState.WAITING
    return None


def _undo_one(s: Session, order: Order, now: datetime, staff_id: int) -> bool:
    """Undo the withdrawal of a locked order.

    False when it is too late, the order was replaced by another one, or its guest was erased.
    """
    to = _state_before(order)
    if to is None or undo_until(order) is None or order.resolved_at is None:
        return False
    if now >= order.resolved_at + UNDO_TAKEN:
        return False
    if order.guest_until is not None and now >= order.guest_until:
        return False
    if s.scalars(select(Order.id).where(Order.supersedes == order.id)).first() is not None:
        return False
    if s.get_one(Guest, order.guest_id).erased_at is not None:
        return False
    order.code = order.resolved_by = order.guard_key = None
    order.owner = order.lease_until = None
    transitions.change_state(s, order, to, now, by_staff(staff_id))
    return True


def _check(runtime: Runtime, order: Order, offer: Offer, booking_id: str) -> Checked:
    """Ask the service about the typed number, and compare the pickups."""
    client = runtime.client
    try:
        snapshot = call_with_token(
            runtime.tokens,
            order.account_id,
            lambda token: client.track_ride(token, booking_id=booking_id, priority=Priority.PAGE),
        )
    except Refused as error:
        if error.is_of_caller:
            # the error is about our account, not about the number, which may be right
            return Checked("no_answer")
        return Checked("not_found", text=wire.said(error.header, error.message, error.text))
    except BadStatus as error:
        if error.status in {400, 404}:
            return Checked("not_found")
        return Checked("no_answer")
    except (ServiceError, NeedsReconnect, NoRefreshNow):
        return Checked("no_answer")
    return _compared(snapshot, LatLng(offer.pickup_lat, offer.pickup_lng), booking_id)


def _compared(snapshot: Snapshot, pickup: LatLng, booking_id: str) -> Checked:
    """Whether the booking starts where the order does, as far as the answer shows."""
    if snapshot.booking_id is not None and snapshot.booking_id != booking_id:
        return Checked("not_found")
    if snapshot.booking_status is None:
        return Checked("no_answer")
    if snapshot.pickup is None:
        return Checked("booked_place_unconfirmed")
    metres = distance_m(snapshot.pickup, pickup)
    if metres <= NEAR_M:
        return Checked("booked", metres=metres)
    return Checked("far", metres=metres)


def _link(
    runtime: Runtime, order_id: int, booking_id: str, staff_id: int, checked: Checked
) -> Checked:
    now = runtime.clock()
    who = by_staff(staff_id)
    with runtime.db.write() as s:
        order = order_of_staff(s, order_id, staff_id, LINKABLE)
        if order is None:
            return Checked("wrong_state")
        linked = _other_order(s, order, booking_id)
        if linked is not None:
            return Checked("linked", order_id=linked)
        order.resolved_by = staff_id
        order.resolve_reason = f"booking number {booking_id} typed: {checked.outcome}"
        outcome = Outcome(
            OrderState.BOOKED, booking_id=booking_id, code=order.code, evidence=order.evidence or ""
        )
        if settle(s, order, outcome, now, who) != OrderState.BOOKED:
            # another order has got the booking since _other_order() looked above
            s.rollback()
            return Checked("linked", order_id=_other_order(s, order, booking_id))
        facts = {"property_id": order.property_id, "place": checked.outcome}
        audit.record(s, who, "order.resolve", f"orders:{order_id}", OrderState.BOOKED, now, **facts)
        transitions.clear_attention(s, order, transitions.OUTCOME_UNKNOWN, now)
    return checked


def _other_order(s: Session, order: Order, booking_id: str) -> int | None:
    """The id of another order that has this booking; None without one."""
    same = or_(Order.booking_id == booking_id, Ride.booking_id == booking_id)
    query = select(Order.id).outerjoin(Ride, Ride.order_id == Order.id)
    return s.scalars(query.where(Order.id != order.id, same)).first()
