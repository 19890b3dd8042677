"""A visit of a kiosk until Book is pressed: places, cars, a call for help, and its end.

A guest's answers are not stored, only how far visits get, and when (docs/security.md 9).
"""

from datetime import datetime, timedelta
from typing import Any, Final

from flask import Blueprint, abort
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from ridedash.extensions import language, limiter, services
from ridedash.geo import LatLng, distance_m
from ridedash.inputs import whole_number
from ridedash.places import Place, PlacesUnavailableError, parse_coordinates
from ridedash.rides.kiosk import approvals, desk_codes, rules
from ridedash.rides.kiosk.needs import needs_of, start_of
from ridedash.rides.kiosk.opening import takes_orders
from ridedash.store import kiosk_visits
from ridedash.store.kiosk_visits import KioskScreen, VisitEnd
from ridedash.store.models.kiosks import Kiosk, PickupHint
from ridedash.store.models.people import Property
from ridedash.store.offers import Trip
from ridedash.store.orders import Offer, recent_drops
from ridedash.store.properties import favourites_of
from ridedash.text import one_line
from ridedash.views.booking.estimates import EstimateFailedError, Estimates
from ridedash.views.booking.suggestions import SAME_START_M
from ridedash.views.kiosk import cars as of_cars
from ridedash.views.kiosk.phone_link import phone_link
from ridedash.views.kiosk.visit_requests import (
    VisitRequest,
    answer,
    by_kiosk_key,
    drop_of,
    estimator,
    here,
    the_visit,
    within,
)
from ridedash.views.web.formatting import zone
from ridedash.views.web.permissions import KIOSK, needs
from ridedash.wording import in_language
from ridedash.wording.kiosk import kiosk_words, typed_kind
from ridedash.wording.languages import ENGLISH

bp = Blueprint("kiosk_visit", __name__)
MOST_PLACES: Final = 6
READ_DROPS: Final = 40  # recent orders that are read for the estimated minutes to a place
READ_OFFERS: Final = 40
FRESH_FOR: Final = timedelta(seconds=60)
LONGEST_QUERY: Final = 80
LONGEST_S: Final = 24 * 3600
# the cases of `kiosk_words` for the limits at which a kiosk books no ride for any guest
FULL_CASES: Final = {f"full_{why}": why for why in rules.FULL}
AGAIN_S: Final = 5  # seconds after which a page that got no cars asks again, while the guest waits
# For each tab, the words to search for, and the kinds of places among the results that are shown.
# Guests without a keyboard for their writing system choose a tab instead of typing.
TABS: Final[dict[str, tuple[tuple[str, ...], frozenset[str]]]] = {
    "airport": (("airport",), frozenset({"airport", "aerodrome"})),
    "stations": (("station",), frozenset({"station", "bus_station", "metro", "halt"})),
    "hospitals": (("hospital",), frozenset({"hospital", "clinic"})),
    "sights": (
        ("museum", "gardens", "square", "park"),
        frozenset({"museum", "attraction", "park", "square", "monument", "gallery", "theatre"}),
    ),
}

SIGNS: Final = {kind: tab for tab, (_words, kinds) in TABS.items() for kind in kinds}


@bp.get("/kiosk/places.json")
@needs(KIOSK)
def places() -> Response:
    """At most six places, for two letters or more or for a tab. Coordinates are not accepted."""
    at = here()
    return places_for(at, at.values.get("q", ""), at.values.get("tab", ""))


def places_for(at: VisitRequest, q: str, tab_name: str = "") -> Response:
    """The answer of /kiosk/places.json, for a guest at this kiosk or on their own phone."""
    typed = one_line(q, LONGEST_QUERY)
    tab = TABS.get(tab_name)
    if not within(at, _count_places):
        return answer("limited", kiosk_words("slowly"), results=[])
    start = start_of(at.kiosk, at.home)
    try:
        found = _found(typed, tab, start.pickup if start else None)
    except PlacesUnavailableError:
        return answer("trouble", kiosk_words("slowly"), results=[])
    with services().db.read() as s:
        minutes = _minutes(s, at.home, start)
    results = [_place(each, minutes.get(each.name)) for each in found]
    return answer("ok" if results else "none", results=results)


@bp.post("/kiosk/cars")
@needs(KIOSK)
def cars() -> Response:
    """The cars for a trip from here, each with a stored offer, and the meeting point.

    With `own` it returns the link for a guest's own phone instead (views/kiosk/phone_link.py).
    """
    at = here()
    own = at.values.get("own", "")
    if own:
        return phone_link(at, own)
    return cars_for(at)


def cars_for(at: VisitRequest) -> Response:
    """The answer of /kiosk/cars, for a guest at this kiosk or on their own phone.

    `again_s`: after this many seconds the answer may be different, and the page asks again.
    """
    visit = the_visit(at)
    drop, name = drop_of(at)
    start = start_of(at.kiosk, at.home)
    if visit is None or drop is None or not name:
        return answer("none", kiosk_words("no_way"), cars=[])
    if start is None:
        return answer("none", kiosk_words("no_pickup"), cars=[])
    if not within(at, _count_cars):
        return answer("limited", kiosk_words("slowly"), cars=[], again_s=AGAIN_S)
    now = services().clock()
    closed = closed_now(at, now)
    if closed:
        _note_full(at, closed, now)
        return answer("trouble", kiosk_words(closed), cars=[])
    house_pays = _house_pays(at)
    try:
        estimates = _estimates(at, Trip(start.pickup, start.pickup_name, drop, name), house_pays)
    except EstimateFailedError as error:
        return _no_cars(error)
    ids = [card.offer_id for card in estimates.cards]
    with services().db.write() as s:
        kiosk_visits.touch(s, visit, now, KioskScreen.CAR)
        offers = s.scalars(select(Offer).where(Offer.id.in_(ids))).all()
        hints = s.scalars(select(PickupHint).where(PickupHint.property_id == at.property_id)).all()
        rule = rules.rule_now(s.get_one(Kiosk, at.id), now)
    found = of_cars.choices(estimates.cards, offers, house_pays)
    if not found:
        return answer("none", kiosk_words("no_cars"), cars=[])
    listed = of_cars.cars_json(found, house_pays)
    meet = of_cars.meet_json(estimates, hints, at.kiosk, start, language())
    shown = min(of_cars.SHOWN, len(listed))
    words = kiosk_words("needs_code") if rule == "code" else None
    facts: dict[str, Any] = {"cars": listed, "shown": shown, "meet": meet, "rule": rule.value}
    facts["way"] = of_cars.map_of_way(start.pickup, drop)
    return answer("ok", words, **facts)


@bp.post("/kiosk/help")
@needs(KIOSK)
def ask_help() -> Response:
    """Call the desk. A later heartbeat says whether a member of staff is coming."""
    at = here()
    visit = the_visit(at)
    if visit is None:
        abort(400)
    if not within(at, _count_helps):
        return answer("limited", kiosk_words("slowly"))
    with services().db.write() as s:
        kiosk_visits.ask_help(s, visit, at.values.get("screen", ""), services().clock())
    return answer("asked")


@bp.post("/kiosk/end")
@needs(KIOSK)
def end() -> tuple[str, int]:
    """End a visit. The page reports how it ended, on which screen, its language, aids, duration."""
    at = here()
    visit = the_visit(at)
    if visit is None:
        abort(400)
    if not within(at, _count_ends):
        return "", 204  # only the report is lost: open questions to the desk expire by themselves
    ended = VisitEnd(
        how=at.values.get("how", ""),
        screen=at.values.get("screen", ""),
        language=language(),
        aids=at.values.get("aids", "")[:100].split(","),
        seconds=whole_number(at.values.get("seconds", ""), 0, LONGEST_S),
    )
    now = services().clock()
    with services().db.write() as s:
        kiosk_visits.end(s, visit, ended, now)
        approvals.end_asks(s, at.id, visit.id, now)
    return "", 204


def favourites(kiosk: Kiosk) -> list[dict[str, Any]]:
    """The destinations on a kiosk's first screen: up to six favourite drops of its property.

    Each has `name`, `lat`, `lng`, `minutes` by car or None, and the `sign` of its kind of place;
    for the document of GET /kiosk.
    """
    with services().db.read() as s:
        home = s.get_one(Property, kiosk.property_id)
        rows = sorted(favourites_of(s, home.id).items())
        minutes = _minutes(s, home, start_of(kiosk, home))
    drops = [place for (kind, _slot), place in rows if kind == "drop"][:MOST_PLACES]
    return [
        {
            "name": each.name,
            "lat": each.lat,
            "lng": each.lng,
            "minutes": minutes.get(each.name),
            "sign": sign_of(each.name),
        }
        for each in drops
    ]


def sign_of(name: str) -> str:
    """The kind of place that a name tells, in the reader's language or in English, or "".

    It is a key of TABS, by which the page knows its drawing.
    """
    found = typed_kind(name)
    if found:
        return found
    with in_language(ENGLISH):
        return typed_kind(name)


def soonest_minutes(s: Session, kiosk: Kiosk, home: Property, now: datetime) -> int | None:
    """How many minutes away the nearest car is, by offers of the last minute near here; or None.

    This makes no call to the service.
    """
    start = start_of(kiosk, home)
    if start is None:
        return None
    newest = select(Offer).where(Offer.property_id == home.id).order_by(Offer.id.desc())
    found = []
    for offer in s.scalars(newest.limit(READ_OFFERS)):
        away_m = distance_m(LatLng(offer.pickup_lat, offer.pickup_lng), start.pickup)
        eta = (offer.product.get("eta") or {}).get("seconds")
        fresh = offer.fetched_at > now - FRESH_FOR and away_m < SAME_START_M
        fresh = fresh and rules.offered_here(offer, house_pays=False)
        if fresh and isinstance(eta, (int, float)) and eta >= 0:
            found.append(of_cars.whole_minutes(eta))
    return min(found, default=None)


@limiter.shared_limit("120/minute", scope="kiosk places", key_func=by_kiosk_key)
def _count_places() -> None:
    """Raise TooManyRequests when a kiosk looks up too many places."""


@limiter.shared_limit("20/minute", scope="kiosk cars", key_func=by_kiosk_key)
def _count_cars() -> None:
    """Raise TooManyRequests when a kiosk asks for too many lists of cars."""


@limiter.shared_limit("20/minute", scope="kiosk helps", key_func=by_kiosk_key)
def _count_helps() -> None:
    """Raise TooManyRequests when a kiosk calls for help more often than guests can press."""


@limiter.shared_limit("60/minute", scope="kiosk ends", key_func=by_kiosk_key)
def _count_ends() -> None:
    """Raise TooManyRequests when a kiosk ends more visits than guests can begin: each is a row."""


def closed_now(at: VisitRequest, now: datetime) -> str:
    """The reason why a kiosk shows no cars now, as a case of `kiosk_words`; or ""."""
    if at.kiosk.out_of_order:
        return "trouble"
    if not takes_orders(at.kiosk, now, zone(at.home.timezone)):
        return "hours"
    with services().db.read() as s:
        if needs_of(s, at.kiosk, at.home):
            return "trouble"
        if approvals.waits_in_vain(s, at.kiosk, now):
            return "expired"
        full = rules.limit_reached(s, at.kiosk, now, phone=at.phone)
    return next((case for case, why in FULL_CASES.items() if why is full), "")


def _note_full(at: VisitRequest, closed: str, now: datetime) -> None:
    """Tell the desk of a guest who gets no car because the kiosk books none for anyone now."""
    why = FULL_CASES.get(closed)
    if why is None:
        return
    with services().db.write() as s:
        rules.note_refused(s, s.get_one(Kiosk, at.id), why, now)


def _found(
    typed: str, tab: tuple[tuple[str, ...], frozenset[str]] | None, near: LatLng | None
) -> list[Place]:
    """Places for a text or a tab. Raises PlacesUnavailableError."""
    search = services().geocoder.search
    if typed:
        if parse_coordinates(typed) or len(typed) < 2:
            return []
        named = search(typed, near)[:MOST_PLACES]
        # a guest may type a kind of place in another language than the names: "Flughafen"
        tab = TABS.get(typed_kind(typed))
        if named or tab is None:
            return named
    words, kinds = tab or ((), frozenset())
    found = {
        (place.name, place.position): place
        for word in words
        for place in search(word, near)
        if place.kind in kinds
    }
    nearest = sorted(found.values(), key=lambda p: distance_m(p.position, near) if near else 0.0)
    return nearest[:MOST_PLACES]


def _place(found: Place, minutes: int | None) -> dict[str, Any]:
    lat, lng = found.position
    area = "" if found.area.casefold() in found.name.casefold() else found.area
    return {
        "name": found.name,
        "address": area,
        "lat": lat,
        "lng": lng,
        "minutes": minutes,
        "sign": SIGNS.get(found.kind) or sign_of(found.name),
    }


def _minutes(s: Session, home: Property, start: Trip | None) -> dict[str, int]:
    """The estimated minutes of recent trips from here, by the name of the drop."""
    if start is None:
        return {}
    return {
        each.name: max(1, round(each.travel_s / 60))
        for each in reversed(recent_drops(s, home.id, READ_DROPS))
        if each.travel_s is not None and distance_m(each.pickup, start.pickup) < SAME_START_M
    }


def _house_pays(at: VisitRequest) -> bool:
    """Whether the desk's code says that the property pays: then a shared ride is offered too."""
    typed = at.values.get("code", "")
    if not typed:
        return False
    app = services()
    now = app.clock()
    with app.db.write() as s:
        if not desk_codes.may_try(s, at.id, now, phone=at.phone):
            return False
        found = desk_codes.open_code(s, app.settings.secret_key, at.property_id, typed, now)
        if found is not None:
            desk_codes.was_right(s, at.id, phone=at.phone)
    return found is not None and found.house_pays


def _estimates(at: VisitRequest, trip: Trip, house_pays: bool) -> Estimates:
    """The cars, from the pickup point that the guest has chosen, if any.

    Raises EstimateFailedError.
    """
    ask, account_id = estimator(at, house_pays=house_pays)
    found = ask.estimates(trip, account_id)
    moved = of_cars.at_point(found, one_line(at.values.get("point", ""), 200))
    if moved is None:
        return found
    return ask.estimates(moved, account_id)


def _no_cars(error: EstimateFailedError) -> Response:
    """The reason why there is no car, in words for guests."""
    if error.status >= 500:
        return answer("trouble", kiosk_words("no_prices"), cars=[], again_s=AGAIN_S)
    case = {"drop": "no_way", "pickup": "no_pickup"}.get(error.end, "no_cars")
    return answer("none", kiosk_words(case), cars=[])
