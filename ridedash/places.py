"""Place search by setting: the sandbox's gazetteer, Photon or Nominatim; and the outline of the cities."""

import re
import threading
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from ridedash.geo import LatLng, is_valid
from ridedash.service.errors import ServiceError
from ridedash.service.http import Http

MAX_QUERY: Final = 100  # characters
MAX_NAME: Final = 120
CONNECT_S: Final = 2.0
TOTAL_S: Final = 3.0
CAP_BYTES: Final = 256 * 1024
SEARCH_TTL_S: Final = 600.0
CITIES_TTL_S: Final = 3600.0
FAILURE_TTL_S: Final = 10.0  # a service that is down is not asked again for every page

_PAIR: Final = re.compile(r"\s*([+-]?\d{1,3}(?:\.\d{1,12})?)\s*(?:,|;|\s)\s*([+-]?\d{1,3}(?:\.\d{1,12})?)\s*")


@dataclass(frozen=True)
class Place:
    """One place that a search found. `area` says where it is in words; both texts are plain and short."""

    id: str
    name: str
    kind: str
    area: str
    position: LatLng


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

    def cities(self) -> tuple[CityArea, ...]:
        """Outlines of the cities served; empty when nobody tells us. Never raises."""


def geocoder_for(kind: str, base_url: str, http: Http, now: Callable[[], float] = time.monotonic) -> Geocoder:
    """The geocoder that a setting names: `sandbox`, `photon` or `nominatim`."""
    source: Callable[[Http, str, Callable[[], float]], Geocoder] = {
        "sandbox": SandboxPlaces,
        "photon": Photon,
        "nominatim": Nominatim,
    }[kind]
    return source(http, base_url, now)


def parse_coordinates(text: str) -> LatLng | None:
    """`-38.5012, -128.0034` as a point; None when it is something else or off the earth.

    >>> parse_coordinates("12.95, 77.6")
    LatLng(lat=12.95, lng=77.6)
    """
    found = _PAIR.fullmatch(text)
    if not found:
        return None
    lat, lng = float(found[1]), float(found[2])
    return LatLng(lat, lng) if is_valid(lat, lng) else None


def coordinates_text(point: LatLng) -> str:
    """A point as people read and type it, to about a metre."""
    return f"{point.lat:.5f}, {point.lng:.5f}"


class Memory:
    """Values kept for a while, the least used forgotten first. Safe to share between threads."""

    def __init__(self, size: int, now: Callable[[], float]) -> None:
        self._size, self._now = size, now
        self._lock = threading.Lock()
        self._kept: OrderedDict[Any, tuple[float, Any]] = OrderedDict()

    def get(self, key: Any) -> Any | None:
        with self._lock:
            until, value = self._kept.get(key, (0.0, None))
            if value is None or until <= self._now():
                return None
            self._kept.move_to_end(key)
            return value

    def put(self, key: Any, value: Any, ttl_s: float) -> None:
        with self._lock:
            self._kept[key] = (self._now() + ttl_s, value)
            self._kept.move_to_end(key)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)


class _Search:
    """What the three searches share: the bounded call and the caches."""

    path = ""

    def __init__(self, http: Http, base_url: str, now: Callable[[], float] = time.monotonic) -> None:
        self._http, self._base = http, base_url
        self._found = Memory(256, now)
        self._areas = Memory(1, now)

    def search(self, q: str, near: LatLng | None = None, limit: int = 8) -> list[Place]:
        words = " ".join(q.split())[:MAX_QUERY]
        key = (words.casefold(), near and (round(near.lat, 3), round(near.lng, 3)), limit)
        kept = self._found.get(key)
        if kept is None:
            answer = self._ask(self.path, self._params(words, near, limit))
            kept = tuple(filter(None, (self._place(item) for item in self._items(answer))))[:limit]
            self._found.put(key, kept, SEARCH_TTL_S)
        return list(kept)

    def cities(self) -> tuple[CityArea, ...]:
        return ()

    def _ask(self, path: str, params: Mapping[str, str]) -> Any:
        try:
            answer = self._http.call(
                "GET", self._base + path, params=params,
                connect_s=CONNECT_S, total_s=TOTAL_S, cap_bytes=CAP_BYTES,
            )  # fmt: skip
            if answer.status != 200:
                raise PlacesUnavailableError(f"place search answered {answer.status}")
            return answer.json()
        except ServiceError as error:
            raise PlacesUnavailableError("place search gave no usable answer") from error

    def _params(self, words: str, near: LatLng | None, limit: int) -> dict[str, str]:
        raise NotImplementedError

    def _items(self, answer: Any) -> Iterable[Any]:
        raise NotImplementedError

    def _place(self, item: Any) -> Place | None:
        raise NotImplementedError


class SandboxPlaces(_Search):
    """The gazetteer and the city outlines that the sandbox serves beside the interface."""

    path = "/places"

    def _params(self, words: str, near: LatLng | None, limit: int) -> dict[str, str]:
        return {"q": words, "limit": str(limit)} | ({"lat": str(near.lat), "lng": str(near.lng)} if near else {})

    def _items(self, answer: Any) -> Iterable[Any]:
        return _list(_map(answer).get("places"))

    def _place(self, item: Any) -> Place | None:
        facts = _map(item)
        return _made(facts.get("id"), facts.get("name"), facts.get("kind"), facts.get("area"), _point(facts))

    def cities(self) -> tuple[CityArea, ...]:
        kept = self._areas.get("cities")
        if kept is None:
            try:
                items = _list(_map(self._ask("/city.json", {})).get("cities"))
                kept, ttl_s = (tuple(filter(None, map(_city, items))),), CITIES_TTL_S
            except PlacesUnavailableError:
                kept, ttl_s = ((),), FAILURE_TTL_S
            self._areas.put("cities", kept, ttl_s)
        found: tuple[CityArea, ...] = kept[0]
        return found


class Photon(_Search):
    """A Photon server (komoot/photon): `/api`, GeoJSON answers."""

    path = "/api"

    def _params(self, words: str, near: LatLng | None, limit: int) -> dict[str, str]:
        return {"q": words, "limit": str(limit)} | ({"lat": str(near.lat), "lon": str(near.lng)} if near else {})

    def _items(self, answer: Any) -> Iterable[Any]:
        return _list(_map(answer).get("features"))

    def _place(self, item: Any) -> Place | None:
        facts = _map(_map(item).get("properties"))
        pair = _list(_map(_map(item).get("geometry")).get("coordinates"))
        point = _point({"lat": pair[1], "lng": pair[0]}) if len(pair) == 2 else None
        street = " ".join(filter(None, (plain(facts.get("street")), plain(facts.get("housenumber")))))
        parts = (street, plain(facts.get("district")), plain(facts.get("city")))
        return _made(
            facts.get("osm_id"), facts.get("name") or street, facts.get("osm_value"), _joined(parts), point
        )  # fmt: skip


class Nominatim(_Search):
    """A Nominatim server: `/search`. The public one forbids search while typing: run your own."""

    path = "/search"

    def _params(self, words: str, near: LatLng | None, limit: int) -> dict[str, str]:
        asked = {"q": words, "limit": str(limit), "format": "jsonv2"}
        if near:  # prefer, not require, what is within about 50 km
            box = (near.lng - 0.5, near.lat + 0.5, near.lng + 0.5, near.lat - 0.5)
            asked["viewbox"] = ",".join(f"{side:.4f}" for side in box)
        return asked

    def _items(self, answer: Any) -> Iterable[Any]:
        return _list(answer)

    def _place(self, item: Any) -> Place | None:
        facts = _map(item)
        whole = plain(facts.get("display_name"))
        first, _, rest = whole.partition(", ")
        point = _point({"lat": facts.get("lat"), "lng": facts.get("lon")})
        return _made(facts.get("place_id"), facts.get("name") or first, facts.get("type"), rest, point)


def plain(text: object, longest: int = MAX_NAME) -> str:
    """One line of text for people: no control, format or bidirectional characters, not long. "" for no text."""
    if not isinstance(text, str):
        return ""
    kept = (" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text[: longest * 4])
    shown = "".join(c for c in kept if unicodedata.category(c) not in ("Cf", "Cs", "Co", "Cn"))
    return " ".join(shown.split())[:longest]


def _made(id_: object, name: object, kind: object, area: object, point: LatLng | None) -> Place | None:
    shown = plain(name)
    if not shown or point is None:
        return None
    return Place(plain(str(id_ or "")), shown, plain(kind), plain(area), point)


def _city(item: Any) -> CityArea | None:
    facts = _map(item)
    center = _pair(facts.get("center"))
    if center is None:
        return None
    ring = tuple(filter(None, (_pair(corner) for corner in _list(facts.get("boundary"))[:500])))
    zoom = facts.get("zoom")
    return CityArea(
        plain(facts.get("slug")), plain(facts.get("name")), center, zoom if isinstance(zoom, int) else 13, ring
    )  # fmt: skip


def _pair(value: Any) -> LatLng | None:
    pair = _list(value)
    return _point({"lat": pair[0], "lng": pair[1]}) if len(pair) == 2 else None


def _point(facts: Mapping[str, Any]) -> LatLng | None:
    try:
        lat, lng = float(facts["lat"]), float(facts["lng"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    return LatLng(lat, lng) if is_valid(lat, lng) else None


def _joined(parts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(filter(None, parts)))


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
