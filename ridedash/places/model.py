"""Places, streets and cities as pages show them, and the interface of a place search."""

from dataclasses import dataclass
from typing import Protocol

from ridedash.geo import LatLng


@dataclass(frozen=True)
class Place:
    """One place that a search found.

    `area` describes where it is; both texts are plain and short.
    """

    id: str
    name: str
    kind: str
    area: str
    position: LatLng


@dataclass(frozen=True)
class Nearby:
    """What is around a point: a street, a part of the city, a known place that contains it."""

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


class PlacesUnavailableError(Exception):
    """The place search gave no usable answer; coordinates and the map work without it."""


class Geocoder(Protocol):
    """The interface of a place search."""

    def search(self, q: str, near: LatLng | None = None, limit: int = 8) -> list[Place]:
        """Places that match a text, best first. Raises PlacesUnavailableError."""

    def nearby(self, point: LatLng) -> Nearby | None:
        """What is around a point; None when it is unknown. Raises nothing."""

    def cities(self) -> tuple[CityArea, ...]:
        """Outlines of the cities that are served; empty when they are unknown. Raises nothing."""
