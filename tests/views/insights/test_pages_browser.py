"""The insights in Chromium: on one sheet of paper, with names of any length, and on a phone."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from ridedash.store.models.desk import CostCentre
from ridedash.store.models.people import Staff
from tests.views.insights.test_pages import change, done
from tests.views.served import PHONE, Served, served_desk, violations

pytestmark = [pytest.mark.browser, pytest.mark.database]
DESKTOP = {"width": 1280, "height": 800}
PAGE = re.compile(rb"/Type\s*/Page\b")  # of a PDF
HEBREW = "\N{HEBREW LETTER BET}\N{HEBREW LETTER YOD}\N{HEBREW LETTER TAV} " * 12


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served_desk(tmp_path, browser) as found:
        busy(found)
        yield found


def busy(served: Served) -> None:
    """Add more rows than a sheet of paper shows, with names that are too long for the sheet."""
    desk = served.desk

    def rows(s: Any) -> None:
        s.get(Staff, desk.ids["desk"]).role = "admin"
        property_id = desk.ids["desk.property"]
        s.add_all(CostCentre(property_id=property_id, name=f"{HEBREW[:60]} {n}") for n in range(13))

    desk.add(rows)
    with desk.services.db.read() as s:
        centres = [row.id for row in s.query(CostCentre)]
    for n, centre_id in enumerate(centres):
        name = "W" * 200 if n % 2 else f"{HEBREW}{n}"
        order_id = done(desk, total=10**12 + n, drop_name=name, kind=("auto", "share")[n % 2])
        currency = ("INR", "EUR", "USD")[n % 3]
        change(desk, order_id, cost_centre_id=centre_id, currency=currency, driver_s=99)


def property_ids(served: Served) -> list[int]:
    return [served.desk.ids[f"{name}.property"] for name in ("desk", "other")]


def test_a_month_is_one_sheet_and_nothing_is_cut_on_a_desk_or_a_phone(served: Served) -> None:
    page = served.staff(viewport=DESKTOP)
    page.goto("/insights")
    assert violations(page) == []
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    for paper in ("A4", "Letter"):
        assert len(PAGE.findall(page.pdf(format=paper))) == 1, paper
    page.goto("/insights?" + "&".join(f"property={each}" for each in property_ids(served)))
    assert len(PAGE.findall(page.pdf(format="A4"))) == 1, "of two properties"
    assert_counts_fit_on_paper(page)
    page.get_by_text("As a table").first.click()
    expect(page.get_by_role("table", name="Figures by day")).to_be_visible()
    phone = served.staff(viewport=PHONE, scheme="dark")
    phone.goto("/insights")
    phone.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    assert violations(phone) == []
    assert not phone.evaluate("document.documentElement.scrollWidth > innerWidth")


def assert_counts_fit_on_paper(page: Page) -> None:
    """On paper, a count of a hundred thousand rides fits on one line."""
    page.set_viewport_size({"width": 718, "height": 1000})  # of A4 without its margins
    page.emulate_media(media="print")
    lines = page.locator("tr:not(.off-paper) > .figures-rides").evaluate_all(
        """cells => cells.map((cell) => {
            const range = document.createRange();
            cell.textContent = "100,182";
            range.selectNodeContents(cell);
            return range.getClientRects().length;
        })"""
    )
    assert 1 in lines
    assert set(lines) <= {0, 1}  # 0: a row that isn't printed
    page.emulate_media(media="screen")
    page.set_viewport_size(DESKTOP)


def test_pictures_have_their_colours_and_the_page_writes_no_styles(served: Served) -> None:
    page = served.staff(viewport=DESKTOP)
    blocked: list[str] = []
    page.on(
        "console", lambda message: blocked.append(message.text) if message.type == "error" else None
    )
    page.goto("/insights")
    bar = page.locator(".bars-part").first
    light = bar.evaluate("each => getComputedStyle(each).fill")
    page.emulate_media(color_scheme="dark")
    assert bar.evaluate("each => getComputedStyle(each).fill") != light == "rgb(29, 78, 216)"
    assert page.locator(".bars [style], .week [style], svg style, svg script").count() == 0
    assert blocked == []
