"""How long positions, names, phones, answers and the audit log are kept (docs/security.md 8).

Rides keep their money, their times and where they began and ended. A guest whose time is over gets
a pseudonym, by which rides of one person still belong together.
"""

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, delete, func, or_, select, text, update
from sqlalchemy.orm import Session

from ridedash.store.audit import AuditRow
from ridedash.store.database.database import Database
from ridedash.store.models.orders import (
    UNSETTLED,
    Action,
    Attention,
    Offer,
    Order,
    Ride,
    TimelineEvent,
)
from ridedash.store.models.people import Guest

AT_ONCE: Final = 200  # rows in one short transaction, so that nobody waits for the tidying
ROUNDS: Final = 25  # of each kind in one go; the rest is done in an hour
PLACES: Final = frozenset({"pickup", "drop"})
# where somebody was, and when
WAY: Final = frozenset({"position", "bearing", "speed", "route", "eta", "distance"})
PEOPLE: Final = frozenset(
    {"driver_name", "driver_number", "driver_image_url", "share_ride_url", "route", "passengers"}
)
Step = Callable[[Session], int]


@dataclass(frozen=True)
class Keep:
    """For how many days each kind is kept after a ride."""

    positions: int = 7
    guests: int = 30
    evidence: int = 30
    audit: int = 365


def tidy(db: Database, now: datetime, keep: Keep, key: str) -> int:
    """One go: how many rows lost something.

    `key` makes pseudonyms that nobody without it can test a phone against.
    """

    def before(days: int) -> datetime:
        return now - timedelta(days=days)

    steps: tuple[Step, ...] = (
        lambda s: _positions(s, before(keep.positions)),
        lambda s: _guests(s, before(keep.guests), now, key),
        lambda s: _evidence(s, before(keep.evidence)),
        lambda s: _audit(s, before(keep.audit)),
    )
    return sum(_in_batches(db, step) for step in steps)


def _in_batches(db: Database, step: Step) -> int:
    done = 0
    for _ in range(ROUNDS):
        with db.write() as s:
            if s.get_bind().dialect.name == "sqlite":
                # what is dropped leaves no copy in free pages
                s.execute(text("PRAGMA secure_delete = ON"))
            count = step(s)
        done += count
        if count < AT_ONCE:
            break
    return done


def _positions(s: Session, before: datetime) -> int:
    """Ended rides keep start and end only."""
    over = func.coalesce(Ride.ended_at, Ride.created_at) < before
    query = select(Ride).where(Ride.next_poll_at.is_(None), over, Ride.position_at.is_not(None))
    rides = s.scalars(query.order_by(Ride.id).limit(AT_ONCE)).all()
    for ride in rides:
        ride.facts = without(ride.facts, WAY)
        ride.position_at = None
    return len(rides)


def _guests(s: Session, before: datetime, now: datetime, key: str) -> int:
    """Guests who were not seen for so long, and have nothing ahead or open."""
    busy = or_(Order.created_at >= before, Order.pickup_at >= before, Order.state.in_(UNSETTLED))
    still = select(Order.id).where(Order.guest_id == Guest.id, busy).exists()
    query = select(Guest).where(
        Guest.erased_at.is_(None), func.coalesce(Guest.seen_at, Guest.created_at) < before
    )
    guests = s.scalars(query.where(~still).order_by(Guest.id).limit(AT_ONCE)).all()
    for guest in guests:
        forget_guest(s, guest, now, key)
    return len(guests)


def forget_guest(s: Session, guest: Guest, now: datetime, key: str) -> int:
    """Take the person out of a guest's row and their rides; figures stay.

    How many rides they were.
    """
    guest.name, guest.erased_at = pseudonym(guest, key), now
    guest.phone = guest.room = guest.note = guest.language = None
    orders = s.scalars(select(Order).where(Order.guest_id == guest.id)).all()
    for order in orders:
        order.note = order.resolve_reason = order.room = None
        order.guard_key = order.guard_key if order.open else None
        order.version += 1
    _forget_words(s, [order.id for order in orders])
    return len(orders)


def pseudonym(guest: Guest, key: str) -> str:
    """The same for the same person at the same property, and nothing that leads back to them."""
    who = guest.phone or f"{guest.name}/{guest.room or ''}".casefold()
    made = hmac.new(key.encode(), f"guest|{guest.property_id}|{who}".encode(), hashlib.sha256)
    return f"Guest {made.hexdigest()[:10]}"


def _forget_words(s: Session, order_ids: list[int]) -> None:
    """What somebody typed, or the service told, about the people of these rides."""
    for ride in s.scalars(select(Ride).where(Ride.order_id.in_(order_ids))):
        ride.facts = without(ride.facts, WAY | PEOPLE)
        ride.position_at = ride.otp_enc = None
    for action in s.scalars(
        select(Action).where(Action.order_id.in_(order_ids), Action.settled_at.is_not(None))
    ):
        action.payload = {
            name: None if isinstance(value, str) else value
            for name, value in action.payload.items()
        }
        action.text = None
    for table in (TimelineEvent, Attention):
        s.execute(update(table).where(table.order_id.in_(order_ids)).values(detail=None))


def _evidence(s: Session, before: datetime) -> int:
    return _some(
        s,
        update(Order).values(evidence=None),
        Order.id,
        Order.evidence.is_not(None),
        Order.created_at < before,
    )


def _audit(s: Session, before: datetime) -> int:
    """The one way in which the record gets shorter: by age."""
    return _some(s, delete(AuditRow), AuditRow.id, AuditRow.at < before)


def _some(s: Session, change: Any, key: Any, *which: ColumnElement[bool]) -> int:
    ids = s.scalars(select(key).where(*which).order_by(key).limit(AT_ONCE)).all()
    if ids:
        s.execute(change.where(key.in_(ids)))
    return len(ids)


def without(facts: dict[str, Any], names: frozenset[str]) -> dict[str, Any]:
    """Facts less some; start and end always stay."""
    return {name: value for name, value in facts.items() if name not in names - PLACES}


# it can be ordered by for two minutes; the rest is for looking into a case
OFFER_KEPT: Final = timedelta(days=1)


def tidy_all(db: Database, keep: Keep, key: str, now: datetime) -> int:
    """The worker's chore, in small transactions. How many rows went or lost something."""
    return drop_old_offers(db, now) + tidy(db, now, keep, key)


def drop_old_offers(db: Database, now: datetime) -> int:
    """Forget offers of more than a day that no order refers to. How many they were.

    The newest offer always stays: SQLite would give its id to the next one, and a form left open
    may still post it.
    """
    ordered = select(Order.id).where(Order.offer_id == Offer.id).exists()
    newest = select(func.max(Offer.id)).scalar_subquery()
    old = select(Offer.id).where(Offer.fetched_at < now - OFFER_KEPT, Offer.id < newest, ~ordered)
    with db.read() as s:
        if s.scalars(old.limit(1)).first() is None:
            return 0
    with db.write() as s:
        return s.connection().execute(delete(Offer).where(Offer.id.in_(old))).rowcount
