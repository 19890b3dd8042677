"""Visits of a kiosk: when they were, how far they got and how they ended; never what was typed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum, auto
from typing import Final

from sqlalchemy import and_, or_, select
from sqlalchemy.orm import Session

from ridedash.store.database.database import insert_if_new
from ridedash.store.models.kiosks import Kiosk, KioskVisit
from ridedash.store.models.orders import Order

ENDS: Final = frozenset({"done", "idle", "left", "help", "lost"})
ENDED_VISITS: Final = "ended visits"  # key in a session's info: list of (how, seconds), for metrics
LONGEST_VISIT: Final = timedelta(hours=2)  # no visit lasts longer
MAX_AGE: Final = timedelta(days=1)  # the greatest age of a visit that the worker still ends
# a visit that began longer ago than this is ended if its kiosk sent no heartbeat for as long
LOST_AFTER: Final = timedelta(minutes=10)
# states of orders without a ride, which need no ticket
NO_TICKET_NEEDED: Final = frozenset({"REJECTED", "NOT_SENT", "FAILED", "CLOSED_NOT_BOOKED"})
AIDS: Final = frozenset({"large", "lower", "contrast", "speech", "keys"})


class KioskScreen(StrEnum):
    """The screens of a kiosk in the order of a visit, whose furthest one is stored.

    static/js/kiosk/visit.js has the same names in the same order (tests/views/kiosk/
    test_screens.py), except for UNSHOWN, which the worker stores.
    """

    START = auto()
    WHERE = auto()
    PLACE = auto()
    CAR = auto()
    MEET = auto()
    PEOPLE = auto()
    WHO = auto()
    CHECK = auto()
    CODE = auto()
    SENDING = auto()  # Book was pressed, or the order of this visit has just been made
    ASKING = auto()  # the desk decides whether there will be an order
    UNSHOWN = auto()  # the ticket was never shown, and the order has an attention item about that
    BOOKED = auto()  # the page has shown the ticket
    FIND = auto()
    RIDE = auto()
    SORRY = auto()
    UNKNOWN = auto()


_RANKS: Final[dict[str | None, int]] = {screen: n for n, screen in enumerate(KioskScreen)}
# screens of a visit with an order whose ticket the page has not shown yet
TICKET_DUE: Final = tuple(KioskScreen)[: _RANKS[KioskScreen.UNSHOWN]]


@dataclass(frozen=True)
class Visit:
    """A visit, by the random id that its page made, and its kiosk."""

    id: str
    kiosk_id: int
    property_id: int


@dataclass(frozen=True)
class VisitEnd:
    """How a visit ended, as its page reports it.

    An unknown `how` counts as "left"; an unknown screen or aid is ignored.
    """

    how: str = ""
    screen: str = ""
    language: str = ""
    aids: Sequence[str] = ()
    seconds: int | None = None


def touch(s: Session, visit: Visit, now: datetime, screen: str = "") -> KioskVisit | None:
    """The locked row of a visit; made if it is new. None for the id of another kiosk's visit.

    Needs a write session.
    """
    facts = {"kiosk_id": visit.kiosk_id, "property_id": visit.property_id}
    insert_if_new(s, KioskVisit, id=visit.id, began_at=now, aids=[], **facts)
    row = s.get_one(KioskVisit, visit.id, with_for_update=True, populate_existing=True)
    if row.kiosk_id != visit.kiosk_id:
        return None
    row.screen = _furthest(row.screen, screen)
    return row


def note_order(s: Session, visit: Visit, order_id: int, now: datetime) -> None:
    """Record the order that this visit has made; its ticket is not shown yet."""
    row = touch(s, visit, now)
    if row is not None:
        row.order_id = order_id
        row.screen = KioskScreen.SENDING


def note_ticket(s: Session, visit: Visit, order_id: int, now: datetime) -> None:
    """Record that the page has shown this order's ticket.

    Call it when the page requests the ride by number and PIN, which the ticket shows.
    """
    row = touch(s, visit, now)
    if row is not None and row.order_id == order_id:
        row.screen = _furthest(row.screen, KioskScreen.BOOKED)


def shows_ticket(s: Session, visit: Visit, order_id: int) -> bool:
    """Whether the page has shown the ticket of this order; True if the visit did not order it."""
    row = s.get(KioskVisit, visit.id)
    if row is None or row.order_id != order_id:
        return True
    return _rank(row.screen) >= _rank(KioskScreen.BOOKED)


def ask_help(s: Session, visit: Visit, screen: str, now: datetime) -> bool:
    """Call the desk until staff answer; after an answer or an end, a new request calls again.

    Only one guest stands at a kiosk, so earlier visits there that have called are ended. False, and
    no call, for the id of another kiosk's visit.
    """
    row = touch(s, visit, now, screen)
    if row is None:
        return False
    earlier = select(KioskVisit.id).where(
        KioskVisit.kiosk_id == visit.kiosk_id,
        KioskVisit.id != visit.id,
        KioskVisit.began_at > now - LONGEST_VISIT,
        KioskVisit.help_at.is_not(None),
        KioskVisit.ended_at.is_(None),
    )
    for other in s.scalars(earlier.order_by(KioskVisit.id)).all():
        end_lost(s, other, now)
    rings = row.help_at is not None and row.help_answered_at is None and row.ended_at is None
    if not rings:
        row.help_at = now
        row.help_answered_at = None
        row.help_answered_by = None
        row.ended_at = row.how = None
    return True


def end(s: Session, visit: Visit, report: VisitEnd, now: datetime) -> None:
    """Record how a visit ended, unless it has ended; its furthest screen is updated in any case."""
    row = touch(s, visit, now, report.screen)
    if row is None or row.ended_at is not None:
        return
    row.ended_at = now
    row.how = report.how if report.how in ENDS else "left"
    row.language = report.language or None
    row.aids = sorted(AIDS.intersection(report.aids))
    row.seconds = report.seconds
    if report.seconds is not None:
        row.began_at = min(row.began_at, now - timedelta(seconds=report.seconds))
    _count(s, row)


def without_ticket(s: Session, kiosk_ids: Sequence[int], before: datetime) -> list[int]:
    """Ids of orders made before this time whose ticket is not known to have been shown.

    Only visits that began at most a day (MAX_AGE) before count.
    """
    query = select(Order.id).join(KioskVisit, KioskVisit.order_id == Order.id)
    recent = KioskVisit.began_at > before - MAX_AGE
    mine = KioskVisit.kiosk_id.in_(kiosk_ids), recent, KioskVisit.screen.in_(TICKET_DUE)
    return list(s.scalars(query.where(*mine, Order.created_at < before)))


def still_open(s: Session, kiosk_ids: Sequence[int], now: datetime) -> list[str]:
    """Ids of open visits that began too long ago, or whose kiosk is silent.

    These are LONGEST_VISIT and LOST_AFTER. A visit that began less than LOST_AFTER or more than
    MAX_AGE ago is left out.
    """
    silent = or_(Kiosk.seen_at.is_(None), Kiosk.seen_at < now - LOST_AFTER)
    quiet = and_(KioskVisit.began_at < now - LOST_AFTER, silent)
    query = (
        select(KioskVisit.id)
        .join(Kiosk, Kiosk.id == KioskVisit.kiosk_id)
        .where(
            KioskVisit.kiosk_id.in_(kiosk_ids),
            KioskVisit.began_at > now - MAX_AGE,
            KioskVisit.ended_at.is_(None),
            or_(KioskVisit.began_at < now - LONGEST_VISIT, quiet),
        )
    )
    return list(s.scalars(query))


def end_lost(s: Session, visit_id: str, now: datetime) -> None:
    """End a visit as "lost", because its page will report no end; nothing if it has ended."""
    row = s.get(KioskVisit, visit_id, with_for_update=True, populate_existing=True)
    if row is not None and row.ended_at is None:
        row.ended_at = now
        row.how = "lost"
        _count(s, row)


def _count(s: Session, row: KioskVisit) -> None:
    """Register the visit to be counted once its end is committed."""
    s.info.setdefault(ENDED_VISITS, []).append((row.how, row.seconds))


def _furthest(known: str | None, reported: str) -> str | None:
    if _rank(reported) > _rank(known):
        return reported
    return known


def _rank(screen: str | None) -> int:
    return _RANKS.get(screen, -1)  # of no screen, or of one that this version does not know
