"""What a ride would cost to another drop before the change is sent, and what its way back would."""

from flask import Blueprint, jsonify, request
from werkzeug.wrappers import Response

from ridedash.extensions import limiter
from ridedash.forms import TripForm
from ridedash.geo import LatLng, distance_m
from ridedash.inputs import row_id
from ridedash.store.offers import Trip, trip_of
from ridedash.store.orders import OrderPage
from ridedash.views.booking.estimates import SAME_PLACE_M, EstimateFailedError
from ridedash.views.booking.form import estimator, own_offer
from ridedash.views.rides.access import own_order
from ridedash.views.rides.offer_price import offer_price_text
from ridedash.views.web.current_user import by_staff_key
from ridedash.views.web.permissions import BOOK, needs
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _

bp = Blueprint("drop_price", __name__)
Answer = Response | tuple[Response, int]


@bp.get("/rides/<int:order_id>/drop-price.json")
@needs(BOOK)
@limiter.limit("120/minute", key_func=by_staff_key)
def show(order_id: int) -> Answer:
    """The price of a ride's car to the point `drop_lat`, `drop_lng`, beside the booked one.

    `words` is the line above the button; `wrong` says that the service would refuse this drop. A
    drop where the ride begins is no mistake yet: the line says what to do.
    Nothing is changed or stored. The service can't be asked what a change would cost (its
    operation drop_location names no price: docs/service-interface.md, Endpoints, 3), so this is
    what the same car costs now for the trip from the pickup.
    """
    page = own_order(order_id)
    drop = TripForm(request.args).point("drop")
    if drop is None:
        return jsonify(words=_("Choose a place from the list."), wrong=True), 422
    answer = jsonify(_price(page, drop))
    answer.headers["Cache-Control"] = "no-store"
    return answer


@bp.get("/return-price.json")
@needs(BOOK)
@limiter.limit("120/minute", key_func=by_staff_key)
def way_back() -> Answer:
    """The price of now of an offer's car for its trip with the ends swapped, as `words`.

    `offer` is the id of what was shown, for the form to post: the way back keeps it as the price
    that was seen. It is priced again when it is ordered.
    """
    offer = own_offer(request.args.get("offer", type=row_id))
    if offer is None:
        return jsonify(words=""), 422
    there = trip_of(offer)
    if there.drop is None:
        return jsonify(words=_("Without a drop there is no way back."))
    back = Trip(there.drop, there.drop_name, there.pickup, there.pickup_name)
    try:
        price, shown = estimator().quote_offer(back, offer.category, offer.account_id)
    except EstimateFailedError as error:
        return jsonify(words=_("Way back: %(why)s.", why=error.headline))
    known = _("Way back: %(price)s at the prices of now.", price=price)
    none = _("Way back: no price came for it now.")
    answer = jsonify(words=known, offer=shown) if price else jsonify(words=none)
    answer.headers["Cache-Control"] = "no-store"
    return answer


def _price(page: OrderPage, drop: LatLng) -> dict[str, str | bool]:
    offer = page.offer
    trip = Trip(LatLng(offer.pickup_lat, offer.pickup_lng), offer.pickup_name, drop, None)
    try:
        price = estimator().quote(trip, page.order.category, page.account.id)
    except EstimateFailedError as error:
        if distance_m(trip.pickup, drop) < SAME_PLACE_M:
            words = _("The ride begins there. Choose a place further away.")
            return {"words": words, "wrong": False}
        words = f"{error.headline}. {error.detail}" if error.end else error.headline
        return {"words": words, "wrong": bool(error.end)}
    if not price:
        return {"words": _("No price came for this drop."), "wrong": False}
    words = _("To this drop: %(price)s at the prices of now.", price=price)
    before = offer_price_text(offer, locale())
    if before:
        words = f"{words} {_('Booked at %(price)s.', price=before)}"
    return {"words": f"{words} {_('What is paid comes from the ride company.')}", "wrong": False}
