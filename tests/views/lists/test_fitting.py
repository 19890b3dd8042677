"""Cars of a list that are too small: named, never refused, and shared out over more cars."""

import re

import pytest

from tests.views.booking.test_fits import fits
from tests.views.booking.test_pages import Desk, desk
from tests.views.lists.test_lists import Lists, lists

__all__ = ["desk", "lists"]
pytestmark = pytest.mark.database
FOUR = "Name;Room;Pax\nHeron;412;2\nWren;413;2\nTeal;414;2"
TOO_MANY = "Fits 4 people, not 6"


def together(lists: Lists, text: str = FOUR) -> str:
    """A priced list whose guests all share the first one's car."""
    at = lists.priced(text, category="mini")
    first, *others = [line for line in lists.lines(at) if line.out is None]
    for line in others:
        name, room, pax = line.data["cells"]
        lists.do(
            f"{at}/lines/{line.number}", name=name, room=room, persons=pax, car=str(first.number)
        )
    lists.do(at, do="price")
    return at


def cars(lists: Lists, at: str) -> list[int]:
    """The car of each guest."""
    return [line.car for line in lists.lines(at) if line.out is None]


def press_of(lists: Lists, at: str) -> str:
    """The press that shares the guests of a car out; "" where it is not offered."""
    found = re.search(r'value="(split:\d+)"', lists.client.get(at).text)
    return found[1] if found else ""


def test_a_shared_car_that_is_too_small_is_named_and_its_guests_are_shared_out(
    lists: Lists, desk: Desk
) -> None:
    fits(desk, mini=(4, 2))
    at = together(lists)
    page = lists.page(at)
    assert TOO_MANY in page
    assert "Use 2 cars" in page
    assert "Book 1 car" in page, "it is named, and not refused"
    first = cars(lists, at)[0]
    lists.do(at, do=press_of(lists, at))
    assert cars(lists, at) == [first, first, first + 2]
    lists.do(at, do="price")
    page = lists.page(at)
    assert TOO_MANY not in page
    assert "Book 2 cars · Mini · ₹480" in page
    assert press_of(lists, at) == ""


def test_nothing_is_said_where_nothing_is_known(lists: Lists, desk: Desk) -> None:
    fits(desk, suv=(2, 2), mini=(None, 1))
    at = together(lists)
    assert "Fits" not in lists.page(at)
    lists.do(at, do="split:2")
    assert len(set(cars(lists, at))) == 1


def test_one_guest_with_more_people_than_fit_becomes_two_lines_that_are_meant(
    lists: Lists, desk: Desk
) -> None:
    fits(desk, mini=(4, 2))
    at = lists.priced("Name;Room;Pax\nHeron;412;6\nWren;413;1", category="mini")
    assert TOO_MANY in lists.page(at)
    assert "Book 2 cars" in lists.page(at)
    lists.do(at, do=press_of(lists, at))
    lists.do(at, do="price")
    page = lists.page(at)
    assert "4 people" in page
    assert "2 people" in page
    assert "The same guest" not in page, "two cars on purpose are not asked about"
    assert "Book 3 cars · Mini · ₹720" in page
    lines = [line for line in lists.lines(at) if line.out is None]
    assert len({line.mtx for line in lines}) == 3, "each has a reference of its own"
    assert lists.book(at).status_code == 303
    assert [line.state for line in lists.lines(at)][1:] == ["WAITING"] * 3
    named = [line.plan["name"] for line in lists.lines(at) if line.plan]
    assert sorted(named) == ["Heron", "Heron", "Wren"]
    assert press_of(lists, at) == "", "what was pressed is not shared out any more"


def test_a_second_press_shares_nothing_out_again(lists: Lists, desk: Desk) -> None:
    fits(desk, mini=(4, 2))
    at = lists.priced("Name;Room;Pax\nHeron;412;9\nWren;413;1", category="mini")
    press = press_of(lists, at)
    lists.do(at, do=press)
    once = [(line.number, line.car, line.data.get("typed")) for line in lists.lines(at)]
    assert len(once) == 5
    lists.do(at, do=press)
    assert [(line.number, line.car, line.data.get("typed")) for line in lists.lines(at)] == once


@pytest.mark.parametrize(
    "press", ["split:", "split:0", "split:1", "split:3", "split:99", "split:x"]
)
def test_a_press_that_names_no_car_changes_nothing(lists: Lists, desk: Desk, press: str) -> None:
    fits(desk, mini=(4, 2))
    at = together(lists)
    before = cars(lists, at)
    assert lists.do(at, do=press).status_code in (303, 200)
    assert cars(lists, at) == before


def test_a_full_list_gets_no_further_line(lists: Lists, desk: Desk) -> None:
    fits(desk, mini=(4, 2))
    rows = "\n".join(f"Guest {n};{400 + n};6" for n in range(60))
    at = lists.priced(f"Name;Room;Pax\n{rows}", category="mini")
    assert TOO_MANY in lists.page(at)
    assert press_of(lists, at) == ""
    lists.do(at, do="split:2")
    assert len(cars(lists, at)) == 60


def test_seats_are_proposed_as_the_property_has_set_them(lists: Lists, desk: Desk) -> None:
    at = lists.priced(FOUR, category="mini")
    proposed = re.compile(r'name="seats"[^>]*value="(\d*)"')
    found = proposed.search(lists.client.get(at).text)
    assert found is not None
    assert found[1] == ""
    fits(desk, mini=(4, 2))
    found = proposed.search(lists.client.get(at).text)
    assert found is not None
    assert found[1] == "4"
