"""Moving an order from state to state, inside the caller's transaction: checked, timed,
recorded.
"""

import logging
import re
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from sqlalchemy import event, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session, SessionTransaction

from ridedash.observability.exceptions import reason
from ridedash.rides.codes import PLAN_MISSED, WITHDRAWN
from ridedash.rides.states import FAILED_STATES, BadTransition, is_allowed
from ridedash.service.responses import is_known_code
from ridedash.store import audit
from ridedash.store.models.orders import Attention, Order, OrderState, TimelineEvent

log = logging.getLogger(__name__)
S = OrderState
OPEN: Final = frozenset({S.READY, S.SENDING, S.UNKNOWN, S.MATCHING, S.BOOKED})
RESOLVED: Final = frozenset({S.BOOKED, S.REJECTED, S.NOT_SENT, S.CLOSED_NOT_BOOKED, S.FAILED})
FRESH: Final = timedelta(seconds=30)  # I7: an order is never sent later than this after the press
LEASE: Final = timedelta(seconds=60)  # the sender reads for so long
SHOWN_UNKNOWN: Final = timedelta(seconds=20)  # without an answer after so long, people are told
LOGGED: Final = {S.REJECTED: logging.INFO, S.NOT_SENT: logging.WARNING, S.UNKNOWN: logging.WARNING}
_HTTP: Final = re.compile(r"HTTP_[0-9]{3}")
# in a session's info: the states that orders came to, for who counts once it is committed
MOVED: Final = "moved"
# attention items that orders raise; the ride's are merging.ALARMS and those of following.py
UNKNOWN: Final = "unknown"
CONTRADICTION: Final = "contradiction"
LATE_DOUBLE: Final = "late_double"
# a planned ride that is due and could not be ordered; the detail is the reason
NOT_YET: Final = "not_ordered_yet"
PLAN_FAILED: Final = "plan_failed"  # a planned ride that came to nothing; the detail is the reason


def move(s: Session, order: Order, to: OrderState, now: datetime, who: str, **facts: Any) -> None:
    """Put an order into another state. Raises BadTransition when the protocol has no such move."""
    was = OrderState(order.state)
    if not is_allowed(was, to):
        _remember(s, order, f"{was} to {to}", now, who)
        raise BadTransition(f"order {order.id}: {was} to {to}")
    order.state = to
    order.resolved_at = now if to in RESOLVED else None
    _reopen_or_close(s, order, to in OPEN)
    moment(s, order, "order", to, now)
    s.info.setdefault(MOVED, []).append(str(to))
    if to in LOGGED:
        event.listen(s, "after_commit", partial(_log, order.id, to, order.code), once=True)
    if was is S.UNKNOWN:
        clear_attention(s, order, UNKNOWN, now)
    if to is S.UNKNOWN:
        attention(s, order, UNKNOWN, order.mtx, now)
    if order.pickup_at is not None:
        _planned(s, order, to, now)
    audit.record(
        s,
        who,
        "order.move",
        f"orders:{order.id}",
        to,
        now,
        property_id=order.property_id,
        was=was,
        **facts,
    )


def _log(order_id: int, to: OrderState, code: str | None, _session: Session) -> None:
    """A line once it is committed.

    What a person took back is no warning; what the service says may be any words.
    """
    ours = to is not S.REJECTED or is_known_code(code) or _HTTP.fullmatch(code or "")
    said = "no code" if not code else code if ours else "a code of the service's own"
    log.log(
        logging.INFO if code == WITHDRAWN else LOGGED[to], "order %d is %s: %s", order_id, to, said
    )


def _planned(s: Session, order: Order, to: OrderState, now: datetime) -> None:
    """Nobody watches a planned ride when it is ordered: what comes to nothing asks for a person."""
    clear_attention(s, order, NOT_YET, now)
    if to in FAILED_STATES and order.code != WITHDRAWN:
        attention(
            s, order, PLAN_FAILED, order.message if order.code == PLAN_MISSED else order.code, now
        )


def _remember(s: Session, order: Order, what: str, now: datetime, who: str) -> None:
    """A row in the audit for a move that was refused, in a transaction of its own: the caller's
    will be undone.
    """
    subject, place, bind, left = f"orders:{order.id}", order.property_id, s.get_bind(), [what]

    def write(_session: Session, ended: SessionTransaction) -> None:
        if ended.parent is not None or not left:
            return
        refused = left.pop()
        try:
            with Session(bind) as alone, alone.begin():
                audit.record(alone, who, "order.bad_move", subject, refused, now, property_id=place)
        except SQLAlchemyError as error:
            log.error(
                "%s: the refused move %s is not in the audit: %s", subject, refused, reason(error)
            )

    event.listen(s, "after_transaction_end", write)


def _reopen_or_close(s: Session, order: Order, is_open: bool) -> None:
    """Keep the guard honest: an order that comes back gives way to the one that was opened
    meanwhile.
    """
    if is_open and not order.open and order.guard_key:
        other = select(Order.id).where(
            Order.guard_key == order.guard_key, Order.open, Order.id != order.id
        )
        if s.scalars(other).first() is not None:
            order.guard_key = None
    order.open = is_open


def moment(
    s: Session, order: Order, what: str, name: str, now: datetime, detail: str | None = None
) -> None:
    """Add to the timeline of the page and raise the order's version."""
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


def attention(s: Session, order: Order, name: str, detail: str | None, now: datetime) -> bool:
    """Ask for a person, once per name; True when it was not being asked for already."""
    row = s.scalars(
        select(Attention).where(Attention.order_id == order.id, Attention.name == name)
    ).first()
    if row is None:
        row = Attention(property_id=order.property_id, order_id=order.id, name=name)
        s.add(row)
    elif row.cleared_at is None:
        return False
    row.detail, row.raised_at, row.cleared_at = detail, now, None
    order.version += 1
    s.flush()
    return True


def clear_attention(s: Session, order: Order, name: str, now: datetime) -> None:
    """No longer needed."""
    query = select(Attention).where(
        Attention.order_id == order.id, Attention.name == name, Attention.cleared_at.is_(None)
    )
    for row in s.scalars(query):
        row.cleared_at = now
        order.version += 1
