"""The labels and icons of a city at one zoom: important ones first, others where space is left."""

from html import escape

from ridedash.sandbox.city.data.plan import NamedPlace
from ridedash.sandbox.city.geometry import XY, Line, area, box, centroid, lerp, nearest_on, span
from ridedash.sandbox.tiles.atlas import Atlas
from ridedash.sandbox.tiles.canvas import Canvas, TileIndex, path
from ridedash.sandbox.tiles.lettering import (
    Circle,
    LabelSpace,
    Measured,
    lines_of,
    readable,
    row,
    strip,
    text_width,
)

ICON_R = 72.0
"""The radius of an icon in tenths of a pixel."""

RANKING: dict[str, tuple[int, int]] = {
    "airport": (13, 0),
    "station": (14, 1),
    "hospital": (15, 2),
    "hotel": (15, 3),
    "university": (15, 4),
    "ferry": (15, 5),
    "park": (15, 6),
    "stadium": (15, 7),
    "landmark": (15, 8),
    "museum": (16, 9),
    "venue": (16, 10),
    "civic": (16, 11),
    "theatre": (16, 12),
    "shopping": (16, 13),
    "market": (16, 14),
    "beach": (15, 15),
    "bus": (16, 16),
}
"""The zoom from which a kind of place is shown, and its priority (0 is placed first)."""

_PILLARS = "M-34 32h68M-34-12h68l-34-22zM-20-8v32M0-8v32M20-8v32"

_GLYPHS = {
    "airport": "M0-40v76M-40 10l40-24 40 24M-16 36l16-10 16 10",
    "station": "M-24-34h48v46h-48zM-24-8h48M-14 14l-10 20M14 14l10 20",
    "bus": "M-28-28h56v46h-56zM-28-4h56M-16 20v12M16 20v12",
    "ferry": "M-36 8h72l-16 24h-40zM0 6v-40l26 30",
    "hospital": "M0-34v68M-34 0h68",
    "hotel": "M-36 24v-48M-36 8h72v16M-8 6v-16h26q18 0 18 16",
    "park": "M0 38v-24M-26 12h52l-26-50z",
    "beach": "M-36 22q18-16 36 0t36 0M-20 4a28 28 0 0 1 40-28z",
    "museum": _PILLARS,
    "civic": _PILLARS,
    "university": "M-40-8l40-20 40 20-40 20zM-22 6v20q22 14 44 0v-20",
    "theatre": "M-28-24h56v20q0 34-28 34t-28-34zM-12-8h2M12-8h2M-10 12h20",
    "stadium": "M-36 0a36 24 0 1 0 72 0a36 24 0 1 0-72 0M-16 0h32",
    "shopping": "M-28-12h56l-5 44h-46zM-14-12q0-24 14-24t14 24",
    "market": "M-32-10l8-20h48l8 20zM-26-6v36h52v-36",
    "landmark": "M0-36l10 26 28 2-22 18 8 27-24-15-24 15 8-27-22-18 28-2z",
    "venue": "M-30 30v-44l30-20 30 20v44zM-10 30v-24h20v24",
}


def icon(kind: str, x: float, y: float) -> str:
    """The SVG of an icon at a point in tenths of a pixel."""
    return (
        f'<g transform="translate({x:.0f} {y:.0f})"><circle class="ic" r="{ICON_R:.0f}"/>'
        f'<path class="gl" stroke-width="11" d="{_GLYPHS[kind]}"/></g>'
    )


STREET_SIZE = {13: 85, 14: 88, 15: 92, 16: 98, 17: 112, 18: 124}
STREET_RANK = {13: 1, 14: 1, 15: 2, 16: 3, 17: 3, 18: 3}
"""The highest rank number of streets that are labelled at a zoom."""

REPEAT = {13: 3600, 14: 3800, 15: 4200, 16: 4600, 17: 5600, 18: 7200}
"""The distance between two labels of one street, in tenths of a pixel."""

DISTRICT_SIZE = {12: 92, 13: 104, 14: 118, 15: 130, 16: 140}
PLACE_SIZE = {13: 98, 14: 100, 15: 104, 16: 108, 17: 114, 18: 120}


class Labels:
    """All labels of a city at one zoom, indexed by tile."""

    def __init__(self, atlas: Atlas, canvas: Canvas, zoom: int) -> None:
        self.atlas, self.canvas, self.zoom = atlas, canvas, zoom
        self.space = LabelSpace()
        self.index = TileIndex()
        self._number = 0
        self._city()
        self._places(
            [place for place in atlas.plan.places if RANKING[place.kind][0] <= min(zoom, 14)]
        )
        self._districts()
        self._waters()
        self._streets(range(2))
        self._places([place for place in atlas.plan.places if RANKING[place.kind][0] > 14])
        self._grounds()
        self._streets(range(2, 4))

    def _add(self, svg: str, circles: list[Circle]) -> None:
        reach = [(x + dx * r, y + dx * r) for x, y, r in circles for dx in (-1.6, 1.6)]
        self.index.add(svg, reach, 40)

    def _city(self) -> None:
        if self.zoom <= 12:
            size = 150 if self.zoom == 11 else 170
            self._horizontal(self.atlas.plan.name, self.canvas.at((0.0, 0.0)), size, "pl")

    def _horizontal(self, text: str, at: XY, size: float, kind: str, wide: float = 1.0) -> bool:
        width = text_width(text, size) * wide
        circles = row(at, width, size)
        if not self.space.claim(circles):
            return False
        self._add(_text(text, at[0], at[1] + size * 0.35, size, kind), circles)
        return True

    def _districts(self) -> None:
        if self.zoom in DISTRICT_SIZE:
            size = DISTRICT_SIZE[self.zoom]
            for place in self.atlas.plan.districts:
                if place.kind == "district":
                    self._horizontal(place.name.upper(), self._at(place), size, "di", 1.18)

    def _waters(self) -> None:
        for place in self.atlas.plan.districts:
            if place.kind == "water" and self.zoom >= 12:
                self._horizontal(
                    place.name, self._at(place), 115 if self.zoom < 15 else 150, "wa", 1.05
                )
        if self.zoom >= 14:
            for name, line in self.atlas.rivers:
                self._along(name, Measured(self.canvas.line(line)), 110, "wa", 6400)

    def _at(self, place: NamedPlace) -> XY:
        return self.canvas.at((place.at[0] * 1000, place.at[1] * 1000))

    def _places(self, places: list[NamedPlace]) -> None:
        for place in sorted(places, key=lambda place: RANKING[place.kind]):
            if self.zoom >= RANKING[place.kind][0]:
                self._place(place, PLACE_SIZE[self.zoom])

    def _place(self, place: NamedPlace, size: float) -> None:
        x, y = self._at(place)
        lines = lines_of(place.name, size, 900)
        tall = size * 1.15
        below = y + ICON_R + size
        above = y - ICON_R - size * 0.3 - tall * (len(lines) - 1)
        for first in (below, above):
            centers = [(x, first - size * 0.35 + i * tall) for i in range(len(lines))]
            circles = [(x, y, ICON_R + 20.0)]
            for center, text in zip(centers, lines, strict=True):
                circles += row(center, text_width(text, size), size)
            if self.space.claim(circles):
                words = "".join(
                    _text(t, x, first + i * tall, size, "pl") for i, t in enumerate(lines)
                )
                self._add(icon(place.kind, x, y) + words, circles)
                return

    def _grounds(self) -> None:
        named = {place.name for place in self.atlas.plan.places}
        for kind, name, ring in self.atlas.grounds:
            if name not in named and self.zoom >= 13:
                self._ground(kind, name, self.canvas.line(ring))

    def _ground(self, kind: str, name: str, ring: Line) -> None:
        size = 100 if self.zoom < 16 else 115
        west, _, east, _ = box(ring)
        if text_width(name, size) < (east - west) * 1.15 and abs(area(ring)) > 160_000:
            style = "pl" if kind in ("industrial", "airport", "station") else "gr"
            self._horizontal(name, centroid(ring), size, style)

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
                    Measured(self.canvas.line(line)),
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
                if self._label_at(name, line, middle, width, size, kind):
                    break

    def _label_at(
        self, name: str, line: Measured, middle: float, width: float, size: float, kind: str
    ) -> bool:
        half = width / 2
        if middle - half < 0 or middle + half > line.total:
            return False
        stretch = readable(line.stretch(middle - half, middle + half))
        if stretch is None:
            return False
        circles = strip(stretch, size)
        if not self.space.claim(circles):
            return False
        self._add(self._text_along(name, stretch, size, kind), circles)
        return True

    def _text_along(self, name: str, stretch: Line, size: float, kind: str) -> str:
        """The SVG of a text along a stretch: straight if the stretch is, otherwise curved."""
        a, b = stretch[0], stretch[-1]
        if max(nearest_on(a, b, p)[1] for p in stretch) < 9:
            x, y = lerp(a, b, 0.5)
            return _rotated_text(name, x, y, (b[0] - a[0], b[1] - a[1]), size, kind)
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


def _rotated_text(text: str, x: float, y: float, along: XY, size: float, kind: str) -> str:
    d = span((0.0, 0.0), along) or 1.0
    c, s = along[0] / d, along[1] / d
    slope = f"matrix({c:.4g} {s:.4g} {-s:.4g} {c:.4g} {x:.0f} {y:.0f})"
    height = size * 0.35
    head = f'<text class="{kind}" font-size="{size:.0f}" transform="{slope}" y="{height:.0f}">'
    return f"{head}{escape(text)}</text>"
