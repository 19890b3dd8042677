"""Plane geometry in metres (x east, y north), and the conversion from and to coordinates."""

import itertools
import math
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ridedash.geo import EARTH_RADIUS_M, LatLng

XY = tuple[float, float]
Line = list[XY]

_M_PER_DEG = math.radians(1) * EARTH_RADIUS_M


@dataclass(frozen=True, slots=True)
class Frame:
    """A plane around `origin`, on which a degree of longitude is as long everywhere as there.

    So lengths from east to west are about 0.1 % off at 10 km north or south of `origin`.
    """

    origin: LatLng

    @property
    def _lng_m(self) -> float:
        return _M_PER_DEG * math.cos(math.radians(self.origin.lat))

    def xy(self, p: LatLng) -> XY:
        """Metres east and north of the origin."""
        return (p.lng - self.origin.lng) * self._lng_m, (p.lat - self.origin.lat) * _M_PER_DEG

    def latlng(self, p: XY) -> LatLng:
        """Degrees, rounded to about a decimetre."""
        lat = self.origin.lat + p[1] / _M_PER_DEG
        return LatLng(round(lat, 6), round(self.origin.lng + p[0] / self._lng_m, 6))


def chance(*key: object) -> float:
    """A pseudo-random number in [0, 1) that depends on the key only, equal in every process."""
    return zlib.crc32(repr(key).encode()) / 2**32


def span(a: XY, b: XY) -> float:
    """Distance between two points."""
    return math.hypot(b[0] - a[0], b[1] - a[1])


def length(line: Sequence[XY]) -> float:
    """Length of a line."""
    return sum(span(a, b) for a, b in itertools.pairwise(line))


def lerp(a: XY, b: XY, t: float) -> XY:
    """The point at fraction t between a and b."""
    return a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t


def curve(points: Sequence[XY], *, closed: bool = False, step: float = 45.0) -> Line:
    """A smooth line through the points (Catmull-Rom), with a vertex about every `step` metres.

    The given end points are kept exactly.
    """
    pts = list(points)
    if closed:
        before, after = [pts[-1]], pts[:2]
    else:
        before, after = [_beyond(pts[0], pts[1])], [_beyond(pts[-1], pts[-2])]
    pts = [*before, *pts, *after]
    line = [pts[1]]
    for p0, p1, p2, p3 in zip(pts, pts[1:], pts[2:], pts[3:], strict=False):
        count = max(1, round(span(p1, p2) / step))
        line.extend(_spline(p0, p1, p2, p3, i / count) for i in range(1, count))
        line.append(p2)
    if closed:
        line.pop()
    return line


def _beyond(end: XY, inner: XY) -> XY:
    return 2 * end[0] - inner[0], 2 * end[1] - inner[1]


def _spline(p0: XY, p1: XY, p2: XY, p3: XY, t: float) -> XY:
    # The tangents are scaled to the middle span: without that, long neighbouring spans would make
    # a loop in a short one.
    mid = span(p1, p2)
    scale1 = 2 * mid / (span(p0, p1) + mid)
    scale2 = 2 * mid / (span(p2, p3) + mid)
    t2, t3 = t * t, t * t * t
    h1, h2, h3, h4 = 2 * t3 - 3 * t2 + 1, 3 * t2 - 2 * t3, t3 - 2 * t2 + t, t3 - t2
    x, y = (
        h1 * p1[i]
        + h2 * p2[i]
        + h3 * scale1 * (p2[i] - p0[i]) / 2
        + h4 * scale2 * (p3[i] - p1[i]) / 2
        for i in (0, 1)
    )
    return x, y


def normals(line: Sequence[XY]) -> list[XY]:
    """The unit normal to the left of the line at each vertex."""
    found = []
    for i in range(len(line)):
        a, b = line[max(0, i - 1)], line[min(len(line) - 1, i + 1)]
        d = span(a, b) or 1.0
        found.append((-(b[1] - a[1]) / d, (b[0] - a[0]) / d))
    return found


def offset(line: Sequence[XY], metres: Sequence[float]) -> Line:
    """The line moved to its left by the given metres at each vertex."""
    return [
        (p[0] + n[0] * d, p[1] + n[1] * d)
        for p, n, d in zip(line, normals(line), metres, strict=True)
    ]


def area(ring: Sequence[XY]) -> float:
    """The signed area of an open ring, positive when it runs anticlockwise."""
    twice = 0.0
    ax, ay = ring[-1]
    for bx, by in ring:
        twice += ax * by - bx * ay
        ax, ay = bx, by
    return twice / 2


def centroid(ring: Sequence[XY]) -> XY:
    """The centroid of a ring; the mean of its vertices if its area is zero."""
    whole = area(ring)
    if abs(whole) < 1e-6:
        return sum(p[0] for p in ring) / len(ring), sum(p[1] for p in ring) / len(ring)
    x = y = 0.0
    for a, b in zip(ring, [*ring[1:], ring[0]], strict=True):
        cross = a[0] * b[1] - b[0] * a[1]
        x += (a[0] + b[0]) * cross
        y += (a[1] + b[1]) * cross
    return x / (6 * whole), y / (6 * whole)


def inside(ring: Sequence[XY], p: XY) -> bool:
    """Whether a point lies in an open ring, by the even-odd rule."""
    x, y = p
    result = False
    ax, ay = ring[-1]
    for bx, by in ring:
        if (ay > y) != (by > y) and x < (bx - ax) * (y - ay) / (by - ay) + ax:
            result = not result
        ax, ay = bx, by
    return result


def box(points: Iterable[XY]) -> tuple[float, float, float, float]:
    """The bounding box of points: (west, south, east, north)."""
    xs, ys = zip(*points, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def crossing(a: XY, b: XY, c: XY, d: XY) -> tuple[float, float] | None:
    """Where two segments cross, as fractions along each; None without a crossing or if parallel."""
    rx, ry, sx, sy = b[0] - a[0], b[1] - a[1], d[0] - c[0], d[1] - c[1]
    cross = rx * sy - ry * sx
    if abs(cross) < 1e-9:
        return None
    qx, qy = c[0] - a[0], c[1] - a[1]
    t = (qx * sy - qy * sx) / cross
    if not 0 <= t <= 1:
        return None
    u = (qx * ry - qy * rx) / cross
    if not 0 <= u <= 1:
        return None
    return t, u


def nearest_on(a: XY, b: XY, p: XY) -> tuple[float, float]:
    """The point of a segment nearest to p, as a fraction of the segment, and its distance to p."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    square = dx * dx + dy * dy
    t = max(0.0, min(1.0, ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / square)) if square else 0.0
    return t, math.hypot(a[0] + dx * t - p[0], a[1] + dy * t - p[1])


def simplify(line: Sequence[XY], tolerance: float) -> Line:
    """The line without vertices that lie within `tolerance` of the result (Douglas-Peucker).

    The ends are kept.
    """
    keep = {0, len(line) - 1}
    stack = [(0, len(line) - 1)]
    while stack:
        first, last = stack.pop()
        worst, at = tolerance, -1
        for i in range(first + 1, last):
            away = nearest_on(line[first], line[last], line[i])[1]
            if away > worst:
                worst, at = away, i
        if at >= 0:
            keep.add(at)
            stack += [(first, at), (at, last)]
    return [line[i] for i in sorted(keep)]
