"""A list in a browser: by keyboard alone, in place, and after a reload."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.views.served import Served, served_desk, violations

pytestmark = [pytest.mark.browser, pytest.mark.database]
LIST = "Name;Room;Phone\nGuest Heron;412;98450 11111\nGuest Wren;413;12\nTotal: 2"


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served_desk(tmp_path, browser) as found:
        yield found


def read(served: Served) -> Any:
    page = served.staff()
    page.goto(served.url + "/lists/new")
    page.get_by_label("List", exact=True).fill(LIST)
    page.get_by_role("button", name="Read the list").press("Enter")
    page.wait_for_url(re.compile(r"/lists/\d+$"))  # its script has run then
    return page


def test_a_line_is_corrected_by_keyboard_and_the_focus_stays_with_it(served: Served) -> None:
    page = read(served)
    correct = page.get_by_role("link", name="Correct Line 3")
    correct.focus()
    correct.press("Enter")
    expect(page.get_by_label("Name", exact=True)).to_be_focused()
    phone = page.locator("#edit-phone")
    expect(phone).to_have_value("12")
    phone.fill("98450 22222")
    phone.press("Enter")
    expect(page.get_by_text("+91 98450 22222")).to_be_visible()
    expect(page.locator("#edit-phone")).to_have_count(0)
    page.reload()
    expect(page.get_by_text("+91 98450 22222")).to_be_visible()


def test_a_column_that_is_named_otherwise_is_read_at_once(served: Served) -> None:
    page = read(served)
    page.get_by_label("Column 2").focus()
    page.get_by_label("Column 2").select_option("note")
    expect(page.get_by_label("Column 2")).to_be_focused()
    expect(page.get_by_label("Column 2")).to_have_value("note")
    page.reload()
    expect(page.get_by_label("Column 2")).to_have_value("note")


def test_a_row_is_taken_in_and_left_out_in_place(served: Served) -> None:
    page = read(served)
    page.get_by_role("button", name="Take in Line 4").click()
    expect(page.get_by_role("button", name="Leave out Line 4")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_the_pages_of_a_list(served: Served, scheme: Any) -> None:
    page = read(served)
    page.emulate_media(color_scheme=scheme)
    address = page.url
    for at in (address, f"{address}?line=3", served.url + "/lists/new"):
        page.goto(at)
        assert violations(page) == []


@pytest.mark.parametrize("width", [320, 390, 1024, 1440])
def test_the_page_never_scrolls_sideways(served: Served, width: int) -> None:
    page = read(served)
    page.set_viewport_size({"width": width, "height": 800})
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width
