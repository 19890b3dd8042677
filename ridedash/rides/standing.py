"""How all orders and rides stand, for who watches the machine: a few counts by index, never over what has ended."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from ridedash.rides.heartbeats import ENDED
from ridedash.rides.states import LIVE
from ridedash.store.order_tables import Heartbeat, Order, OrderState, Ride

HEARD: Final = timedelta(seconds=30)  # a worker that was silent for longer is taken for gone


class Standing(NamedTuple):
    """Counts and ages in seconds at one instant; an age is 0.0 when there is nothing of the kind."""

    orders: dict[str, int]  # by state, those that are neither settled nor handed to a ride
    unknown_oldest_s: float
    followed: int
    overdue: int
    late_s: float  # how long the most overdue ride has waited to be asked about
    workers: int  # heard of lately
    worker_silent_s: float | None  # since any worker was heard; None: never
    service_silent_s: float  # since when the service answers no worker that lives


def standing(s: Session, now: datetime) -> Standing:
    """How things stand now."""
    counted = s.execute(select(Order.state, func.count()).where(Order.state.in_(LIVE)).group_by(Order.state)).all()
    orders = {str(state): 0 for state in sorted(LIVE)} | {str(state): count for state, count in counted}
    unknown = s.scalar(select(func.min(Order.sent_at)).where(Order.state == OrderState.UNKNOWN))
    followed = s.scalar(select(func.count()).where(Ride.next_poll_at.is_not(None))) or 0
    overdue, first = s.execute(select(func.count(), func.min(Ride.next_poll_at)).where(Ride.next_poll_at <= now)).one()
    beats = s.execute(select(Heartbeat.worker, Heartbeat.beat_at, Heartbeat.silent_since)).all()
    alive = [beat for beat in beats if now - beat.beat_at <= HEARD]
    last = max((beat.beat_at for beat in beats), default=None)
    silent = max((_age_s(beat.silent_since, now) for beat in alive), default=0.0)
    return Standing(
        orders, _age_s(unknown, now), followed, overdue, _age_s(first, now),
        sum(beat.worker != ENDED for beat in alive), None if last is None else _age_s(last, now), silent,
    )  # fmt: skip


def _age_s(since: datetime | None, now: datetime) -> float:
    return 0.0 if since is None else max(0.0, (now - since).total_seconds())
