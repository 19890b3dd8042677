"""What a kiosk may order, and who pays: the property's rule, limits, and the rule against jokes.

Nobody stands behind a kiosk. So a guest pays the driver unless staff have said otherwise, by a
desk code or by an approval, and a joker soon meets a limit (docs/booking-protocol.md 1.9).
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final
from unicodedata import digit

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import Session

from ridedash import wire
from ridedash.rides.orders import transitions
from ridedash.rides.orders.place import PlaceError
from ridedash.rides.tickets import ride_number, ticket_of
from ridedash.store import audit
from ridedash.store.accounts import accounts_of
from ridedash.store.actors import WORKER, by_kiosk
from ridedash.store.models.kiosks import Kiosk, WhoPays
from ridedash.store.models.orders import Offer, Order, OrderState, Ride, TimelineEvent
from ridedash.store.models.people import Account, Guest
from ridedash.text import normalised

ORDERS_AN_HOUR: Final = 30  # of one kiosk
MOST_LIVE: Final = 3  # rides of one kiosk without a passenger aboard
LIVE_FOR: Final = timedelta(hours=24)  # an older ride counts no longer
HOUR: Final = timedelta(hours=1)
ENDED_EARLY: Final = 2  # rides in an hour that ended before they began
CODE_FOR: Final = timedelta(minutes=60)  # for so long such a kiosk asks for a desk code
LONGEST_NAME: Final = 20  # letters of a first name or a room number
# categories that are agreed on with the driver, or leave the city: staff book them
_NOT_HERE: Final = re.compile(r"rent|hour|package|out_?station|intercity", re.IGNORECASE)
# somebody sat in the car; an auto's bill comes after that
_BEGAN: Final = (
    select(TimelineEvent.id)
    .where(TimelineEvent.order_id == Order.id, TimelineEvent.name == wire.IN_PROGRESS)
    .exists()
)

# attention items of kiosk rides
MANY_RIDES: Final = "kiosk_limit"  # the detail is a Why
ENDED_RIDES: Final = "kiosk_ended_early"  # the detail names both rides
WRONG_PINS: Final = "kiosk_pins"


class Why(StrEnum):
    """Why a kiosk orders nothing."""

    CLOSED = "closed"  # out of order, revoked, or without an account
    HOURLY = "hourly"
    LIVE = "live"
    SAME_GUEST = "same_guest"
    NEEDS_CODE = "needs_code"
    WRONG_CODE = "wrong_code"
    TOO_MANY_CODES = "too_many_codes"
    HOURS = "hours"  # it is closed at this time
    NOT_HERE = "not_here"  # a car that a kiosk doesn't offer, or an offer of somebody else
    NOT_APPROVED = "not_approved"


LIMITS: Final = frozenset({Why.HOURLY, Why.LIVE, Why.SAME_GUEST})


class KioskRefused(PlaceError):
    """The kiosk may not order this. Nothing was ordered."""

    def __init__(self, why: Why) -> None:
        super().__init__(str(why))
        self.why = why


@dataclass(frozen=True)
class Guesswork:
    """Who a guest says they are: one field takes a first name or a room number."""

    name: str
    room: str | None = None

    @property
    def folded(self) -> str:
        """As limits compare it."""
        return normalised(self.room or self.name)


def who_is(typed: str) -> Guesswork | None:
    """A typed first name or room number; None for nothing, or more than 20 letters.

    What holds a digit is a room, in the desk's digits whatever keyboard wrote them.

    >>> who_is(" Ana "), who_is("4 12"), who_is("")
    (Guesswork(name='Ana', room=None), Guesswork(name='412', room='412'), None)
    """
    words = " ".join(typed.split())
    if not 1 <= len(words) <= LONGEST_NAME or not any(char.isalnum() for char in words):
        return None
    if not any(char.isdigit() for char in words):
        return Guesswork(words)
    room = "".join(str(digit(char, char)) for char in words if char != " ")
    return Guesswork(room, room)


def rule_now(kiosk: Kiosk, now: datetime) -> WhoPays:
    """The rule that holds at a kiosk now.

    On an attended one staff stand beside the guest: neither a code nor an approval is asked for,
    and the guest pays the driver. After rides that nobody took it asks for a desk code.
    """
    if kiosk.attended:
        return WhoPays.DRIVER
    if kiosk.code_until is not None and now < kiosk.code_until:
        return WhoPays.CODE
    try:
        return WhoPays(kiosk.rule)
    except ValueError:
        return WhoPays.CODE  # a rule of a newer version: the careful one


def offered_here(offer: Offer, house_pays: bool) -> bool:
    """Whether a kiosk offers this car: no rental, no other city; share only where the house pays.

    A shared ride is paid before it begins, so no driver can be paid for it.
    """
    if offer.kind == wire.Kind.SHARE:
        return house_pays
    packages = offer.product.get("packages") or ()
    return not packages and not _NOT_HERE.search(offer.category)


def account_at(s: Session, kiosk: Kiosk) -> Account | None:
    """The account that a kiosk books with: its own, else the property's default one."""
    usable = accounts_of(s, kiosk.property_id)
    own = next((each for each in usable if each.id == kiosk.account_id), None)
    if kiosk.account_id is not None:
        return own  # another account is not a manager's choice
    return next((each for each in usable if each.is_default), None)


def check_limits(s: Session, kiosk: Kiosk, guest: Guesswork, now: datetime) -> None:
    """Raises KioskRefused at a limit of this kiosk. Its row is locked, so that presses count."""
    mine = and_(Order.kiosk_id == kiosk.id, Order.property_id == kiosk.property_id)
    lately = select(func.count(Order.id)).where(mine, Order.created_at > now - HOUR)
    if (s.scalar(lately) or 0) >= ORDERS_AN_HOUR:
        raise KioskRefused(Why.HOURLY)
    live = s.execute(
        select(Guest.name, Guest.room)
        .join(Order, Order.guest_id == Guest.id)
        .outerjoin(Ride, Ride.order_id == Order.id)
        .where(mine, *_without_passenger(now))
    ).all()
    if any(Guesswork(name, room).folded == guest.folded for name, room in live):
        raise KioskRefused(Why.SAME_GUEST)
    if len(live) >= MOST_LIVE:
        raise KioskRefused(Why.LIVE)


def note_refused(s: Session, kiosk: Kiosk, why: Why, now: datetime) -> None:
    """Tell the desk why a kiosk ordered nothing: an audit entry, and an item at its newest ride."""
    facts: dict[str, Any] = {"property_id": kiosk.property_id}
    subject = f"kiosks:{kiosk.id}"
    audit.record(s, by_kiosk(kiosk.id), "kiosk.refused", subject, str(why), now, **facts)
    if why not in LIMITS:
        return
    newest = select(Order).where(
        Order.kiosk_id == kiosk.id,
        Order.property_id == kiosk.property_id,
        Order.created_at > now - LIVE_FOR,
    )
    order = s.scalars(newest.order_by(Order.id.desc()).limit(1)).first()
    if order is not None:
        transitions.raise_attention(s, order, MANY_RIDES, str(why), now)


def watch_ended(s: Session, kiosk: Kiosk, now: datetime) -> bool:
    """After two rides in an hour that ended before they began: a kiosk asks for a desk code.

    For 60 minutes, and the desk gets an item that names both rides. Whether that began now. A
    search that found no driver is nobody's joke and doesn't count. Needs a locked row.
    """
    if kiosk.code_until is not None and now < kiosk.code_until:
        return False
    since = now - HOUR
    if kiosk.code_until is not None:  # what led to the last time doesn't count again
        since = max(since, kiosk.code_until - CODE_FOR)
    ended = (
        select(Order)
        .join(Ride, Ride.order_id == Order.id)
        .where(
            Order.kiosk_id == kiosk.id,
            Order.property_id == kiosk.property_id,
            Order.created_at > now - LIVE_FOR,
            Ride.status == wire.BOOKING_CANCELLED,
            Ride.ended_at > since,
            ~_BEGAN,
        )
    )
    orders = s.scalars(ended.order_by(Order.id)).all()
    if len(orders) < ENDED_EARLY:
        return False
    kiosk.code_until = now + CODE_FOR
    named = " · ".join(number_of(s, order.id) for order in orders[-ENDED_EARLY:])
    transitions.raise_attention(s, orders[-1], ENDED_RIDES, named, now)
    facts = {"property_id": kiosk.property_id, "rides": [order.id for order in orders]}
    audit.record(s, WORKER, "kiosk.asks_code", f"kiosks:{kiosk.id}", "ok", now, **facts)
    return True


def number_of(s: Session, order_id: int) -> str:
    """A kiosk's ride as the desk names it: K27, or #1203 where its ticket is gone."""
    ticket = ticket_of(s, order_id)
    return f"#{order_id}" if ticket is None else ride_number(ticket.number)


def _without_passenger(now: datetime) -> tuple[ColumnElement[bool], ...]:
    """Orders that are or may become a ride, and in which nobody sits yet."""
    waiting = Order.state.in_(
        (OrderState.READY, OrderState.SENDING, OrderState.UNKNOWN, OrderState.MATCHING)
    )
    coming = or_(Ride.status.is_(None), Ride.status.not_in(wire.TERMINAL))
    booked = and_(Order.state == OrderState.BOOKED, coming, ~_BEGAN)
    return Order.created_at > now - LIVE_FOR, or_(waiting, booked)
