"""Blocks between streets, and the buildings on them: a block is split into lots until each is the size of a house."""

import math
from collections.abc import Sequence

from ridedash.sandbox.mapping.geometry import XY, Line, area, chance, lerp, simplify, span


def inset(ring: Sequence[XY], metres: float) -> Line:
    """A ring moved inwards by so many metres; empty when nothing sound is left. The ring runs anticlockwise."""
    corners = _corners(ring)
    count = len(corners)
    if count < 3:
        return []
    moved = [_mitred(corners[i - 1], corners[i], corners[(i + 1) % count], metres) for i in range(count)]
    if any(_squeezed(corners, moved, i) for i in range(count)):
        moved = [m for i, m in enumerate(moved) if not _squeezed(corners, moved, i)]
    return moved if len(moved) >= 3 and 0 < area(moved) < area(corners) else []


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


def _squeezed(corners: Line, moved: Line, i: int) -> bool:
    j = (i + 1) % len(corners)
    return _against(corners[i], corners[j], moved[i], moved[j])


def buildings(block: Sequence[XY], lot_m2: float) -> list[Line]:
    """Footprints on a block (a ring already set back from its streets); inner lots stay free as yards."""
    found = []
    for lot, fronts in _lots(list(block), lot_m2):
        seed = (round(lot[0][0]), round(lot[0][1]))
        if fronts and chance(*seed) > 0.07:
            house = _house(lot, seed)
            if len(house) >= 3 and abs(area(house)) > 35:
                found.append(house)
    return found


def _house(lot: Line, seed: XY) -> Line:
    """A lot less its margin, and often less a strip at one side."""
    outside = min(1.0, math.hypot(*seed) / 2600)
    ring = _shrunk(lot, 0.15 + outside * (0.6 + 1.4 * chance("margin", *seed)))
    if ring and chance("side", *seed) < 0.15 + 0.3 * outside:
        a, b = _axis(ring)
        return _half(ring, lerp(a, b, 0.14 + 0.2 * chance("cut", *seed)), (b[0] - a[0], b[1] - a[1]))
    return ring


def _shrunk(ring: Line, metres: float) -> Line:
    count = len(ring)
    moved = [_mitred(ring[i - 1], ring[i], ring[(i + 1) % count], metres) for i in range(count)]
    return [] if any(_squeezed(ring, moved, i) for i in range(count)) else moved


def _lots(block: Line, lot_m2: float) -> list[tuple[Line, bool]]:
    """Lots, and whether each touches the block's outline."""
    edges = list(zip(block, [*block[1:], block[0]], strict=True))
    ready, stack = [], [block]
    while stack:
        ring = stack.pop()
        size = area(ring)
        if len(ring) < 3 or size < 40:
            continue
        wish = lot_m2 * (0.7 + 0.9 * chance(round(ring[0][0]), round(ring[0][1])))
        if size < wish:
            ready.append((ring, any(_on_edge(edges, a, b) for a, b in zip(ring, [*ring[1:], ring[0]], strict=True))))
            continue
        a, b = _axis(ring)
        at = lerp(a, b, 0.42 + 0.16 * chance("split", round(a[0]), round(b[1])))
        along = (b[0] - a[0], b[1] - a[1])
        stack += [_half(ring, at, along), _half(ring, at, (-along[0], -along[1]))]
    return ready


def _on_edge(edges: list[tuple[XY, XY]], a: XY, b: XY) -> bool:
    if span(a, b) < 4:
        return False
    x, y = lerp(a, b, 0.5)
    for c, d in edges:
        dx, dy = d[0] - c[0], d[1] - c[1]
        whole = math.hypot(dx, dy) or 1.0
        if abs((x - c[0]) * dy - (y - c[1]) * dx) < 0.3 * whole and 0 <= (x - c[0]) * dx + (y - c[1]) * dy <= whole**2:
            return True
    return False


def _axis(ring: Line) -> tuple[XY, XY]:
    """The ends of a ring's longer extent, measured along its longest side or square to it."""
    a, b = max(zip(ring, [*ring[1:], ring[0]], strict=True), key=lambda s: span(*s))
    d = span(a, b) or 1.0
    ux, uy = (b[0] - a[0]) / d, (b[1] - a[1]) / d
    us = [p[0] * ux + p[1] * uy for p in ring]
    vs = [-p[0] * uy + p[1] * ux for p in ring]
    u0, u1, v0, v1 = min(us), max(us), min(vs), max(vs)
    um, vm = (u0 + u1) / 2, (v0 + v1) / 2
    ends = ((u0, vm), (u1, vm)) if u1 - u0 >= v1 - v0 else ((um, v0), (um, v1))
    (p, q), (r, s) = ends
    return (p * ux - q * uy, p * uy + q * ux), (r * ux - s * uy, r * uy + s * ux)


def _half(ring: Line, at: XY, ahead: XY) -> Line:
    """The part of a ring that lies ahead of a line through `at` square to `ahead`."""
    result: Line = []
    side = [(p[0] - at[0]) * ahead[0] + (p[1] - at[1]) * ahead[1] for p in ring]
    for i, p in enumerate(ring):
        before, here = side[i - 1], side[i]
        if (before < 0) != (here < 0):
            result.append(lerp(ring[i - 1], p, before / (before - here)))
        if here >= 0:
            result.append(p)
    return result
