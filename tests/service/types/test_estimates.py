"""Prices before booking: each field, what is left out, and when a price is fixed."""

from decimal import Decimal

import pytest

from ridedash.service.parsing.fields import Distance, Duration
from ridedash.service.types.estimates import (
    Discounts,
    Estimate,
    FeeLine,
    HubCharges,
    ShareEstimate,
    ShareFare,
)

UPFRONT = {"fare": 240, "fare_id": "f", "select_discount": 3, "is_upfront_applicable": True}


def test_an_estimate_has_each_field_of_its_element():
    read = Estimate.from_wire(
        {
            "category": "mini",
            "distance": 7.5,
            "travel_time_in_minutes": 9,
            "amount_min": 210,
            "amount_max": 260,
            "booking_fee": 5,
            "booking_fee_breakup": [
                {"display_text": "Fee", "value": 5},
                {"display_text": "", "value": 1},
                {"display_text": "None"},
                {"display_text": "Free", "value": 0},
            ],
            "taxes": {"total_tax": 11},
            "hub_charges": {"total_hub_fee": 60, "pickup_hub_fee": 0, "pickup_hub_name": "Port"},
            "discounts": {"discount": 2, "discount_code": "TEN"},
            "upfront": UPFRONT,
        }
    )
    assert read == Estimate(
        category="mini",
        distance=read.distance,
        travel_time=read.travel_time,
        amount_min=Decimal(210),
        amount_max=Decimal(260),
        booking_fee=Decimal(5),
        booking_fee_lines=(
            FeeLine(display_text="Fee", value=Decimal(5)),
            FeeLine(display_text="Free", value=Decimal(0)),
        ),
        taxes=Decimal(11),
        hub_charges=HubCharges(
            total_hub_fee=Decimal(60), pickup_hub_fee=Decimal(0), pickup_hub_name="Port"
        ),
        discounts=Discounts(discount=Decimal(2), discount_code="TEN"),
        upfront=True,
        upfront_fare=Decimal(240),
        fare_id="f",
        select_discount=Decimal(3),
    )
    assert isinstance(read.distance, Distance)
    assert isinstance(read.travel_time, Duration)
    assert read.travel_time.seconds == 540


@pytest.mark.parametrize(
    ("change", "fixed"),
    [
        ({}, True),
        ({"is_upfront_applicable": None}, True),
        ({"is_upfront_applicable": False}, False),
        ({"fare": 0}, True),
        ({"fare": -1}, False),
        ({"fare_id": ""}, False),
        ({"fare_id": "x" * 500}, True),
        ({"fare_id": "x" * 501}, False),
    ],
)
def test_a_price_is_fixed_with_a_fare_and_its_id_unless_the_service_denies_it(change, fixed):
    read = Estimate.from_wire({"category": "mini", "amount_min": 1, "upfront": UPFRONT | change})
    assert (read.upfront, read.fare_id is not None, read.upfront_fare is not None) == (fixed,) * 3


def test_what_says_nothing_is_none():
    for nothing in (None, [], {}, {"category": "mini"}, {"category": "mini", "upfront": {}}):
        assert Estimate.from_wire(nothing) is None
    assert HubCharges.from_wire({"total_hub_fee": "x"}) is None
    assert Discounts.from_wire({}) is None
    assert Discounts.from_wire({"cashback": 0}) == Discounts(cashback=Decimal(0))


def test_a_share_has_a_fare_for_one_seat_and_for_two():
    fare = {"cost": 96, "actual_cost": 120, "savings": 24, "peak_time_charge": "1.2"}
    words = {"peak_time_text": "p", "discount_string": "d", "fare_string": "f"}
    rows = [{"seats": n, **fare, **words} for n in (1, 2, 3, "x")]
    read = ShareEstimate.from_wire(
        {
            "fares": rows,
            "travel_time_min": 10,
            "travel_time_max": 20,
            "travel_time_unit": "MINUTES",
            "promotional_message": "Share",
        }
    )
    assert read.fares == tuple(
        ShareFare(
            seats=n,
            cost=Decimal(96),
            actual_cost=Decimal(120),
            savings=Decimal(24),
            peak_time_charge="1.2",
            **words,
        )
        for n in (1, 2)
    )
    assert (read.travel_time_min.seconds, read.travel_time_max.seconds) == (600, 1200)
    assert read.promotional_message == "Share"
    assert [read.fare(n) and read.fare(n).seats for n in (1, 2, 3)] == [1, 2, None]
    assert ShareEstimate.from_wire({"fares": [{"seats": 3}], "travel_time_min": 10}) is None
