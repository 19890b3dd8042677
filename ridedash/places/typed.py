"""A place as a person types or pastes it: coordinates, a link to a map, a plus code, or words.

Nothing is guessed: a text in which no place is named, or more than one, says so.
"""

import re
from dataclasses import dataclass
from enum import StrEnum, auto
from typing import Final

from openlocationcode import openlocationcode as plus_codes

from ridedash.geo import LatLng
from ridedash.places.coordinates import (
    MOST_TYPED,
    coordinates_text,
    names_either_side,
    parse_coordinates,
    plain,
)
from ridedash.places.links import Linked, links_in, read_link
from ridedash.places.model import Geocoder, Place
from ridedash.text import one_line

COORDINATES: Final = "coordinates"  # the kind of a place that was typed or linked
_CODE: Final = re.compile(
    r"(?<![\w+])((?:[23456789CFGHJMPQRVWX]{4}){1,2}\+[23456789CFGHJMPQRVWX]{2,7})(?![\w+])",
    re.IGNORECASE,
)


class Unread(StrEnum):
    """Why no place is read from a text."""

    SHORT_LINK = auto()  # a shortened link, which only its own server can resolve
    OTHER_LINK = auto()  # a link without a place
    ROUTE = auto()  # a way from one place to another
    SEVERAL = auto()  # more than one place
    EITHER_SIDE = auto()  # the letter O of a longitude: east or west
    CODE = auto()  # a short plus code whose town is not found


@dataclass(frozen=True)
class TypedPlaces:
    """The places that a text may mean, best first.

    `is_sure`: the text names exactly this point, so that it needs no choice. `unread`: why there is
    none. A place with a point from a link or a code may have no name of its own.
    """

    places: tuple[Place, ...] = ()
    is_sure: bool = False
    unread: Unread | None = None
    words: str = ""  # that were searched for


def find_typed(geocoder: Geocoder, text: str, near: LatLng | None, limit: int = 8) -> TypedPlaces:
    """The places for a typed text. Raises PlacesUnavailableError when words are searched in vain.

    `near` is preferred among places of one name, and completes a short plus code without a town.
    """
    line = plain(text[:MOST_TYPED])
    links = links_in(line)
    if links and len(text) >= MOST_TYPED:
        return TypedPlaces(unread=Unread.OTHER_LINK)  # its end, perhaps its point, is cut off
    if links:
        return _linked(geocoder, line, links, near, limit)
    if names_either_side(line):
        return TypedPlaces(unread=Unread.EITHER_SIDE)
    point = parse_coordinates(line)
    if point is not None:
        return _sure(point, coordinates_text(point))
    code = _CODE.search(line)
    if code:
        return _coded(geocoder, code[1].upper(), _without(line, code[1]), near)
    return _searched(geocoder, line, near, limit)


def _sure(point: LatLng, name: str = "") -> TypedPlaces:
    return TypedPlaces((Place("", name, COORDINATES, "", point),), is_sure=True)


def _searched(geocoder: Geocoder, words: str, near: LatLng | None, limit: int) -> TypedPlaces:
    return TypedPlaces(tuple(geocoder.search(words, near, limit)), words=words)


def _linked(
    geocoder: Geocoder, line: str, links: list[str], near: LatLng | None, limit: int
) -> TypedPlaces:
    """What the links of a text name; else the words beside them, as a shared place has them."""
    found = [read_link(link) for link in links]
    points = {each.point: each for each in found if each.point and not each.is_view}
    if len(points) > 1:
        return TypedPlaces(unread=Unread.SEVERAL)
    words = one_line(_without(line, *links))
    if points:
        point, link = points.popitem()
        return _sure(point, link.label)
    best = next((each for each in found if each.label or each.is_view), found[0])
    words = best.label or words
    if words and not best.is_route:
        return _words_of_link(geocoder, words, best, near, limit)
    if best.is_view and best.point:
        return TypedPlaces((Place("", "", COORDINATES, "", best.point),))
    return TypedPlaces(unread=_why(best))


def _words_of_link(
    geocoder: Geocoder, words: str, link: Linked, near: LatLng | None, limit: int
) -> TypedPlaces:
    """The places of a name near the middle of the map that a link shows; none of them is sure."""
    code = _CODE.search(words)
    if code:
        return _coded(geocoder, code[1].upper(), _without(words, code[1]), near)
    places = geocoder.search(words, link.point or near, limit)
    if link.point:
        places = [*places, Place("", words, COORDINATES, "", link.point)]
    if not places:
        return TypedPlaces(words=words, unread=_why(link))
    return TypedPlaces(tuple(places), words=words)


def _why(link: Linked) -> Unread:
    if link.is_short:
        return Unread.SHORT_LINK
    if link.is_route:
        return Unread.ROUTE
    return Unread.OTHER_LINK


def _coded(geocoder: Geocoder, code: str, town: str, near: LatLng | None) -> TypedPlaces:
    """The point of a plus code; a short one is completed by its town, or by what is near."""
    if not plus_codes.isValid(code):
        return TypedPlaces(unread=Unread.CODE)
    if not plus_codes.isFull(code):
        towns = geocoder.search(town, near, 1) if town else []
        around = towns[0].position if towns else near
        if around is None or (town and not towns):
            return TypedPlaces(unread=Unread.CODE)
        code = plus_codes.recoverNearest(code, *around)
    area = plus_codes.decode(code)
    return _sure(LatLng(round(area.latitudeCenter, 6), round(area.longitudeCenter, 6)))


def _without(line: str, *parts: str) -> str:
    """A text without these parts of it."""
    for part in parts:
        line = line.replace(part, " ")
    return " ".join(line.split()).strip(" ,;:-–")
