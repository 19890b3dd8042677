"""A kiosk that can't book invites nobody: its start screen leads to the desk, in any language."""

from collections.abc import Iterator
from pathlib import Path

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
)
from tests.views.kiosk.measured import faults

pytestmark = [pytest.mark.browser, pytest.mark.database]


@pytest.fixture
def kiosk(tmp_path: Path, browser: Browser) -> Iterator[FakeKiosk]:
    with fake_kiosk(tmp_path, browser) as made:
        yield made


@pytest.mark.parametrize("need", ["pickup", "account", "reconnect", "service", "worker"])
def test_a_kiosk_that_can_not_book_says_to_ask_the_desk_and_its_number(
    kiosk: FakeKiosk, need: str
) -> None:
    kiosk.heartbeat["trouble"] = need
    page = kiosk.page("tablet")
    at(page, "trouble")
    words = kiosk.document()["words"]
    expect(page.locator('[data-press="start"]')).to_have_count(0)
    expect(page.locator(".k-words")).to_contain_text(words["en"]["ask_desk"])
    expect(page.locator(".k-words")).to_contain_text(DESK_PHONE)
    press(page, "lang-ar")  # every guest can read it
    expect(page.locator(".k-words")).to_contain_text(words["ar"]["ask_desk"])
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    press(page, "have")  # rides that are booked are still shown
    at(page, "find")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_way_to_the_desk_and_all_languages_have_room_on_each_layout(
    kiosk: FakeKiosk, layout: str
) -> None:
    kiosk.heartbeat["trouble"] = "pickup"
    mm, bottom = LAYOUTS[layout][2:]
    found = []
    for language in ("en", "de", "es", "fr", "ar", "hi"):
        page = kiosk.page(layout, voices=True)
        at(page, "trouble")
        press(page, f"lang-{language}")
        for aids in ((), ("large",), ("lower",)):
            press(page, *(f"aid-{aid}" for aid in aids))
            wrong = faults(page, mm, bottom, frozenset(aids))
            found += [(language, *aids, each) for each in wrong]
            press(page, *(f"aid-{aid}" for aid in aids))
        close(page)
    assert found == []
