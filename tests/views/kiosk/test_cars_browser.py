"""The cars of a kiosk: what kind each is before it is booked, and a page of all that fit."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.views.kiosk.kiosk_screens import (
    CARS,
    LAYOUTS,
    FakeKiosk,
    close,
    fake_kiosk,
    press,
    type_on,
)
from tests.views.kiosk.measured import faults

pytestmark = [pytest.mark.browser, pytest.mark.database]
RICKSHAW = "Dreirädrige Motorrikscha"  # in German "Auto" alone is a car
SHOWN = 3  # cars on the first page


@pytest.fixture
def kiosk(tmp_path: Path, browser: Browser) -> Iterator[FakeKiosk]:
    with fake_kiosk(tmp_path, browser) as made:
        yield made


def test_an_auto_says_that_it_has_three_wheels_before_it_is_booked(kiosk: FakeKiosk) -> None:
    page = kiosk.page("portrait")
    press(page, "lang-de", "start", "place-0")
    auto = page.locator(".k-car", has_text="Auto")
    expect(auto.locator(".k-car-room")).to_have_text(f"{RICKSHAW} · Up to 3")
    expect(auto).to_have_accessible_name(re.compile(f"^Auto, {RICKSHAW}, Up to 3, "))
    press(page, "car-1")
    type_on(page, "anna")
    press(page, "next")
    expect(page.locator(".k-fact-car dd").first).to_have_text(f"Auto · {RICKSHAW} · Up to 3")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_more_cars_opens_a_page_with_as_many_as_fit(kiosk: FakeKiosk, layout: str) -> None:
    page = kiosk.page(layout)
    press(page, "start", "place-0")
    cards = page.locator(".k-car")
    expect(cards.first).to_be_visible()
    before = cards.count()
    assert before <= SHOWN
    names = set(cards.locator(".k-car-name").all_inner_texts())
    for _ in CARS:
        more = page.locator('[data-press="more"]')
        if not more.count() or more.inner_text() == "Fewer cars":
            break
        press(page, "more")
        assert cards.count() >= before, "a later page shows no fewer than the first"
        names |= set(cards.locator(".k-car-name").all_inner_texts())
        mm, bottom = LAYOUTS[layout][2:]
        assert faults(page, mm, bottom, frozenset()) == []
    assert names == {car["name"] for car in CARS}
    close(page)
