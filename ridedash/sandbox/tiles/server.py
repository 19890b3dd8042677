"""The cities as SVG map tiles, their places to search and their outlines: beside the interface, for
who draws maps.
"""

import functools
import hashlib
import math
import threading
from typing import Any

from flask import Blueprint, Flask, Response, request

from ridedash.geo import LatLng, is_valid
from ridedash.sandbox.city.city import cities, plans
from ridedash.sandbox.city.gazetteer import around, find
from ridedash.sandbox.tiles.atlas import Atlas
from ridedash.sandbox.tiles.sheet import Sheet
from ridedash.sandbox.tiles.style import css

bp = Blueprint("tiles", __name__)

MIN_ZOOM, MAX_ZOOM = 11, 18
CACHE_S = 86_400
HEADERS = {
    "Content-Type": "image/svg+xml; charset=utf-8",
    "Cache-Control": f"public, max-age={CACHE_S}",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
    "X-Content-Type-Options": "nosniff",
}
QUERY_CHARS, MOST_PLACES = 80, 20


def tile_svg(z: int, x: int, y: int) -> bytes | None:
    """A tile as SVG, or None when no such tile exists (zoom outside 11 to 18, or off the world)."""
    if not MIN_ZOOM <= z <= MAX_ZOOM or not (0 <= x < 2**z and 0 <= y < 2**z):
        return None
    number = next(
        (n for n, box in enumerate(_boxes(z)) if box[0] <= x <= box[2] and box[1] <= y <= box[3]),
        None,
    )
    return _sea() if number is None else _drawn(number, z, x, y)


def warm(zooms: tuple[int, ...] = (14, 15, 13, 16, 12)) -> None:
    """Build the cities with all their houses, and prepare the first one's usual zooms, so that no
    visitor waits.

    Takes about four seconds of one core.
    """
    for zoom in zooms:
        _sheet(0, zoom)
    for number in range(len(cities())):
        _atlas(number).build()


@functools.lru_cache(maxsize=2048)
def _drawn(number: int, z: int, x: int, y: int) -> bytes:
    return _sheet(number, z).tile(x, y).encode()


_drawing = threading.Lock()


def _sheet(number: int, z: int) -> Sheet:
    # a page asks for many tiles at once; the first prepares the zoom, the others wait for it
    with _drawing:
        return _prepared(number, z)


@functools.cache
def _prepared(number: int, z: int) -> Sheet:
    return Sheet(_atlas(number), z)


@functools.cache
def _atlas(number: int) -> Atlas:
    roads = cities()[number].roads
    return Atlas(plans()[number], roads.mesh, roads.frame)


@functools.cache
def _boxes(z: int) -> tuple[tuple[int, int, int, int], ...]:
    """For each city the tiles that its bounds cover: west, north, east, south, with one tile to
    spare.
    """
    found = []
    for city in cities():
        (south, west), (north, east) = city.bounds
        left, top = _tile_at(z, north, west)
        right, bottom = _tile_at(z, south, east)
        found.append((left - 1, top - 1, right + 1, bottom + 1))
    return tuple(found)


def _tile_at(z: int, lat: float, lng: float) -> tuple[int, int]:
    across = (lng + 180) / 360
    down = 0.5 - math.asinh(math.tan(math.radians(lat))) / (2 * math.pi)
    return int(across * 2**z), int(down * 2**z)


@functools.cache
def _sea() -> bytes:
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="257" height="257" viewBox="0 0 257 257">'
        f'<style>{css(MIN_ZOOM)}</style><path class="sea" d="M0 0h257v257h-257z"/></svg>'
    ).encode()


@bp.get("/tiles/<int:z>/<int:x>/<int:y>.svg")
def tile(z: int, x: int, y: int) -> Response:
    """One tile, cacheable for a day; 404 when there is none."""
    body = tile_svg(z, x, y)
    if body is None:
        return Response("No such tile.", 404, mimetype="text/plain")
    response = Response(body, headers=HEADERS)
    response.headers["ETag"] = _tag(body)
    if "HTTP_IF_NONE_MATCH" in request.environ:
        response.make_conditional(request)
    return response


@functools.lru_cache(maxsize=2048)
def _tag(body: bytes) -> str:
    return f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'


@bp.get("/places")
def places() -> tuple[dict[str, Any], int]:
    """Places by name: `q` (at most 80 characters), optionally nearest to `lat`, `lng`; `limit` 1 to
    20, 8 if absent.
    """
    query = request.args.get("q", "")
    limit = request.args.get("limit", 8, type=int)
    near = request.args.get("lat", type=float), request.args.get("lng", type=float)
    if len(query) > QUERY_CHARS or not 1 <= limit <= MOST_PLACES:
        return {"error": "q takes at most 80 characters, limit 1 to 20"}, 400
    if near[0] is not None and near[1] is not None and not is_valid(near[0], near[1]):
        return {"error": "lat or lng is out of range"}, 400
    found = find(query, near, limit)
    return {
        "places": [
            {
                "id": p.id,
                "name": p.name,
                "kind": p.kind,
                "area": p.area,
                "lat": p.position.lat,
                "lng": p.position.lng,
            }
            for p in found
        ]
    }, 200


@bp.get("/places/near")
def places_near() -> tuple[dict[str, Any], int]:
    """What is around `lat`, `lng`: street, area, and the hotspot that it lies in; "" for what is
    not known there.
    """
    lat, lng = request.args.get("lat", type=float), request.args.get("lng", type=float)
    if lat is None or lng is None or not is_valid(lat, lng):
        return {"error": "lat and lng must be a place on the earth"}, 400
    found = around(LatLng(lat, lng))
    return {"street": found.street, "area": found.area, "place": found.place}, 200


@bp.get("/city.json")
def city_json() -> dict[str, Any]:
    """The cities' service areas."""
    return {
        "cities": [
            {
                "slug": city.slug,
                "name": city.name,
                "currency": city.currency,
                "timezone": city.timezone,
                "center": list(city.center),
                "zoom": 14,
                "boundary": [list(p) for p in city.boundary],
                "bounds": [list(p) for p in city.bounds],
            }
            for city in cities()
        ]
    }


def create_tiles_app() -> Flask:
    """An app with nothing but this, to be mounted beside a dashboard."""
    app = Flask("ridedash.sandbox.tiles.server", static_folder=None)
    app.register_blueprint(bp)
    return app
