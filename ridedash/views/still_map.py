"""A map that does not move, of tiles laid side by side in one SVG: it prints, and needs no script. Pure."""

import math
from dataclasses import dataclass
from typing import Final

from ridedash.geo import LatLng

CELL: Final = 256  # px of a tile's place; a tile is drawn one px wider, so that no hairline shows between two
FURTHEST: Final = 85.0  # degrees of latitude that the projection knows


@dataclass(frozen=True)
class Tile:
    """One picture and the place of its upper left corner in the map, px."""

    href: str
    x: float
    y: float


@dataclass(frozen=True)
class StillMap:
    """Tiles of a map of `width` by `height` px whose middle is the place looked at."""

    width: int
    height: int
    tiles: tuple[Tile, ...]


def still_map(tiles_url: str, middle: LatLng, zoom: int, width: int, height: int) -> StillMap:
    """The map around a place, in degrees WGS84; tiles beyond the edge of the world are left out."""
    count = 2**zoom
    lat = math.radians(min(max(middle.lat, -FURTHEST), FURTHEST))
    at_x = (middle.lng + 180) / 360 * count * CELL
    at_y = (1 - math.asinh(math.tan(lat)) / math.pi) / 2 * count * CELL
    left, top = at_x - width / 2, at_y - height / 2
    across = range(math.floor(left / CELL), math.floor((left + width) / CELL) + 1)
    down = range(math.floor(top / CELL), math.floor((top + height) / CELL) + 1)
    tiles = [
        Tile(_address(tiles_url, zoom, x % count, y), round(x * CELL - left, 1), round(y * CELL - top, 1))
        for y in down
        if 0 <= y < count
        for x in across
    ]
    return StillMap(width, height, tuple(tiles))


def _address(template: str, z: int, x: int, y: int) -> str:
    filled = {"{z}": str(z), "{x}": str(x), "{y}": str(y), "{s}": "a", "{r}": ""}
    for slot, value in filled.items():
        template = template.replace(slot, value)
    return template
