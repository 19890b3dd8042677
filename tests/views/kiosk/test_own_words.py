"""A kiosk shows the property's own words, in each language that has them."""

import json
import re

import pytest
from sqlalchemy import select

from ridedash.fits import Capacity
from ridedash.service.types.products import ProductList
from ridedash.store.capacities import set_capacities
from ridedash.store.models.kiosks import Kiosk
from ridedash.store.models.people import Property, Staff
from ridedash.store.wordings import Own, write_wordings
from ridedash.views.booking.product_cards import card
from ridedash.views.kiosk import cars
from tests.views.fake_service import category
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


def roomiest(*drawings: str, **persons: int) -> set[str]:
    """The drawings with the most room; `persons`: how many the property has set for some."""
    cards = [
        card(product, has_drop=True, locale="en")
        .with_offer(number)
        .with_capacity(Capacity(persons.get(drawing)))
        for number, drawing in enumerate(drawings)
        for product in ProductList.from_wire({"categories": [category(drawing, drawing)]}).products
    ]
    return {each.drawing for each in cards if each.offer_id in cars.with_most_room(cards)}


def test_most_room_is_what_the_propertys_own_words_say_and_else_an_suv(
    lobby: Lobby, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: dict[str, str] = {}
    monkeypatch.setattr(cars, "own_words", lambda name: written.get(name, ""))
    offered = ("mini", "suv", "lux")
    with lobby.desk.app.test_request_context():
        assert roomiest(*offered) == {"suv"}
        assert roomiest("mini", "lux") == set(), "a name does not show the size"
        written |= {"kiosk_size_hatch": "4", "kiosk_size_lux": "٧"}
        assert roomiest(*offered) == {"suv"}, "the size of one of them is unknown"
        assert roomiest(*offered, suv=8) == {"suv"}, "it is set, and larger than those words"
        assert roomiest(*offered, suv=5) == {"lux"}
        written |= {"kiosk_size_suv": "5 to 6, 2 bags"}
        assert roomiest(*offered) == {"lux"}
        assert roomiest(*offered, suv=8) == {"lux"}, "a guest reads those words, not the number"
        assert roomiest("mini") == set()
        assert roomiest() == set()
        written |= dict.fromkeys(written, "Up to 4")
        assert roomiest(*offered) == set(), "none has more than another"
        written.clear()
        assert roomiest(*offered, mini=4, suv=6, lux=7) == {"lux"}


def test_without_own_words_a_kiosk_says_what_the_property_has_set_in_the_guests_language(
    lobby: Lobby,
) -> None:
    with lobby.services.db.write() as s:
        home = s.get_one(Kiosk, lobby.id).property_id
        known = {"mini": Capacity(4, 2), "suv": Capacity(None, 4)}
        set_capacities(s, home, dict.fromkeys(known, "Car"), known)
    sizes = {car["name"]: car["size"] for car in lobby.cars()["cars"]}
    assert sizes.pop("Mini") == "Up to 4 people · 2 bags"
    assert set(sizes.values()) == {"", "4 bags"}, "an unknown number of people says nothing"
    with lobby.services.db.write() as s:
        prop = s.get_one(Property, home)
        by = (s.scalars(select(Staff.id)).all()[0], NOON)
        write_wordings(s, prop, "en", {"kiosk_size_hatch": Own("3 and a pram", "")}, by)
    assert "3 and a pram" in {car["size"] for car in lobby.cars()["cars"]}
