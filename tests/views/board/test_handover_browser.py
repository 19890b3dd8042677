"""The hand-over sheet in Chromium."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from ridedash.store.handover import add_note
from tests.views.ride_pages import NOON
from tests.views.served import Served, served_desk

pytestmark = [pytest.mark.browser, pytest.mark.database]
PAGE = re.compile(rb"/Type\s*/Page\b")  # of a PDF


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served_desk(tmp_path, browser) as found:
        yield found


def test_the_lines_of_a_note_are_its_own(served: Served) -> None:
    """Line breaks of the template must not show: they once made each note one line taller."""
    ids = served.desk.ids
    for text in ("One line.", "Two\nlines."):
        served.desk.add(lambda s, t=text: add_note(s, ids["desk.property"], ids["desk"], t, NOON))
    page = served.staff(viewport={"width": 1280, "height": 800})
    page.goto("/handover")
    lines = page.locator(".note-text").evaluate_all(
        """all => all.map(
          (each) => Math.round(each.clientHeight / parseFloat(getComputedStyle(each).lineHeight))
        )"""
    )
    assert sorted(lines) == [1, 2]


def test_a_short_sheet_is_printed_in_full_and_a_long_one_on_one_page(served: Served) -> None:
    long = {
        "guest": "Guest Avocet of a Very Long Family Name",
        "room": "1507",
        "ride": {"plate": "KA01AB1234"},
    }
    served.desk.order("BOOKED", "CALL_DRIVER", **long)
    page = served.staff(viewport={"width": 1280, "height": 800})
    page.goto("/handover")
    page.emulate_media(media="print")
    cut = """all => all.filter((each) => each.scrollWidth > each.clientWidth + 1)
      .map((each) => each.className)"""
    assert page.locator(".handover-ride > *").evaluate_all(cut) == []
    for rides in (7, 5, 22):  # 8, 13 and 35 rides in all
        for _ in range(rides):
            served.desk.order("BOOKED", "CALL_DRIVER", **long)
        page.reload()
        assert page.locator(".handover-plate, .handover-state").evaluate_all(cut) == []
        assert len(PAGE.findall(page.pdf(format="A4"))) == 1
