"""Product cards: every kind of price in words, a drawing for every category, nothing invented."""

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask_babel import Babel

from ridedash.service.types.products import Product, ProductList
from ridedash.views.booking.fare_breakdown import fare_tables
from ridedash.views.booking.product_cards import (
    Card,
    card,
    drawing,
    package_list,
    preferred,
    trip_facts,
    without_drop,
)
from ridedash.views.rides.offer_price import money_range
from tests.views.fake_service import SHARE, category, metered, upfront


@pytest.fixture(autouse=True)
def app_context() -> Iterator[None]:
    app = Flask("cards")
    Babel(app)
    with app.test_request_context():
        yield


def product(one: dict[str, Any], *estimates: dict[str, Any]) -> Product:
    return ProductList.from_wire({"categories": [one], "ride_estimate": list(estimates)}).products[
        0
    ]


def shown(one: dict[str, Any], *estimates: dict[str, Any], has_drop: bool = True) -> Card:
    return card(product(one, *estimates), has_drop=has_drop, locale="en")


@pytest.mark.parametrize(
    ("estimate", "price", "button"),
    [
        (upfront("mini", 240, "f"), "₹240", "Book {car} · ₹240 fixed"),
        (metered("mini", 210, 260), "₹210–260", "Book {car} · meter fare, about ₹210–260"),
        (metered("mini", 210, 210), "₹210", "Book {car} · meter fare, about ₹210"),
        (
            {"category": "mini", "amount_max": "260.50"},
            "₹260.50",
            "Book {car} · meter fare, about ₹260.50",
        ),
        ({"category": "mini"}, "from ₹80", "Book {car} · meter fare, from ₹80"),
    ],
)
def test_the_button_shows_car_and_price(estimate: dict[str, Any], price: str, button: str) -> None:
    found = shown(category("mini", "Mini"), estimate)
    assert (found.price, found.button, found.blocked) == (price, button, "")


def test_a_price_that_is_fixed_is_never_called_an_estimate() -> None:
    assert shown(category("mini", "Mini"), upfront("mini", 240, "f")).price_kind == "Fixed price"
    assert "Estimate" in shown(category("mini", "Mini"), metered("mini", 1, 2)).price_kind
    assert shown(category("share", "Share"), SHARE).price_kind == "Fixed price, shared"


def test_a_shared_ride_has_a_button_for_each_number_of_seats() -> None:
    found = shown(category("share", "Share"), SHARE)
    assert [seat.button for seat in found.seats] == [
        "Book {car} · ₹96 fixed",
        "Book {car} · ₹140 fixed",
    ]
    assert [seat.was for seat in found.seats] == ["₹120", ""]


def test_without_a_drop_a_metered_car_can_be_booked_and_says_what_that_means() -> None:
    found = shown(category("auto", "Auto"), has_drop=False)
    assert found.blocked == ""
    assert found.button == "Book {car} · meter fare, from ₹80"
    assert found.open_end == "No drop: the guest tells the driver where to go."
    assert shown(category("auto", "Auto"), metered("auto", 90, 110)).open_end == ""


def test_without_a_drop_fixed_prices_are_blocked() -> None:
    needs = "Choose a drop to see the price."
    assert shown(category("share", "Share"), has_drop=False).blocked == needs
    cards = tuple(shown(category(name, name), has_drop=False) for name in ("mini", "auto", "lux"))
    found = {each.category: each for each in without_drop(cards, frozenset({"mini"}))}
    assert {name: each.blocked for name, each in found.items()} == {
        "mini": needs,
        "auto": "",
        "lux": "",
    }
    assert (found["mini"].price, found["mini"].price_kind) == ("–", "Fixed price, with a drop")


def test_a_car_without_a_drop_is_chosen_by_a_person_only() -> None:
    cards = (shown(category("auto", "Auto"), has_drop=False),)
    assert preferred(cards, "auto") is None
    assert preferred(cards, usual="auto") is None
    assert preferred(cards, "auto", open_end=True) == cards[0]


@pytest.mark.parametrize(
    ("estimate", "has_drop", "sums"),
    [
        (upfront("mini", 84, "f"), True, ["2 × ₹84 = ₹168", "3 × ₹84 = ₹252"]),
        (
            metered("mini", 210, 260),
            True,
            ["about 2 × ₹210–260 = ₹420–520", "about 3 × ₹210–260 = ₹630–780"],
        ),
        (None, False, ["from 2 × ₹80 = ₹160", "from 3 × ₹80 = ₹240"]),
    ],
)
def test_several_cars_are_priced_with_their_sum(
    estimate: dict[str, Any] | None, has_drop: bool, sums: list[str]
) -> None:
    estimates = [estimate] if estimate else []
    found = shown(category("mini", "Mini"), *estimates, has_drop=has_drop)
    assert [words.replace("\u00a0", " ") for words in found.group[:2]] == sums
    assert len(found.group) == 5


def test_several_shared_cars_are_priced_by_their_seats_and_a_price_less_car_has_no_sum() -> None:
    shared = shown(category("share", "Share"), SHARE)
    sums = [seat.group[1].replace("\u00a0", " ") for seat in shared.seats]
    assert sums == ["3 × ₹96 = ₹288", "3 × ₹140 = ₹420"]
    assert shown(category("mini", "Mini", fare_breakup=[])).group == ()


def test_a_rental_shows_its_packages_and_needs_no_drop() -> None:
    packages = [
        {
            "display_name": "2 h, 20 km",
            "base_fare": "399",
            "duration": 120,
            "time_unit": "minute",
            "distance": 20,
        },
        {
            "display_name": "4 h, 40 km",
            "base_fare": "749",
            "duration": 240,
            "time_unit": "minute",
            "distance": 40,
        },
    ]
    rental = category("rental", "Rental", sub_categories=[{"id": "micro", "packages": packages}])
    del rental["fare_breakup"]
    found = shown(rental, has_drop=False)
    assert found.blocked == ""
    assert found.price == "from ₹399"
    assert [table.title for table in found.tables] == ["2 h, 20 km", "4 h, 40 km", "Now"]
    assert found.tables[-1].lines[0][0] == "Nearest car"
    assert ("Package fare", "₹399") in found.tables[0].lines
    assert ("Time included", "120 min") in found.tables[0].lines
    assert ("Distance included", "20 km") in found.tables[0].lines


def test_half_hours_of_a_package_are_written_as_the_language_does() -> None:
    length = {"duration": 90, "time_unit": "minute", "distance": 15}
    packages = [{"display_name": "1.5 h, 15 km", "base_fare": "399"} | length]
    rental = category("rental", "Rental", sub_categories=[{"id": "micro", "packages": packages}])
    assert package_list(product(rental), "en").startswith("1.5 h, 15 km from ")
    assert package_list(product(rental), "de").startswith("1,5 h, 15 km from ")
    assert package_list(product(rental), "es").startswith("1,5 h y 15 km from ")


def test_numbers_of_a_breakup_are_written_as_the_language_does() -> None:
    surcharges = [
        {"name": "Peak", "type": "multiplier", "value": "1.25"},
        {"name": "Fee", "type": "percentage", "value": "2.5"},
    ]
    mini = category("mini", "Mini", time_unit=None)
    mini["fare_breakup"][0] |= {"minimum_distance": "1500.5", "surcharge": surcharges}
    one = product(mini, metered("mini", 210, 260))
    for locale, distance, included, peak, fee in (
        ("en", "8.2 km", "1500.5 km", "× 1.25", "2.5 %"),
        ("de", "8,2 km", "1500,5 km", "× 1,25", "2,5 %"),
    ):
        lines = dict(line for table in fare_tables(one, locale) for line in reversed(table.lines))
        assert [lines[name] for name in ("Distance included", "Peak", "Fee")] == [
            included,
            peak,
            fee,
        ]
        assert dict(fare_tables(one, locale)[0].lines)["Distance"] == distance


def test_a_shared_rides_breakup_shows_each_sum_once_and_keeps_longer_text() -> None:
    fares = [
        fare
        | {
            "fare_string": f"₹{fare['cost']} fixed, paid before the ride",
            "discount_string": f"You save ₹{saved}",
        }
        for fare, saved in zip(SHARE["fares"], ("24", "7"), strict=True)
    ]
    (table,) = [
        t
        for t in shown(category("share", "Share"), SHARE | {"fares": fares}).tables
        if "shared" in t.title
    ]
    assert ("Fixed price, 1 seat", "₹96") in table.lines
    assert table.notes == ("Two seats, one price", "You save ₹7")


def test_a_shared_ride_without_a_price_can_not_be_booked() -> None:
    assert (
        shown(category("share", "Share")).blocked
        == "The ride company gave no price for a shared ride."
    )


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (None, "The ride company told no cancellation rule for this car."),
        ({}, "The ride company told no cancellation rule for this car."),
        ({"cancellation_charge": 0}, "Free to cancel."),
        ({"cancellation_charge": 30, "currency": "INR"}, "Cancelling costs ₹30."),
        (
            {"cancellation_charge": "2.5", "currency": "EUR"}
            | {"cancellation_charge_applies_after_time": 90, "time_unit": "sec"},
            "Free to cancel for 1 min, then €2.50.",  # the second minute is not all free
        ),
        (
            {"cancellation_charge": 30, "currency": "INR"}
            | {"cancellation_charge_applies_after_time": 45, "time_unit": "SECONDS"},
            "Cancelling costs ₹30.",
        ),
    ],
)
def test_the_cancellation_policy_is_a_sentence(policy: dict[str, Any] | None, words: str) -> None:
    assert shown(category("mini", "Mini", cancellation_policy=policy)).cancellation == words


def test_an_unknown_or_missing_currency_is_shown_unchanged() -> None:
    assert shown(category("mini", "Mini", currency=None), upfront("mini", 240, "f")).price == "240"
    unknown = shown(category("mini", "Mini", currency="ZZZ"), upfront("mini", 240, "f"))
    assert unknown.price == "ZZZ\u00a0240"
    assert money_range(Decimal(1), Decimal(2), "ZZZ", "en") == "ZZZ\u00a01–2"
    assert money_range(Decimal(1), Decimal("2.5"), "EUR", "en") == "€1–2.50"
    assert money_range(Decimal(1), Decimal(2), None, "en") == "1–2"


def test_higher_rates_are_explained_for_this_price() -> None:
    busy = category("mini", "Mini")
    busy["fare_breakup"][0]["rates_higher_than_usual"] = True
    assert "will not rise" in shown(busy, upfront("mini", 240, "f")).surge_means
    assert "Waiting may bring them down" in shown(busy, metered("mini", 1, 2)).surge_means
    peak = SHARE | {"fares": [{"seats": 1, "cost": 120, "peak_time_charge": "1.2x"}]}
    assert shown(category("share", "Share"), peak).surge == "Busy: higher price"
    assert shown(category("share", "Share"), SHARE).surge == ""


def test_the_cheapest_private_car_that_is_near_is_preferred_unless_another_is_requested() -> None:
    cards = (
        shown(category("suv", "SUV"), metered("suv", 300, 400)),
        shown(category("mini", "Mini", eta=-1), upfront("mini", 100, "f")),
        shown(category("prime", "Prime"), upfront("prime", 250, "g")),
        shown(category("auto", "Auto"), metered("auto", 50, 60)),
        shown(category("share", "Share"), SHARE),
    )
    best, requested, unknown = (
        preferred(cards),
        preferred(cards, "share"),
        preferred(cards, "rocket"),
    )
    assert best is cards[2]
    assert requested is cards[4]
    assert unknown is cards[2]
    assert preferred(()) is None


def test_the_trip_is_shown_once_for_all_cards() -> None:
    assert trip_facts([product(category("mini", "Mini"), upfront("mini", 1, "f"))], "en") == (
        "8.2 km · about 22 min on the road"
    )
    assert trip_facts([], "en") == ""


@pytest.mark.parametrize(
    ("id_", "symbol"),
    [
        ("mini", "hatch"),
        ("micro", "hatch"),
        ("sedan", "sedan"),
        ("prime", "lux"),
        ("lux", "lux"),
        ("prime_play", "lux"),
        ("exec", "lux"),
        ("suv", "suv"),
        ("prime_suv", "suv"),
        ("auto", "auto"),
        ("auto_prime", "auto"),
        ("automatic", "car"),
        ("bike", "bike"),
        ("share", "share"),
        ("rental", "rental"),
        ("outstation", "outstation"),
        ("rocket", "car"),
        ("", "car"),
        ("{{7*191}}", "car"),
    ],
)
def test_every_category_has_a_drawing_of_ours(id_: str, symbol: str) -> None:
    sprite = (Path(__file__).parents[3] / "static" / "img" / "cars.svg").read_text()
    assert drawing(id_) == symbol
    assert re.search(f'<symbol id="{symbol}"', sprite)
