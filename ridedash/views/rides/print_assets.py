"""A static map and a QR code for print, both as SVG without a script. Pure."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Final

import segno

from ridedash.geo import LatLng

# distance of tiles in px; each is drawn one px larger, so that no hairline shows between two tiles
CELL: Final = 256
CLOSEST: Final = 16  # the largest zoom of a map of a whole way
FURTHEST: Final = 85.0  # the highest latitude of the projection, in degrees


@dataclass(frozen=True)
class MapTile:
    """One picture, and the position of its upper left corner in the map, in px."""

    href: str
    x: float
    y: float


@dataclass(frozen=True)
class StillMap:
    """Tiles of a map of `width` by `height` px, centred on the requested place."""

    width: int
    height: int
    tiles: tuple[MapTile, ...]


def still_map(tiles_url: str, middle: LatLng, zoom: int, width: int, height: int) -> StillMap:
    """The map around a place; there are no tiles beyond the northern and southern edge."""
    count = 2**zoom
    at_x, at_y = (part * count * CELL for part in _projected(middle))
    left = at_x - width / 2
    top = at_y - height / 2
    across = range(math.floor(left / CELL), math.floor((left + width) / CELL) + 1)
    down = range(math.floor(top / CELL), math.floor((top + height) / CELL) + 1)
    tiles = [
        MapTile(
            _address(tiles_url, zoom, x % count, y),
            round(x * CELL - left, 1),
            round(y * CELL - top, 1),
        )
        for y in down
        if 0 <= y < count
        for x in across
    ]
    return StillMap(width, height, tuple(tiles))


@dataclass(frozen=True)
class WayMap:
    """A map of both ends of a way: `start` and `end` are their positions in it, in px."""

    still: StillMap
    start: tuple[float, float]
    end: tuple[float, float]


def way_map(tiles_url: str, start: LatLng, end: LatLng, size: tuple[int, int], rim: int) -> WayMap:
    """The map of `size` px with both ends at least `rim` px from its edges, as large as possible.

    The ends of a way around half the world are shown as they are on the flat map.
    """
    width, height = size
    (from_x, from_y), (to_x, to_y) = _projected(start), _projected(end)
    zoom = CLOSEST
    while zoom > 0 and (
        abs(from_x - to_x) * 2**zoom * CELL > width - 2 * rim
        or abs(from_y - to_y) * 2**zoom * CELL > height - 2 * rim
    ):
        zoom -= 1
    middle_x, middle_y = (from_x + to_x) / 2, (from_y + to_y) / 2
    still = still_map(tiles_url, _placed(middle_x, middle_y), zoom, width, height)

    def shown(x: float, y: float) -> tuple[float, float]:
        px = 2**zoom * CELL
        return (
            round((x - middle_x) * px + width / 2, 1),
            round((y - middle_y) * px + height / 2, 1),
        )

    return WayMap(still, shown(from_x, from_y), shown(to_x, to_y))


def _projected(place: LatLng) -> tuple[float, float]:
    """A place on the flat map (Web Mercator), each part from 0 to 1, from west and north."""
    lat = math.radians(min(max(place.lat, -FURTHEST), FURTHEST))
    return (place.lng + 180) / 360, (1 - math.asinh(math.tan(lat)) / math.pi) / 2


def _placed(x: float, y: float) -> LatLng:
    """The place at a point of the flat map."""
    return LatLng(math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * y)))), x * 360 - 180)


def _address(template: str, z: int, x: int, y: int) -> str:
    filled = {"{z}": str(z), "{x}": str(x), "{y}": str(y), "{s}": "a", "{r}": ""}
    for slot, value in filled.items():
        template = template.replace(slot, value)
    return template


QUIET: Final = 4  # white modules around the code, which readers require


@dataclass(frozen=True)
class QrCode:
    """`path` draws the dark modules on a square of `size` modules, quiet zone included."""

    size: int
    path: str


def qr_code(text: str) -> QrCode:
    """The QR code of a text, with error correction level M."""
    made = segno.make_qr(text, error="m", boost_error=False)
    size = made.symbol_size(border=QUIET)[0]
    rows = enumerate(made.matrix_iter(border=QUIET))
    return QrCode(
        int(size), "".join(_run(x, y, width) for y, row in rows for x, width in _runs(row))
    )


def _run(x: int, y: int, width: int) -> str:
    return f"M{x} {y}h{width}v1h-{width}z"


def _runs(row: Iterable[int]) -> list[tuple[int, int]]:
    """The runs of dark modules in a row of the QR code, as (first column, length)."""
    found = []
    x = 0
    for dark, same in groupby(row):
        width = len(list(same))
        if dark:
            found.append((x, width))
        x += width
    return found
