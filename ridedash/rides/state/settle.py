"""T3: applies an outcome to its order (docs/booking-protocol.md 1.3, 1.6).

The first proved outcome is final.
"""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash.rides.state import transitions
from ridedash.rides.state.outcome import AUTH, RATE, Outcome
from ridedash.rides.state.states import ACCEPTED
from ridedash.store import audit
from ridedash.store.actors import Who
from ridedash.store.models.orders import Order, OrderState, Ride

LATE_ANSWER: Final = "order.late_answer"  # an audit entry, see `_record_late_answer`
UNPROVED: Final = frozenset({OrderState.SENDING, OrderState.UNKNOWN, OrderState.CLOSED_NOT_BOOKED})
LONGEST_RETRY_AFTER_S: Final = 10.0  # the longest Retry-After for which a send waits, once


def settle(s: Session, order: Order, outcome: Outcome, now: datetime, who: Who) -> OrderState:
    """Apply an outcome to an order, and add its ride. Returns the state of the order.

    SENDING takes any outcome, UNKNOWN only a proof, CLOSED_NOT_BOOKED only the proof of a booking.
    Any other outcome changes nothing. It is recorded if it contradicts a settled order, or names a
    booking that the order does not get.
    """
    state = OrderState(order.state)
    if state not in UNPROVED:
        _record_contradiction(s, order, outcome, now, who)
        return state
    if state is OrderState.SENDING and outcome.retry and _use_retry(order, outcome, now):
        transitions.change_state(s, order, OrderState.READY, now, who, retry=outcome.retry)
        order.owner = order.lease_until = order.sent_at = None
        return OrderState.READY
    to = _next_state(s, state, outcome)
    if to is None:
        if outcome.alarm or outcome.state is OrderState.BOOKED:
            _record_late_answer(s, order, outcome, now, who)
        return state
    _store(order, outcome)
    if state is OrderState.CLOSED_NOT_BOOKED:
        _note_late_booking(s, order, outcome, now, who)
    facts = {"code": outcome.code, "http": outcome.http_status}
    transitions.change_state(s, order, to, now, who, **facts)
    if outcome.alarm or (to is OrderState.UNKNOWN and outcome.state is OrderState.BOOKED):
        transitions.raise_attention(s, order, transitions.CONTRADICTION, _named(outcome), now)
    if to in ACCEPTED:
        _start_ride(s, order, outcome, now)
    return to


def new_ride(order: Order, now: datetime) -> Ride:
    """The ride of an order that has a booking id or a txn_id; its first poll is due at once."""
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
        interval_s=3.0,  # the interval while the service searches (tracking/intervals.py)
        errors=0,
        poison=0,
        unknown_id=0,
        final_polls=0,
    )


def _use_retry(order: Order, outcome: Outcome, now: datetime) -> bool:
    """Use up the retry that an outcome allows. Returns whether the order may be sent once more.

    An order that became READY recently may be sent again once after a 401, with a fresh token, and
    once after a 429 with a short wait, if the order may still be sent when that wait ends.
    """
    if order.ready_at is None:
        return False
    too_late = order.ready_at + transitions.FRESH
    if outcome.retry == AUTH and not order.reauthorised and now < too_late:
        order.reauthorised = True
        return True
    wait = outcome.retry_after_s
    if outcome.retry != RATE or order.throttled or wait is None or wait > LONGEST_RETRY_AFTER_S:
        return False
    due_at = now + timedelta(seconds=wait)
    if due_at >= too_late:
        return False
    order.throttled = True
    order.due_at = due_at
    return True


def _next_state(s: Session, state: OrderState, outcome: Outcome) -> OrderState | None:
    """The state that an outcome leads to; None when the outcome does not change the state."""
    to = OrderState.UNKNOWN if _is_linked(s, outcome) else outcome.state
    if state is OrderState.SENDING:
        return to
    if to is OrderState.UNKNOWN:
        return None
    if state is OrderState.CLOSED_NOT_BOOKED:
        return to if to in ACCEPTED else None
    if to is OrderState.NOT_SENT:
        return OrderState.REJECTED  # proved late: the booking does not exist
    return to


def _is_linked(s: Session, outcome: Outcome) -> bool:
    """Whether another order has this booking id: then the answer was not about this order."""
    if outcome.state is not OrderState.BOOKED:
        return False
    other = select(Order.id).where(Order.booking_id == outcome.booking_id)
    return s.scalars(other).first() is not None


def _store(order: Order, outcome: Outcome) -> None:
    order.code = outcome.code
    order.message = outcome.message
    order.http_status = outcome.http_status
    order.evidence = outcome.evidence.encode("utf-8", "replace").decode() or order.evidence
    order.owner = order.lease_until = None


def _note_late_booking(s: Session, order: Order, outcome: Outcome, now: datetime, who: Who) -> None:
    """Raise an item for a booking whose order staff have closed: there may be two rides."""
    order.late_double = True
    transitions.raise_attention(s, order, transitions.LATE_DOUBLE, _named(outcome), now)
    if outcome.state is OrderState.MATCHING:
        # the protocol (states.py) leads from closed to UNKNOWN, but not to MATCHING: the order is
        # reopened, as by staff, and `settle` takes it on from there
        transitions.change_state(s, order, OrderState.UNKNOWN, now, who)


def _start_ride(s: Session, order: Order, outcome: Outcome, now: datetime) -> None:
    order.booking_id = outcome.booking_id
    order.txn_id = outcome.txn_id
    order.next_retry = outcome.next_retry
    if outcome.booking_timeout_s is not None:
        order.booking_timeout_s = outcome.booking_timeout_s  # counted from the creation of the ride
    if s.scalars(select(Ride.id).where(Ride.order_id == order.id)).first() is None:
        s.add(new_ride(order, now))


def _record_contradiction(
    s: Session, order: Order, outcome: Outcome, now: datetime, who: Who
) -> None:
    """Record an outcome that contradicts the final one: another state, or another ride."""
    if outcome.state is OrderState.UNKNOWN:
        contradicts = outcome.alarm and order.state not in ACCEPTED
    elif outcome.state is OrderState.MATCHING:
        # this answer may be replayed after the same ride got its booking id
        contradicts = not _is_of_same_ride(order, outcome)
    elif outcome.state is OrderState.BOOKED:
        contradicts = order.state != OrderState.BOOKED or not _is_of_same_ride(order, outcome)
    else:
        contradicts = outcome.state != order.state
    if contradicts:
        _record_late_answer(s, order, outcome, now, who)


def _record_late_answer(
    s: Session, order: Order, outcome: Outcome, now: datetime, who: Who
) -> None:
    """An audit entry; an alarm too if the answer may be about a booking that no one follows.

    The same answer is recorded once: journals are replayed, and compared with the database again.
    """
    subject = f"orders:{order.id}"
    detail = _named(outcome)
    result = f"{outcome.state} after {order.state}"
    row = audit.AuditRow
    recorded = select(row.facts).where(
        row.subject == subject, row.what == LATE_ANSWER, row.result == result
    )
    if any(facts.get("detail") == detail for facts in s.scalars(recorded)):
        return
    audit.record(
        s, who, LATE_ANSWER, subject, result, now, property_id=order.property_id, detail=detail
    )
    if outcome.alarm or outcome.state in ACCEPTED:
        transitions.raise_attention(s, order, transitions.CONTRADICTION, detail, now)


def _named(outcome: Outcome) -> str | None:
    """The booking that an outcome names, else its code."""
    return outcome.booking_id or outcome.txn_id or outcome.named or outcome.code


def _is_of_same_ride(order: Order, outcome: Outcome) -> bool:
    """Whether an outcome has the order's booking id or, where one has none, its txn_id."""
    if outcome.booking_id is not None and order.booking_id is not None:
        return outcome.booking_id == order.booking_id
    return outcome.txn_id is not None and outcome.txn_id == order.txn_id
