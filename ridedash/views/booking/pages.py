"""`/rides/new`: the booking form, as a page or as JSON for the board, and the press of Book."""

from dataclasses import replace
from datetime import timedelta

from flask import Blueprint, jsonify, redirect, render_template, request
from werkzeug.wrappers import Response

from ridedash.extensions import limiter, services
from ridedash.forms.booking import TripForm, new_form_token
from ridedash.inputs import row_id, row_ids, whole_number
from ridedash.rides.orders.change import Change, Overtaken, TooLate, change
from ridedash.rides.orders.fields import MOST_CARS, BookingRequest, Refill
from ridedash.rides.orders.onward import change_onward
from ridedash.rides.orders.place import Placed, TokenReused, place
from ridedash.rides.orders.press import PlaceError
from ridedash.rides.times.typed_words import TIME_CHARS
from ridedash.store.database.database import CommitUnknown, DatabaseBusy
from ridedash.store.orders import Offer, OrderPage, OrderState, order_of_form
from ridedash.views.booking.flights import now_asked
from ridedash.views.booking.form import (
    Retry,
    compact_form,
    context,
    estimator,
    explained,
    known_order,
    own_offer,
    refilled,
    trip_page,
    with_guest,
)
from ridedash.views.booking.guest_start import let_guest_start
from ridedash.views.booking.trip_ends import ends_of, read_ends
from ridedash.views.booking.view_model import BookingPage, FormNotice, TripCars, page_map, with_cars
from ridedash.views.web.current_user import by_staff_key, current_staff
from ridedash.views.web.permissions import BOOK, needs
from ridedash.views.web.responses import wants_json
from ridedash.wire import Kind
from ridedash.wording import gettext as _

bp = Blueprint("booking", __name__)
Answer = str | Response | tuple[str | Response, int]


@bp.get("/rides/new")
@needs(BOOK)
def new() -> Answer:
    """Show the form; the query presets its trip.

    `again`, `return` and `change` name an order that fills it in, `guest` a guest; `show` lists the
    cars.
    """
    if plan := known_order(request.args.get("change", type=row_id)):
        return _plan_page(plan)
    if before := known_order(request.args.get("again", type=row_id)):
        return _page(with_cars(refilled(before, Refill.AGAIN), estimator(), before.offer))
    if there := known_order(request.args.get("return", type=row_id)):
        return _page(with_cars(refilled(there, Refill.RETURN), estimator()))
    page = trip_page(TripForm(request.args), search="show" in request.args)
    page = with_guest(page, request.args.get("guest", type=row_id))
    if "show" in request.args:
        page = with_cars(page, estimator())
    return _page(page)


def _plan_page(plan: OrderPage) -> Answer:
    """The form that changes a planned ride; the order's page when it is no longer planned."""
    if plan.order.state != OrderState.SCHEDULED:
        return redirect(f"/rides/{plan.order.id}?said=change-not_now", 303)
    return _page(with_cars(refilled(plan, Refill.CHANGE), estimator(), plan.offer))


def form_was_placed() -> bool:
    """Whether this form has already created its order: the rate limit does not count it again."""
    return not _only_prepares() and _order_of_form() is not None


def _order_of_form() -> int | None:
    """The id of the order that this form has made, if any."""
    with services().db.read() as s:
        made = order_of_form(s, request.form.get("form_token", ""))
    if made is None or made.property_id != current_staff().property_id:
        return None
    return made.id


def _only_prepares() -> bool:
    """Whether the pressed button orders nothing: it asks for prices, or sets a time for later."""
    chosen = (request.form.get(name) for name in ("quick", "departs_choice", "back_choice"))
    return "show" in request.form or any(chosen)


def count_cars() -> int:
    """The number of cars in the form.

    The rate limit counts each order. A series, which orders nothing now, counts like a group of the
    largest size.
    """
    if request.form.get("days"):
        return MOST_CARS
    return min(whole_number(request.form.get("cars", "")) or 1, MOST_CARS)


@bp.post("/rides/new")
@needs(BOOK)
@limiter.limit("60/minute", key_func=by_staff_key, exempt_when=form_was_placed, cost=count_cars)
def create() -> Answer:
    """A press of one of the form's buttons: show cars, save a change, let the guest start, or book.

    All have one address, to which the form also comes back after a new sign-in (kept_forms.py).
    """
    # No place search here: it would be a network call before an order is stored.
    page = trip_page(TripForm(request.form), search=False)
    if _only_prepares():
        return _show_cars(page)
    offer = own_offer(page.form.offer.data)
    if not page.form.validate() or _moved(page, offer):
        return _correct_first(page, offer)
    wanted = _booking_request(page, offer)
    try:
        if page.changing:
            return _change_plan(page, wanted)
        if "guest_starts" in request.form:
            return let_guest_start(page, wanted, offer)
        return _book(page, wanted, offer)
    except TokenReused as error:
        return _reused(error.order_id), 409
    except (PlaceError, DatabaseBusy, CommitUnknown) as error:
        return _retry(page, explained(error, page.form, services().clock()), offer)


def _show_cars(page: BookingPage) -> Answer:
    """The form with its cars, and with the time that a button has proposed."""
    if quick := request.form.get("quick"):
        page.form.choose_time(quick)
    if departs := request.form.get("departs_choice"):
        page.form.departs.data = departs[:TIME_CHARS]
    if back := request.form.get("back_choice"):
        page.form.back_words.data = back[:TIME_CHARS]
    return _retry(page, Retry(200))


def _book(page: BookingPage, wanted: BookingRequest, offer: Offer | None) -> Answer:
    """Place the order of this form, then redirect to its page.

    The order is only stored here; a worker sends it (docs/booking-protocol.md 1.3, T1). A form
    token places its orders only once, however often the form is sent. For a flight that is hours
    away a car now is asked about first, but not by a form that has made its order.
    """
    app = services()
    asked = now_asked(page.form, page.ends.pickup, page.desk.home, offer, app.clock())
    if asked is not None and not form_was_placed():
        return _retry(page, Retry(409, FormNotice(now_asked=asked)), offer)
    placed = place(app.db, app.clock, wanted)
    if placed.created:
        app.wake()
    return _placed_response(placed, wanted)


def _change_plan(page: BookingPage, wanted: BookingRequest) -> Answer:
    """Change the planned ride of the form, then redirect to its page, which also says "too late".

    Raises what `change` and `change_onward` raise, except TooLate.
    """
    form = page.form
    app = services()
    order_id = form.change.data or 0
    changed = Change(order_id, form.version.data or 0, wanted)
    try:
        if form.onward.data and page.changing and page.changing.order.series_key:
            change_onward(app.runtime, changed)
        else:
            change(app.db, app.clock, changed)
    except TooLate:
        return redirect(f"/rides/{order_id}?said=change-not_now", 303)
    except Overtaken:
        # the next press is about what the page shows from now on
        now = known_order(order_id)
        form.version.data = now.order.version if now else 0
        form.version.raw_data = None
        raise
    app.wake()
    return redirect(f"/rides/{order_id}?said=change-done", 303)


def _moved(page: BookingPage, offer: Offer | None) -> bool:
    """Whether the trip was changed after its prices were shown: an order has that of its offer.

    A request without the fields of a trip has the trip of its offer.
    """
    return offer is not None and "drop" in request.form and not page.ends.are_of(offer)


def _correct_first(page: BookingPage, offer: Offer | None) -> Answer:
    """What has to be corrected before the form does anything."""
    # a form that is sent again may have become invalid after its order was placed
    order_id = _order_of_form()
    if order_id:
        return _reused(order_id), 409
    if offer is None or not _moved(page, offer):
        return _retry(page, Retry(422), offer)
    page = replace(page, category=offer.category)
    if page.form.errors:
        return _retry(page, Retry(422))
    message = _(
        "The trip was changed after its prices were shown. Nothing was booked. Look at the new "
        "price, then press again."
    )
    return _retry(page, Retry(409, FormNotice(message)))


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
    orders = placed.order_ids
    if back:
        orders = orders[: wanted.cars]
    facts = {"what": kind, "back": back, "order": placed.order_id, "orders": orders}
    return jsonify(**facts, html=clean), 201 if placed.created else 200


def _booking_request(page: BookingPage, offer: Offer | None) -> BookingRequest:
    """The booking request of a valid form (the fields are in rides/orders/fields.py)."""
    values = page.form.values()
    if offer is None or offer.kind != Kind.SHARE:
        values["seats"] = None  # the form posts seats for every product
    # "Book a second car on purpose" sends, as a button, the ids of the rides that its notice shows;
    # as a checkbox it sends "y", which gives no ids
    values["second_to"] = row_ids(request.form.get("override_guard", ""))
    again = known_order(page.form.supersedes.data)
    values["supersedes"] = again.order.id if again else None
    return BookingRequest(
        property_id=current_staff().property_id,
        actor=current_staff().actor,
        margin=timedelta(minutes=services().settings.schedule_lead_minutes),
        tz=page.form.tz,
        **values,
    )


def _retry(page: BookingPage, why: Retry, offer: Offer | None = None) -> Answer:
    """The form as it was typed, with fresh prices: for the trip of the pressed car, if any.

    Without one, for the trip as it stands in the form.
    """
    form = page.form
    if offer is not None:
        ends = ends_of(offer)
        category = offer.category
    else:
        trip = TripForm(request.form)
        geocoder = services().geocoder
        ends = read_ends(trip, geocoder, page.desk.home, search=True)
        category = page.category
    if form.form_token.errors:
        form.form_token.data = new_form_token()
    cars = TripCars(error=why.error)
    seats = form.seats.data or 1
    page = replace(page, ends=ends, category=category, seats=seats, cars=cars, notice=why.notice)
    if why.error is None:
        page = with_cars(page, estimator(), offer)
    return _page(page), why.status


def _reused(order_id: int) -> str | Response:
    if not wants_json():
        return render_template("booking/reused.html", order_id=order_id)
    html = render_template("booking/_compact_form.html", **compact_form())
    return jsonify(order=order_id, html=html)


def _page(page: BookingPage) -> str | Response:
    """The form with its page and map; as JSON, only the form."""
    if wants_json():
        return jsonify(html=render_template("booking/_compact_form.html", **context(page)))
    app = services()
    parts = page_map(app.settings, app.geocoder, page)
    return render_template("booking/page.html", parts=parts, **context(page))
