"""What a product costs before it is booked, compared with results computed by hand."""

from datetime import UTC, datetime
from decimal import Decimal
from types import SimpleNamespace

import pytest

from ridedash.geo import contains
from ridedash.sandbox.city.city import cities
from ridedash.sandbox.pricing import estimates
from ridedash.sandbox.pricing.categories import tariff_of
from ridedash.sandbox.pricing.estimates import (
    PricedTrip,
    at_airport,
    driven_on,
    estimate,
    share_estimate,
)
from ridedash.sandbox.pricing.fare_ids import FareSigner, LockedFare
from ridedash.sandbox.pricing.rates import Driven

PORT, SALT = cities()
HOTEL = PORT.place("grand-meridian-hotel").position
AIRPORT = next(zone for zone in PORT.hotspots if "airport" in zone.name.lower())
INSIDE = next(p.position for p in PORT.places if contains(AIRPORT.boundary, p.position))
DAY = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
SIGNER = FareSigner("key")
INR = tariff_of("INR")


def trip(pickup=HOTEL, drop=HOTEL, when=DAY, km="10", minutes="20.4"):
    driven = Driven(Decimal(km), Decimal(minutes))
    return PricedTrip(PORT, INR, pickup, drop, driven, when, 5.0)


def test_a_metered_estimate_is_a_span_around_the_fare():
    # base 110, 7 km at 20, 20.4 minutes at 2.50: 301, and 15.05 of tax
    assert estimate(INR.find("suv"), trip(), SIGNER) == {
        "category": "suv",
        "distance": 10,
        "travel_time_in_minutes": 20,
        "amount_min": 300,
        "amount_max": 379,
        "booking_fee": 0,
        "booking_fee_breakup": [],
        "taxes": {"total_tax": 15.05},
        "hub_charges": {"total_hub_fee": 0, "pickup_hub_fee": 0, "pickup_hub_name": ""},
        "discounts": {
            "discount_type": "",
            "discount_code": "",
            "discount_mode": "",
            "discount": 0,
            "cashback": 0,
        },
        "upfront": {"is_upfront_applicable": False},
    }


def test_an_upfront_price_is_one_amount_that_a_fare_id_locks():
    # base 50, 8 km at 12, 20.4 minutes at 1.50: 176.60, and 8.83 of tax
    found = estimate(INR.find("mini"), trip(km="10.006"), SIGNER)
    assert (found["amount_min"], found["amount_max"]) == (186, 186)
    assert found["distance"] == 10.01
    fixed = found["upfront"]
    fare_id = fixed.pop("fare_id")
    assert fixed == {"fare": 186, "select_discount": 0, "is_upfront_applicable": True}
    locked = SIGNER.read(fare_id)
    assert locked is not None
    assert (locked.category, locked.total, locked.issued_at) == ("mini", 186, 5.0)
    assert locked.fits("mini", HOTEL, HOTEL)
    assert isinstance(locked, LockedFare)


def test_an_auto_has_a_convenience_charge_in_both_ends_of_the_span():
    # base 30, 8 km at 15: 150, and 7.50 of tax; the charge is 5
    found = estimate(INR.find("auto"), trip(), SIGNER)
    assert found["booking_fee"] == 5
    assert found["booking_fee_breakup"] == [{"display_text": "Convenience charge", "value": 5}]
    assert (found["amount_min"], found["amount_max"]) == (155, 194)


@pytest.mark.parametrize(
    ("pickup", "drop", "toll", "at_pickup"),
    [(INSIDE, HOTEL, 60, 60), (HOTEL, INSIDE, 60, 0), (HOTEL, HOTEL, 0, 0)],
)
def test_a_trip_from_or_to_the_airport_pays_its_toll(pickup, drop, toll, at_pickup):
    hub = estimate(INR.find("suv"), trip(pickup, drop), SIGNER)["hub_charges"]
    assert hub == {
        "total_hub_fee": toll,
        "pickup_hub_fee": at_pickup,
        "pickup_hub_name": AIRPORT.name if at_pickup else "",
    }


def test_a_ride_takes_a_minute_at_least():
    found = estimate(INR.find("suv"), trip(minutes="0.2"), SIGNER)
    assert found["travel_time_in_minutes"] == 1


def test_a_shared_ride_has_a_fixed_fare_for_one_and_for_two():
    # base 40, 8 km at 9, 20.4 minutes at 1: 132.40 and 6.62 of tax are 0.8 of the full fare
    found = share_estimate(INR.find("share"), trip())
    assert {name: value for name, value in found.items() if name != "fares"} == {
        "category": "share",
        "travel_time_min": 20,
        "travel_time_max": 31,
        "travel_time_unit": "MINUTES",
        "promotional_message": "Share the ride and pay less.",
    }
    one, two = found["fares"]
    assert one == {
        "seats": 1,
        "actual_cost": 174,
        "cost": 139,
        "savings": 35,
        "peak_time_charge": "1",
        "peak_time_text": "",
        "discount_string": "You save ₹35",
        "fare_string": "₹139 fixed, paid before the ride",
    }
    assert (two["seats"], two["actual_cost"], two["cost"], two["savings"]) == (2, 278, 222, 56)
    short = share_estimate(INR.find("share"), trip(minutes="1"))
    assert (short["travel_time_min"], short["travel_time_max"]) == (2, 5)


def test_a_shared_ride_in_the_peak_says_so():
    one = share_estimate(INR.find("share"), trip(when=DAY.replace(hour=9)))["fares"][0]
    assert one["peak_time_charge"] == "1.2"
    assert one["peak_time_text"] == "Fares are 1.2 times the usual at this hour."


def test_terms_are_those_of_place_and_time():
    night, coupon = DAY.replace(hour=23), "HARBOUR20"
    terms = estimates.terms(PORT, INR.find("mini"), (HOTEL, None), DAY, coupon)
    assert (terms.surge, terms.airport, terms.night, terms.coupon, terms.fixed) == (
        1,
        False,
        False,
        coupon,
        None,
    )
    terms = estimates.terms(PORT, INR.find("mini"), (HOTEL, INSIDE), night, None)
    assert (terms.airport, terms.night, terms.coupon) == (True, True, None)
    assert at_airport(PORT, INSIDE)
    assert not at_airport(PORT, HOTEL)
    assert not at_airport(SALT, INSIDE)


def test_a_trip_is_planned_on_the_roads_in_kilometres_and_minutes():
    now = datetime(2026, 3, 4, 6, 30, tzinfo=UTC).timestamp()
    found = estimates.priced_trip(PORT, INR, HOTEL, INSIDE, now)
    route = PORT.roads.route(HOTEL, INSIDE)
    assert float(found.trip.km) == pytest.approx(route.total_m / 1000, abs=0.0005)
    assert float(found.trip.minutes) == pytest.approx(route.total_s / 60, abs=0.005)
    assert (found.trip.waiting, found.when.hour, found.now) == (0, 12, now)
    assert estimates.driven_on(route, 90.0).waiting == Decimal("1.5")
    assert estimates.driven_on(route, 1.0).waiting == Decimal("0.02")


def test_a_journey_is_priced_by_metres_and_hundredths_of_minutes():
    route = SimpleNamespace(total_m=12_345.6789, total_s=601.0)
    assert driven_on(route) == Driven(Decimal("12.346"), Decimal("10.02"), Decimal("0.0"))
    assert driven_on(route, 61.0).waiting == Decimal("1.02")
