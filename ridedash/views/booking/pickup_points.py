"""The pickup points of a hotspot zone.

Pure, apart from the geocoder passed in.
"""

from dataclasses import dataclass, replace
from typing import Final

from ridedash.geo import LatLng, distance_m
from ridedash.service.types.products import HotspotZone, PickupPoint
from ridedash.store.offers import Trip
from ridedash.views.web.place_names import is_pin

AT_POINT_M: Final = 15.0  # a pickup this close to a hotspot's point counts as that point
MAX_NAME: Final = 200
DASH: Final = " – "


@dataclass(frozen=True)
class ZonePoint:
    """A pickup point: `name` is its own, `full` also says to which place it belongs."""

    name: str
    full: str
    position: LatLng


@dataclass(frozen=True)
class ShownZone:
    """A hotspot zone on the page: `points` are numbered from 1; `chosen` is a number or None."""

    description: str
    boundary: tuple[LatLng, ...]
    points: tuple[ZonePoint, ...]
    chosen: int | None


def is_hotspot(zone: HotspotZone | None) -> bool:
    """Whether pickups here happen at named points only."""
    return zone is not None and zone.is_hotspot and bool(zone.points)


def meet(zone: HotspotZone | None, trip: Trip, around: str) -> Trip:
    """The trip with its pickup moved to a point of its hotspot zone, named as it will be sent.

    For a pin, and for a pickup at a point, this is the nearest point; for any other place it is the
    service's default point. `around` is the name of the place around a pin, "" if unknown.
    """
    if zone is None or not is_hotspot(zone):
        return trip
    nearest = min(zone.points, key=lambda point: distance_m(point.position, trip.pickup))
    default = next((point for point in zone.points if point.id == zone.default_point_id), nearest)
    exact = is_pin(trip.pickup_name) or distance_m(nearest.position, trip.pickup) <= AT_POINT_M
    point = nearest if exact else default
    return replace(
        trip,
        pickup=point.position,
        pickup_name=_full(point, _place(zone, trip.pickup_name, around)),
    )


def zone_of(zone: HotspotZone | None, trip: Trip) -> ShownZone | None:
    """The hotspot around a trip that `meet` returned; None outside of hotspots."""
    if zone is None or not is_hotspot(zone):
        return None
    place = _place(zone, trip.pickup_name, "")
    points = tuple(
        ZonePoint(point.name, _full(point, place), point.position) for point in zone.points
    )
    chosen = next((n for n, point in enumerate(points, 1) if point.position == trip.pickup), None)
    return ShownZone(zone.description or "", zone.boundary, points, chosen)


def _place(zone: HotspotZone, name: str | None, around: str) -> str:
    """The place to which the points belong: the pickup's name without a point's name at its end.

    `around` if this leaves no name of a place.
    """
    words = name or ""
    for point in zone.points:
        if words == point.name:
            return around
        words = words.removesuffix(DASH + point.name)
    return around if is_pin(words) else words


def _full(point: PickupPoint, place: str) -> str:
    room = MAX_NAME - len(DASH + point.name)
    if not place or place == point.name or room <= 0:
        return point.name[:MAX_NAME]
    return f"{place[:room]}{DASH}{point.name}"
