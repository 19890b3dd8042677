"""The cars of the two cities: what is offered, at which rates, with how many cabs."""

from decimal import Decimal

import pytest

from ridedash.sandbox.pricing.categories import (
    CATEGORY_IDS,
    Cancellation,
    Package,
    RateCard,
    tariff_of,
)

INR, EUR = tariff_of("INR"), tariff_of("EUR")


def card(kind, *amounts):
    return RateCard(kind, *map(Decimal, amounts))


# id: cabs, (charge, after minutes), upfront, surges
OFFERED = {
    "INR": {
        "mini": (26, (30, 5), True, True),
        "prime": (18, (50, 5), True, True),
        "suv": (6, (60, 4), False, True),
        "auto": (24, (15, 3), False, False),
        "share": (20, (25, 2), False, True),
        "rental": (10, (100, 3), False, False),
    },
    "EUR": {
        "micro": (20, (4, 5), False, True),
        "sedan": (16, (6, 3), True, True),
        "share": (14, (3, 2), False, True),
        "auto": (14, (2, 4), False, False),
        "rental": (8, (12, 4), False, False),
    },
}


@pytest.mark.parametrize("currency", OFFERED)
def test_each_city_offers_its_cars(currency):
    offered = {
        each.id: (each.cabs, tuple(each.cancellation), each.upfront, each.surges)
        for each in tariff_of(currency).categories
    }
    assert offered == OFFERED[currency]
    assert isinstance(tariff_of(currency).categories[0].cancellation, Cancellation)


def test_cities_differ_in_tax_tolls_and_steps():
    facts = [
        (t.tax, t.airport_toll, t.step, t.auto_billing, t.convenience_charge, t.airport_advance)
        for t in (INR, EUR)
    ]
    assert facts == [
        (Decimal("0.05"), 60, 1, True, 5, 40),
        (Decimal("0.10"), Decimal("4.50"), Decimal("0.10"), False, Decimal("0.30"), 0),
    ]


def test_rate_cards_and_packages_are_those_of_the_city():
    assert INR.find("mini").cards == (
        card("flat_rate", "2", "0", "50", "80", "12", "1.5", "1.5", "0"),
        card("airport_rate", "4", "0", "110", "180", "13", "2", "1.5", "0"),
    )
    assert [each.night_charge for each in INR.find("suv").cards] == [40, 40]
    assert card("flat_rate", *"1111111").night_charge == 0
    assert INR.find("rental").packages == (
        ("mini", (Package(1, 10, 199, 11, 2), Package(2, 20, 369, 11, 2))),
        ("prime", (Package(1, 10, 249, 14, 2), Package(4, 40, 899, 14, 2))),
    )
    cents, more = Decimal("1.5"), Decimal("0.4")
    assert EUR.find("rental").packages == (
        ("sedan", (Package(1, 10, 24, cents, more), Package(3, 30, 62, cents, more))),
    )


def test_a_category_is_known_by_its_id_and_its_kind():
    assert INR.find("mini").id == "mini"
    assert INR.find("micro") is None
    assert [INR.find(each).kind for each in ("mini", "share", "auto")] == [
        "point_to_point",
        "share",
        "auto",
    ]
    assert [INR.find(each).rental for each in ("mini", "rental")] == [False, True]
    assert {*OFFERED["INR"], *OFFERED["EUR"]} == CATEGORY_IDS
