"""A booking number typed by staff for an order whose outcome is unknown: checked with track_ride,
then linked.
"""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from ridedash.geo import LatLng, distance_m
from ridedash.rides.accounts.tokens import AccountTokens, NeedsReconnect, NoRefreshNow
from ridedash.rides.codes import WITHDRAWN
from ridedash.rides.orders import transitions
from ridedash.rides.orders.outcome import Outcome
from ridedash.rides.orders.settle import settle
from ridedash.rides.runtime import Clock
from ridedash.service.client import RideClient
from ridedash.service.errors import BadStatus, Refused, ServiceError, Unauthorized
from ridedash.service.throttle.traffic import Priority
from ridedash.service.types.tracking import Snapshot
from ridedash.store import audit
from ridedash.store.database.database import Database, retry_conflict
from ridedash.store.models.orders import Offer, Order, OrderState, Ride
from ridedash.store.orders import order_of_staff

NEAR_M: Final = 250.0
OPEN_STATES: Final = (OrderState.UNKNOWN, OrderState.CLOSED_NOT_BOOKED)


@dataclass(frozen=True)
class Checked:
    """What came of a typed booking number.

    `outcome`: booked (place confirmed), booked_place_unconfirmed (it exists; the answer carried no
    pickup),
    not_found (the service does not know it), far (its pickup is `metres` away: more than 250),
    linked (another order, `order_id`, has it), no_answer (try again), wrong_state (the order is not
    UNKNOWN or CLOSED_NOT_BOOKED).
    """

    outcome: str
    metres: float | None = None
    order_id: int | None = None
    text: str | None = None  # the service's own words, when it refused


def resolve_booked(
    db: Database,
    client: RideClient,
    tokens: AccountTokens,
    clock: Clock,
    order_id: int,
    booking_id: str,
    staff_id: int,
    pace: float = 1.0,
) -> Checked:
    """UNKNOWN (or CLOSED_NOT_BOOKED) to BOOKED when the typed number proves to be this order's
    booking.
    """
    booking_id = booking_id.strip()
    with db.read() as s:
        order = order_of_staff(s, order_id, staff_id, OPEN_STATES)
        if order is None or not booking_id:
            return Checked("wrong_state" if order is None else "not_found")
        linked = _linked(s, order, booking_id)
        offer = s.get_one(Offer, order.offer_id)
    if linked is not None:
        return Checked("linked", order_id=linked)
    snapshot = _tracked(client, tokens, order.account_id, booking_id)
    if isinstance(snapshot, Checked):
        return snapshot
    checked = _placed(snapshot, LatLng(offer.pickup_lat, offer.pickup_lng), booking_id)
    if checked.outcome.startswith("booked"):
        return retry_conflict(
            lambda: _link(db, clock, order_id, booking_id, staff_id, pace, checked)
        )
    return checked


def _tracked(
    client: RideClient, tokens: AccountTokens, account_id: int, booking_id: str
) -> Snapshot | Checked:
    try:
        token = tokens.bearer(account_id)
        try:
            return client.track_ride(token, booking_id=booking_id, priority=Priority.PAGE)
        except Unauthorized:
            fresh = tokens.refreshed(account_id, token)
            return client.track_ride(fresh, booking_id=booking_id, priority=Priority.PAGE)
    except Refused as error:
        return Checked("not_found", text=error.message or error.text)
    except BadStatus as error:
        return Checked("not_found" if error.status in {400, 404} else "no_answer")
    except (ServiceError, NeedsReconnect, NoRefreshNow):
        return Checked("no_answer")


def _placed(snapshot: Snapshot, pickup: LatLng, booking_id: str) -> Checked:
    """Whether the booking starts where the order does, as far as the answer says."""
    if snapshot.booking_id is not None and snapshot.booking_id != booking_id:
        return Checked("not_found")
    if snapshot.booking_status is None:
        return Checked("no_answer")
    if snapshot.pickup is None:
        return Checked("booked_place_unconfirmed")
    metres = distance_m(snapshot.pickup, pickup)
    return Checked("booked" if metres <= NEAR_M else "far", metres=metres)


def _link(
    db: Database,
    clock: Clock,
    order_id: int,
    booking_id: str,
    staff_id: int,
    pace: float,
    checked: Checked,
) -> Checked:
    now = clock()
    with db.write() as s:
        order = order_of_staff(s, order_id, staff_id, OPEN_STATES)
        if order is None:
            return Checked("wrong_state")
        linked = _linked(s, order, booking_id)
        if linked is not None:
            return Checked("linked", order_id=linked)
        order.resolved_by, order.resolve_reason = (
            staff_id,
            f"booking number {booking_id} typed: {checked.outcome}",
        )
        who = f"staff:{staff_id}"
        outcome = Outcome(
            OrderState.BOOKED, booking_id=booking_id, code=order.code, evidence=order.evidence or ""
        )
        settle(s, order, outcome, now, who, pace)
        facts = {"property_id": order.property_id, "place": checked.outcome}
        audit.record(s, who, "order.resolve", f"orders:{order_id}", OrderState.BOOKED, now, **facts)
        transitions.clear_attention(s, order, transitions.UNKNOWN, now)
    return checked


def _linked(s: Session, order: Order, booking_id: str) -> int | None:
    """Another order that has this booking."""
    same = select(Order.id).outerjoin(Ride, Ride.order_id == Order.id).where(Order.id != order.id)
    return s.scalars(
        same.where(or_(Order.booking_id == booking_id, Ride.booking_id == booking_id))
    ).first()


def withdraw(db: Database, clock: Clock, order_id: int, staff_id: int) -> bool:
    """Take back an order that is not sent yet: it ends as NOT_SENT (code WITHDRAWN).

    False when it is too late.
    """
    with db.write() as s:
        order = order_of_staff(s, order_id, staff_id, (OrderState.READY, OrderState.SCHEDULED))
        if order is None:
            return False
        order.code = WITHDRAWN
        order.resolved_by = staff_id
        transitions.move(
            s, order, OrderState.NOT_SENT, clock(), f"staff:{staff_id}", code=WITHDRAWN
        )
        return True


def reopen(db: Database, clock: Clock, order_id: int, staff_id: int) -> bool:
    """CLOSED_NOT_BOOKED back to UNKNOWN. False when it is in another state."""
    # a press may take its guard at the same time
    return retry_conflict(lambda: _reopen(db, clock, order_id, staff_id))


def _reopen(db: Database, clock: Clock, order_id: int, staff_id: int) -> bool:
    with db.write() as s:
        order = order_of_staff(s, order_id, staff_id, (OrderState.CLOSED_NOT_BOOKED,))
        if order is None:
            return False
        order.resolved_by = order.resolve_reason = None
        transitions.move(s, order, OrderState.UNKNOWN, clock(), f"staff:{staff_id}")
        return True


def resolve_not_booked(
    db: Database, clock: Clock, order_id: int, staff_id: int, reason: str
) -> bool:
    """UNKNOWN to CLOSED_NOT_BOOKED, for a typed reason of 3 letters or more (ValueError). False in
    another state.
    """
    reason = " ".join(reason.split())
    if len(reason) < 3:
        raise ValueError("say how you know that nothing was booked")
    with db.write() as s:
        order = order_of_staff(s, order_id, staff_id, (OrderState.UNKNOWN,))
        if order is None:
            return False
        order.resolved_by, order.resolve_reason = staff_id, reason[:500]
        transitions.move(
            s,
            order,
            OrderState.CLOSED_NOT_BOOKED,
            clock(),
            f"staff:{staff_id}",
            reason=reason[:500],
        )
        return True
