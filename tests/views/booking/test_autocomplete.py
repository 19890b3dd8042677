"""Guests, groups, cost centres and the compact form as JSON, separate for each property."""

import re
from html import unescape
from typing import Any

import pytest
from sqlalchemy import select

from ridedash.geo import LatLng
from ridedash.store import properties
from ridedash.store.audit import AuditRow
from ridedash.store.models.desk import CostCentre
from ridedash.store.models.people import Guest, Property
from ridedash.store.orders import Offer, Order
from ridedash.store.properties import set_favourite
from tests.views.booking.test_pages import TRIP, Desk, desk, filled, second_car

__all__ = ["desk"]
pytestmark = pytest.mark.database
JSON = {"Accept": "application/json"}


def guest_rows(desk: Desk) -> list[Guest]:
    with desk.app.extensions["ridedash"].db.read() as s:
        return list(s.scalars(select(Guest).order_by(Guest.id)))


def known(desk: Desk, **facts: str) -> str:
    """Add a guest with an earlier ride, which has ended. Returns the guest's id."""
    given = {
        "guest_name": "Guest Heron",
        "guest_room": "412",
        "guest_phone": "022-2778 3300",
    } | facts
    assert desk.press(desk.form(), **given).status_code == 303
    with desk.app.extensions["ridedash"].db.write() as s:
        for order in s.scalars(select(Order)):
            order.open = False
    return f"{desk.orders()[-1].guest_id}"


def found(desk: Desk, typed: str) -> list[dict[str, Any]]:
    """The guests that the form's search lists."""
    answer = desk.client.post(
        "/guests.json", data={"q": typed, "csrf_token": desk.form()["csrf_token"]}
    )
    assert answer.headers["Cache-Control"] == "no-store"
    guests: list[dict[str, Any]] = answer.get_json()["guests"]
    return guests


def test_a_returning_guest_is_the_same_row_with_updated_fields(desk: Desk) -> None:
    known(desk)
    again = {
        "guest_name": "Heron",
        "guest_phone": "+91 22 2778 3300",
        "guest_room": "500",
        "language": "hi",
    }
    assert desk.press(desk.form(), **again).status_code == 303
    (guest,) = guest_rows(desk)
    assert (guest.name, guest.room, guest.language, guest.seen_at) == (
        "Guest Heron",
        "500",
        "hi",
        desk.now,
    )
    assert [order.room for order in desk.orders()] == ["412", "500"]
    for number, room in ((1, "412"), (2, "500")):  # each ride keeps the room of its booking
        assert f">{room}</bdi>" in desk.client.get(f"/rides/{desk.ride(number)}").text
    board = desk.client.get("/").text
    assert "412" in board
    assert "500" in board


def test_the_guest_search_returns_the_fields_that_the_form_fills_in(desk: Desk) -> None:
    known(desk, language="hi", guest_note="Wheelchair")
    (guest,) = found(desk, "412")
    assert {
        name: guest[name] for name in ("name", "room", "phone", "language", "note", "exact")
    } == {
        "name": "Guest Heron",
        "room": "412",
        "phone": "+912227783300",
        "language": "hi",
        "note": "Wheelchair",
        "exact": True,
    }
    assert guest["about"] == "last booked 14:30 · हिन्दी · Wheelchair"
    assert (guest["category"], guest["places"]) == (
        "mini",
        [{"name": "Airport", "lat": -38.55, "lng": -128.06}],
    )
    assert not found(desk, "her")[0]["exact"]
    assert found(desk, "99") == found(desk, "9" * 60_000) == []


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("Łukasz Kot", "lukasz kot"),
        ("Lukasz Kot", "Kot, Łukasz"),
        ("Jürgen Müller", "Juergen Mueller"),
        ("Ann O'Brien", "OBrien Ann"),
        ("山田 太郎", "山田太郎"),
    ],
)
def test_a_whole_name_in_any_spelling_is_this_guest(desk: Desk, name: str, typed: str) -> None:
    known(desk, guest_name=name)
    assert [(each["name"], each["exact"]) for each in found(desk, typed)] == [(name, True)]
    assert [each["exact"] for each in found(desk, typed[:2])] == [False]


def test_no_address_contains_the_searched_guest(desk: Desk) -> None:
    assert desk.client.get("/guests.json?q=412").status_code == 405
    old = desk.client.post("/guests.json", data={"q": "412", "csrf_token": "of yesterday"})
    assert (old.status_code, old.get_json()["error"]) == (400, "This page was open for too long")


def test_guests_of_another_property_are_neither_found_nor_accepted(desk: Desk) -> None:
    known(desk)
    (guest,) = guest_rows(desk)
    services = desk.app.extensions["ridedash"]
    with services.db.write() as s:
        other = properties.add_property(s, "Other Hotel", "UTC", desk.now)
        s.get_one(Guest, guest.id).property_id = other.id
    assert found(desk, "412") == []
    assert desk.press(desk.form(), guest_id=f"{guest.id}", guest_room="412").status_code == 303
    assert desk.orders()[1].guest_id != guest.id


def test_an_erased_guest_is_never_shown_nor_filled_in(desk: Desk) -> None:
    known(desk)
    services = desk.app.extensions["ridedash"]
    with services.db.write() as s:
        (order,) = s.scalars(select(Order))
        guest = s.get_one(Guest, order.guest_id)
        guest.name, guest.erased_at, guest.phone, guest.room = (
            "Guest 0123456789",
            desk.now,
            None,
            None,
        )
        order.room = None
    for typed in ("412", "heron", "0123456789", ""):
        assert found(desk, typed) == []
    page = desk.page(again=f"{order.id}")
    assert "0123456789" not in page
    assert 'name="guest_id" type="hidden" value=""' in page


def test_an_empty_drop_suggests_drops_of_the_guest_then_favourites_then_of_others(
    desk: Desk,
) -> None:
    guest_id = known(desk)
    with desk.app.extensions["ridedash"].db.write() as s:
        set_favourite(s, 1, "drop", 1, "Harbour Station", LatLng(-38.52, -128.02))
        set_favourite(s, 1, "drop", 2, "Airport", LatLng(-38.55, -128.06))
        set_favourite(s, 1, "pickup", 1, "Back gate", LatLng(-38.5, -128.001))

    def listed(**query: str) -> list[tuple[str, str, str]]:
        places = desk.client.get("/places.json", query_string=query).get_json()["places"]
        return [(place["name"], place["kind"], place["slot"]) for place in places]

    assert listed(end="drop", guest=guest_id) == [
        ("Airport", "often", "2"),
        ("Harbour Station", "", "1"),
    ]
    assert listed(end="drop") == [("Harbour Station", "", "1"), ("Airport", "", "2")]
    assert listed(end="pickup") == [("Back gate", "", "1")]
    assert listed(end="drop", guest="99999999999999999999") == listed(end="drop")


def test_the_propertys_own_places_lead_a_search(desk: Desk) -> None:
    known(desk)  # with a drop called "Airport", where the gazetteer has "Meridian Airport"
    desk.service.places = [
        {"name": name, "kind": kind, "area": "", "lat": lat, "lng": -128.06}
        for name, kind, lat in (
            ("Central Library", "library", -38.51),
            ("Airport Arcade", "shop", -38.53),
            ("Meridian Airport", "airport", -38.5501),
        )
    ]
    with desk.app.extensions["ridedash"].db.write() as s:
        set_favourite(s, 1, "drop", 2, "Port Méridian Central Station", LatLng(-38.52, -128.02))
        set_favourite(s, 1, "drop", 3, "Old Airport", LatLng(-38.58, -128.02))
        set_favourite(s, 1, "pickup", 1, "Central gate", LatLng(-38.5, -128.001))

    def listed(typed: str, **query: str) -> list[tuple[str, str]]:
        answer = desk.client.get("/places.json", query_string={"q": typed} | query)
        places = answer.get_json()["places"]
        return [(place["name"], place.get("slot") or place["kind"]) for place in places]

    station = ("Port Méridian Central Station", "2")
    assert listed("Meridian  cent", end="drop")[0] == listed("central", end="drop")[0] == station
    library = ("Central Library", "")
    assert listed("central", end="drop")[1] == library
    assert listed("central", end="pickup")[0] == ("Central gate", "1")
    airports = [("Old Airport", "3"), ("Meridian Airport", ""), ("Airport Arcade", "shop")]
    assert listed("airport", end="drop") == airports
    assert listed("entral", end="drop") == [library], "words are compared from their beginning"
    assert listed("...", end="drop") == []
    assert listed("meridian c", end="drop", other="-38.52,-128.02") == [], (
        "the drop that is changed"
    )
    assert listed("central") == [library], "in the settings"
    desk.service.places_down = True
    assert listed("Station", end="drop") == [station]
    answer = desk.client.get("/places.json?q=station&end=drop")
    assert (answer.status_code, "not answering" in answer.get_json()["credit"]) == (200, True)


def gazetteer(desk: Desk, *names: str) -> None:
    """Let the gazetteer find these places, all at the drop of `known`."""
    desk.service.places = [
        {"name": name, "kind": "", "area": "", "lat": -38.55, "lng": -128.06} for name in names
    ]


def recent(desk: Desk, name: str) -> None:
    """Give the drop of `known` this name."""
    with desk.app.extensions["ridedash"].db.write() as s:
        for offer in s.scalars(select(Offer)):
            offer.drop_name = name


def listed(desk: Desk, typed: str) -> list[str]:
    """The names that are listed for a typed drop."""
    answer = desk.client.get("/places.json", query_string={"q": typed, "end": "drop"})
    return [place["name"] for place in answer.get_json()["places"]]


def test_places_beside_an_own_place_stay_in_the_list_unless_they_are_it(desk: Desk) -> None:
    known(desk)
    recent(desk, "Mall East Gate")
    gazetteer(desk, "Mall", "Big Mall East Gate", "Mall (East Gate)", "Mallow East Gate")
    others = ["Mall", "Big Mall East Gate", "Mallow East Gate"]
    assert listed(desk, "mal") == ["Mall (East Gate)", *others]
    gazetteer(desk, "Mall", "Small East Gate")
    assert listed(desk, "ma") == ["Mall East Gate", "Mall", "Small East Gate"]
    with desk.app.extensions["ridedash"].db.write() as s:
        set_favourite(s, 1, "drop", 1, "Airport", LatLng(-38.55, -128.06))
    terminals = ["Airport Terminal 1", "Airport Terminal 2"]
    gazetteer(desk, terminals[0], "AIRPORT", terminals[1])
    assert listed(desk, "airp") == ["Airport", *terminals]


def test_a_place_whose_whole_name_was_typed_comes_first(desk: Desk) -> None:
    known(desk)
    recent(desk, "Park Street Clinic")
    gazetteer(desk, "Old Park Street", "Park Street")
    clinic = "Park Street Clinic"
    assert listed(desk, "park street") == ["Park Street", clinic, "Old Park Street"]
    assert listed(desk, "park str") == [clinic, "Old Park Street", "Park Street"]
    with desk.app.extensions["ridedash"].db.write() as s:
        set_favourite(s, 1, "drop", 1, "Park Street East", LatLng(-38.52, -128.02))
        set_favourite(s, 1, "drop", 2, "Park street", LatLng(-38.58, -128.02))
    others = ["Park Street East", clinic, "Old Park Street"]
    assert listed(desk, " Park  Street") == ["Park street", "Park Street", *others]


def drop_tiles(html: str) -> list[str]:
    """The texts of the suggested drops."""
    tiles = re.findall(r"(?s)data-drop-tile(.*?)</button>", html.split("<template")[0])
    return [" ".join(re.sub(r"<[^>]+>|^\s*>", " ", tile).split()) for tile in tiles]


def test_where_the_ride_begins_is_no_drop_for_it(desk: Desk) -> None:
    guest_id = known(desk)
    with desk.app.extensions["ridedash"].db.write() as s:
        set_favourite(s, 1, "drop", 1, "Harbour Station", LatLng(-38.52, -128.02))
        set_favourite(s, 1, "drop", 2, "Our own door", LatLng(-38.5005, -128.0005))

    def names(**query: str) -> list[str]:
        places = desk.client.get("/places.json", query_string=query).get_json()["places"]
        return [place["name"] for place in places]

    door = "-38.5,-128"
    assert "Our own door" in names(end="drop"), "for a ride that begins elsewhere"
    assert names(end="drop", other=door) == ["Harbour Station", "Airport"]
    assert names(end="drop", other=door, guest=guest_id) == ["Airport", "Harbour Station"]
    for nonsense in ("", "x", "91,0", "1"):
        assert names(end="drop", other=nonsense) == names(end="drop")
    page = desk.client.get("/rides/new").text  # its pickup is the property's own
    assert drop_tiles(page) == ["1 Harbour Station", "Airport recent · about 22 min"]


def test_a_suggested_drop_shows_how_long_the_ride_from_the_property_took(desk: Desk) -> None:
    known(desk)
    with desk.app.extensions["ridedash"].db.write() as s:
        set_favourite(s, 1, "drop", 1, "Harbour Station", LatLng(-38.52, -128.02))
        set_favourite(s, 1, "drop", 2, "Airport", LatLng(-38.55, -128.06))

    def minutes() -> dict[str, str]:
        places = desk.client.get("/places.json?end=drop").get_json()["places"]
        return {place["name"]: place["minutes"] for place in places}

    assert minutes() == {"Airport": "about 22 min", "Harbour Station": ""}
    with desk.app.extensions["ridedash"].db.write() as s:
        s.get_one(Property, 1).pickup_lat = -38.6  # no one rode from there yet
    assert minutes()["Airport"] == ""


def test_cars_without_a_drop_stand_below_the_suggested_drops(desk: Desk) -> None:
    guest_id = known(desk)
    ends = {name: value for name, value in TRIP.items() if name.startswith("pickup")}

    def shown(**query: str) -> list[str]:
        return drop_tiles(desk.client.get("/products.json", query_string=query).get_json()["html"])

    assert shown(**ends, guest=guest_id) == ["Airport often · about 22 min"]
    assert shown(**ends) == ["Airport recent · about 22 min"]
    assert shown(**TRIP) == []


def test_without_scripts_a_suggested_drop_shows_its_cars_and_preserves_typed_text(
    desk: Desk,
) -> None:
    with desk.app.extensions["ridedash"].db.write() as s:
        set_favourite(s, 1, "drop", 1, "Airport, north", LatLng(-38.55, -128.06))
    page = desk.page()
    (value,) = re.findall(r'name="show"\s+value="(-38[^"]+)"', page.split("<template")[0])
    answer = desk.press(filled(page), show=unescape(value), drop="somewhere", guest_room="412")
    assert answer.status_code == 200
    assert 'value="Airport, north"' in answer.text
    assert 'value="412"' in answer.text
    assert "₹240" in answer.text
    assert desk.orders() == []


def test_the_guests_usual_car_is_preselected_if_one_is_near(desk: Desk) -> None:
    def chosen(usual: str) -> str:
        html = desk.client.get("/products.json", query_string=TRIP | {"usual": usual}).get_json()[
            "html"
        ]
        found = re.search(
            r'name="offer"[^>]*checked[^>]*data-category="([^"]+)"', html.replace("\n", " ")
        )
        return found[1] if found else ""

    assert chosen("suv") == "suv"
    assert chosen("auto") == "mini", "no auto is near"
    assert chosen("gone") == "mini"


def test_a_cost_centre_of_the_property_is_stored_and_no_other_is_accepted(desk: Desk) -> None:
    services = desk.app.extensions["ridedash"]
    assert "Cost centre" not in desk.page(), "a property without any has no such field"
    with services.db.write() as s:
        other = properties.add_property(s, "Other Hotel", "UTC", desk.now)
        s.add_all(
            [
                CostCentre(property_id=property_id, name="Spa", closed_at=None)
                for property_id in (1, other.id)
            ]
        )
        s.add(CostCentre(property_id=1, name="Old wing", closed_at=desk.now))
    page = desk.page()
    assert "Spa" in page
    assert "Old wing" not in page
    assert desk.press(desk.form(), cost_centre="1").status_code == 303
    assert desk.orders()[0].cost_centre_id == 1
    for theirs in ("2", "3", "x", "77"):
        assert (
            desk.press(desk.form(), guest_name="Guest Wren", cost_centre=theirs).status_code == 422
        )
    assert len(desk.orders()) == 1


def test_a_group_is_booked_at_once_and_its_page_shows_each_outcome(desk: Desk) -> None:
    answer = desk.press(desk.form(), cars="3")
    first, second, third = (order.id for order in desk.orders())
    assert answer.location == f"/groups/{first}"
    assert f'href="/groups/{second}"' in desk.client.get(f"/rides/{second}").text
    page = unescape(desk.client.get(f"/groups/{second}").text)
    assert "3 cars for Guest Heron" in page
    assert "3 waiting for the ride company" in page
    services = desk.app.extensions["ridedash"]
    with services.db.write() as s:
        for order_id, state in ((first, "BOOKED"), (second, "REJECTED"), (third, "UNKNOWN")):
            s.get_one(Order, order_id).state = state
    answer = desk.client.get(f"/groups/{first}", headers=JSON)
    html = answer.get_json()["html"]
    assert "1 looking for a driver · 1 not known · 1 not booked" in html
    assert re.findall(r'href="(/rides/new\?again=\d+)"', html) == [f"/rides/new?again={second}"], (
        "what is not known is not tried again"
    )
    known_tag = {"If-None-Match": answer.headers["ETag"]}
    again = desk.client.get(f"/groups/{first}", headers=JSON | known_tag)
    assert again.status_code == 304


def test_a_single_ride_has_no_group_page(desk: Desk) -> None:
    desk.press(desk.form())
    only = desk.ride(1)
    assert desk.client.get(f"/groups/{only}").location == f"/rides/{only}"
    assert desk.client.get(f"/groups/{only + 1}").status_code == 404


@pytest.mark.parametrize("cars", ["0", "7", "x", "-1"])
def test_an_invalid_number_of_cars_is_refused_and_nothing_ordered(desk: Desk, cars: str) -> None:
    answer = desk.press(desk.form(), cars=cars)
    assert answer.status_code == 422
    assert desk.orders() == []


def test_each_car_of_a_group_counts_for_the_limit(desk: Desk) -> None:
    form = desk.form()
    codes = [
        desk.press(
            form, form_token=f"token-of-a-group-{n:02}", guest_name=f"Guest {n}", cars="6"
        ).status_code
        for n in range(11)
    ]
    assert codes == [303] * 10 + [429]
    assert (
        desk.press(
            form, form_token="token-of-a-group-00", guest_name="Guest 0", cars="6"
        ).status_code
        == 303
    )


def test_the_script_gets_the_form_alone_and_an_empty_one_after_each_order(desk: Desk) -> None:
    form = filled(desk.client.get("/rides/new", headers=JSON).get_json()["html"])
    assert form["pickup"] == "Grand Hotel, lobby"
    sent = desk.form() | {"guest_name": "Guest Heron"}
    answer = desk.client.post("/rides/new", data=sent, headers=JSON)
    body = answer.get_json()
    (made,) = (order.id for order in desk.orders())
    assert (answer.status_code, body["order"], body["orders"]) == (201, made, [made])
    assert "Guest Heron" not in body["html"]
    assert filled(body["html"])["form_token"] not in (sent["form_token"], form["form_token"])
    twice = desk.client.post("/rides/new", data=sent, headers=JSON)
    assert (twice.status_code, twice.get_json()["order"]) == (200, made)
    other = desk.client.post("/rides/new", data=sent | {"guest_name": "Guest Wren"}, headers=JSON)
    assert (other.status_code, other.get_json()["order"]) == (409, made)
    wrong = desk.client.post("/rides/new", data=desk.form() | {"guest_name": ""}, headers=JSON)
    assert wrong.status_code == 422
    assert "Type the guest's name" in unescape(wrong.get_json()["html"])
    assert len(desk.orders()) == 1


def test_a_confirmed_second_car_is_recorded_with_the_first_ride(desk: Desk) -> None:
    desk.press(desk.form())
    named = second_car(desk.press(desk.form()).text)
    assert desk.press(desk.form(), override_guard=named).status_code == 303
    with desk.app.extensions["ridedash"].db.read() as s:
        rows = list(
            s.scalars(select(AuditRow).where(AuditRow.what == "order.place").order_by(AuditRow.id))
        )
    assert [(row.facts["override"], row.facts.get("second_to")) for row in rows] == [
        (False, None),
        (True, desk.ride(1)),
    ]
    assert rows[1].who == "staff:1"
    assert "Heron" not in str([row.facts for row in rows])


def test_the_example_of_coordinates_lies_at_the_property(desk: Desk) -> None:
    message = desk.client.get("/places.json?q=zzzz").get_json()["message"]
    assert message == (
        "No place of that name. Try another word, or coordinates such as -38.500, -128.000."
    )
    desk.service.places_down = True
    message = desk.client.get("/places.json?q=quay").get_json()["message"]
    assert message.endswith("Type coordinates such as -38.500, -128.000.")
    assert "-38.500, -128.000" in desk.page(drop="quay", show="1")
    with desk.app.extensions["ridedash"].db.write() as s:
        s.get_one(Property, 1).pickup_lat = None
    message = desk.client.get("/places.json?q=quay").get_json()["message"]
    assert message.endswith("Type coordinates: latitude, longitude.")
