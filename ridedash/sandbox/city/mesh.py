"""The street graph: streets split where they cross, joined where they nearly meet; its faces."""

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ridedash.sandbox.city.geometry import XY, Line, area, crossing, length, lerp, span
from ridedash.sandbox.city.grid import SegmentGrid

JOIN_M = 13.0
"""Crossings that are joined by an edge of at most this length become one junction."""
SHORTEST_M = 0.05
"""Pieces of a street shorter than this are dropped."""
SMALLEST_FACE_M2 = 200
"""Areas between streets that are not larger than this are no faces."""


@dataclass(frozen=True, slots=True)
class Street:
    """A drawn street. `rank`: 0 trunk road, 1 main road, 2 connecting street, 3 local street."""

    name: str
    rank: int
    line: tuple[XY, ...]


@dataclass(slots=True)
class Edge:
    """A street between two junctions `a` and `b` (node numbers); `line` runs from a to b."""

    a: int
    b: int
    line: Line
    name: str
    rank: int


@dataclass(slots=True)
class Mesh:
    """Junctions and the edges between them."""

    nodes: list[XY] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)

    def around(self) -> dict[int, list[int]]:
        """For each node, the numbers of the edges that end there."""
        found: dict[int, list[int]] = defaultdict(list)
        for number, edge in enumerate(self.edges):
            found[edge.a].append(number)
            found[edge.b].append(number)
        return found

    def without(self, drop: Callable[[Edge], bool]) -> "Mesh":
        """The same junctions without some edges."""
        return Mesh(self.nodes, [edge for edge in self.edges if not drop(edge)])


def weave(streets: Iterable[Street]) -> Mesh:
    """One graph of all streets, split at their crossings."""
    streets = list(streets)
    cuts = _all_cuts(streets)
    mesh = Mesh()
    numbers: dict[XY, int] = {}
    for s, street in enumerate(streets):
        for line in _split(street.line, cuts.get(s, {})):
            if length(line) > SHORTEST_M:
                a, b = _node(mesh, numbers, line[0]), _node(mesh, numbers, line[-1])
                mesh.edges.append(Edge(a, b, line, street.name, street.rank))
    return _joined(mesh)


def _node(mesh: Mesh, numbers: dict[XY, int], p: XY) -> int:
    key = (round(p[0], 1), round(p[1], 1))
    if key not in numbers:
        numbers[key] = len(mesh.nodes)
        mesh.nodes.append(p)
    return numbers[key]


def _all_cuts(streets: list[Street]) -> dict[int, dict[int, list[tuple[float, XY]]]]:
    """For each street and each of its segments, the crossings as (fraction, point).

    Both streets of a crossing get the same point.
    """
    grid = SegmentGrid()
    owner = [(s, i) for s, street in enumerate(streets) for i in range(len(street.line) - 1)]
    for key, (s, i) in enumerate(owner):
        grid.add(key, streets[s].line[i], streets[s].line[i + 1])
    cuts: dict[int, dict[int, list[tuple[float, XY]]]] = defaultdict(lambda: defaultdict(list))
    seen: set[tuple[int, int]] = set()
    for members in grid.cells.values():
        for (m, a, b), (n, c, d) in itertools.combinations(members, 2):
            if owner[m][0] == owner[n][0] or not _boxes_meet(a, b, c, d) or (m, n) in seen:
                continue
            seen.add((m, n))
            if (at := crossing(a, b, c, d)) is not None:
                point = lerp(a, b, at[0])
                cuts[owner[m][0]][owner[m][1]].append((at[0], point))
                cuts[owner[n][0]][owner[n][1]].append((at[1], point))
    return cuts


def _boxes_meet(a: XY, b: XY, c: XY, d: XY) -> bool:
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = a, b, c, d
    # Called for every pair of near segments: comparisons are faster than min() and max().
    if ax > bx:
        ax, bx = bx, ax
    if cx > dx:
        cx, dx = dx, cx
    if bx < cx or dx < ax:
        return False
    if ay > by:
        ay, by = by, ay
    if cy > dy:
        cy, dy = dy, cy
    return by >= cy and dy >= ay


def _split(line: tuple[XY, ...], cuts: dict[int, list[tuple[float, XY]]]) -> list[Line]:
    pieces: list[Line] = []
    current: Line = [line[0]]
    for i, end in enumerate(line[1:]):
        for _, point in sorted(cuts.get(i, ())):
            if span(current[-1], point) > SHORTEST_M or len(current) > 1:
                pieces.append([*current, point])
            current = [point]
        if span(current[-1], end) > SHORTEST_M:
            current.append(end)
    if len(current) > 1:
        pieces.append(current)
    return pieces


def _joined(mesh: Mesh) -> Mesh:
    """Merge junctions that are joined by an edge of at most JOIN_M.

    Streets that meet a road almost opposite each other then share one junction.
    """
    # union-find: each node refers to the node that it was merged into; a junction that stays refers
    # to itself
    leader = list(range(len(mesh.nodes)))

    def find(n: int) -> int:
        while leader[n] != n:
            leader[n] = leader[leader[n]]
            n = leader[n]
        return n

    weight = _weights(mesh)
    for edge in sorted(mesh.edges, key=lambda e: e.rank):
        if span(edge.line[0], edge.line[-1]) > JOIN_M or length(edge.line) > JOIN_M:
            continue
        a, b = sorted((find(edge.a), find(edge.b)), key=lambda n: weight[n])
        if a != b and span(mesh.nodes[a], mesh.nodes[b]) < 2 * JOIN_M:
            leader[b] = a
    edges = [_moved(edge, find(edge.a), find(edge.b), mesh.nodes) for edge in mesh.edges]
    return Mesh(
        mesh.nodes,
        _unique(edge for edge in edges if edge.a != edge.b or length(edge.line) > 4 * JOIN_M),
    )


def _weights(mesh: Mesh) -> dict[int, tuple[int, int, int]]:
    """The sort keys that decide which of two merged junctions keeps its place.

    The junction with the higher-ranking street wins, then the one with more edges.
    """
    around = mesh.around()
    return {n: (min(mesh.edges[e].rank for e in met), -len(met), n) for n, met in around.items()}


def _moved(edge: Edge, a: int, b: int, nodes: list[XY]) -> Edge:
    # the junctions have moved: points within 6 m of one are left out
    inner = [p for p in edge.line[1:-1] if span(p, nodes[a]) > 6 and span(p, nodes[b]) > 6]
    return Edge(a, b, [nodes[a], *inner, nodes[b]], edge.name, edge.rank)


def _unique(edges: Iterable[Edge]) -> list[Edge]:
    """Keep only the highest-ranking of edges with the same junctions and nearly the same middle."""
    unique: dict[tuple[int, int, int, int], Edge] = {}
    for edge in sorted(edges, key=lambda e: e.rank):
        middle = edge.line[len(edge.line) // 2]
        if len(edge.line) == 2:
            middle = lerp(edge.line[0], edge.line[1], 0.5)
        low, high = sorted((edge.a, edge.b))
        # "nearly the same": in the same square of 40 m
        unique.setdefault((low, high, round(middle[0] / 40), round(middle[1] / 40)), edge)
    return list(unique.values())


def without_stubs(mesh: Mesh, shorter_than: float, *, rank: int = 2) -> Mesh:
    """The mesh without dead ends shorter than `shorter_than` metres.

    Only streets of class `rank` and lower classes (higher numbers) are removed.
    """
    while True:
        around = mesh.around()
        remaining = [
            edge
            for edge in mesh.edges
            if edge.rank < rank
            or min(len(around[edge.a]), len(around[edge.b])) > 1
            or length(edge.line) >= shorter_than
        ]
        if len(remaining) == len(mesh.edges):
            return mesh
        mesh = Mesh(mesh.nodes, remaining)


def connected(mesh: Mesh) -> Mesh:
    """The largest connected part of the mesh."""
    around = mesh.around()
    part: dict[int, int] = {}
    for start in around:
        if start not in part:
            _flood(mesh, around, start, part)
    sizes: dict[int, int] = defaultdict(int)
    for root in part.values():
        sizes[root] += 1
    main = max(sizes, key=lambda root: sizes[root])
    return mesh.without(lambda edge: part[edge.a] != main)


def _flood(mesh: Mesh, around: dict[int, list[int]], start: int, part: dict[int, int]) -> None:
    stack = [start]
    part[start] = start
    while stack:
        node = stack.pop()
        for number in around[node]:
            edge = mesh.edges[number]
            other = edge.b if edge.a == node else edge.a
            if other not in part:
                part[other] = start
                stack.append(other)


def faces(mesh: Mesh) -> list[Line]:
    """The areas enclosed by edges as anticlockwise rings, without dead ends.

    The ring around the whole mesh runs clockwise: its area is negative, and it is left out.
    """
    return [ring for ring in _rings(mesh) if area(ring) > SMALLEST_FACE_M2]


def _rings(mesh: Mesh) -> list[Line]:
    mesh = without_stubs(mesh, math.inf, rank=0)
    leaving = _half_edges(mesh)
    done: set[tuple[int, bool]] = set()
    rings = []
    for number in range(len(mesh.edges)):
        for forward in (True, False):
            if (number, forward) not in done:
                rings.append(_walk(mesh, leaving, (number, forward), done))
    return rings


def outline(mesh: Mesh) -> Line:
    """The anticlockwise ring around the whole mesh."""
    return min(_rings(mesh), key=area)[::-1]


def _half_edges(mesh: Mesh) -> dict[int, list[tuple[int, bool]]]:
    """For each node, the half edges that leave it, sorted by direction."""
    leaving: dict[int, list[tuple[float, int, bool]]] = defaultdict(list)
    for number, edge in enumerate(mesh.edges):
        for forward, node, p, q in ((True, edge.a, 0, 1), (False, edge.b, -1, -2)):
            a, b = edge.line[p], edge.line[q]
            leaving[node].append((math.atan2(b[1] - a[1], b[0] - a[0]), number, forward))
    return {node: [(n, f) for _, n, f in sorted(out)] for node, out in leaving.items()}


def _walk(
    mesh: Mesh,
    leaving: dict[int, list[tuple[int, bool]]],
    start: tuple[int, bool],
    done: set[tuple[int, bool]],
) -> Line:
    ring: Line = []
    half = start
    while half not in done:
        done.add(half)
        number, forward = half
        edge = mesh.edges[number]
        ring.extend(edge.line[:-1] if forward else edge.line[:0:-1])
        out = leaving[edge.b if forward else edge.a]
        # the next edge clockwise from the one that we came along: the face stays on the left
        half = out[out.index((number, not forward)) - 1]
    return ring
