"""Places that are pasted: with scripts, without, in a change of drop and in Settings."""

import html

import pytest
from werkzeug.datastructures import MultiDict

from ridedash.geo import LatLng
from ridedash.views.admin.property import UnknownPlace, read_place
from ridedash.views.rides.action_forms import FormError, new_drop
from tests.views.booking.test_pages import Desk, desk

__all__ = ["desk"]
PIN = "-38.51, -128.02"
LINK = "https://maps.google.com/?q=-38.51,-128.02"
LONG = (
    "https://www.google.com/maps/place/Quay+House/@-38.5,-128.0,17z/data=!3m1!4b1!4m6!3m5!1s"
    + "0x39747121d702ff6d:0xdd2ae4803f767dde" * 6
    + "!8m2!3d-38.51!4d-128.02?entry=ttu"
)


def places(desk: Desk, words: str) -> dict[str, object]:
    answer = desk.client.get("/places.json", query_string={"q": words, "end": "drop"})
    assert answer.status_code == 200
    found: dict[str, object] = answer.get_json()
    return found


@pytest.mark.parametrize(
    "words", [PIN, LINK, LONG, f"({PIN})", "38.51 S 128.02 W", "38°30'36\"S 128°01'12\"W"]
)
def test_a_point_is_offered_alone_and_needs_no_choice(desk: Desk, words: str) -> None:
    found = places(desk, words)
    (place,) = found["places"]  # type: ignore[misc]
    assert found["sure"] is True
    assert (place["lat"], place["lng"]) == (-38.51, -128.02)
    assert place["name"]


def test_a_long_link_has_its_own_name_and_keeps_its_point_without_scripts(desk: Desk) -> None:
    (place,) = places(desk, LONG)["places"]  # type: ignore[misc]
    assert place["name"] == "Quay House"
    page = desk.page(drop=LONG, show="1")
    assert 'value="Quay House"' in page
    assert 'name="drop_lat" value="-38.5100000"' in " ".join(page.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("https://maps.app.goo.gl/AbC", "A shortened link names no place by itself."),
        ("https://example.org/map", "There is no place in this link."),
        ("38.51 S 128.02 O", "O may be east or west."),
        (f"{LINK} https://waze.com/ul?ll=1.5,2.5", "There is more than one place in this text."),
    ],
)
def test_a_text_without_one_place_is_kept_and_says_why(desk: Desk, words: str, said: str) -> None:
    found = places(desk, words)
    assert found["places"] == []
    assert str(found["message"]).startswith(said)
    page = html.unescape(desk.page(drop=words, show="1"))
    assert said in page
    assert words in page


@pytest.mark.parametrize("words", ["12 5", "412 413", "12.5"])
def test_two_whole_numbers_are_no_place(desk: Desk, words: str) -> None:
    assert "sure" not in places(desk, words)
    assert 'name="drop_lat" value=""' in " ".join(desk.page(drop=words, show="1").split())


def test_settings_take_a_link_as_the_pickup(desk: Desk) -> None:
    geocoder = desk.app.extensions["ridedash"].geocoder
    place = read_place(MultiDict({"pickup": LONG}), "pickup", geocoder)
    assert (place.name, place.lat, place.lng) == ("Quay House", -38.51, -128.02)
    with desk.app.test_request_context(), pytest.raises(UnknownPlace, match="shortened link"):
        read_place(MultiDict({"pickup": "https://goo.gl/maps/x"}), "pickup", geocoder)


def test_a_new_drop_is_taken_from_a_link(desk: Desk) -> None:
    geocoder = desk.app.extensions["ridedash"].geocoder
    point, name = new_drop(MultiDict({"name": LONG}), geocoder, (-38.5, -128.0))
    assert (point, name) == (LatLng(-38.51, -128.02), "Quay House")
    short = MultiDict({"name": "https://goo.gl/maps/x"})
    with desk.app.test_request_context(), pytest.raises(FormError):
        new_drop(short, geocoder, (-38.5, -128.0))
