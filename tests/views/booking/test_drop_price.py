"""The price of a ride to another drop is a plain line; only a refusal looks like an error."""

import pytest

from ridedash.store.orders import order_page
from tests.views.ride_pages import Desk

pytestmark = pytest.mark.database


def test_a_drop_where_the_ride_begins_is_no_mistake_yet(desk: Desk) -> None:
    """The line says what to do, as for a place that is still being chosen."""
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    with desk.services.db.read() as s:
        page = order_page(s, desk.ids["desk.property"], order_id)
    assert page is not None
    query = {"drop_lat": page.offer.pickup_lat, "drop_lng": page.offer.pickup_lng}
    answer = desk.client().get(f"/rides/{order_id}/drop-price.json", query_string=query)
    assert answer.status_code == 200
    assert answer.json == {
        "words": "The ride begins there. Choose a place further away.",
        "wrong": False,
    }


def test_a_missing_place_is_an_error_in_words(desk: Desk) -> None:
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    answer = desk.client().get(f"/rides/{order_id}/drop-price.json")
    assert answer.status_code == 422
    assert answer.json is not None
    assert answer.json["words"] == "Choose a place from the list."
