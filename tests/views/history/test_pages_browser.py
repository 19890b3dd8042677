"""The history in Chromium: on a tablet, on paper, and with names in scripts from right to left."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.views.ride_pages import NOON
from tests.views.served import PHONE, Served, served_desk

pytestmark = [pytest.mark.browser, pytest.mark.database]
TABLET = {"width": 820, "height": 1180}
ARABIC = "\N{ARABIC LETTER HAH}\N{ARABIC LETTER REH}\N{ARABIC LETTER FEH}"
PAGE = re.compile(rb"/Type\s*/Page\b")  # of a PDF


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served_desk(tmp_path, browser) as found:
        yield found


def opened(served: Served, count: int, **facts: Any) -> Page:
    """The history page with `count` rides that have ended."""
    for n in range(count):
        over = {"ended_at": NOON - timedelta(minutes=n), "next_poll_at": None}
        served.desk.order("BOOKED", "COMPLETED", ride=over, **facts)
    page = served.staff(viewport=TABLET)
    page.goto("/history")
    return page


def test_a_tablet_shows_ten_rides_without_scrolling(served: Served) -> None:
    page = opened(served, 12)
    ends = page.locator(".rides-table tbody tr").evaluate_all(
        "all => all.map((each) => each.getBoundingClientRect().bottom)"
    )
    assert sum(end <= TABLET["height"] for end in ends) >= 10
    assert page.evaluate("document.documentElement.scrollWidth") == TABLET["width"]


def test_a_name_without_a_space_hides_no_other_column(served: Served) -> None:
    page = opened(served, 1, guest=f"Mobi {'W' * 110}")
    for width in (1024, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        inside = page.locator(".record-card").evaluate(
            "card => card.scrollWidth - card.clientWidth"
        )
        assert inside <= 0, width
        assert page.get_by_role("columnheader", name="Price").bounding_box()


def test_a_phone_shows_where_each_ride_went(served: Served) -> None:
    page = opened(served, 1)
    page.set_viewport_size(PHONE)
    trip = page.locator(".cell-trip")
    assert trip.evaluate("cell => cell.clientWidth") > PHONE["width"] * 0.7
    cut = "all => all.filter((each) => each.scrollHeight > each.clientHeight + 1).length"
    assert trip.locator("span").evaluate_all(cut) == 0


def test_a_name_from_right_to_left_begins_where_its_column_begins(served: Served) -> None:
    page = opened(served, 1, guest=ARABIC)
    gap = page.locator(".cell-guest").evaluate(
        """cell => {
          const range = document.createRange();
          range.selectNodeContents(cell.querySelector("bdi"));
          const name = range.getBoundingClientRect();
          return name.left - cell.getBoundingClientRect().left;
        }"""
    )
    assert 0 <= gap < 24


def test_a_day_of_rides_is_printed_as_a_table_on_one_sheet(served: Served) -> None:
    page = opened(served, 22)
    assert len(PAGE.findall(page.pdf(format="A4"))) == 1
    page.emulate_media(media="print")
    assert page.locator(".rides-table thead").bounding_box() is not None
    assert page.locator(".spans:visible").count() == 0
    band = page.locator(".demo-band")
    assert band.bounding_box() is not None
    assert band.inner_text().upper() == "DEMO: NO REAL RIDES"  # the lens button isn't printed
    assert page.get_by_text("Grand Meridian Hotel · 28 Apr – 4 May 2026").is_visible()


def test_a_chip_filters_at_once_by_mouse_and_by_keys(served: Served) -> None:
    wren = served.desk.order("BOOKED", "COMPLETED", guest="Guest Wren")
    served.desk.order("UNKNOWN")
    page = served.staff(viewport={"width": 1280, "height": 800})
    page.goto("/history?span=week")
    state = page.locator("#chip-state > summary")
    page.locator("#chip-category > summary").click()
    state.click()
    expect(page.locator("#chip-category ul")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.locator("#chip-state ul")).to_be_hidden()
    expect(state).to_be_focused()
    state.click()
    page.locator("h1").click()
    expect(page.locator("#chip-state ul")).to_be_hidden()
    state.focus()
    page.keyboard.press("Enter")
    page.locator("#chip-state").get_by_role("link", name="We don't know").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/history?span=week&state=unknown#chip-state")
    expect(page.locator(".rides-table tbody tr")).to_have_count(1)
    expect(state).to_have_text(re.compile("State: We don't know"))
    assert page.evaluate("scrollY") == 0
    page.keyboard.press("Tab")  # the next stop is behind the chip's, not at the page's beginning
    expect(state).to_be_focused()
    page.locator("#chip-state > summary").click()
    page.locator("#chip-state").get_by_role("link", name="Any").click()
    page.locator("#chip-person > summary").click()
    page.get_by_label("Guest", exact=True).fill("wren")
    page.keyboard.press("Enter")
    page.wait_for_url("**/history?*&guest=*")
    expect(page.locator(".rides-table tbody tr")).to_have_count(1)
    # force: the link of the row covers the cell
    page.locator(".rides-table tbody td").nth(4).click(force=True)
    page.wait_for_url(f"**/rides/{wren}")
    page.go_back()  # the browser doesn't ask to send a form again
    expect(page.locator(".rides-table tbody tr")).to_have_count(1)


def test_chips_need_no_script(served: Served) -> None:
    served.desk.order("BOOKED", "COMPLETED")
    served.desk.order("UNKNOWN")
    page = served.staff(viewport=PHONE, java_script_enabled=False)
    page.goto("/history")
    page.locator("#chip-state > summary").click()
    page.get_by_role("link", name="We don't know").click()
    expect(page.locator(".rides-table tbody tr")).to_have_count(1)
    page.locator("#chip-view > summary").click()
    page.get_by_label("Name of the view").fill("<b>What is open</b>")
    page.get_by_role("button", name="Save", exact=True).click()
    view = page.get_by_role("link", name="<b>What is open</b>")
    expect(view).to_have_attribute("aria-current", "true")
    page.get_by_role("link", name="Today").click()
    expect(view).not_to_have_attribute("aria-current", "true")
    view.click()
    page.locator("#chip-view > summary").click()
    page.get_by_role("button", name="Delete “<b>What is open</b>”").click()
    expect(view).to_have_count(0)
