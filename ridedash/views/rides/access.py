"""The order that a request names, if it belongs to the user's property."""

from flask import abort

from ridedash.extensions import services
from ridedash.store.orders import OrderPage, order_page
from ridedash.views.web.current_user import current_staff
from ridedash.views.web.own_words import speak_as


def own_order(order_id: int) -> OrderPage:
    """The order, if it is of the user's property; 404 for any other.

    After this call the request uses the property's own words for guests.
    """
    with services().db.read() as db:
        page = order_page(db, current_staff().property_id, order_id)
    if page is None:
        abort(404)
    speak_as(page.property)
    return page
