"""Rides to a flight: its number and departure are stored, and a pickup is proposed, never set."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from markupsafe import escape

from ridedash.rides.privacy.retention import forget_guest
from ridedash.store.models.people import Guest, Property
from tests.views.booking.test_pages import Desk, desk, filled
from tests.views.booking.test_scheduled import words

__all__ = ["desk"]
pytestmark = pytest.mark.database
# it is 14:30 in Kolkata, and the airport is 22 minutes away
FLIGHT = {"for_flight": "y", "flight": "lh760", "departs": "21:40"}
LEAVES = datetime(2026, 3, 4, 16, 10, tzinfo=UTC)
NOW = {"flight_now": "2026-03-04T16:10:00.000Z"}  # a car now, although the flight is hours away
PROPOSAL = (
    "Departs 21:40 today, be there 2 h before, about 22 min on the road: pick up at 19:18 today."
)


def proposed(desk: Desk, **query: str) -> dict[str, Any]:
    found: dict[str, Any] = desk.client.get("/flight-time.json", query_string=query).get_json()
    return found


@pytest.mark.parametrize(
    ("flight", "headline", "said", "take"),
    [
        (
            {"departs": "04DEC26 0615"},
            "The flight leaves at 06:15 on Fri 4 Dec. A car now?",
            "Rides are planned up to 30 days ahead.",
            "",
        ),
        (
            {"departs": "tomorrow 0615"},
            "The flight leaves at 06:15 tomorrow. A car now?",
            "pick up at 03:53 tomorrow.",
            "2026-03-05 03:53",
        ),
        ({"departs": "21:40"}, "The flight leaves at 21:40 today. A car now?", PROPOSAL, "19:18"),
        (
            {"departs": "6 mar 14:20", "flight_way": "lands"},
            "The flight lands at 14:20 on Fri 6 Mar. A car now?",
            "pick up at 15:00 on Fri 6 Mar.",
            "2026-03-06 15:00",
        ),
    ],
)
def test_a_car_now_for_a_flight_that_is_hours_away_is_asked_first(
    desk: Desk, flight: dict[str, str], headline: str, said: str, take: str
) -> None:
    form = desk.form() | FLIGHT | flight
    asked = desk.press(form)
    assert asked.status_code == 409
    text = words(asked.text)
    assert headline in text
    assert said in text
    assert desk.orders() == []
    fresh = filled(asked.text) | FLIGHT | flight
    if take:
        assert f'{take}"' in asked.text.partition('role="alert"')[2].partition("</div>")[0]
        quick = f"2026-03-04 {take}" if ":" in take[:3] else take
        planned = desk.press(fresh, quick=quick).text
        assert 'name="when" value="later" checked' in " ".join(planned.split())
    key = asked.text.partition('name="flight_now"')[2].split('"')[1]
    other = desk.press(fresh, flight_now=key, departs="tomorrow 0700")
    assert other.status_code == 409, "confirmed for another flight time"
    now = desk.press(fresh, flight_now=key)
    assert now.status_code == 303, words(now.text)
    assert [order.pickup_at for order in desk.orders()] == [None]
    assert desk.press(fresh).status_code == 303, "the same form asks nothing once it has ordered"
    assert len(desk.orders()) == 1


@pytest.mark.parametrize(
    "flight", [{"departs": "19:40"}, {"departs": "15:30"}, {"departs": ""}, {"for_flight": ""}]
)
def test_a_car_now_for_a_flight_that_leaves_soon_is_not_asked(
    desk: Desk, flight: dict[str, str]
) -> None:
    flight = FLIGHT | flight
    answer = desk.press(desk.form(), **{name: text for name, text in flight.items() if text})
    assert answer.status_code == 303, words(answer.text)


def test_the_flight_stays_with_the_ride_on_its_card_and_on_the_hand_over(desk: Desk) -> None:
    answer = desk.press(desk.form(), **FLIGHT, **NOW, note="two bags")
    assert answer.status_code == 303, words(answer.text)
    (order,) = desk.orders()
    assert (order.flight, order.departs_at, order.pickup_at) == ("LH 760", LEAVES, None)
    assert "LH" not in order.body, "the ride company does not get it"
    card = words(desk.client.get(f"/rides/{order.id}").text)
    assert "Flight LH 760, leaves Wed 4 Mar 21:40" in card
    sheet = words(desk.client.get("/handover").text)
    assert "Flight LH 760, leaves Wed 4 Mar 21:40 · two bags" in sheet
    with desk.app.extensions["ridedash"].db.write() as s:
        forget_guest(s, s.get_one(Guest, order.guest_id), desk.now, "key")
    assert (desk.orders()[0].flight, desk.orders()[0].departs_at) == (None, None)


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("AI 101", "AI 101"),
        ("dlh7", "DLH 7"),
        ("6e2045", "6E 2045"),
        ("U2 8123a", "U2 8123A"),
        ("6E-204", "6E 204"),
        ("LH760/LH761", "LH 760/LH 761"),
        ("lh 760 / ua 8837", "LH 760/UA 8837"),
        ("EK505 T3", "EK 505 T3"),
        ("ICE 573", "ICE 573"),
        ("12028", "12028"),
        ("TGV 8412", "TGV 8412"),
        ("Blue Star 2", "BLUE STAR 2"),
        ("", None),
    ],
)
def test_a_flight_number_is_stored_as_it_is_printed(
    desk: Desk, typed: str, stored: str | None
) -> None:
    assert desk.press(desk.form(), **FLIGHT | NOW | {"flight": typed}).status_code == 303
    assert desk.orders()[0].flight == stored


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"flight": "tomorrow"}, "as it is printed, such as LH 760, EK 505 T3 or ICE 573."),
        ({"flight": "<b>760</b>"}, "as it is printed"),
        ({"flight": "LH 760 from Frankfurt at six"}, "as it is printed"),
        ({"departs": "soon"}, "“soon” is not understood"),
        ({"departs": "4 mar 06:00"}, "That time is over: 06:00."),
    ],
)
def test_an_impossible_flight_is_refused_and_typed_text_is_preserved(
    desk: Desk, changes: dict[str, str], message: str
) -> None:
    answer = desk.press(desk.form(), **FLIGHT | changes)
    assert answer.status_code == 422
    assert message in words(answer.text)
    (typed,) = changes.values()
    kept = typed.upper() if "flight" in changes else typed
    assert f'value="{escape(kept)}"' in answer.text
    assert desk.orders() == []
    unwanted = {name: text for name, text in (FLIGHT | changes).items() if name != "for_flight"}
    assert desk.press(desk.form(), **unwanted).status_code == 303, "the ride is for no flight"
    assert desk.orders()[0].flight is desk.orders()[0].departs_at is None


def test_a_pickup_is_proposed_with_its_arithmetic(desk: Desk) -> None:
    assert proposed(desk, departs="21:40", minutes="22") == {
        "said": PROPOSAL,
        "take": "2026-03-04 19:18",
        "button": "Pick up at 19:18 today",
        "wrong": False,
        "choices": [],
    }
    with desk.app.extensions["ridedash"].db.write() as s:
        s.get_one(Property, 1).flight_margin_min = 90
    night = proposed(desk, departs="tomorrow 0110", minutes="22")
    assert night["said"] == (
        "Departs 01:10 tomorrow, be there 90 min before, about 22 min on the road: "
        "pick up at 23:18 today."
    )
    late = proposed(desk, departs="16:20", minutes="22")
    assert late["said"].endswith("pick up at 14:28 today. That is too soon to plan: book it now.")
    far = proposed(desk, departs="5 apr 09:00", minutes="22")
    assert far["said"].endswith("Rides are planned up to 30 days ahead.")
    unknown = proposed(desk, departs="21:40")
    assert unknown["said"].endswith("at 20:10 today. Choose the drop to see when to pick up.")
    assert late["take"] == far["take"] == unknown["take"] == ""
    asked = proposed(desk, departs="3/4 06:00")
    assert asked["wrong"] is True
    assert [each["words"] for each in asked["choices"]] == ["2026-04-03 06:00"], "4 March has begun"
    assert "choices" in asked
    assert proposed(desk, departs=asked["choices"][0]["words"])["wrong"] is False
    assert proposed(desk) == {"said": "", "take": "", "button": "", "wrong": False, "choices": []}


def test_without_scripts_the_proposal_is_taken_by_one_press_and_never_by_itself(
    desk: Desk,
) -> None:
    page = desk.press(desk.form(), show="1", **FLIGHT).text
    assert PROPOSAL in words(page)
    assert 'value="2026-03-04 19:18"' in page
    assert 'name="when" value="now" checked' in " ".join(page.split())
    taken = desk.press(filled(page), quick="2026-03-04 19:18", **FLIGHT).text
    assert "Today, Wed 4 Mar, 19:18, in 4 h 48 min" in words(taken)
    assert desk.orders() == []
    sent = filled(taken) | {"pickup_words": "2026-03-04 19:18"} | FLIGHT
    assert desk.press(sent).status_code == 303
    (order,) = desk.orders()
    assert order.pickup_at == LEAVES - timedelta(minutes=142)
    change = desk.page(change=f"{order.id}")
    for field in ('value="LH 760"', 'value="2026-03-04 21:40"'):
        assert field in change
    later = {"pickup_words": "", "pickup_date": "2026-03-04", "pickup_time": "19:18"}
    moved = filled(change) | FLIGHT | later | {"departs": "22:40"}
    assert desk.press(moved).headers["Location"].endswith("said=change-done")
    assert desk.orders()[0].departs_at == LEAVES + timedelta(hours=1)


AIRPORT = {"pickup": "Meridian Airport", "pickup_lat": "-38.55", "pickup_lng": "-128.06"}
LANDING = "Lands 18:00 today, 40 min for luggage and the way out: pick up at 18:40 today."


def test_a_pickup_after_a_landing_is_proposed_with_the_minutes_for_luggage(desk: Desk) -> None:
    assert proposed(desk, departs="18:00", minutes="22", way="lands") == {
        "said": LANDING,
        "take": "2026-03-04 18:40",
        "button": "Pick up at 18:40 today",
        "wrong": False,
        "choices": [],
    }
    with desk.app.extensions["ridedash"].db.write() as s:
        s.get_one(Property, 1).luggage_min = 60
    later = proposed(desk, departs="tomorrow 23:30", way="lands")
    assert later["take"] == "2026-03-06 00:30"
    assert "1 h for luggage" in later["said"]


@pytest.mark.parametrize(
    ("trip", "way"),
    [
        ({}, "departs"),
        (AIRPORT, "lands"),
        ({"pickup": "Aunt's house", "pickup_lat": "-38.52", "pickup_lng": "-128.03"}, "lands"),
        ({"pickup": "Airport lounge", "pickup_lat": "-38.5", "pickup_lng": "-128.0"}, "lands"),
        (AIRPORT | {"flight_way": "departs"}, "departs"),
    ],
)
def test_a_flight_lands_where_guests_arrive_until_a_person_says_otherwise(
    desk: Desk, trip: dict[str, str], way: str
) -> None:
    typed = FLIGHT | {"departs": "18:00", "flight_way": ""} | trip
    named = {"pickup_for": trip["pickup"]} if trip.get("pickup") else {}
    page = desk.press(desk.form(), show="1", **typed | named)
    assert f'value="{way}" checked' in " ".join(page.text.split())
    assert (LANDING in words(page.text)) == (way == "lands")
    query = {name: text for name, text in trip.items() if name.startswith("pickup")}
    if "flight_way" not in trip and query:
        answer = desk.client.get("/products.json", query_string=query).get_json()
        assert answer["lands"] == (way == "lands")


def test_the_landing_stays_with_the_ride_on_card_sheet_and_export(desk: Desk) -> None:
    arrival = FLIGHT | {"flight": "ek505 t3", "departs": "15:00", "flight_way": "lands"}
    assert desk.press(desk.form(), **arrival).status_code == 303
    (order,) = desk.orders()
    assert (order.flight, order.flight_lands) == ("EK 505 T3", True)
    at = "Flight EK 505 T3, lands Wed 4 Mar 15:00"
    assert at in words(desk.client.get(f"/rides/{order.id}").text)
    assert at in words(desk.client.get("/handover").text)
    again = desk.page(again=f"{order.id}")
    assert 'value="lands" checked' in " ".join(again.split())
