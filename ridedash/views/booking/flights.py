"""Rides to a flight and from one: proposes a pickup time with its calculation, never sets it.

Trains and ferries alike.
"""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from flask import Blueprint, jsonify, request
from pydantic import ValidationError
from werkzeug.wrappers import Response

from ridedash.extensions import limiter, services
from ridedash.forms.booking import DEPARTS, LANDS, BookingForm
from ridedash.geo import distance_m
from ridedash.inputs import whole_number
from ridedash.rides.times.schedule_times import LATEST, SOONEST
from ridedash.service.types.products import Product
from ridedash.store.models.people import Property
from ridedash.store.orders import Offer
from ridedash.views.booking.estimates import home_point
from ridedash.views.booking.pickup_times import TimeChoice, choices_of
from ridedash.views.booking.product_cards import travel_minutes
from ridedash.views.booking.trip_ends import TripEnd
from ridedash.views.web.current_user import by_staff_key, current_staff
from ridedash.views.web.formatting import planned_time, stamp, zone
from ridedash.views.web.permissions import BOOK, needs
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _
from ridedash.wording.kiosk import typed_kind
from ridedash.wording.time_words import time_words
from ridedash.wording.typed_times import PickupTexts, TimeRefused, typed_text

bp = Blueprint("flights", __name__)
LONGEST_MIN: Final = 24 * 60
# a car now is asked about if the flight's pickup is further ahead than this
NOW_WITHIN: Final = timedelta(hours=3)
OWN_PLACE_M: Final = 300.0  # a pickup this close to the property's own is at the property


@dataclass(frozen=True)
class Proposal:
    """The proposal for a flight, in words.

    `said` is the calculation as a sentence, or the reason why there is no proposal. `take` is the
    proposed pickup time as a text to type, and `button` the words of its button; both are ""
    without a proposal. `wrong` says that the departure can't be read; `choices` are the times that
    it may mean.
    """

    said: str = ""
    take: str = ""
    button: str = ""
    wrong: bool = False
    choices: tuple[TimeChoice, ...] = ()


@dataclass(frozen=True)
class NowAsked:
    """The question whether a car is meant now, for a flight that is hours away.

    `headline` names the flight's time, `proposal` its pickup. `key` is what the form sends to
    confirm a car now for this flight time.
    """

    headline: str
    proposal: Proposal
    key: str


@bp.get("/flight-time.json")
@needs(BOOK)
@limiter.limit("300/minute", key_func=by_staff_key)
def read() -> Response:
    """The proposal for a flight, from its typed time `departs` and the ride's `minutes`.

    With `way` "lands" the time is that of its landing.
    """
    with services().db.read() as s:
        home = s.get_one(Property, current_staff().property_id)
    now = services().clock()
    tz = zone(home.timezone)
    departs = request.args.get("departs", "")[:200]
    if not departs.strip():
        return jsonify(asdict(Proposal()))
    try:
        at = PickupTexts(departs, "", "").read(now, tz, time_words(locale())).at
    except TimeRefused as error:
        return jsonify(asdict(_not_read(error, now, tz)))
    if request.args.get("way") == LANDS:
        return jsonify(asdict(propose_after(at, home.luggage_min, now, tz)))
    travel_min = whole_number(request.args.get("minutes", ""), 0, LONGEST_MIN)
    return jsonify(asdict(propose(at, home.flight_margin_min, travel_min, now, tz)))


def flight_of(
    form: BookingForm, pickup: TripEnd, home: Property, travel_min: int | None, now: datetime
) -> Proposal:
    """The proposal for the booking form's own departure and trip, for pages without scripts.

    `travel_min` is the duration of the ride, None if it is unknown.
    """
    if not form.for_flight.data or not form.departs.data:
        return Proposal()
    try:
        at = form.departure()
    except TimeRefused as error:
        return _not_read(error, now, form.tz)
    if way_of(form, pickup, home) == LANDS:
        return propose_after(at, home.luggage_min, now, form.tz)
    return propose(at, home.flight_margin_min, travel_min, now, form.tz)


def now_asked(
    form: BookingForm, pickup: TripEnd, home: Property, offer: Offer | None, now: datetime
) -> NowAsked | None:
    """The question about the car that a valid form orders now; None if nothing is to be asked."""
    at = form.departs_at
    tz = form.tz
    if form.when.data == "later" or at is None:
        return None
    travel_min = _travel_minutes(offer)
    if way_of(form, pickup, home) == LANDS:
        pickup_at = at + timedelta(minutes=home.luggage_min)
        proposal = propose_after(at, home.luggage_min, now, tz)
        headline = _("The flight lands at %(at)s. A car now?")
    else:
        pickup_at = at - timedelta(minutes=home.flight_margin_min + (travel_min or 0))
        proposal = propose(at, home.flight_margin_min, travel_min, now, tz)
        headline = _("The flight leaves at %(at)s. A car now?")
    key = stamp(at)
    if pickup_at - now <= NOW_WITHIN or form.flight_now.data == key:
        return None
    return NowAsked(headline % {"at": planned_time(at, now, tz, locale())}, proposal, key)


def _travel_minutes(offer: Offer | None) -> int | None:
    """How long the trip of an offer takes; None if its product does not say."""
    if offer is None:
        return None
    try:
        return travel_minutes([Product.model_validate(offer.product)])
    except ValidationError:
        return None


def way_of(form: BookingForm, pickup: TripEnd, home: Property) -> str:
    """Whether the flight of the form "departs" after the ride or "lands" before it.

    Until a person has chosen, a flight lands if the pickup is not the property's own, or is named
    as an airport or a station.
    """
    return form.flight_way.data or (LANDS if lands_here(pickup, home) else DEPARTS)


def lands_here(pickup: TripEnd, home: Property) -> bool:
    """Whether guests who are picked up here have probably just arrived."""
    if pickup.point is None:
        return False
    own = home_point(home)
    is_elsewhere = own is not None and distance_m(own, pickup.point) > OWN_PLACE_M
    return is_elsewhere or typed_kind(pickup.name) in ("airport", "stations")


def propose_after(lands_at: datetime, luggage_min: int, now: datetime, tz: ZoneInfo) -> Proposal:
    """The pickup after a landing: its time and the property's minutes for luggage."""
    pickup_at = lands_at + timedelta(minutes=luggage_min)
    landing, pickup = (planned_time(at, now, tz, locale()) for at in (lands_at, pickup_at))
    sentence = _(
        "Lands %(at)s, %(span)s for luggage and the way out: pick up at %(pickup)s.",
        at=landing,
        span=_span(luggage_min),
        pickup=pickup,
    )
    return _offered(sentence, pickup_at, now, tz)


def _not_read(error: TimeRefused, now: datetime, tz: ZoneInfo) -> Proposal:
    return Proposal(str(error), wrong=True, choices=tuple(choices_of(error, now, tz)))


def propose(
    departs_at: datetime, margin_min: int, travel_min: int | None, now: datetime, tz: ZoneInfo
) -> Proposal:
    """The pickup for a flight: its departure minus the margin and the duration of the ride."""
    there_at = departs_at - timedelta(minutes=margin_min)
    departs, there = (planned_time(at, now, tz, locale()) for at in (departs_at, there_at))
    begin = _("Departs %(at)s, be there %(span)s before", at=departs, span=_span(margin_min))
    if travel_min is None:
        rest = _("%(begin)s: at %(there)s. Choose the drop to see when to pick up.")
        return Proposal(rest % {"begin": begin, "there": there})
    pickup_at = there_at - timedelta(minutes=travel_min)
    at = planned_time(pickup_at, now, tz, locale())
    sentence = _(
        "%(begin)s, about %(n)d min on the road: pick up at %(pickup)s.",
        begin=begin,
        n=travel_min,
        pickup=at,
    )
    return _offered(sentence, pickup_at, now, tz)


def _offered(sentence: str, pickup_at: datetime, now: datetime, tz: ZoneInfo) -> Proposal:
    """The proposal of this pickup, if it can be planned."""
    at = planned_time(pickup_at, now, tz, locale())
    if pickup_at - now < SOONEST:
        return Proposal(f"{sentence} {_('That is too soon to plan: book it now.')}")
    if pickup_at - now > LATEST:
        return Proposal(f"{sentence} {_('Rides are planned up to 30 days ahead.')}")
    return Proposal(sentence, typed_text(pickup_at, tz), _("Pick up at %(at)s", at=at))


def _span(minutes: int) -> str:
    """A margin in everyday form: 2 h, 90 min."""
    hours, rest = divmod(minutes, 60)
    if rest:
        return _("%(n)d min", n=minutes)
    return _("%(n)d h", n=hours)
