"""The body of products: categories with fares and the nearest cab, hotspot zone, estimates."""

from decimal import Decimal
from typing import Any, Final

from ridedash import wire
from ridedash.geo import LatLng
from ridedash.sandbox.bookings.snapshots import minutes
from ridedash.sandbox.city.city import City, Hotspot
from ridedash.sandbox.pricing import rates
from ridedash.sandbox.pricing.categories import (
    STANDARD,
    Category,
    Package,
    RateCard,
    Tariff,
    tariff_of,
)
from ridedash.sandbox.pricing.estimates import PricedTrip, estimate, priced_trip, share_estimate
from ridedash.sandbox.request_parsing import RequestRefusal
from ridedash.sandbox.services import SandboxServices
from ridedash.sandbox.trips.planner import SHORTEST_PHASE_S

NO_CAB_NEAR: Final = -1
NIGHT_HOURS: Final = f"{rates.NIGHT_FROM}:00 to {rates.NIGHT_TO:02d}:00"


def products(
    sandbox: SandboxServices, pickup: LatLng, drop: LatLng | None, wanted: str | None, now: float
) -> dict[str, Any]:
    """The body of products; `wanted` limits it to one category.

    Raises RequestRefusal for a pickup outside the cities, and for a category that isn't offered
    there.
    """
    city = sandbox.city_at(pickup)
    if city is None:
        raise refused(wire.INVALID_CITY, "There is no service at this pickup")
    tariff = tariff_of(city.currency)
    offered = [category for category in tariff.categories if wanted in (None, category.id)]
    if not offered:
        raise refused(wire.INVALID_CAR_CATEGORY, "This category is not offered here")
    trip = None
    if drop is not None and city.contains(drop) and wanted != "rental":
        trip = priced_trip(city, tariff, pickup, drop, now)
    return {
        "hotspot_zone": hotspot_zone(city, pickup),
        "categories": [_category(sandbox, city, category, pickup, now) for category in offered],
        "ride_estimate": _estimates(sandbox, offered, trip, wanted),
    }


def refused(code: str, message: str) -> RequestRefusal:
    """A RequestRefusal in the form of the products operation."""
    return RequestRefusal(200, {"status": wire.FAILURE, "message": message, "code": code})


def hotspot_zone(city: City, pickup: LatLng) -> dict[str, Any]:
    """The hotspot zone around the pickup with its pickup points; if there is none, only a flag."""
    zone = city.hotspot_at(pickup)
    if zone is None:
        return {"is_hotpot_zone": False}
    return _zone(zone)


def _zone(zone: Hotspot) -> dict[str, Any]:
    return {
        "is_hotpot_zone": True,
        "desc": f"Cabs wait at the marked points of {zone.name}.",
        "default_pickup_point_id": zone.default_point_id,
        "hotspot_boundary": [[round(point.lat, 6), round(point.lng, 6)] for point in zone.boundary],
        "pickup_points": [
            {
                "lat": point.position.lat,
                "lng": point.position.lng,
                "name": point.name,
                "id": point.id,
            }
            for point in zone.points
        ],
    }


def _estimates(
    sandbox: SandboxServices, offered: list[Category], trip: PricedTrip | None, wanted: str | None
) -> Any:
    """The estimates for a trip; an empty object without one.

    The estimate for share is included only when share is the wanted category.
    """
    if trip is None:
        return {}
    if wanted == wire.Kind.SHARE:
        return [share_estimate(offered[0], trip)]
    return [
        estimate(category, trip, sandbox.fare_signer)
        for category in offered
        if not category.rental and category.id != "share"
    ]


def _category(
    sandbox: SandboxServices, city: City, category: Category, pickup: LatLng, now: float
) -> dict[str, Any]:
    tariff = tariff_of(city.currency)
    when = rates.local(now, city.timezone)
    cab = sandbox.fleet(city.slug).nearest(category.id, pickup, now)
    body: dict[str, Any] = {
        "id": category.id,
        "display_name": category.name,
        "currency": city.currency,
        "distance_unit": "kilometre",
        "time_unit": "minute",
        "eta": NO_CAB_NEAR if cab is None else minutes(max(SHORTEST_PHASE_S, cab.eta_s)),
        "distance": NO_CAB_NEAR if cab is None else f"{cab.metres / 1000:.1f}",
        "ride_later_enabled": "false",
        "image": f"https://images.example/categories/{category.id}.png",
        "cancellation_policy": _cancellation(category, city.currency),
    }
    if category.id == wire.Kind.SHARE:
        body["select_applicable"] = False
    if category.rental:
        return body | {"sub_categories": [_sub_category(*each) for each in category.packages]}
    return body | {
        "fare_breakup": [
            _card(card, category, tariff, rates.surge(category, when)) for card in category.cards
        ]
    }


def _cancellation(category: Category, currency: str) -> dict[str, Any]:
    return {
        "cancellation_charge": category.cancellation.charge,
        "currency": currency,
        "cancellation_charge_applies_after_time": category.cancellation.after_minutes,
        "time_unit": "minute",
    }


def _card(card: RateCard, category: Category, tariff: Tariff, surge: Decimal) -> dict[str, Any]:
    if card.type == STANDARD:
        return {
            "type": card.type,
            "fare": _description(card, category, tariff),
            "surcharge": _surcharge(surge),
        }
    return {
        "type": card.type,
        "minimum_distance": _text(card.minimum_distance),
        "minimum_time": _text(card.minimum_time),
        "base_fare": _text(card.base_fare),
        "minimum_fare": _text(card.minimum_fare),
        "cost_per_distance": _text(card.cost_per_distance),
        "waiting_cost_per_minute": _text(card.waiting_cost_per_minute),
        "ride_cost_per_minute": _text(card.ride_cost_per_minute),
        "night_time_charges": _text(card.night_charge) if card.night_charge else "NA",
        "night_time_duration": NIGHT_HOURS if card.night_charge else "NA",
        "rates_higher_than_usual": surge > 1,
        "surcharge": _surcharge(surge),
    }


def _description(card: RateCard, category: Category, tariff: Tariff) -> str:
    """The description of a standard rate: fixed for share, by the meter for auto."""
    symbol = tariff.symbol
    if category.id == wire.Kind.SHARE:
        return (
            f"Fixed fare for the trip, from {symbol}{rates.number(card.minimum_fare)}, "
            "paid before the ride"
        )
    ratio = rates.number(rates.NIGHT_RATIO)
    return (
        f"By the meter: {symbol}{rates.number(card.base_fare)} for the first "
        f"{rates.number(card.minimum_distance)} km,"
        f" then {symbol}{rates.number(card.cost_per_distance)} per km;"
        f" waiting {symbol}{rates.number(card.waiting_cost_per_minute)} per minute;"
        f" {ratio} times as much from {NIGHT_HOURS};"
        f" and {symbol}{rates.number(tariff.convenience_charge)} convenience charge"
        f"{_advance(tariff)}"
    )


def _advance(tariff: Tariff) -> str:
    if not tariff.airport_advance:
        return ""
    amount = f"{tariff.symbol}{rates.number(tariff.airport_advance)}"
    return f"; from the airport the wallet pays {amount} of it in advance"


def _surcharge(surge: Decimal) -> list[dict[str, Any]]:
    if surge <= 1:
        return []
    description = f"Fares are {surge} times the usual while many people look for a cab."
    return [
        {
            "name": "Peak time",
            "type": "multiplier",
            "value": float(surge),
            "description": description,
        }
    ]


def _sub_category(name: str, packages: tuple[Package, ...]) -> dict[str, Any]:
    return {
        "id": name,
        "display_name": name.title(),
        "packages": [_package(package) for package in packages],
    }


def _package(package: Package) -> dict[str, Any]:
    return {
        "display_name": f"{package.hours} h, {package.km} km",
        "duration": package.hours * 60,
        "time_unit": "minute",
        "distance": package.km,
        "distance_unit": "kilometre",
        "base_fare": _text(package.price),
        "cost_per_distance": _text(package.per_extra_km),
        "ride_cost_per_minute": _text(package.per_extra_minute),
    }


def _text(amount: Decimal) -> str:
    """A number as text, as the interface requires: "50.0"."""
    return str(float(amount))
