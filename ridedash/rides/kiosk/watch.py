"""Checks kiosks every few seconds in the worker, because a kiosk's page may have stopped.

It finds guests whose ticket was never shown, rides that ended before they began, requests for
approval that the desk did not answer, and visits whose page did not report an end.
"""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import and_, func, or_, select
from sqlalchemy.orm import Session

from ridedash import wire
from ridedash.rides.kiosk import approvals, rules
from ridedash.rides.state import transitions
from ridedash.store import kiosk_visits
from ridedash.store.database.database import Database
from ridedash.store.kiosk_visits import Visit
from ridedash.store.models.kiosks import Kiosk, KioskVisit
from ridedash.store.models.orders import Order, Ride
from ridedash.store.models.people import Guest

# an attention item; its detail is the ride's number and the guest's name
NO_TICKET: Final = "kiosk_no_ticket"
# time for a page to show the ticket; a working page needs much less
TICKET_WITHIN: Final = timedelta(seconds=45)


def watch(db: Database, now: datetime) -> int:
    """Look once at all kiosks. Returns how many rows it changed; writes only when it has to."""
    with db.read() as s:
        waiting = approvals.has_late(s, now)  # includes kiosks that were removed
        kiosks = s.scalars(select(Kiosk.id).where(Kiosk.revoked_at.is_(None))).all()
        if not kiosks and not waiting:
            return 0
        suspicious = _with_ended_rides(s, now)
        late = kiosk_visits.without_ticket(s, kiosks, now - TICKET_WITHIN)
        lost = kiosk_visits.still_open(s, kiosks, now)
    if not (suspicious or late or lost or waiting):
        return 0
    with db.write() as s:
        changed = sum(_watch_ended(s, kiosk_id, now) for kiosk_id in suspicious)
        changed += sum(_tell_desk(s, order_id, now) for order_id in late)
        for visit_id in lost:
            kiosk_visits.end_lost(s, visit_id, now)
        return changed + len(lost) + approvals.expire_asks(s, now)


def note_shown_on_phone(db: Database, visit: Visit, now: datetime) -> None:
    """Record that a guest's own phone has its page of the ride that it booked.

    An attention item that doubted it is cleared: unlike a kiosk, a phone stays with its guest.
    """
    with db.read() as s:
        known = s.get(KioskVisit, visit.id)
        order_id = known.order_id if known is not None else None
    if order_id is None:
        return
    with db.write() as s:
        order = s.get_one(Order, order_id)
        kiosk_visits.note_ticket(s, visit, order_id, now)
        transitions.clear_attention(s, order, NO_TICKET, now)


def _with_ended_rides(s: Session, now: datetime) -> list[int]:
    """Kiosks that require no desk code now and had too many cancelled rides in the last hour."""
    free = or_(Kiosk.code_until.is_(None), Kiosk.code_until <= now)
    query = (
        select(Kiosk.id)
        .join(Order, and_(Order.property_id == Kiosk.property_id, Order.kiosk_id == Kiosk.id))
        .join(Ride, Ride.order_id == Order.id)
        .where(
            free,
            Kiosk.revoked_at.is_(None),
            Order.created_at > now - rules.LIVE_FOR,
            Ride.status == wire.BOOKING_CANCELLED,
            Ride.ended_at > now - rules.HOUR,
        )
        .group_by(Kiosk.id)
        .having(func.count(Ride.id) >= rules.ENDED_EARLY)
    )
    return list(s.scalars(query))


def _watch_ended(s: Session, kiosk_id: int, now: datetime) -> int:
    kiosk = s.get(Kiosk, kiosk_id, with_for_update=True)
    return int(kiosk is not None and rules.watch_ended(s, kiosk, now))


def _tell_desk(s: Session, order_id: int, now: datetime) -> int:
    """Tell the desk about an order whose ticket was never shown: its guest may still wait for it.

    The kiosk may have lost power after the guest pressed Book. A ride that has ended needs no
    ticket: its page says so in place of one. Returns how many rows were changed.
    """
    order = s.get_one(Order, order_id)
    visits = select(KioskVisit).where(KioskVisit.order_id == order_id).with_for_update()
    waiting = [row for row in s.scalars(visits) if row.screen in kiosk_visits.TICKET_DUE]
    for row in waiting:
        row.screen = kiosk_visits.KioskScreen.UNSHOWN
    status = s.scalars(select(Ride.status).where(Ride.order_id == order_id)).first()
    needless = order.state in kiosk_visits.NO_TICKET_NEEDED or status in wire.TERMINAL
    if not waiting or needless:
        return len(waiting)
    guest = s.get_one(Guest, order.guest_id)
    number = rules.number_of(s, order_id)
    transitions.raise_attention(s, order, NO_TICKET, f"{number} · {guest.name}", now)
    return len(waiting)
