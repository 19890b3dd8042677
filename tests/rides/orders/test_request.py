"""What an offer stores of a product's price."""

from typing import Any

import pytest

from ridedash.rides.orders.request import seat_prices
from ridedash.service.types.products import ProductList

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
