"""A city drawn at one zoom: pieces are prepared once for the whole city, and a tile puts together
what touches it.
"""

import itertools

from ridedash.sandbox.city.geometry import XY, Line, simplify
from ridedash.sandbox.tiles.atlas import Atlas
from ridedash.sandbox.tiles.labels import Labels
from ridedash.sandbox.tiles.paper import SHEET, TILE, Drawer, Paper, Tile, clipped, path, tiles_of
from ridedash.sandbox.tiles.style import CASING, GROUND_KINDS, STREETS, css

BLOCKS_FROM, HOUSES_FROM = 14, 16
"""The zooms from which blocks and single buildings are drawn."""

_CLIP_PAD = 300.0


class Sheet:
    """All that a zoom needs. Made once a zoom; a tile is then little more than joining strings."""

    def __init__(self, atlas: Atlas, zoom: int) -> None:
        self.atlas, self.zoom = atlas, zoom
        self.paper = Paper(atlas.frame, zoom)
        self._style = css(zoom)
        self._land = [self._thin(ring) for ring in (atlas.coast, *atlas.quays)]
        self._town = [self._thin(atlas.town)]
        self._quays = [self._thin(ring) for ring in atlas.quays]
        self._waters = [self._thin(ring) for ring in atlas.waters]
        by_kind = {
            kind: [self._thin(r) for k, _, r in atlas.grounds if k == kind] for kind in GROUND_KINDS
        }
        self._grounds = {kind: rings for kind, rings in by_kind.items() if rings}
        self._halls = [self._thin(ring) for kind, _, ring in atlas.grounds if kind == "hall"]
        self._streets = [self._street_drawer(rank) for rank in range(4)]
        self._bridges = [self._bridge_drawer(rank) for rank in range(3)]
        self._rails, self._runways = (
            self._line_drawer(atlas.rails),
            self._line_drawer(atlas.runways),
        )
        self._blocks, self._near_blocks = self._block_drawer()
        self._houses: dict[int, str] = {}
        self._labels = Labels(atlas, self.paper, zoom).drawer

    def _thin(self, line: Line) -> Line:
        return simplify(self.paper.line(line), 2.5)

    def _street_drawer(self, rank: int) -> Drawer:
        drawer, width = Drawer(), STREETS[self.zoom][rank]
        if width:
            for edge in self.atlas.mesh.edges:
                if edge.rank == rank:
                    line = self._thin(edge.line)
                    drawer.put(path(line), line, width * 5 + 20)
        return drawer

    def _bridge_drawer(self, rank: int) -> Drawer:
        drawer = Drawer()
        if self.zoom >= 13 and STREETS[self.zoom][rank]:
            for own, line in self.atlas.bridges:
                if own == rank:
                    drawer.put(path(self.paper.line(line)), self.paper.line(line), 200)
        return drawer

    def _line_drawer(self, lines: list[Line]) -> Drawer:
        drawer = Drawer()
        for line in lines:
            for a, b in itertools.pairwise(self.paper.line(line)):
                drawer.put(path([a, b]), [a, b], 150 + 30 * self.paper.per_metre)
        return drawer

    def _block_drawer(self) -> tuple[Drawer, dict[Tile, list[int]]]:
        drawer, near = Drawer(), dict[Tile, list[int]]()
        if self.zoom >= BLOCKS_FROM:
            for number, block in enumerate(self.atlas.blocks):
                ring = self.paper.line(block)
                drawer.put(path(ring, closed=True), ring)
                for tile in tiles_of(ring, 10):
                    near.setdefault(tile, []).append(number)
        return drawer, near

    def tile(self, x: int, y: int) -> str:
        """The SVG of one tile of the world at this zoom."""
        tile = (x - self.paper.first[0], y - self.paper.first[1])
        left, top = tile[0] * TILE, tile[1] * TILE
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="257" height="257" viewBox="{left} '
            f'{top} {SHEET} {SHEET}">'
            f"<style>{self._style}</style>"
        )
        sea = f'<path class="sea" d="M{left} {top}h{SHEET}v{SHEET}h-{SHEET}z"/>'
        return "".join(
            (head, sea, *self._ground(tile), *self._ways(tile), self._labels.get(tile), "</svg>")
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
            rings: list[list[XY]] = [self.paper.line(house) for house in self.atlas.houses(number)]
            self._houses[number] = "".join(path(ring, closed=True) for ring in rings)
        return self._houses[number]

    def _ways(self, tile: Tile) -> list[str]:
        streets = [drawer.get(tile) for drawer in self._streets]
        drawn = [rank for rank in (3, 2, 1, 0) if streets[rank]]
        parts = [
            _path(
                "run", self._runways.get(tile), f' stroke-width="{45 * self.paper.per_metre:.0f}"'
            )
        ]
        parts.append(_path("mark", self._runways.get(tile)) if self.zoom >= BLOCKS_FROM else "")
        rail = self._rails.get(tile)
        parts += [_path("rail", rail), _path("tie", rail) if self.zoom > 13 else ""]
        for rank, drawer in enumerate(self._bridges):
            wide = (STREETS[self.zoom][rank] + CASING[self.zoom] + 2.4) * 10
            parts.append(
                _path(f"cap c{rank}", drawer.get(tile), f' style="stroke-width:{wide:.0f}"')
            )
        if drawn:
            shared = "".join(_path("", streets[rank], f' id="s{rank}"') for rank in drawn)
            parts.append(f"<defs>{shared}</defs>")
        if CASING[self.zoom]:
            parts += [f'<use class="c{rank}" href="#s{rank}"/>' for rank in drawn]
        return parts + [f'<use class="f{rank}" href="#s{rank}"/>' for rank in drawn]


def _path(kind: str, data: str, more: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<path{named}{more} d="{data}"/>' if data else ""
