"""Lays out a graph of states as boxes and arrows, horizontally or vertically, for an SVG. Pure."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from ridedash.demo.lens.states import CREATE, Place, RidePath, StatusEdge

WIDTH, HEIGHT, SMALL = 140.0, 44.0, 56.0  # size of a box; SMALL: width of the box of create
MARGIN: Final = 10.0
BOW: Final = 46.0  # how far an arrow bends around boxes between its ends
APART: Final = 13.0  # how far each of two opposite arrows between the same boxes bends
TIP: Final = 7.0  # space for the tip of an arrow
LABEL: Final = 11.0  # distance between a horizontal arrow and its label above it


class Grid(NamedTuple):
    """The distances between the centres of boxes, along the ride's path and across it.

    `stands`: whether the path runs from top to bottom; else it runs from left to right.
    """

    along: float
    beside: float
    stands: bool


LYING: Final = Grid(194.0, 96.0, stands=False)
STANDING: Final = Grid(120.0, 108.0, stands=True)  # narrow enough for a phone


@dataclass(frozen=True)
class Box:
    """One status; x and y are its centre. `state`: now, been or ahead."""

    status: str
    x: float
    y: float
    width: float
    height: float
    state: str


@dataclass(frozen=True)
class Arrow:
    """One edge: the path of an SVG, and the centre of its label."""

    edge: StatusEdge
    path: str
    x: float
    y: float
    taken: bool


@dataclass(frozen=True)
class Picture:
    """The whole drawing; its width and height are those of all boxes, with a margin."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    stands: bool


def picture(way: RidePath, grid: Grid) -> Picture:
    """The picture of a ride's path. The steps that the ride took are drawn on top."""
    beside = [place[1] for place in way.graph.places.values()]
    place_of = _placer(grid, min(beside), CREATE in way.graph.places)
    boxes = {s: _box(s, *place_of(place), way) for s, place in way.graph.places.items()}
    arrows = [_arrow(edge, boxes, way) for edge in way.graph.edges]
    arrows.sort(key=lambda arrow: arrow.taken)
    right = max(box.x + box.width / 2 for box in boxes.values()) + MARGIN
    bottom = max(box.y + box.height / 2 for box in boxes.values()) + MARGIN
    return Picture(right, bottom, tuple(boxes.values()), tuple(arrows), grid.stands)


def _placer(grid: Grid, least: float, starts: bool) -> Callable[[Place], tuple[float, float]]:
    """Returns a function from a place in the graph to the centre of its box.

    In a horizontal picture the boxes after create move to the left, because its box is narrow.
    """

    def middle(place: Place) -> tuple[float, float]:
        along, beside = place[0] * grid.along, (place[1] - least) * grid.beside
        if grid.stands:
            return MARGIN + WIDTH / 2 + beside, MARGIN + HEIGHT / 2 + along
        spared = (WIDTH - SMALL) if starts else 0.0
        x = MARGIN + WIDTH / 2 + along - (spared if place[0] > 0 else spared / 2)
        return x, MARGIN + HEIGHT / 2 + beside

    return middle


def _box(status: str, x: float, y: float, way: RidePath) -> Box:
    width = SMALL if status == CREATE else WIDTH
    return Box(status, x, y, width, HEIGHT, _progress(status, way))


def _progress(status: str, way: RidePath) -> str:
    """Whether a status is "now", has "been", or is "ahead"."""
    if status == way.present:
        return "now"
    if status in way.been:
        return "been"
    return "ahead"


def _arrow(edge: StatusEdge, boxes: dict[str, Box], way: RidePath) -> Arrow:
    start, end = boxes[edge.start], boxes[edge.end]
    bend = _bend(edge, start, end, boxes, way)
    dx, dy = end.x - start.x, end.y - start.y
    far = math.hypot(dx, dy)
    # the control point of a quadratic curve, beside the centre of the straight line
    cx = (start.x + end.x) / 2 + bend * dy / far
    cy = (start.y + end.y) / 2 - bend * dx / far
    x1, y1 = _edge_of(start, cx, cy, 0.0)
    x2, y2 = _edge_of(end, cx, cy, TIP)
    curve = f"Q{cx:.1f} {cy:.1f} " if bend else "L"
    path = f"M{x1:.1f} {y1:.1f}{curve}{x2:.1f} {y2:.1f}"
    x, y = (x1 + x2) / 2, (y1 + y2) / 2
    if bend:
        x, y = (x + cx) / 2, (y + cy) / 2
    if abs(dy) < 1:
        y -= LABEL  # the label of a horizontal arrow stands above it, not on it
    return Arrow(edge, path, x, y, bool(way.at(edge)))


def _bend(edge: StatusEdge, start: Box, end: Box, boxes: dict[str, Box], way: RidePath) -> float:
    """How far an arrow bends: not at all, away from its opposite arrow, or around a box."""
    pairs = {(each.start, each.end) for each in way.graph.edges}
    if any(_between(start, end, box) for box in boxes.values()):
        return BOW * 2
    if (edge.end, edge.start) in pairs:
        return APART * 2
    return 0.0


def _between(start: Box, end: Box, box: Box) -> bool:
    """Whether a straight arrow would run across a box."""
    if box.status in (start.status, end.status):
        return False
    dx, dy = end.x - start.x, end.y - start.y
    part = ((box.x - start.x) * dx + (box.y - start.y) * dy) / (dx * dx + dy * dy)
    if not 0 < part < 1:
        return False
    x, y = start.x + part * dx, start.y + part * dy
    return abs(x - box.x) < box.width / 2 and abs(y - box.y) < box.height / 2


def _edge_of(box: Box, x: float, y: float, room: float) -> tuple[float, float]:
    """Where a line from the centre of a box to a point leaves the box, moved out by `room`."""
    dx, dy = x - box.x, y - box.y
    across = box.width / 2 / abs(dx) if dx else math.inf
    down = box.height / 2 / abs(dy) if dy else math.inf
    part = min(across, down) + room / math.hypot(dx, dy)
    return box.x + dx * part, box.y + dy * part
