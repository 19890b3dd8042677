"""Prices before a booking: the trip as planned, the terms that hold now, and the estimates of
products.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from ridedash import wire
from ridedash.geo import LatLng, contains
from ridedash.sandbox.city.city import City
from ridedash.sandbox.city.roads import Route
from ridedash.sandbox.pricing import rates
from ridedash.sandbox.pricing.categories import Category, Tariff
from ridedash.sandbox.pricing.fare_ids import FareSeal, LockedFare
from ridedash.sandbox.pricing.rates import Driven


def driven_on(route: Route, waiting_s: float = 0.0) -> Driven:
    """A route as a journey for pricing."""
    return Driven(
        Decimal(str(round(route.total_m / 1000, 3))),
        Decimal(str(round(route.total_s / 60, 2))),
        Decimal(str(round(waiting_s / 60, 2))),
    )


# of a metered fare: amount_min, amount_max
METERED_SPREAD: Final = (Decimal("0.95"), Decimal("1.20"))
SHARE_TIME_MAX: Final = Decimal("1.4")


@dataclass(frozen=True)
class PricedTrip:
    """A trip to be priced: the city, its tariff, both ends, the way between them and the city's
    local time.
    """

    city: City
    tariff: Tariff
    pickup: LatLng
    drop: LatLng
    trip: rates.Driven
    when: datetime
    now: float
    speed: float = 1.0  # of the service's clock

    def terms(self, category: Category, coupon: str | None = None) -> rates.Terms:
        """The terms of a category, without a fixed price."""
        return terms(self.city, category, (self.pickup, self.drop), self.when, coupon)

    def upfront(self, category: Category) -> Decimal:
        """The total named beforehand."""
        return rates.fixed_total(self.tariff, category, self.terms(category), self.trip)

    def share(self, category: Category, seats: int) -> tuple[Decimal, Decimal]:
        """(actual_cost, cost) for a number of seats."""
        return rates.share_cost(self.tariff, category, self.terms(category), self.trip, seats)


def priced_trip(
    city: City, tariff: Tariff, pickup: LatLng, drop: LatLng, now: float, speed: float = 1.0
) -> PricedTrip:
    """Plan the way and look at the clock."""
    trip = driven_on(city.roads.route(pickup, drop))
    return PricedTrip(city, tariff, pickup, drop, trip, rates.local(now, city.timezone), now, speed)


def terms(
    city: City,
    category: Category,
    ends: tuple[LatLng, LatLng | None],
    when: datetime,
    coupon: str | None,
) -> rates.Terms:
    """The terms of a category for a trip between two places at a local time."""
    airport = any(end is not None and at_airport(city, end) for end in ends)
    return rates.Terms(rates.surge(category, when), airport, rates.is_night(when), coupon, None)


def at_airport(city: City, point: LatLng) -> bool:
    """Whether a point lies in the airport's hotspot."""
    return any(
        "airport" in spot.name.lower() and contains(spot.boundary, point) for spot in city.hotspots
    )


def estimate(category: Category, asked: PricedTrip, seal: FareSeal) -> dict[str, Any]:
    """An element of `ride_estimate` for all categories but share (shape: docs/field-notes.md)."""
    agreed = asked.terms(category)
    price = rates.price(asked.tariff, category, agreed, asked.trip)
    total = asked.upfront(category) if category.upfront else price.total
    spread = (Decimal(1), Decimal(1)) if category.upfront else METERED_SPREAD
    low, high = (rates.number(rates.rounded(total * part, asked.tariff.step)) for part in spread)
    return {
        "category": category.id,
        "distance": rates.number(round(asked.trip.km, 2)),
        "travel_time_in_minutes": max(1, round(asked.trip.minutes)),
        "amount_min": low,
        "amount_max": high,
        "booking_fee": 0,
        "booking_fee_breakup": [],
        "taxes": {"total_tax": rates.number(price.tax)},
        "hub_charges": _hub(asked, price.toll),
        "discounts": {
            "discount_type": "",
            "discount_code": "",
            "discount_mode": "",
            "discount": 0,
            "cashback": 0,
        },
        "upfront": _upfront(category, asked, total, seal),
    }


def _hub(asked: PricedTrip, toll: Decimal) -> dict[str, Any]:
    name = (
        next((spot.name for spot in asked.city.hotspots if "airport" in spot.name.lower()), "")
        if toll
        else ""
    )
    at_pickup = toll if at_airport(asked.city, asked.pickup) else Decimal(0)
    return {
        "total_hub_fee": rates.number(toll),
        "pickup_hub_fee": rates.number(at_pickup),
        "pickup_hub_name": name if at_pickup else "",
    }


def _upfront(
    category: Category, asked: PricedTrip, total: Decimal, seal: FareSeal
) -> dict[str, Any]:
    if not category.upfront:
        return {"is_upfront_applicable": False}
    locked = LockedFare(category.id, asked.pickup, asked.drop, total, asked.now, asked.speed)
    return {
        "fare": rates.number(total),
        "fare_id": seal.lock(locked),
        "select_discount": 0,
        "is_upfront_applicable": True,
    }


def share_estimate(category: Category, asked: PricedTrip) -> dict[str, Any]:
    """The element of `ride_estimate` for share: fixed fares for one seat and for two."""
    minutes = max(Decimal(2), asked.trip.minutes)
    return {
        "category": wire.Kind.SHARE.value,
        "travel_time_min": round(minutes),
        "travel_time_max": round(minutes * SHARE_TIME_MAX) + 2,
        "travel_time_unit": "MINUTES",
        "promotional_message": "Share the ride and pay less.",
        "fares": [_share_fare(category, asked, seats) for seats in (1, 2)],
    }


def _share_fare(category: Category, asked: PricedTrip, seats: int) -> dict[str, Any]:
    actual, cost = asked.share(category, seats)
    peak, symbol = asked.terms(category).surge, asked.tariff.symbol
    return {
        "seats": seats,
        "actual_cost": rates.number(actual),
        "cost": rates.number(cost),
        "savings": rates.number(actual - cost),
        "peak_time_charge": str(peak),
        "peak_time_text": f"Fares are {peak} times the usual at this hour." if peak > 1 else "",
        "discount_string": f"You save {symbol}{rates.number(actual - cost)}",
        "fare_string": f"{symbol}{rates.number(cost)} fixed, paid before the ride",
    }
