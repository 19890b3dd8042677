"""The map objects of a city in metres: land, water, sites, blocks, streets, bridges, rails."""

import functools
import itertools
from collections import defaultdict
from collections.abc import Iterator

from ridedash.sandbox.city.data.plan import CityPlan, Site
from ridedash.sandbox.city.geometry import (
    XY,
    Frame,
    Line,
    area,
    box,
    centroid,
    curve,
    inside,
    length,
    span,
)
from ridedash.sandbox.city.grid import SegmentGrid, pieces_inside
from ridedash.sandbox.city.mesh import Mesh, faces, outline
from ridedash.sandbox.city.streets import GROUNDS, ground, metres, river_sides
from ridedash.sandbox.tiles.blocks import buildings, inset

SETBACK_M = 10.0
"""The distance from the middle of a street to the buildings."""

GREEN = {"green", "park", "forest", "golf", "cemetery", "beach"}


class Atlas:
    """The map objects of one city. The costly parts are built on first use."""

    def __init__(self, plan: CityPlan, mesh: Mesh, frame: Frame) -> None:
        self.plan, self.mesh, self.frame = plan, mesh, frame
        self.coast = curve(metres(plan.coast), closed=True)
        self.quays = [metres(quay) for quay in plan.quays]
        self.waters = [curve(metres(lake.ring), closed=True) for lake in plan.lakes]
        self.waters += [left + right[::-1] for left, right in map(river_sides, plan.rivers)]
        # Overlapping rings fill as one area only if all run in the same direction.
        self.waters = [ring if area(ring) > 0 else ring[::-1] for ring in self.waters]
        self.rivers = [(river.name, curve(metres(river.via), step=60)) for river in plan.rivers]
        self.faces, self.town = faces(mesh), outline(mesh)
        self.grounds = [(site.kind, site.name, self._settled(site)) for site in plan.sites]
        self.rails = [curve(metres(rail)) for rail in plan.rails]
        self.runways = [metres(runway) for runway in plan.runways]
        self._houses: dict[int, list[Line]] = {}

    def _settled(self, site: Site) -> Line:
        """The outline of a site: the streets that closely enclose it, or else that of the plan."""
        drawn = ground(site)
        if site.soft or site.kind not in GROUNDS:
            return drawn
        middle = centroid(drawn)
        face = next((ring for ring in self.faces if inside(ring, middle)), None)
        if face is None or area(face) >= 5.0 * abs(area(drawn)):
            return drawn
        return inset(face, 5.0) or drawn

    @functools.cached_property
    def chains(self) -> list[tuple[str, int, Line]]:
        """Streets as long lines (name, rank, line): edges of one name joined end to end."""
        by_name: dict[tuple[str, int], list[Line]] = defaultdict(list)
        for edge in self.mesh.edges:
            by_name[edge.name, edge.rank].append(edge.line)
        return [
            (name, rank, line)
            for (name, rank), lines in by_name.items()
            for line in _chained(lines)
        ]

    @functools.cached_property
    def bridges(self) -> list[tuple[int, Line]]:
        """The parts of streets over water (rank, line), without local streets."""
        found = []
        for rank, line in ((edge.rank, edge.line) for edge in self.mesh.edges if edge.rank < 3):
            found += [(rank, piece) for piece in self.over_water(line)]
        return found

    def over_water(self, line: Line) -> list[Line]:
        """The parts of a line that lie in a river, a lake or the sea."""
        found = []
        for ring, banks in self._rivers_outlined:
            found += [
                p
                for p in pieces_inside(line, banks, starts_inside=inside(ring, line[0]))
                if len(p) > 1
            ]
        coast, shore = self._coast_outlined
        if _crosses(line, shore):
            found += pieces_inside(line, shore, starts_inside=not inside(coast, line[0]))
        return [piece for piece in found if length(piece) > 2]

    @functools.cached_property
    def _rivers_outlined(self) -> list[tuple[Line, SegmentGrid]]:
        return [(ring, _outlined(ring)) for ring in self.waters]

    @functools.cached_property
    def _coast_outlined(self) -> tuple[Line, SegmentGrid]:
        return self.coast, _outlined(self.coast)

    @functools.cached_property
    def blocks(self) -> list[Line]:
        """Blocks with buildings, set back from their streets; not sites, water or open country."""
        return [
            block for ring in self.faces if area(ring) < 120_000 and (block := self._built(ring))
        ]

    def _built(self, ring: Line) -> Line:
        middle = centroid(ring)
        taken = any(
            kind in GROUNDS | GREEN and inside(shape, middle) for kind, _, shape in self.grounds
        )
        if taken or any(inside(water, middle) for water in self.waters):
            return []
        block = inset(ring, SETBACK_M)
        if not block or area(block) <= 250:
            return []
        return block

    def houses(self, number: int) -> list[Line]:
        """The buildings of a block, built once."""
        if number not in self._houses:
            block = self.blocks[number]
            found = buildings(block, _lot_size(block))
            west, south, east, north = box(block)
            if self._rail_grid.near((west, south), (east, north)):
                found = self._clear_of_rails(found)
            self._houses[number] = found
        return self._houses[number]

    def build(self) -> None:
        """Build the buildings of every block now."""
        for number in range(len(self.blocks)):
            self.houses(number)

    def _clear_of_rails(self, found: list[Line]) -> list[Line]:
        return [
            house
            for house in found
            if not any(self._rail_grid.cuts(a, b) for a, b in _sides(house))
        ]

    @functools.cached_property
    def _rail_grid(self) -> SegmentGrid:
        grid = SegmentGrid()
        for number, rail in enumerate(self.rails):
            for metres_aside in (-7.0, 7.0):
                grid.add_line(
                    [(x + metres_aside, y + metres_aside) for x, y in rail], number * 10_000
                )
        return grid


def _outlined(ring: Line) -> SegmentGrid:
    grid = SegmentGrid()
    grid.add_line(ring, closed=True)
    return grid


def _crosses(line: Line, outline: SegmentGrid) -> bool:
    return any(outline.cuts(a, b) for a, b in itertools.pairwise(line))


def _sides(ring: Line) -> Iterator[tuple[XY, XY]]:
    return zip(ring, [*ring[1:], ring[0]], strict=True)


def _lot_size(block: Line) -> float:
    """The area of a lot in m²: small in the old centre, larger outside."""
    return min(1000.0, 300.0 + span(centroid(block), (0.0, -900.0)) * 0.16)


def _chained(lines: list[Line]) -> Iterator[Line]:
    """Lines joined where two ends meet."""
    ends: dict[XY, list[int]] = defaultdict(list)
    for number, line in enumerate(lines):
        ends[line[0]].append(number)
        ends[line[-1]].append(number)
    used: set[int] = set()
    for number in sorted(
        range(len(lines)), key=lambda n: min(len(ends[lines[n][0]]), len(ends[lines[n][-1]]))
    ):
        if number not in used:
            used.add(number)
            forward = _followed(lines, ends, used, lines[number])
            yield _followed(lines, ends, used, forward[::-1])


def _followed(lines: list[Line], ends: dict[XY, list[int]], used: set[int], line: Line) -> Line:
    line = list(line)
    while True:
        step = next((n for n in ends[line[-1]] if n not in used), None)
        if step is None:
            return line
        used.add(step)
        more = lines[step]
        line += more[1:] if more[0] == line[-1] else more[-2::-1]
