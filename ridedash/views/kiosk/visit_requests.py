"""Reads the common parts of a visit's requests (kiosk, visit, language), and makes their answers.

A kiosk's page reads the `state` of an answer, not its HTTP status: `answer` always sends 200, and
lets no cache store it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil
from typing import Any, Final

from flask import g, jsonify, request
from werkzeug.datastructures import ImmutableMultiDict
from werkzeug.exceptions import TooManyRequests
from werkzeug.wrappers import Response

from ridedash.extensions import services
from ridedash.forms.booking import TripForm
from ridedash.geo import LatLng
from ridedash.rides.kiosk import rules
from ridedash.store.actors import by_kiosk
from ridedash.store.kiosk_visits import Visit
from ridedash.store.models.kiosks import Kiosk
from ridedash.store.models.orders import Offer
from ridedash.store.models.people import Property
from ridedash.store.offers import OfferOwner, trip_of
from ridedash.text import one_line
from ridedash.views.booking.estimates import Estimator
from ridedash.views.kiosk.device import the_kiosk
from ridedash.views.web.own_words import languages_for, speak_as
from ridedash.views.web.responses import locale
from ridedash.wording.kiosk import Said
from ridedash.wording.languages import ENGLISH
from ridedash.wording.readers import negotiate
from ridedash.wording.say import critical_shown, speak

VISIT: Final = re.compile(r"[A-Za-z0-9_-]{16,32}")
FORM_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{16,64}")

LONGEST_DROP: Final = 200  # characters of a drop's name


@dataclass(frozen=True)
class VisitRequest:
    """The kiosk of a request, its property, and the values that the guest's page sent.

    The rows are detached, and read for this request. For a guest who continues on their own phone,
    `values` come from the phone, and `phone` is True.
    """

    kiosk: Kiosk
    home: Property
    values: Mapping[str, str] = field(default_factory=dict)
    phone: bool = False

    @property
    def id(self) -> int:
        """The kiosk's id."""
        return self.kiosk.id

    @property
    def property_id(self) -> int:
        """The id of the kiosk's property."""
        return self.home.id


def here() -> VisitRequest:
    """The kiosk of this request.

    After this call the request uses the language that its guest has chosen, and the property's own
    words. 404 for anything but a paired kiosk.
    """
    known = the_kiosk()
    with services().db.read() as s:
        kiosk = s.get_one(Kiosk, known.id)
        home = s.get_one(Property, kiosk.property_id)
    g.guests = languages_for(home)
    speak(_language(kiosk, home))
    speak_as(home)
    return VisitRequest(kiosk, home, request.values)


def the_visit(at: VisitRequest) -> Visit | None:
    """The visit of a request; None without a valid id."""
    given = at.values.get("visit", "")
    if not VISIT.fullmatch(given):
        return None
    return Visit(given, at.id, at.property_id)


def form_token(at: VisitRequest) -> str:
    """The secret that identifies a press of Book when it is repeated; "" without a valid one."""
    given = at.values.get("form_token", "")
    if not FORM_TOKEN.fullmatch(given):
        return ""
    return given


def drop_of(at: VisitRequest) -> tuple[LatLng | None, str]:
    """The chosen drop and its name; None if it is not a point on the earth."""
    name = one_line(at.values.get("drop_name", ""), LONGEST_DROP)
    return TripForm(ImmutableMultiDict(at.values)).point("drop"), name


def is_shown(at: VisitRequest, offer: Offer) -> bool:
    """Whether the page of a request may book an offer.

    The offer must be of the page's kiosk. On a phone, where a list of cars to an earlier drop may
    still be open in another tab, the offer must also be for the drop that the request names.
    """
    if (offer.property_id, offer.kiosk_id) != (at.property_id, at.id):
        return False
    trip = trip_of(offer)
    return not at.phone or (trip.drop, trip.drop_name) == drop_of(at)


def estimator(at: VisitRequest, *, house_pays: bool) -> tuple[Estimator, int | None]:
    """An estimator for a kiosk, and the account whose prices it asks for; None: the guest pays."""
    app = services()
    asks = Estimator(app, OfferOwner(at.property_id, by_kiosk(at.id)), locale())
    if not house_pays:
        return asks, None
    with app.db.read() as s:
        account = rules.account_at(s, at.kiosk)
    return asks, account.id if account else None


def by_kiosk_key() -> str:
    """The key of a rate limit: one for all guests of a kiosk, because kiosks may share an address.

    Phones on which these guests continue have another key, so that they can't block the kiosk.
    """
    return str(g.kiosk_counted)


def within(at: VisitRequest, count: Callable[[], object]) -> bool:
    """Whether a counting function of a rate limit (by `by_kiosk_key`) lets this request through."""
    g.kiosk_counted = f"{'phones' if at.phone else 'kiosk'}-{at.id}"
    try:
        count()
    except TooManyRequests:
        return False
    return True


def minutes_until(at: datetime | None, now: datetime) -> int | None:
    """The minutes until a moment, rounded up, so that it has come when they are over."""
    if at is None:
        return None
    return ceil((at - now) / timedelta(minutes=1))


def answer(state: str, words: Said | None = None, **facts: Any) -> Response:
    """An answer to the page, which no cache may store.

    `english` has the English of critical sentences whose translation no one has reviewed.
    """
    body: dict[str, Any] = {"state": state, **facts}
    if words is not None:
        body["words"] = words.as_json()
    english = critical_shown()
    if english:
        body["english"] = english
    response = jsonify(body)
    response.headers["Cache-Control"] = "no-store"
    return response


def _language(kiosk: Kiosk, home: Property) -> str:
    """The first language that is offered: the guest's choice, the kiosk's own, the property's, or
    English.
    """
    offered = languages_for(home)
    for tag in (request.values.get("lang", "")[:20], kiosk.default_language, home.language):
        if tag and (found := negotiate([tag], offered)):
            return found
    return ENGLISH
