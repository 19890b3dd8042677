"""Generates the streets of a city from its plan: drawn roads, then local streets between them."""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

from ridedash.sandbox.city.data.names import Signs
from ridedash.sandbox.city.data.plan import CityPlan, Fabric, Km, River, Road, Site
from ridedash.sandbox.city.geometry import XY, Line, area, box, chance, curve, inside, lerp, offset
from ridedash.sandbox.city.grid import SegmentGrid, pieces_inside
from ridedash.sandbox.city.mesh import Edge, Mesh, Street, connected, faces, weave, without_stubs

OVERSHOOT_M = 2.0
"""Local streets run this far past the road at which they end, so that a crossing is found.

The excess is cut off afterwards.
"""

GROUNDS = {
    "park",
    "square",
    "station",
    "cemetery",
    "campus",
    "hospital",
    "stadium",
    "school",
    "airport",
    "golf",
    "forest",
}
"""Kinds of site that no local street crosses."""


def metres(points: Sequence[Km]) -> Line:
    """The kilometres of a plan as metres."""
    return [(x * 1000, y * 1000) for x, y in points]


def grow(plan: CityPlan) -> Mesh:
    """All streets of a plan as one connected graph."""
    skeleton = [_road(road) for road in plan.roads]
    for river in plan.rivers:
        skeleton += _banks(river)
    frame = without_stubs(weave(skeleton), 150, rank=0)
    signs = Signs({street.name for street in skeleton})
    local = list(_fill(plan, faces(frame), signs))
    whole = weave([*(Street(e.name, e.rank, tuple(e.line)) for e in frame.edges), *local])
    whole = _around_sites(plan, _not_across(plan, whole))
    thinned = _thinned(without_stubs(whole, 45))
    return connected(without_stubs(thinned, 100))


def _road(road: Road) -> Street:
    line = metres(road.via)
    if not road.straight:
        line = curve(line, closed=road.closed)
    return Street(road.name, road.rank, tuple(line))


def river_sides(river: River, extra: float = 0.0) -> tuple[Line, Line]:
    """Both bank lines of a river in metres, moved outwards by `extra`."""
    middle = curve(metres(river.via), step=60)
    widths = curve([(float(i), w) for i, w in enumerate(river.widths)], step=0.05)
    half = [
        widths[round(i * (len(widths) - 1) / (len(middle) - 1))][1] / 2 + extra
        for i in range(len(middle))
    ]
    return offset(middle, half), offset(middle, [-h for h in half])


def _banks(river: River) -> Iterator[Street]:
    for name, side in zip((river.left_bank, river.right_bank), river_sides(river, 26), strict=True):
        first, last = (round(f * (len(side) - 1)) for f in river.banks)
        if name:
            yield Street(name, 2, tuple(side[first : last + 1]))


def _fill(plan: CityPlan, rings: list[Line], signs: Signs) -> Iterator[Street]:
    free = list(rings)
    for fabric in plan.fabrics:
        ring = _face_at(free, metres([fabric.at])[0])
        if ring is not None:
            free.remove(ring)
            yield from _fabric_streets(fabric, ring, signs)


def _face_at(rings: list[Line], p: XY) -> Line | None:
    holding = (ring for ring in rings if inside(ring, p))
    return min(holding, key=area, default=None)


def _fabric_streets(fabric: Fabric, ring: Line, signs: Signs) -> Iterator[Street]:
    outline = SegmentGrid(120)
    outline.add_line(ring, closed=True)
    for direction in (0, 1):
        for number, line in _fabric_lines(fabric, ring, direction):
            pieces = [piece for piece in pieces_inside(line, outline) if _long_enough(piece)]
            if pieces:
                name = signs.name(fabric.theme, direction)
                rank = 2 if number % 5 == 0 and direction == 0 else 3
                yield from (Street(name, rank, tuple(_stretched(piece))) for piece in pieces)


def _long_enough(piece: Line) -> bool:
    return math.dist(piece[0], piece[-1]) > 50


def _stretched(line: Line) -> Line:
    a, b = _past(line[1], line[0]), _past(line[-2], line[-1])
    return [a, *line[1:-1], b]


def _past(inner: XY, end: XY) -> XY:
    d = math.dist(inner, end) or 1.0
    return lerp(inner, end, 1 + OVERSHOOT_M / d)


def _fabric_lines(fabric: Fabric, ring: Line, direction: int) -> Iterator[tuple[int, Line]]:
    """The numbered lines of one direction that may touch a ring, not yet cut to it."""
    middle = metres([fabric.hub or fabric.at])[0]
    angle = math.radians(fabric.angle)
    local = [_turned((x - middle[0], y - middle[1]), -angle) for x, y in ring]
    if fabric.hub:
        local = [(math.atan2(y, x) * _HUB_RADIUS_M, math.hypot(x, y)) for x, y in local]
    west, south, east, north = box(local)
    pad = fabric.bend * 2 + 40
    if direction == 0:
        step, low, high, start, end = fabric.across, south, north, west, east
    else:
        step, low, high, start, end = fabric.along, west, east, south, north
    for number in range(math.floor((low - pad) / step), math.ceil((high + pad) / step) + 1):
        wobble = (chance(fabric.at, fabric.theme, direction, number) - 0.5) * 0.34
        at = (number + wobble) * step
        count = max(2, math.ceil((end - start + 2 * pad) / 80))
        along = [start - pad + (end - start + 2 * pad) * i / count for i in range(count + 1)]
        flat = [(s, at) if direction == 0 else (at, s) for s in along]
        yield number, [_placed(fabric, middle, angle, p) for p in flat]


_HUB_RADIUS_M = 1400.0


def _placed(fabric: Fabric, middle: XY, angle: float, p: XY) -> XY:
    u, v = p
    turn = 2 * math.pi / fabric.wave
    phase = fabric.at[0] * 2.3 + fabric.at[1]
    u2 = u + fabric.bend * (math.sin(turn * v + phase) + 0.25 * math.sin(turn * 1.9 * v - phase))
    v2 = v + fabric.bend * (
        math.sin(turn * 0.8 * u + 1.7 * phase) + 0.25 * math.sin(turn * 1.7 * u)
    )
    if fabric.hub:
        theta = u2 / _HUB_RADIUS_M
        u2, v2 = v2 * math.cos(theta), v2 * math.sin(theta)
    x, y = _turned((u2, v2), angle)
    return middle[0] + x, middle[1] + y


def _turned(p: XY, angle: float) -> XY:
    c, s = math.cos(angle), math.sin(angle)
    return p[0] * c - p[1] * s, p[0] * s + p[1] * c


def ground(site: Site) -> Line:
    """The outline of a site in metres."""
    if not site.soft:
        return metres(site.ring)
    return curve(metres(site.ring), closed=True)


def _not_across(plan: CityPlan, mesh: Mesh) -> Mesh:
    """Remove generated streets across rivers, and local streets across railways."""
    rails, rivers = SegmentGrid(), SegmentGrid()
    for number, rail in enumerate(plan.rails):
        rails.add_line(curve(metres(rail)), number * 10_000)
    for number, river in enumerate(plan.rivers):
        left, right = river_sides(river)
        rivers.add_line([*left, *right[::-1]], number * 10_000, closed=True)
    drawn = _drawn(plan)

    def across(edge: Edge) -> bool:
        barriers = []
        if edge.rank > 2:
            barriers.append(rails)
        if edge.name not in drawn:
            barriers.append(rivers)
        return any(
            barrier.cuts(a, b) for barrier in barriers for a, b in itertools.pairwise(edge.line)
        )

    return mesh.without(across)


def _drawn(plan: CityPlan) -> set[str]:
    """The names of the roads in the plan, and of the streets along the banks of rivers."""
    banks = {name for river in plan.rivers for name in (river.left_bank, river.right_bank)}
    return {road.name for road in plan.roads} | banks


def _around_sites(plan: CityPlan, mesh: Mesh) -> Mesh:
    """Remove generated streets that cross a site whose kind is in GROUNDS."""
    drawn, near = _drawn(plan), defaultdict[tuple[int, int], list[Line]](list)
    for ring in (ground(site) for site in plan.sites if site.kind in GROUNDS):
        west, south, east, north = (int(side // _CELL_M) for side in box(ring))
        for cell in itertools.product(range(west, east + 1), range(south, north + 1)):
            near[cell].append(ring)

    def within(p: XY) -> bool:
        return any(
            inside(ring, p) for ring in near.get((int(p[0] // _CELL_M), int(p[1] // _CELL_M)), ())
        )

    def crosses(edge: Edge) -> bool:
        return any(
            within(lerp(a, b, t)) for a, b in itertools.pairwise(edge.line) for t in (0.25, 0.75)
        )

    return mesh.without(lambda edge: edge.name not in drawn and crosses(edge))


_CELL_M = 200.0


def _thinned(mesh: Mesh) -> Mesh:
    """Leave out some local pieces, so that blocks differ; never two pieces at one junction."""
    thinned_at: set[int] = set()
    around = mesh.around()

    def drop(edge: Edge) -> bool:
        if edge.rank < 3 or edge.a in thinned_at or edge.b in thinned_at:
            return False
        if (
            min(len(around[edge.a]), len(around[edge.b])) < 3
            or chance(edge.name, edge.line[0]) > 0.16
        ):
            return False
        thinned_at.update((edge.a, edge.b))
        return True

    return mesh.without(drop)
