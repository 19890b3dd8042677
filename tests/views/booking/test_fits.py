"""Cards say what fits, and a party that is too large is offered as many cars as it needs."""

import re
from typing import Any

import pytest
from sqlalchemy import select

from ridedash.fits import Capacity
from ridedash.store.audit import AuditRow
from ridedash.store.capacities import set_capacities
from ridedash.store.models.people import Property
from ridedash.store.properties import properties
from tests.views.booking.test_groups import words
from tests.views.booking.test_pages import TRIP, Desk, cards, desk, filled

__all__ = ["desk"]
pytestmark = pytest.mark.database


def fits(desk: Desk, **cars: tuple[int | None, int | None]) -> None:
    """Let the property say what fits into its cars: people, bags."""
    known = {category: Capacity(*numbers) for category, numbers in cars.items()}
    with desk.app.extensions["ridedash"].db.write() as s:
        home = properties(s)[0]
        assert isinstance(home, Property)
        set_capacities(s, home.id, dict.fromkeys(known, "Car"), known)


def test_without_a_property_that_says_what_fits_nothing_is_said_or_asked(desk: Desk) -> None:
    page = desk.page(**TRIP, show="1", people="24", bags="24")
    assert 'name="people"' not in page
    assert 'name="bags"' not in page
    shown = cards(page)
    assert not any("Up to" in text for text in shown.values())
    del shown["share"]  # the service tells its seats
    assert not any("Fits" in text or "needed" in text for text in shown.values())


def test_a_card_says_what_is_known_of_its_car_and_nothing_else(desk: Desk) -> None:
    fits(desk, mini=(4, 2), suv=(None, 4))
    page = desk.page(**TRIP, show="1")
    shown = cards(page)
    assert "Up to 4 people · 2 bags" in shown["mini"]
    assert "4 bags" in shown["suv"]
    assert "Up to" not in shown["suv"]
    assert "Up to" not in shown["auto"]
    assert "Up to" not in shown["share"]
    assert 'name="people"' in page


def test_only_what_is_known_of_some_car_is_asked(desk: Desk) -> None:
    fits(desk, mini=(4, None))
    page = desk.page()
    assert 'name="people"' in page
    assert 'name="bags"' not in page


@pytest.mark.parametrize(
    ("said", "mini", "suv", "share"),
    [
        ({"people": "4"}, "", "", "Fits 2 people, not 4 · 2 cars needed"),
        (
            {"people": "6"},
            "Fits 4 people, not 6 · 2 cars needed",
            "",
            "Fits 2 people, not 6 · 3 cars needed",
        ),
        ({"people": "6", "cars": "2"}, "", "", "Fits 2 people, not 6 · 3 cars needed"),
        ({"people": "2"}, "", "", "Fits 1 person, not 2"),
        ({"people": "2", "seats": "2"}, "", "", ""),
        ({"bags": "3"}, "Fits 2 bags, not 3 · 2 cars needed", "No bags fit", ""),
        *(({"people": text}, "", "", "") for text in ("", "0", "x", "-6", "9" * 40, "<i>", "6.0")),
    ],
)
def test_cards_of_the_pages_script_say_which_car_is_too_small(
    desk: Desk, said: dict[str, str], mini: str, suv: str, share: str
) -> None:
    fits(desk, mini=(4, 2), suv=(6, 0))
    answer = desk.client.get("/products.json", query_string=TRIP | said)
    assert answer.status_code == 200
    html = answer.get_json()["html"]
    shown = dict(zip(re.findall(r'data-product="(\w+)"', html), small(html), strict=True))
    expected = {"mini": mini, "suv": suv, "share": share}
    assert {name: text for name, text in shown.items() if text is not None} == expected
    assert shown["auto"] is None, "nothing is known of it"


def small(html: str) -> list[str | None]:
    """For each card: why it is too small, "" if it fits, None if nothing is known of it."""
    found = []
    for card in html.split("data-product=")[1:]:
        text = re.search(r"data-small>([^<]*)<", card)
        found.append(words(text[1]) if text else None)
    return found


def test_without_scripts_the_form_keeps_who_travels_and_the_cards_say_it(desk: Desk) -> None:
    fits(desk, mini=(4, 2))
    page = desk.press(desk.form(), show="1", people="6", bags="2").text
    assert re.search(r'<option value="6" selected>6', page)
    assert "Fits 4 people, not 6 · 2 cars needed" in cards(page)["mini"]
    assert desk.orders() == []


def test_a_car_that_is_too_small_is_not_refused(desk: Desk) -> None:
    fits(desk, mini=(4, 2))
    assert desk.press(desk.form(), people="6", bags="9").status_code == 303
    assert len(desk.orders()) == 1


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("people", "0", "Choose from 1 to 24 people."),
        ("people", "25", "Choose from 1 to 24 people."),
        ("people", "six", "Choose from 1 to 24 people."),
        ("people", "9" * 40, "Choose from 1 to 24 people."),
        ("people", "-1", "Choose from 1 to 24 people."),
        ("bags", "1e3", "Choose from 0 to 24 bags."),
        ("bags", "<script>", "Choose from 0 to 24 bags."),
    ],
)
def test_a_number_that_is_none_is_named_and_nothing_is_ordered(
    desk: Desk, field: str, typed: str, said: str
) -> None:
    fits(desk, mini=(4, 2))
    answer = desk.press(desk.form(), **{field: typed})
    assert answer.status_code == 422
    assert said in words(answer.text)
    assert f'id="{field}-error"' in answer.text
    assert typed not in answer.text or not typed.startswith("<")
    assert desk.orders() == []


def test_a_wrong_number_is_named_even_where_nothing_is_asked(desk: Desk) -> None:
    answer = desk.press(desk.form(), people="six")
    assert answer.status_code == 422
    assert "Choose from 1 to 24 people." in words(answer.text)


def two_cars(desk: Desk) -> dict[str, Any]:
    return desk.form() | {"cars": "2", "people": "6", "guest_room": "412"}


def test_two_cars_for_six_people_are_two_orders_and_a_second_press_doubles_nothing(
    desk: Desk,
) -> None:
    fits(desk, mini=(4, 2))
    form = two_cars(desk)
    answer = desk.press(form)
    first, second = desk.orders()
    assert answer.headers["Location"] == f"/groups/{first.id}"
    assert first.group_key == second.group_key is not None
    assert len({first.form_token, second.form_token}) == 2
    assert len({first.mtx, second.mtx}) == 2
    assert first.guest_id == second.guest_id
    for number, order in enumerate((first, second), 1):
        assert f"Car {number} of 2" in words(desk.client.get(f"/rides/{order.id}").text)
    assert desk.press(form).headers["Location"] == f"/groups/{first.id}"
    assert desk.press(form, people="5").headers["Location"] == f"/groups/{first.id}", (
        "who travels is no part of the order"
    )
    assert len(desk.orders()) == 2
    with desk.app.extensions["ridedash"].db.read() as s:
        rows = s.scalars(select(AuditRow).where(AuditRow.what == "order.place")).all()
    assert [(row.facts["car"], row.facts["cars"]) for row in rows] == [(1, 2), (2, 2)]
    assert [row.facts["override"] for row in rows] == [False, "group"], "on purpose, for the group"


def test_two_cars_ask_as_one_does_while_the_guest_has_an_open_ride(desk: Desk) -> None:
    fits(desk, mini=(4, 2))
    desk.press(desk.form(), guest_room="412")
    answer = desk.press(two_cars(desk))
    assert answer.status_code == 409
    assert "already has a ride from here" in words(answer.text)
    assert len(desk.orders()) == 1
    again = filled(answer.text)
    assert re.search(r'<option value="6" selected>6', answer.text), "what was typed is kept"
    seen = re.search(r'name="override_guard"\s+value="([^"]*)"', answer.text)
    assert seen
    desk.press(two_cars(desk) | again, override_guard=seen[1], cars="2", people="6")
    assert len(desk.orders()) == 3
