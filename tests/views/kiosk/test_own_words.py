"""A kiosk shows the property's own words, in each language that has them."""

import json
import re

import pytest
from sqlalchemy import select

from ridedash.store.models.kiosks import Kiosk
from ridedash.store.models.people import Property, Staff
from ridedash.store.wordings import Own, write_wordings
from ridedash.views.kiosk import cars
from tests.views.kiosk.lobby import Lobby, desk, lobby
from tests.views.ride_pages import NOON

__all__ = ["desk", "lobby"]
pytestmark = pytest.mark.database


def test_the_page_and_its_answers_have_them(lobby: Lobby) -> None:
    lead = Own("Rides from the <Meridian>", "A car to your door, without a phone.")
    coming = Own("The porter comes", "Somebody is coming to you.")
    with lobby.services.db.write() as s:
        prop = s.get_one(Property, s.get_one(Kiosk, lobby.id).property_id)
        by = (s.scalars(select(Staff.id)).all()[0], NOON)
        write_wordings(s, prop, "en", {"kiosk_lead": lead}, by)
        write_wordings(s, prop, "de", {"kiosk_coming": coming}, by)
    page = lobby.client.get("/kiosk").text
    assert "<Meridian>" not in page
    found = re.findall(
        r"<script type=.application/json. data-kiosk>(.*?)</script>", page, re.DOTALL
    )
    words = json.loads(found[0])["words"]
    assert words["en"]["start_lead"] == "Rides from the <Meridian>"
    assert words["en"]["help_coming"] == "Somebody is coming to you."
    assert words["de"]["help_coming"] == "The porter comes"
    assert words["de"]["start_lead"] != words["en"]["start_lead"]


def test_who_fits_into_a_car_is_the_propertys_to_say(lobby: Lobby) -> None:
    assert {car["size"] for car in lobby.cars()["cars"]} == {""}
    with lobby.services.db.write() as s:
        prop = s.get_one(Property, s.get_one(Kiosk, lobby.id).property_id)
        by = (s.scalars(select(Staff.id)).all()[0], NOON)
        write_wordings(s, prop, "en", {"kiosk_size_hatch": Own("Up to 4", "")}, by)
    sizes = {car["name"]: car["size"] for car in lobby.cars()["cars"]}
    assert sizes["Mini"] == "Up to 4"
    assert {size for name, size in sizes.items() if name != "Mini"} == {""}


def test_most_room_is_what_the_propertys_own_words_say_and_else_an_suv(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written: dict[str, str] = {}
    monkeypatch.setattr(cars, "own_words", lambda name: written.get(name, ""))
    offered = ("hatch", "suv", "lux")
    assert cars.with_most_room(offered) == {"suv"}
    assert cars.with_most_room(("hatch", "lux")) == set(), "a name does not show the size"
    written |= {"kiosk_size_hatch": "4", "kiosk_size_lux": "٧"}
    assert cars.with_most_room(offered) == {"suv"}, "the size of one of them is unknown"
    written |= {"kiosk_size_suv": "5 to 6, 2 bags"}
    assert cars.with_most_room(offered) == {"lux"}
    assert cars.with_most_room(("hatch",)) == set()
    assert cars.with_most_room(()) == set()
    written |= dict.fromkeys(written, "Up to 4")
    assert cars.with_most_room(offered) == set(), "none has more than another"
