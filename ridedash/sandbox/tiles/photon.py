"""Place search in the form of a Photon server, so that a live desk can be rehearsed on the sandbox.

Two routes of komoot/photon: `/api` finds places by name, `/reverse` the street nearest to a point.
Both answer a GeoJSON FeatureCollection with the longitude first. Other parameters are ignored, and
a limit above MOST counts as MOST.
"""

import functools
import math
import zlib
from typing import Any, Final

from flask import Blueprint, request

from ridedash.geo import LatLng, is_valid
from ridedash.sandbox.city.city import City, Place, cities, city_at
from ridedash.sandbox.city.gazetteer import around, find

bp: Final = Blueprint("photon", __name__)
QUERY_CHARS: Final = 80
USUAL_LIMIT: Final = 15
MOST: Final = 20
# kind of a place -> key and value of OpenStreetMap
TAGS: Final = {
    "airport": ("aeroway", "aerodrome"),
    "beach": ("natural", "beach"),
    "bus": ("amenity", "bus_station"),
    "civic": ("amenity", "townhall"),
    "district": ("place", "suburb"),
    "ferry": ("amenity", "ferry_terminal"),
    "hospital": ("amenity", "hospital"),
    "hotel": ("tourism", "hotel"),
    "landmark": ("tourism", "attraction"),
    "market": ("amenity", "marketplace"),
    "museum": ("tourism", "museum"),
    "park": ("leisure", "park"),
    "shopping": ("shop", "mall"),
    "stadium": ("leisure", "stadium"),
    "station": ("railway", "station"),
    "street": ("highway", "residential"),
    "theatre": ("amenity", "theatre"),
    "university": ("amenity", "university"),
    "venue": ("amenity", "conference_centre"),
}
OTHER: Final = ("place", "locality")

Answer = tuple[dict[str, Any], int]


@bp.get("/api")
def search() -> Answer:
    """Search places by name.

    Parameters: `q` (required), `limit`, and `lat` with `lon` to rank near places first.
    """
    words, problem = request.args.get("q", "").strip()[:QUERY_CHARS], _problem()
    if not words:
        return _refused("missing search term 'q'")
    if problem:
        return _refused(problem)
    here = _point()
    near = (here.lat, here.lng) if here else (None, None)
    found = find(words, near, _limit())
    return _collection([_feature_of(place) for place in found])


@bp.get("/reverse")
def reverse() -> Answer:
    """The street nearest to `lat` and `lon`; no feature outside the cities."""
    here, problem = _point(), _problem()
    if problem or here is None:
        return _refused(problem or "missing search term 'lat' and/or 'lon'")
    city, names = city_at(here), around(here)
    if city is None or not names.street:
        return _collection([])
    properties = _properties(names.street, "street", names.area, city)
    return _collection([_feature(city.roads.snap(here), properties)])


def _problem() -> str:
    """What is wrong with `lat`, `lon` or `limit`; "" when nothing is."""
    given = [name for name in ("lat", "lon") if request.args.get(name, "").strip()]
    if given and _point() is None:
        return "lat and lon must both be given, as degrees"
    if _limit() <= 0:
        return "limit must be a whole number above 0"
    return ""


def _point() -> LatLng | None:
    lat, lng = request.args.get("lat", type=float), request.args.get("lon", type=float)
    if lat is None or lng is None or not (math.isfinite(lat) and is_valid(lat, lng)):
        return None
    return LatLng(lat, lng)


def _limit() -> int:
    """The limit, at most MOST; 0 when it is not a whole number above 0."""
    if not request.args.get("limit"):
        return USUAL_LIMIT
    return min(MOST, max(0, request.args.get("limit", 0, type=int)))


@functools.lru_cache(maxsize=512)
def _feature_of(place: Place) -> dict[str, Any]:
    """The feature of a place; finding its street takes a while."""
    city = city_at(place.position) or _nearest(place.position)
    properties = _properties(place.name, place.kind, place.area, city)
    if place.kind != "street":
        properties["street"] = city.roads.nearest_street_name(place.position)
    return _feature(place.position, properties)


def _nearest(here: LatLng) -> City:
    return min(cities(), key=lambda city: math.dist(city.center, here))


def _properties(name: str, kind: str, area: str, city: City) -> dict[str, Any]:
    key, value = TAGS.get(kind, OTHER)
    return {
        "osm_type": "N",
        "osm_id": zlib.crc32(f"{city.slug}:{kind}:{name}".encode()),
        "osm_key": key,
        "osm_value": value,
        "type": "street" if kind == "street" else "house",
        "name": name,
        "district": area,
        "city": city.name,
    }


def _feature(here: LatLng, properties: dict[str, Any]) -> dict[str, Any]:
    place = {"type": "Point", "coordinates": [here.lng, here.lat]}
    return {"type": "Feature", "geometry": place, "properties": properties}


def _collection(features: list[dict[str, Any]]) -> Answer:
    return {"type": "FeatureCollection", "features": features}, 200


def _refused(message: str) -> Answer:
    return {"message": message}, 400
