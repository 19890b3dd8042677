"""What workers say of themselves: that they are alive, and since when the service gives them no answers."""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.orm import Session

from ridedash.store.db import Database, insert_if_new
from ridedash.store.order_tables import Heartbeat

ALIVE: Final = timedelta(seconds=30)
AHEAD: Final = timedelta(seconds=5)  # a beat further in the future is the work of a clock that stepped back
ENDED: Final = "ended"  # in place of a worker's name: the last that ended by itself, until another one beats


def beat(db: Database, worker: str, now: datetime, silent_since: datetime | None = None, *, ready: bool = True) -> None:
    """Say that a worker is alive, and forget those that were silent for a day.

    `ready`: whether it could keep an answer; without that it sends nothing.
    """
    with db.write() as s:
        s.execute(delete(Heartbeat).where(or_(Heartbeat.beat_at < now - timedelta(days=1), Heartbeat.worker == ENDED)))
        row = s.get(Heartbeat, worker)
        if row is None:
            row = Heartbeat(worker=worker)
            s.add(row)
        row.beat_at, row.silent_since = now, silent_since
        row.unready_since = None if ready else row.unready_since or now


def leave(db: Database, worker: str) -> None:
    """Say that a worker has ended: it counts no longer.

    When it was last heard stays known, so that a restart of seconds is no news to /readyz and to the desk.
    """
    with db.write() as s:
        row = s.get(Heartbeat, worker)
        if row is None:
            return
        facts = {"beat_at": row.beat_at, "silent_since": row.silent_since, "unready_since": row.unready_since}
        insert_if_new(s, Heartbeat, worker=ENDED, **facts)
        s.execute(update(Heartbeat).where(Heartbeat.worker == ENDED).values(facts))
        s.delete(row)


def heartbeat_age(s: Session, now: datetime) -> float | None:
    """Seconds since a worker last went round; None when none ever did."""
    last = s.scalar(select(func.max(Heartbeat.beat_at)).where(Heartbeat.beat_at <= now + AHEAD))
    return None if last is None else max(0.0, (now - last).total_seconds())


def can_send(s: Session, now: datetime) -> bool:
    """Whether a living worker could keep the answer to an order: without its black box it sends none."""
    lives = Heartbeat.beat_at >= now - ALIVE, Heartbeat.beat_at <= now + AHEAD
    return s.scalars(select(Heartbeat.worker).where(*lives, Heartbeat.unready_since.is_(None))).first() is not None


def service_silent_since(s: Session, now: datetime) -> datetime | None:
    """Since when the service gives a living worker no answers; None while it answers, or when no worker lives."""
    return s.scalar(select(func.min(Heartbeat.silent_since)).where(Heartbeat.beat_at >= now - ALIVE))
