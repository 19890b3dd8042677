"""The tiles of a city at one zoom.

Pieces of SVG are prepared once for the whole city; a tile joins the pieces that touch it.
"""

import itertools

from ridedash.sandbox.city.geometry import XY, Line, simplify
from ridedash.sandbox.tiles.atlas import Atlas
from ridedash.sandbox.tiles.canvas import (
    TILE,
    TILE_DRAWN,
    Canvas,
    Tile,
    TileIndex,
    clipped,
    path,
    tiles_of,
)
from ridedash.sandbox.tiles.labels import Labels
from ridedash.sandbox.tiles.style import CASING, GROUND_KINDS, STREETS, css

BLOCKS_FROM, HOUSES_FROM = 14, 16
"""The zooms from which blocks and individual buildings are drawn."""

_CLIP_PAD = 300.0


class ZoomTiles:
    """The prepared pieces of one zoom; a tile then takes little more than joining strings."""

    def __init__(self, atlas: Atlas, zoom: int) -> None:
        self.atlas, self.zoom = atlas, zoom
        self.canvas = Canvas(atlas.frame, zoom)
        self._styles = {dark: css(zoom, dark=dark) for dark in (False, True)}
        self._land = [self._thin(ring) for ring in (atlas.coast, *atlas.quays)]
        self._town = [self._thin(atlas.town)]
        self._quays = [self._thin(ring) for ring in atlas.quays]
        self._waters = [self._thin(ring) for ring in atlas.waters]
        by_kind = {
            kind: [self._thin(r) for k, _, r in atlas.grounds if k == kind] for kind in GROUND_KINDS
        }
        self._grounds = {kind: rings for kind, rings in by_kind.items() if rings}
        self._halls = [self._thin(ring) for kind, _, ring in atlas.grounds if kind == "hall"]
        self._streets = [self._street_index(rank) for rank in range(4)]
        self._bridges = [self._bridge_index(rank) for rank in range(3)]
        self._rails = self._line_index(atlas.rails)
        self._runways = self._line_index(atlas.runways)
        self._blocks, self._near_blocks = self._block_index()
        self._houses: dict[int, str] = {}
        self._labels = Labels(atlas, self.canvas, zoom).index

    def _thin(self, line: Line) -> Line:
        return simplify(self.canvas.line(line), 2.5)

    def _street_index(self, rank: int) -> TileIndex:
        index, width = TileIndex(), STREETS[self.zoom][rank]
        if width:
            for edge in self.atlas.mesh.edges:
                if edge.rank == rank:
                    line = self._thin(edge.line)
                    index.add(path(line), line, width * 5 + 20)
        return index

    def _bridge_index(self, rank: int) -> TileIndex:
        index = TileIndex()
        if self.zoom >= 13 and STREETS[self.zoom][rank]:
            for own, line in self.atlas.bridges:
                if own == rank:
                    index.add(path(self.canvas.line(line)), self.canvas.line(line), 200)
        return index

    def _line_index(self, lines: list[Line]) -> TileIndex:
        index = TileIndex()
        for line in lines:
            for a, b in itertools.pairwise(self.canvas.line(line)):
                index.add(path([a, b]), [a, b], 150 + 30 * self.canvas.per_metre)
        return index

    def _block_index(self) -> tuple[TileIndex, dict[Tile, list[int]]]:
        index, near = TileIndex(), dict[Tile, list[int]]()
        if self.zoom >= BLOCKS_FROM:
            for number, block in enumerate(self.atlas.blocks):
                ring = self.canvas.line(block)
                index.add(path(ring, closed=True), ring)
                for tile in tiles_of(ring, 10):
                    near.setdefault(tile, []).append(number)
        return index, near

    def tile(self, x: int, y: int, *, dark: bool = False) -> str:
        """The SVG of one tile, by its numbers in the world at this zoom, light or dark."""
        tile = (x - self.canvas.first[0], y - self.canvas.first[1])
        left, top = tile[0] * TILE, tile[1] * TILE
        head = (
            '<svg xmlns="http://www.w3.org/2000/svg" width="257" height="257"'
            f' viewBox="{left} {top} {TILE_DRAWN} {TILE_DRAWN}">'
            f"<style>{self._styles[dark]}</style>"
        )
        sea = f'<path class="sea" d="M{left} {top}h{TILE_DRAWN}v{TILE_DRAWN}h-{TILE_DRAWN}z"/>'
        return "".join(
            (
                head,
                sea,
                *self._ground(tile),
                *self._streets_and_rails(tile),
                self._labels.get(tile),
                "</svg>",
            )
        )

    def _ground(self, tile: Tile) -> list[str]:
        land = self._clipped(self._land, tile)
        if not land:
            return []
        parts = [
            f'<clipPath id="l"><path d="{land}"/></clipPath>',
            _path("shore", land),
            _path("heath", land),
        ]
        parts += ['<g clip-path="url(#l)">', _path("land", self._clipped(self._town, tile))]
        parts += [_path(kind, self._clipped(rings, tile)) for kind, rings in self._grounds.items()]
        parts += [
            "</g>",
            _path("industrial", self._clipped(self._quays, tile)),
            _path("blk", self._blocks.get(tile)),
        ]
        if self.zoom >= HOUSES_FROM:
            parts.append(
                _path("bld", "".join(self._house(n) for n in self._near_blocks.get(tile, ())))
            )
        if self.zoom >= BLOCKS_FROM:
            parts.append(_path("hall", self._clipped(self._halls, tile)))
        parts.append(_path("sea", self._clipped(self._waters, tile)))
        return parts

    def _clipped(self, rings: list[Line], tile: Tile) -> str:
        found = (clipped(ring, tile, _CLIP_PAD) for ring in rings)
        return "".join(path(ring, closed=True) for ring in found if len(ring) > 2)

    def _house(self, number: int) -> str:
        if number not in self._houses:
            rings: list[list[XY]] = [self.canvas.line(house) for house in self.atlas.houses(number)]
            self._houses[number] = "".join(path(ring, closed=True) for ring in rings)
        return self._houses[number]

    def _streets_and_rails(self, tile: Tile) -> list[str]:
        streets = [index.get(tile) for index in self._streets]
        drawn = [rank for rank in (3, 2, 1, 0) if streets[rank]]
        parts = [
            _path(
                "run", self._runways.get(tile), f' stroke-width="{45 * self.canvas.per_metre:.0f}"'
            )
        ]
        parts.append(_path("mark", self._runways.get(tile)) if self.zoom >= BLOCKS_FROM else "")
        rail = self._rails.get(tile)
        parts += [_path("rail", rail), _path("tie", rail) if self.zoom > 13 else ""]
        for rank, index in enumerate(self._bridges):
            wide = (STREETS[self.zoom][rank] + CASING[self.zoom] + 2.4) * 10
            parts.append(
                _path(f"cap c{rank}", index.get(tile), f' style="stroke-width:{wide:.0f}"')
            )
        if drawn:
            shared = "".join(_path("", streets[rank], f' id="s{rank}"') for rank in drawn)
            parts.append(f"<defs>{shared}</defs>")
        if CASING[self.zoom]:
            parts += [f'<use class="c{rank}" href="#s{rank}"/>' for rank in drawn]
        return parts + [f'<use class="f{rank}" href="#s{rank}"/>' for rank in drawn]


def _path(kind: str, data: str, more: str = "") -> str:
    if not data:
        return ""
    named = f' class="{kind}"' if kind else ""
    return f'<path{named}{more} d="{data}"/>'
