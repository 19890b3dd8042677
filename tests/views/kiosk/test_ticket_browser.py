"""The ticket on a kiosk follows its ride: headline, buttons, and what the guest still needs."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.views.kiosk.kiosk_screens import (
    VIEW,
    FakeKiosk,
    at,
    fake_kiosk,
    press,
    to_check,
    type_on,
)
from tests.views.kiosk.test_ticket import KINDS, PHASES, STATES, told

pytestmark = [pytest.mark.browser, pytest.mark.database]
NO_CAR = {"plate": "", "old_plate": "", "car": "", "minutes": None, "code_due": False}
FINDING = VIEW | NO_CAR | {"phase": "finding", "headline": "Finding your driver", "detail": ""}
COMING = VIEW | {
    "phase": "coming",
    "headline": "Your car is on its way",
    "detail": "",
    "tone": "ok",
    "icon": "car",
}
ABOARD = COMING | {"phase": "aboard", "headline": "You are on your way", "meet": ""}
OVER = ABOARD | {"phase": "over", "headline": "You have arrived"}
ENDED = FINDING | {"phase": "none", "meet": ""}
TOLD = ("phase", "headline", "detail", "tone", "icon")
LEADS = {"planned", "unknown", "coming", "aboard", "over"}  # the headline stands first
GONE = {
    "state": "gone",
    "words": {
        "headline": "We can't follow your ride here any more.",
        "why": "",
        "next": "Please ask our desk now.",
    },
}


@pytest.fixture
def kiosk(tmp_path: Path, browser: Browser) -> Iterator[FakeKiosk]:
    with fake_kiosk(tmp_path, browser) as made:
        yield made


def ticket(kiosk: FakeKiosk) -> Page:
    """The ticket of a ride that was just booked."""
    kiosk.view = FINDING
    page = kiosk.page(before=lambda page: page.clock.install())
    to_check(page)
    kiosk.order = [kiosk.booked()]
    press(page, "book")
    page.locator(".k-pin").wait_for()
    return page


def later(page: Page, kiosk: FakeKiosk, view: dict[str, Any]) -> None:
    kiosk.view = view
    page.clock.fast_forward(3_100)


def find(page: Page) -> None:
    """Look for the ride of a ticket, from the start screen."""
    press(page, "have")
    type_on(page, "27")
    press(page, "field-pin")
    type_on(page, "4821")
    press(page, "next")


def buttons(page: Page) -> set[str]:
    """The names of the ticket's own buttons."""
    found = page.locator(".k-deeds [data-press]").evaluate_all(
        "nodes => nodes.map((node) => node.dataset.press)"
    )
    return set(found)


def shown(page: Page) -> dict[str, int]:
    """How many of the parts that only a ride has are on the screen."""
    parts = {"pin": ".k-pin", "meet": ".k-meet", "map": ".k-map-box", "qr": ".k-qr-box"}
    return {name: page.locator(css).count() for name, css in parts.items()}


def test_the_ticket_follows_the_ride_to_its_end(kiosk: FakeKiosk) -> None:
    page = ticket(kiosk)
    lead = page.locator(".k-booked")
    expect(lead).to_have_text("Your ride is booked")
    assert shown(page)["pin"] == shown(page)["meet"] == 1
    later(page, kiosk, COMING)
    expect(lead).to_have_text("Your car is on its way")
    expect(page.locator(".k-plate")).to_be_visible()
    assert shown(page)["pin"] == shown(page)["meet"] == 1
    later(page, kiosk, ABOARD)
    expect(lead).to_have_text("You are on your way")
    assert (shown(page)["meet"], shown(page)["map"]) == (0, 0)
    later(page, kiosk, OVER)
    expect(lead).to_have_text("You have arrived")
    expect(page.locator("[data-stage]")).not_to_contain_text("is booked")


@pytest.mark.parametrize(
    ("headline", "detail"),
    [
        ("No driver found this time", "No ride, nothing to pay to a driver"),
        ("Ride cancelled", "This ride is over"),
        ("Not booked", "Please ask our staff"),
    ],
)
def test_a_ticket_without_a_ride_offers_other_cars_and_no_pin(
    kiosk: FakeKiosk, headline: str, detail: str
) -> None:
    page = ticket(kiosk)
    later(page, kiosk, ENDED | {"headline": headline, "detail": detail})
    expect(page.locator("h1")).to_have_text(headline)
    stage = page.locator("[data-stage]")
    expect(stage).to_contain_text(detail)
    expect(stage).to_contain_text("Ride K27")
    expect(stage).not_to_contain_text("Your ride is booked")
    assert set(shown(page).values()) == {0}
    assert page.locator('[data-press="print"]').count() == 0
    press(page, "again")
    page.locator(".k-car").first.wait_for()
    press(page, "car-1", "next")
    kiosk.view = FINDING
    kiosk.order = [kiosk.booked() | {"ride": kiosk.booked()["ride"] | {"number": "K28"}}]
    press(page, "book")
    at(page, "booked")
    expect(page.locator(".k-booked")).to_have_text("Your ride is booked")
    expect(page.locator("h1")).to_have_text("Ride K28")
    tokens = [given["form_token"] for name, given in kiosk.requests if name == "order"]
    assert tokens[0] != tokens[-1]


def every_view(kiosk: FakeKiosk) -> list[dict[str, Any]]:
    """What the ticket is told in each state of each kind, each different one once."""
    desk = kiosk.served.desk
    orders = [desk.order(state) for state in STATES]
    for kind in KINDS:
        orders += [desk.order("BOOKED", status, kind) for status in (None, *PHASES)]
    orders.append(desk.order("BOOKED", "BOOKING_CANCELLED", actions=[("cancel", "done", {})]))
    views = [told(desk, order_id) for order_id in orders]
    return list({tuple(view[name] for name in TOLD): view for view in views}.values())


def test_the_ticket_follows_its_ride_in_every_state_of_every_kind(kiosk: FakeKiosk) -> None:
    page = ticket(kiosk)
    lead = page.locator(".k-booked")
    phases = set()
    for view in every_view(kiosk):
        page.keyboard.press("Shift")  # a guest is still there
        later(page, kiosk, view)
        phase, headline = view["phase"], view["headline"]
        phases.add(phase)
        heading = headline if phase == "none" else "Ride K27"
        expect(page.locator("h1")).to_have_text(heading)
        if phase == "none":
            expect(page.locator("[data-stage]")).to_contain_text(view["detail"])
            expect(lead).to_have_count(0)
            assert set(shown(page).values()) == {0}
            assert buttons(page) == {"done", "again"}
            continue
        line = lead if phase in LEADS else page.locator(".k-live")
        expect(line).to_have_text(headline)
        expect(line).to_have_class(re.compile(f"is-{view['tone']}"))
        if phase not in LEADS:
            expect(lead).to_have_text(["Your ride is booked"] if phase == "finding" else [])
        assert shown(page)["pin"] == 1
        assert buttons(page) == {"done"} | ({"print"} if phase not in ("aboard", "over") else set())
    assert phases == {"none", "open", *LEADS, "finding"}


def test_a_ride_that_was_found_and_came_to_nothing_leads_to_other_cars(kiosk: FakeKiosk) -> None:
    trip = {"lat": 1.25, "lng": 2.75, "name": "Central Station"}
    words = {"headline": "No driver found this time", "detail": "No ride, nothing to pay"}
    kiosk.view = ENDED | words | {"trip": trip, "replaced": False}
    page = kiosk.page()
    find(page)
    expect(page.locator("h1")).to_have_text("No driver found this time")
    assert buttons(page) == {"done", "again"}
    press(page, "again")
    page.locator(".k-car").first.wait_for()
    [cars] = [given for name, given in kiosk.requests if name == "cars"]
    assert (cars["drop_lat"], cars["drop_lng"], cars["drop_name"]) == ("1.25", "2.75", trip["name"])


def test_a_guest_for_whom_the_desk_has_ordered_again_is_offered_no_second_car(
    kiosk: FakeKiosk,
) -> None:
    page = ticket(kiosk)
    again = {"detail": "Our desk has booked another car for you.", "replaced": True}
    later(page, kiosk, ENDED | {"headline": "No driver found this time"} | again)
    expect(page.locator("[data-stage]")).to_contain_text(again["detail"])
    assert buttons(page) == {"done"}


def test_a_ticket_does_not_say_booked_if_its_first_news_is_an_end(kiosk: FakeKiosk) -> None:
    page = kiosk.page()
    to_check(page)
    words = {"headline": "Your ride is cancelled.", "why": "", "next": ""}
    kiosk.order = [{"state": "cancelled", "words": words, "ride": kiosk.booked()["ride"]}]
    press(page, "book")
    expect(page.locator("h1")).to_have_text("Your ride is cancelled.")
    press(page, "bar-language", "lang-de")
    expect(page.locator("h1")).to_have_text("Ihre Fahrt ist storniert.")
    expect(page.locator('[data-press="again"]')).to_have_text("Andere Wagen zeigen")


def test_a_ride_that_the_server_has_lost_sends_its_guest_to_the_desk(kiosk: FakeKiosk) -> None:
    page = ticket(kiosk)
    later(page, kiosk, COMING)
    expect(page.locator(".k-booked")).to_have_text("Your car is on its way")
    kiosk.answers["ride"] = lambda _: GONE
    page.clock.fast_forward(3_100)
    expect(page.locator("h1")).to_have_text("We can't follow your ride here any more.")
    stage = page.locator("[data-stage]")
    expect(stage).to_contain_text("Please ask our desk now.")
    expect(page.locator(".k-plate")).to_be_visible()  # the car may still come
    assert (shown(page)["meet"], shown(page)["pin"]) == (1, 0)
    assert page.locator('[data-press="again"]').count() == 0


def test_the_words_of_an_end_stay_for_the_usual_time(kiosk: FakeKiosk) -> None:
    page = ticket(kiosk)
    page.clock.fast_forward(70_000)
    expect(page.locator("[data-clears]")).to_be_visible()
    later(page, kiosk, ENDED | {"headline": "No driver found this time"})
    expect(page.locator("h1")).to_have_text("No driver found this time")
    expect(page.locator("[data-clears]")).to_be_hidden()
    page.clock.fast_forward(30_000)
    expect(page.locator("h1")).to_have_text("No driver found this time")


def test_a_ticket_without_answers_shows_the_age_of_its_facts(kiosk: FakeKiosk) -> None:
    page = ticket(kiosk)
    later(page, kiosk, COMING)
    expect(page.locator(".k-plate")).to_be_visible()
    age = page.locator("[data-age]")
    expect(age).to_have_count(0)
    kiosk.away = True
    page.evaluate("dispatchEvent(new Event('offline'))")
    page.clock.fast_forward(12_000)
    expect(age).to_have_text(re.compile(r"No answer · last news 1\d s ago"))
    page.clock.fast_forward(50_000)
    press(page, "here")
    page.clock.fast_forward(20_000)
    expect(age).to_have_text("No answer · last news 1 min ago")
    expect(page.locator(".k-plate")).to_be_visible()
    kiosk.away = False
    page.clock.fast_forward(3_100)
    expect(age).to_have_count(0)


def test_a_ride_that_was_found_shows_the_age_of_its_facts_and_no_old_minutes(
    kiosk: FakeKiosk,
) -> None:
    page = kiosk.page(before=lambda page: page.clock.install())
    find(page)
    expect(page.locator(".k-away")).to_have_text("4 min away")
    kiosk.failing = {"ride"}  # the heartbeat is answered
    page.clock.fast_forward(15_000)
    expect(page.locator("[data-age]")).to_have_text(re.compile(r"No answer · last news 1\d s ago"))
    expect(page.locator(".k-away")).to_have_count(0)
