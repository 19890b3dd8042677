"""The price of a ride to another drop, before the change is sent, and the price of a way back."""

from flask import Blueprint, jsonify, request
from werkzeug.wrappers import Response

from ridedash.extensions import limiter
from ridedash.forms.booking import TripForm
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
    drop at the pickup is not `wrong`: the line says what to do.

    Nothing is changed or stored. The service can't be asked for the price of a change (its
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
    """The current price of an offer's car for its trip with the ends swapped, as `words`.

    `offer` is the id of the new offer, which the form posts as the price that was shown. The way
    back is priced again when it is ordered.
    """
    offer = own_offer(request.args.get("offer", type=row_id))
    if offer is None:
        return jsonify(words=""), 422
    there = trip_of(offer)
    if there.drop is None:
        return jsonify(words=_("Without a drop there is no way back."))
    back = Trip(there.drop, there.drop_name, there.pickup, there.pickup_name)
    try:
        price, offer_id = estimator().quote_offer(back, offer.category, offer.account_id)
    except EstimateFailedError as error:
        return jsonify(words=_("Way back: %(why)s.", why=error.headline))
    if price:
        words = _("Way back: %(price)s at the prices of now.", price=price)
        answer = jsonify(words=words, offer=offer_id)
    else:
        answer = jsonify(words=_("Way back: no price came for it now."))
    answer.headers["Cache-Control"] = "no-store"
    return answer


def _price(page: OrderPage, drop: LatLng) -> dict[str, str | bool]:
    """The answer of `show` for a ride and another drop."""
    offer = page.offer
    trip = Trip(LatLng(offer.pickup_lat, offer.pickup_lng), offer.pickup_name, drop, None)
    try:
        price = estimator().quote(trip, page.order.category, page.account.id)
    except EstimateFailedError as error:
        if distance_m(trip.pickup, drop) < SAME_PLACE_M:
            words = _("The ride begins there. Choose a place further away.")
            return {"words": words, "wrong": False}
        words = error.sentences if error.end or error.quoted else error.headline
        return {"words": words, "wrong": bool(error.end)}
    if not price:
        return {"words": _("No price came for this drop."), "wrong": False}
    sentences = [_("To this drop: %(price)s at the prices of now.", price=price)]
    before = offer_price_text(offer, locale())
    if before:
        sentences.append(_("Booked at %(price)s.", price=before))
    sentences.append(_("What is paid comes from the ride company."))
    return {"words": " ".join(sentences), "wrong": False}
