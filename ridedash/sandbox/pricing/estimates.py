"""Prices before a booking: planned trips, current terms, and the estimates of products."""

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
from ridedash.sandbox.pricing.fare_ids import FareSigner, LockedFare
from ridedash.sandbox.pricing.rates import Driven

# the factors on a metered fare that give amount_min and amount_max
METERED_SPREAD: Final = (Decimal("0.95"), Decimal("1.20"))
SHARE_TIME_MAX: Final = Decimal("1.4")  # a shared cab makes a detour for its other passengers


@dataclass(frozen=True)
class PricedTrip:
    """A trip to be priced: city, tariff, both ends, the route between them and the local time."""

    city: City
    tariff: Tariff
    pickup: LatLng
    drop: LatLng
    trip: rates.Driven
    when: datetime
    now: float

    def terms(self, category: Category, coupon: str | None = None) -> rates.Terms:
        """The terms of a category, without a fixed price."""
        return terms(self.city, category, (self.pickup, self.drop), self.when, coupon)

    def upfront(self, category: Category) -> Decimal:
        """The fixed total of an upfront category."""
        return rates.fixed_total(self.tariff, category, self.terms(category), self.trip)

    def share(self, category: Category, seats: int) -> tuple[Decimal, Decimal]:
        """(actual_cost, cost) for a number of seats."""
        return rates.share_cost(self.tariff, category, self.terms(category), self.trip, seats)


def priced_trip(city: City, tariff: Tariff, pickup: LatLng, drop: LatLng, now: float) -> PricedTrip:
    """Plan the route of a trip at a service time."""
    trip = driven_on(city.roads.route(pickup, drop))
    return PricedTrip(city, tariff, pickup, drop, trip, rates.local(now, city.timezone), now)


def driven_on(route: Route, waiting_s: float = 0.0) -> Driven:
    """A route as a journey for pricing."""
    return Driven(
        Decimal(str(round(route.total_m / 1000, 3))),
        Decimal(str(round(route.total_s / 60, 2))),
        Decimal(str(round(waiting_s / 60, 2))),
    )


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
        "airport" in zone.name.lower() and contains(zone.boundary, point) for zone in city.hotspots
    )


def estimate(category: Category, priced: PricedTrip, signer: FareSigner) -> dict[str, Any]:
    """The element of `ride_estimate` for a category other than share (see docs/field-notes.md)."""
    agreed = priced.terms(category)
    price = rates.price(priced.tariff, category, agreed, priced.trip)
    total = price.total
    spread = METERED_SPREAD
    if category.upfront:
        total = priced.upfront(category)
        spread = (Decimal(1), Decimal(1))
    fee = rates.convenience_charge(priced.tariff, category)
    ends = (rates.rounded(total * part + fee, priced.tariff.step) for part in spread)
    low, high = (rates.number(end) for end in ends)
    return {
        "category": category.id,
        "distance": rates.number(round(priced.trip.km, 2)),
        "travel_time_in_minutes": max(1, round(priced.trip.minutes)),
        "amount_min": low,
        "amount_max": high,
        "booking_fee": rates.number(fee),
        "booking_fee_breakup": _fee_lines(fee),
        "taxes": {"total_tax": rates.number(price.tax)},
        "hub_charges": _hub(priced, price.toll),
        "discounts": {
            "discount_type": "",
            "discount_code": "",
            "discount_mode": "",
            "discount": 0,
            "cashback": 0,
        },
        "upfront": _upfront(category, priced, total, signer),
    }


def _fee_lines(fee: Decimal) -> list[dict[str, Any]]:
    if not fee:
        return []
    return [{"display_text": "Convenience charge", "value": rates.number(fee)}]


def _hub(priced: PricedTrip, toll: Decimal) -> dict[str, Any]:
    at_pickup = toll if at_airport(priced.city, priced.pickup) else Decimal(0)
    airports = (zone.name for zone in priced.city.hotspots if "airport" in zone.name.lower())
    return {
        "total_hub_fee": rates.number(toll),
        "pickup_hub_fee": rates.number(at_pickup),
        "pickup_hub_name": next(airports, "") if at_pickup else "",
    }


def _upfront(
    category: Category, priced: PricedTrip, total: Decimal, signer: FareSigner
) -> dict[str, Any]:
    if not category.upfront:
        return {"is_upfront_applicable": False}
    locked = LockedFare(category.id, priced.pickup, priced.drop, total, priced.now)
    return {
        "fare": rates.number(total),
        "fare_id": signer.lock(locked),
        "select_discount": 0,
        "is_upfront_applicable": True,
    }


def share_estimate(category: Category, priced: PricedTrip) -> dict[str, Any]:
    """The element of `ride_estimate` for share: fixed fares for one seat and for two."""
    minutes = max(Decimal(2), priced.trip.minutes)
    return {
        "category": wire.Kind.SHARE.value,
        "travel_time_min": round(minutes),
        "travel_time_max": round(minutes * SHARE_TIME_MAX) + 2,
        "travel_time_unit": "MINUTES",
        "promotional_message": "Share the ride and pay less.",
        "fares": [_share_fare(category, priced, seats) for seats in (1, 2)],
    }


def _share_fare(category: Category, priced: PricedTrip, seats: int) -> dict[str, Any]:
    actual, cost = priced.share(category, seats)
    peak = priced.terms(category).surge
    symbol = priced.tariff.symbol
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
