"""Routes for map tiles, place search and city outlines, which the ride service does not have."""

import functools
import gzip
import hashlib
import math
import threading
from typing import Any, NamedTuple

from flask import Blueprint, Flask, Response, request

from ridedash.geo import LatLng, is_valid
from ridedash.sandbox.city.city import cities, plans
from ridedash.sandbox.city.gazetteer import around, find
from ridedash.sandbox.tiles.atlas import Atlas
from ridedash.sandbox.tiles.sheet import ZoomTiles
from ridedash.sandbox.tiles.style import css

bp = Blueprint("tiles", __name__)

MIN_ZOOM, MAX_ZOOM = 11, 18
CACHE_S = 86_400
HEADERS = {
    "Content-Type": "image/svg+xml; charset=utf-8",
    "Cache-Control": f"public, max-age={CACHE_S}",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
    "X-Content-Type-Options": "nosniff",
    "Vary": "Accept-Encoding",
}
QUERY_CHARS, MOST_PLACES = 80, 20


class DrawnTile(NamedTuple):
    """A drawn tile, stored compressed, and the ETag of its SVG."""

    packed: bytes
    tag: str


def find_tile(z: int, x: int, y: int, *, dark: bool = False) -> DrawnTile | None:
    """A tile, or None for a zoom outside 11 to 18 and for numbers outside the world."""
    if not MIN_ZOOM <= z <= MAX_ZOOM or not (0 <= x < 2**z and 0 <= y < 2**z):
        return None
    number = next(
        (n for n, box in enumerate(_boxes(z)) if box[0] <= x <= box[2] and box[1] <= y <= box[3]),
        None,
    )
    if number is None:
        return _sea(dark)
    return _drawn(number, z, x, y, dark)


def warm(zooms: tuple[int, ...] = (14, 15, 13, 16, 12)) -> None:
    """Build the cities with all buildings, and prepare the usual zooms of the first city.

    This takes about four seconds of one core; otherwise the first requests would wait for it.
    """
    for zoom in zooms:
        _zoom_tiles(0, zoom)
    for number in range(len(cities())):
        _atlas(number).build()


@functools.lru_cache(maxsize=2048)
def _drawn(number: int, z: int, x: int, y: int, dark: bool) -> DrawnTile:
    return _packed(_zoom_tiles(number, z).tile(x, y, dark=dark))


def _packed(svg: str) -> DrawnTile:
    body = svg.encode()
    tag = hashlib.blake2b(body, digest_size=12).hexdigest()
    return DrawnTile(gzip.compress(body, mtime=0), f'"{tag}"')


_prepare_lock = threading.Lock()


def _zoom_tiles(number: int, z: int) -> ZoomTiles:
    # A page requests many tiles at once: the first prepares the zoom, the others wait for it.
    with _prepare_lock:
        return _prepared(number, z)


@functools.cache
def _prepared(number: int, z: int) -> ZoomTiles:
    return ZoomTiles(_atlas(number), z)


@functools.cache
def _atlas(number: int) -> Atlas:
    roads = cities()[number].roads
    return Atlas(plans()[number], roads.mesh, roads.frame)


@functools.cache
def _boxes(z: int) -> tuple[tuple[int, int, int, int], ...]:
    """For each city the range of tiles that its bounds cover, widened by one tile.

    The range is (west, north, east, south).
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
def _sea(dark: bool) -> DrawnTile:
    return _packed(
        '<svg xmlns="http://www.w3.org/2000/svg" width="257" height="257" viewBox="0 0 257 257">'
        f'<style>{css(MIN_ZOOM, dark=dark)}</style><path class="sea" d="M0 0h257v257h-257z"/></svg>'
    )


@bp.get("/tiles/<int:z>/<int:x>/<int:y>.svg")
@bp.get("/tiles/dark/<int:z>/<int:x>/<int:y>.svg", endpoint="dark_tile", defaults={"dark": True})
def tile(z: int, x: int, y: int, dark: bool = False) -> Response:
    """One tile in light or dark colours, cacheable for a day; 404 when it doesn't exist."""
    found = find_tile(z, x, y, dark=dark)
    if found is None:
        return Response("No such tile.", 404, mimetype="text/plain")
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        response = Response(found.packed, headers={**HEADERS, "Content-Encoding": "gzip"})
    else:
        response = Response(gzip.decompress(found.packed), headers=HEADERS)
    response.headers["ETag"] = found.tag
    if "HTTP_IF_NONE_MATCH" in request.environ:
        response.make_conditional(request)
    return response


@bp.get("/places")
def places() -> tuple[dict[str, Any], int]:
    """Search places by name.

    Parameters: `q` (at most 80 characters), optionally `lat` and `lng` to rank near places first,
    and `limit` (1 to 20, default 8).
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
    """The street, area and hotspot at `lat`, `lng`; "" for each that is unknown."""
    lat, lng = request.args.get("lat", type=float), request.args.get("lng", type=float)
    if lat is None or lng is None or not is_valid(lat, lng):
        return {"error": "lat and lng must be a place on the earth"}, 400
    found = around(LatLng(lat, lng))
    return {"street": found.street, "area": found.area, "place": found.place}, 200


@bp.get("/city.json")
def city_json() -> dict[str, Any]:
    """The service areas of the cities."""
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
    """An application with these routes only, to be mounted beside a dashboard."""
    app = Flask("ridedash.sandbox.tiles.server", static_folder=None)
    app.register_blueprint(bp)
    return app
