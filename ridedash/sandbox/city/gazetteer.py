"""Search for places and streets by name, without regard to accents and case."""

import functools
import math
import re
import threading
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from ridedash.geo import LatLng, distance_m
from ridedash.sandbox.city.city import City, Place, cities, city_at, slug
from ridedash.sandbox.city.geometry import XY


class _Entry(NamedTuple):
    place: Place
    name: str
    words: tuple[str, ...]
    """The words of the name, then those of kind, area and city."""
    own: int
    """How many of the words belong to the name."""
    rank_offset: int
    """Added to the rank of a match: a street not named in full comes after all places (_score)."""


def plain(text: str) -> str:
    """The text in lower-case ASCII letters and digits, without accents.

    Apostrophes and characters without an ASCII form are left out; other characters between two
    words become one space.
    """
    letters = (
        unicodedata.normalize("NFKD", text)
        .encode("ascii", "ignore")
        .decode()
        .lower()
        .replace("'", "")
    )
    return " ".join(re.findall(r"[a-z0-9]+", letters))


def _has_foreign_letters(query: str) -> bool:
    """Whether a text has letters or digits without an ASCII form; no name of a place has any."""
    letters = unicodedata.normalize("NFKD", query)
    return any(char.isalnum() and not char.isascii() for char in letters)


class Around(NamedTuple):
    """The names around a point; "" for each that is unknown."""

    street: str
    area: str
    place: str


def around(here: LatLng) -> Around:
    """The nearest street, the area of the nearest place, and the hotspot around a point.

    All are "" outside the cities.
    """
    city = city_at(here)
    if city is None:
        return Around("", "", "")
    hotspot = city.hotspot_at(here)
    place = hotspot.name if hotspot else ""
    return Around(city.roads.nearest_street_name(here), _area(city, here), place)


def _area(city: City, here: LatLng) -> str:
    nearest = min(city.places, key=lambda place: distance_m(place.position, here))
    return nearest.area or (nearest.name if nearest.kind == "district" else "")


def find(query: str, near: tuple[float | None, float | None], limit: int) -> list[Place]:
    """The places and streets that match every word of a query; all places if the query is empty.

    A query with a letter of another script finds nothing, because all names are in Latin letters.
    The order is: best match, then nearest to `near`, then name.
    """
    lat, lng = near
    here = LatLng(lat, lng) if lat is not None and lng is not None else None
    wanted = plain(query)
    if query.strip() and (not wanted or _has_foreign_letters(query)):
        return []
    scored = [
        (score, entry.place) for entry in _entries() if (score := _score(entry, wanted)) is not None
    ]
    scored.sort(key=lambda s: (s[0], distance_m(here, s[1].position) if here else 0.0, s[1].name))
    return [place for _, place in scored[:limit]]


def prepare() -> None:
    """Read the names of all places and streets now, so that the first search doesn't have to.

    This takes about a second of one core, most of it for building the streets.
    """
    _entries()


_reading = threading.Lock()


def _entries() -> tuple[_Entry, ...]:
    with _reading:  # one thread reads the names, the others wait for it
        return _read_entries()


@functools.cache
def _read_entries() -> tuple[_Entry, ...]:
    found = []
    for city in cities():
        for place in (*city.places, *_streets(city)):
            name = plain(place.name)
            own = tuple(name.split())
            more = tuple(plain(f"{place.kind} {place.area} {city.name}").split())
            rank_offset = 4 if place.kind == "street" else 0
            found.append(_Entry(place, name, own + more, len(own), rank_offset))
    return tuple(found)


def _streets(city: City) -> Iterator[Place]:
    """Every named street once, with its point that is nearest to its middle."""
    lines: dict[str, list[XY]] = {}
    for edge in city.roads.mesh.edges:
        lines.setdefault(edge.name, []).append(edge.line[len(edge.line) // 2])
    for name, points in lines.items():
        middle = tuple(sum(axis) / len(points) for axis in zip(*points, strict=True))
        here = city.roads.frame.latlng(min(points, key=lambda p: math.dist(p, middle)))
        if city.contains(here):
            yield Place(f"street-{slug(name)}", name, "street", _area(city, here), here)


def _score(entry: _Entry, wanted: str) -> int | None:
    """The rank of a match, lowest first, or None if there is none.

    0: the whole name. 1: its beginning. 2: beginnings of words of the name. 3: beginnings of words
    of name, kind, area or city. A street that is not named in full ranks below all of these.
    """
    if not wanted and entry.rank_offset:
        return None
    if wanted in ("", entry.name):
        return 0
    if entry.name.startswith(wanted):
        return 1 + entry.rank_offset
    words = wanted.split()
    if all(any(own.startswith(word) for own in entry.words[: entry.own]) for word in words):
        return 2 + entry.rank_offset
    if all(any(each.startswith(word) for each in entry.words) for word in words):
        return 3 + entry.rank_offset
    return None
