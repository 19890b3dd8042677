"""Places as a guest sends them: links, plus codes and shared texts; nothing is fetched."""

import json
from typing import Any

import httpx
import pytest

from ridedash.geo import LatLng, distance_m
from ridedash.places import MOST_TYPED, Geocoder, TypedPlaces, Unread, find_typed, geocoder_for
from ridedash.service.transport.http import Http
from ridedash.views.web.place_names import unread_words

POINT = LatLng(12.9716, 77.5946)
NEAR = LatLng(12.97, 77.59)


class Gazetteer:
    """A Photon server that knows one town and one hotel, and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        words = request.url.params.get("q", "")
        assert request.url.host == "127.0.0.1", "a pasted link was fetched"
        self.asked.append(words)
        known = {"Bengaluru": (12.9716, 77.5946), "Grand Hotel": (12.98, 77.6)}
        found = [(name, at) for name, at in known.items() if name.casefold() in words.casefold()]
        features = [_feature(name, *at) for name, at in found]
        return httpx.Response(200, content=json.dumps({"features": features}).encode())

    def places(self) -> Geocoder:
        return geocoder_for("photon", "http://127.0.0.1:9", Http(httpx.MockTransport(self)))


def _feature(name: str, lat: float, lng: float) -> dict[str, Any]:
    return {"geometry": {"coordinates": [lng, lat]}, "properties": {"name": name}}


def read(text: str) -> TypedPlaces:
    return find_typed(Gazetteer().places(), text, NEAR)


TAJ = (
    "https://www.google.com/maps/place/Taj+Mahal/@27.1751448,78.0395673,17z/data=!3m1!4b1!4m6!3m5"
    "!1s0x39747121d702ff6d:0xdd2ae4803f767dde!8m2!3d27.1751448!4d78.0421422!16zL20vMGw4Y2I"
    "?entry=ttu"
)


@pytest.mark.parametrize(
    "text",
    [
        "https://maps.google.com/?q=12.9716,77.5946",
        "https://maps.google.com/maps?q=loc:12.9716,77.5946",
        "https://www.google.com/maps?q=12.9716,77.5946&z=17&hl=en",
        "https://www.google.co.in/maps/search/?api=1&query=12.9716%2C77.5946",
        "https://www.google.com/maps/search/12.9716,+77.5946?entry=tts",
        "https://www.google.com/maps/place/12.9716,77.5946/@12.97,77.5,17z",
        "https://www.google.com/maps/dir//12.9716,77.5946/@12.9,77.5,12z",
        "https://www.google.com/maps/dir/?api=1&destination=12.9716,77.5946",
        "https://maps.google.com/?ll=12.9716,77.5946",
        "maps.google.com/?q=12.9716,77.5946",
        "https://maps.apple.com/?ll=12.9716,77.5946",
        "https://maps.apple.com/?q=12.9716,77.5946",
        "https://maps.apple.com/?daddr=12.9716,77.5946&dirflg=d",
        "https://www.openstreetmap.org/?mlat=12.9716&mlon=77.5946#map=17/12.97/77.59",
        "https://www.openstreetmap.org/search?query=12.9716%2C77.5946",
        "https://waze.com/ul?ll=12.9716,77.5946&navigate=yes",
        "https://www.waze.com/ul?ll=12.9716%2C77.5946",
        "https://www.waze.com/live-map/directions?to=ll.12.9716%2C77.5946",
        "geo:12.9716,77.5946",
        "geo:12.9716,77.5946;u=35",
        "geo:12.9716,77.5946?z=17",
        "geo:0,0?q=12.9716,77.5946",
        "Here I am: https://maps.google.com/?q=12.9716,77.5946. See you!",
        "(https://maps.google.com/?q=12.9716,77.5946)",
        "\u200ehttps://maps.google.com/?q=12.9716,77.5946\u200f",
        "https://maps.google.com/?q=12.9716,77.5946 https://waze.com/ul?ll=12.9716,77.5946",
        "12.9716, 77.5946",
    ],
)
def test_a_link_with_a_point_is_that_point(text: str) -> None:
    found = read(text)
    assert (found.is_sure, found.unread) == (True, None)
    assert [place.position for place in found.places] == [POINT]


@pytest.mark.parametrize(
    ("text", "name", "point"),
    [
        (TAJ, "Taj Mahal", LatLng(27.1751448, 78.0421422)),
        ("geo:0,0?q=12.9716,77.5946(Grand+Hotel)", "Grand Hotel", POINT),
        ("https://maps.apple.com/?ll=12.9716,77.5946&q=Grand%20Hotel", "Grand Hotel", POINT),
        (
            "https://maps.apple.com/place?address=1%20Main&coordinate=12.9716,77.5946"
            "&name=Caf%C3%A9",
            "Café",
            POINT,
        ),
        (
            "https://maps.google.com/?q=12.9716,77.5946(%3Cb%3EBold%3C/b%3E)",
            "<b>Bold</b>",
            POINT,
        ),
    ],
)
def test_the_name_of_a_link_goes_with_its_point(text: str, name: str, point: LatLng) -> None:
    (place,) = read(text).places
    assert (place.name, place.position) == (name, point)


def test_dms_of_a_link_and_a_geohash_of_waze_are_read() -> None:
    link = (
        "https://www.google.com/maps/place/12%C2%B058'18.0%22N+77%C2%B035'40.4%22E/@12.9,77.5,17z"
    )
    assert read(link).places[0].position == LatLng(12.971667, 77.594556)
    tower = read("https://waze.com/ul/hu09tunq").places[0].position
    assert distance_m(tower, LatLng(48.8582, 2.2945)) < 60


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("https://maps.app.goo.gl/AbCdEf123", Unread.SHORT_LINK),
        ("https://goo.gl/maps/xyz", Unread.SHORT_LINK),
        ("https://maps.apple/p/xyz", Unread.SHORT_LINK),
        ("https://osm.org/go/ZcIQ1--", Unread.SHORT_LINK),
        ("https://example.org/?q=12.9716,77.5946", Unread.OTHER_LINK),
        ("https://google.com.example.org/maps?q=12.9716,77.5946", Unread.OTHER_LINK),
        ("https://[::1", Unread.OTHER_LINK),
        ("https://www.google.com/maps", Unread.OTHER_LINK),
        ("https://www.google.com/maps/dir/12.9,77.5/13.1,77.7/@13,77,9z", Unread.ROUTE),
        ("https://www.openstreetmap.org/directions?route=12.9%2C77.5%3B13%2C77", Unread.ROUTE),
        ("https://waze.com/ul?ll=12.9,77.5 https://waze.com/ul?ll=13.1,77.7", Unread.SEVERAL),
        ("40.4168 N 3.7038 O", Unread.EITHER_SIDE),
        ("XHCM+5Q Nowhere", Unread.CODE),
        ("https://maps.google.com/?q=12.97,77.59&x=" + "y" * MOST_TYPED, Unread.OTHER_LINK),
    ],
)
def test_a_text_without_one_place_says_why(text: str, why: Unread) -> None:
    found = read(text)
    assert (found.places, found.is_sure, found.unread) == ((), False, why)


@pytest.mark.parametrize("why", list(Unread))
def test_each_reason_has_words(why: Unread) -> None:
    assert unread_words(why).endswith(".")


@pytest.mark.parametrize(
    "code", ["7J4VXHCV+JR", "7j4vxhcv+jr", "XHCV+JR Bengaluru", "XHCV+JR, Bengaluru", "XHCV+JR"]
)
def test_plus_codes_whole_or_short_are_points(code: str) -> None:
    found = read(code)
    assert found.is_sure
    assert distance_m(found.places[0].position, POINT) < 25


def test_words_beside_a_shortened_link_are_searched() -> None:
    found = read("Grand Hotel, MG Road https://maps.app.goo.gl/AbCdEf123")
    assert [place.name for place in found.places] == ["Grand Hotel"]
    assert not found.is_sure


def test_the_middle_of_a_map_is_offered_and_never_taken() -> None:
    for link in (
        "https://www.google.com/maps/@12.9716,77.5946,15z",
        "https://www.openstreetmap.org/#map=17/12.9716/77.5946",
    ):
        found = read(link)
        assert [place.position for place in found.places] == [POINT]
        assert not found.is_sure
    named = read("https://www.google.com/maps/place/Grand+Hotel/@12.9716,77.5946,17z")
    assert [place.position for place in named.places] == [LatLng(12.98, 77.6), POINT]
    assert not named.is_sure


def test_other_words_go_to_the_search_as_they_are() -> None:
    gazetteer = Gazetteer()
    assert find_typed(gazetteer.places(), "12 5", NEAR).places == ()
    assert gazetteer.asked == ["12 5"]
