"""The table of how many people and bags fit into the property's cars."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from ridedash.fits import Capacity
from ridedash.store.capacities import capacities_of, car_kinds, set_capacities
from ridedash.store.models.people import Staff
from ridedash.store.orders import Offer, Order
from tests.views.admin.test_property import post, recorded
from tests.views.ride_pages import Desk, make_desk, token

pytestmark = pytest.mark.database
PATH = "/admin/property/fits"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    made.add(lambda s: setattr(s.get(Staff, made.ids["desk"]), "role", "manager"))
    yield made
    made.close()


def offered(desk: Desk, *cars: tuple[str, str, str]) -> None:
    """Let the property's latest offers be of these: category, name, kind."""
    for category, name, kind in cars:
        order = desk.order("READY", None)

        with desk.services.db.write() as s:
            offer = s.get_one(Offer, s.get_one(Order, order).offer_id)
            offer.category, offer.display_name, offer.kind = category, name, kind


def stored(desk: Desk, property_name: str = "desk.property") -> dict[str, Capacity]:
    with desk.services.db.read() as s:
        return capacities_of(s, desk.ids[property_name])


def rows(page: str) -> dict[str, tuple[str, str]]:
    """The table: both typed numbers by category."""
    part = page[page.index('id="fits"') :].partition("</form>")[0]
    found = {}
    for row in part.split('name="category"')[1:]:
        values = re.findall(r'value="([^"]*)"', row)
        found[unescape(values[0])] = (unescape(values[1]), unescape(values[2]))
    return found


def send(desk: Desk, **numbers: tuple[str, str]) -> Any:
    browser = desk.client()
    data = {
        "csrf_token": token(browser),
        "category": list(numbers),
        "persons": [persons for persons, _bags in numbers.values()],
        "bags": [bags for _persons, bags in numbers.values()],
    }
    return browser.post(PATH, data=data)


CARS = (("mini", "Mini", "p2p"), ("suv", "Prime SUV", "p2p"), ("share", "Share", "share"))


def test_without_cars_the_page_says_when_they_are_listed(desk: Desk) -> None:
    page = desk.client().get("/admin/property").text
    assert "Cars are listed here once their prices were asked for." in page
    assert rows(page) == {}


def test_a_manager_says_what_fits_and_the_audit_log_has_the_change(desk: Desk) -> None:
    offered(desk, *CARS)
    page = desk.client().get("/admin/property").text
    assert rows(page)["suv"] == ("", ""), "nothing is known before a person says it"
    assert "share" not in rows(page), "the service tells the seats of shared rides"
    answer = send(desk, mini=("4", "2"), suv=("6", ""))
    assert answer.headers["Location"] == "/admin/property?said=saved#fits"
    assert stored(desk) == {"mini": Capacity(4, 2), "suv": Capacity(6, None)}
    assert stored(desk, "other.property") == {}
    assert rows(desk.client().get("/admin/property").text)["mini"] == ("4", "2")
    assert recorded(desk, "property.fits")[0].facts["changed"] == ["mini", "suv"]
    send(desk, mini=("4", "2"), suv=("6", ""))
    assert len(recorded(desk, "property.fits")) == 1, "nothing was changed"
    send(desk, suv=("", "0"))
    assert stored(desk) == {"mini": Capacity(4, 2), "suv": Capacity(None, 0)}
    send(desk, mini=("", ""))
    assert stored(desk) == {"suv": Capacity(None, 0)}
    assert "Changed how many fit into cars" in desk.client().get("/admin/audit").text


@pytest.mark.parametrize("persons", ["0", "21", "-4", "four", "4.5", "1e1", "9" * 30, "٤", "<b>"])
def test_a_number_that_is_none_is_named_and_kept_and_nothing_is_saved(
    desk: Desk, persons: str
) -> None:
    offered(desk, *CARS)
    answer = send(desk, mini=(persons, "2"), suv=("6", "99"))
    assert answer.status_code == 422
    page = unescape(answer.text)
    assert "Mini: type from 1 to 20 people, or nothing." in page
    assert "Prime SUV: type from 0 to 20 bags, or nothing." in page
    assert rows(answer.text)["mini"] == (persons[:8], "2")
    assert rows(answer.text)["suv"] == ("6", "99")
    assert "<b>" not in answer.text
    assert stored(desk) == {}
    assert recorded(desk, "property.fits") == []


def test_only_cars_that_the_property_was_offered_can_be_set(desk: Desk) -> None:
    offered(desk, *CARS)
    assert send(desk, mini=("4", "2"), rocket=("2", "0"), share=("9", "9")).status_code == 303
    assert set(stored(desk)) == {"mini"}
    browser = desk.client()
    data = {"csrf_token": token(browser), "category": ["suv", "mini"]}
    answer = browser.post(PATH, data=data)
    assert answer.status_code == 303, "a form without numbers: they are empty"
    assert stored(desk) == {}


def test_a_car_that_is_not_offered_any_more_keeps_its_row(desk: Desk) -> None:
    home = desk.ids["desk.property"]
    with desk.services.db.write() as s:
        set_capacities(s, home, {"lux": "Lux & Co"}, {"lux": Capacity(3, 3)})
    assert rows(desk.client().get("/admin/property").text)["lux"] == ("3", "3")
    offered(desk, ("lux", "Lux new", "p2p"))
    with desk.services.db.read() as s:
        kinds = {kind.category: kind.name for kind in car_kinds(s, home)}
    assert kinds["lux"] == "Lux new"


def test_a_concierge_can_not_change_it(desk: Desk) -> None:
    offered(desk, *CARS)
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "role", "concierge"))
    answer = post(desk.client(), PATH, category="mini", persons="4", bags="2")
    assert answer.status_code == 403
    assert stored(desk) == {}
