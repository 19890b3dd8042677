"""Links to a place on Google Maps, Apple Maps, OpenStreetMap or Waze, and `geo:` addresses.

A link is read and never fetched. A shortened one names no place by itself: that is said.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final
from urllib.parse import SplitResult, parse_qsl, unquote, unquote_plus, urlsplit

from ridedash.geo import LatLng
from ridedash.places.coordinates import parse_coordinates, point_of, sent_point
from ridedash.text import one_line

_LINK: Final = re.compile(
    r"(?:https?://|geo:|(?<![\w.@])(?:[\w-]+\.)*(?:google\.[a-z.]{2,6}/(?:maps|\?)|goo\.gl/|"
    r"maps\.apple\.com/|maps\.apple/|openstreetmap\.org/|osm\.org/|waze\.com/))[^\s<>]+",
    re.IGNORECASE,
)
_GOOGLE: Final = re.compile(r"(?:[\w-]+\.)*google\.[a-z]{2,3}(?:\.[a-z]{2})?")
_PLACE_OF_DATA: Final = re.compile(r"!3d(-?\d{1,2}\.\d+)!4d(-?\d{1,3}\.\d+)")
_VIEW: Final = re.compile(r"@(-?\d{1,2}(?:\.\d+)?),(-?\d{1,3}(?:\.\d+)?)")
_OSM_VIEW: Final = re.compile(r"map=\d+(?:\.\d+)?/(-?\d{1,2}(?:\.\d+)?)/(-?\d{1,3}(?:\.\d+)?)")
_GEO: Final = re.compile(r"(-?\d{1,2}(?:\.\d+)?),(-?\d{1,3}(?:\.\d+)?)")
_LABELLED: Final = re.compile(r"([^()]+)\((.+)\)")
_GEOHASH: Final = re.compile(r"/(?:ul|live-map)/h([0-9b-hjkmnp-z]{5,12})", re.IGNORECASE)
_BASE32: Final = "0123456789bcdefghjkmnpqrstuvwxyz"
_SHORTENERS: Final = ("goo.gl", "maps.app.goo.gl", "apple", "maps.apple", "g.co", "share.google")
MOST_LINKS: Final = 5


@dataclass(frozen=True)
class Linked:
    """What a link says: a point, or words to search for; both may be missing.

    `is_view`: the point is only the middle of the map that the link shows.
    """

    point: LatLng | None = None
    label: str = ""
    is_view: bool = False
    is_short: bool = False
    is_route: bool = False  # a way from one place to another


def links_in(text: str) -> list[str]:
    """The links of a text."""
    return [_trimmed(found[0]) for found in _LINK.finditer(text)][:MOST_LINKS]


def _trimmed(link: str) -> str:
    """A link without the punctuation of the sentence around it."""
    bare = link.rstrip(".,;\"'")
    if "(" in bare:
        return bare
    return bare.rstrip(")")


def read_link(link: str) -> Linked:
    """The place of a link; an empty Linked for one that is none of a map."""
    if link.lower().startswith("geo:"):
        return _geo(link[4:])
    if "://" not in link:
        link = f"https://{link}"
    try:
        parts = urlsplit(link)
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return Linked()
    for is_of, read in _READERS:
        if is_of(host):
            return read(parts)
    return Linked()


def _google(parts: SplitResult) -> Linked:
    values = dict(parse_qsl(parts.query))
    path = [unquote_plus(each) for each in parts.path.split("/")]
    if "dir" in path:
        return _google_route(values, path)
    after = _after(path, ("place", "search"))
    label = "" if _coordinates(after) else one_line(after)
    exact = _PLACE_OF_DATA.findall(parts.path)
    if exact:
        return Linked(point_of(*exact[-1]), label)
    for text in (after, *(values.get(each, "") for each in ("q", "query", "daddr"))):
        point = _coordinates(text)
        if point:
            return Linked(point, _label_of(text))
    label = label or one_line(values.get("q") or values.get("query") or values.get("daddr"))
    middle = _coordinates(values.get("ll", ""))
    if middle and not label:
        return Linked(middle)
    middle = middle or _point_of_match(_VIEW.search(unquote(parts.path)))
    return Linked(middle, label, is_view=middle is not None)


def _google_route(values: dict[str, str], path: list[str]) -> Linked:
    """Directions: their destination, if nothing else is named as a place."""
    named = values.get("destination", "")
    if named:
        point = _coordinates(named)
        if point:
            return Linked(point)
        return Linked(label=one_line(named))
    stops = [each for each in path[path.index("dir") + 1 :] if each and each[0] not in "@d"]
    if len(stops) == 1 and _coordinates(stops[0]):
        return Linked(_coordinates(stops[0]))
    return Linked(is_route=True)


def _apple(parts: SplitResult) -> Linked:
    values = dict(parse_qsl(parts.query))
    label = one_line(values.get("name") or values.get("q") or values.get("address"))
    if values.get("saddr") and values.get("daddr"):
        return _of_texts([values["daddr"]])
    point = _of_texts([values.get(each, "") for each in ("coordinate", "ll", "daddr", "q")]).point
    if parts.path.startswith("/p/"):
        return Linked(is_short=True)
    if _coordinates(label):
        return Linked(point)
    return Linked(point, label)


def _osm(parts: SplitResult) -> Linked:
    values = dict(parse_qsl(parts.query))
    if "/go/" in parts.path:
        return Linked(is_short=True)
    if "directions" in parts.path:
        return Linked(is_route=True)
    if "mlat" in values and "mlon" in values:
        return Linked(_coordinates(f"{values['mlat']}, {values['mlon']}"))
    if values.get("query"):
        found = _of_texts([values["query"]])
        if found.point:
            return found
        return Linked(label=one_line(values["query"]))
    view = _OSM_VIEW.search(parts.fragment)
    return Linked(_point_of_match(view), is_view=bool(view))


def _waze(parts: SplitResult) -> Linked:
    values = dict(parse_qsl(parts.query))
    if values.get("from") and values.get("to"):
        return Linked(is_route=True)
    texts = [values.get("ll", ""), values.get("latlng", ""), values.get("to", "")]
    point = _of_texts([each.removeprefix("ll.") for each in texts]).point
    hashed = _GEOHASH.search(parts.path)
    if point is None and hashed:
        point = _of_geohash(hashed[1].lower())
    return Linked(point, one_line(values.get("q")))


def _geo(rest: str) -> Linked:
    """`geo:12.97,77.59` and Android's `geo:0,0?q=12.97,77.59(Name)`."""
    place, _sign, query = rest.partition("?")
    named = dict(parse_qsl(query)).get("q", "")
    labelled = _LABELLED.fullmatch(named)
    point = _coordinates(labelled[1] if labelled else named)
    if point:
        return Linked(point, _label_of(named))
    point = _point_of_match(_GEO.match(unquote(place)))
    if point == (0, 0):  # for Android, that says nothing but `q`
        return Linked(label=one_line(named))
    return Linked(point, one_line(named))


def _point_of_match(found: re.Match[str] | None) -> LatLng | None:
    """The point of a pattern with two groups; None where it was not found."""
    return point_of(*found.groups()) if found else None


def _short(_parts: SplitResult) -> Linked:
    return Linked(is_short=True)


def _of_texts(texts: list[str]) -> Linked:
    return Linked(next(filter(None, map(_coordinates, texts)), None))


def _coordinates(text: str) -> LatLng | None:
    """The point of a part of a link, such as `12.97,77.59`, also with a label in brackets."""
    labelled = _LABELLED.fullmatch(text.strip())
    bare = (labelled[1] if labelled else text).strip().removeprefix("loc:")
    # whole degrees in a link are coordinates, unlike typed ones
    return parse_coordinates(bare) or sent_point(bare)


def _label_of(text: str) -> str:
    labelled = _LABELLED.fullmatch(text.strip())
    return one_line(labelled[2]) if labelled else ""


def _after(path: list[str], names: tuple[str, ...]) -> str:
    """The part of a path after the first of these names; "" without one."""
    for part, following in pairwise(path):
        if part in names and following.startswith(("@", "data=")):
            return ""
        if part in names:
            return following
    return ""


def _of_geohash(letters: str) -> LatLng:
    """The middle of a geohash, whose bits halve longitude and latitude in turn."""
    sides = [[-180.0, 180.0], [-90.0, 90.0]]
    bits = "".join(f"{_BASE32.index(letter):05b}" for letter in letters)
    for at, bit in enumerate(bits):
        side = sides[at % 2]
        side[bit == "0"] = sum(side) / 2
    (west, east), (south, north) = sides
    return LatLng(round((south + north) / 2, 6), round((west + east) / 2, 6))


def _is_host(name: str) -> Callable[[str], bool]:
    return lambda host: host == name or host.endswith(f".{name}")


_READERS: Final[tuple[tuple[Callable[[str], bool], Callable[[SplitResult], Linked]], ...]] = (
    (lambda host: host in _SHORTENERS, _short),
    (lambda host: bool(_GOOGLE.fullmatch(host)), _google),
    (_is_host("apple.com"), _apple),
    (_is_host("openstreetmap.org"), _osm),
    (_is_host("osm.org"), _osm),
    (_is_host("waze.com"), _waze),
)
