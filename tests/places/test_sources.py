"""Place search: three sources, limited and cached; coordinates; the outlines of the cities."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from ridedash.geo import LatLng
from ridedash.places import (
    Geocoder,
    Nearby,
    Place,
    PlacesUnavailableError,
    TtlCache,
    address,
    coordinates_text,
    geocoder_for,
    parse_coordinates,
)
from ridedash.sandbox.app import create_sandbox
from ridedash.sandbox.settings import SandboxSettings
from ridedash.service.transport.http import Http
from ridedash.text import one_line

BASE = "http://127.0.0.1:9"


class Source:
    """A place server on a transport; `requests` has the requests that it got."""

    def __init__(self, body: Any, status: int = 200) -> None:
        self.body, self.status = body, status
        self.requests: list[httpx.URL] = []
        self.down = False

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request.url)
        if self.down:
            raise httpx.ConnectError("refused", request=request)
        content = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        return httpx.Response(self.status, content=content)


def geocoder(kind: str, source: Source, now: Callable[[], float] = lambda: 0.0) -> Geocoder:
    return geocoder_for(kind, BASE, Http(httpx.MockTransport(source)), now)


ARCADE = {
    "id": "arc",
    "name": "Arcade",
    "kind": "shop",
    "area": "Old Town",
    "lat": -38.5,
    "lng": "-128.01",
}


def test_the_sandboxs_gazetteer_is_searched_near_the_pickup() -> None:
    source = Source({"places": [ARCADE]})
    found = geocoder("sandbox", source).search("arc", LatLng(-38.5, -128.0))
    assert found == [Place("arc", "Arcade", "shop", "Old Town", LatLng(-38.5, -128.01))]
    assert source.requests[0].path == "/places"
    assert dict(source.requests[0].params) == {
        "q": "arc",
        "limit": "8",
        "lat": "-38.5",
        "lng": "-128.0",
    }


@pytest.mark.parametrize("words", ["w" * 81, "w" * 119, "é" * 10_000])
def test_the_sandbox_answers_a_search_for_a_long_text(tmp_path: Path, words: str) -> None:
    file, tokens = tmp_path / "sandbox.sqlite", {"app_token": "k", "client_id": "i"}
    sandbox = create_sandbox(SandboxSettings(database=file, client_secret="s", **tokens))
    # the first search of a process reads all names, which may exceed the time limit of a search
    assert sandbox.test_client().get("/places", query_string={"q": "w"}).status_code == 200
    http = Http(httpx.WSGITransport(app=sandbox))
    found = geocoder_for("sandbox", BASE, http).search(words)
    sandbox.extensions["sandbox"].close()
    assert found == []


def test_photon_answers_are_read_longitude_first() -> None:
    feature = {
        "geometry": {"type": "Point", "coordinates": [-128.01, -38.5]},
        "properties": {
            "osm_id": 7,
            "name": "Arcade",
            "osm_value": "mall",
            "street": "High St",
            "city": "Town",
        },
    }
    source = Source({"type": "FeatureCollection", "features": [feature]})
    found = geocoder("photon", source).search("arc", LatLng(1, 2))
    assert found == [Place("7", "Arcade", "mall", "High St, Town", LatLng(-38.5, -128.01))]
    assert source.requests[0].path == "/api"
    assert source.requests[0].params["lon"] == "2"


def test_nominatim_answers_are_read_from_their_display_name() -> None:
    source = Source(
        [
            {
                "place_id": 9,
                "lat": "-38.5",
                "lon": "-128.01",
                "type": "mall",
                "display_name": "Arcade, Town",
            }
        ]
    )
    found = geocoder("nominatim", source).search("arc", LatLng(-38.5, -128))
    assert found == [Place("9", "Arcade", "mall", "Town", LatLng(-38.5, -128.01))]
    assert source.requests[0].params["format"] == "jsonv2"
    assert source.requests[0].params["addressdetails"] == "1"
    assert source.requests[0].params["viewbox"] == "-128.5000,-38.0000,-127.5000,-39.0000"


@pytest.mark.parametrize(
    ("facts", "name", "area"),
    [
        (
            {
                "name": "",
                "display_name": "135, Harbour Road, Old Town, Meridian, 5601",
                "address": {"house_number": "135", "road": "Harbour Road"},
            },
            "Harbour Road 135",
            "Old Town, Meridian, 5601",
        ),
        (
            {"display_name": "Harbour Road, Old Town", "address": {"road": "Harbour Road"}},
            "Harbour Road",
            "Old Town",
        ),
        (
            {
                "name": "Arcade",
                "display_name": "Arcade, 7, Harbour Road, Old Town",
                "address": {"house_number": "7", "road": "Harbour Road"},
            },
            "Arcade",
            "7, Harbour Road, Old Town",
        ),
        ({"name": None, "display_name": "Old Town, Meridian"}, "Old Town", "Meridian"),
    ],
)
def test_a_house_of_nominatim_is_named_by_its_street(
    facts: dict[str, Any], name: str, area: str
) -> None:
    source = Source([{"place_id": 9, "lat": "-38.5", "lon": "-128.01", "type": "house"} | facts])
    (found,) = geocoder("nominatim", source).search("135")
    assert (found.name, found.area) == (name, area)


def village(lat: float, **facts: str) -> dict[str, Any]:
    at = {"type": "Point", "coordinates": [-128.0, lat]}
    return {"geometry": at, "properties": {"name": "Neustadt", "osm_value": "village"} | facts}


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        (
            [village(-38.1, county="Upper County"), village(-38.4, county="Lower County")],
            ["Neustadt, Upper County", "Neustadt, Lower County"],
        ),
        (
            [
                village(-38.1, county="One", state="North", postcode="1"),
                village(-38.4, county="One", state="North", postcode="2"),
            ],
            ["Neustadt, 1", "Neustadt, 2"],
        ),
        (
            [village(-38.1, city="Town", street="A Street"), village(-38.4, city="Town")],
            ["Neustadt, A Street, Town", "Neustadt, Town"],
        ),
        (
            [village(-38.1), village(-38.4)],
            ["Neustadt, -38.10000, -128.00000", "Neustadt, -38.40000, -128.00000"],
        ),
        ([village(-38.1), village(-38.1005)], ["Neustadt"]),
        ([village(-38.1, county="One")], ["Neustadt"]),
    ],
)
def test_places_of_one_name_are_told_apart_by_their_names(
    rows: list[dict[str, Any]], names: list[str]
) -> None:
    source = Source({"features": rows})
    assert [place.name for place in geocoder("photon", source).search("Neu")] == names


@pytest.mark.parametrize("kind", ["sandbox", "photon", "nominatim"])
@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b"[" * 5000,
        b"[]",
        b"{}",
        b"null",
        b'{"places":[null,{"name":1,"lat":"x"}],"features":[{"geometry":3}]}',
    ],
)
def test_an_answer_that_is_no_list_of_places_finds_nothing_or_is_an_error(
    kind: str, body: bytes
) -> None:
    try:
        assert geocoder(kind, Source(body)).search("arc") == []
    except PlacesUnavailableError:
        assert body[:1] in (b"<", b"[")


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        (("Lower Crossing", "", "Old Town", "Old Town"), "Lower Crossing, Old Town"),
        (("شارع البحر", "المدينة 2", "Old Town"), "شارع البحر، المدينة 2، Old Town"),
        (("海の通り", "旧市街"), "海の通り、旧市街"),
        (("12", "34"), "12, 34"),
        ((), ""),
    ],
)
def test_an_address_has_the_comma_of_its_own_script(parts: tuple[str, ...], shown: str) -> None:
    assert address(parts) == shown


@pytest.mark.parametrize("status", [301, 404, 429, 500])
def test_an_error_status_is_a_failure(status: int) -> None:
    with pytest.raises(PlacesUnavailableError):
        geocoder("sandbox", Source({"places": [ARCADE]}, status)).search("arc")


def test_a_repeated_search_is_answered_from_the_cache_for_ten_minutes() -> None:
    clock = [0.0]
    source = Source({"places": [ARCADE]})
    search = geocoder("sandbox", source, lambda: clock[0])
    for words in ("arc", " ARC ", "arc"):
        assert len(search.search(words, LatLng(-38.50001, -128))) == 1
    assert len(source.requests) == 1
    clock[0] = 601
    search.search("arc", LatLng(-38.5, -128))
    assert len(source.requests) == 2


def test_a_failure_is_not_cached_as_an_empty_result() -> None:
    source = Source({"places": [ARCADE]})
    search = geocoder("sandbox", source)
    source.down = True
    with pytest.raises(PlacesUnavailableError):
        search.search("arc")
    source.down = False
    assert len(search.search("arc")) == 1


def test_a_search_text_is_cut_at_eighty_characters() -> None:
    source = Source({"places": []})
    geocoder("sandbox", source).search("x" * 5000)
    assert len(source.requests[0].params["q"]) == 80


def test_cities_are_read_once_and_missing_while_the_sandbox_is_down() -> None:
    clock = [0.0]
    city = {
        "slug": "port",
        "name": "Port",
        "center": [-38.5, -128],
        "zoom": 14,
        "boundary": [[-38, -128], [-39, -127], "x"],
    }
    source = Source({"cities": [city, {"slug": "no center"}]})
    search = geocoder("sandbox", source, lambda: clock[0])
    source.down = True
    assert search.cities() == ()
    assert search.cities() == ()
    assert len(source.requests) == 1  # after a failure the source is not called for a while
    source.down, clock[0] = False, 11
    (area,) = search.cities()
    assert (area.name, area.center, area.zoom, len(area.boundary)) == (
        "Port",
        LatLng(-38.5, -128),
        14,
        2,
    )
    assert search.cities() == (area,)
    assert len(source.requests) == 2


def test_the_other_sources_have_no_outline() -> None:
    assert geocoder("photon", Source({})).cities() == ()


@pytest.mark.parametrize(
    ("kind", "body", "path"),
    [
        ("sandbox", {"street": "High St", "area": "Old Town", "place": "Station"}, "/places/near"),
        (
            "photon",
            {"features": [{"properties": {"name": "High St", "district": "Old Town"}}]},
            "/reverse",
        ),
        (
            "nominatim",
            {"address": {"road": "High St", "suburb": "Old Town", "city": "Town"}},
            "/reverse",
        ),
    ],
)
def test_each_source_returns_the_street_of_a_point(kind: str, body: Any, path: str) -> None:
    source = Source(body)
    found = geocoder(kind, source).nearby(LatLng(-38.5, -128.01))
    assert found == Nearby("High St", "Old Town", "Station" if kind == "sandbox" else "")
    (request,) = source.requests
    assert request.path == path
    assert request.params["lat"] == "-38.5"
    assert request.params["lng" if kind == "sandbox" else "lon"] == "-128.01"


def test_the_street_of_a_point_is_cached_and_a_source_that_is_down_is_not_called() -> None:
    clock = [0.0]
    source = Source({"street": "High St"})
    search = geocoder("sandbox", source, lambda: clock[0])
    source.down = True
    assert [search.nearby(LatLng(-38.5, -128 - n / 100)) for n in range(3)] == [None] * 3
    assert len(source.requests) == 1
    source.down, clock[0] = False, 11
    assert (
        search.nearby(LatLng(-38.5, -128))
        == search.nearby(LatLng(-38.500001, -128))
        == Nearby("High St")
    )
    assert len(source.requests) == 2


@pytest.mark.parametrize("kind", ["sandbox", "photon", "nominatim"])
@pytest.mark.parametrize(
    "body", [b"<html>", b"[]", b"{}", b"null", b'{"street":7,"features":[3],"address":[]}']
)
def test_an_answer_without_a_street_is_none(kind: str, body: bytes) -> None:
    assert geocoder(kind, Source(body)).nearby(LatLng(-38.5, -128)) is None


@pytest.mark.parametrize(
    ("typed", "point"),
    [
        ("12.95, 77.6", LatLng(12.95, 77.6)),
        (" -38.5;-128 ", LatLng(-38.5, -128)),
        ("12.95 77.6", LatLng(12.95, 77.6)),
        ("91, 0", None),
        ("12.95", None),
        ("12.95, 77.6, 3", None),
        ("nan, inf", None),
        ("1e5, 2", None),
        ("Arcade 12, 77", None),
    ],
)
def test_typed_coordinates_are_parsed_in_common_notations(typed: str, point: LatLng | None) -> None:
    assert parse_coordinates(typed) == point
    if point:
        assert parse_coordinates(coordinates_text(point)) == point


def test_text_of_a_source_is_one_short_visible_line() -> None:
    assert one_line("a\u202eb\x00c\n d" + "e" * 500) == ("ab c d" + "e" * 500)[:120]
    assert one_line("a\u200cb\u200dc") == "a\u200cb\u200dc"  # joiners are part of the spelling
    assert one_line(7) == ""


def test_the_cache_drops_the_least_recently_used_value_first() -> None:
    cache = TtlCache(2, lambda: 0.0)
    for key in ("a", "b"):
        cache.put(key, key, 1)
    assert cache.get("a") == "a"
    cache.put("c", "c", 1)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == ("a", None, "c")


def test_the_cache_keeps_no_expired_value() -> None:
    seconds = [0.0]
    cache = TtlCache(9, lambda: seconds[0])
    for key in ("a", "b", "c"):
        cache.put(key, key, 1)
    seconds[0] = 1.0
    cache.put("d", "d", 1)
    assert list(cache._entries) == ["d"]
    cache.put("e", "e", 0)
    assert (cache.get("d"), cache.get("e")) == ("d", None)
