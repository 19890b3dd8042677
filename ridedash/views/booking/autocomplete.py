"""The data that the booking form fetches while a person types: priced cars, places, guests."""

from dataclasses import replace
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from flask import Blueprint, jsonify, render_template, request
from werkzeug.wrappers import Response

from ridedash.extensions import limiter, services
from ridedash.fits import MOST_PEOPLE
from ridedash.forms.booking import TripForm
from ridedash.forms.phones import reading_of, without_extension
from ridedash.geo import LatLng
from ridedash.inputs import row_id, whole_number
from ridedash.names import name_key
from ridedash.places import (
    MOST_TYPED,
    Place,
    PlacesUnavailableError,
    find_typed,
    sent_point,
)
from ridedash.rides.orders.fields import SPOKEN_LANGUAGES
from ridedash.store import guests
from ridedash.store.guests import Usual
from ridedash.store.models.people import Guest, Property
from ridedash.store.search import phone_digits
from ridedash.text import normalised, plain_code
from ridedash.views.booking.estimates import home_point
from ridedash.views.booking.flights import lands_here
from ridedash.views.booking.form import cars_context, estimator, own_offer, trip_page
from ridedash.views.booking.pickup_points import ShownZone
from ridedash.views.booking.suggestions import Suggestion, found_again, matching, suggested
from ridedash.views.booking.trip_ends import TripEnd
from ridedash.views.booking.view_model import BookingPage, with_cars
from ridedash.views.web import formatting
from ridedash.views.web.current_user import by_staff_key, current_staff
from ridedash.views.web.formatting import day_time
from ridedash.views.web.permissions import BOOK, needs
from ridedash.views.web.place_names import coordinates_words, named_points, unread_words
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _

bp = Blueprint("lookups", __name__)
Answer = Response | tuple[Response, int]
WHOLE_PHONE: Final = 7  # digits; a shorter text may match several phones
PHONE_FIELDS: Final = ("guest_phone", "guest_phone2")
NAMES: Final = dict(SPOKEN_LANGUAGES)
OSM_CREDIT: Final = "© OpenStreetMap contributors"


@bp.get("/products.json")
@needs(BOOK)
@limiter.limit("120/minute", key_func=by_staff_key)
def products() -> Answer:
    """Product cards for a trip as markup, and the hotspot for the map. Stores their offers."""
    page = trip_page(TripForm(request.args), search=False)
    if page.ends.pickup.point is None:
        return jsonify(html="", message=_("Choose a pickup.")), 422
    page.form.account.data = request.args.get("account", type=row_id)
    page.form.guest_id.data = request.args.get("guest", type=row_id)
    for name in ("people", "bags", "cars"):
        page.form[name].data = whole_number(request.args.get(name, ""), 0, MOST_PEOPLE)
    seats = whole_number(request.args.get("seats", ""), 1, 2)
    before = own_offer(request.args.get("before", type=row_id))
    usual = request.args.get("usual", "")[:64]
    page = with_cars(replace(page, seats=seats or 1), estimator(), before, usual)
    answer = jsonify(_cars(page))
    answer.headers["Cache-Control"] = "no-store"
    if page.cars.error:
        return answer, page.cars.error.status
    return answer


@bp.get("/places.json")
@needs(BOOK)
@limiter.limit("300/minute", key_func=by_staff_key)
def places() -> Answer:
    """Places for a typed text, the best first; coordinates, links and plus codes are places too.

    `sure`: the text names just the one place, which needs no choice. The property's own places come
    before those of the gazetteer, and are also found when the gazetteer gives no answer. Without a
    text: suggested places.
    """
    typed = " ".join(request.args.get("q", "")[:MOST_TYPED].split())
    near = _near()
    if not typed:
        return jsonify(places=_suggested(), message="")
    own = _own(typed)
    try:
        found = find_typed(services().geocoder, typed, near)
    except PlacesUnavailableError:
        failure = _no_answer(near)
        rows = _led_by(own, [], typed)
        return jsonify(places=rows, message=failure, credit=failure), 200 if own else 503
    if found.unread:
        return jsonify(places=[], message=unread_words(found.unread), credit="")
    named = named_points(services().geocoder, found)
    if found.is_sure:
        return jsonify(places=[_place(named[0])], message="", credit="", sure=True)
    rows = _led_by(own, list(named), found.words or typed)
    message = "" if rows else _no_place(near)
    return jsonify(places=rows, message=message, credit=_credit())


@bp.post("/guests.json")
@needs(BOOK)
@limiter.limit("300/minute", key_func=by_staff_key)
def find_guests() -> Answer:
    """Guests of the property by room, name or phone; without a text, the latest ones.

    The text comes in the body, so that no address names a guest.
    """
    typed = request.form.get("q", "")
    with services().db.read() as s:
        zone = formatting.zone(s.get_one(Property, current_staff().property_id).timezone)
        found = guests.find(s, current_staff().property_id, typed)
        usual = {guest.id: guests.usual(s, guest.id) for guest in found}
    now = services().clock()
    rows = [guest_json(guest, usual[guest.id], typed, now, zone) for guest in found]
    answer = jsonify(guests=rows, message="")
    answer.headers["Cache-Control"] = "no-store"
    return answer


@bp.post("/guest-phone.json")
@needs(BOOK)
@limiter.limit("300/minute", key_func=by_staff_key)
def read_phone() -> Answer:
    """How a typed phone number is read, as markup for its field. Nothing is stored.

    `q` is the text, `field` its control, `guest` the id of the chosen guest. The text comes in the
    body, so that no address has a number. `wrong`: it can't be booked with as it stands.
    """
    field = request.form.get("field", "")
    typed = request.form.get("q", "")
    property_id = current_staff().property_id
    guest_id = row_id(request.form.get("guest", ""))
    with services().db.read() as s:
        country = s.get_one(Property, property_id).country
        known = guests.phones_of(s, property_id, guest_id) if guest_id else frozenset()
    said = reading_of(typed, country, known)
    name = field if field in PHONE_FIELDS else PHONE_FIELDS[0]
    html = render_template("booking/_phone_said.html", said=said, name=name)
    answer = jsonify(html=html, wrong=bool(said.message and not said.stored))
    answer.headers["Cache-Control"] = "no-store"
    return answer


def guest_json(
    guest: Guest, usual: Usual, typed: str, now: datetime, zone: ZoneInfo
) -> dict[str, Any]:
    """A guest with the values that the form fills in.

    `exact`: room, phone or name were typed in full, so that Enter chooses this guest.
    """
    return {
        "id": guest.id,
        "name": guest.name,
        "room": guest.room or "",
        "phone": guest.phone or "",
        "phone2": guest.phone2 or "",
        "language": guest.language or "",
        "note": guest.note or "",
        "about": " · ".join(_about(guest, now, zone)),
        "category": usual.category,
        "places": [{"name": name, "lat": lat, "lng": lng} for name, lat, lng in usual.places],
        "exact": _exact(guest, typed),
    }


def _cars(page: BookingPage) -> dict[str, Any]:
    """The answer for the page's script: the cards as markup, the hotspot for the map."""
    answer = {
        "html": render_template("booking/_cars.html", alone=True, **cars_context(page)),
        "zone_html": "",
        "pickup": _end(page.ends.pickup),
        "drop": _end(page.ends.drop),
        "zone": None,
        "message": "",
        "lands": lands_here(page.ends.pickup, page.desk.home),
    }
    if page.cars.zone:
        answer["zone_html"] = render_template("booking/_zone.html", booking_page=page)
        answer["zone"] = _zone(page.cars.zone)
    if page.cars.error:
        answer["message"] = page.cars.error.headline
    return answer


def _zone(zone: ShownZone) -> dict[str, Any]:
    return {
        "boundary": [list(corner) for corner in zone.boundary],
        "points": [
            {"number": n, "name": p.full, "lat": p.position.lat, "lng": p.position.lng}
            for n, p in enumerate(zone.points, 1)
        ],
        "chosen": zone.chosen,
    }


def _end(end: TripEnd) -> dict[str, str]:
    return {"lat": end.lat, "lng": end.lng, "name": end.name, "error": end.error}


def _place(found: Place) -> dict[str, Any]:
    """A found place for the list; kind or area are left out if the name contains them.

    "Meridian Airport" needs no "airport" beside it.
    """
    name = found.name.casefold()
    area = found.area
    kind = found.kind.replace("_", " ")
    if area.casefold() in name:
        area = ""
    if kind.casefold() in (name, area.casefold(), *name.split()):
        kind = ""
    return {
        "name": found.name,
        "kind": kind,
        "area": area,
        "lat": found.position.lat,
        "lng": found.position.lng,
    }


def _suggested() -> list[dict[str, Any]]:
    """Places before a text is typed."""
    end = request.args.get("end", "drop")
    guest_id = request.args.get("guest", type=row_id)
    other = sent_point(request.args.get("other", "")[:50])
    with services().db.read() as s:
        home = s.get_one(Property, current_staff().property_id)
        return [place.facts() for place in suggested(s, home, end, guest_id, other)]


def _own(typed: str) -> list[Suggestion]:
    """The property's own places for a typed text; none for a field that is no end of a trip."""
    end = request.args.get("end", "")
    if end not in ("pickup", "drop"):
        return []
    other = sent_point(request.args.get("other", "")[:50])
    with services().db.read() as s:
        home = s.get_one(Property, current_staff().property_id)
        return matching(s, home, end, typed, other)


def _led_by(own: list[Suggestion], found: list[Place], typed: str) -> list[dict[str, Any]]:
    """The property's own places, then the other found ones, each once.

    A favourite keeps its own name. A recent drop gets the gazetteer's name, which is often fuller.
    Places whose whole name was typed come first of all, because Enter chooses the first place.
    """
    rows = []
    others = found
    for place in own:
        same = found_again(place, others)
        others = [each for each in others if each not in same]
        rows.append(_place(same[0]) if same and not place.slot else place.facts())
    rows += [_place(each) for each in others]
    return sorted(rows, key=lambda row: normalised(row["name"]) != normalised(typed))


def _near() -> LatLng | None:
    with services().db.read() as s:
        return home_point(s.get_one(Property, current_staff().property_id))


def _has_map() -> bool:
    """Whether the page has a map on which the ends can be set."""
    return request.args.get("map") == "1"


def _no_answer(near: LatLng | None) -> str:
    how = coordinates_words(near)
    if _has_map():
        return _("Place search is not answering. Click the map, or type %(how)s.", how=how)
    return _("Place search is not answering. Type %(how)s.", how=how)


def _no_place(near: LatLng | None) -> str:
    if _has_map():
        return _("No place of that name. Try another word, or click the map.")
    return _("No place of that name. Try another word, or %(how)s.", how=coordinates_words(near))


def _credit() -> str:
    """The source of the places if its licence requires a credit; a sandbox's city requires none."""
    settings = services().settings
    ours = settings.rehearsal and settings.geocoder_url == settings.service_url
    if ours or settings.geocoder == "sandbox":
        return ""
    return OSM_CREDIT


def _about(guest: Guest, now: datetime, zone: ZoneInfo) -> list[str]:
    seen = ""
    if guest.seen_at:
        seen = _("last booked %(at)s", at=day_time(guest.seen_at, now, zone, locale()))
    language = NAMES.get(guest.language or "", "")
    return [words for words in (seen, language, guest.note or "") if words]


def _exact(guest: Guest, typed: str) -> bool:
    text = plain_code(" ".join(typed.split())).casefold()
    digits = phone_digits(typed)
    numbers = map(without_extension, (guest.phone, guest.phone2))
    phone = len(digits) >= WHOLE_PHONE and any(each.endswith(digits) for each in numbers)
    room = (guest.room or "").casefold()
    name = name_key(guest.name)
    return bool(text) and (phone or text == room or name_key(text) == name != "")
