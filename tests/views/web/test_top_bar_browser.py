"""The links of the top bar: all in words in a wide window, the further ones under *More* else."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from ridedash.store import properties
from tests.views.ride_pages import HASH, NOON
from tests.views.served import Served, served_desk, violations

pytestmark = [pytest.mark.browser, pytest.mark.database]
FURTHER = {"Insights": "/insights", "Hand-over": "/handover", "Settings": "/admin/property"}
LINKS = ["Rides", "New ride", "History", *FURTHER]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("top-bar")
    with served_desk(folder, browser) as made:
        home = made.desk.ids["desk.property"]
        made.desk.add(lambda s: properties.add_staff(s, home, "boss", HASH, "manager", NOON))
        yield made


def links(page: Page) -> list[str]:
    """The words of the links that can be seen."""
    shown = page.get_by_role("navigation", name="Main").get_by_role("link")
    return [words.strip() for words in shown.all_inner_texts()]


@pytest.mark.parametrize(("width", "seen"), [(1200, 6), (1199, 3), (390, 3)])
def test_every_link_is_a_word_and_no_icon(served: Served, width: int, seen: int) -> None:
    page = served.staff("boss", viewport={"width": width, "height": 800})
    page.goto("/me")
    assert links(page) == LINKS[:seen]
    page.locator("[data-bar-more] > summary").click()
    assert sorted(links(page)) == sorted(LINKS)
    assert violations(page, "color-contrast", "link-name", "button-name", "region") == []


@pytest.mark.parametrize("name", FURTHER)
def test_a_phone_opens_the_further_pages_under_more(served: Served, name: str) -> None:
    page = served.staff("boss", viewport={"width": 390, "height": 800}, has_touch=True)
    page.goto("/me")
    page.locator("[data-bar-more] > summary").tap()
    page.get_by_role("navigation", name="Main").get_by_role("link", name=name).tap()
    page.wait_for_url(f"**{FURTHER[name]}")


def test_escape_closes_the_menu_and_leaves_the_page_as_it_is(served: Served) -> None:
    ride = f"/rides/{served.desk.order('BOOKED', 'CALL_DRIVER')}"
    page = served.staff("boss", viewport={"width": 1024, "height": 800})
    page.goto(ride)
    menu = page.locator("[data-bar-more]")
    for within in ("summary", ".bar-menu a:first-child"):
        menu.locator("summary").press("Enter")
        expect(menu.get_by_role("link", name="Insights")).to_be_focused()
        menu.locator(within).first.press("Escape")
        expect(menu).not_to_have_attribute("open", "")
        expect(menu.locator("summary")).to_be_focused()
    assert page.url.endswith(ride)


def test_a_press_elsewhere_closes_the_menu(served: Served) -> None:
    page = served.staff("boss")
    page.goto("/me")
    page.locator("[data-bar-more] > summary").click()
    page.locator("h1").click()
    expect(page.locator("[data-bar-more]")).not_to_have_attribute("open", "")
