"""Places, streets and cities as pages know them, and what a page needs of a place search."""

from dataclasses import dataclass
from typing import Protocol

from ridedash.geo import LatLng


@dataclass(frozen=True)
class Place:
    """One place that a search found.

    `area` says where it is in words; both texts are plain and short.
    """

    id: str
    name: str
    kind: str
    area: str
    position: LatLng


@dataclass(frozen=True)
class Nearby:
    """What is around a point: a street, the part of the city, and a known place that the point lies
    within.
    """

    street: str = ""
    area: str = ""
    place: str = ""


@dataclass(frozen=True)
class CityArea:
    """Where the service runs: for the outline on a map and the view that it opens with."""

    slug: str
    name: str
    center: LatLng
    zoom: int
    boundary: tuple[LatLng, ...]


class PlacesUnavailableError(Exception):
    """The place search gave no usable answer; coordinates and the map still work."""


class Geocoder(Protocol):
    """What a page needs of a place search."""

    def search(self, q: str, near: LatLng | None = None, limit: int = 8) -> list[Place]:
        """Places for typed words, best first. Raises PlacesUnavailableError."""

    def nearby(self, point: LatLng) -> Nearby | None:
        """What is around a point; None when nobody knows.

        Never raises: words for a pin are a comfort.
        """

    def cities(self) -> tuple[CityArea, ...]:
        """Outlines of the cities served; empty when nobody tells us. Never raises."""
