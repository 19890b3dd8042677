"""Place search as a Photon server answers it, read by our own client over a real socket."""

import pytest

from ridedash.geo import LatLng, distance_m
from ridedash.places import PlacesUnavailableError, geocoder_for
from ridedash.service.transport.http import Http
from tests.sandbox.sandbox_desk import HOTEL, OCEAN, PORT, SALT
from tests.sandbox.serving import waitress


@pytest.fixture
def photon(desk):
    with waitress(desk.app) as address, Http() as http:
        yield geocoder_for("photon", address, http)


def search(desk, **query):
    return desk.web.get("/api", query_string=query)


def test_a_place_is_a_feature_with_its_longitude_first(desk):
    body = search(desk, q="grand meridian", limit=1).json
    assert set(body) == {"type", "features"}
    assert body["type"] == "FeatureCollection"
    (feature,) = body["features"]
    assert feature["type"] == "Feature"
    assert feature["geometry"] == {"type": "Point", "coordinates": [HOTEL.lng, HOTEL.lat]}
    facts = feature["properties"]
    assert (facts["name"], facts["city"]) == ("Grand Meridian Hotel", "Port Meridian")
    assert (facts["osm_key"], facts["osm_value"], facts["osm_type"]) == ("tourism", "hotel", "N")
    assert isinstance(facts["osm_id"], int)
    assert facts["street"]


def test_near_places_come_first_and_the_limit_holds(desk):
    names = []
    for city in (PORT, SALT):
        found = search(desk, q="station", lat=city.center.lat, lon=city.center.lng, limit=2).json
        assert len(found["features"]) == 2
        names.append(found["features"][0]["properties"]["city"])
    assert names == ["Port Meridian", "Saltmere"]
    many = search(desk, q="hotel", limit=5000).json["features"]
    assert len({feature["properties"]["osm_id"] for feature in many}) == len(many) > 8


def test_a_point_has_its_street_and_the_ocean_has_nothing(desk):
    query = {"lat": HOTEL.lat, "lon": HOTEL.lng}
    (feature,) = desk.web.get("/reverse", query_string=query).json["features"]
    facts = feature["properties"]
    assert (facts["type"], facts["city"]) == ("street", "Port Meridian")
    assert facts["name"]
    lng, lat = feature["geometry"]["coordinates"]
    assert distance_m(LatLng(lat, lng), HOTEL) < 100
    far = {"lat": OCEAN[0], "lon": OCEAN[1]}
    assert desk.web.get("/reverse", query_string=far).json["features"] == []


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/api", {}),
        ("/api", {"q": "  "}),
        ("/api", {"q": "hotel", "limit": "many"}),
        ("/api", {"q": "hotel", "limit": "-1"}),
        ("/api", {"q": "hotel", "lat": "1"}),
        ("/api", {"q": "hotel", "lat": "nan", "lon": "nan"}),
        ("/reverse", {}),
        ("/reverse", {"lat": "1"}),
        ("/reverse", {"lat": "91", "lon": "0"}),
        ("/reverse", {"lat": "inf", "lon": "0"}),
    ],
)
def test_a_query_that_makes_no_sense_is_refused_with_a_message(desk, path, query):
    answer = desk.web.get(path, query_string=query)
    assert answer.status_code == 400
    assert set(answer.json) == {"message"}


def test_any_words_are_searched_for(desk):
    for words in ("\x00", "x" * 5000, "<script>", "' OR 1=1 --", "東京"):
        assert search(desk, q=words).json["features"] == []


def test_our_client_of_photon_finds_places_and_streets(photon):
    (found,) = photon.search("grand meridian", HOTEL, limit=1)
    assert (found.name, found.kind, found.position) == ("Grand Meridian Hotel", "hotel", HOTEL)
    assert "Port Meridian" in found.area
    near = photon.nearby(HOTEL)
    assert near.street
    assert near.area
    assert photon.nearby(LatLng(*OCEAN)) is None
    with pytest.raises(PlacesUnavailableError):
        photon.search("")


def test_each_kind_of_place_has_tags_of_its_own(desk):
    kinds = {place.kind for city in (PORT, SALT) for place in city.places}
    tags = set()
    for city in (PORT, SALT):
        for place in city.places:
            found = search(desk, q=place.name, limit=20).json["features"]
            facts = next(f["properties"] for f in found if f["properties"]["name"] == place.name)
            tags.add((facts["osm_key"], facts["osm_value"]))
    assert len(tags) >= len(kinds)
    assert ("place", "locality") not in tags
