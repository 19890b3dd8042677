"""Search everywhere: a page of rides for a few words, and the list below the box in the bar."""

from typing import Any, Final

from flask import Blueprint, Response, jsonify, render_template, request
from flask_babel import get_locale

from ridedash.ext import limiter, services
from ridedash.places import plain
from ridedash.store.finding import find_orders
from ridedash.store.people import Property
from ridedash.store.records import records
from ridedash.views.auth import current_staff
from ridedash.views.formats import zone
from ridedash.views.permissions import SEE, needs
from ridedash.views.record_lines import RecordLine, line

bp = Blueprint("search", __name__)

MOST: Final = 20
LISTED: Final = 8  # below the box
WORDS: Final = 80
searches: Final = limiter.shared_limit(  # of the page and of the list together: as fast as somebody can type
    "240/minute", scope="search", key_func=lambda: f"staff-{current_staff().id}"
)


@bp.get("/search")
@needs(SEE)
@searches
def show() -> str:
    """What the words may mean, as a page of its own."""
    asked, house, lines = _found(MOST)
    return render_template("records/search.html", asked=asked, lines=lines, most=MOST, zone=house.timezone)


@bp.get("/search.json")
@needs(SEE)
@searches
def listed() -> Response:
    """The same as a short list, while somebody types."""
    _asked, _house, lines = _found(LISTED + 1)
    answer = jsonify(rides=[_short(each) for each in lines[:LISTED]], more=len(lines) > LISTED)
    answer.headers["Cache-Control"] = "no-store"
    return answer


def _found(most: int) -> tuple[str, Property, list[RecordLine]]:
    """The words that were asked for, where, and the rides that they may mean."""
    asked, now = plain(request.args.get("q", ""), WORDS), services().clock()
    with services().db.read() as db:
        house = db.get_one(Property, current_staff().property_id)
        found = records(db, house.id, find_orders(db, house.id, asked, most))
    tz, locale = zone(house.timezone), str(get_locale() or "en")
    return asked, house, [line(each, now, tz, locale) for each in found]


def _short(found: RecordLine) -> dict[str, Any]:
    state = {"state": found.state.words, "icon": found.state.icon, "tone": found.state.tone}
    return state | {name: getattr(found, name) for name in ("id", "guest", "room", "to", "plate", "at")}
