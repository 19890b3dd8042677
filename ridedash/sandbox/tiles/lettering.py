"""Space for labels: text widths, occupied space, and stretches of street for names."""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

from ridedash.sandbox.city.geometry import XY, Line, lerp, span

Circle = tuple[float, float, float]

_NARROW, _WIDE = set("iIjl.,'’ ftr-"), set("mwMWOQGD")


def text_width(text: str, size: float) -> float:
    """The width of a text in a sans-serif font, estimated slightly too wide."""
    return sum(map(_char_width, text)) * size * 1.03


def _char_width(char: str) -> float:
    """The width of one character as a fraction of the font size."""
    if char in _NARROW:
        return 0.31
    if char in _WIDE:
        return 0.84
    if char.isupper():
        return 0.68
    return 0.56


class LabelSpace:
    """The occupied space of a map, as circles; a text at any angle is a row of circles."""

    def __init__(self, cell: float = 600.0) -> None:
        self.cell = cell
        self._taken: dict[tuple[int, int], list[Circle]] = defaultdict(list)

    def claim(self, circles: Sequence[Circle]) -> bool:
        """Occupy the circles if all of them are free. Returns whether they were."""
        if any(self._overlaps(c) for c in circles):
            return False
        for circle in circles:
            for cell in self._cells(circle):
                self._taken[cell].append(circle)
        return True

    def _cells(self, circle: Circle) -> Iterator[tuple[int, int]]:
        x, y, r = circle
        xs = range(int((x - r) // self.cell), int((x + r) // self.cell) + 1)
        ys = range(int((y - r) // self.cell), int((y + r) // self.cell) + 1)
        return itertools.product(xs, ys)

    def _overlaps(self, circle: Circle) -> bool:
        x, y, r = circle
        for cell in self._cells(circle):
            for ox, oy, other in self._taken.get(cell, ()):
                if (x - ox) ** 2 + (y - oy) ** 2 < (r + other) ** 2:
                    return True
        return False


def row(center: XY, width: float, size: float) -> list[Circle]:
    """The circles under a horizontal text."""
    return strip([(center[0] - width / 2, center[1]), (center[0] + width / 2, center[1])], size)


def strip(line: Sequence[XY], size: float, margin: float = 25.0) -> list[Circle]:
    """The circles under a text that follows a line."""
    radius = size * 0.55 + margin
    circles, since = [(line[0][0], line[0][1], radius)], 0.0
    for a, b in itertools.pairwise(line):
        d = span(a, b)
        while since + d >= size * 0.8:
            a = lerp(a, b, (size * 0.8 - since) / d)
            circles.append((a[0], a[1], radius))
            d, since = span(a, b), 0.0
        since += d
    return circles


class Measured:
    """A line with the length up to each vertex, from which stretches are cut."""

    def __init__(self, line: Sequence[XY]) -> None:
        self.line = line
        self.run = list(
            itertools.accumulate((span(a, b) for a, b in itertools.pairwise(line)), initial=0.0)
        )
        self.total = self.run[-1]

    def stretch(self, start: float, end: float) -> Line:
        """The part between two distances from the start."""
        inner = [p for p, m in zip(self.line, self.run, strict=True) if start + 5 < m < end - 5]
        return [self._point(start), *inner, self._point(end)]

    def _point(self, at: float) -> XY:
        for i in range(len(self.run) - 1):
            if self.run[i + 1] >= at:
                step = self.run[i + 1] - self.run[i]
                fraction = max(0.0, at - self.run[i]) / step if step else 0.0
                return lerp(self.line[i], self.line[i + 1], fraction)
        return self.line[-1]


def readable(stretch: Line) -> Line | None:
    """The stretch directed left to right, or None when it bends too much for a text."""
    chord = span(stretch[0], stretch[-1])
    arc = sum(span(a, b) for a, b in itertools.pairwise(stretch))
    corners = zip(stretch, stretch[1:], stretch[2:], strict=False)
    if chord < 0.955 * arc or any(_turn(*corner) > 0.42 for corner in corners):
        return None
    if stretch[0][0] > stretch[-1][0] + 0.02 * chord:
        return stretch[::-1]
    return stretch


def _turn(a: XY, b: XY, c: XY) -> float:
    first = math.atan2(b[1] - a[1], b[0] - a[0])
    second = math.atan2(c[1] - b[1], c[0] - b[0])
    return abs((second - first + math.pi) % (2 * math.pi) - math.pi)


def lines_of(text: str, size: float, widest: float) -> list[str]:
    """A text in one line, or in two of similar length when it is wider than `widest`."""
    if text_width(text, size) <= widest or " " not in text:
        return [text]
    words = text.split()
    cuts = [[" ".join(words[:i]), " ".join(words[i:])] for i in range(1, len(words))]
    return min(cuts, key=lambda cut: abs(len(cut[0]) - len(cut[1])))
