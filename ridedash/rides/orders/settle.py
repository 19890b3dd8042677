"""T3: what an outcome does to its order.

The first proved outcome is final (docs/booking-protocol.md 1.3, 1.6).
"""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from ridedash.rides.orders import transitions
from ridedash.rides.orders.outcome import AUTH, RATE, Outcome
from ridedash.store import audit
from ridedash.store.models.orders import Order, OrderState, Ride

S = OrderState
WAITING: Final = frozenset({S.SENDING, S.UNKNOWN, S.CLOSED_NOT_BOOKED})
SHORT_WAIT_S: Final = 10.0  # a Retry-After up to this is waited for, once


def settle(
    s: Session, order: Order, outcome: Outcome, now: datetime, who: str, pace: float
) -> OrderState:
    """Put an order where its outcome says, with its ride. A second outcome is recorded and changes
    nothing.

    SENDING takes any outcome; UNKNOWN and CLOSED_NOT_BOOKED take a proof only.
    """
    state = OrderState(order.state)
    if state not in WAITING:
        _contradicts(s, order, outcome, now, who)
        return state
    if state is S.SENDING and outcome.retry and _again(order, outcome, now):
        transitions.move(s, order, S.READY, now, who, retry=outcome.retry)
        order.owner = order.lease_until = order.sent_at = None
        return S.READY
    to = _target(s, state, outcome)
    if to is None:
        return state
    _keep(order, outcome)
    if state is S.CLOSED_NOT_BOOKED:
        _late(s, order, to, now, who)
    if to != order.state:
        transitions.move(s, order, to, now, who, code=outcome.code, http=outcome.http_status)
    if outcome.alarm or (to is S.UNKNOWN and outcome.state is S.BOOKED):
        transitions.attention(s, order, transitions.CONTRADICTION, outcome.code, now)
    if to in {S.BOOKED, S.MATCHING}:
        _start_ride(s, order, outcome, now, pace)
    return to


def _again(order: Order, outcome: Outcome, now: datetime) -> bool:
    """The one second try after a 401 or a short 429, while the press is fresh; uses it up."""
    if order.ready_at is None or now - order.ready_at >= transitions.FRESH:
        return False
    if outcome.retry == AUTH and not order.reauthorised:
        order.reauthorised = True
        return True
    wait = outcome.retry_after_s
    if outcome.retry == RATE and not order.throttled and wait is not None and wait <= SHORT_WAIT_S:
        order.throttled = True
        order.due_at = now + timedelta(seconds=wait)
        return True
    return False


def _target(s: Session, state: OrderState, outcome: Outcome) -> OrderState | None:
    """Where to go; None when an order that waits for a proof gets none."""
    to = S.UNKNOWN if _taken(s, outcome) else outcome.state
    if state is S.SENDING:
        return to
    if to is S.UNKNOWN:
        return None
    if state is S.CLOSED_NOT_BOOKED:
        return to if to in {S.BOOKED, S.MATCHING} else None
    return S.REJECTED if to is S.NOT_SENT else to  # late, but proved: it does not exist


def _taken(s: Session, outcome: Outcome) -> bool:
    """Whether another order has this booking id already: the answer was not about ours."""
    if outcome.state is not S.BOOKED:
        return False
    return (
        s.scalars(select(Order.id).where(Order.booking_id == outcome.booking_id)).first()
        is not None
    )


def _late(s: Session, order: Order, to: OrderState, now: datetime, who: str) -> None:
    """The booking exists after all, after a person had closed the order: two rides may exist."""
    order.late_double = True
    transitions.attention(s, order, transitions.LATE_DOUBLE, order.booking_id or order.txn_id, now)
    if to is S.MATCHING:
        transitions.move(s, order, S.UNKNOWN, now, who)


def _keep(order: Order, outcome: Outcome) -> None:
    order.code, order.message, order.http_status = (
        outcome.code,
        outcome.message,
        outcome.http_status,
    )
    order.evidence = outcome.evidence.encode("utf-8", "replace").decode() or order.evidence
    order.owner = order.lease_until = None


def _start_ride(s: Session, order: Order, outcome: Outcome, now: datetime, pace: float) -> None:
    order.booking_id, order.txn_id = outcome.booking_id, outcome.txn_id
    order.next_retry = outcome.next_retry
    if outcome.booking_timeout_s is not None:
        order.booking_timeout_s = outcome.booking_timeout_s
        order.booking_timeout_at = now + timedelta(seconds=outcome.booking_timeout_s / pace)
    if s.scalars(select(Ride.id).where(Ride.order_id == order.id)).first() is None:
        s.add(new_ride(order, now))


def new_ride(order: Order, now: datetime) -> Ride:
    """The ride of an order that has a booking id or a txn_id, due at once."""
    return Ride(
        property_id=order.property_id,
        staff_id=order.staff_id,
        account_id=order.account_id,
        order_id=order.id,
        kind=order.kind,
        booking_id=order.booking_id,
        txn_id=order.txn_id,
        facts={},
        retried=False,
        created_at=now,
        poll_seq=0,
        merged_seq=0,
        next_poll_at=now,
        interval_s=3.0,
        errors=0,
        poison=0,
        unknown_id=0,
        final_polls=0,
    )


def _contradicts(s: Session, order: Order, outcome: Outcome, now: datetime, who: str) -> None:
    """Note an answer that comes after the outcome is final and says something else."""
    if outcome.state == order.state or outcome.state is S.UNKNOWN:
        return
    known = or_(Order.booking_id == outcome.booking_id, Order.txn_id == outcome.txn_id)
    mine = s.scalars(select(Order.id).where(Order.id == order.id, known)).first()
    if outcome.state is S.MATCHING and mine is not None:
        return  # the handover came before the replay
    result = f"{outcome.state} after {order.state}"
    audit.record(
        s,
        who,
        "order.late_answer",
        f"orders:{order.id}",
        result,
        now,
        property_id=order.property_id,
    )
    if outcome.state in {S.BOOKED, S.MATCHING}:
        transitions.attention(
            s, order, transitions.CONTRADICTION, outcome.booking_id or outcome.txn_id, now
        )
