"""The recovery job of each worker, every second: advances rows that nothing else advances.

These are orders that expired or whose guest did not start them in time, sends whose worker ended,
rides and actions whose next call is too far ahead, and actions without an answer
(docs/booking-protocol.md 1.3, Recovery).
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, Select, and_, or_, select, update
from sqlalchemy.orm import Session

from ridedash.rides.orders.guest_start import end_missed
from ridedash.rides.state import transitions
from ridedash.rides.state.codes import EXPIRED, NO_ANSWER
from ridedash.rides.state.states import FEEDBACK_CALLS, REPEATABLE
from ridedash.store.actors import WORKER
from ridedash.store.database.database import Database
from ridedash.store.models.orders import Action, Order, OrderState, Ride

# an instant further in the future than this was written by a clock that has stepped back since
AHEAD: Final = timedelta(seconds=5)
USUAL_INTERVAL_S: Final = 60.0  # most waits that tracking/policy.py sets are no longer than this
# the longest wait that tracking/policy.py sets, with its jitter, for rides without poison
LONGEST_INTERVAL_S: Final = 330.0
ACTION_LASTS: Final = timedelta(seconds=30)  # no call of an action takes longer
ACTION_WAITS: Final = timedelta(seconds=60)  # longer than any wait before an action is repeated


def recover(
    db: Database, now: datetime, is_current: Callable[[Session], bool] = lambda _s: True
) -> int:
    """Do the recovery job. Returns how many rows it changed; it writes only when necessary.

    Orders that another transaction has locked are left to the next run. `is_current` is False if
    the database may have gone back in time (`restore.RestoreWatch`): the age of a row then proves
    nothing.
    """
    with db.read() as s:
        if not any(s.scalars(query.limit(1)).first() is not None for query in _queries(now)):
            return 0
    with db.write() as s:
        if not is_current(s):
            return 0
        orders = _expire_orders(s, now) + _end_missed_starts(s, now)
        orders += _end_unanswered_sends(s, now)
        actions = _end_unanswered_actions(s, now) + _advance_actions(s, now)
        return orders + _advance_polls(s, now) + actions


def _queries(now: datetime) -> tuple[Select[tuple[int]], ...]:
    return (
        select(Order.id).where(*_expired(now)),
        select(Order.id).where(*_missed(now)),
        select(Order.id).where(*_unanswered(now)),
        select(Ride.id).where(*_too_far_ahead(now)),
        select(Action.id).where(*_abandoned(now)),
        select(Action.id).where(*_postponed(now)),
    )


def _expired(now: datetime) -> tuple[ColumnElement[bool], ...]:
    late = or_(Order.ready_at <= now - transitions.FRESH, Order.ready_at > now + AHEAD)
    return Order.state == OrderState.READY, late


def _missed(now: datetime) -> tuple[ColumnElement[bool], ...]:
    return Order.state == OrderState.WAITING, Order.due_at <= now, Order.held_at.is_(None)


def _unanswered(now: datetime) -> tuple[ColumnElement[bool], ...]:
    long_ago = Order.sent_at <= now - transitions.SHOWN_UNKNOWN
    late = or_(long_ago, Order.lease_until <= now, Order.sent_at > now + AHEAD)
    return Order.state == OrderState.SENDING, late


def _too_far_ahead(now: datetime) -> tuple[ColumnElement[bool], ...]:
    usual = and_(
        Ride.interval_s <= USUAL_INTERVAL_S,
        Ride.next_poll_at > now + timedelta(seconds=1.1 * USUAL_INTERVAL_S) + AHEAD,
    )
    longest = Ride.next_poll_at > now + timedelta(seconds=LONGEST_INTERVAL_S)
    return Ride.poison == 0, or_(usual, longest)


def _abandoned(now: datetime) -> tuple[ColumnElement[bool], ...]:
    late = or_(Action.called_at <= now - ACTION_LASTS, Action.called_at > now + AHEAD)
    return Action.state == "calling", late


def _postponed(now: datetime) -> tuple[ColumnElement[bool], ...]:
    return Action.state.in_(REPEATABLE), Action.next_try_at > now + ACTION_WAITS


def _expire_orders(s: Session, now: datetime) -> int:
    """Make orders NOT_SENT that stayed READY too long: none of them was sent or will be (I7)."""
    orders = s.scalars(_unlocked(select(Order).where(*_expired(now)))).all()
    for order in orders:
        order.code = EXPIRED
        transitions.change_state(s, order, OrderState.NOT_SENT, now, WORKER, code=EXPIRED)
    return len(orders)


def _end_missed_starts(s: Session, now: datetime) -> int:
    """End orders whose guest did not start them in time. An order that is held waits for staff."""
    orders = s.scalars(_unlocked(select(Order).where(*_missed(now)))).all()
    for order in orders:
        end_missed(s, order, now)
    return len(orders)


def _end_unanswered_sends(s: Session, now: datetime) -> int:
    """An order in SENDING without an answer becomes UNKNOWN, never READY.

    Its sender may still settle it.
    """
    orders = s.scalars(_unlocked(select(Order).where(*_unanswered(now)))).all()
    for order in orders:
        order.code = NO_ANSWER
        transitions.change_state(s, order, OrderState.UNKNOWN, now, WORKER, code=NO_ANSWER)
    return len(orders)


def _advance_polls(s: Session, now: datetime) -> int:
    """Bring forward next polls that were set too far ahead, before the clock stepped back."""
    changed = 0
    late = select(Ride.id, Ride.interval_s).where(*_too_far_ahead(now)).order_by(Ride.id)
    for ride_id, interval_s in s.execute(late).all():
        next_poll_at = now + timedelta(seconds=min(USUAL_INTERVAL_S, interval_s))
        still = update(Ride).where(Ride.id == ride_id, *_too_far_ahead(now))
        still = still.values(next_poll_at=next_poll_at, lease_until=None)
        changed += s.connection().execute(still).rowcount
    return changed


def _advance_actions(s: Session, now: datetime) -> int:
    """Bring forward repeated calls of actions set too far ahead, before the clock stepped back."""
    due = update(Action).where(*_postponed(now)).values(next_try_at=now)
    return s.connection().execute(due).rowcount


def _end_unanswered_actions(s: Session, now: datetime) -> int:
    """Mark actions unconfirmed if their caller ended without an answer.

    A later poll shows whether they took effect. No poll shows that of feedback: it is sent again,
    as after an unclear answer.
    """
    with_one = Order.id.in_(select(Action.order_id).where(*_abandoned(now)))
    orders = {order.id: order for order in s.scalars(_unlocked(select(Order).where(with_one)))}
    # read after the orders are locked
    actions = s.scalars(select(Action).where(*_abandoned(now), Action.order_id.in_(orders))).all()
    for action in actions:
        action.state = "unconfirmed"
        if action.name == "feedback" and action.calls < FEEDBACK_CALLS:
            action.next_try_at = now
            action.settled_at = None
        elif action.name == "feedback":
            action.next_try_at = None
            action.settled_at = now
        orders[action.order_id].version += 1
    return len(actions)


def _unlocked(query: Select[tuple[Order]]) -> Select[tuple[Order]]:
    """The orders that no other transaction has locked, locked for this one."""
    return query.order_by(Order.id).with_for_update(of=Order, key_share=True, skip_locked=True)
