"""The list below the search box: rides, and what leads to guests, places and pages.

Its words identify guests, so they are posted (docs/security.md ASVS 14.2.1).
"""

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from flask import Blueprint, Response, jsonify

from ridedash.extensions import services
from ridedash.store import guests
from ridedash.store.models.people import Property
from ridedash.text import normalised
from ridedash.views.booking.suggestions import Suggestion, matching
from ridedash.views.history.rows import RecordLine
from ridedash.views.history.search import found, searches, typed_words
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.navigation import main_pages, settings_tabs
from ridedash.views.web.permissions import BOOK, SEE, may, needs
from ridedash.wording import gettext as _

bp = Blueprint("search_list", __name__)

LISTED: Final = 8  # rides
LINKED: Final = 3  # guests, and places


@bp.post("/search.json")
@needs(SEE)
@searches
def listed() -> Response:
    """The first matches, for the list that is shown while the user types.

    `links` leads to a booking for a guest or to a place, and to pages: without words to those of
    the top bar.
    """
    words = typed_words()
    _prop, lines = found(words, LISTED + 1)
    rides = [_short(each) for each in lines[:LISTED]]
    links = [vars(each) for each in (*_bookings(words), *_pages(words))]
    answer = jsonify(rides=rides, more=len(lines) > LISTED, links=links)
    answer.headers["Cache-Control"] = "no-store"
    return answer


@dataclass(frozen=True)
class SearchLink:
    """A line of the list that is no ride; `about` tells two of one name apart."""

    icon: str
    title: str
    about: str
    kind: str
    url: str


def _bookings(words: str) -> list[SearchLink]:
    """A new ride for each guest, and to each known place, that matches the words."""
    if not (words and may(BOOK)):
        return []
    kind = _("New ride")
    with services().db.read() as s:
        home = s.get_one(Property, current_staff().property_id)
        known = guests.find(s, home.id, words, LINKED)
        places = matching(s, home, "drop", words, None)[:LINKED]
    of_guests = [
        SearchLink("user", guest.name, guest.room or "", kind, f"/rides/new?guest={guest.id}")
        for guest in known
    ]
    return of_guests + [
        SearchLink("drop", place.name, place.minutes, kind, f"/rides/new?{_drop(place)}")
        for place in places
    ]


def _drop(place: Suggestion) -> str:
    return urlencode({"drop": place.name, "drop_lat": place.lat, "drop_lng": place.lng})


def _pages(words: str) -> list[SearchLink]:
    """The pages whose titles have words with these beginnings."""
    settings = [(each, _("Settings")) for each in settings_tabs()] if words else []
    listed = [(each, "") for each in main_pages()] + settings
    begun = [f" {word}" for word in normalised(words).split()]
    if words and not begun:
        return []
    return [
        SearchLink("next", str(page.title), "", kind, page.url)
        for page, kind in listed
        if all(word in normalised(str(page.title)) for word in begun)
    ]


def _short(line: RecordLine) -> dict[str, Any]:
    """A ride as static/js/shared/search.js lists it."""
    state = {"state": line.state.words, "icon": line.state.icon, "tone": line.state.tone}
    return state | {
        name: getattr(line, name) for name in ("id", "guest", "room", "car", "to", "plate", "at")
    }
