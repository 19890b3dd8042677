"""Pickup times as they are typed: shows them in full before the press, and offers quick choices."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from flask import Blueprint, jsonify, request
from werkzeug.wrappers import Response
from wtforms.validators import ValidationError

from ridedash.extensions import limiter, services
from ridedash.forms import BookingForm, check_ahead
from ridedash.rides.orders.schedule_times import (
    LATEST,
    SERIES_LATEST,
    SOONEST,
    LocalTime,
    NoSuchTime,
)
from ridedash.rides.orders.time_words import TimeWords
from ridedash.rides.orders.typed_time import NotATime, read_time
from ridedash.store.models.people import Property
from ridedash.views.web import formatting
from ridedash.views.web.current_user import by_staff_key, current_staff
from ridedash.views.web.permissions import BOOK, needs
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _
from ridedash.wording.time_words import time_words
from ridedash.wording.typed_times import PickupTexts, TimeRefused

bp = Blueprint("pickup_times", __name__)
QUICK: Final = 2  # quick choices that consist of a day and a time
CLOCKS: Final = ("06:00", "20:00")


@bp.get("/pickup-time.json")
@needs(BOOK)
@limiter.limit("300/minute", key_func=by_staff_key)
def read() -> Response:
    """The meaning of a typed time: `day` and `clock` in the property's zone, and `said`, in full.

    The parameter `words` is the text; `day` and `clock` come from calendar controls. `kept` is the
    present time of a planned ride, which is always allowed; with `series`, the later times of a
    series are allowed. In the answer, `error` says why the time can't be a pickup, and `quick` are
    common times as texts to type, for the present time `now`.
    """
    now, tz = services().clock(), _zone()
    always = {
        "now": formatting.stamp(now),
        "quick": list(quick_times(now, tz, time_words(locale()))),
    }
    texts = PickupTexts(*(request.args.get(name, "")[:200] for name in ("words", "day", "clock")))
    if not (texts.words.strip() or texts.clock):
        return jsonify(always)
    try:
        found = texts.read(now, tz, time_words(locale()))
    except TimeRefused as error:
        return jsonify(always | {"error": str(error)})
    here = found.at.astimezone(tz)
    answer = always | {
        "day": f"{here:%Y-%m-%d}",
        "clock": f"{here:%H:%M}",
        "said": in_full(found, now, tz),
    }
    try:
        if f"{here:%Y-%m-%dT%H:%M}" != request.args.get("kept", ""):
            latest = SERIES_LATEST if request.args.get("series") else LATEST
            check_ahead(found.at, now, latest)
    except ValidationError as error:
        answer["error"] = str(error)
    return jsonify(answer)


def in_full(found: LocalTime, now: datetime, tz: ZoneInfo) -> str:
    """A pickup time with its day and how far ahead it is, and whether clocks show it twice."""
    text = formatting.time_in_full(found.at, now, tz, locale())
    if not found.twice:
        return text
    return f"{text}. {_('Clocks show that time twice then: the first is meant.')}"


def pickup_message(form: BookingForm, now: datetime, tz: ZoneInfo) -> tuple[str, bool]:
    """The form's pickup time in full, or its error; and whether it is an error."""
    if form.when.data != "later" or not (form.pickup_words.data or form.pickup_time.data):
        return "", False
    try:
        found = form.pickup()
        if found.at != form.planned_at:
            check_ahead(found.at, now, form.latest)
    except (TimeRefused, ValidationError) as error:
        return str(error), True
    return in_full(found, now, tz), False


def quick_times(now: datetime, tz: ZoneInfo, words: TimeWords) -> Iterator[str]:
    """Common times as texts to type; none that is too soon."""
    yield f"+30 {words.minutes[0]}"
    yield f"+1 {words.hour_ahead}"
    days = words.today[0], words.tomorrow[0]
    offered = (f"{day} {clock}" for day in days for clock in CLOCKS)
    found = [text for text in offered if _is_ahead(text, now, tz, words)]
    yield from found[:QUICK]


def _is_ahead(text: str, now: datetime, tz: ZoneInfo, words: TimeWords) -> bool:
    try:
        return read_time(text, now, tz, words).at - now >= SOONEST
    except (NotATime, NoSuchTime):
        return False


def _zone() -> ZoneInfo:
    with services().db.read() as s:
        return formatting.zone(s.get_one(Property, current_staff().property_id).timezone)
