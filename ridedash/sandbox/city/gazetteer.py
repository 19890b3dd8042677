"""Finding places by what people type: accents and case ignored, whole names before beginnings
before words within.
"""

import functools
import re
import unicodedata
from typing import NamedTuple

from ridedash.geo import LatLng, distance_m
from ridedash.sandbox.city.city import Place, cities, city_at


class _Entry(NamedTuple):
    place: Place
    name: str
    words: tuple[str, ...]
    """Words of the name, then those of kind and area."""
    own: int
    """How many of the words are the name's."""


def plain(text: str) -> str:
    """Small letters without accents, anything else but digits as single spaces."""
    letters = (
        unicodedata.normalize("NFKD", text)
        .encode("ascii", "ignore")
        .decode()
        .lower()
        .replace("'", "")
    )
    return " ".join(re.findall(r"[a-z0-9]+", letters))


class Around(NamedTuple):
    """What is around a point; "" for what is not known there."""

    street: str
    area: str
    place: str


def around(here: LatLng) -> Around:
    """The nearest street, the area of the nearest place, and the hotspot around a point; nothing
    outside the cities.
    """
    city = city_at(here)
    if city is None:
        return Around("", "", "")
    nearest = min(city.places, key=lambda place: distance_m(place.position, here))
    area = nearest.area or (nearest.name if nearest.kind == "district" else "")
    hotspot = city.hotspot_at(here)
    return Around(city.roads.nearest_street_name(here), area, hotspot.name if hotspot else "")


def find(query: str, near: tuple[float | None, float | None], limit: int) -> list[Place]:
    """Places that match every word of a query, best first, then nearest first, then by name; all
    when it is empty.
    """
    lat, lng = near
    here = LatLng(lat, lng) if lat is not None and lng is not None else None
    wanted = plain(query)
    if query.strip() and not wanted:
        return []
    scored = [
        (score, entry.place) for entry in _entries() if (score := _score(entry, wanted)) is not None
    ]
    scored.sort(key=lambda s: (s[0], distance_m(here, s[1].position) if here else 0.0, s[1].name))
    return [place for _, place in scored[:limit]]


@functools.cache
def _entries() -> tuple[_Entry, ...]:
    found = []
    for city in cities():
        for place in city.places:
            name = plain(place.name)
            own = tuple(name.split())
            more = tuple(plain(f"{place.kind} {place.area} {city.name}").split())
            found.append(_Entry(place, name, own + more, len(own)))
    return tuple(found)


def _score(entry: _Entry, wanted: str) -> int | None:
    """0 the name itself, 1 its beginning, 2 words that begin in it, 3 with help of kind and area;
    None is no match.
    """
    if not wanted or entry.name == wanted:
        return 0
    if entry.name.startswith(wanted):
        return 1
    words = wanted.split()
    if all(any(own.startswith(word) for own in entry.words[: entry.own]) for word in words):
        return 2
    if all(any(any_word.startswith(word) for any_word in entry.words) for word in words):
        return 3
    return None
