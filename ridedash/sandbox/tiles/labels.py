"""The words on the map, chosen for the whole city at each zoom: what matters most is placed first,
the rest if free.
"""

from html import escape

from ridedash.sandbox.city.data.plan import Spot
from ridedash.sandbox.city.geometry import XY, Line, area, box, centroid, lerp, nearest_on, span
from ridedash.sandbox.tiles.atlas import Atlas
from ridedash.sandbox.tiles.icons import ICON_R, RANKING, icon
from ridedash.sandbox.tiles.lettering import (
    Board,
    Circle,
    Measured,
    lines_of,
    readable,
    row,
    strip,
    text_width,
)
from ridedash.sandbox.tiles.paper import Drawer, Paper, path

STREET_SIZE = {13: 85, 14: 88, 15: 92, 16: 98, 17: 112, 18: 124}
STREET_RANK = {13: 1, 14: 1, 15: 2, 16: 3, 17: 3, 18: 3}
"""The lowest class of street that bears its name at a zoom."""

REPEAT = {13: 3600, 14: 3800, 15: 4200, 16: 4600, 17: 5600, 18: 7200}
"""A street's name comes again after so much of it."""

DISTRICT_SIZE = {12: 92, 13: 104, 14: 118, 15: 130, 16: 140}
PLACE_SIZE = {13: 98, 14: 100, 15: 104, 16: 108, 17: 114, 18: 120}


class Labels:
    """All labels of a city at one zoom, filed by tile."""

    def __init__(self, atlas: Atlas, paper: Paper, zoom: int) -> None:
        self.atlas, self.paper, self.zoom = atlas, paper, zoom
        self.board, self.drawer = Board(), Drawer()
        self._number = 0
        self._city()
        self._places([spot for spot in atlas.plan.spots if RANKING[spot.kind][0] <= min(zoom, 14)])
        self._districts()
        self._waters()
        self._streets(range(2))
        self._places([spot for spot in atlas.plan.spots if RANKING[spot.kind][0] > 14])
        self._grounds()
        self._streets(range(2, 4))

    def _put(self, svg: str, circles: list[Circle]) -> None:
        reach = [(x + dx * r, y + dx * r) for x, y, r in circles for dx in (-1.6, 1.6)]
        self.drawer.put(svg, reach, 40)

    def _city(self) -> None:
        if self.zoom <= 12:
            self._level(
                self.atlas.plan.name,
                self.paper.at((0.0, 0.0)),
                150 if self.zoom == 11 else 170,
                "pl",
            )

    def _level(self, text: str, at: XY, size: float, kind: str, wide: float = 1.0) -> bool:
        width = text_width(text, size) * wide
        circles = row(at, width, size)
        if not self.board.claim(circles):
            return False
        self._put(_text(text, at[0], at[1] + size * 0.35, size, kind), circles)
        return True

    def _districts(self) -> None:
        if self.zoom in DISTRICT_SIZE:
            size = DISTRICT_SIZE[self.zoom]
            for spot in self.atlas.plan.districts:
                if spot.kind == "district":
                    self._level(spot.name.upper(), self._at(spot), size, "di", 1.18)

    def _waters(self) -> None:
        for spot in self.atlas.plan.districts:
            if spot.kind == "water" and self.zoom >= 12:
                self._level(spot.name, self._at(spot), 115 if self.zoom < 15 else 150, "wa", 1.05)
        if self.zoom >= 14:
            for name, line in self.atlas.rivers:
                self._along(name, Measured(self.paper.line(line)), 110, "wa", 6400)

    def _at(self, spot: Spot) -> XY:
        return self.paper.at((spot.at[0] * 1000, spot.at[1] * 1000))

    def _places(self, spots: list[Spot]) -> None:
        for spot in sorted(spots, key=lambda spot: RANKING[spot.kind]):
            if self.zoom >= RANKING[spot.kind][0]:
                self._place(spot, PLACE_SIZE[self.zoom])

    def _place(self, spot: Spot, size: float) -> None:
        x, y = self._at(spot)
        lines = lines_of(spot.name, size, 900)
        tall = size * 1.15
        for below in (True, False):
            first = (
                y + ICON_R + size if below else y - ICON_R - size * 0.3 - tall * (len(lines) - 1)
            )
            centers = [(x, first - size * 0.35 + i * tall) for i in range(len(lines))]
            circles = [(x, y, ICON_R + 20.0)]
            for center, text in zip(centers, lines, strict=True):
                circles += row(center, text_width(text, size), size)
            if self.board.claim(circles):
                words = "".join(
                    _text(t, x, first + i * tall, size, "pl") for i, t in enumerate(lines)
                )
                self._put(icon(spot.kind, x, y) + words, circles)
                return

    def _grounds(self) -> None:
        named = {spot.name for spot in self.atlas.plan.spots}
        for kind, name, ring in self.atlas.grounds:
            if name not in named and self.zoom >= 13:
                self._ground(kind, name, self.paper.line(ring))

    def _ground(self, kind: str, name: str, ring: Line) -> None:
        size = 100 if self.zoom < 16 else 115
        west, _, east, _ = box(ring)
        if text_width(name, size) < (east - west) * 1.15 and abs(area(ring)) > 160_000:
            self._level(
                name,
                centroid(ring),
                size,
                "pl" if kind in ("industrial", "airport", "station") else "gr",
            )

    def _streets(self, ranks: range) -> None:
        lowest = STREET_RANK.get(self.zoom, -1)
        for rank in ranks:
            if rank > lowest:
                return
            chains = sorted(
                (c for c in self.atlas.chains if c[1] == rank), key=lambda c: (-len(c[2]), c[0])
            )
            for name, _, line in chains:
                self._along(
                    name,
                    Measured(self.paper.line(line)),
                    STREET_SIZE[self.zoom] - 2 * rank,
                    "st",
                    self._gap,
                )

    @property
    def _gap(self) -> float:
        return REPEAT[self.zoom]

    def _along(self, name: str, line: Measured, size: float, kind: str, repeat: float) -> None:
        width = text_width(name, size)
        if line.total < width * 1.06 + 20:
            return
        slots = max(1, int(line.total // repeat))
        for slot in range(slots):
            for shift in (0.5, 0.38, 0.62, 0.27, 0.73, 0.15, 0.85):
                middle = (slot + shift) * line.total / slots
                if self._on(name, line, middle, width, size, kind):
                    break

    def _on(
        self, name: str, line: Measured, middle: float, width: float, size: float, kind: str
    ) -> bool:
        half = width / 2
        if middle - half < 0 or middle + half > line.total:
            return False
        stretch = readable(line.stretch(middle - half, middle + half))
        if stretch is None:
            return False
        circles = strip(stretch, size)
        if not self.board.claim(circles):
            return False
        self._put(self._lettered(name, stretch, size, kind), circles)
        return True

    def _lettered(self, name: str, stretch: Line, size: float, kind: str) -> str:
        """A level, a turned or a bent text, whichever the stretch asks for."""
        a, b = stretch[0], stretch[-1]
        if max(nearest_on(a, b, p)[1] for p in stretch) < 9:
            x, y = lerp(a, b, 0.5)
            return _turned(name, x, y, (b[0] - a[0], b[1] - a[1]), size, kind)
        self._number += 1
        longer = [_beyond(stretch[1], a, size), *stretch[1:-1], _beyond(stretch[-2], b, size)]
        return (
            f'<path id="t{self._number}" d="{path(longer)}"/><text class="{kind}" '
            f'font-size="{size:.0f}" '
            f'dy="{size * 0.35:.0f}"><textPath href="#t{self._number}" '
            f'startOffset="50%">{escape(name)}</textPath>'
            "</text>"
        )


def _beyond(inner: XY, end: XY, by: float) -> XY:
    d = span(inner, end) or 1.0
    return lerp(inner, end, 1 + 2 * by / d)


def _text(text: str, x: float, y: float, size: float, kind: str) -> str:
    return (
        f'<text class="{kind}" font-size="{size:.0f}" x="{x:.0f}" y="{y:.0f}">{escape(text)}</text>'
    )


def _turned(text: str, x: float, y: float, along: XY, size: float, kind: str) -> str:
    d = span((0.0, 0.0), along) or 1.0
    c, s = along[0] / d, along[1] / d
    slope = f"matrix({c:.4g} {s:.4g} {-s:.4g} {c:.4g} {x:.0f} {y:.0f})"
    height = size * 0.35
    head = f'<text class="{kind}" font-size="{size:.0f}" transform="{slope}" y="{height:.0f}">'
    return f"{head}{escape(text)}</text>"
