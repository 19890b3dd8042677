"""Heartbeats of workers, and counts of orders and rides for monitoring (docs/operating.md)."""

import socket
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from sqlalchemy import ColumnElement, delete, func, or_, select, update
from sqlalchemy.orm import Session

from ridedash.store.database.database import Database, insert_if_new
from ridedash.store.models.orders import UNSETTLED, Heartbeat, Order, OrderState, Ride

ALIVE: Final = timedelta(seconds=30)  # a worker whose heartbeat is older counts as ended
# a heartbeat further in the future was written by a clock that has stepped back since
AHEAD: Final = timedelta(seconds=5)
# the `worker` column of the row that stores the last heartbeat of a stopped worker; the next
# heartbeat of any worker deletes the row
ENDED: Final = "ended"


class Alarms(NamedTuple):
    """Problems that a worker reports in its heartbeat; each is None without that problem.

    They are: since when the service gives no answers, since when it refuses the partner's key, and
    by how many seconds our clock is ahead of the service's (`Runtime.clock_ahead_s`).
    """

    silent_since: datetime | None = None
    key_refused_since: datetime | None = None
    clock_ahead_s: float | None = None


NO_ALARMS: Final = Alarms()
_FACTS: Final = ("beat_at", "unready_since", *Alarms._fields)


def this_host() -> str:
    """The name of this machine; the names of its workers begin with it."""
    return socket.gethostname()[:40]


def absent_hosts(s: Session, now: datetime) -> dict[str, datetime]:
    """Other machines that had a worker and have none alive, and when each was last seen.

    Only machines that were seen within the last day: older heartbeats are deleted.
    """
    last_seen: dict[str, datetime] = {}
    for row in s.execute(select(Heartbeat.worker, Heartbeat.beat_at).order_by(Heartbeat.beat_at)):
        if row.worker != ENDED:
            last_seen[row.worker.rsplit(":", 2)[0]] = row.beat_at
    return {host: at for host, at in last_seen.items() if host != this_host() and now - at > ALIVE}


def compared(s: Session, now: datetime) -> dict[str, datetime]:
    """The workers that have compared the database with their journals and may live: heartbeats."""
    query = select(Heartbeat.worker, Heartbeat.beat_at).where(
        Heartbeat.compared, Heartbeat.worker != ENDED, Heartbeat.beat_at >= now - ALIVE
    )
    return {row.worker: row.beat_at for row in s.execute(query)}


def note_compared(s: Session, worker: str, *, compared: bool) -> None:
    """Record whether a worker has compared the database with its journals, and so may send.

    For the transaction of its heartbeat.
    """
    s.get_one(Heartbeat, worker).compared = compared


def write_heartbeat(
    db: Database,
    worker: str,
    now: datetime,
    alarms: Alarms = NO_ALARMS,
    *,
    ready: bool = True,
    also_write: Callable[[Session], None] | None = None,
) -> None:
    """Write the heartbeat of a worker; delete workers that have had none for a day.

    `ready`: whether its journals can store a send and its answer; else it sends nothing.
    `also_write` is called within the same transaction, to write something else.
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
        row.beat_at = now
        row.silent_since, row.key_refused_since, row.clock_ahead_s = alarms
        row.unready_since = None if ready else row.unready_since or now
        if also_write is not None:
            also_write(s)


def write_end(db: Database, worker: str) -> None:
    """Replace the row of a worker that stops by the row ENDED, with the same heartbeat.

    So /readyz and the pages report a missing worker only when that heartbeat is older than ALIVE,
    not during a restart, which takes seconds.
    """
    with db.write() as s:
        row = s.get(Heartbeat, worker)
        if row is None:
            return
        facts = {name: getattr(row, name) for name in _FACTS}
        insert_if_new(s, Heartbeat, worker=ENDED, **facts)
        s.execute(update(Heartbeat).where(Heartbeat.worker == ENDED).values(facts))
        s.delete(row)


def heartbeat_age(s: Session, now: datetime) -> float | None:
    """Seconds since the last heartbeat of any worker; None when there was none."""
    last = s.scalar(select(func.max(Heartbeat.beat_at)).where(Heartbeat.beat_at <= now + AHEAD))
    if last is None:
        return None
    return max(0.0, (now - last).total_seconds())


def is_alive(age_s: float | None) -> bool:
    """Whether a heartbeat of this age (`heartbeat_age`) proves that a worker is alive."""
    return age_s is not None and age_s <= ALIVE.total_seconds()


def can_send(s: Session, now: datetime) -> bool:
    """Whether a worker is alive that can write its journals; without them it sends nothing."""
    ready = select(Heartbeat.worker).where(*_alive(now), Heartbeat.unready_since.is_(None))
    return s.scalars(ready).first() is not None


def alarms(s: Session, now: datetime) -> Alarms:
    """The alarms of all live workers together: earliest times, largest clock difference."""
    return Alarms(*s.execute(_ALARMS.where(*_alive(now))).one())


_ALARMS: Final = select(
    func.min(Heartbeat.silent_since),
    func.min(Heartbeat.key_refused_since),
    func.max(Heartbeat.clock_ahead_s),
)


def _alive(now: datetime) -> tuple[ColumnElement[bool], ...]:
    return Heartbeat.beat_at >= now - ALIVE, Heartbeat.beat_at <= now + AHEAD


class HealthCounts(NamedTuple):
    """Counts, and durations in seconds, at one instant; durations that don't apply are 0.0."""

    orders: dict[str, int]  # by state; the states of UNSETTLED only
    unknown_oldest_s: float  # since the oldest UNKNOWN order was sent
    followed: int  # rides that are polled
    overdue: int  # rides whose poll is due
    late_s: float  # how long the most overdue ride has waited for its poll
    workers: int  # workers that are alive
    worker_silent_s: float | None  # since the last heartbeat of any worker; None without one
    service_silent_s: float  # the longest time for which a live worker has had no answers


def counts(s: Session, now: datetime) -> HealthCounts:
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
    alive = s.execute(select(Heartbeat.worker, Heartbeat.silent_since).where(*_alive(now))).all()
    return HealthCounts(
        orders=orders,
        unknown_oldest_s=_age_s(unknown, now),
        followed=followed,
        overdue=overdue,
        late_s=_age_s(first, now),
        workers=sum(row.worker != ENDED for row in alive),
        worker_silent_s=heartbeat_age(s, now),
        service_silent_s=max((_age_s(row.silent_since, now) for row in alive), default=0.0),
    )


def _age_s(since: datetime | None, now: datetime) -> float:
    if since is None:
        return 0.0
    return max(0.0, (now - since).total_seconds())
