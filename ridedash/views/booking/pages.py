"""`/rides/new`: the booking form, as a page or as JSON for the board, and the press of Book."""

from datetime import timedelta

from flask import Blueprint, jsonify, redirect, render_template, request
from pydantic import ValidationError
from werkzeug.wrappers import Response

from ridedash.extensions import limiter, services
from ridedash.forms import TripForm, new_form_token
from ridedash.inputs import row_id, row_ids, whole_number
from ridedash.rides.orders.fields import MOST_CARS, BookingRequest, Refill
from ridedash.rides.orders.place import Placed, TokenReused, place
from ridedash.rides.orders.press import PlaceError
from ridedash.rides.orders.typed_words import LONGEST
from ridedash.service.types.products import Product
from ridedash.store.database.database import CommitUnknown, DatabaseBusy
from ridedash.store.orders import Offer, OrderPage, order_of_form, order_page
from ridedash.views.booking.flights import now_asked
from ridedash.views.booking.form import (
    change_plan,
    compact_form,
    context,
    estimator,
    fill_from_plan,
    is_planned_ride,
    new_page,
    own_offer,
    set_planned_ride,
    show_refusal,
    trip_page,
)
from ridedash.views.booking.guest_start import let_guest_start
from ridedash.views.booking.product_cards import travel_minutes
from ridedash.views.booking.view_model import BookingPage, page_map, read_ends
from ridedash.views.web.current_user import by_staff_key, current_staff
from ridedash.views.web.permissions import BOOK, needs
from ridedash.views.web.responses import wants_json
from ridedash.wire import Kind
from ridedash.wording import gettext as _

bp = Blueprint("booking", __name__)
Answer = str | Response | tuple[str | Response, int]


def form_was_placed() -> bool:
    """Whether this form has already created its order: the rate limit does not count it again."""
    return not _only_prepares() and _order_of_token(request.form.get("form_token")) is not None


def _only_prepares() -> bool:
    """Whether the pressed button orders nothing: it asks for prices, or sets a time for later."""
    chosen = (request.form.get(name) for name in ("quick", "departs_choice"))
    return "show" in request.form or any(chosen)


def count_cars() -> int:
    """The number of cars in the form.

    The rate limit counts each order. A series, which orders nothing now, counts like a group of the
    largest size.
    """
    if request.form.get("days"):
        return MOST_CARS
    return min(whole_number(request.form.get("cars", "")) or 1, MOST_CARS)


@bp.get("/rides/new")
@needs(BOOK)
def new() -> Answer:
    """Show the form; the query presets its trip.

    `again`, `return` and `change` name an order that fills it in; `show` lists the cars.
    """
    plan = _order(request.args.get("change", type=row_id))
    if plan:
        return _plan_page(plan)
    before = _order(request.args.get("again", type=row_id))
    if before is None:
        before = _order(request.args.get("return", type=row_id))
    if before is None:
        booking_page = trip_page(TripForm(request.args), search="show" in request.args)
        if "show" in request.args:
            booking_page.fetch_estimates(estimator())
        return _page(booking_page)
    booking_page = new_page()
    if request.args.get("again"):
        booking_page.refill(before, Refill.AGAIN)
    else:
        booking_page.refill_for_return(before)
    booking_page.fetch_estimates(estimator(), before.offer if request.args.get("again") else None)
    return _page(booking_page)


def _plan_page(plan: OrderPage) -> Answer:
    """The form that changes a planned ride; the order's page when it is no longer planned."""
    if not is_planned_ride(plan):
        return redirect(f"/rides/{plan.order.id}?said=change-not_now", 303)
    booking_page = new_page()
    fill_from_plan(booking_page, plan)
    booking_page.fetch_estimates(estimator(), plan.offer)
    return _page(booking_page)


@bp.post("/rides/new")
@needs(BOOK)
@limiter.limit("60/minute", key_func=by_staff_key, exempt_when=form_was_placed, cost=count_cars)
def create() -> Answer:
    """A press of Book: place the order of this form, then redirect to its page.

    The order is only stored here; a worker sends it (docs/booking-protocol.md 1.3, T1). A form
    token places its orders only once, however often the form is sent. Other buttons of the form
    come here too: those that only prepare are answered with the form and its cars, Save changes a
    planned ride, and `guest_starts` makes a ride that waits for its guest.
    """
    # No place search here: it would be a network call before the order is stored.
    booking_page = trip_page(TripForm(request.form), search=False)
    offer = own_offer(booking_page.form.offer.data)
    # a request without the fields of a trip has the trip of its offer
    moved = offer is not None and "drop" in request.form and not booking_page.is_trip_of(offer)
    booking_page.again = _order(booking_page.form.supersedes.data)
    set_planned_ride(booking_page, _order(booking_page.form.change.data))
    if quick := request.form.get("quick"):
        booking_page.form.choose_time(quick)
    if departs := request.form.get("departs_choice"):
        booking_page.form.departs.data = departs[:LONGEST]
    if _only_prepares():
        return _retry(booking_page, None, 200)
    if not booking_page.form.validate() or moved:
        return _not_yet(booking_page, offer, moved=moved)
    if _asks_now(booking_page, offer):
        return _retry(booking_page, offer, 409)
    try:
        wanted = _booking_request(booking_page, offer)
        if booking_page.changing:
            return change_plan(booking_page, wanted)
        if "guest_starts" in request.form and offer is not None:
            return let_guest_start(booking_page, wanted, offer)
        placed = place(services().db, services().clock, wanted)
    except TokenReused as error:
        return _reused(error.order_id), 409
    except (PlaceError, DatabaseBusy, CommitUnknown) as error:
        return _retry(booking_page, offer, show_refusal(booking_page, error, services().clock()))
    if placed.created:
        services().wake()
    return _placed_response(placed, wanted)


def _asks_now(booking_page: BookingPage, offer: Offer | None) -> bool:
    """Whether the form would order a car now for a flight that is hours away; it then asks.

    A form that has made its order is not asked again.
    """
    if "guest_starts" in request.form or form_was_placed():
        return False
    travel_min = _travel_minutes(offer)
    asked = now_asked(booking_page, travel_min, services().clock(), booking_page.form.tz)
    booking_page.now_asked = asked
    return asked is not None


def _travel_minutes(offer: Offer | None) -> int | None:
    """How long the trip of an offer takes; None if its product does not say."""
    if offer is None:
        return None
    try:
        return travel_minutes([Product.model_validate(offer.product)])
    except ValidationError:
        return None


def _not_yet(booking_page: BookingPage, offer: Offer | None, *, moved: bool) -> Answer:
    """What has to be corrected before anything is ordered.

    `moved`: the trip in the fields was changed after the prices were shown, but the order would
    have the trip of its offer.
    """
    # a form that is sent again may have become invalid after its order was placed
    order_id = _order_of_token(booking_page.form.form_token.data)
    if order_id:
        return _reused(order_id), 409
    if not moved or offer is None:
        return _retry(booking_page, offer, 422)
    booking_page.category = offer.category
    if booking_page.form.errors:
        return _retry(booking_page, None, 422)
    booking_page.message = _(
        "The trip was changed after its prices were shown. Nothing was ordered. Look at the new "
        "price, then press again."
    )
    return _retry(booking_page, None, 409)


def _order_of_token(form_token: str | None) -> int | None:
    """The id of the order that this form created, if any."""
    with services().db.read() as s:
        return order_of_form(s, current_staff().property_id, form_token or "")


def _placed_response(placed: Placed, wanted: BookingRequest) -> Answer:
    """A redirect to the page of the order; as JSON, an empty form for the next guest.

    `orders` in the JSON are the orders whose state the form then shows, without the ways back.
    """
    kind = "rides"
    if wanted.series:
        kind = "series"
    elif wanted.cars > 1:
        kind = "groups"
    if not wants_json():
        return redirect(f"/{kind}/{placed.order_id}", 303)
    clean = render_template("booking/_compact_form.html", **compact_form())
    back = wanted.back_at is not None
    orders = placed.order_ids[: wanted.cars] if back else placed.order_ids
    facts = {"what": kind, "back": back, "order": placed.order_id, "orders": orders}
    return jsonify(**facts, html=clean), 201 if placed.created else 200


def _order(order_id: int | None) -> OrderPage | None:
    if not order_id:
        return None
    with services().db.read() as s:
        return order_page(s, current_staff().property_id, order_id)


def _booking_request(booking_page: BookingPage, offer: Offer | None) -> BookingRequest:
    """The booking request of a valid form (the fields are in rides/orders/fields.py)."""
    values = booking_page.form.values()
    if offer is None or offer.kind != Kind.SHARE:
        values["seats"] = None  # the form posts seats for every product
    # "Book a second car on purpose" sends, as a button, the ids of the rides that its notice shows;
    # as a checkbox it sends "y", which gives no ids
    values["second_to"] = row_ids(request.form.get("override_guard", ""))
    values["supersedes"] = booking_page.again.order.id if booking_page.again else None
    return BookingRequest(
        property_id=current_staff().property_id,
        actor=current_staff().actor,
        margin=timedelta(minutes=services().settings.schedule_lead_minutes),
        tz=booking_page.form.tz,
        **values,
    )


def _retry(booking_page: BookingPage, offer: Offer | None, status: int) -> Answer:
    """The form as it was typed, with fresh prices for the same trip, and this HTTP status."""
    if offer:
        booking_page.use_trip_of(offer)
        booking_page.category = offer.category
    else:
        trip = TripForm(request.form)
        booking_page.pickup, booking_page.drop = read_ends(
            trip, services().geocoder, booking_page.home, search=True
        )
    booking_page.seats = booking_page.form.seats.data or 1
    if booking_page.form.form_token.errors:
        booking_page.form.form_token.data = new_form_token()
    if booking_page.error is None:
        booking_page.fetch_estimates(estimator(), offer)
    return _page(booking_page), status


def _reused(order_id: int) -> str | Response:
    if not wants_json():
        return render_template("booking/reused.html", order_id=order_id)
    html = render_template("booking/_compact_form.html", **compact_form())
    return jsonify(order=order_id, html=html)


def _page(booking_page: BookingPage) -> str | Response:
    """The form with its page and map; as JSON, only the form."""
    if wants_json():
        return jsonify(html=render_template("booking/_compact_form.html", **context(booking_page)))
    app = services()
    parts = page_map(app.settings, app.geocoder, booking_page)
    return render_template("booking/page.html", parts=parts, **context(booking_page))
