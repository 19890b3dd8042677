"""Search everywhere: a page of rides for a few words, and the list below the box in the bar.

The words identify guests, so they are posted, and are encrypted in the address of the page
(docs/security.md ASVS 14.2.1).
"""

from typing import Any, Final

from flask import Blueprint, Response, jsonify, redirect, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from ridedash.extensions import limiter, services
from ridedash.store.history import records
from ridedash.store.properties import Property
from ridedash.store.search import find_orders
from ridedash.text import one_line
from ridedash.views.history.filters import opened, seal
from ridedash.views.history.rows import RecordLine, line
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.formatting import zone
from ridedash.views.web.permissions import SEE, needs
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _

bp = Blueprint("search", __name__)

MOST: Final = 20
LISTED: Final = 8  # below the box
WORDS: Final = 80
# of the page and of the list together: as fast as somebody can type
searches: Final = limiter.shared_limit(
    "240/minute", scope="search", key_func=lambda: f"staff-{current_staff().id}"
)


@bp.get("/search")
@needs(SEE)
@searches
def show() -> str:
    """What the words of the address may mean, as a page of its own; without words its empty box."""
    given = request.args.get("q", "")
    asked = opened("search", given) if given else ""
    house, lines = _found(asked or "", MOST)
    wrong = (
        _("This address can't be read any more. Type your words again.") if asked is None else ""
    )
    return render_template(
        "history/search.html",
        asked=asked or "",
        lines=lines,
        most=MOST,
        zone=house.timezone,
        wrong=wrong,
    )


@bp.post("/search")
@needs(SEE)
def ask() -> BaseResponse:
    """The box was sent: on to the page of what it asks for."""
    words = _typed()
    return redirect(f"/search?q={seal('search', words)}" if words else "/search", code=303)


@bp.post("/search.json")
@needs(SEE)
@searches
def listed() -> Response:
    """The same as a short list, while somebody types."""
    _house, lines = _found(_typed(), LISTED + 1)
    answer = jsonify(rides=[_short(each) for each in lines[:LISTED]], more=len(lines) > LISTED)
    answer.headers["Cache-Control"] = "no-store"
    return answer


def _typed() -> str:
    return one_line(request.form.get("q", ""), WORDS)


def _found(asked: str, most: int) -> tuple[Property, list[RecordLine]]:
    """Where was asked, and the rides that the words may mean."""
    now = services().clock()
    with services().db.read() as db:
        house = db.get_one(Property, current_staff().property_id)
        found = records(db, house.id, find_orders(db, house.id, asked, most))
    tz, language = zone(house.timezone), locale()
    return house, [line(each, now, tz, language) for each in found]


def _short(found: RecordLine) -> dict[str, Any]:
    state = {"state": found.state.words, "icon": found.state.icon, "tone": found.state.tone}
    return state | {
        name: getattr(found, name) for name in ("id", "guest", "room", "to", "plate", "at")
    }
