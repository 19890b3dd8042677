"""Points on the earth in degrees (WGS 84), distances in metres, bearings in degrees."""

import math
from collections.abc import Sequence
from typing import NamedTuple

EARTH_RADIUS_M = 6_371_008.8


class LatLng(NamedTuple):
    """A point: latitude and longitude in degrees."""

    lat: float
    lng: float


def is_valid(lat: float, lng: float) -> bool:
    """Whether both are finite and in range.

    (0, 0) is valid, but the service sends it for "unknown".
    """
    return math.isfinite(lat) and math.isfinite(lng) and -90 <= lat <= 90 and -180 <= lng <= 180


def distance_m(a: LatLng, b: LatLng) -> float:
    """Great-circle distance in metres (haversine)."""
    lat1, lat2 = math.radians(a.lat), math.radians(b.lat)
    half_lat = math.sin((lat2 - lat1) / 2)
    half_lng = math.sin(math.radians(b.lng - a.lng) / 2)
    h = half_lat * half_lat + math.cos(lat1) * math.cos(lat2) * half_lng * half_lng
    return 2 * EARTH_RADIUS_M * math.asin(min(1.0, math.sqrt(h)))


def bearing_deg(a: LatLng, b: LatLng) -> float:
    """Initial bearing from a to b in degrees, clockwise from north, in [0, 360)."""
    lat1, lat2 = math.radians(a.lat), math.radians(b.lat)
    d_lng = math.radians(b.lng - a.lng)
    y = math.sin(d_lng) * math.cos(lat2)
    x = math.cos(lat1) * math.sin(lat2) - math.sin(lat1) * math.cos(lat2) * math.cos(d_lng)
    return math.degrees(math.atan2(y, x)) % 360


def between(a: LatLng, b: LatLng, fraction: float) -> LatLng:
    """The point at a fraction (0 to 1) from a to b; linear in degrees, for short distances."""
    return LatLng(a.lat + (b.lat - a.lat) * fraction, a.lng + (b.lng - a.lng) * fraction)


def contains(ring: Sequence[LatLng], point: LatLng) -> bool:
    """Whether a point lies inside a ring (closed or not), by the even-odd rule."""
    inside = False
    for a, b in zip(ring, [*ring[1:], ring[0]], strict=True):
        crosses = (a.lat > point.lat) != (b.lat > point.lat)
        if crosses and point.lng < (b.lng - a.lng) * (point.lat - a.lat) / (b.lat - a.lat) + a.lng:
            inside = not inside
    return inside


def thinned(path: Sequence[LatLng], away_m: float, most: int) -> list[LatLng]:
    """A path with at most `most` (2 or more) of its points, both ends among them.

    Points are left out that are within `away_m` metres of the remaining line; that distance is
    doubled until few enough points remain (Douglas and Peucker).
    """
    found = _line_within(path, away_m)
    while len(found) > most:
        away_m *= 2
        found = _line_within(found, away_m)
    return found


def _line_within(path: Sequence[LatLng], away_m: float) -> list[LatLng]:
    """Some of the points, whose line stays within `away_m` metres of all of them."""
    if len(path) < 3:
        return list(path)
    stays = {0, len(path) - 1}
    parts = [(0, len(path) - 1)]
    while parts:
        first, last = parts.pop()
        farthest, metres = first, 0.0
        for n in range(first + 1, last):
            away = _from_line_m(path[n], path[first], path[last])
            if away > metres:
                farthest, metres = n, away
        if metres > away_m:
            stays.add(farthest)
            parts += [(first, farthest), (farthest, last)]
    return [path[n] for n in sorted(stays)]


def _from_line_m(point: LatLng, a: LatLng, b: LatLng) -> float:
    """Metres from a point to the line between two others; on a plane, for short distances."""
    north = EARTH_RADIUS_M * math.pi / 180
    east = north * math.cos(math.radians(a.lat))
    x, y = (b.lng - a.lng) * east, (b.lat - a.lat) * north
    px, py = (point.lng - a.lng) * east, (point.lat - a.lat) * north
    length = x * x + y * y
    share = max(0.0, min(1.0, (px * x + py * y) / length)) if length else 0.0
    return math.hypot(px - share * x, py - share * y)
