"""Every field of a products answer is a typed attribute."""

from decimal import Decimal

import pytest

from ridedash.geo import LatLng
from ridedash.service.parsing.fields import Distance, Duration
from ridedash.service.types.estimates import (
    Discounts,
    Estimate,
    FeeLine,
    HubCharges,
    ShareEstimate,
    ShareFare,
)
from ridedash.service.types.products import HotspotZone, PickupPoint, ProductList
from ridedash.service.types.rate_cards import CancellationPolicy, RateCard, Surcharge
from ridedash.wire import Kind
from tests.service.bodies import PRODUCTS


@pytest.fixture
def read():
    return ProductList.from_wire(PRODUCTS)


def test_a_product_has_every_field_of_its_category(read):
    mini = read.product("mini")
    assert (mini.display_name, mini.kind, mini.currency) == ("Mini", Kind.POINT_TO_POINT, "INR")
    assert (mini.eta, mini.none_near, mini.nearest) == (
        Duration(seconds=180),
        False,
        Distance(metres=200),
    )
    assert (mini.distance_unit, mini.time_unit) == ("kilometre", "minute")
    assert (mini.ride_later, mini.select_applicable) == (True, None)
    assert mini.image == "https://img.example/mini.png"
    assert mini.cancellation == CancellationPolicy(
        charge=30, currency="INR", applies_after=Duration(seconds=300)
    )
    share = read.product("share")
    assert (share.kind, share.eta, share.none_near, share.nearest) == (Kind.SHARE, None, True, None)
    assert share.select_applicable is False


def test_a_rate_card_has_every_field(read):
    flat, standard = read.product("mini").rate_cards
    assert flat == RateCard(
        type="flat_rate",
        minimum_distance=4,
        minimum_time=0,
        base_fare=50,
        minimum_fare=60,
        cost_per_distance=Decimal("8.5"),
        waiting_cost_per_minute=0,
        ride_cost_per_minute=1,
        rates_higher_than_usual=True,
        surcharges=(
            Surcharge(name="Peak", type="multiplier", value=Decimal("1.5"), description="busy"),
        ),
    )
    assert standard == RateCard(type="standard_rate", fare="As the meter shows")


def test_night_charges_of_na_are_none_and_others_are_preserved():
    body = {
        "categories": [
            {
                "id": "x",
                "fare_breakup": [{"night_time_charges": "25", "night_time_duration": "23-5"}],
            }
        ]
    }
    card = ProductList.from_wire(body).products[0].rate_cards[0]
    assert (card.night_time_charges, card.night_time_duration) == (25, "23-5")


def test_the_hotspot_zone_has_every_field(read):
    assert read.hotspot == HotspotZone(
        is_hotspot=True,
        description="Choose where to meet",
        boundary=(LatLng(12.1, 77.1), LatLng(12.2, 77.1), LatLng(12.2, 77.2)),
        points=(
            PickupPoint(id=1, name="Gate 1", position=LatLng(12.15, 77.15)),
            PickupPoint(id=2, name="Gate 2", position=LatLng(12.16, 77.16)),
        ),
        default_point_id=2,
    )


def test_an_estimate_has_every_field(read):
    assert read.product("mini").estimate == Estimate(
        category="mini",
        distance=Distance(metres=7430),
        travel_time=Duration(seconds=1320),
        amount_min=210,
        amount_max=260,
        booking_fee=10,
        booking_fee_lines=(FeeLine(display_text="Booking fee", value=10),),
        taxes=Decimal("12.5"),
        hub_charges=HubCharges(total_hub_fee=40, pickup_hub_fee=40, pickup_hub_name="Airport"),
        discounts=Discounts(
            discount_type="OFFER",
            discount_code="TEN",
            discount_mode="INSTANT",
            discount=10,
            cashback=0,
            pass_savings=0,
        ),
        upfront=True,
        upfront_fare=240,
        fare_id="f-1",
        select_discount=0,
    )


def test_a_share_estimate_has_fares_for_one_and_two_seats(read):
    share = read.product("share").share
    assert (share.travel_time_min, share.travel_time_max) == (
        Duration(seconds=1500),
        Duration(seconds=2100),
    )
    assert share.promotional_message == "Less for more"
    assert share.fare(2) == ShareFare(
        seats=2,
        actual_cost=240,
        cost=200,
        savings=40,
        peak_time_charge="1.2x",
        peak_time_text="Busy",
        discount_string="20 off",
        fare_string="Rs 100",
    )
    assert share.fare(1).cost == 100
    assert share.fare(3) is None
    assert isinstance(share, ShareEstimate)


@pytest.mark.parametrize(
    "estimate", [{}, [], None, "x", {"one_way": {"amount_min": 1}, "two_way": {}}, [{}]]
)
def test_no_usable_estimate_is_none(estimate):
    body = {"categories": [{"id": "outstation"}], "ride_estimate": estimate}
    assert ProductList.from_wire(body).products[0].estimate is None


def test_a_share_estimate_without_fares_is_none():
    body = {
        "categories": [{"id": "share"}],
        "ride_estimate": [{"category": "share", "fares": [{"seats": 9}]}],
    }
    assert ProductList.from_wire(body).products[0].share is None


@pytest.mark.parametrize(
    "upfront",
    [
        {"fare": 240, "is_upfront_applicable": True},
        {"fare_id": "f", "is_upfront_applicable": True},
        {"fare": 240, "fare_id": "f", "is_upfront_applicable": False},
        {"fare": "free", "fare_id": "f", "is_upfront_applicable": True},
        None,
    ],
)
def test_a_price_is_fixed_only_with_both_fare_and_fare_id(upfront):
    body = {
        "categories": [{"id": "mini"}],
        "ride_estimate": [{"category": "mini", "amount_min": 1, "upfront": upfront}],
    }
    estimate = ProductList.from_wire(body).products[0].estimate
    assert (estimate.upfront, estimate.upfront_fare, estimate.fare_id) == (False, None, None)


def test_a_lone_estimate_without_a_category_belongs_to_the_lone_product():
    body = {"categories": [{"id": "mini"}], "ride_estimate": {"amount_min": "7"}}
    assert ProductList.from_wire(body).products[0].estimate.amount_min == 7


def test_a_category_named_twice_is_listed_once_and_order_is_preserved():
    names = [("b", "first"), ("a", "second"), ("b", "third")]
    read = ProductList.from_wire(
        {"categories": [{"id": key, "display_name": name} for key, name in names]}
    )
    assert [product.display_name for product in read.products] == ["first", "second"]
