"""Map tiles (valid, seamless, small SVG), place search and city outlines."""

import gzip
import itertools
import math
import re
from xml.etree import ElementTree

import pytest
from flask import Flask
from flask.testing import FlaskClient

from ridedash.sandbox.city.city import City, cities
from ridedash.sandbox.city.gazetteer import plain
from ridedash.sandbox.city.geometry import inside
from ridedash.sandbox.tiles.blocks import buildings
from ridedash.sandbox.tiles.server import _atlas, _prepared, bp, create_tiles_app, find_tile, warm

ZOOMS = pytest.mark.parametrize("zoom", range(11, 19))


@pytest.fixture(scope="module", autouse=True)
def _warmed() -> None:
    """The streets have grown before, whichever test comes first."""
    warm()


@pytest.fixture
def client() -> FlaskClient:
    return create_tiles_app().test_client()


def _at(zoom: int, lat: float, lng: float) -> tuple[int, int]:
    down = 0.5 - math.asinh(math.tan(math.radians(lat))) / (2 * math.pi)
    return int((lng + 180) / 360 * 2**zoom), int(down * 2**zoom)


def _around(zoom: int, city: City) -> list[tuple[int, int]]:
    x, y = _at(zoom, *city.center)
    return [(x + i, y + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]


def _drawn(zoom: int, x: int, y: int) -> str:
    found = find_tile(zoom, x, y)
    assert found is not None
    return gzip.decompress(found.packed).decode()


@ZOOMS
@pytest.mark.parametrize("number", [0, 1])
def test_a_tile_is_well_formed_one_pixel_larger_than_its_cell_and_small(
    zoom: int, number: int
) -> None:
    for x, y in _around(zoom, cities()[number]):
        body = _drawn(zoom, x, y)
        root = ElementTree.fromstring(body)
        left, top, wide, high = map(float, root.attrib["viewBox"].split())
        assert (root.attrib["width"], root.attrib["height"], wide, high) == (
            "257",
            "257",
            2570,
            2570,
        )
        assert left % 2560 == top % 2560 == 0
        assert len(body) < 60_000


@ZOOMS
def test_ids_within_a_tile_are_unique_and_every_reference_resolves(zoom: int) -> None:
    for x, y in _around(zoom, cities()[0]):
        body = _drawn(zoom, x, y)
        ids = re.findall(r' id="([^"]+)"', body)
        assert len(set(ids)) == len(ids)
        assert set(re.findall(r'href="#([^"]+)"', body)) <= set(ids)


@pytest.mark.parametrize("zoom", [14, 15, 16, 17])
def test_a_label_that_crosses_an_edge_is_drawn_by_both_tiles_alike(zoom: int) -> None:
    x, y = _at(zoom, *cities()[0].center)
    row = [set(re.findall(r"<text .*?</text>", _drawn(zoom, x + i, y))) for i in range(-2, 3)]
    assert any(here & east for here, east in itertools.pairwise(row))
    for number, (here, east) in enumerate(itertools.pairwise(row), -1):
        edge = float(_drawn(zoom, x + number, y).split('viewBox="')[1].split()[0])
        for text in here ^ east:
            level = re.match(r'<text class="\w+" font-size="\d+" x="(-?\d+)"', text)
            assert level is None or abs(float(level[1]) - edge) > 100


def test_streets_meet_at_the_edge_of_neighbouring_tiles() -> None:
    """Tiles share their coordinates, so a street that touches two tiles is equal in both."""
    x, y = _at(16, *cities()[0].center)
    here, below = (set(re.findall(r"M-?\d+ -?\d+l[-\d ]+", _drawn(16, x, y + i))) for i in (0, 1))
    assert len(here & below) > 5


@pytest.mark.parametrize("at", [_at(15, *cities()[0].center), (100, 100)], ids=["city", "sea"])
def test_a_tile_by_night_differs_in_its_colours_alone(
    client: FlaskClient, at: tuple[int, int]
) -> None:
    """Tiles have no media query, because WebKit ignores `prefers-color-scheme` inside an image."""
    day, night = (client.get(f"/tiles/{kind}15/{at[0]}/{at[1]}.svg").text for kind in ("", "dark/"))
    assert day != night
    assert re.sub(r"#[0-9a-f]{6}", "", day) == re.sub(r"#[0-9a-f]{6}", "", night)
    for body in (day, night):
        assert "@media" not in body
        assert "http://" not in body.replace("http://www.w3.org/2000/svg", "")
        assert "url(" not in body.replace("url(#l)", "")


def test_detail_increases_with_the_zoom() -> None:
    lat, lng = cities()[0].center
    at = {zoom: _drawn(zoom, *_at(zoom, lat, lng)) for zoom in range(11, 19)}
    assert "Port Meridian" in at[11]
    assert 'class="bld"' not in at[15]
    assert 'class="bld"' in at[17]
    assert 'class="blk"' in at[14]


def test_far_from_the_cities_there_is_sea() -> None:
    body = _drawn(13, 100, 100)
    assert 'class="sea"' in body
    assert len(body) < 5000


@pytest.mark.parametrize(
    "path", ["/tiles/10/0/0.svg", "/tiles/19/0/0.svg", "/tiles/11/4096/0.svg", "/tiles/11/-1/0.svg"]
)
def test_there_are_no_tiles_at_other_zooms_or_outside_the_world(
    client: FlaskClient, path: str
) -> None:
    assert client.get(path).status_code == 404


def test_a_tile_is_cacheable_for_a_day_and_answers_304_afterwards(client: FlaskClient) -> None:
    first = client.get("/tiles/14/2366/10075.svg")
    assert first.status_code == 200
    assert first.mimetype == "image/svg+xml"
    assert "max-age=86400" in first.headers["Cache-Control"]
    again = client.get("/tiles/14/2366/10075.svg", headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304
    assert again.data == b""


def test_buildings_are_within_their_block_and_fill_most_of_its_edge() -> None:
    square = [(0.0, 0.0), (90.0, 0.0), (90.0, 90.0), (0.0, 90.0)]
    found = buildings(square, 300.0)
    assert len(found) > 12
    assert all(-0.1 <= x <= 90.1 and -0.1 <= y <= 90.1 for building in found for x, y in building)
    assert not any(
        inside(building, (45.0, 45.0))
        for building in buildings([(x * 3, y * 3) for x, y in square], 300.0)
    )


def _names(client: FlaskClient, **query: str) -> list[str]:
    answer = client.get("/places", query_string=query)
    assert answer.status_code == 200
    return [place["name"] for place in answer.get_json()["places"]]


def test_places_are_found_by_beginnings_of_words_whatever_case_or_accent(
    client: FlaskClient,
) -> None:
    assert _names(client, q="grand mer")[0] == "Grand Meridian Hotel"
    assert _names(client, q="ÉTOILE") == _names(client, q="etoile") == ["Hotel Belle Étoile"]
    assert _names(client, q="childrens") == ["Children's Hospital"]
    assert _names(client, q="nothing of the kind") == []
    assert _names(client, q="!!!") == []


def test_whole_names_rank_before_beginnings_and_beginnings_before_inner_words(
    client: FlaskClient,
) -> None:
    found = _names(client, q="lode stadium")
    assert found[0] == "Lode Stadium"
    found = client.get("/places", query_string={"q": "harbour", "limit": "20"}).get_json()["places"]
    for streets in (False, True):  # names of streets come after names of places
        names = [each["name"] for each in found if (each["kind"] == "street") is streets]
        begins = [plain(name).startswith("harbour") for name in names]
        assert len(set(begins)) == 2
        assert begins == sorted(begins, reverse=True)


def test_equal_matches_are_sorted_by_distance(client: FlaskClient) -> None:
    saltmere = cities()[1].center
    near = _names(client, q="hotel", lat=str(saltmere.lat), lng=str(saltmere.lng), limit="20")
    far = _names(client, q="hotel", limit="20")
    assert near[0] in {"Hotel Salicorne", "Hotel Marée Haute"}
    assert set(near) == set(far)


def test_a_place_has_id_kind_area_and_position(client: FlaskClient) -> None:
    (place,) = client.get("/places?q=grand+meridian+hotel").get_json()["places"]
    assert set(place) == {"id", "name", "kind", "area", "lat", "lng"}
    assert (place["id"], place["kind"], place["area"]) == (
        "grand-meridian-hotel",
        "hotel",
        "Station Quarter",
    )


@pytest.mark.parametrize(
    "query",
    [f"q={'x' * 81}", "q=a&limit=0", "q=a&limit=21", "q=a&lat=nan&lng=0", "q=a&lat=91&lng=0"],
)
def test_invalid_parameters_of_a_search_are_refused(client: FlaskClient, query: str) -> None:
    assert client.get(f"/places?{query}").status_code == 400


def test_a_point_has_its_nearest_street_area_and_surrounding_hotspot(
    client: FlaskClient,
) -> None:
    city = cities()[0]
    hotel = city.place("grand-meridian-hotel")
    station = city.hotspots[0]
    assert hotel
    found = client.get(
        "/places/near", query_string={"lat": hotel.position.lat, "lng": hotel.position.lng}
    ).get_json()
    assert found == {
        "street": city.roads.nearest_street_name(hotel.position),
        "area": "Station Quarter",
        "place": "",
    }
    inside = station.points[0].position
    found = client.get(
        "/places/near", query_string={"lat": inside.lat, "lng": inside.lng}
    ).get_json()
    assert found["place"] == station.name
    assert client.get("/places/near?lat=48.8&lng=2.3").get_json() == {
        "street": "",
        "area": "",
        "place": "",
    }


@pytest.mark.parametrize("query", ["", "lat=1", "lat=nan&lng=0", "lat=91&lng=0", "lat=x&lng=0"])
def test_invalid_coordinates_are_refused(client: FlaskClient, query: str) -> None:
    assert client.get(f"/places/near?{query}").status_code == 400


def test_the_limit_of_a_search_applies(client: FlaskClient) -> None:
    assert len(_names(client)) == 8
    assert len(_names(client, limit="3")) == 3


def test_city_json_has_the_outline_of_each_city(client: FlaskClient) -> None:
    outlines = client.get("/city.json").get_json()["cities"]
    assert [city["slug"] for city in outlines] == ["port-meridian", "saltmere"]
    for city in outlines:
        assert set(city) == {
            "slug",
            "name",
            "currency",
            "timezone",
            "center",
            "zoom",
            "boundary",
            "bounds",
        }
        (south, west), (north, east) = city["bounds"]
        assert all(south <= lat <= north and west <= lng <= east for lat, lng in city["boundary"])


def test_the_blueprint_works_in_another_app() -> None:
    app = Flask("host", static_folder=None)
    app.register_blueprint(bp)
    assert app.test_client().get("/city.json").status_code == 200


def test_after_warming_a_new_tile_prepares_nothing_more() -> None:
    warm((14,))
    before = _prepared.cache_info().misses, [len(_atlas(n)._houses) for n in range(len(cities()))]
    assert "<path" in _drawn(14, *_at(14, -38.47, -128.03))
    assert before == (
        _prepared.cache_info().misses,
        [len(_atlas(n).blocks) for n in range(len(cities()))],
    )
