"""What is done at start and every few seconds: expired orders, dead leases, clocks that stepped.

See docs/booking-protocol.md 1.3.
"""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, Select, and_, or_, select, update
from sqlalchemy.orm import Session

from ridedash.rides.codes import EXPIRED, NO_ANSWER
from ridedash.rides.orders import transitions
from ridedash.store.database.database import Database
from ridedash.store.models.orders import Action, Order, OrderState, Ride

# further in the future than this, an instant is the work of a clock that stepped
AHEAD: Final = timedelta(seconds=5)
SHORT_S: Final = 60.0  # the longest wait between polls of a ride that goes well
MOST_AHEAD_S: Final = 330.0  # the longest wait that tracking/policy.py sets, with its jitter
ACTION_LASTS: Final = timedelta(seconds=30)  # no call of an action takes longer


def sweep(db: Database, now: datetime) -> int:
    """Move on what nobody else will. How many rows changed."""
    with db.read() as s:
        if not any(s.scalars(query.limit(1)).first() is not None for query in _queries(now)):
            return 0
    with db.write() as s:
        return _expire(s, now) + _doubt(s, now) + _unclamp(s, now) + _unconfirmed(s, now)


def _queries(now: datetime) -> tuple[Select[tuple[int]], ...]:
    return (
        select(Order.id).where(*_expired(now)),
        select(Order.id).where(*_silent(now)),
        select(Ride.id).where(*_frozen(now)),
        select(Action.id).where(*_dead(now)),
    )


def _expired(now: datetime) -> tuple[ColumnElement[bool], ...]:
    late = or_(Order.ready_at <= now - transitions.FRESH, Order.ready_at > now + AHEAD)
    return Order.state == OrderState.READY, late


def _silent(now: datetime) -> tuple[ColumnElement[bool], ...]:
    long_ago = Order.sent_at <= now - transitions.SHOWN_UNKNOWN
    return Order.state == OrderState.SENDING, or_(
        long_ago, Order.lease_until <= now, Order.sent_at > now + AHEAD
    )


def _frozen(now: datetime) -> tuple[ColumnElement[bool], ...]:
    soon = and_(
        Ride.interval_s <= SHORT_S,
        Ride.next_poll_at > now + timedelta(seconds=1.1 * SHORT_S) + AHEAD,
    )
    return Ride.poison == 0, or_(soon, Ride.next_poll_at > now + timedelta(seconds=MOST_AHEAD_S))


def _dead(now: datetime) -> tuple[ColumnElement[bool], ...]:
    return Action.state == "calling", or_(
        Action.called_at <= now - ACTION_LASTS, Action.called_at > now + AHEAD
    )


def _expire(s: Session, now: datetime) -> int:
    """I7: READY that was not sent in time is proved to be not sent."""
    orders = s.scalars(_free(select(Order).where(*_expired(now)))).all()
    for order in orders:
        order.code = EXPIRED
        transitions.move(s, order, OrderState.NOT_SENT, now, "worker", code=EXPIRED)
    return len(orders)


def _free(query: Select[tuple[Order]]) -> Select[tuple[Order]]:
    """Those that nobody else moves just now; the next sweep sees the others."""
    return query.order_by(Order.id).with_for_update(of=Order, key_share=True, skip_locked=True)


def _doubt(s: Session, now: datetime) -> int:
    """SENDING without an answer is unknown, never READY again. Its sender may still settle it."""
    orders = s.scalars(_free(select(Order).where(*_silent(now)))).all()
    for order in orders:
        order.code = NO_ANSWER
        transitions.move(s, order, OrderState.UNKNOWN, now, "worker", code=NO_ANSWER)
    return len(orders)


def _unclamp(s: Session, now: datetime) -> int:
    """A wall clock that stepped back must not leave a ride without polls."""
    changed = 0
    for ride_id, interval_s in s.execute(
        select(Ride.id, Ride.interval_s).where(*_frozen(now)).order_by(Ride.id)
    ).all():
        soon = {"next_poll_at": now + timedelta(seconds=min(60.0, interval_s)), "lease_until": None}
        still = update(Ride).where(Ride.id == ride_id, *_frozen(now)).values(soon)
        changed += s.connection().execute(still).rowcount
    return changed


def _unconfirmed(s: Session, now: datetime) -> int:
    """An action whose caller is gone: asked, not confirmed. The next poll reads it back."""
    of = select(Action.order_id).where(*_dead(now))
    orders = {order.id: order for order in s.scalars(_free(select(Order).where(Order.id.in_(of))))}
    # the order is held now
    actions = s.scalars(select(Action).where(*_dead(now), Action.order_id.in_(orders))).all()
    for action in actions:
        action.state = "unconfirmed"
        orders[action.order_id].version += 1
    return len(actions)
