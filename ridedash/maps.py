"""The folium map of a page: base layer, service areas, a hotspot's boundary and pickup points.

Only coordinates and constants enter a folium object: branca compiles rendered text as a Jinja
template again, so any text from the service or from a user would run as code. What changes while
the page is open, and every word, is drawn by static/js/shared/map.js. This is the only module that
makes Markup.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Protocol

from markupsafe import Markup

from ridedash.geo import LatLng, is_valid

Ring = tuple[LatLng, ...]

DEFAULT_ZOOM: Final = 15
MIN_ZOOM: Final = 10
SANDBOX_MIN_ZOOM: Final = 11  # the sandbox draws no tiles from further away
MAX_ZOOM: Final = 18
SANDBOX_NAMES_FROM: Final = 15  # from this zoom on the tiles name hotels and hospitals
NAMES_FROM: Final = 17  # as OpenStreetMap's own style does
AREA_STYLE: Final[dict[str, Any]] = {
    "color": "#1d4ed8",
    "weight": 1.5,
    "opacity": 0.55,
    "dash_array": "2 6",
    "fill": False,
}
ZONE_STYLE: Final[dict[str, Any]] = {
    "color": "#1d4ed8",
    "weight": 2,
    "dash_array": "6 5",
    "fill": True,
    "fill_opacity": 0.07,
}
POINT_STYLE: Final[dict[str, Any]] = {
    "color": "#1d4ed8",
    "weight": 2,
    "radius": 9,
    "fill": True,
    "fill_opacity": 0.25,
}

# A placeholder in the cached script for the page's own center and zoom; no map is centred there.
_NOWHERE: Final = (0.123456789, 0.987654321)
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,40}")
_VARIABLE: Final = re.compile(r"\bvar ([a-z_]+[a-z0-9_]*) =")
_TILES: Final = re.compile(
    r"(https?://[A-Za-z0-9.\-\[\]:]+)?/(?:[A-Za-z0-9_.~/?=&%@+,:-]|\{[zxysr]\})*"
)


# Tiles of the sandbox, through this host or on this machine: only these have a dark version.
_SANDBOX_TILES: Final = re.compile(
    r"((?:https?://(?:127\.0\.0\.1|localhost|\[::1\])(?::[0-9]+)?)?/tiles)(/\{z\}/\{x\}/\{y\}\.svg)"
)


class MapSettings(Protocol):
    """The two settings that a map needs; ridedash.config.Settings has them."""

    @property
    def tiles_url(self) -> str: ...
    @property
    def tiles_attribution(self) -> str: ...


@dataclass(frozen=True)
class MapParts:
    """A rendered map, for templates/booking/_map.html.

    `name` is the global that holds the Leaflet map (for `data-map`), and `html` its element.
    `script` is the code that makes the map; the page puts it into a function, to be called when
    Leaflet is loaded, in a script element with the page's nonce. `zone` is the global of the
    hotspot's layer, which map.js takes over, or None. `tiles` is the global of the base layer.
    `by_day` and `by_night` are the addresses of its tiles for light and dark pages; `by_night` is
    "" when there are no dark tiles. `credit` is the attribution of the tiles, as text. The tiles
    themselves name a property from the zoom `names_from` on.
    """

    name: str
    html: Markup
    script: Markup
    credit: str
    zone: str | None
    tiles: str
    by_day: str
    by_night: str
    names_from: int


@dataclass(frozen=True)
class Shapes:
    """Geometry on a map: outlines of service areas, and a hotspot's boundary and pickup points."""

    areas: Sequence[Sequence[LatLng]] = ()
    boundary: Sequence[LatLng] = ()
    points: Sequence[LatLng] = ()


NO_SHAPES: Final = Shapes()


def map_parts(
    settings: MapSettings,
    *,
    center: LatLng,
    zoom: int = DEFAULT_ZOOM,
    map_id: str = "map",
    shapes: Shapes = NO_SHAPES,
) -> MapParts:
    """The map of a page, centred at `center` (degrees) at a Leaflet `zoom`.

    The slow part is rendered once for each geometry and cached. Raises ValueError for an unusable
    map id, center or tile URL.
    """
    if not is_valid(*center):
        raise ValueError("the center of a map must be a place on the earth")
    html, before, after, zone = _frame(
        settings.tiles_url,
        map_id,
        _frozen(shapes.areas),
        tuple(map(tuple, shapes.boundary)),
        tuple(map(tuple, shapes.points)),
    )
    view = f'{json.dumps([float(center.lat), float(center.lng)])},"zoom": {int(zoom)},'
    return MapParts(
        f"map_{map_id}",
        Markup(html),  # noqa: S704
        Markup(before + view + after),  # noqa: S704
        settings.tiles_attribution,
        zone,
        f"tile_layer_tiles_{map_id}",
        settings.tiles_url,
        tiles_by_night(settings.tiles_url),
        SANDBOX_NAMES_FROM if _SANDBOX_TILES.fullmatch(settings.tiles_url) else NAMES_FROM,
    )


def tiles_by_night(by_day: str) -> str:
    """The address of the sandbox's dark tiles; "" for other tiles, which map.css inverts."""
    own = _SANDBOX_TILES.fullmatch(by_day)
    return f"{own[1]}/dark{own[2]}" if own else ""


def _frozen(rings: Sequence[Sequence[LatLng]]) -> tuple[tuple[tuple[float, ...], ...], ...]:
    return tuple(tuple(map(tuple, ring)) for ring in rings)


@lru_cache(maxsize=64)
def _frame(
    tiles_url: str, map_id: str, areas: Any, boundary: Any, points: Any
) -> tuple[str, str, str, str | None]:
    """The element, the script before and after the view's values, and the zone layer's name."""
    import folium  # this import takes half a second with numpy; a process without maps skips it

    frame = _base(tiles_url, map_id)
    for ring in areas:
        folium.Polygon(_numbers(ring), **AREA_STYLE).add_to(frame)
    zone = _zone(frame, map_id, boundary, points)
    root = frame.get_root()
    root.render()
    script = root.script.render().replace("</", "<\\/")
    # the variables become globals, so that map.js finds them by name
    script = _VARIABLE.sub(r"window.\1 =", script)
    script = re.sub(r"\s*\n\s*", "\n", script)
    if by_night := tiles_by_night(tiles_url):
        dark = 'matchMedia("(prefers-color-scheme: dark)").matches'
        by_day = json.dumps(tiles_url)
        script = script.replace(by_day, f"{dark} ? {json.dumps(by_night)} : {by_day}", 1)
    before, after = script.split(f"{json.dumps(list(_NOWHERE))},", 1)
    return root.html.render().strip(), before, after, zone


def _base(tiles_url: str, map_id: str) -> Any:
    """folium's Map with its base layer, without files from other hosts: Leaflet is served by us."""
    import folium
    import xyzservices

    if not _NAME.fullmatch(map_id):
        raise ValueError("a map's id is lower-case letters, digits and underscores")
    if not _TILES.fullmatch(tiles_url):
        raise ValueError("the tile URL is not one that can be put into a page: RIDEDASH_TILES_URL")
    farthest = SANDBOX_MIN_ZOOM if _SANDBOX_TILES.fullmatch(tiles_url) else MIN_ZOOM
    # without a zoom, which is inserted with the center
    options: dict[str, Any] = {
        "zoom_start": None,
        "attributionControl": False,
        "minZoom": farthest,
        "maxZoom": MAX_ZOOM,
    }
    frame = folium.Map(location=_NOWHERE, tiles=None, zoom_control="bottomright", **options)
    frame.default_js = []
    frame.default_css = []
    frame._id = map_id
    provider = xyzservices.TileProvider(
        name="base", url=tiles_url, attribution="tiles", html_attribution="tiles"
    )
    # a host of tiles may ask who shows them: it gets the origin alone, also from a guest's link,
    # whose path is a secret (docs/security.md 6)
    names: dict[str, Any] = {} if tiles_url.startswith("/") else {"referrer_policy": "origin"}
    layer = folium.TileLayer(provider, min_zoom=farthest, max_zoom=MAX_ZOOM, control=False, **names)
    layer._id = f"tiles_{map_id}"  # not random: every process renders the same page
    layer.add_to(frame)
    return frame


def _zone(frame: Any, map_id: str, boundary: Any, points: Any) -> str | None:
    if not boundary and not points:
        return None
    import folium

    group = folium.FeatureGroup(control=False)
    group._id = f"zone_{map_id}"
    if boundary:
        folium.Polygon(_numbers(boundary), **ZONE_STYLE).add_to(group)
    for point in _numbers(points):
        folium.CircleMarker(point, **POINT_STYLE).add_to(group)
    group.add_to(frame)
    return str(group.get_name())


def _numbers(ring: Any) -> list[list[float]]:
    """Coordinates as plain floats, so that nothing but numbers can reach a template."""
    return [[float(lat), float(lng)] for lat, lng in ring if is_valid(lat, lng)]
