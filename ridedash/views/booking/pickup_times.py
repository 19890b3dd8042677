"""Pickup times as they are typed: shows them in full before the press, and offers quick choices."""

import contextlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from flask import Blueprint, jsonify, request
from werkzeug.wrappers import Response
from wtforms.validators import ValidationError

from ridedash.extensions import limiter, services
from ridedash.forms.booking import BookingForm, check_ahead
from ridedash.rides.times.schedule_times import (
    LATEST,
    SERIES_LATEST,
    SOONEST,
    NoSuchTime,
)
from ridedash.rides.times.time_answers import NotATime, TimeQuestion
from ridedash.rides.times.time_words import TimeWords
from ridedash.rides.times.typed_time import read_time
from ridedash.store.models.people import Property
from ridedash.views.web import formatting
from ridedash.views.web.current_user import by_staff_key, current_staff
from ridedash.views.web.permissions import BOOK, needs
from ridedash.views.web.responses import locale
from ridedash.wording.time_words import time_words
from ridedash.wording.typed_times import (
    PickupTexts,
    TimeRefused,
    pass_of,
    pass_words,
    typed_text,
)

bp = Blueprint("pickup_times", __name__)
QUICK: Final = 2  # quick choices that consist of a day and a time
QUERY: Final = ("words", "day", "clock", "which")
CLOCKS: Final = ("06:00", "20:00")


@bp.get("/pickup-time.json")
@needs(BOOK)
@limiter.limit("300/minute", key_func=by_staff_key)
def read() -> Response:
    """The meaning of a typed time: `day` and `clock` in the property's zone, and `said`, in full.

    The parameter `words` is the text; `day` and `clock` come from calendar controls, and `which`
    from an earlier answer: which of two times is meant that clocks show twice. `kept` is the
    present time of a planned ride, which is always allowed; with `series`, the later times of a
    series are allowed. In the answer, `at` is the instant, `error` says why the time can't be a
    pickup, `choices` are the times that the text may mean, and `quick` are common times, each as a
    text to type, for the present time `now`.

    With `back` the answer is about the way back that is typed there, of the ride of these others.
    """
    now = services().clock()
    tz = _zone()
    if back := request.args.get("back"):
        return jsonify(_read_back(back[:200], now, tz))
    always = {
        "now": formatting.stamp(now),
        "quick": list(quick_times(now, tz, time_words(locale()))),
    }
    texts = PickupTexts(*(request.args.get(name, "")[:200] for name in QUERY))
    if not (texts.words.strip() or texts.clock):
        return jsonify(always)
    latest = SERIES_LATEST if request.args.get("series") else LATEST
    try:
        found = texts.read(now, tz, time_words(locale()), latest)
    except TimeRefused as error:
        choices = [asdict(each) for each in choices_of(error, now, tz)]
        return jsonify(always | {"error": str(error), "choices": choices})
    here = found.at.astimezone(tz)
    answer = always | {
        "day": f"{here:%Y-%m-%d}",
        "clock": f"{here:%H:%M}",
        "which": pass_of(found.at, tz),
        "at": formatting.stamp(found.at),
        "said": in_full(found.at, now, tz),
    }
    try:
        if f"{here:%Y-%m-%dT%H:%M}" != request.args.get("kept", ""):
            check_ahead(found.at, now, latest)
    except ValidationError as error:
        answer["error"] = str(error)
    return jsonify(answer)


def _read_back(text: str, now: datetime, tz: ZoneInfo) -> dict[str, Any]:
    """What the typed time of a way back means; the way there has the other arguments, or is now."""
    words = time_words(locale())
    ride = PickupTexts(*(request.args.get(name, "")[:200] for name in QUERY))
    there = None
    if ride.words.strip() or ride.clock:
        with contextlib.suppress(TimeRefused):
            there = ride.read(now, tz, words).at
    try:
        at = PickupTexts(text, "", "").read_back(there, now, tz, words).at
        check_ahead(at, now)
    except TimeRefused as error:
        return {"error": str(error), "choices": [*map(asdict, choices_of(error, now, tz))]}
    except ValidationError as error:
        return {"error": str(error)}
    return {"at": formatting.stamp(at), "said": in_full(at, now, tz)}


@dataclass(frozen=True)
class TimeChoice:
    """One of the times that a text may mean: the text to type for it, and the time in full."""

    words: str
    said: str


def choices_of(error: TimeRefused, now: datetime, tz: ZoneInfo) -> list[TimeChoice]:
    """The times to choose from; none for a text that is refused."""
    return [TimeChoice(typed_text(at, tz), in_full(at, now, tz)) for at in error.choices]


def in_full(at: datetime, now: datetime, tz: ZoneInfo) -> str:
    """A pickup time with its day, how far ahead it is, and which of two it is that clocks show."""
    text = formatting.time_in_full(at, now, tz, locale())
    which = pass_words(at, tz)
    if not which:
        return text
    return f"{text} · {which}"


def pickup_message(
    form: BookingForm, now: datetime, tz: ZoneInfo
) -> tuple[str, bool, list[TimeChoice]]:
    """The form's pickup time in full, or its error; whether it is an error; times to choose."""
    if form.when.data != "later" or not (form.pickup_words.data or form.pickup_time.data):
        return "", False, []
    try:
        found = form.pickup()
        if found.at != form.planned_at:
            check_ahead(found.at, now, form.latest)
    except TimeRefused as error:
        return str(error), True, choices_of(error, now, tz)
    except ValidationError as error:
        return str(error), True, []
    return in_full(found.at, now, tz), False, []


def back_message(
    form: BookingForm, now: datetime, tz: ZoneInfo
) -> tuple[str, bool, list[TimeChoice]]:
    """The same about the form's way back."""
    if not form.back.data or not form.back_words.data:
        return "", False, []
    try:
        return in_full(form.way_back(_way_there(form)), now, tz), False, []
    except TimeRefused as error:
        return str(error), True, choices_of(error, now, tz)
    except ValidationError as error:
        return str(error), True, []


def _way_there(form: BookingForm) -> datetime | None:
    """The pickup of the form; None for one now, or one that can't be read."""
    if form.when.data != "later":
        return None
    try:
        return form.pickup().at
    except TimeRefused:
        return None


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
    except (NotATime, NoSuchTime, TimeQuestion):
        return False


def _zone() -> ZoneInfo:
    with services().db.read() as s:
        return formatting.zone(s.get_one(Property, current_staff().property_id).timezone)
