"""Places, streets and cities as pages show them, and the interface of a place search."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from ridedash.geo import LatLng, distance_m
from ridedash.places.coordinates import coordinates_text
from ridedash.text import normalised

ONE_PLACE_M: Final = 150.0  # places of the same words this close are one


@dataclass(frozen=True)
class Place:
    """One place that a search found; its texts are plain and short."""

    id: str
    name: str
    kind: str  # what it is, such as a station
    area: str  # where it is: a street, a part of the city
    position: LatLng
    within: tuple[str, ...] = ()  # larger areas that tell places of one name apart, smallest first


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


def told_apart(places: Sequence[Place]) -> list[Place]:
    """Places of one name with what tells them apart in the name: "Neustadt, Lower County".

    The name is what is booked, shown, printed and proposed later. Rows that differ in nothing are
    one place if they are close to each other; else their coordinates tell them apart.
    """
    alike: dict[str, list[Place]] = {}
    for place in places:
        rows = alike.setdefault(normalised(place.name), [])
        if not any(_is_same(place, each) for each in rows):
            rows.append(place)
    kept = [place for place in places if place in alike[normalised(place.name)]]
    return [_named_apart(place, alike[normalised(place.name)]) for place in kept]


def _is_same(one: Place, other: Place) -> bool:
    words = (one.area, one.within) == (other.area, other.within)
    return words and distance_m(one.position, other.position) <= ONE_PLACE_M


def _named_apart(place: Place, alike: Sequence[Place]) -> Place:
    """The place, named with the smallest area that no other of these places lies in."""
    others = [{each.area, *each.within} for each in alike if each is not place]
    if not others:
        return place
    own = (each for each in (place.area, *place.within) if each)
    apart = next((area for area in own if not any(area in each for each in others)), "")
    return replace(place, name=address((place.name, apart or coordinates_text(place.position))))


def address(parts: Iterable[str]) -> str:
    """The known parts of an address, each once, as one text: "Lower Crossing, Old Town".

    All readers and the driver see the same text: each comma is that of the writing system of the
    part before it, not that of the reader's language.
    """
    known = list(dict.fromkeys(filter(None, parts)))
    return "".join(part + _comma_after(part) for part in known[:-1]) + "".join(known[-1:])


def _comma_after(part: str) -> str:
    last = next((unicodedata.name(char, "") for char in reversed(part) if char.isalpha()), "")
    if last.startswith("ARABIC"):
        return "، "
    if last.startswith(("CJK", "HIRAGANA", "KATAKANA")):
        return "、"
    return ", "


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
