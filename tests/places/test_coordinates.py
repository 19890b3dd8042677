"""Coordinates as people write, copy and paste them."""

import pytest

from ridedash.geo import LatLng
from ridedash.places import parse_coordinates
from ridedash.places.coordinates import names_either_side, sent_point

BANGALORE = LatLng(12.9716, 77.5946)


@pytest.mark.parametrize(
    "typed",
    [
        "12.9716, 77.5946",
        "12.9716,77.5946",
        "12.9716 77.5946",
        "12.9716;77.5946",
        "12.9716 / 77.5946",
        "+12.9716, +77.5946",
        "(12.9716, 77.5946)",
        "[12.9716,77.5946]",
        "12,9716 77,5946",
        "12,9716, 77,5946",
        "12,9716; 77,5946",
        "12,9716,77,5946",
        "12.9716° N, 77.5946° E",
        "12.9716°, 77.5946°",
        "12.9716N 77.5946E",
        "N12.9716 E77.5946",
        "E 77.5946, N 12.9716",
        "77.5946 E 12.9716 N",
        "12,9716° N 77,5946° E",
        "12.9716 north, 77.5946 east",
        "12,9716 nord 77,5946 est",
        "lat: 12.9716, lng: 77.5946",
        "lat=12.9716 lon=77.5946",
        '{"lat":12.9716,"lng":77.5946}',
        "Latitude 12.9716 Longitude 77.5946",
        "Location: 12.9716, 77.5946",
        "I am here 12.9716, 77.5946, at the gate",
        "📍 12.9716,77.5946",
        "\u200e12.9716, 77.5946\u200f",
        "１２.９７１６，７７.５９４６",
        "١٢٫٩٧١٦، ٧٧٫٥٩٤٦",
        "१२.९७१६, ७७.५९४६",
        "12.9716\u00a0,\u202f77.5946",
    ],
)
def test_degrees_are_read_as_people_write_them(typed: str) -> None:
    assert parse_coordinates(typed) == BANGALORE


@pytest.mark.parametrize(
    ("typed", "lat", "lng"),
    [
        ("12°58'18.0\"N 77°35'40.4\"E", 12.971667, 77.594556),
        ("12°58′18.0″N, 77°35′40.4″E", 12.971667, 77.594556),
        ("12° 58’ 18” N 77° 35’ 40” E", 12.971667, 77.594444),
        ("N 12° 58' 18'' E 77° 35' 40''", 12.971667, 77.594444),
        ("12 58 18 N, 77 35 40 E", 12.971667, 77.594444),
        ("N 12° 58.300 E 77° 35.673", 12.971667, 77.59455),
        ("12º58,3'N 77º35,673'E", 12.971667, 77.59455),
        ("33°52'S 151°12'E", -33.866667, 151.2),
        ("38°30.5'S 128°0.25'W", -38.508333, -128.004167),
        ("S38.5 W128.0", -38.5, -128.0),
        ("40,4168 norte, 3,7038 oeste", 40.4168, -3.7038),
        ("48.8584 nord, 2.2945 ouest", 48.8584, -2.2945),
        ("−38.5, −128.01", -38.5, -128.01),
        ("12.97,77", 12.97, 77.0),
    ],
)
def test_minutes_seconds_and_sides_are_read(typed: str, lat: float, lng: float) -> None:
    assert parse_coordinates(typed) == LatLng(lat, lng)


@pytest.mark.parametrize(
    "typed",
    [
        "12 5",
        "12, 5",
        "412 413",
        "12.5",
        "12,9716",
        "12,97",
        "12.5 7",
        "91.5, 12.5",
        "12.5, 181.5",
        "12.97 N, 77.59 N",
        "-12.97 S, 77.59 E",
        "12°61'N 77°35'E",
        "12°58'70\"N 77°35'40\"E",
        "12.5°30'N 77°35'E",
        "N 12 N, E 77 E",
        "10:30",
        "24.12.2026, 18.30",
        "12 Main Street",
        "Gate 2, Terminal 3",
        "1.2.3.4",
        "12.97, 77.59, 920.1",
        "+91 98450 11111",
        "12.9716, 77.5946 to 13.1986, 77.7066",
        "",
        "°",
        "N E",
        "," * 1000,
        "1 " * 500,
    ],
)
def test_numbers_that_name_no_point_are_no_place(typed: str) -> None:
    assert parse_coordinates(typed) is None


@pytest.mark.parametrize("typed", ["40.4168 N 3.7038 O", "N 40° 25' O 3° 42'", "O 3.7 N 40.4"])
def test_the_letter_o_is_asked_for(typed: str) -> None:
    assert names_either_side(typed)
    assert parse_coordinates(typed) is None


def test_points_of_our_own_pages_may_be_whole_degrees() -> None:
    assert sent_point("-38,-128.5") == LatLng(-38, -128.5)
    assert [sent_point(text) for text in ("", "12", "a,b", "91,0", "12 5")] == [None] * 5
