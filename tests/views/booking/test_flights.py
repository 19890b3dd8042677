"""Rides to a flight: its number and departure are stored, and a pickup is proposed, never set."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ridedash.rides.privacy.retention import forget_guest
from ridedash.store.models.people import Guest, Property
from tests.views.booking.test_pages import Desk, desk, filled
from tests.views.booking.test_scheduled import words

__all__ = ["desk"]
pytestmark = pytest.mark.database
# it is 14:30 in Kolkata, and the airport is 22 minutes away
FLIGHT = {"for_flight": "y", "flight": "lh760", "departs": "21:40"}
LEAVES = datetime(2026, 3, 4, 16, 10, tzinfo=UTC)
PROPOSAL = (
    "Departs 21:40 today, be there 2 h before, about 22 min on the road: pick up at 19:18 today."
)


def proposed(desk: Desk, **query: str) -> dict[str, Any]:
    found: dict[str, Any] = desk.client.get("/flight-time.json", query_string=query).get_json()
    return found


def test_the_flight_stays_with_the_ride_on_its_card_and_on_the_hand_over(desk: Desk) -> None:
    answer = desk.press(desk.form(), **FLIGHT, note="two bags")
    assert answer.status_code == 303, words(answer.text)
    (order,) = desk.orders()
    assert (order.flight, order.departs_at, order.pickup_at) == ("LH 760", LEAVES, None)
    assert "LH" not in order.body, "the ride company does not get it"
    card = words(desk.client.get("/rides/1").text)
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
        ("", None),
    ],
)
def test_a_flight_number_is_stored_as_it_is_printed(
    desk: Desk, typed: str, stored: str | None
) -> None:
    assert desk.press(desk.form(), **FLIGHT | {"flight": typed}).status_code == 303
    assert desk.orders()[0].flight == stored


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"flight": "tomorrow"}, "two or three letters and up to four digits, as in LH 760."),
        ({"flight": "LH 76000"}, "two or three letters and up to four digits"),
        ({"flight": "22 760"}, "two or three letters and up to four digits"),
        ({"departs": "soon"}, "“soon” is not understood"),
        ({"departs": "today 6"}, "That time is over: 06:00."),
    ],
)
def test_an_impossible_flight_is_refused_and_typed_text_is_preserved(
    desk: Desk, changes: dict[str, str], message: str
) -> None:
    answer = desk.press(desk.form(), **FLIGHT | changes)
    assert answer.status_code == 422
    assert message in words(answer.text)
    (typed,) = changes.values()
    assert f'value="{typed.upper() if "flight" in changes else typed}"' in answer.text
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
    far = proposed(desk, departs="5 apr 9", minutes="22")
    assert far["said"].endswith("Rides are planned up to 30 days ahead.")
    unknown = proposed(desk, departs="21:40")
    assert unknown["said"].endswith("at 20:10 today. Choose the drop to see when to pick up.")
    assert late["take"] == far["take"] == unknown["take"] == ""
    assert proposed(desk, departs="3/4 6")["wrong"] is True
    assert proposed(desk) == {"said": "", "take": "", "button": "", "wrong": False}


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
    change = desk.client.get("/rides/new?change=1").text
    for field in ('value="LH 760"', 'value="2026-03-04 21:40"'):
        assert field in change
    later = {"pickup_words": "", "pickup_date": "2026-03-04", "pickup_time": "19:18"}
    moved = filled(change) | FLIGHT | later | {"departs": "22:40"}
    assert desk.press(moved).headers["Location"].endswith("said=change-done")
    assert desk.orders()[0].departs_at == LEAVES + timedelta(hours=1)
