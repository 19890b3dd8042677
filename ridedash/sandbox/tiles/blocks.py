"""Blocks between streets, and their buildings: blocks are split into lots, most with a house."""

import math
from collections.abc import Sequence

from ridedash.sandbox.city.geometry import XY, Line, area, chance, lerp, simplify, span


def inset(ring: Sequence[XY], metres: float) -> Line:
    """An anticlockwise ring moved inwards by `metres`; empty when no valid ring is left."""
    corners = _corners(ring)
    count = len(corners)
    if count < 3:
        return []
    moved = [
        _mitred(corners[i - 1], corners[i], corners[(i + 1) % count], metres) for i in range(count)
    ]
    if any(_inverted(corners, moved, i) for i in range(count)):
        moved = [m for i, m in enumerate(moved) if not _inverted(corners, moved, i)]
    if len(moved) < 3 or not 0 < area(moved) < area(corners):
        return []
    return moved


def _corners(ring: Sequence[XY]) -> Line:
    far = max(range(len(ring)), key=lambda i: span(ring[0], ring[i]))
    return [*simplify(ring[: far + 1], 2.5)[:-1], *simplify([*ring[far:], ring[0]], 2.5)[:-1]]


def _mitred(before: XY, at: XY, after: XY, metres: float) -> XY:
    ax, ay = _left(before, at)
    bx, by = _left(at, after)
    scale = metres / max(0.35, 1 + ax * bx + ay * by)
    return at[0] + (ax + bx) * scale, at[1] + (ay + by) * scale


def _left(a: XY, b: XY) -> XY:
    d = span(a, b) or 1.0
    return -(b[1] - a[1]) / d, (b[0] - a[0]) / d


def _against(a: XY, b: XY, c: XY, d: XY) -> bool:
    return (b[0] - a[0]) * (d[0] - c[0]) + (b[1] - a[1]) * (d[1] - c[1]) < 0


def _inverted(corners: Line, moved: Line, i: int) -> bool:
    j = (i + 1) % len(corners)
    return _against(corners[i], corners[j], moved[i], moved[j])


def buildings(block: Sequence[XY], lot_m2: float) -> list[Line]:
    """The building outlines on a block, a ring that is already set back from its streets.

    Inner lots stay free as yards.
    """
    found = []
    for lot in _lots(list(block), lot_m2):
        seed = (round(lot[0][0]), round(lot[0][1]))
        if chance(*seed) > 0.07:
            house = _house(lot, seed)
            if len(house) >= 3 and abs(area(house)) > 35:
                found.append(house)
    return found


def _house(lot: Line, seed: XY) -> Line:
    """The outline of a house: the lot without a margin, and for some also without a strip.

    The strip is at one end of the lot. Empty if the lot is too narrow.
    """
    outside = min(1.0, math.hypot(*seed) / 2600)
    ring = _shrunk(lot, 0.15 + outside * (0.6 + 1.4 * chance("margin", *seed)))
    if ring and chance("side", *seed) < 0.15 + 0.3 * outside:
        a, b = _axis(ring)
        at = lerp(a, b, 0.14 + 0.2 * chance("cut", *seed))
        return _half(ring, [False] * len(ring), at, (b[0] - a[0], b[1] - a[1]))[0]
    return ring


def _shrunk(ring: Line, metres: float) -> Line:
    count = len(ring)
    moved = [_mitred(ring[i - 1], ring[i], ring[(i + 1) % count], metres) for i in range(count)]
    if any(_inverted(ring, moved, i) for i in range(count)):
        return []
    return moved


def _lots(block: Line, lot_m2: float) -> list[Line]:
    """The lots of a block that touch its outline.

    A part that doesn't touch the outline is a yard and is not split further.
    """
    ready: list[Line] = []
    stack = [(block, [True] * len(block))]
    while stack:
        ring, outer = stack.pop()
        if len(ring) < 3 or (size := area(ring)) < 40 or not _fronts(ring, outer):
            continue
        if size < lot_m2 * (0.7 + 0.9 * chance(round(ring[0][0]), round(ring[0][1]))):
            ready.append(ring)
            continue
        a, b = _axis(ring)
        at = lerp(a, b, 0.42 + 0.16 * chance("split", round(a[0]), round(b[1])))
        along = (b[0] - a[0], b[1] - a[1])
        stack += [_half(ring, outer, at, along), _half(ring, outer, at, (-along[0], -along[1]))]
    return ready


def _fronts(ring: Line, outer: list[bool]) -> bool:
    """Whether a side of 4 m or more lies on the block's outline."""
    ax, ay = ring[-1]
    for i, (x, y) in enumerate(ring):
        if outer[i - 1] and (x - ax) * (x - ax) + (y - ay) * (y - ay) >= 16:
            return True
        ax, ay = x, y
    return False


def _axis(ring: Line) -> tuple[XY, XY]:
    """The ends of the longer middle line of a ring's box, which is parallel to its longest side."""
    longest, before = -1.0, ring[-1]
    a = b = before
    for corner in ring:
        square = (corner[0] - before[0]) ** 2 + (corner[1] - before[1]) ** 2
        if square > longest:
            longest, a, b = square, before, corner
        before = corner
    d = span(a, b) or 1.0
    ux, uy = (b[0] - a[0]) / d, (b[1] - a[1]) / d
    us = [x * ux + y * uy for x, y in ring]
    vs = [y * ux - x * uy for x, y in ring]
    u0, u1, v0, v1 = min(us), max(us), min(vs), max(vs)
    um, vm = (u0 + u1) / 2, (v0 + v1) / 2
    ends = ((u0, vm), (u1, vm)) if u1 - u0 >= v1 - v0 else ((um, v0), (um, v1))
    (p, q), (r, s) = ends
    return (p * ux - q * uy, p * uy + q * ux), (r * ux - s * uy, r * uy + s * ux)


def _half(ring: Line, outer: list[bool], at: XY, ahead: XY) -> tuple[Line, list[bool]]:
    """The part of a ring on one side of a line, and which of its sides are `outer` ones.

    The line runs through `at`, square to the direction `ahead`; the part ahead of it is kept. The
    flag of a side is at the index of its first vertex.
    """
    half: Line = []
    sides: list[bool] = []
    (x, y), (dx, dy) = at, ahead
    ends = [(p[0] - x) * dx + (p[1] - y) * dy for p in ring]
    for i, p in enumerate(ring):
        before, here = ends[i - 1], ends[i]
        if (before < 0) != (here < 0):
            half.append(lerp(ring[i - 1], p, before / (before - here)))
            # where the ring leaves the half, the next side is the cut
            sides.append(outer[i - 1] and here >= 0)
        if here >= 0:
            half.append(p)
            sides.append(outer[i])
    return half, sides
