"""The ticket on a kiosk follows its ride: headline, buttons, and what the guest still needs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.views.kiosk.kiosk_screens import VIEW, FakeKiosk, at, fake_kiosk, press, to_check

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
