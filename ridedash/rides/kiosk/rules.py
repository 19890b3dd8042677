"""What a kiosk may order, and who pays: the property's rule, limits, and protection from misuse.

At most kiosks no staff are present. So a guest pays the driver unless staff have said otherwise, by
a desk code or an approval, and a person who books for fun soon meets a limit
(docs/booking-protocol.md 1.9).
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import Session

from ridedash import wire
from ridedash.names import name_key
from ridedash.rides.kiosk.tickets import ride_number, ticket_of
from ridedash.rides.orders.press import PlaceError
from ridedash.rides.state import transitions
from ridedash.store import audit
from ridedash.store.accounts import accounts_of
from ridedash.store.actors import WORKER, Actor, by_kiosk
from ridedash.store.models.kiosks import Kiosk, Ticket, WhoPays
from ridedash.store.models.orders import Offer, Order, OrderState, Ride, TimelineEvent
from ridedash.store.models.people import Account, Guest
from ridedash.text import one_line, plain_code, room_key

ORDERS_AN_HOUR: Final = 30  # orders of one kiosk
# rides of one kiosk whose passenger is not aboard yet, unless its settings say another number
MOST_LIVE: Final = 3
MOST_UNCLEAR: Final = 3  # orders of one kiosk whose outcome is not known
# for how long an order with an unclear outcome counts: the desk may take longer to resolve it
UNCLEAR_FOR: Final = timedelta(minutes=30)
LIVE_FOR: Final = timedelta(hours=24)  # an older ride does not count any more
HOUR: Final = timedelta(hours=1)  # the span in which orders and early ends are counted
# rides that ended before they began, in an hour: then the kiosk asks for a desk code
ENDED_EARLY: Final = 2
CODE_FOR: Final = timedelta(minutes=60)  # how long the kiosk then asks for a desk code
LONGEST_NAME: Final = 20  # characters of a first name or a room number
# categories that kiosks don't offer: their price is agreed on with the driver, or they leave the
# city
_NOT_HERE: Final = re.compile(r"rent|hour|package|out_?station|intercity", re.IGNORECASE)
# whether the timeline of an order has IN_PROGRESS: a passenger was aboard. INVOICE is no such sign:
# an auto has it after the ride
_BEGAN: Final = (
    select(TimelineEvent.id)
    .where(TimelineEvent.order_id == Order.id, TimelineEvent.name == wire.IN_PROGRESS)
    .exists()
)
# orders that may or may not be a ride
_UNCLEAR: Final = Order.state == OrderState.UNKNOWN
# orders that are, or may soon be, a ride without its passenger aboard
_WITHOUT_PASSENGER: Final = or_(
    Order.state.in_((OrderState.READY, OrderState.SENDING, OrderState.MATCHING)),
    and_(
        Order.state == OrderState.BOOKED,
        or_(Ride.status.is_(None), Ride.status.not_in(wire.TERMINAL)),
        ~_BEGAN,
    ),
)

# attention items of kiosk rides
MANY_RIDES: Final = "kiosk_limit"  # a limit was reached; the detail is a KioskRefusal
# rides ended before they began; the detail names both rides
ENDED_RIDES: Final = "kiosk_ended_early"
WRONG_PINS: Final = "kiosk_pins"


class KioskRefusal(StrEnum):
    """Why a kiosk refuses to order."""

    CLOSED = "closed"  # out of order, revoked, or without an account
    HOURLY = "hourly"
    LIVE = "live"
    UNCLEAR = "unclear"
    SAME_GUEST = "same_guest"
    NEEDS_CODE = "needs_code"
    WRONG_CODE = "wrong_code"
    TOO_MANY_CODES = "too_many_codes"
    HOURS = "hours"  # outside its opening hours
    NOT_HERE = "not_here"  # a car that a kiosk doesn't offer, or an offer made elsewhere
    NOT_APPROVED = "not_approved"


# limits at which a kiosk books no ride for any guest, until time or another guest has gone on
FULL: Final = frozenset({KioskRefusal.HOURLY, KioskRefusal.LIVE, KioskRefusal.UNCLEAR})
LIMITS: Final = FULL | {KioskRefusal.SAME_GUEST}


class KioskRefused(PlaceError):
    """The kiosk may not order this. Nothing was ordered."""

    def __init__(self, why: KioskRefusal) -> None:
        super().__init__(str(why))
        self.why = why


@dataclass(frozen=True)
class StatedGuest:
    """A guest's own statement of who they are: one field accepts a first name or a room number."""

    name: str
    room: str | None = None

    @property
    def key(self) -> str:
        """The room number, else the name, in the form in which limits compare it."""
        return room_key(self.room) or name_key(self.name)


def who_is(typed: str) -> StatedGuest | None:
    """A typed first name or room number; None without letters and digits, or above 20 characters.

    A text with a digit is a room, or a name and then a room; digits of other scripts become ASCII
    digits.

    >>> who_is(" Ana "), who_is("4 12"), who_is("")
    (StatedGuest(name='Ana', room=None), StatedGuest(name='412', room='412'), None)
    >>> who_is("Ana 412")
    StatedGuest(name='Ana', room='412')
    """
    words = one_line(typed)
    if not 1 <= len(words) <= LONGEST_NAME or not any(char.isalnum() for char in words):
        return None
    if not _has_digit(words):
        return StatedGuest(words)
    name, _space, last = words.rpartition(" ")
    if len(name) > 1 and not _has_digit(name):
        return StatedGuest(name, plain_code(last))
    room = plain_code(words.replace(" ", ""))
    return StatedGuest(room, room)


def _has_digit(text: str) -> bool:
    return any(char.isdigit() for char in text)


def rule_now(kiosk: Kiosk, now: datetime) -> WhoPays:
    """The rule that applies at a kiosk now.

    At an attended kiosk staff stand beside the guest: it asks for neither a code nor an approval,
    and the guest pays the driver. After rides that ended before they began, a kiosk asks for a desk
    code (`watch_ended`), until the desk ends that (`waive_code`).
    """
    if kiosk.attended:
        return WhoPays.DRIVER
    if asks_code(kiosk, now):
        return WhoPays.CODE
    try:
        return WhoPays(kiosk.rule)
    except ValueError:
        return WhoPays.CODE  # a rule of a newer version: apply the strictest one


def asks_code(kiosk: Kiosk, now: datetime) -> bool:
    """Whether a kiosk asks for desk codes because of rides that ended before they began."""
    if kiosk.code_until is None or now >= kiosk.code_until:
        return False
    return kiosk.code_waived_at is None or kiosk.code_waived_at < kiosk.code_until - CODE_FOR


def waive_code(s: Session, order: Order, actor: Actor, now: datetime) -> bool:
    """Let the kiosk of an order ask for no more desk codes in this period, which goes on meanwhile.

    So it does not begin anew with the same rides. False if the kiosk does not ask for codes.
    """
    kiosk = s.get(Kiosk, order.kiosk_id, with_for_update=True)
    if kiosk is None or not asks_code(kiosk, now):
        return False
    kiosk.code_waived_at = now
    facts = {"property_id": kiosk.property_id}
    audit.record(s, actor, "kiosk.asks_no_code", f"kiosks:{kiosk.id}", "ok", now, **facts)
    return True


def offered_here(offer: Offer, house_pays: bool) -> bool:
    """Whether a kiosk offers this car: no rentals, and no rides out of town.

    A shared ride is offered only if the house pays: it is paid before it begins, so no driver can
    be paid for it.
    """
    if offer.kind == wire.Kind.SHARE:
        return house_pays
    packages = offer.product.get("packages") or ()
    return not packages and not _NOT_HERE.search(offer.category)


def account_at(s: Session, kiosk: Kiosk) -> Account | None:
    """The account with which a kiosk books: its own, else the property's default account."""
    usable = accounts_of(s, kiosk.property_id)
    own = next((each for each in usable if each.id == kiosk.account_id), None)
    if kiosk.account_id is not None:
        return own  # no fallback: a manager chose this account and no other
    return next((each for each in usable if each.is_default), None)


def check_limits(
    s: Session, kiosk: Kiosk, guest: StatedGuest, now: datetime, *, phone: bool = False
) -> None:
    """Raises KioskRefused at a limit of this kiosk, or of the phones that go on for it (`phone`).

    The kiosk's row must be locked, so that parallel presses are counted.
    """
    waiting = (
        select(Guest.name, Guest.room)
        .join(Order, Order.guest_id == Guest.id)
        .outerjoin(Ride, Ride.order_id == Order.id)
        .where(_of_kiosk(kiosk), _since(now - LIVE_FOR), or_(_UNCLEAR, _WITHOUT_PASSENGER))
    )
    if any(StatedGuest(*row).key == guest.key for row in s.execute(waiting)):
        raise KioskRefused(KioskRefusal.SAME_GUEST)
    why = limit_reached(s, kiosk, now, phone=phone)
    if why is not None:
        raise KioskRefused(why)


def limit_reached(
    s: Session, kiosk: Kiosk, now: datetime, *, phone: bool = False
) -> KioskRefusal | None:
    """One of FULL, while this kiosk books no ride for any guest; None while it does.

    Rides that guests booked on their own phones (`phone`) are counted apart from those of the
    screen: neither can shut the other. Orders with an unclear outcome are counted apart from both,
    for UNCLEAR_FOR.
    """

    def count(*conditions: ColumnElement[bool]) -> int:
        query = select(func.count(Order.id)).outerjoin(Ride, Ride.order_id == Order.id)
        query = query.outerjoin(Ticket, Ticket.order_id == Order.id)
        return s.scalar(query.where(_of_kiosk(kiosk), *conditions)) or 0

    here = func.coalesce(Ticket.on_phone, False).is_(phone)
    if count(here, _since(now - HOUR)) >= ORDERS_AN_HOUR:
        return KioskRefusal.HOURLY
    if count(here, _since(now - LIVE_FOR), _WITHOUT_PASSENGER) >= most_waiting(kiosk):
        return KioskRefusal.LIVE
    if count(_since(now - UNCLEAR_FOR), _UNCLEAR) >= MOST_UNCLEAR:
        return KioskRefusal.UNCLEAR
    return None


def most_waiting(kiosk: Kiosk) -> int:
    """How many rides of a kiosk may wait for their passengers at the same time."""
    return kiosk.most_waiting or MOST_LIVE


def note_refused(s: Session, kiosk: Kiosk, why: KioskRefusal, now: datetime) -> None:
    """Write an audit entry that a kiosk refused, and why.

    At one of LIMITS, its newest ride gets an attention item.
    """
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
    """Let a kiosk ask for desk codes after two rides in an hour that ended before they began.

    This lasts 60 minutes, and the desk gets an attention item that names both rides. Returns
    whether it began now. A search that found no driver does not count, because no one cancelled.
    The kiosk's row must be locked.
    """
    if kiosk.code_until is not None and now < kiosk.code_until:
        return False
    since = now - HOUR
    if kiosk.code_until is not None:  # rides that led to the last such period don't count again
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
    """The name of a kiosk's ride at the desk: K27, or #1203 when its ticket is deleted."""
    ticket = ticket_of(s, order_id)
    if ticket is None:
        return f"#{order_id}"
    return ride_number(ticket.number)


def _of_kiosk(kiosk: Kiosk) -> ColumnElement[bool]:
    """The condition for orders of a kiosk."""
    return and_(Order.kiosk_id == kiosk.id, Order.property_id == kiosk.property_id)


def _since(at: datetime) -> ColumnElement[bool]:
    """The condition for orders made after this time."""
    return Order.created_at > at
