"""Sources of places: the sandbox's gazetteer, a Photon or a Nominatim server."""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from ridedash.geo import LatLng, is_valid
from ridedash.places.cache import TtlCache
from ridedash.places.model import (
    CityArea,
    Nearby,
    Place,
    PlacesUnavailableError,
    address,
    told_apart,
)
from ridedash.service.errors import ServiceError
from ridedash.service.transport.http import Http, Request
from ridedash.text import one_line

MAX_QUERY: Final = 80  # characters: the sandbox answers 400 for more
TOTAL_S: Final = 3.0
NEARBY_S: Final = 1.0  # short, because the price request waits for the name of a pin
MAX_ADDRESS: Final = 300  # characters of the whole address of a place
CAP_BYTES: Final = 256 * 1024
SEARCH_TTL_S: Final = 600.0
CITIES_TTL_S: Final = 3600.0
FAILURE_TTL_S: Final = 10.0  # a service that is down is not called again for every page


class Search:
    """The common part of the three searches: caches, and calls with limits of time and size.

    `path` is the address of a search by name, `reverse` that of a search by point. A subclass
    builds the requests and parses the answers of its server. It implements model.Geocoder.
    """

    path = ""
    reverse = ""

    def __init__(
        self, http: Http, base_url: str, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._http = http
        self._base = base_url
        self._found = TtlCache(256, now)
        self._around = TtlCache(256, now)
        self._areas = TtlCache(1, now)

    def search(self, q: str, near: LatLng | None = None, limit: int = 8) -> list[Place]:
        words = " ".join(q.split())[:MAX_QUERY]
        key = (words.casefold(), near and (round(near.lat, 3), round(near.lng, 3)), limit)
        cached = self._found.get(key)
        if cached is None:
            answer = self._ask(self.path, self._params(words, near, limit))
            found = filter(None, (self._place(item) for item in self._items(answer)))
            cached = tuple(told_apart(list(found)[:limit]))
            self._found.put(key, cached, SEARCH_TTL_S)
        return list(cached)

    def nearby(self, point: LatLng) -> Nearby | None:
        # in the cache each value is a tuple of one, since None means that there is no entry
        key = (round(point.lat, 5), round(point.lng, 5))
        cached = self._around.get(key)
        if cached is None:
            if self._around.get("down"):
                return None
            try:
                answer = self._ask(self.reverse, self._point_params(point), NEARBY_S)
            except PlacesUnavailableError:
                self._around.put("down", (None,), FAILURE_TTL_S)
                return None
            cached = (self._nearby(answer),)
            self._around.put(key, cached, SEARCH_TTL_S)
        found: Nearby | None = cached[0]
        if found and (found.street or found.area or found.place):
            return found
        return None

    def cities(self) -> tuple[CityArea, ...]:
        return ()

    def _ask(self, path: str, params: Mapping[str, str], total_s: float = TOTAL_S) -> Any:
        try:
            request = Request("GET", self._base + path, total_s, params=params, cap_bytes=CAP_BYTES)
            answer = self._http.call(request)
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

    def _point_params(self, point: LatLng) -> dict[str, str]:
        return {"lat": str(point.lat), "lon": str(point.lng)}

    def _nearby(self, answer: Any) -> Nearby:
        raise NotImplementedError


class SandboxPlaces(Search):
    """The gazetteer and the city outlines of the sandbox."""

    path = "/places"
    reverse = "/places/near"

    def _params(self, words: str, near: LatLng | None, limit: int) -> dict[str, str]:
        params = {"q": words, "limit": str(limit)}
        if near is None:
            return params
        return params | {"lat": str(near.lat), "lng": str(near.lng)}

    def _items(self, answer: Any) -> Iterable[Any]:
        return _sequence(_mapping(answer).get("places"))

    def _place(self, item: Any) -> Place | None:
        facts = _mapping(item)
        return _place_of(
            facts.get("id"),
            facts.get("name"),
            facts.get("kind"),
            facts.get("area"),
            _position(facts),
        )

    def _point_params(self, point: LatLng) -> dict[str, str]:
        return {"lat": str(point.lat), "lng": str(point.lng)}

    def _nearby(self, answer: Any) -> Nearby:
        facts = _mapping(answer)
        return Nearby(
            one_line(facts.get("street")), one_line(facts.get("area")), one_line(facts.get("place"))
        )

    def cities(self) -> tuple[CityArea, ...]:
        known: tuple[CityArea, ...] | None = self._areas.get("cities")
        if known is not None:
            return known
        try:
            items = _sequence(_mapping(self._ask("/city.json", {})).get("cities"))
        except PlacesUnavailableError:
            self._areas.put("cities", (), FAILURE_TTL_S)
            return ()
        found = tuple(filter(None, map(_city, items)))
        self._areas.put("cities", found, CITIES_TTL_S)
        return found


class Photon(Search):
    """A Photon server (komoot/photon): `/api` and `/reverse`, GeoJSON answers."""

    path = "/api"
    reverse = "/reverse"

    def _params(self, words: str, near: LatLng | None, limit: int) -> dict[str, str]:
        params = {"q": words, "limit": str(limit)}
        if near is None:
            return params
        return params | {"lat": str(near.lat), "lon": str(near.lng)}

    def _items(self, answer: Any) -> Iterable[Any]:
        return _sequence(_mapping(answer).get("features"))

    def _place(self, item: Any) -> Place | None:
        facts = _mapping(_mapping(item).get("properties"))
        pair = _sequence(_mapping(_mapping(item).get("geometry")).get("coordinates"))
        point = _position({"lat": pair[1], "lng": pair[0]}) if len(pair) == 2 else None
        street = " ".join(
            filter(None, (one_line(facts.get("street")), one_line(facts.get("housenumber"))))
        )
        parts = (street, one_line(facts.get("district")), one_line(facts.get("city")))
        return _place_of(
            facts.get("osm_id"),
            facts.get("name") or street,
            facts.get("osm_value"),
            address(parts),
            point,
            within=tuple(one_line(facts.get(each)) for each in ("county", "state", "postcode")),
        )

    def _nearby(self, answer: Any) -> Nearby:
        first = next(iter(self._items(answer)), None)
        facts = _mapping(_mapping(first).get("properties"))
        street = one_line(facts.get("street")) or one_line(facts.get("name"))
        return Nearby(street, one_line(facts.get("district")) or one_line(facts.get("city")))


class Nominatim(Search):
    """A Nominatim server: `/search` and `/reverse`.

    The public server forbids search while typing: run your own.
    """

    path = "/search"
    reverse = "/reverse"

    def _params(self, words: str, near: LatLng | None, limit: int) -> dict[str, str]:
        params = {"q": words, "limit": str(limit), "format": "jsonv2", "addressdetails": "1"}
        if near:  # prefer places within about 50 km, but allow others
            box = (near.lng - 0.5, near.lat + 0.5, near.lng + 0.5, near.lat - 0.5)
            params["viewbox"] = ",".join(f"{side:.4f}" for side in box)
        return params

    def _items(self, answer: Any) -> Iterable[Any]:
        return _sequence(answer)

    def _place(self, item: Any) -> Place | None:
        facts = _mapping(item)
        whole = one_line(facts.get("display_name"), MAX_ADDRESS)
        where = _mapping(facts.get("address"))
        number = one_line(where.get("house_number"))
        road = one_line(where.get("road"))
        name = one_line(facts.get("name"))
        if not name and road:  # a house: the first parts of its address are number and street
            name = " ".join(filter(None, (road, number)))
            whole = address(part for part in whole.split(", ") if part not in (number, road))
        elif not name:
            name = whole.partition(", ")[0]
        point = _position({"lat": facts.get("lat"), "lng": facts.get("lon")})
        rest = whole.removeprefix(name).removeprefix(", ")
        return _place_of(facts.get("place_id"), name, facts.get("type"), rest, point)

    def _point_params(self, point: LatLng) -> dict[str, str]:
        # zoom 17: a street, not a house
        return super()._point_params(point) | {"format": "jsonv2", "zoom": "17"}

    def _nearby(self, answer: Any) -> Nearby:
        facts = _mapping(_mapping(answer).get("address"))
        areas = (
            one_line(facts.get(each))
            for each in ("neighbourhood", "suburb", "city_district", "town", "city")
        )
        return Nearby(one_line(facts.get("road")), next(filter(None, areas), ""))


def _place_of(
    id_: object,
    name: object,
    kind: object,
    area: object,
    point: LatLng | None,
    within: tuple[str, ...] = (),
) -> Place | None:
    shown = one_line(name)
    if not shown or point is None:
        return None
    larger = tuple(filter(None, within))
    return Place(one_line(str(id_ or "")), shown, one_line(kind), one_line(area), point, larger)


def _city(item: Any) -> CityArea | None:
    facts = _mapping(item)
    center = _pair(facts.get("center"))
    if center is None:
        return None
    ring = tuple(filter(None, (_pair(corner) for corner in _sequence(facts.get("boundary"))[:500])))
    zoom = facts.get("zoom")
    return CityArea(
        one_line(facts.get("slug")),
        one_line(facts.get("name")),
        center,
        zoom if isinstance(zoom, int) else 13,
        ring,
    )


def _pair(value: Any) -> LatLng | None:
    pair = _sequence(value)
    return _position({"lat": pair[0], "lng": pair[1]}) if len(pair) == 2 else None


def _position(facts: Mapping[str, Any]) -> LatLng | None:
    """The point that `lat` and `lng` (numbers or texts) name; None when they are not valid."""
    try:
        point = LatLng(float(facts["lat"]), float(facts["lng"]))
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    return point if is_valid(*point) else None


def _mapping(value: Any) -> Mapping[str, Any]:
    """The value if it is an object, otherwise an empty object."""
    return value if isinstance(value, dict) else {}


def _sequence(value: Any) -> list[Any]:
    """The value if it is a list, otherwise an empty list."""
    return value if isinstance(value, list) else []
