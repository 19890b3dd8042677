"""Fares, compared with results computed by hand from the rate cards."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from ridedash.sandbox.pricing import rates
from ridedash.sandbox.pricing.categories import tariff_of
from ridedash.sandbox.pricing.fare_ids import FareSigner, LockedFare
from tests.sandbox.sandbox_desk import HOTEL, PORT

INR, EUR = tariff_of("INR"), tariff_of("EUR")
PLAIN = rates.Terms(surge=Decimal(1), airport=False, night=False, coupon=None, fixed=None)
TEN_KM = rates.Driven(km=Decimal(10), minutes=Decimal(20), waiting=Decimal(5))


def price(category, terms=PLAIN, trip=TEN_KM, tariff=INR):
    return rates.price(tariff, tariff.find(category), terms, trip)


def test_a_metered_fare_adds_distance_time_and_waiting_to_the_base():
    # Base 110, 7 km beyond the first 3 at 20, 20 minutes at 2.50,
    # 3 minutes of waiting beyond the first 2 at 2.50.
    assert price("suv").fare == Decimal("307.50")
    assert price("suv").tax == Decimal("15.38")
    assert price("suv").total == Decimal("322.88")


def test_a_short_ride_costs_the_minimum():
    assert price("suv", trip=rates.Driven(Decimal(1), Decimal(2))).fare == 160


def test_surge_multiplies_the_fare_and_the_airport_has_its_own_card_and_toll():
    assert price("suv", replace(PLAIN, surge=Decimal("1.3"))).fare == Decimal("399.75")
    # Base 210, 5 km beyond the first 5 at 21, 50 for the time, 3 minutes of waiting at 3.
    airport = price("suv", replace(PLAIN, airport=True))
    assert (airport.fare, airport.toll) == (Decimal("374.00"), 60)


def test_a_fixed_total_is_split_up_exactly():
    for total in range(80, 400):
        parts = price("mini", replace(PLAIN, fixed=Decimal(total), airport=total % 2 == 0))
        assert parts.total == total
        assert parts.tax == pytest.approx(parts.fare * INR.tax, abs=Decimal("0.01"))


def test_a_rental_costs_its_package_plus_the_excess():
    assert price("rental").fare == 199
    # 5 km beyond the first 10 at 11, 30 minutes beyond the first 60 at 2.
    assert price("rental", trip=rates.Driven(Decimal(15), Decimal(90))).fare == 314


def test_an_auto_costs_half_as_much_again_at_night():
    assert price("auto", replace(PLAIN, night=True)).fare == price("auto").fare * Decimal("1.5")


def test_a_night_charge_is_added_once_and_not_multiplied():
    night = replace(PLAIN, night=True, surge=Decimal("1.3"))
    by_day = price("suv", replace(PLAIN, surge=Decimal("1.3"))).fare
    assert price("suv", night).fare == by_day + 40
    assert price("mini", replace(PLAIN, night=True)).fare == price("mini").fare


def test_terms_of_an_earlier_version_have_no_advance():
    kept = replace(PLAIN, advance=Decimal("1.50")).to_json()
    assert rates.Terms.from_json(kept).advance == Decimal("1.50")
    del kept["advance"]
    assert rates.Terms.from_json(kept).advance == 0


def test_a_coupon_is_a_separate_discount():
    paid = price("suv", replace(PLAIN, coupon="HARBOUR20"))
    assert paid.details() == {
        "fare": 307.5,
        "service_tax": 15.38,
        "discount_percentage": 20,
        "discount_value": 61.5,
        "toll_charges": 0,
    }


@pytest.mark.parametrize(
    ("hour", "day", "surge"),
    [(9, 4, "1.3"), (10, 4, "1"), (19, 4, "1.3"), (12, 4, "1"), (9, 7, "1")],
)
def test_surge_applies_on_weekdays_in_the_morning_and_evening(hour, day, surge):
    when = datetime(2026, 3, day, hour, 15, tzinfo=UTC)
    assert rates.surge(INR.find("mini"), when) == Decimal(surge)
    assert rates.surge(INR.find("auto"), when) == 1


def test_prices_of_the_second_city_are_multiples_of_a_tenth():
    cost = rates.share_cost(EUR, EUR.find("share"), PLAIN, TEN_KM, 1)[1]
    assert cost % Decimal("0.10") == 0


def test_a_fare_id_is_valid_only_under_its_own_key():
    locked = LockedFare("mini", HOTEL, PORT.center, Decimal("240.00"), 1_000_000)
    fare_id = FareSigner("key").lock(locked)
    read = FareSigner("key").read(fare_id)
    assert read is not None
    assert (read.total, read.issued_at) == (240, 1_000_000)
    assert FareSigner("other").read(fare_id) is None
    assert FareSigner("key").read(fare_id[:-2]) is None
