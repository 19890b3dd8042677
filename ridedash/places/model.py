"""Places, streets and cities as pages show them, and the interface of a place search."""

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
