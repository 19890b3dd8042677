"""Places in the settings in Chromium: renamed where they stand, moved by keys."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from ridedash.geo import LatLng
from ridedash.store.models.people import Staff
from ridedash.store.properties import set_favourite
from tests.views.served import Served, served_desk

pytestmark = [pytest.mark.browser, pytest.mark.database]
DROPS = ("Airport, Departures", "Station", "Museum")
FRAME = """all => all.map((each) => {
  const {left, top, width} = each.getBoundingClientRect();
  return [left, top, width].map(Math.round).join(" ");
})"""


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served_desk(tmp_path, browser) as found:
        ids = found.desk.ids
        found.desk.add(lambda s: setattr(s.get(Staff, ids["desk"]), "role", "manager"))
        for slot, name in enumerate(DROPS, 1):
            found.desk.add(
                lambda s, slot=slot, name=name: set_favourite(
                    s, ids["desk.property"], "drop", slot, name, LatLng(-38.5, -128.0)
                )
            )
        yield found


def test_a_place_is_moved_by_the_same_key_again_and_again(served: Served) -> None:
    page = served.staff(viewport={"width": 1280, "height": 800})
    page.goto("/admin/places")
    names = page.locator("[id^=drop-].slot-name")
    page.locator("#drop-3-up").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#drop-2-up")).to_be_focused()
    expect(page.locator("#drop-2")).to_have_value("Museum")
    page.keyboard.press("Enter")
    page.wait_for_url("**#drop-1-up")
    assert names.evaluate_all("all => all.map((each) => each.value)") == [
        "Museum",
        "Airport, Departures",
        "Station",
    ]


def test_a_name_is_saved_by_enter_and_nothing_moves_meanwhile(served: Served) -> None:
    page = served.staff(viewport={"width": 390, "height": 844})
    page.goto("/admin/places")
    frames = page.locator(".slot :is(.btn, .input)")
    before = frames.evaluate_all(FRAME)
    page.locator("#drop-1").focus()
    assert frames.evaluate_all(FRAME) == before
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.locator("#drop-1").fill("Airport")
    page.keyboard.press("Enter")
    page.wait_for_url("**#drop-1")
    expect(page.locator("#drop-1")).to_have_value("Airport")
    page.locator("#drop-2").fill("Central Station")
    page.get_by_role("button", name="Save Station").click()
    page.wait_for_url("**#drop-2")
    expect(page.locator("#drop-2")).to_have_value("Central Station")


def test_save_is_offered_for_a_changed_name_and_gone_once_it_is_saved(served: Served) -> None:
    page = served.staff(viewport={"width": 1280, "height": 800})
    page.goto("/admin/places")
    save = page.locator("#drop-1 + .slot-save")
    page.locator("#drop-1").focus()
    expect(save).to_have_css("opacity", "0")
    page.locator("#drop-1").fill("Airport")
    expect(save).to_have_css("opacity", "1")
    page.keyboard.press("Enter")
    expect(page.locator("#drop-1")).to_have_js_property("defaultValue", "Airport")
    page.locator("#drop-1").focus()
    expect(save).to_have_css("opacity", "0")
