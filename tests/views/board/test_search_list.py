"""The list below the search box leads to guests, places and pages beside rides."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from ridedash.store import properties
from ridedash.store.models.desk import Favourite
from ridedash.store.models.people import Staff
from tests.views.ride_pages import HASH, NOON, Desk, make_desk, token

pytestmark = pytest.mark.database
OF_THE_BAR = ["Rides", "New ride", "History", "Hand-over", "Settings"]
HOSTILE = "<b>Quay</b> & \"Sons'"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    home = made.ids["desk.property"]
    made.add(lambda s: properties.add_staff(s, home, "boss", HASH, "manager", NOON))
    yield made
    made.close()


def links(client: FlaskClient, words: str) -> list[dict[str, Any]]:
    data = {"q": words, "csrf_token": token(client)}
    return list(client.post("/search.json", data=data).json["links"])  # type: ignore[index]


def titles(client: FlaskClient, words: str) -> list[str]:
    return [each["title"] for each in links(client, words)]


def test_without_words_the_pages_of_the_bar_are_listed(desk: Desk) -> None:
    assert titles(desk.client(), "") == OF_THE_BAR
    assert titles(desk.client(name="boss"), "") == [*OF_THE_BAR[:3], "Insights", *OF_THE_BAR[3:]]


@pytest.mark.parametrize(
    ("words", "found"), [("acc", ["Accounts"]), ("hist", ["History"]), ("  ¿?  ", []), ("xyz", [])]
)
def test_pages_are_found_by_beginnings_of_their_words(
    desk: Desk, words: str, found: list[str]
) -> None:
    assert titles(desk.client(name="boss"), words) == found


def test_no_page_is_listed_that_the_person_may_not_open(desk: Desk) -> None:
    client = desk.client()
    for name in ("property", "accounts", "kiosks", "all properties", "insights"):
        assert titles(client, name) == [], name


def test_pages_are_named_in_the_language_of_the_person(desk: Desk) -> None:
    desk.add(lambda s: s.query(Staff).update({"language": "de"}))
    assert titles(desk.client(), "verl") == ["Verlauf"]


def test_a_guest_leads_to_a_form_that_is_filled_in(desk: Desk) -> None:
    desk.order(guest="José García", room="PH-1")
    client = desk.client()
    (found,) = links(client, "garcia")
    assert (found["title"], found["about"], found["kind"]) == ("José García", "PH-1", "New ride")
    assert "garc" not in found["url"].lower()
    page = client.get(found["url"]).text
    assert 'value="José García"' in page
    assert 'value="PH-1"' in page


def test_the_guest_of_another_property_fills_in_nothing(desk: Desk) -> None:
    desk.order(guest="José García")
    (found,) = links(desk.client(), "garcia")
    other = desk.client(name="other")
    assert links(other, "garcia") == []
    for url in (found["url"], "/rides/new?guest=0", "/rides/new?guest=x", "/rides/new?guest=-1"):
        page = other.get(url)
        assert page.status_code == 200
        assert "García" not in page.text


def test_a_place_leads_to_a_form_with_that_drop(desk: Desk) -> None:
    home = desk.ids["desk.property"]
    desk.add(
        lambda s: s.add(
            Favourite(property_id=home, kind="drop", slot=1, name=HOSTILE, lat=12.9, lng=77.6)
        )
    )
    client = desk.client()
    (found,) = [each for each in links(client, "quay") if each["icon"] == "drop"]
    assert found["title"] == HOSTILE
    page = client.get(found["url"]).text
    assert "<b>Quay" not in page
    assert "12.9" in page
