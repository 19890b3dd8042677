"""The retention job for positions, guests, answers, offers and audit log (docs/security.md 8).

Rides keep their prices, times, start and end. A guest whose retention time is over gets a
pseudonym, so that rides of the same guest still belong together.
"""

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, delete, func, or_, select, text, update
from sqlalchemy.orm import Session

from ridedash.rides.state.codes import PLAN_MISSED
from ridedash.store.audit import AuditRow
from ridedash.store.companions import forget_companions, remove_companions
from ridedash.store.database.database import Database
from ridedash.store.guest_lists import DRAFT_LASTS, forget_orders, remove_old
from ridedash.store.insight_rollup import forget_places
from ridedash.store.models.kiosks import KioskAsk, KioskCode, KioskVisit, OwnPhone, Ticket
from ridedash.store.models.lists import ListLine
from ridedash.store.models.orders import (
    UNSETTLED,
    Action,
    Attention,
    Offer,
    Order,
    PathPoint,
    Ride,
    TimelineEvent,
)
from ridedash.store.models.people import Guest, Throttle

BATCH: Final = 200  # rows in one transaction: few, so that other writers don't wait long
PATH_BATCH: Final = 2_000  # points of paths in one transaction: small rows, but a ride has hundreds
MOST_BATCHES: Final = 25  # batches of each step in one run; the next run, an hour later, continues
# an order may use an offer for two minutes; the rest of the day is for support
OFFER_LASTS: Final = timedelta(days=1)
ENDS: Final = frozenset({"pickup", "drop"})  # facts of a ride that are never deleted
# facts of a ride that show where it was, and when
ROUTE: Final = frozenset({"position", "bearing", "speed", "route", "eta", "distance"})
PEOPLE: Final = frozenset(
    {"driver_name", "driver_number", "driver_image_url", "share_ride_url", "route", "passengers"}
)


@dataclass(frozen=True)
class RetentionDays:
    """For how many days each kind of data is stored."""

    positions: int = 7
    guests: int = 30  # since a guest's last ride
    evidence: int = 30  # answers to create, since the order
    audit: int = 365  # since the entry, or the start of a kiosk's visit


def retention_job(db: Database, days: RetentionDays, key: str, now: datetime) -> int:
    """Delete old data in short transactions. Returns how many rows were deleted or lost data.

    `key` makes the pseudonyms: without it no one can find a pseudonym's phone number by trying.
    """
    return drop_old_offers(db, now) + remove_old_data(db, now, days, key)


def drop_old_offers(db: Database, now: datetime) -> int:
    """Delete offers older than a day that no order and no line of a list has. Returns how many.

    The newest offer always stays: so its id does not come again although the clock was set back,
    and a form that is still open may post that id.
    """
    ordered = select(Order.id).where(Order.offer_id == Offer.id).exists()
    newest = select(func.max(Offer.id)).scalar_subquery()
    listed = select(ListLine.id).where(ListLine.offer_id == Offer.id).exists()
    old = select(Offer.id).where(
        Offer.fetched_at < now - OFFER_LASTS, Offer.id < newest, ~ordered, ~listed
    )
    with db.read() as s:
        if s.scalars(old.limit(1)).first() is None:
            return 0
    with db.write() as s:
        return s.connection().execute(delete(Offer).where(Offer.id.in_(old))).rowcount


def remove_old_data(db: Database, now: datetime, days: RetentionDays, key: str) -> int:
    """One run of every step except offers. Returns how many rows it changed."""

    def before(count: int) -> datetime:
        return now - timedelta(days=count)

    day = before(1)  # desk codes and approvals last only minutes
    steps: tuple[Callable[[Session], int], ...] = (
        lambda s: _remove_positions(s, before(days.positions)),
        lambda s: remove_old(s, before(days.guests), now - DRAFT_LASTS, BATCH),
        lambda s: _remove_paths(s, before(days.positions)),
        lambda s: remove_companions(s, before(days.guests), BATCH),
        lambda s: _remove_guests(s, before(days.guests), now, key),
        lambda s: _remove_evidence(s, before(days.evidence)),
        lambda s: _remove_audit_entries(s, before(days.audit)),
        lambda s: _remove_tickets(s, before(days.guests)),
        lambda s: _change_batch(s, delete(KioskAsk), KioskAsk.id, KioskAsk.asked_at < day),
        lambda s: _change_batch(s, delete(KioskCode), KioskCode.id, KioskCode.expires_at < day),
        lambda s: _change_batch(
            s, delete(OwnPhone), OwnPhone.token_hash, OwnPhone.made_at < before(2)
        ),
        lambda s: _remove_visits(s, before(days.audit)),
        lambda s: _change_batch(s, delete(Throttle), Throttle.key, Throttle.since < day),
    )
    return sum(_in_batches(db, step) for step in steps)


def forget_guest(s: Session, guest: Guest, now: datetime, key: str) -> int:
    """Remove the person from a guest's row and from their orders. Returns how many orders."""
    guest.name = pseudonym(guest, key)
    guest.erased_at = now
    guest.phone = guest.phone2 = guest.room = guest.note = guest.language = None
    orders = s.scalars(select(Order).where(Order.guest_id == guest.id)).all()
    for order in orders:
        order.note = order.resolve_reason = order.room = order.flight = order.departs_at = None
        order.flight_lands = False
        # the message of PLAN_MISSED is a code and stays; any other may be the service's words
        if order.code != PLAN_MISSED:
            order.message = None
        if not order.open:
            order.guard_key = None
        order.version += 1
    _remove_texts(s, [order.id for order in orders])
    _remove_kiosk_traces(s, guest, [order.id for order in orders])
    forget_orders(s, [order.id for order in orders])
    forget_companions(s, [order.id for order in orders])
    return len(orders)


def pseudonym(guest: Guest, key: str) -> str:
    """A pseudonym: the same for the same person at the same property, untraceable without `key`."""
    person = guest.phone or f"{guest.name}/{guest.room or ''}".casefold()
    message = f"guest|{guest.property_id}|{person}".encode()
    digest = hmac.new(key.encode(), message, hashlib.sha256).hexdigest()
    return f"Guest {digest[:10]}"


def without(facts: dict[str, Any], names: frozenset[str]) -> dict[str, Any]:
    """The facts of a ride except `names`; `pickup` and `drop` always stay."""
    return {name: value for name, value in facts.items() if name not in names - ENDS}


def _in_batches(db: Database, step: Callable[[Session], int]) -> int:
    done = 0
    for _ in range(MOST_BATCHES):
        with db.write() as s:
            if s.get_bind().dialect.name == "sqlite":
                # deleted data must leave no copy in free pages
                s.execute(text("PRAGMA secure_delete = ON"))
            count = step(s)
        done += count
        if count < BATCH:
            break
    return done


def _remove_positions(s: Session, before: datetime) -> int:
    """Delete positions from the facts of rides that ended before this time.

    The pickup and the drop stay.
    """
    over = func.coalesce(Ride.ended_at, Ride.created_at) < before
    query = select(Ride).where(Ride.next_poll_at.is_(None), over, Ride.position_at.is_not(None))
    rides = s.scalars(query.order_by(Ride.id).limit(BATCH)).all()
    for ride in rides:
        ride.facts = without(ride.facts, ROUTE)
        ride.position_at = None
    return len(rides)


def _remove_paths(s: Session, before: datetime) -> int:
    """Delete points of paths that were driven before this time."""
    query = select(PathPoint.id).where(PathPoint.at < before).order_by(PathPoint.at)
    ids = s.scalars(query.limit(PATH_BATCH)).all()
    if ids:
        s.execute(delete(PathPoint).where(PathPoint.id.in_(ids)))
    return len(ids)


def _remove_guests(s: Session, before: datetime, now: datetime, key: str) -> int:
    """Remove guests who were last seen before this time and have no planned or open ride."""
    busy = or_(Order.created_at >= before, Order.pickup_at >= before, Order.state.in_(UNSETTLED))
    still = select(Order.id).where(Order.guest_id == Guest.id, busy).exists()
    query = select(Guest).where(
        Guest.erased_at.is_(None), func.coalesce(Guest.seen_at, Guest.created_at) < before
    )
    guests = s.scalars(query.where(~still).order_by(Guest.id).limit(BATCH)).all()
    for guest in guests:
        forget_guest(s, guest, now, key)
    return len(guests)


def _remove_texts(s: Session, order_ids: list[int]) -> None:
    """Remove what may name a person or a place from the rides, actions and events of these orders.

    The pickup, the drop and the prices of the rides stay.
    """
    for ride in s.scalars(select(Ride).where(Ride.order_id.in_(order_ids))):
        ride.facts = without(ride.facts, ROUTE | PEOPLE)
        ride.position_at = ride.otp_enc = None
    s.execute(delete(PathPoint).where(PathPoint.order_id.in_(order_ids)))
    forget_places(s, order_ids)
    ours = Ride.order_id == Action.order_id
    followed = select(Ride.id).where(ours, Ride.next_poll_at.is_not(None))
    # an action without a clear answer is never settled once the ride is not polled any more
    over = or_(Action.settled_at.is_not(None), ~followed.exists())
    for action in s.scalars(select(Action).where(Action.order_id.in_(order_ids), over)):
        action.payload = {
            name: None if isinstance(value, str) else value
            for name, value in action.payload.items()
        }
        action.text = None
    for table in (TimelineEvent, Attention):
        s.execute(update(table).where(table.order_id.in_(order_ids)).values(detail=None))


def _remove_kiosk_traces(s: Session, guest: Guest, order_ids: list[int]) -> None:
    """Delete the tickets of these rides; remove the guest from their approvals and desk codes."""
    s.execute(delete(Ticket).where(Ticket.order_id.in_(order_ids)))
    s.execute(update(KioskAsk).where(KioskAsk.order_id.in_(order_ids)).values(wish_enc=None))
    s.execute(update(KioskCode).where(KioskCode.guest_id == guest.id).values(guest_id=None))


def _remove_evidence(s: Session, before: datetime) -> int:
    old = (Order.evidence.is_not(None), Order.created_at < before)
    return _change_batch(s, update(Order).values(evidence=None), Order.id, *old)


def _remove_audit_entries(s: Session, before: datetime) -> int:
    """Delete audit entries from before this time. Nothing else ever deletes from the audit log."""
    return _change_batch(s, delete(AuditRow), AuditRow.id, AuditRow.at < before)


def _remove_tickets(s: Session, before: datetime) -> int:
    """Delete numbers and PINs of kiosk rides that were ordered before this time."""
    old = select(Order.id).where(Order.id == Ticket.order_id, Order.created_at < before).exists()
    return _change_batch(s, delete(Ticket), Ticket.id, old)


def _remove_visits(s: Session, before: datetime) -> int:
    """Delete visits at kiosks that began before this time."""
    return _change_batch(s, delete(KioskVisit), KioskVisit.id, KioskVisit.began_at < before)


def _change_batch(s: Session, change: Any, key: Any, *which: ColumnElement[bool]) -> int:
    ids = s.scalars(select(key).where(*which).order_by(key).limit(BATCH)).all()
    if ids:
        s.execute(change.where(key.in_(ids)))
    return len(ids)
