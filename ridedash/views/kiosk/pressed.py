"""Turns a press of Book at a kiosk into an order: checks guest, code or approval, and price.

Each step may raise an exception that says what the page shows instead. The last step checks
everything again in one commit (rides/kiosk/place.py).
"""

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from pydantic import ValidationError

from ridedash.extensions import language, services
from ridedash.forms.phones import PhoneError, read_phone
from ridedash.inputs import whole_number
from ridedash.rides.kiosk import approvals, desk_codes, place, rules
from ridedash.rides.kiosk.approvals import AskNow, GuestRequest, NewAsk
from ridedash.rides.kiosk.desk_codes import OpenCode
from ridedash.rides.kiosk.place import KioskPress
from ridedash.rides.kiosk.rules import KioskRefusal, KioskRefused, StatedGuest, who_is
from ridedash.rides.orders.place import OfferStale, Placed, is_fresh
from ridedash.service.types.products import Product
from ridedash.store.kiosk_visits import Visit
from ridedash.store.models.kiosks import AskState, Kiosk, WhoPays
from ridedash.store.offers import trip_of
from ridedash.store.orders import Offer
from ridedash.text import one_line
from ridedash.views.booking.estimates import EstimateFailedError
from ridedash.views.booking.product_cards import card
from ridedash.views.kiosk.visit_requests import VisitRequest, estimator, is_shown
from ridedash.views.web.formatting import zone
from ridedash.views.web.responses import locale
from ridedash.wire import Kind
from ridedash.wording import gettext as _
from ridedash.wording import in_language
from ridedash.wording.kiosk import Said, declined_words, kiosk_words
from ridedash.wording.languages import ENGLISH


class Asking(Exception):
    """The desk has been asked for its approval, and has not answered yet."""


class Changed(Exception):
    """The price has changed: nothing is ordered before the guest has accepted the new one."""

    def __init__(self, offer_id: int, old: str, new: str) -> None:
        super().__init__("the price has changed")
        self.offer_id = offer_id
        self.old = old
        self.new = new


class NotNow(Exception):
    """Nothing is ordered; the page shows these words, and asks again for `field`, if given."""

    def __init__(self, state: str, words: Said, field: str = "") -> None:
        super().__init__(state)
        self.state = state
        self.words = words
        self.field = field

    @property
    def facts(self) -> dict[str, str]:
        """What the page gets beside the words."""
        if not self.field:
            return {}
        return {"field": self.field}


@dataclass(frozen=True)
class Try:
    """A press of Book as the page sends it; `form_token` is that of this attempt."""

    visit: Visit
    form_token: str
    offer_id: int

    @property
    def secret(self) -> str:
        """A secret that only this page knows."""
        return place.page_secret(self.visit.kiosk_id, self.visit.id, self.form_token)


def press_book(at: VisitRequest, tried: Try) -> Placed:
    """Make one order. Raises Asking, Changed, NotNow, and whatever `place.book` raises."""
    offer = _own_offer(at, tried.offer_id)
    guest_request = _read_request(at, offer)
    code = _code(at)
    press = KioskPress(
        at.id,
        at.property_id,
        tried.visit.id,
        tried.form_token,
        offer.id,
        guest_request,
        language=language(),
        code=code,
        phone=at.phone,
    )
    if code is not None or _rule(at) is not WhoPays.APPROVAL:
        if code is None and _rule(at) is WhoPays.CODE:
            raise KioskRefused(KioskRefusal.NEEDS_CODE)
        house_pays = code is not None and code.house_pays
        return _book(at, replace(press, offer_id=_priced(at, offer, guest_request, house_pays).id))
    ask = _approval(at, press, offer)
    return _book(at, _approved(at, press, ask, offer))


def _book(at: VisitRequest, press: KioskPress) -> Placed:
    app = services()
    try:
        return place.book(app.runtime, app.settings.secret_key, press, zone(at.home.timezone))
    except OfferStale as stale:  # the offer was fresh at the check, and too old at the commit
        raise NotNow("refused", kiosk_words("car")) from stale


def _own_offer(at: VisitRequest, offer_id: int) -> Offer:
    """The offer, if this page may book it. Raises NotNow for any other."""
    with services().db.read() as s:
        offer = s.get(Offer, offer_id)
    if offer is None or not is_shown(at, offer):
        raise NotNow("refused", kiosk_words("car"))
    return offer


def _read_request(at: VisitRequest, offer: Offer) -> GuestRequest:
    """The guest and the seats in the form. Raises NotNow if they are not valid."""
    who = who_is(one_line(at.values.get("name", ""), rules.LONGEST_NAME + 1))
    if who is None:
        raise NotNow("refused", kiosk_words("name"), "name")
    try:
        phone = read_phone(at.values.get("phone", "")[:60], at.home.country)
    except PhoneError:
        raise NotNow("refused", kiosk_words("phone"), "phone") from None
    seats = None
    if offer.kind == Kind.SHARE:
        seats = whole_number(at.values.get("seats", ""), 1, 2)
        if seats is None:
            raise NotNow("refused", kiosk_words("seats"))
    return GuestRequest(_name(at, who), who.room, phone, seats)


def _name(at: VisitRequest, who: StatedGuest) -> str:
    """The guest's name for the desk: the typed name, or "Room 12" in the property's language."""
    if who.name != who.room:
        return who.name
    with in_language(at.home.language or ENGLISH):
        return _("Room %(room)s", room=who.room)


def _code(at: VisitRequest) -> OpenCode | None:
    """The typed desk code; None without one.

    Raises KioskRefused if the code is wrong, or if too many wrong codes were typed here.
    """
    typed = at.values.get("code", "").strip()[:20]
    if not typed:
        return None
    app = services()
    now = app.clock()
    with app.db.write() as s:
        may = desk_codes.may_try(s, at.id, now, phone=at.phone)
        key = app.settings.secret_key
        found = desk_codes.open_code(s, key, at.property_id, typed, now) if may else None
        if found is not None:
            desk_codes.was_right(s, at.id, phone=at.phone)
    if not may:
        raise KioskRefused(KioskRefusal.TOO_MANY_CODES)
    if found is None:
        raise KioskRefused(KioskRefusal.WRONG_CODE)
    return found


def _rule(at: VisitRequest) -> WhoPays:
    return rules.rule_now(at.kiosk, services().clock())


def _approval(at: VisitRequest, press: KioskPress, offer: Offer) -> AskNow:
    """The desk's approval of this press; the desk is asked if that was not done yet.

    Raises Asking; raises NotNow if the desk has declined, or the request has expired.
    """
    app = services()
    now = app.clock()
    with app.db.read() as s:
        found = approvals.ask_of(s, app.vault, (at.id, press.token, offer.id), now)
    if found is None:
        _ask(at, press, offer)
        raise Asking
    if found.state is AskState.WAITING:
        raise Asking
    if found.state is AskState.DECLINED:
        raise NotNow("declined", declined_words(found.reason))
    if found.state is not AskState.APPROVED or found.request is None:
        raise NotNow("declined", kiosk_words("expired"))
    return found


def _ask(at: VisitRequest, press: KioskPress, offer: Offer) -> None:
    """Ask the desk to approve an order. Raises KioskRefused or NotNow if it is not possible."""
    app = services()
    now = app.clock()
    if not rules.offered_here(offer, house_pays=False):
        raise KioskRefused(KioskRefusal.NOT_HERE)
    with app.db.write() as s:
        kiosk = s.get_one(Kiosk, at.id, with_for_update=True)
        if approvals.waits_in_vain(s, kiosk, now):
            raise NotNow("trouble", kiosk_words("expired"))
        who = StatedGuest(press.request.name, press.request.room)
        rules.check_limits(s, kiosk, who, now, phone=at.phone)
        new = NewAsk(at.id, at.property_id, press.visit_id, press.token, offer.id, press.request)
        approvals.ask(s, app.vault, new, now)


def _approved(at: VisitRequest, press: KioskPress, ask: AskNow, posted: Offer) -> KioskPress:
    """The approved order at the current price. Raises Changed and NotNow.

    Guest and seats are those that were approved, whatever this form contains.
    """
    guest_request = ask.request or press.request
    offer = _own_offer(at, ask.offer_id)
    if posted.id != offer.id and _amounts(posted, guest_request) != _amounts(offer, guest_request):
        raise Changed(offer.id, _price(posted, guest_request), _price(offer, guest_request))
    app = services()
    if not is_fresh(offer, app.clock()) or posted.id == ask.posted:
        fresh = _quote_again(at, offer, ask.house_pays)
        same = _amounts(offer, guest_request) == _amounts(fresh, guest_request)
        with app.db.write() as s:
            approvals.reprice(s, ask.id, fresh.id, same=same, now=app.clock())
        if not same:
            raise Changed(fresh.id, _price(offer, guest_request), _price(fresh, guest_request))
        offer = fresh
    return replace(press, offer_id=offer.id, request=guest_request, ask_id=ask.id)


def _priced(at: VisitRequest, offer: Offer, guest_request: GuestRequest, house_pays: bool) -> Offer:
    """The offer, or a fresh one at the same price if it is old. Raises Changed and NotNow."""
    if is_fresh(offer, services().clock()):
        return offer
    fresh = _quote_again(at, offer, house_pays)
    if _amounts(offer, guest_request) != _amounts(fresh, guest_request):
        raise Changed(fresh.id, _price(offer, guest_request), _price(fresh, guest_request))
    return fresh


def _quote_again(at: VisitRequest, offer: Offer, house_pays: bool) -> Offer:
    """A fresh offer of the same car for the same trip. Raises NotNow."""
    ask, account_id = estimator(at, house_pays=house_pays)
    try:
        _text, fresh = ask.quote_offer(trip_of(offer), offer.category, account_id)
    except EstimateFailedError as error:
        # in both cases the page has "Try again", which requests all cars again
        case = "no_prices" if error.status >= 500 else "car"
        raise NotNow("refused", kiosk_words(case)) from None
    if not fresh:
        raise NotNow("refused", kiosk_words("car"))
    return _own_offer(at, fresh)


def _amounts(offer: Offer, guest_request: GuestRequest) -> tuple[Any, ...]:
    """The amounts that the guest pays for an offer, independent of language, for comparison."""
    fixed = offer.seat_prices.get(str(guest_request.seats or ""))
    if fixed is not None:
        return offer.currency, Decimal(str(fixed))
    estimate = offer.product.get("estimate") or {}
    bounds = (estimate.get("amount_min"), estimate.get("amount_max"))
    return offer.currency, *(None if each is None else Decimal(str(each)) for each in bounds)


def _price(offer: Offer, guest_request: GuestRequest) -> str:
    """The price of an offer in the guest's language, as on its card."""
    try:
        shown = card(Product.model_validate(offer.product), has_drop=True, locale=locale())
    except ValidationError:
        return offer.price_text or ""
    if not guest_request.seats:
        return shown.price
    return shown.price_for(guest_request.seats)
