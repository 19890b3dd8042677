"""Search for places by name, without regard to accents and case."""

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
    """The words of the name, then those of kind, area and city."""
    own: int
    """How many of the words belong to the name."""


def plain(text: str) -> str:
    """Lower-case letters without accents and digits; everything else becomes single spaces."""
    letters = (
        unicodedata.normalize("NFKD", text)
        .encode("ascii", "ignore")
        .decode()
        .lower()
        .replace("'", "")
    )
    return " ".join(re.findall(r"[a-z0-9]+", letters))


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
    nearest = min(city.places, key=lambda place: distance_m(place.position, here))
    area = nearest.area or (nearest.name if nearest.kind == "district" else "")
    hotspot = city.hotspot_at(here)
    return Around(city.roads.nearest_street_name(here), area, hotspot.name if hotspot else "")


def find(query: str, near: tuple[float | None, float | None], limit: int) -> list[Place]:
    """The places that match every word of a query, or all places if it is empty.

    The order is: best match, then nearest to `near`, then name.
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
    """The rank of a match, lowest first, or None if there is none.

    0: the whole name. 1: its beginning. 2: beginnings of words of the name. 3: beginnings of words
    of name, kind, area or city.
    """
    if not wanted or entry.name == wanted:
        return 0
    if entry.name.startswith(wanted):
        return 1
    words = wanted.split()
    if all(any(own.startswith(word) for own in entry.words[: entry.own]) for word in words):
        return 2
    if all(any(each.startswith(word) for each in entry.words) for word in words):
        return 3
    return None
