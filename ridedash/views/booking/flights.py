"""Rides to a flight: proposes a pickup time and shows its calculation, but never sets it."""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from flask import Blueprint, jsonify, request
from werkzeug.wrappers import Response

from ridedash.extensions import limiter, services
from ridedash.inputs import whole_number
from ridedash.rides.orders.schedule_times import LATEST, SOONEST
from ridedash.store.models.people import Property
from ridedash.views.booking.view_model import BookingPage
from ridedash.views.web.current_user import by_staff_key, current_staff
from ridedash.views.web.formatting import planned_time, zone
from ridedash.views.web.permissions import BOOK, needs
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _
from ridedash.wording.time_words import time_words
from ridedash.wording.typed_times import PickupTexts, TimeRefused

bp = Blueprint("flights", __name__)
LONGEST_MIN: Final = 24 * 60


@dataclass(frozen=True)
class Proposal:
    """The proposal for a flight, in words.

    `said` is the calculation as a sentence, or the reason why there is no proposal. `take` is the
    proposed pickup time as a text to type, and `button` the words of its button; both are ""
    without a proposal. `wrong` says that the departure can't be read.
    """

    said: str = ""
    take: str = ""
    button: str = ""
    wrong: bool = False


@bp.get("/flight-time.json")
@needs(BOOK)
@limiter.limit("300/minute", key_func=by_staff_key)
def read() -> Response:
    """The proposal for a flight, from the typed departure `departs` and the ride's `minutes`."""
    with services().db.read() as s:
        home = s.get_one(Property, current_staff().property_id)
    now, tz = services().clock(), zone(home.timezone)
    departs = request.args.get("departs", "")[:200]
    if not departs.strip():
        return jsonify(asdict(Proposal()))
    try:
        at = PickupTexts(departs, "", "").read(now, tz, time_words(locale())).at
    except TimeRefused as error:
        return jsonify(asdict(Proposal(str(error), wrong=True)))
    travel_min = whole_number(request.args.get("minutes", ""), 0, LONGEST_MIN)
    return jsonify(asdict(propose(at, home.flight_margin_min, travel_min, now, tz)))


def flight_of(booking_page: BookingPage, now: datetime, tz: ZoneInfo) -> Proposal:
    """The proposal for the booking form's own departure and trip, for pages without scripts."""
    form = booking_page.form
    if not form.for_flight.data or not form.departs.data:
        return Proposal()
    try:
        at = form.departure()
    except TimeRefused as error:
        return Proposal(str(error), wrong=True)
    travel_min = booking_page.estimates.travel_min if booking_page.estimates else None
    return propose(at, booking_page.home.flight_margin_min, travel_min, now, tz)


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
    if pickup_at - now < SOONEST:
        return Proposal(f"{sentence} {_('That is too soon to plan: book it now.')}")
    if pickup_at - now > LATEST:
        return Proposal(f"{sentence} {_('Rides are planned up to 30 days ahead.')}")
    time_text = f"{pickup_at.astimezone(tz):%Y-%m-%d %H:%M}"
    return Proposal(sentence, time_text, _("Pick up at %(at)s", at=at))


def _span(minutes: int) -> str:
    """A margin in everyday form: 2 h, 90 min."""
    return _("%(n)d min", n=minutes) if minutes % 60 else _("%(n)d h", n=minutes // 60)
