"""Places, streets and cities as pages show them, and the interface of a place search."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from ridedash.geo import LatLng


@dataclass(frozen=True)
class Place:
    """One place that a search found; its texts are plain and short."""

    id: str
    name: str
    kind: str  # what it is, such as a station
    area: str  # where it is: a street, a part of the city
    position: LatLng


@dataclass(frozen=True)
class Nearby:
    """What is at a point: the street, the part of the city, and a place that contains it; or ""."""

    street: str = ""
    area: str = ""
    place: str = ""


@dataclass(frozen=True)
class CityArea:
    """A city that the service covers: its outline on a map, and the map's first view."""

    slug: str
    name: str
    center: LatLng
    zoom: int
    boundary: tuple[LatLng, ...]


def address(parts: Iterable[str]) -> str:
    """The known parts of an address, each once, as one text: "Lower Crossing, Old Town".

    All readers and the driver see the same text: each comma is that of the writing system of the
    part before it, not that of the reader's language.
    """
    known = list(dict.fromkeys(filter(None, parts)))
    return "".join(part + _comma_after(part) for part in known[:-1]) + "".join(known[-1:])


def _comma_after(part: str) -> str:
    letters = [unicodedata.name(char, "") for char in part if char.isalpha()]
    last = letters[-1] if letters else ""
    if last.startswith("ARABIC"):
        return "، "
    return "、" if last.startswith(("CJK", "HIRAGANA", "KATAKANA")) else ", "


class PlacesUnavailableError(Exception):
    """The place search gave no usable answer. Coordinates and the map can still be used."""


class Geocoder(Protocol):
    """The interface of a place search."""

    def search(self, q: str, near: LatLng | None = None, limit: int = 8) -> list[Place]:
        """Places that match a text, best first. Raises PlacesUnavailableError."""

    def nearby(self, point: LatLng) -> Nearby | None:
        """What is at a point; None when that is unknown. Raises nothing."""

    def cities(self) -> tuple[CityArea, ...]:
        """The cities that the service covers; empty when they are unknown. Raises nothing."""
