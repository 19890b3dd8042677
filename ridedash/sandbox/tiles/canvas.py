"""Conversion of metres to pixels of a zoom, and of points to SVG path data.

Coordinates on the canvas are tenths of a pixel.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from ridedash.geo import EARTH_RADIUS_M
from ridedash.sandbox.city.geometry import XY, Frame, box

TILE = 2560
"""The side of a tile in tenths of a pixel."""

TILE_DRAWN = 2570
"""The side of the area that a tile draws: one pixel more than the tile.

Without that pixel a thin gap shows between tiles at a display scale of 125 %.
"""

Tile = tuple[int, int]


class Canvas:
    """Web Mercator at one zoom, relative to the corner of the tile with the frame's origin."""

    def __init__(self, frame: Frame, zoom: int) -> None:
        size = 2560.0 * 2**zoom
        lat = math.radians(frame.origin.lat)
        across = (frame.origin.lng + 180) / 360 * size
        down = size * (0.5 - math.asinh(math.tan(lat)) / (2 * math.pi))
        self.first: Tile = (int(across // TILE), int(down // TILE))
        self._x, self._y = across % TILE, down % TILE
        self.per_metre = size / (2 * math.pi * EARTH_RADIUS_M * math.cos(lat))
        # Mercator stretches towards the pole. This second-order term makes the projection exact to
        # a centimetre within a city.
        self._bend = math.tan(lat) / (2 * EARTH_RADIUS_M)

    def at(self, p: XY) -> XY:
        """A point in tenths of a pixel."""
        x, y = p
        return self._x + x * self.per_metre, self._y - (y + y * y * self._bend) * self.per_metre

    def line(self, line: Iterable[XY]) -> list[XY]:
        """A line or ring in tenths of a pixel."""
        return [self.at(p) for p in line]


def path(points: Sequence[XY], *, closed: bool = False) -> str:
    """SVG path data in integers, relative after the first point; "" when all points coincide."""
    x, y = round(points[0][0]), round(points[0][1])
    parts = [f"M{x} {y}l"]
    for p in points[1:]:
        dx, dy = round(p[0]) - x, round(p[1]) - y
        if dx or dy:
            parts.append(f"{dx}{dy}" if dy < 0 else f"{dx} {dy}")
            x, y = x + dx, y + dy
    if len(parts) == 1:
        return ""
    return parts[0] + " ".join(parts[1:]) + ("z" if closed else "")


def tiles_of(points: Iterable[XY], pad: float = 0.0) -> Iterator[Tile]:
    """The tiles that the bounding box of points, widened by `pad`, touches.

    Tiles are numbered from the first one of the canvas.
    """
    west, north, east, south = box(points)
    for x in range(int((west - pad - 10) // TILE), int((east + pad) // TILE) + 1):
        for y in range(int((north - pad - 10) // TILE), int((south + pad) // TILE) + 1):
            yield x, y


class TileIndex:
    """Pieces of SVG by the tiles that they touch."""

    def __init__(self) -> None:
        self._by_tile: dict[Tile, list[str]] = defaultdict(list)

    def add(self, piece: str, points: Iterable[XY], pad: float = 0.0) -> None:
        """Add a piece to every tile that its points, widened by `pad`, touch."""
        if piece:
            for tile in tiles_of(points, pad):
                self._by_tile[tile].append(piece)

    def get(self, tile: Tile) -> str:
        """All pieces on a tile, in the order in which they were added."""
        return "".join(self._by_tile.get(tile, ()))


def clipped(ring: Sequence[XY], tile: Tile, pad: float) -> list[XY]:
    """The part of a ring on a tile widened by `pad`, so that strokes at the cut are invisible."""
    x, y = tile[0] * TILE, tile[1] * TILE
    points = list(ring)
    for axis, limit, sign in (
        (0, x - pad, 1),
        (0, x + TILE_DRAWN + pad, -1),
        (1, y - pad, 1),
        (1, y + TILE_DRAWN + pad, -1),
    ):
        points = _cut(points, axis, limit, sign)
        if not points:
            break
    return points


def _cut(points: list[XY], axis: int, limit: float, sign: int) -> list[XY]:
    inside: list[XY] = []
    before = points[-1]
    before_in = (before[axis] - limit) * sign >= 0
    for p in points:
        here_in = (p[axis] - limit) * sign >= 0
        if here_in != before_in:
            t = (limit - before[axis]) / (p[axis] - before[axis])
            inside.append((before[0] + (p[0] - before[0]) * t, before[1] + (p[1] - before[1]) * t))
        if here_in:
            inside.append(p)
        before, before_in = p, here_in
    return inside
