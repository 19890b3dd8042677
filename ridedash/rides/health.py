"""What workers say of themselves: that they are alive, and since when the service gives them no
answers.
"""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.orm import Session

from ridedash.rides.states import LIVE
from ridedash.store.database.database import Database, insert_if_new
from ridedash.store.models.orders import Heartbeat, Order, OrderState, Ride

ALIVE: Final = timedelta(seconds=30)
# a beat further in the future is the work of a clock that stepped back
AHEAD: Final = timedelta(seconds=5)
# in place of a worker's name: the last that ended by itself, until another one beats
ENDED: Final = "ended"


def beat(
    db: Database,
    worker: str,
    now: datetime,
    silent_since: datetime | None = None,
    *,
    ready: bool = True,
) -> None:
    """Say that a worker is alive, and forget those that were silent for a day.

    `ready`: whether it could keep an answer; without that it sends nothing.
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


def leave(db: Database, worker: str) -> None:
    """Say that a worker has ended: it counts no longer.

    When it was last heard stays known, so that a restart of seconds is no news to /readyz and to
    the desk.
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
    """Seconds since a worker last went round; None when none ever did."""
    last = s.scalar(select(func.max(Heartbeat.beat_at)).where(Heartbeat.beat_at <= now + AHEAD))
    return None if last is None else max(0.0, (now - last).total_seconds())


def can_send(s: Session, now: datetime) -> bool:
    """Whether a living worker could keep the answer to an order: without its black box it sends
    none.
    """
    lives = Heartbeat.beat_at >= now - ALIVE, Heartbeat.beat_at <= now + AHEAD
    return (
        s.scalars(select(Heartbeat.worker).where(*lives, Heartbeat.unready_since.is_(None))).first()
        is not None
    )


def service_silent_since(s: Session, now: datetime) -> datetime | None:
    """Since when the service gives a living worker no answers; None while it answers, or when no
    worker lives.
    """
    return s.scalar(
        select(func.min(Heartbeat.silent_since)).where(Heartbeat.beat_at >= now - ALIVE)
    )


HEARD: Final = timedelta(seconds=30)  # a worker that was silent for longer is taken for gone


class Standing(NamedTuple):
    """Counts and ages in seconds at one instant; an age is 0.0 when there is nothing of the
    kind.
    """

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
    counted = s.execute(
        select(Order.state, func.count()).where(Order.state.in_(LIVE)).group_by(Order.state)
    ).all()
    orders = {str(state): 0 for state in sorted(LIVE)} | {
        str(state): count for state, count in counted
    }
    unknown = s.scalar(select(func.min(Order.sent_at)).where(Order.state == OrderState.UNKNOWN))
    followed = s.scalar(select(func.count()).where(Ride.next_poll_at.is_not(None))) or 0
    overdue, first = s.execute(
        select(func.count(), func.min(Ride.next_poll_at)).where(Ride.next_poll_at <= now)
    ).one()
    beats = s.execute(select(Heartbeat.worker, Heartbeat.beat_at, Heartbeat.silent_since)).all()
    alive = [beat for beat in beats if now - beat.beat_at <= HEARD]
    last = max((beat.beat_at for beat in beats), default=None)
    silent = max((_age_s(beat.silent_since, now) for beat in alive), default=0.0)
    return Standing(
        orders,
        _age_s(unknown, now),
        followed,
        overdue,
        _age_s(first, now),
        sum(beat.worker != ENDED for beat in alive),
        None if last is None else _age_s(last, now),
        silent,
    )


def _age_s(since: datetime | None, now: datetime) -> float:
    return 0.0 if since is None else max(0.0, (now - since).total_seconds())
