"""What workers say of themselves: that they are alive, and since when the service gives them no answers."""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from ridedash.store.db import Database
from ridedash.store.order_tables import Heartbeat

ALIVE: Final = timedelta(seconds=30)


def beat(db: Database, worker: str, now: datetime, silent_since: datetime | None = None) -> None:
    """Say that a worker is alive, and forget those that were silent for a day."""
    with db.write() as s:
        s.execute(delete(Heartbeat).where(Heartbeat.beat_at < now - timedelta(days=1)))
        row = s.get(Heartbeat, worker)
        if row is None:
            s.add(Heartbeat(worker=worker, beat_at=now, silent_since=silent_since))
        else:
            row.beat_at, row.silent_since = now, silent_since


def heartbeat_age(s: Session, now: datetime) -> float | None:
    """Seconds since a worker last went round; None when none ever did."""
    last = s.scalar(select(func.max(Heartbeat.beat_at)))
    return None if last is None else max(0.0, (now - last).total_seconds())


def service_silent_since(s: Session, now: datetime) -> datetime | None:
    """Since when the service gives a living worker no answers; None while it answers, or when no worker lives."""
    return s.scalar(select(func.min(Heartbeat.silent_since)).where(Heartbeat.beat_at >= now - ALIVE))
