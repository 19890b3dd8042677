"""Heartbeats of workers, and the counts of orders and rides for monitoring.

See docs/operating.md.
"""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.orm import Session

from ridedash.store.database.database import Database, insert_if_new
from ridedash.store.models.orders import UNSETTLED, Heartbeat, Order, OrderState, Ride

ALIVE: Final = timedelta(seconds=30)  # a worker without a heartbeat for longer is taken for dead
# a heartbeat further in the future was written by a clock that has stepped back since
AHEAD: Final = timedelta(seconds=5)
# in place of a worker's name: the last one that ended by itself, until another's heartbeat
ENDED: Final = "ended"


def write_heartbeat(
    db: Database,
    worker: str,
    now: datetime,
    silent_since: datetime | None = None,
    *,
    ready: bool = True,
) -> None:
    """Write that a worker is alive, and delete workers without a heartbeat for a day.

    `silent_since` is since when the service gives it no answers. `ready`: whether its answer
    journal could keep an answer; without that it sends nothing.
    """
    with db.write() as s:
        s.execute(
            delete(Heartbeat).where(
                or_(Heartbeat.beat_at < now - timedelta(days=1), Heartbeat.worker == ENDED)
            )
        )
        row = s.get(Heartbeat, worker)
        if row is None:
            row = Heartbeat(worker=worker)
            s.add(row)
        row.beat_at, row.silent_since = now, silent_since
        row.unready_since = None if ready else row.unready_since or now


def write_end(db: Database, worker: str) -> None:
    """Write that a worker has ended: it no longer counts.

    Its last heartbeat stays known, so that a restart that takes seconds changes neither /readyz nor
    the pages.
    """
    with db.write() as s:
        row = s.get(Heartbeat, worker)
        if row is None:
            return
        facts = {
            "beat_at": row.beat_at,
            "silent_since": row.silent_since,
            "unready_since": row.unready_since,
        }
        insert_if_new(s, Heartbeat, worker=ENDED, **facts)
        s.execute(update(Heartbeat).where(Heartbeat.worker == ENDED).values(facts))
        s.delete(row)


def heartbeat_age(s: Session, now: datetime) -> float | None:
    """Seconds since the last heartbeat of any worker; None when there was none."""
    last = s.scalar(select(func.max(Heartbeat.beat_at)).where(Heartbeat.beat_at <= now + AHEAD))
    return None if last is None else max(0.0, (now - last).total_seconds())


def is_alive(age_s: float | None) -> bool:
    """Whether a heartbeat of this age (`heartbeat_age`) proves that a worker is alive."""
    return age_s is not None and age_s <= ALIVE.total_seconds()


def can_send(s: Session, now: datetime) -> bool:
    """Whether a worker that is alive could keep the answer to an order, and so sends orders."""
    alive = Heartbeat.beat_at >= now - ALIVE, Heartbeat.beat_at <= now + AHEAD
    ready = select(Heartbeat.worker).where(*alive, Heartbeat.unready_since.is_(None))
    return s.scalars(ready).first() is not None


def service_silent_since(s: Session, now: datetime) -> datetime | None:
    """Since when the service gives a worker that is alive no answers.

    None while it answers, or when no worker is alive.
    """
    return s.scalar(
        select(func.min(Heartbeat.silent_since)).where(Heartbeat.beat_at >= now - ALIVE)
    )


class Counts(NamedTuple):
    """Counts, and ages in seconds, at one instant; an age is 0.0 when nothing has one."""

    orders: dict[str, int]  # by state, those that are neither settled nor followed as a ride
    unknown_oldest_s: float
    followed: int
    overdue: int
    late_s: float  # how long the most overdue ride has waited for its poll
    workers: int  # that are alive
    worker_silent_s: float | None  # since the last heartbeat of any worker; None: there was none
    service_silent_s: float  # since when the service answers no worker that is alive


def counts(s: Session, now: datetime) -> Counts:
    """Orders by state, rides that are followed and overdue, and workers, at `now`."""
    counted = s.execute(
        select(Order.state, func.count()).where(Order.state.in_(UNSETTLED)).group_by(Order.state)
    ).all()
    orders = {str(state): 0 for state in sorted(UNSETTLED)} | {
        str(state): count for state, count in counted
    }
    unknown = s.scalar(select(func.min(Order.sent_at)).where(Order.state == OrderState.UNKNOWN))
    followed = s.scalar(select(func.count()).where(Ride.next_poll_at.is_not(None))) or 0
    overdue, first = s.execute(
        select(func.count(), func.min(Ride.next_poll_at)).where(Ride.next_poll_at <= now)
    ).one()
    rows = s.execute(select(Heartbeat.worker, Heartbeat.beat_at, Heartbeat.silent_since)).all()
    alive = [row for row in rows if now - row.beat_at <= ALIVE]
    last = max((row.beat_at for row in rows), default=None)
    return Counts(
        orders=orders,
        unknown_oldest_s=_age_s(unknown, now),
        followed=followed,
        overdue=overdue,
        late_s=_age_s(first, now),
        workers=sum(row.worker != ENDED for row in alive),
        worker_silent_s=None if last is None else _age_s(last, now),
        service_silent_s=max((_age_s(row.silent_since, now) for row in alive), default=0.0),
    )


def _age_s(since: datetime | None, now: datetime) -> float:
    return 0.0 if since is None else max(0.0, (now - since).total_seconds())
