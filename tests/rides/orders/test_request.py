"""The row of a new order, and what an offer stores of a product's price."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ridedash.rides.orders.fields import BookingRequest
from ridedash.rides.orders.press import Part
from ridedash.rides.orders.request import build_order, seat_prices
from ridedash.service.types.products import ProductList
from ridedash.store.actors import by_staff
from ridedash.store.models.orders import Offer, Order
from ridedash.store.models.people import Guest

MINI = {"id": "mini", "display_name": "Mini", "currency": "INR"}

FIXED: dict[str, Any] = {
    "category": "mini",
    "upfront": {"fare": 240, "fare_id": "f", "is_upfront_applicable": True},
}


@pytest.mark.parametrize(
    ("estimates", "stored"),
    [
        ([], {}),
        ([{"category": "mini", "amount_min": 210, "amount_max": 260}], {}),
        ([FIXED], {"": "240"}),
        ([FIXED | {"upfront": FIXED["upfront"] | {"is_upfront_applicable": False}}], {}),
    ],
)
def test_a_price_by_the_meter_is_not_stored_as_a_fixed_one(
    estimates: list[dict[str, Any]], stored: dict[str, str]
) -> None:
    answer = {"categories": [MINI], "ride_estimate": estimates}
    assert seat_prices(ProductList.from_wire(answer).products[0]) == stored


def test_a_ride_now_is_ready_with_its_guard_and_a_planned_one_waits_without() -> None:
    offer = Offer(id=1, category="mini", kind="point_to_point", product={})
    offer.pickup_lat, offer.pickup_lng, offer.drop_lat, offer.drop_lng = -38.5, -128.0, None, None

    noon = datetime(2026, 5, 4, 8, 30, tzinfo=UTC)

    def built(pickup_at: datetime | None) -> Order:
        request = BookingRequest(
            property_id=1,
            actor=by_staff(1),
            account_id=1,
            offer_id=1,
            form_token="token",
            guest_name="Guest Heron",
            pickup_at=pickup_at,
        )
        return build_order(Part(1, request), offer, Guest(id=1), "guard", noon)

    now, planned = built(None), built(noon + timedelta(hours=2))
    assert (now.state, now.open, now.guard_key, now.ready_at) == ("READY", True, "guard", noon)
    assert (planned.state, planned.open, planned.guard_key) == ("SCHEDULED", False, None)
    assert (planned.tries, planned.due_at) == (0, noon + timedelta(minutes=100))
