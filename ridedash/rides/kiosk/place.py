"""Handles Book at a kiosk: makes an order like any other, or says why there is none.

It is step T1 of docs/booking-protocol.md 1.3, and in the same commit what a kiosk adds (1.9 there):
the rule and the limits, a desk code or an approval that is used up, an unverified guest, the
ticket, and the visit. Who pays follows from the rule, the code and the approval, which are read
from the database, never from the form.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash import wire
from ridedash.rides.kiosk import approvals, desk_codes, rules, tickets
from ridedash.rides.kiosk.approvals import GuestRequest
from ridedash.rides.kiosk.desk_codes import OpenCode
from ridedash.rides.kiosk.opening import takes_orders
from ridedash.rides.kiosk.rules import KioskRefusal, KioskRefused, StatedGuest
from ridedash.rides.orders.fields import BookingRequest
from ridedash.rides.orders.place import Placed, place
from ridedash.rides.runtime import Runtime
from ridedash.store import kiosk_visits
from ridedash.store.actors import by_kiosk
from ridedash.store.models.kiosks import Kiosk, KioskKind, WhoPays
from ridedash.store.models.orders import Offer, Order

TOKEN_LENGTH: Final = 48  # hexadecimal digits of an order's form token


@dataclass(frozen=True)
class KioskPress:
    """A press of Book. `form_token` is a secret of the visit's page, a new one for each order.

    `offer_id` names a fresh offer of the same kiosk. `code` is an open desk code, and `ask_id`
    names an approval; the commit checks both again. `phone`: the guest presses on their own phone.
    """

    kiosk_id: int
    property_id: int
    visit_id: str
    form_token: str
    offer_id: int
    request: GuestRequest
    language: str | None = None
    code: OpenCode | None = None
    ask_id: int | None = None
    phone: bool = False

    @property
    def token(self) -> str:
        """The form token of the order."""
        return order_token(self.secret)

    @property
    def secret(self) -> str:
        """A secret that only the page of this visit knows; PIN and link are derived from it."""
        return page_secret(self.kiosk_id, self.visit_id, self.form_token)


@dataclass(frozen=True)
class Grant:
    """The permission to order, and who pays: the guest pays the driver unless staff said otherwise.

    `guest_id` is the guest for whom staff made the desk code, if they named one.
    """

    house_pays: bool = False
    guest_id: int | None = None


def page_secret(kiosk_id: int, visit_id: str, form_token: str) -> str:
    """The secret that only the page of a visit knows, as one text."""
    return f"{kiosk_id}|{visit_id}|{form_token}"


def order_token(secret: str) -> str:
    """The form token of a kiosk's order. No one can guess or choose the token of another form."""
    hashed = f"kiosk order|{secret}".encode("utf-8", "replace")
    return "k" + hashlib.sha256(hashed).hexdigest()[:TOKEN_LENGTH]


def order_of_press(s: Session, kiosk_id: int, secret: str) -> Order | None:
    """The order that the page with this secret has made at this kiosk, if any."""
    return order_of_page(s, kiosk_id, [secret])


def order_of_page(s: Session, kiosk_id: int, secrets: Sequence[str]) -> Order | None:
    """The newest order that the page with one of these secrets has made at this kiosk, if any."""
    tokens = [order_token(each) for each in secrets]
    mine = Order.form_token.in_(tokens), Order.kiosk_id == kiosk_id
    return s.scalars(select(Order).where(*mine).order_by(Order.id.desc()).limit(1)).first()


def book(runtime: Runtime, key: str, press: KioskPress, tz: ZoneInfo) -> Placed:
    """One order with its ticket in one commit, or the order that this form token has already made.

    `key` is the secret of this installation, `tz` the property's zone. Raises KioskRefused and
    whatever `place` raises.
    """
    hooks = _KioskHooks(runtime, key, press, tz)
    request = _request(press, hooks)
    return place(runtime.db, runtime.clock, request, runtime.failpoint, hooks)


class _KioskHooks:
    """What a kiosk adds to the commit of its order."""

    def __init__(self, runtime: Runtime, key: str, press: KioskPress, tz: ZoneInfo) -> None:
        self.key = key
        self.press = press
        self.tz = tz
        with runtime.db.read() as s:
            kiosk = s.get(Kiosk, press.kiosk_id)
            if kiosk is None:
                raise KioskRefused(KioskRefusal.CLOSED)
            account = rules.account_at(s, kiosk)
            if account is None:
                raise KioskRefused(KioskRefusal.CLOSED)
            self.account_id = account.id
            self.grant = self._granted(s, kiosk, runtime.clock())

    def before(self, s: Session, offer: Offer, now: datetime) -> None:
        """Check the kiosk, the offer and the grant again, with locked rows. Raises KioskRefused."""
        press = self.press
        kiosk = s.get(Kiosk, press.kiosk_id, with_for_update=True, populate_existing=True)
        if kiosk is None or not _in_order(kiosk, press.property_id):
            raise KioskRefused(KioskRefusal.CLOSED)
        if not takes_orders(kiosk, now, self.tz):
            raise KioskRefused(KioskRefusal.HOURS)
        rules.watch_ended(s, kiosk, now)
        if offer.kiosk_id != kiosk.id:
            raise KioskRefused(KioskRefusal.NOT_HERE)
        if self._granted(s, kiosk, now, hold=True) != self.grant:
            raise KioskRefused(
                KioskRefusal.NOT_APPROVED
            )  # the approval changed since the request was made
        if not rules.offered_here(offer, self.grant.house_pays):
            raise KioskRefused(KioskRefusal.NOT_HERE)
        who = StatedGuest(press.request.name, press.request.room)
        rules.check_limits(s, kiosk, who, now, phone=press.phone)
        if press.code is not None and not desk_codes.use_up(s, press.code, kiosk.id, now):
            raise KioskRefused(KioskRefusal.WRONG_CODE)

    def after(self, s: Session, order_id: int, now: datetime) -> None:
        """Add the ticket, use up the approval, and record the order in its visit."""
        press = self.press
        order = s.get_one(Order, order_id)
        pin = tickets.pin_of(self.key, press.secret)
        day = tickets.local_day(now, self.tz)
        tickets.add_ticket(s, self.key, order, pin, day, on_phone=press.phone)
        if press.ask_id is not None:
            approvals.use_ask(s, press.ask_id, order_id)
        visit = kiosk_visits.Visit(press.visit_id, press.kiosk_id, press.property_id)
        kiosk_visits.note_order(s, visit, order_id, now)

    def _granted(self, s: Session, kiosk: Kiosk, now: datetime, *, hold: bool = False) -> Grant:
        """The grant for this press.

        Raises KioskRefused when the rule requires a code or an approval. A code is valid under
        every rule; without one the rule decides what is needed.
        """
        press = self.press
        if press.code is not None:
            return Grant(press.code.house_pays, press.code.guest_id)
        rule = rules.rule_now(kiosk, now)
        if rule is WhoPays.DRIVER:
            return Grant()
        if rule is WhoPays.CODE:
            raise KioskRefused(KioskRefusal.NEEDS_CODE)
        ask = None
        if press.ask_id is not None:
            wanted = (kiosk.id, press.token, press.offer_id)
            ask = approvals.may_use(s, press.ask_id, wanted, now, hold=hold)
        if ask is None:
            raise KioskRefused(KioskRefusal.NOT_APPROVED)
        return Grant(ask.house_pays)


def _in_order(kiosk: Kiosk, property_id: int) -> bool:
    """Whether a kiosk of this property may book, apart from its hours."""
    ours = kiosk.property_id == property_id and kiosk.kind == KioskKind.KIOSK
    return ours and kiosk.revoked_at is None and not kiosk.out_of_order


def _request(press: KioskPress, hooks: _KioskHooks) -> BookingRequest:
    """The booking request of a press: paid in cash, unless staff have said that the house pays."""
    grant = hooks.grant
    wanted = press.request
    return BookingRequest(
        property_id=press.property_id,
        actor=by_kiosk(press.kiosk_id),
        tz=hooks.tz,
        form_token=press.token,
        offer_id=press.offer_id,
        guest_name=wanted.name,
        guest_room=wanted.room,
        guest_phone=wanted.phone,
        guest_id=grant.guest_id,
        guest_language=press.language,
        seats=wanted.seats,
        payment=None if grant.house_pays else wire.CASH,
        account_id=hooks.account_id,
    )
