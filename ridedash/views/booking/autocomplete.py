"""What the booking form asks for while somebody types: cars with their prices, and places."""

from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from flask import Blueprint, jsonify, render_template, request
from werkzeug.wrappers import Response

from ridedash.extensions import limiter, services
from ridedash.forms import TripForm
from ridedash.geo import LatLng
from ridedash.places import Place, PlacesUnavailableError, coordinates_text, parse_coordinates
from ridedash.rides.orders.fields import LANGUAGES
from ridedash.store import guests
from ridedash.store.database.database import MAX_ID
from ridedash.store.guests import Usual
from ridedash.store.models.people import Guest, Property
from ridedash.store.orders import Offer, recent_orders
from ridedash.store.properties import favourites_of
from ridedash.store.search import phone_digits
from ridedash.text import normalised
from ridedash.views.booking import form
from ridedash.views.booking.estimates import Estimator, home_trip
from ridedash.views.booking.picker import End, Picker, read_ends
from ridedash.views.web import formatting, responses
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.formatting import day_time
from ridedash.views.web.permissions import BOOK, needs
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _

WHOLE_PHONE: Final = 7  # digits: fewer may be anybody's
NAMES: Final = dict(LANGUAGES)


def guest_told(
    guest: Guest, usual: Usual, typed: str, now: datetime, zone: ZoneInfo
) -> dict[str, Any]:
    """As JSON.

    `exact` says that Enter may take this one: room, phone or name were typed in full.
    """
    return {
        "id": guest.id,
        "name": guest.name,
        "room": guest.room or "",
        "phone": guest.phone or "",
        "language": guest.language or "",
        "note": guest.note or "",
        "about": " · ".join(_about(guest, now, zone)),
        "category": usual.category,
        "places": [{"name": name, "lat": lat, "lng": lng} for name, lat, lng in usual.places],
        "exact": _exact(guest, typed),
    }


def _about(guest: Guest, now: datetime, zone: ZoneInfo) -> list[str]:
    seen = (
        _("last ride %(at)s", at=day_time(guest.seen_at, now, zone, locale()))
        if guest.seen_at
        else ""
    )
    return [
        words for words in (seen, NAMES.get(guest.language or "", ""), guest.note or "") if words
    ]


def _exact(guest: Guest, typed: str) -> bool:
    text, digits = " ".join(typed.split()).casefold(), phone_digits(typed)
    phone = len(digits) >= WHOLE_PHONE and (guest.phone or "").endswith(digits)
    return bool(text) and (
        text == (guest.room or "").casefold()
        or phone
        or normalised(text) == normalised(guest.name) != ""
    )


bp = Blueprint("lookups", __name__)
Answer = Response | tuple[Response, int]
SUGGESTED: Final = 14
LATELY: Final = 5
OSM_CREDIT: Final = "© OpenStreetMap contributors"


def estimator() -> Estimator:
    """Asks for prices on behalf of whoever is signed in."""
    return Estimator(services(), current_staff(), responses.locale())


def by_staff() -> str:
    """Limits count by person, not by the hotel's one address."""
    return f"staff-{current_staff().id}"


@bp.get("/products.json")
@needs(BOOK)
@limiter.limit("120/minute", key_func=by_staff)
def products() -> Answer:
    """Cards for a trip as the page's own markup, and the hotspot for its map.

    Stores an offer for each card.
    """
    picker = asked_trip(TripForm(request.args), search=False)
    picker.form.account.data = request.args.get("account", type=int)
    if picker.pickup.point is None:
        return jsonify(html="", message=_("Choose a pickup.")), 422
    picker.usual = request.args.get("usual", "")[:64]
    picker.ask(estimator(), own_offer(request.args.get("before", type=int)))
    picker.seats = 2 if request.args.get("seats") == "2" else 1
    answer = jsonify(_cars(picker))
    answer.headers["Cache-Control"] = "no-store"
    return (answer, picker.trouble.status) if picker.trouble else answer


@bp.get("/places.json")
@needs(BOOK)
@limiter.limit("300/minute", key_func=by_staff)
def places() -> Answer:
    """Places for typed words, best first; coordinates are a place too; nothing typed: where guests
    went lately.
    """
    typed = " ".join(request.args.get("q", "")[:200].split())
    near = _near()
    point = parse_coordinates(typed)
    if point:
        found = [Place("", coordinates_text(point), "coordinates", "", point)]
    elif not typed:
        return jsonify(places=_suggested(), message="")
    else:
        try:
            found = services().geocoder.search(typed, near)
        except PlacesUnavailableError:
            return jsonify(places=[], message=_no_answer()), 503
    told = [_place(each) for each in found]
    return jsonify(
        places=told,
        message="" if found else _no_place(),
        credit=_credit() if found and not point else "",
    )


@bp.post("/guests.json")
@needs(BOOK)
@limiter.limit("300/minute", key_func=by_staff)
def find_guests() -> Answer:
    """Guests of the property by room, name or phone, with what the form fills in; nothing typed:
    who was here last.

    The words come in the body: no address names a guest.
    """
    typed = request.form.get("q", "")
    with services().db.read() as s:
        zone = formatting.zone(s.get_one(Property, current_staff().property_id).timezone)
        found = guests.find(s, current_staff().property_id, typed)
        usual = {guest.id: guests.usual(s, guest.id) for guest in found}
    told = [guest_told(guest, usual[guest.id], typed, services().clock(), zone) for guest in found]
    answer = jsonify(guests=told, message="")
    answer.headers["Cache-Control"] = "no-store"
    return answer


def asked_trip(trip: TripForm, *, search: bool) -> Picker:
    """A picker for what a query or a form says."""
    picker = form.new_picker()
    trip.validate()  # too long words are cut where they are read; nothing here can stop the page
    picker.pickup, picker.drop = read_ends(trip, services().geocoder, picker.home, search=search)
    picker.category = (trip.category.data or "")[:64]
    return picker


def own_offer(offer_id: int | None) -> Offer | None:
    """An offer of this property; None for any other."""
    if not offer_id or not 0 < offer_id <= MAX_ID:
        return None
    with services().db.read() as s:
        offer = s.get(Offer, offer_id)
    return offer if offer and offer.property_id == current_staff().property_id else None


def _cars(picker: Picker) -> dict[str, Any]:
    """What the page's script puts in place: markup for words, numbers for the map."""
    zone = picker.estimates.zone if picker.estimates else None
    return {
        "html": render_template("booking/_cars.html", **form.context(picker)),
        "zone_html": render_template("booking/_zone.html", picker=picker) if zone else "",
        "pickup": _end(picker.pickup),
        "drop": _end(picker.drop),
        "zone": zone
        and {
            "boundary": [list(corner) for corner in zone.boundary],
            "points": [
                {"number": n, "name": p.full, "lat": p.position.lat, "lng": p.position.lng}
                for n, p in enumerate(zone.points, 1)
            ],
            "chosen": zone.chosen,
        },
        "message": picker.trouble.headline if picker.trouble else "",
    }


def _end(end: End) -> dict[str, str]:
    return {"lat": end.lat, "lng": end.lng, "name": end.name, "error": end.error}


def _place(found: Place) -> dict[str, Any]:
    """A found place for the list, where nothing is said twice: "Meridian Airport" needs no
    "airport" beside it.
    """
    name, area, kind = found.name.casefold(), found.area, found.kind.replace("_", " ")
    area = "" if area.casefold() in name else area
    kind = (
        ""
        if kind.casefold() in (name, area.casefold()) or kind.casefold() in name.split()
        else kind
    )
    return {
        "name": found.name,
        "kind": kind,
        "area": area,
        "lat": found.position.lat,
        "lng": found.position.lng,
    }


def _suggested() -> list[dict[str, Any]]:
    """Before anything is typed: where this guest goes, the house's favourites by their keys, where
    guests went lately.

    Each place once.
    """
    end, guest_id = request.args.get("end", "drop"), request.args.get("guest", type=int)
    with services().db.read() as s:
        house = current_staff().property_id
        favourites = [
            place for (kind, _slot), place in sorted(favourites_of(s, house).items()) if kind == end
        ]
        guest = guests.guest_of(s, house, guest_id) if guest_id and end == "drop" else None
        often = guests.usual(s, guest.id).places if guest else ()
        offers = [page.offer for page in recent_orders(s, house, 40)] if end == "drop" else []
    slots = {place.name: str(place.slot) for place in favourites}
    lately = [
        (o.drop_name, o.drop_lat, o.drop_lng)
        for o in offers
        if o.drop_name and o.drop_lat is not None
    ]
    found: dict[str, dict[str, Any]] = {}
    for kind, places in (
        (_("often"), often),
        ("", [(p.name, p.lat, p.lng) for p in favourites]),
        (_("lately"), lately[:LATELY]),
    ):
        for name, lat, lng in places:
            found.setdefault(
                name, {"name": name, "kind": kind, "area": "", "lat": lat, "lng": lng, "slot": ""}
            )
    return [place | {"slot": slots.get(name, "")} for name, place in found.items()][:SUGGESTED]


def _near() -> LatLng | None:
    with services().db.read() as s:
        start = home_trip(s.get_one(Property, current_staff().property_id))
    return start.pickup if start else None


def _has_map() -> bool:
    """Whether the page that asks has a map that sets the ends."""
    return request.args.get("map") == "1"


def _no_answer() -> str:
    if _has_map():
        return _(
            "Place search is not answering. Click the map, or type coordinates such as 12.95, 77.6."
        )
    return _("Place search is not answering. Type coordinates, such as 12.95, 77.6.")


def _no_place() -> str:
    if _has_map():
        return _("No place of that name. Try another word, or click the map.")
    return _("No place of that name. Try another word, or coordinates, such as 12.95, 77.6.")


def _credit() -> str:
    """Whose places they are, where their licence asks for it."""
    return OSM_CREDIT if services().settings.geocoder in ("photon", "nominatim") else ""
