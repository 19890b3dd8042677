"""Pick and book: `/rides/new`, and what its page asks for while somebody types."""

from datetime import timedelta
from typing import Any

from flask import Blueprint, jsonify, redirect, render_template, request
from flask_babel import get_locale
from werkzeug.wrappers import Response

from ridedash.ext import limiter, services
from ridedash.forms import BookingForm, TripForm, new_form_token
from ridedash.geo import LatLng
from ridedash.places import Place, PlacesUnavailableError, coordinates_text, parse_coordinates
from ridedash.rides.ordering import PlaceError, TokenReused, Wish, place
from ridedash.store.db import CommitUnknown, DatabaseBusy
from ridedash.store.orders import MAX_ID, Offer, OrderPage, form_used, order_page, recent_orders
from ridedash.store.people import Property, accounts_of
from ridedash.views import formats, planning
from ridedash.views.auth import current_staff
from ridedash.views.mishaps import explain
from ridedash.views.permissions import BOOK, needs
from ridedash.views.picker import End, Picker, page_map, read_ends
from ridedash.views.quotes import Quotes, home_trip
from ridedash.wire import Kind
from ridedash.wording import gettext as _

bp = Blueprint("booking", __name__)
Answer = str | Response | tuple[str | Response, int]
SUGGESTED = 5
FRESH_MS = 100_000  # the page renews its prices before an offer's two minutes are over; faster with the service's clock
FRESH_LEAST_MS = 3_000


def locale() -> str:
    return str(get_locale() or "en")


def quotes() -> Quotes:
    return Quotes(services(), current_staff(), locale())


def by_staff() -> str:
    """Limits count by person, not by the hotel's one address."""
    return f"staff-{current_staff().id}"


def sent_before() -> bool:
    """Whether this form has made its order: pressed again it counts for nothing, and is shown what it made."""
    with services().db.read() as s:
        return "show" not in request.form and form_used(s, request.form.get("form_token", ""))


@bp.get("/rides/new")
@needs(BOOK)
def new() -> Answer:
    """The picker; the query presets its trip, `again` refills it from an order, `show` lists the cars at once."""
    again = _order(request.args.get("again", type=int))
    plan = _order(request.args.get("change", type=int))
    if plan:
        return _plan(plan)
    picker = _picker() if again else _asked(TripForm(request.args), search="show" in request.args)
    if again:
        picker.refill(again)
    if again or "show" in request.args:
        picker.ask(quotes(), again.offer if again else None)
    return _page(picker)


def _plan(plan: OrderPage) -> Answer:
    """The form that changes a planned ride; what is planned no longer is shown as it is."""
    if not planning.is_plan(plan):
        return redirect(f"/rides/{plan.order.id}?said=change-not_now", 303)
    picker = _picker()
    planning.refill(picker, plan)
    picker.ask(quotes(), plan.offer)
    return _page(picker)


@bp.post("/rides/new")
@needs(BOOK)
@limiter.limit("60/minute", key_func=by_staff, exempt_when=sent_before)
def create() -> Answer:
    """One order for one form token, then its page (booking-protocol.md 1.3, T1). `show` only lists the cars."""
    picker = _asked(TripForm(request.form), search=False)  # no network between the press and the answer
    offer = _offer(picker.form.offer.data)
    picker.again = _order(picker.form.supersedes.data)
    planning.take(picker, _order(picker.form.change.data))
    if "show" in request.form:
        return _retry(picker, None, 200)
    if not picker.form.validate():
        return _retry(picker, offer, 422)
    try:
        if picker.changing:
            return planning.carry_out(picker, _wish(picker, offer))
        placed = place(services().db, services().clock, _wish(picker, offer))
    except TokenReused as error:
        return render_template("booking/reused.html", order_id=error.order_id), 409
    except (PlaceError, DatabaseBusy, CommitUnknown) as error:
        return _retry(picker, offer, explain(picker, error, services().clock()))
    if placed.created:
        services().wake()
    return redirect(f"/rides/{placed.order_id}", 303)


@bp.get("/products.json")
@needs(BOOK)
@limiter.limit("120/minute", key_func=by_staff)
def products() -> Answer:
    """Cards for a trip as the page's own markup, and the hotspot for its map. Stores an offer for each card."""
    picker = _asked(TripForm(request.args), search=False)
    picker.form.account.data = request.args.get("account", type=int)
    if picker.pickup.point is None:
        return jsonify(html="", message=_("Choose a pickup.")), 422
    picker.ask(quotes(), _offer(request.args.get("before", type=int)))
    picker.seats = 2 if request.args.get("seats") == "2" else 1
    answer = jsonify(_cars(picker))
    answer.headers["Cache-Control"] = "no-store"
    return (answer, picker.trouble.status) if picker.trouble else answer


@bp.get("/places.json")
@needs(BOOK)
@limiter.limit("300/minute", key_func=by_staff)
def places() -> Answer:
    """Places for typed words, best first; coordinates are a place too; nothing typed: where guests went lately."""
    typed = " ".join(request.args.get("q", "")[:200].split())
    near = _near()
    point = parse_coordinates(typed)
    if point:
        found = [Place("", coordinates_text(point), "coordinates", "", point)]
    elif not typed:
        found = _usual()
    else:
        try:
            found = services().geocoder.search(typed, near)
        except PlacesUnavailableError:
            message = _("Place search is not answering. Click the map, or type coordinates such as 12.95, 77.6.")
            return jsonify(places=[], message=message), 503
    return jsonify(places=[_place(each) for each in found], message="" if found else _no_place(typed))


def _asked(trip: TripForm, *, search: bool) -> Picker:
    """A picker for what a query or a form says."""
    picker = _picker()
    trip.validate()  # too long words are cut where they are read; nothing here can stop the page
    picker.pickup, picker.drop = read_ends(trip, services().geocoder, picker.home, search=search)
    picker.category = (trip.category.data or "")[:64]
    return picker


def _picker() -> Picker:
    with services().db.read() as s:
        home = s.get_one(Property, current_staff().property_id)
        accounts = accounts_of(s, home.id)
    form = BookingForm(now=services().clock(), tz=formats.zone(home.timezone), country=home.country)
    form.offer_accounts([(each.id, each.label) for each in accounts])
    if not form.is_submitted():
        form.form_token.data = new_form_token()
    return Picker(form=form, home=home, accounts=accounts)


def _order(order_id: int | None) -> OrderPage | None:
    if not order_id:
        return None
    with services().db.read() as s:
        return order_page(s, current_staff().property_id, order_id)


def _offer(offer_id: int | None) -> Offer | None:
    """An offer of this property; None for any other."""
    if not offer_id or not 0 < offer_id <= MAX_ID:
        return None
    with services().db.read() as s:
        offer = s.get(Offer, offer_id)
    return offer if offer and offer.property_id == current_staff().property_id else None


def _wish(picker: Picker, offer: Offer | None) -> Wish:
    form = picker.form
    shared = offer is not None and offer.kind == Kind.SHARE  # the page posts the seats of its share card in any case
    return Wish(
        property_id=current_staff().property_id,
        staff_id=current_staff().id,
        account_id=form.account.data,
        form_token=form.form_token.data,
        offer_id=form.offer.data,
        guest_name=form.guest_name.data,
        guest_phone=form.phone_e164,
        guest_room=form.guest_room.data or None,
        note=form.note.data or None,
        seats=form.seats.data if shared else None,
        payment=form.payment.data or None,
        coupon=form.coupon.data or None,
        override_guard=form.override_guard.data,
        supersedes=picker.again.order.id if picker.again else None,
        pickup_at=form.pickup_at,
        margin=timedelta(minutes=services().settings.schedule_lead_minutes),
    )


def _retry(picker: Picker, offer: Offer | None, status: int) -> Answer:
    """The page again with all that was typed, and with fresh prices for the same trip."""
    if offer:
        picker.follow(offer)
    else:
        trip = TripForm(request.form)
        picker.pickup, picker.drop = read_ends(trip, services().geocoder, picker.home, search=True)
    picker.seats = picker.form.seats.data or 1
    if picker.form.form_token.errors:
        picker.form.form_token.data = new_form_token()
    if picker.trouble is None:
        picker.ask(quotes(), offer)
    return _page(picker), status


def _page(picker: Picker) -> str:
    app = services()
    tz = formats.zone(picker.home.timezone)
    fetched = picker.quote.fetched_at if picker.quote else None
    return render_template(
        "booking/new.html",
        picker=picker,
        form=picker.form,
        calendar=planning.calendar(picker, app.clock()),
        parts=page_map(app.settings, app.geocoder, picker),
        fetched=formats.clock_time(fetched, tz, locale(), seconds=True),
        fresh_ms=int(max(FRESH_LEAST_MS, FRESH_MS / app.settings.pace)),
    )


def _cars(picker: Picker) -> dict[str, Any]:
    """What the page's script puts in place: markup for words, numbers for the map."""
    quote, tz = picker.quote, formats.zone(picker.home.timezone)
    fetched = formats.clock_time(quote.fetched_at if quote else None, tz, locale(), seconds=True)
    zone = quote.zone if quote else None
    return {
        "html": render_template("booking/_cars.html", picker=picker, fetched=fetched),
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
    """A found place for the list, where nothing is said twice: "Meridian Airport" needs no "airport" beside it."""
    name, area, kind = found.name.casefold(), found.area, found.kind.replace("_", " ")
    area = "" if area.casefold() in name else area
    kind = "" if kind.casefold() in (name, area.casefold()) or kind.casefold() in name.split() else kind
    return {"name": found.name, "kind": kind, "area": area, "lat": found.position.lat, "lng": found.position.lng}


def _usual() -> list[Place]:
    """Where guests of this property went lately, each once."""
    with services().db.read() as s:
        offers = [page.offer for page in recent_orders(s, current_staff().property_id, 40)]
    named = {
        o.drop_name: Place(str(o.id), o.drop_name, "lately", "", LatLng(o.drop_lat, o.drop_lng))
        for o in reversed(offers)
        if o.drop_name and o.drop_lat is not None and o.drop_lng is not None
    }
    return list(reversed(named.values()))[:SUGGESTED]


def _near() -> LatLng | None:
    with services().db.read() as s:
        start = home_trip(s.get_one(Property, current_staff().property_id))
    return start.pickup if start else None


def _no_place(typed: str) -> str:
    return _("No place of that name. Try another word, or click the map.") if typed else ""
