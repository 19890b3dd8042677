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
BASE = rates.Terms(surge=Decimal(1), airport=False, night=False, coupon=None, fixed=None)
TEN_KM = rates.Driven(km=Decimal(10), minutes=Decimal(20), waiting=Decimal(5))


def price(category, terms=BASE, trip=TEN_KM, tariff=INR):
    return rates.price(tariff, tariff.find(category), terms, trip)


def test_a_metered_fare_adds_distance_time_and_waiting_to_the_base():
    # Base 110, 7 km beyond the first 3 at 20, 20 minutes at 2.50,
    # 3 minutes of waiting beyond the first 2 at 2.50.
    assert price("suv").fare == Decimal("307.50")
    assert price("suv").tax == Decimal("15.38")
    assert price("suv").total == Decimal("322.88")


def test_a_short_ride_costs_the_minimum():
    assert price("suv", trip=rates.Driven(Decimal(1), Decimal(2))).fare == 160


def test_a_card_may_include_minutes_as_it_includes_kilometres():
    card = INR.find("suv").cards[0]._replace(minimum_time=Decimal(15))
    # As in the first test, but with 5 minutes beyond the first 15 in place of 20 minutes.
    assert rates.metered(card, TEN_KM, Decimal(1)) == Decimal("270.00")
    shorter = replace(TEN_KM, minutes=Decimal(15))
    assert rates.metered(card, shorter, Decimal(1)) == Decimal("257.50")


def test_surge_multiplies_the_fare_and_the_airport_has_its_own_card_and_toll():
    assert price("suv", replace(BASE, surge=Decimal("1.3"))).fare == Decimal("399.75")
    # Base 210, 5 km beyond the first 5 at 21, 50 for the time, 3 minutes of waiting at 3.
    airport = price("suv", replace(BASE, airport=True))
    assert (airport.fare, airport.toll) == (Decimal("374.00"), 60)


def test_a_fixed_total_is_split_up_exactly():
    for total in range(80, 400):
        parts = price("mini", replace(BASE, fixed=Decimal(total), airport=total % 2 == 0))
        assert parts.total == total
        assert parts.tax == pytest.approx(parts.fare * INR.tax, abs=Decimal("0.01"))


def test_a_rental_costs_its_package_plus_the_excess():
    assert price("rental").fare == 199
    # 5 km beyond the first 10 at 11, 30 minutes beyond the first 60 at 2.
    assert price("rental", trip=rates.Driven(Decimal(15), Decimal(90))).fare == 314


def test_an_auto_costs_half_as_much_again_at_night():
    assert price("auto", replace(BASE, night=True)).fare == price("auto").fare * Decimal("1.5")


def test_a_night_charge_is_added_once_and_not_multiplied():
    night = replace(BASE, night=True, surge=Decimal("1.3"))
    by_day = price("suv", replace(BASE, surge=Decimal("1.3"))).fare
    assert price("suv", night).fare == by_day + 40
    assert price("mini", replace(BASE, night=True)).fare == price("mini").fare


def test_terms_of_an_earlier_version_have_no_advance():
    stored = replace(BASE, advance=Decimal("1.50")).to_json()
    assert rates.Terms.from_json(stored).advance == Decimal("1.50")
    del stored["advance"]
    assert rates.Terms.from_json(stored).advance == 0


def test_a_coupon_is_a_separate_discount():
    paid = price("suv", replace(BASE, coupon="HARBOUR20"))
    assert paid.details() == {
        "fare": 307.5,
        "service_tax": 15.38,
        "discount_percentage": 20,
        "discount_value": 61.5,
        "toll_charges": 0,
    }


@pytest.mark.parametrize(
    ("hour", "day", "surge"),
    [
        (7, 4, "1"),
        (8, 4, "1.3"),
        (9, 4, "1.3"),
        (10, 4, "1"),
        (12, 4, "1"),
        (17, 4, "1"),
        (18, 4, "1.3"),
        (19, 4, "1.3"),
        (20, 4, "1"),
        (9, 6, "1.3"),
        (9, 7, "1"),
    ],
)
def test_surge_applies_on_weekdays_in_the_morning_and_evening(hour, day, surge):
    when = datetime(2026, 3, day, hour, 15, tzinfo=UTC)
    assert rates.surge(INR.find("mini"), when) == Decimal(surge)
    assert rates.surge(INR.find("auto"), when) == 1


def test_a_shared_ride_surges_less():
    assert rates.surge(INR.find("share"), datetime(2026, 3, 4, 9, tzinfo=UTC)) == Decimal("1.2")


def test_the_night_is_from_eleven_to_five_by_the_clocks_of_the_city():
    night = [rates.is_night(datetime(2026, 3, 4, hour, 59, tzinfo=UTC)) for hour in range(24)]
    assert [hour for hour, at_night in enumerate(night) if at_night] == [0, 1, 2, 3, 4, 23]
    assert rates.local(0.0, "Asia/Kolkata").isoformat() == "1970-01-01T05:30:00+05:30"


def test_trips_of_the_airport_have_its_card_where_there_is_one():
    cards = {
        (category, airport): rates.card_for(INR.find(category), airport).type
        for category in ("mini", "auto")
        for airport in (False, True)
    }
    assert cards == {
        ("mini", False): "flat_rate",
        ("mini", True): "airport_rate",
        ("auto", False): "standard_rate",
        ("auto", True): "standard_rate",
    }


def test_a_fixed_price_pays_the_toll_first_and_no_more_than_itself():
    at_airport = replace(BASE, airport=True, fixed=Decimal(165))
    assert price("mini", at_airport) == rates.Price(Decimal(100), Decimal(5), Decimal(60))
    cheap = price("mini", replace(at_airport, fixed=Decimal(40)))
    assert (cheap.fare, cheap.tax, cheap.toll) == (0, 0, 40)
    assert price("rental", replace(BASE, airport=True)).toll == 0


def test_a_coupon_takes_its_percentage_of_the_fare_and_another_text_nothing():
    found = {
        coupon: price("suv", replace(BASE, coupon=coupon)).discount
        for coupon in ("WELCOME10", "HARBOUR20", "SPRING", None)
    }
    assert found == {
        "WELCOME10": Decimal("30.75"),
        "HARBOUR20": Decimal("61.50"),
        "SPRING": 0,
        None: 0,
    }


def test_waiting_is_free_for_two_minutes():
    waits = [price("suv", trip=replace(TEN_KM, waiting=Decimal(n))).fare for n in (0, 2, 3)]
    assert waits == [300, 300, Decimal("302.50")]


def test_an_upfront_price_and_a_shared_one_are_in_steps_of_the_city():
    # 50 + 8 km at 12 + 20 minutes at 1.50 + 3 of waiting at 1.50, and 5 % of tax
    assert rates.fixed_total(INR, INR.find("mini"), BASE, TEN_KM) == 190
    alone, shared = rates.share_cost(INR, INR.find("share"), BASE, TEN_KM, 1)
    for_two = rates.share_cost(INR, INR.find("share"), BASE, TEN_KM, 2)
    assert (alone, shared) == (173, 139)
    assert for_two == (277, 222)
    assert rates.rounded(Decimal("4.55"), Decimal("0.10")) == Decimal("4.60")
    assert [rates.number(Decimal(each)) for each in ("4", "4.50")] == [4, 4.5]


def test_only_an_auto_has_a_convenience_charge():
    charges = [rates.convenience_charge(INR, INR.find(each)) for each in ("auto", "mini")]
    assert charges == [5, 0]


def test_prices_of_the_second_city_are_multiples_of_a_tenth():
    cost = rates.share_cost(EUR, EUR.find("share"), BASE, TEN_KM, 1)[1]
    assert cost % Decimal("0.10") == 0


def test_a_fare_id_is_valid_only_under_its_own_key():
    locked = LockedFare("mini", HOTEL, PORT.center, Decimal("240.00"), 1_000_000)
    fare_id = FareSigner("key").lock(locked)
    read = FareSigner("key").read(fare_id)
    assert read is not None
    assert (read.total, read.issued_at) == (240, 1_000_000)
    assert FareSigner("other").read(fare_id) is None
    assert FareSigner("key").read(fare_id[:-2]) is None
