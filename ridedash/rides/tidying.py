"""What nobody needs any more: prices that were shown and never ordered by, and what retention says."""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, func, select

from ridedash.rides import retention
from ridedash.rides.retention import Keep
from ridedash.store.db import Database
from ridedash.store.order_tables import Offer, Order

OFFER_KEPT: Final = timedelta(days=1)  # it can be ordered by for two minutes; the rest is for looking into a case


def tidy_all(db: Database, keep: Keep, key: str, now: datetime) -> int:
    """The worker's chore, in small transactions. How many rows went or lost something."""
    return drop_old_offers(db, now) + retention.tidy(db, now, keep, key)


def drop_old_offers(db: Database, now: datetime) -> int:
    """Forget offers of more than a day that no order refers to. How many they were.

    The newest offer always stays: SQLite would give its id to the next one, and a form left open may still post it.
    """
    ordered = select(Order.id).where(Order.offer_id == Offer.id).exists()
    newest = select(func.max(Offer.id)).scalar_subquery()
    old = select(Offer.id).where(Offer.fetched_at < now - OFFER_KEPT, Offer.id < newest, ~ordered)
    with db.read() as s:
        if s.scalars(old.limit(1)).first() is None:
            return 0
    with db.write() as s:
        return s.connection().execute(delete(Offer).where(Offer.id.in_(old))).rowcount
