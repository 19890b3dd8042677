"""Forms: valid points, and a token of its own for each form."""

from collections.abc import Iterator

import pytest
from flask import Flask
from flask_babel import Babel
from werkzeug.datastructures import MultiDict

from ridedash.forms.booking import BookingForm, TripForm, new_form_token
from ridedash.geo import LatLng


@pytest.fixture(autouse=True)
def app_context() -> Iterator[None]:
    app = Flask("forms")
    app.config.update(SECRET_KEY="a key for this test", WTF_CSRF_ENABLED=False)
    Babel(app)
    with app.test_request_context():
        yield


@pytest.mark.parametrize(
    ("lat", "lng", "text", "point"),
    [
        ("-38.5", "-128", "Lobby", LatLng(-38.5, -128)),
        ("", "", "-38.5, -128", LatLng(-38.5, -128)),
        ("nan", "-128", "Lobby", None),
        ("inf", "-128", "Lobby", None),
        ("90.01", "0", "", None),
        ("1", "", "", None),
        ("1_0", "2", "", None),
        ("x" * 5000, "2", "", None),
    ],
)
def test_an_end_of_the_trip_is_at_its_hidden_or_typed_coordinates(
    lat: str, lng: str, text: str, point: LatLng | None
) -> None:
    form = TripForm(MultiDict({"drop_lat": lat, "drop_lng": lng, "drop": text}))
    assert form.point("drop") == point


def test_names_are_cut_and_lose_control_and_bidirectional_characters() -> None:
    form = TripForm(MultiDict({"pickup": "Lob\u202eby\x00\n of \u2066 the hotel" + "x" * 5000}))
    assert form.name("pickup").startswith("Lobby of the hotelxxx")
    assert len(form.name("pickup")) == 200


def test_a_note_keeps_its_lines_and_loses_invisible_characters() -> None:
    form = BookingForm(MultiDict({"note": " two bags \r\n\u202eone child\x07 \n"}))
    assert form.note.data == "two bags\none child"


def test_form_tokens_are_long_and_unique() -> None:
    tokens = {new_form_token() for _ in range(50)}
    assert len(tokens) == 50
    assert all(len(token) == 32 for token in tokens)


@pytest.mark.parametrize(
    "token", ["", "short", "with space in the middle of it", "x" * 65, "<b>aaaaaaaaaaaaaaaa"]
)
def test_a_foreign_form_token_is_refused(token: str) -> None:
    form = BookingForm(
        MultiDict({"form_token": token, "offer": "1", "guest_name": "Guest Heron", "account": "1"})
    )
    form.offer_accounts([(1, "House")])
    assert not form.validate()
    assert "form_token" in form.errors


def test_a_complete_form_is_valid_and_more_fields_are_ignored() -> None:
    sent = {
        "form_token": new_form_token(),
        "offer": "1",
        "guest_name": "Guest Heron",
        "is_admin": "1",
        "price": "1",
    }
    form = BookingForm(MultiDict(sent))
    form.offer_accounts([(7, "House")])
    assert form.validate(), form.errors
    assert form.account.data == 7
