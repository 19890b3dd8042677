"""A kiosk's limits are said on its start screen, and a refusal leads on instead of round."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.views.kiosk.kiosk_screens import (
    DESK_PHONE,
    LAYOUTS,
    FakeKiosk,
    at,
    close,
    fake_kiosk,
    press,
    to_check,
    type_on,
)
from tests.views.kiosk.measured import faults

pytestmark = [pytest.mark.browser, pytest.mark.database]
NONE, LARGE = frozenset[str](), frozenset({"large"})
LIMITS: dict[str, dict[str, Any]] = {
    "full": {"full": "unclear", "pins_min": 10},
    "code": {"needs_code": True, "pins_min": 10},
}


@pytest.fixture
def kiosk(tmp_path: Path, browser: Browser) -> Iterator[FakeKiosk]:
    with fake_kiosk(tmp_path, browser) as made:
        yield made


def test_a_full_kiosk_says_so_on_its_start_and_invites_again_by_itself(kiosk: FakeKiosk) -> None:
    kiosk.heartbeat |= {"full": "live"}
    page = kiosk.page()
    stage = page.locator("[data-stage]")
    expect(stage).to_contain_text("Guests who booked here still wait for their cars.")
    expect(stage).to_contain_text(f"Our desk: {DESK_PHONE}")
    expect(page.locator("[data-press=start]")).to_have_count(0)
    expect(page.locator("[data-press=have]")).to_be_visible()
    kiosk.heartbeat |= {"full": ""}
    page.evaluate("dispatchEvent(new Event('online'))")  # the next heartbeat
    expect(page.locator("[data-press=start]")).to_be_visible()
    expect(stage).not_to_contain_text("still wait")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("limit", LIMITS)
def test_what_the_start_says_at_a_limit_has_room(kiosk: FakeKiosk, layout: str, limit: str) -> None:
    kiosk.heartbeat |= LIMITS[limit]
    page = kiosk.page(layout, voices=True)
    mm, bottom = LAYOUTS[layout][2:]
    found = []
    for language in ("en", "de", "hi", "ar"):
        press(page, f"lang-{language}")
        for look in (NONE, LARGE):
            press(page, *(f"aid-{aid}" for aid in look))
            found += [(language, *look, each) for each in faults(page, mm, bottom, look)]
            press(page, *(f"aid-{aid}" for aid in look))
    assert found == []


def test_a_full_kiosk_offers_no_press_that_is_refused_again(kiosk: FakeKiosk) -> None:
    words = {"headline": "Guests who booked here still wait for their cars.", "next": "Our desk."}
    kiosk.order = [{"state": "full", "words": words}]
    page = kiosk.page()
    to_check(page)
    kiosk.heartbeat |= {"full": "live"}
    press(page, "book")
    at(page, "sorry")
    expect(page.locator(".k-question")).to_have_text(words["headline"])
    expect(page.locator(".k-desk")).to_contain_text(DESK_PHONE)
    expect(page.locator("[data-press=again]")).to_have_count(0)
    press(page, "bar-over")
    expect(page.locator("[data-press=start]")).to_have_count(0)


def test_a_name_with_a_ride_is_typed_again_with_a_room(kiosk: FakeKiosk) -> None:
    next_step = "If it isn't yours, add your room number."
    words = {"headline": "There is a ride for anna already.", "why": "", "next": next_step}
    kiosk.order = [{"state": "already", "field": "name", "words": words}]
    page = kiosk.page()
    to_check(page)
    press(page, "book")
    at(page, "who")
    expect(page.locator(".k-note")).to_have_text(f"{words['headline']} {next_step}")
    expect(page.locator("[data-field=name]")).to_have_value("Anna")
    kiosk.order = [kiosk.booked()]
    press(page, "next", "book")
    page.locator(".k-pin").wait_for()
    sent = [given["form_token"] for name, given in kiosk.requests if name == "order"]
    assert len(set(sent)) == 1, "the same press, which makes one order at most"


def test_a_room_with_a_ride_leads_to_that_ride_or_to_the_desk(kiosk: FakeKiosk) -> None:
    words = {"headline": "There is a ride for room 204 already.", "why": "", "next": ""}
    kiosk.order = [{"state": "already", "words": words}]
    page = kiosk.page()
    to_check(page)
    press(page, "book")
    at(page, "sorry")
    expect(page.locator("[data-press=again]")).to_have_count(0)
    expect(page.locator(".k-desk")).to_contain_text(DESK_PHONE)
    press(page, "have")
    at(page, "find")


def test_a_group_finds_a_bigger_car_from_the_last_question(kiosk: FakeKiosk) -> None:
    page = kiosk.page()
    to_check(page, "car-1")  # Auto, up to 3
    expect(page.locator(".k-fact-car")).to_contain_text(re.compile("Auto · .+ · Up to 3"))
    more = page.locator("[data-press=more-people]")
    expect(more).to_have_text("We are more than 3")
    press(page, "more-people")
    at(page, "people")
    expect(page.locator(".k-words")).to_contain_text("For two cars, please ask our desk.")
    cards = page.locator(".k-results [data-press^=bigger]")
    expect(cards).to_have_count(3)
    page.get_by_text("SUV").click()
    at(page, "check")
    expect(page.locator(".k-fact-car")).to_contain_text(re.compile("SUV · .+ · Up to 6"))
    press(page, "more-people")
    expect(cards).to_have_count(0)
    expect(page.locator(".k-desk")).to_contain_text(DESK_PHONE)
    press(page, "bar-back")
    at(page, "check")
    close(page)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_bigger_cars_have_room_on_each_layout(kiosk: FakeKiosk, layout: str) -> None:
    mm, bottom = LAYOUTS[layout][2:]
    found = []
    for language in ("en", "de", "ar"):
        page = kiosk.page(layout, voices=True)
        press(page, f"lang-{language}")
        to_check(page, "car-1", name="مها" if language == "ar" else "anna")
        press(page, "more-people")
        for look in (NONE, LARGE):
            press(page, *(f"aid-{aid}" for aid in look))
            found += [(language, *look, each) for each in faults(page, mm, bottom, look)]
        close(page)
    assert found == []


def test_wrong_pins_say_when_rides_are_shown_again(kiosk: FakeKiosk) -> None:
    why = {"headline": "Too many wrong PINs were typed here.", "why": "Try again in 9 min."}
    kiosk.answers["ride"] = lambda _: {"state": "limited", "words": why}
    kiosk.heartbeat |= {"pins_min": 9}
    page = kiosk.page()
    said = "Wrong PINs were typed here. Each ride has one try for 9 min."
    expect(page.locator("[data-stage]")).to_contain_text(said)
    press(page, "have")
    type_on(page, "27")
    press(page, "field-pin")
    type_on(page, "1111")
    press(page, "next")
    expect(page.locator(".k-note")).to_have_text(f"{why['headline']} {why['why']}")
