"""Streets woven into a graph: split where they cross, joined where they nearly meet, and its
faces.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ridedash.sandbox.city.geometry import XY, Line, area, crossing, length, lerp, span
from ridedash.sandbox.city.grid import SegmentGrid

JOIN_M = 13.0
"""Crossings nearer to each other than this become one junction."""


@dataclass(frozen=True, slots=True)
class Street:
    """A drawn street. `rank`: 0 trunk road, 1 main road, 2 connecting street, 3 local street."""

    name: str
    rank: int
    line: tuple[XY, ...]


@dataclass(slots=True)
class Edge:
    """A street between two junctions `a` and `b` (numbers of nodes); `line` runs from a to b."""

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
        """The same junctions with some edges gone."""
        return Mesh(self.nodes, [edge for edge in self.edges if not drop(edge)])


def weave(streets: Iterable[Street]) -> Mesh:
    """Split all streets at their crossings into one graph."""
    streets = list(streets)
    cuts = _all_cuts(streets)
    mesh = Mesh()
    numbers: dict[XY, int] = {}
    for s, street in enumerate(streets):
        for line in _split(street.line, cuts.get(s, {})):
            if length(line) > 0.05:
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
    """For each street and segment of it, where it is cut: (fraction, point); the point is the same
    for both.
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
    if (ax if ax > bx else bx) < (cx if cx < dx else dx) or (cx if cx > dx else dx) < (
        ax if ax < bx else bx
    ):
        return False
    return (ay if ay > by else by) >= (cy if cy < dy else dy) and (cy if cy > dy else dy) >= (
        ay if ay < by else by
    )


def _split(line: tuple[XY, ...], cuts: dict[int, list[tuple[float, XY]]]) -> list[Line]:
    pieces: list[Line] = []
    current: Line = [line[0]]
    for i, end in enumerate(line[1:]):
        for _, point in sorted(cuts.get(i, ())):
            if span(current[-1], point) > 0.05 or len(current) > 1:
                pieces.append([*current, point])
            current = [point]
        if span(current[-1], end) > 0.05:
            current.append(end)
    if len(current) > 1:
        pieces.append(current)
    return pieces


def _joined(mesh: Mesh) -> Mesh:
    """Junctions joined by an edge shorter than JOIN_M become one: streets that almost face each
    other then do.
    """
    leader = list(range(len(mesh.nodes)))

    def find(n: int) -> int:
        while leader[n] != n:
            leader[n] = leader[leader[n]]
            n = leader[n]
        return n

    spread: dict[int, XY] = {}
    weight = _weights(mesh)
    for edge in sorted(mesh.edges, key=lambda e: e.rank):
        if span(edge.line[0], edge.line[-1]) > JOIN_M or length(edge.line) > JOIN_M:
            continue
        a, b = sorted((find(edge.a), find(edge.b)), key=lambda n: weight[n])
        if a != b and span(spread.get(a, mesh.nodes[a]), mesh.nodes[b]) < 2 * JOIN_M:
            leader[b] = a
            spread.setdefault(a, mesh.nodes[a])
    edges = [_moved(edge, find(edge.a), find(edge.b), mesh.nodes) for edge in mesh.edges]
    return Mesh(
        mesh.nodes,
        _unique(edge for edge in edges if edge.a != edge.b or length(edge.line) > 4 * JOIN_M),
    )


def _weights(mesh: Mesh) -> dict[int, tuple[int, int, int]]:
    """What decides which of two junctions stays in its place: the better street, then the greater
    crossing.
    """
    around = mesh.around()
    return {n: (min(mesh.edges[e].rank for e in met), -len(met), n) for n, met in around.items()}


def _moved(edge: Edge, a: int, b: int, nodes: list[XY]) -> Edge:
    inner = [p for p in edge.line[1:-1] if span(p, nodes[a]) > 6 and span(p, nodes[b]) > 6]
    return Edge(a, b, [nodes[a], *inner, nodes[b]], edge.name, edge.rank)


def _unique(edges: Iterable[Edge]) -> list[Edge]:
    """Of edges between the same two junctions with nearly the same middle, the highest in rank."""
    kept: dict[tuple[int, int, int, int], Edge] = {}
    for edge in sorted(edges, key=lambda e: e.rank):
        middle = (
            edge.line[len(edge.line) // 2]
            if len(edge.line) > 2
            else lerp(edge.line[0], edge.line[1], 0.5)
        )
        low, high = sorted((edge.a, edge.b))
        kept.setdefault((low, high, round(middle[0] / 40), round(middle[1] / 40)), edge)
    return list(kept.values())


def without_stubs(mesh: Mesh, shorter_than: float, *, rank: int = 2) -> Mesh:
    """Without dead ends of local streets (rank or lower in class) that are too short to be worth
    drawing.
    """
    while True:
        around = mesh.around()
        kept = [
            edge
            for edge in mesh.edges
            if edge.rank < rank
            or min(len(around[edge.a]), len(around[edge.b])) > 1
            or length(edge.line) >= shorter_than
        ]
        if len(kept) == len(mesh.edges):
            return mesh
        mesh = Mesh(mesh.nodes, kept)


def connected(mesh: Mesh) -> Mesh:
    """Only the largest part in which every junction reaches every other."""
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
    """The rings enclosed by edges, anticlockwise, dead ends left out."""
    return [ring for ring in _rings(mesh) if area(ring) > 200]


def _rings(mesh: Mesh) -> list[Line]:
    mesh = without_stubs(mesh, math.inf, rank=0)
    leaving = _turns(mesh)
    done: set[tuple[int, bool]] = set()
    rings = []
    for number in range(len(mesh.edges)):
        for forward in (True, False):
            if (number, forward) not in done:
                rings.append(_walk(mesh, leaving, (number, forward), done))
    return rings


def outline(mesh: Mesh) -> Line:
    """The ring around everything: the face on the far side of the outermost edges, turned
    anticlockwise.
    """
    return min(_rings(mesh), key=area)[::-1]


def _turns(mesh: Mesh) -> dict[int, list[tuple[int, bool]]]:
    """For each node the half edges that leave it, in order of their direction."""
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
        half = out[out.index((number, not forward)) - 1]
    return ring
