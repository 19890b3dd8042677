"""The transitions of an order, in the caller's transaction: checked, timed and recorded.

Every change of `Order.state` except the sender's claim goes through `change_state`
(docs/booking-protocol.md 1.6). This module also has timeline events, attention items, and the
guest's waiting times.
"""

import logging
import re
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from sqlalchemy import event, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session, SessionTransaction

from ridedash import wire
from ridedash.observability.exceptions import reason
from ridedash.rides.state.codes import PLAN_MISSED, START_MISSED, WITHDRAWN
from ridedash.rides.state.states import FAILED_STATES, BadTransition, is_allowed
from ridedash.service.responses import is_known_code
from ridedash.store import audit
from ridedash.store.actors import Who
from ridedash.store.models.orders import Attention, Order, OrderState, TimelineEvent

OPEN: Final = frozenset(
    {
        OrderState.READY,
        OrderState.SENDING,
        OrderState.UNKNOWN,
        OrderState.MATCHING,
        OrderState.BOOKED,
    }
)
RESOLVED: Final = frozenset(
    {
        OrderState.BOOKED,
        OrderState.REJECTED,
        OrderState.NOT_SENT,
        OrderState.CLOSED_NOT_BOOKED,
        OrderState.FAILED,
    }
)
# I7: an order is never sent later than this after it became READY
FRESH: Final = timedelta(seconds=30)
LEASE: Final = timedelta(seconds=60)  # how long the sender may wait for the answer
# an order without an answer becomes UNKNOWN after this time
SHOWN_UNKNOWN: Final = timedelta(seconds=20)
LOGGED: Final = {
    OrderState.REJECTED: logging.INFO,
    OrderState.NOT_SENT: logging.WARNING,
    OrderState.UNKNOWN: logging.WARNING,
}
# the key in Session.info of the list of new states, which are counted after the commit
NEW_STATES: Final = "new_states"
# attention items of orders; those of rides are in rides/tracking/policy.py
OUTCOME_UNKNOWN: Final = "unknown"
CONTRADICTION: Final = "contradiction"
LATE_DOUBLE: Final = "late_double"
# a planned ride that is due and could not be sent yet; the detail is the reason
NOT_YET: Final = "not_ordered_yet"
HELD: Final = "held"  # SCHEDULED or WAITING in a restored database, until a person decides
# a press to start the ride ordered nothing; the detail is the reason
NOT_STARTED: Final = "not_started"
PLAN_FAILED: Final = "plan_failed"  # a planned ride that failed; the detail is the reason
_HTTP: Final = re.compile(r"HTTP_[0-9]{3}")
FOUND: Final = frozenset({wire.CALL_DRIVER, wire.CLIENT_LOCATED})
# the status that ends the wait for the car: a cab waits at the pickup; an auto does not report
# that, so its wait ends when the ride begins
AT_PICKUP: Final = frozenset({wire.CLIENT_LOCATED, wire.IN_PROGRESS})
PRICED_AT_PICKUP: Final = frozenset({wire.Kind.POINT_TO_POINT, wire.Kind.SHARE})

log = logging.getLogger(__name__)


def change_state(
    s: Session, order: Order, to: OrderState, now: datetime, who: Who, **facts: Any
) -> None:
    """Change the state of an order, with its timeline event, audit entry and attention items.

    `facts` go into the audit entry. Raises BadTransition when the protocol has no such transition;
    the attempt gets an audit entry too.
    """
    was = OrderState(order.state)
    if not is_allowed(was, to):
        _record_refused(s, order, f"{was} to {to}", now, who)
        raise BadTransition(f"order {order.id}: {was} to {to}")
    order.state = to
    order.resolved_at = now if to in RESOLVED else None
    _open_or_close(s, order, to in OPEN)
    add_event(s, order, "order", to, now)
    s.info.setdefault(NEW_STATES, []).append(str(to))
    if to in LOGGED:
        event.listen(s, "after_commit", partial(_log, order.id, to, order.code), once=True)
    if was is OrderState.UNKNOWN:
        clear_attention(s, order, OUTCOME_UNKNOWN, now)
    if was is OrderState.WAITING:
        clear_attention(s, order, NOT_STARTED, now)
        clear_attention(s, order, HELD, now)
    if to is OrderState.WAITING and order.held_at is not None:  # its withdrawal was undone
        raise_attention(s, order, HELD, None, now)
    if to is OrderState.UNKNOWN:
        raise_attention(s, order, OUTCOME_UNKNOWN, order.mtx, now)
    if order.pickup_at is not None:
        _note_planned(s, order, to, now)
    subject = f"orders:{order.id}"
    facts = {"property_id": order.property_id, "was": was} | facts
    audit.record(s, who, "order.move", subject, to, now, **facts)


def add_event(
    s: Session, order: Order, what: str, name: str, now: datetime, detail: str | None = None
) -> None:
    """Add an event to the order's timeline, and raise its revision."""
    order.version += 1
    row = TimelineEvent(
        property_id=order.property_id,
        order_id=order.id,
        what=what,
        name=name[:64],
        detail=detail,
        at=now,
    )
    s.add(row)


def note_wait(order: Order, status: str, now: datetime) -> None:
    """Store the waiting times that end when the ride of this order reaches this status at `now`.

    The wait for a driver ends with the first driver that a poll sees before the ride begins; a
    later driver does not change it. If no poll sees one, because no worker ran, the ride has no
    waiting times. Nor has an order that was taken from the sent journal: the time of its press is
    unknown.
    """
    later = order.pickup_at is not None or order.guest_until is not None
    pressed = order.ready_at if later else order.created_at
    if pressed is None or order.recovered_at is not None:
        return
    waited = max(0, round((now - pressed).total_seconds()))
    if order.driver_s is None and status in FOUND:
        order.driver_s = waited
    here = status in AT_PICKUP or (status == wire.INVOICE and order.kind in PRICED_AT_PICKUP)
    if order.guest_s is None and order.driver_s is not None and here:
        order.guest_s = max(0, waited - order.driver_s)


def raise_attention(s: Session, order: Order, name: str, detail: str | None, now: datetime) -> bool:
    """Raise an attention item; an order has one of each name. False when it is raised already."""
    row = s.scalars(
        select(Attention).where(Attention.order_id == order.id, Attention.name == name)
    ).first()
    if row is None:
        row = Attention(property_id=order.property_id, order_id=order.id, name=name)
        s.add(row)
    elif row.cleared_at is None:
        return False
    row.detail = detail
    row.raised_at = now
    row.cleared_at = None
    order.version += 1
    s.flush()
    return True


def clear_attention(s: Session, order: Order, name: str, now: datetime) -> None:
    """Clear an attention item, if it is raised."""
    query = select(Attention).where(
        Attention.order_id == order.id, Attention.name == name, Attention.cleared_at.is_(None)
    )
    for row in s.scalars(query):
        row.cleared_at = now
        order.version += 1


def _open_or_close(s: Session, order: Order, is_open: bool) -> None:
    """Set `open`. A reopened order loses its guard key if another open order has it now."""
    if is_open and not order.open and order.guard_key:
        other = select(Order.id).where(
            Order.guard_key == order.guard_key, Order.open, Order.id != order.id
        )
        if s.scalars(other).first() is not None:
            order.guard_key = None
    order.open = is_open


def _note_planned(s: Session, order: Order, to: OrderState, now: datetime) -> None:
    """Raise and clear the attention items that only planned rides have.

    One that failed gets an item, because perhaps no one looks at it when it is sent.
    """
    clear_attention(s, order, NOT_YET, now)
    if to is OrderState.SCHEDULED and order.held_at is not None:  # its withdrawal was undone
        raise_attention(s, order, HELD, None, now)
    else:
        clear_attention(s, order, HELD, now)
    if to in FAILED_STATES and order.code != WITHDRAWN:
        detail = order.message if order.code == PLAN_MISSED else order.code
        raise_attention(s, order, PLAN_FAILED, detail, now)


def _log(order_id: int, to: OrderState, code: str | None, _session: Session) -> None:
    """Log a committed transition.

    A withdrawal and a missed start are logged as INFO, not as a warning. A code of the service that
    is not documented may contain anything, so it is not logged.
    """
    shown = code or "no code"
    if code and to is OrderState.REJECTED and not is_known_code(code) and not _HTTP.fullmatch(code):
        shown = "a code of the service's own"
    level = logging.INFO if code in (WITHDRAWN, START_MISSED) else LOGGED[to]
    log.log(level, "order %d is %s: %s", order_id, to, shown)


def _record_refused(s: Session, order: Order, what: str, now: datetime, who: Who) -> None:
    """Add an audit entry for a transition that was refused.

    It is written in a separate transaction, because the caller's will be rolled back.
    """
    subject = f"orders:{order.id}"
    property_id = order.property_id
    bind = s.get_bind()
    waiting = [what]

    def write(_session: Session, ended: SessionTransaction) -> None:
        if ended.parent is not None or not waiting:
            return
        refused = waiting.pop()
        facts = {"property_id": property_id}
        try:
            with Session(bind) as own, own.begin():
                audit.record(own, who, "order.bad_move", subject, refused, now, **facts)
        except SQLAlchemyError as error:
            log.error(
                "%s: the refused transition %s is not in the audit log: %s",
                subject,
                refused,
                reason(error),
            )

    event.listen(s, "after_transaction_end", write)
