"""Routes over the streets of a city, and the position of a cab on a route at a time."""

import bisect
import heapq
import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ridedash.geo import LatLng, bearing_deg, between
from ridedash.sandbox.city.geometry import XY, Frame, Line, lerp, nearest_on, span
from ridedash.sandbox.city.mesh import Mesh

SPEED_KMH = {0: 66.0, 1: 42.0, 2: 33.0, 3: 24.0}
"""Average speed by a street's rank, with stops at corners and traffic lights included."""

_CELL_M = 200.0


class Motion(NamedTuple):
    """The position of a cab, its bearing (degrees clockwise from north) and its speed (km/h)."""

    position: LatLng
    bearing: float
    speed_kmh: float


@dataclass(frozen=True, slots=True)
class Route:
    """A route along streets: its points, and for each the metres and seconds from the start."""

    points: tuple[LatLng, ...]
    metres: tuple[float, ...]
    seconds: tuple[float, ...]

    @property
    def total_m(self) -> float:
        """The length in metres."""
        return self.metres[-1]

    @property
    def total_s(self) -> float:
        """The duration in seconds at the speeds of the streets."""
        return self.seconds[-1]

    def at_seconds(self, seconds: float) -> Motion:
        """Position, bearing and speed after `seconds`; speed 0 before the start and at the end."""
        last = len(self.points) - 1
        if last == 0:
            return Motion(self.points[0], 0.0, 0.0)
        i = min(max(bisect.bisect_right(self.seconds, seconds) - 1, 0), last - 1)
        a, b = self.points[i], self.points[i + 1]
        took = self.seconds[i + 1] - self.seconds[i]
        fraction = min(1.0, max(0.0, (seconds - self.seconds[i]) / took)) if took else 1.0
        moving = took > 0 and 0 <= seconds < self.total_s
        speed = (self.metres[i + 1] - self.metres[i]) / took * 3.6 if moving else 0.0
        return Motion(between(a, b, fraction), bearing_deg(a, b), speed)

    def to_json(self) -> dict[str, Any]:
        """A JSON object that from_json reads."""
        return {
            "points": [list(p) for p in self.points],
            "metres": [round(m, 2) for m in self.metres],
            "seconds": [round(s, 3) for s in self.seconds],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Route":
        """The route that to_json wrote."""
        points = tuple(LatLng(*p) for p in data["points"])
        return cls(points, tuple(data["metres"]), tuple(data["seconds"]))


class _Foot(NamedTuple):
    """A point on a street: edge, segment of its line, fraction of that segment.

    `away` is its distance to the point that was searched for.
    """

    edge: int
    segment: int
    fraction: float
    away: float


class RoadNetwork:
    """The street network of one city, with search for the nearest street and for routes."""

    def __init__(self, mesh: Mesh, frame: Frame) -> None:
        self.mesh, self.frame = mesh, frame
        self._metres = [_running(edge.line) for edge in mesh.edges]
        self._out: list[list[tuple[int, int, float]]] = [[] for _ in mesh.nodes]
        self._cells: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        for number, edge in enumerate(mesh.edges):
            took = self._metres[number][-1] / _ms(edge.rank)
            self._out[edge.a].append((edge.b, number, took))
            self._out[edge.b].append((edge.a, number, took))
            for segment, (a, b) in enumerate(itertools.pairwise(edge.line)):
                for cell in _cells(a, b):
                    self._cells[cell].append((number, segment))

    def snap(self, p: LatLng) -> LatLng:
        """The nearest point on a street, at any distance."""
        return self.frame.latlng(self._point(self._foot(self.frame.xy(p))))

    def nearest_street_name(self, p: LatLng) -> str:
        """The name of the nearest street."""
        return self.mesh.edges[self._foot(self.frame.xy(p)).edge].name

    def route(self, a: LatLng, b: LatLng) -> Route:
        """The fastest route between the streets nearest to two points.

        It consists of one point when both are the same.
        """
        start, goal = self._foot(self.frame.xy(a)), self._foot(self.frame.xy(b))
        if start.edge == goal.edge:
            return self._route_of(self._direct(start, goal))
        return self._route_of(self._search(start, goal))

    def _foot(self, p: XY) -> _Foot:
        cx, cy = math.floor(p[0] / _CELL_M), math.floor(p[1] / _CELL_M)
        best: _Foot | None = None
        for ring in range(500):
            for cell in _square(cx, cy, ring):
                for edge, segment in self._cells.get(cell, ()):
                    line = self.mesh.edges[edge].line
                    t, away = nearest_on(line[segment], line[segment + 1], p)
                    if best is None or away < best.away:
                        best = _Foot(edge, segment, t, away)
            if best is not None and best.away <= ring * _CELL_M:
                break
        if best is None:
            raise ValueError("no street within 100 km")
        return best

    def _point(self, foot: _Foot) -> XY:
        line = self.mesh.edges[foot.edge].line
        return lerp(line[foot.segment], line[foot.segment + 1], foot.fraction)

    def _along(self, foot: _Foot) -> float:
        run = self._metres[foot.edge]
        return run[foot.segment] + (run[foot.segment + 1] - run[foot.segment]) * foot.fraction

    def _part(self, edge: int, start: float, end: float) -> Line:
        """The line of an edge between two distances along it, directed from start to end."""
        low, high = sorted((start, end))
        line, run = self.mesh.edges[edge].line, self._metres[edge]
        inner = [p for p, m in zip(line, run, strict=True) if low + 0.01 < m < high - 0.01]
        part = [_at(line, run, low), *inner, _at(line, run, high)]
        if start > end:
            part.reverse()
        return part

    def _direct(self, start: _Foot, goal: _Foot) -> list[tuple[Line, int]]:
        edge = self.mesh.edges[start.edge]
        return [(self._part(start.edge, self._along(start), self._along(goal)), edge.rank)]

    def _search(self, start: _Foot, goal: _Foot) -> list[tuple[Line, int]]:
        first, last = self.mesh.edges[start.edge], self.mesh.edges[goal.edge]
        at, to = self._along(start), self._along(goal)
        nodes, numbers = self._fastest(self._ends(start), self._ends(goal), self._point(goal))
        legs = [(self._part(start.edge, at, self._side(start.edge, nodes[0])), first.rank)]
        for node, number in zip(nodes, numbers, strict=False):
            edge = self.mesh.edges[number]
            legs.append((edge.line if edge.a == node else edge.line[::-1], edge.rank))
        return [*legs, (self._part(goal.edge, self._side(goal.edge, nodes[-1]), to), last.rank)]

    def _side(self, edge: int, node: int) -> float:
        """The distance along an edge at which its end `node` is."""
        if self.mesh.edges[edge].a == node:
            return 0.0
        return self._metres[edge][-1]

    def _ends(self, foot: _Foot) -> dict[int, float]:
        """The end nodes of a foot's edge, with the seconds from the foot to each."""
        edge, at = self.mesh.edges[foot.edge], self._along(foot)
        rest = self._metres[foot.edge][-1] - at
        if edge.a == edge.b:
            return {edge.a: min(at, rest) / _ms(edge.rank)}
        return {edge.a: at / _ms(edge.rank), edge.b: rest / _ms(edge.rank)}

    def _fastest(
        self, heads: dict[int, float], tails: dict[int, float], goal: XY
    ) -> tuple[list[int], list[int]]:
        """Nodes and edges of the fastest route from `heads` to `tails`, found by A* search.

        The heuristic is the straight line to `goal` at the highest speed.
        """
        nodes, top = self.mesh.nodes, _ms(0)
        cost = dict(heads)
        came: dict[int, tuple[int, int]] = {}
        queue = [(s + span(nodes[n], goal) / top, n) for n, s in heads.items()]
        heapq.heapify(queue)
        done: set[int] = set()
        while queue:
            _, node = heapq.heappop(queue)
            if node == _ARRIVED:
                return _traced(came)
            if node in done:
                continue
            done.add(node)
            if node in tails:
                _relax(cost, came, queue, (_ARRIVED, -1, cost[node] + tails[node], 0.0), node)
            for other, number, took in self._out[node]:
                if other not in done:
                    left = span(nodes[other], goal) / top
                    _relax(cost, came, queue, (other, number, cost[node] + took, left), node)
        raise ValueError("the street graph is not connected")

    def _route_of(self, legs: list[tuple[Line, int]]) -> Route:
        """The legs as one route; points that coincide appear once."""
        points = [legs[0][0][0]]
        metres, seconds = [0.0], [0.0]
        for line, rank in legs:
            for p in line:
                step = span(points[-1], p)
                if step > 0.2:
                    points.append(p)
                    metres.append(metres[-1] + step)
                    seconds.append(seconds[-1] + step / _ms(rank))
        return Route(tuple(self.frame.latlng(p) for p in points), tuple(metres), tuple(seconds))


_ARRIVED = -1


def _relax(
    cost: dict[int, float],
    came: dict[int, tuple[int, int]],
    queue: list[tuple[float, int]],
    step: tuple[int, int, float, float],
    node: int,
) -> None:
    other, number, total, left = step
    if total < cost.get(other, math.inf):
        cost[other] = total
        came[other] = (node, number)
        heapq.heappush(queue, (total + left, other))


def _traced(came: dict[int, tuple[int, int]]) -> tuple[list[int], list[int]]:
    """The nodes and edges of the route that a search found, from first to last."""
    node, _ = came[_ARRIVED]
    nodes, numbers = [node], []
    while node in came:
        node, number = came[node]
        nodes.append(node)
        numbers.append(number)
    return nodes[::-1], numbers[::-1]


def _ms(rank: int) -> float:
    return SPEED_KMH[rank] / 3.6


def _running(line: Line) -> list[float]:
    return list(
        itertools.accumulate((span(a, b) for a, b in itertools.pairwise(line)), initial=0.0)
    )


def _at(line: Line, run: list[float], metres: float) -> XY:
    i = min(max(bisect.bisect_right(run, metres) - 1, 0), len(line) - 2)
    step = run[i + 1] - run[i]
    return lerp(line[i], line[i + 1], (metres - run[i]) / step if step else 0.0)


def _cells(a: XY, b: XY) -> Iterable[tuple[int, int]]:
    x0, y0, x1, y1 = (math.floor(side / _CELL_M) for side in (*a, *b))
    if x0 == x1 and y0 == y1:
        return ((x0, y0),)
    return itertools.product(
        range(min(x0, x1), max(x0, x1) + 1), range(min(y0, y1), max(y0, y1) + 1)
    )


def _square(cx: int, cy: int, ring: int) -> Iterator[tuple[int, int]]:
    """The cells at a distance of `ring` cells around a cell."""
    if ring == 0:
        yield cx, cy
        return
    for i in range(-ring, ring):
        yield cx + i, cy - ring
        yield cx + ring, cy + i
        yield cx - i, cy + ring
        yield cx - ring, cy - i
