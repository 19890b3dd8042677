"""A coarse grid over line segments, for fast search of near segments."""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence

from ridedash.sandbox.city.geometry import XY, Line, crossing, lerp

Cell = tuple[int, int]


class SegmentGrid:
    """Segments by the square cells that their bounding boxes touch.

    `cell` is the side of a cell in metres. Each segment has a key chosen by the caller.
    """

    def __init__(self, cell: float = 160.0) -> None:
        self.cell = cell
        self.cells: dict[Cell, list[tuple[int, XY, XY]]] = defaultdict(list)

    def touched(self, a: XY, b: XY) -> Iterable[Cell]:
        """The cells that the bounding box of a segment touches."""
        cell = self.cell
        x0, y0, x1, y1 = int(a[0] // cell), int(a[1] // cell), int(b[0] // cell), int(b[1] // cell)
        if x0 == x1 and y0 == y1:
            return ((x0, y0),)
        xs = range(min(x0, x1), max(x0, x1) + 1)
        ys = range(min(y0, y1), max(y0, y1) + 1)
        return itertools.product(xs, ys)

    def add(self, key: int, a: XY, b: XY) -> None:
        """Add one segment."""
        for cell in self.touched(a, b):
            self.cells[cell].append((key, a, b))

    def add_line(self, line: Sequence[XY], first_key: int = 0, *, closed: bool = False) -> None:
        """Add the segments of a line, with consecutive keys."""
        ends = [*line, line[0]] if closed else line
        for key, (a, b) in enumerate(itertools.pairwise(ends), first_key):
            self.add(key, a, b)

    def near(self, a: XY, b: XY) -> bool:
        """Whether any segment shares a cell with the bounding box from a to b."""
        return any(cell in self.cells for cell in self.touched(a, b))

    def cuts(self, a: XY, b: XY) -> list[float]:
        """Where the segments of the grid cross a segment, as sorted fractions along it."""
        found = {}
        for cell in self.touched(a, b):
            for key, c, d in self.cells.get(cell, ()):
                if key not in found and (at := crossing(a, b, c, d)) is not None:
                    found[key] = at[0]
        return sorted(found.values())


def pieces_inside(
    line: Sequence[XY], outline: SegmentGrid, *, starts_inside: bool = False
) -> list[Line]:
    """The parts of a line within a closed outline.

    Each crossing of the outline switches between inside and outside. `starts_inside`: whether the
    first point of the line is inside.
    """
    pieces: list[Line] = []
    current: Line | None = [line[0]] if starts_inside else None
    for a, b in itertools.pairwise(line):
        for t in outline.cuts(a, b):
            at = lerp(a, b, t)
            if current is None:
                current = [at]
            else:
                pieces.append([*current, at])
                current = None
        if current is not None:
            current.append(b)
    if current is not None and len(current) > 1:
        pieces.append(current)
    return pieces
