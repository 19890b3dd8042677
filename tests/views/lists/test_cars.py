"""The car of a list: offered for the trips it has, chosen anew with them, named at the press."""

import re

from ridedash.store.offers import fixed_price_categories
from tests.views.booking.test_pages import TRIP, Desk, desk
from tests.views.fake_service import upfront
from tests.views.lists.test_lists import Lists, lists, unlimited, words

__all__ = ["desk", "lists", "unlimited"]
DROPS = "Name;Room;Drop\nHeron;412;Nowhere at all\nWren;413;Nowhere at all"
MIXED = "Name;Room;Drop\nHeron;412;Meridian Airport\nWren;413;"


def offered(lists: Lists, at: str) -> list[str]:
    """The categories in the menu of a list."""
    page = lists.client.get(at).text
    menu = re.search(r'<select id="list-category".*?</select>', page, re.S)
    assert menu
    return re.findall(r'<option\s+value="([^"]*)"', menu[0])


def corrected(lists: Lists, at: str, line: int, **typed: str) -> None:
    """Correct a line, and let the page ask for what is missing then."""
    fields = {"name": "Heron", "room": "412", **typed}
    lists.do(f"{at}/lines/{line}", **fields)
    for _time in range(3):
        lists.do(at, do="price")


def test_a_drop_that_is_not_read_yet_does_not_choose_a_car_for_trips_without_drop(
    lists: Lists,
) -> None:
    at = lists.priced(DROPS, drop="")
    assert not lists.row(at).trip.get("category"), "no trip of the list is known yet"
    corrected(lists, at, 2, drop="Meridian Airport")
    assert lists.row(at).trip["category"] == "mini"
    assert "mini" in offered(lists, at)
    assert "Book 1 car · Mini · ₹240" in lists.page(at)


def test_a_car_chosen_for_other_trips_is_chosen_anew_when_they_change(lists: Lists) -> None:
    at = lists.priced("Name;Room\nHeron;412", drop="")
    lists.desk.form()  # the desk has seen by now that Mini has a fixed price
    lists.do(at, do="cars")
    assert lists.row(at).trip["category"] == "suv"
    corrected(lists, at, 2, drop="Meridian Airport")
    assert lists.row(at).trip["category"] == "mini"
    assert "Book 1 car · Mini" in lists.page(at)


def test_a_car_that_a_person_chose_stays_or_is_asked_for(lists: Lists) -> None:
    at = lists.priced(category="suv")
    lists.do(at, do="cars", when="now", category="suv")
    pickup = lists.row(at).trip["pickup"]["name"]
    lists.do(at, do="cars", when="now", pickup=pickup, drop="Arcade", category="suv")
    lists.do(at, do="price")
    assert lists.row(at).trip["category"] == "suv"
    assert "Book 2 cars · SUV" in lists.page(at)
    service = lists.desk.service
    service.categories = [each for each in service.categories if each["id"] != "suv"]
    lists.do(at, do="cars", when="now", pickup=pickup, drop="Meridian Airport", category="suv")
    page = lists.page(at)
    assert lists.row(at).trip["category"] == ""
    assert "Choose a car" in page
    assert "Book 2 cars" not in page
    lists.do(at, do="cars", when="now", category="mini", pickup=pickup, drop="Meridian Airport")
    lists.do(at, do="price")
    assert "Book 2 cars · Mini" in lists.page(at)


def test_one_trip_that_is_refused_hides_no_car_of_the_others(lists: Lists) -> None:
    text = "Name;Room;Drop\nHeron;412;-38.5, -128.0\nWren;413;Meridian Airport"
    at = lists.priced(text, drop="")
    assert lists.row(at).trip["category"] == "mini"
    lists.do(at, do="price")
    assert "Book 1 car · Mini" in lists.page(at)


def test_a_drop_of_the_list_that_is_not_found_is_no_ride_without_a_drop(lists: Lists) -> None:
    at = lists.priced(drop="Nowhere at all")
    lists.do(at, do="price")
    page = lists.page(at)
    assert "The drop of the list is not found yet." in page
    assert "Book 2 cars" not in page
    pickup = lists.row(at).trip["pickup"]["name"]
    lists.do(at, do="cars", when="now", pickup=pickup, drop="")
    assert "Nowhere at all" not in lists.client.get(at).text, "an empty field stays empty"


def test_a_line_without_the_drop_that_its_car_needs_is_named_before_the_press(
    lists: Lists,
) -> None:
    at = lists.priced(MIXED, drop="")
    lists.do(at, do="price")
    page = lists.page(at)
    assert lists.row(at).trip["category"] == "mini"
    assert "Mini has a fixed price and needs a drop. Type one, or choose another car." in page
    assert "meter fare" not in page
    assert "Lines that are not booked yet: 3" in page
    assert "Book 1 car · Mini · ₹240" in page
    lists.book(at)
    assert [line.state for line in lists.lines(at)[1:]] == ["WAITING", "OPEN"]
    pickup = lists.row(at).trip["pickup"]["name"]
    lists.do(at, do="cars", when="now", pickup=pickup, drop="", category="suv")
    lists.do(at, do="price")
    assert "Book 1 car · SUV" in lists.page(at)


def test_a_sum_says_by_the_meter_of_metered_prices_alone(lists: Lists) -> None:
    at = lists.priced(MIXED, drop="", category="auto")
    lists.do(at, do="cars", when="now", pickup="-38.5, -128.0", drop="", category="suv")
    for _time in range(2):
        lists.do(at, do="price")
    assert "Book 2 cars · SUV · up to ₹360, by the meter, and 1 without a price" in lists.page(at)
    lists.desk.service.estimates[1] = upfront("suv", 350, "fare-7")
    fresh = lists.priced("Name;Room;Drop\nHeron;412;Meridian Airport\nWren;413;Arcade", drop="")
    lists.do(fresh, do="price")
    assert "by the meter" not in lists.page(fresh)


def test_a_place_that_was_corrected_away_is_not_ordered(lists: Lists) -> None:
    at = lists.priced("Name;Room;Drop\nHeron;412;Arcade", drop="Meridian Airport")
    corrected(lists, at, 2, drop="")
    lists.book(at)
    plan = lists.lines(at)[1].plan or {}
    assert plan["trip"]["drop"]["name"] == "Meridian Airport"


def test_a_place_that_is_chosen_once_is_chosen_for_each_line_with_its_words(
    lists: Lists,
) -> None:
    lists.desk.service.places += [
        {"id": f"q{n}", "name": f"Quay {n}", "kind": "shop", "area": "", "lat": -38.52, "lng": lng}
        for n, lng in ((1, -128.02), (2, -128.03))
    ]
    text = "Name;Room;Drop\nHeron;412;quay\nWren;413;quay\nTeal;414;Quay 2"
    at = lists.priced(text, drop="")
    html = lists.client.get(at).text
    first = re.findall(r'value="(place:2:[^"]+)"', html)[0]
    lists.do(at, do=first)
    for _time in range(2):
        lists.do(at, do="price")
    page = lists.page(at)
    assert page.count("to Quay 1") == 2
    assert page.count("to Quay 2") == 1
    assert "Book 3 cars" in page


def test_a_fixed_price_without_a_drop_is_refused_when_it_is_planned(desk: Desk) -> None:
    """Also where the page was shown before the desk knew of the fixed price."""
    without = {key: value for key, value in TRIP.items() if not key.startswith("drop")}
    page = desk.page(**without, show="1")
    form = re.search(r'id="book".*', page, re.S)
    assert form
    offers = {each.category: each.id for each in desk.offers()}
    desk.form()
    with desk.app.extensions["ridedash"].db.read() as s:
        assert "mini" in fixed_price_categories(s, desk.offers()[0].property_id)
    sent = desk.form() | {"drop": "", "drop_lat": "", "drop_lng": "", "offer": str(offers["mini"])}
    planned = {"when": "later", "pickup_date": "2026-03-05", "pickup_time": "05:10"}
    for when in ({}, planned, {**planned, "cars": "3"}):
        answer = desk.press(sent | when)
        assert answer.status_code == 422, words(answer.text)
        assert "has a fixed price and needs a drop" in words(answer.text)
    assert desk.orders() == []


def test_a_phone_that_may_be_two_numbers_is_settled_by_one_press(lists: Lists) -> None:
    at = lists.priced("Name;Room;Phone\nHeron;412;65 9123 4567\nWren;413;33612345670")
    html = lists.client.get(at).text
    first, second = (re.findall(rf'value="(phone:{n}:[^"]+)"', html) for n in (2, 3))
    assert "phone:2:+6591234567" in first
    assert "phone:3:+33612345670" in second
    lists.do(at, do="phone:2:+6591234567")
    lists.do(at, do="phone:3:+33612345670")
    lists.do(at, do="price")
    page = lists.page(at)
    assert "Book 2 cars" in page
    lists.book(at)
    plans = [line.plan or {} for line in lists.lines(at)[1:]]
    assert [plan["phone"] for plan in plans] == ["+6591234567", "+33612345670"]
