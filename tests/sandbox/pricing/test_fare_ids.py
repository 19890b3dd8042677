"""fare_ids: what they lock, for which trip, and which texts are no fare_ids of ours."""

from decimal import Decimal

import pytest

from ridedash.geo import LatLng
from ridedash.sandbox.pricing.fare_ids import FareSigner, LockedFare

FROM, TO = LatLng(10.123456, 20.654321), LatLng(11.0, 21.0)
FARE = LockedFare("mini", FROM, TO, Decimal("240.50"), 1_000_000.12345)
METRE = 1 / 111_195  # degrees of latitude


def north(of: LatLng, metres: float) -> LatLng:
    return LatLng(of.lat + metres * METRE, of.lng)


@pytest.mark.parametrize(
    ("category", "pickup", "drop", "fits"),
    [
        ("mini", FROM, TO, True),
        ("mini", north(FROM, 49.5), TO, True),
        ("mini", north(FROM, 50.5), TO, False),
        ("mini", FROM, north(TO, 49.5), True),
        ("mini", FROM, north(TO, 50.5), False),
        ("prime", FROM, TO, False),
    ],
)
def test_a_fare_is_that_of_one_category_and_of_places_within_fifty_metres(
    category, pickup, drop, fits
):
    assert FARE.fits(category, pickup, drop) is fits


def test_a_fare_id_has_places_to_a_metre_and_the_time_to_a_millisecond():
    fare_id = FareSigner("key").lock(FARE)
    assert FareSigner("key").read(fare_id) == LockedFare(
        "mini", LatLng(10.12346, 20.65432), TO, Decimal("240.50"), 1_000_000.123
    )
    assert "=" not in fare_id
    assert fare_id == FareSigner("key").lock(FARE)


def test_every_length_of_a_fare_id_is_read_back():
    for category in ("a", "ab", "abc", "abcd"):
        fare = LockedFare(category, TO, TO, Decimal(1), 1.0)
        assert FareSigner("key").read(FareSigner("key").lock(fare)) == fare


@pytest.mark.parametrize("text", ["", "a", "é", "AAAA", "!!!!", "A" * 400])
def test_what_is_no_fare_id_is_none(text):
    assert FareSigner("key").read(text) is None


def test_a_changed_fare_id_is_none():
    fare_id = FareSigner("key").lock(FARE)
    for place in (0, 5, 11, 12, 40, len(fare_id) // 2):
        other = "B" if fare_id[place] != "B" else "C"
        assert FareSigner("key").read(fare_id[:place] + other + fare_id[place + 1 :]) is None
