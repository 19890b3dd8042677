"""The page of the staff in Chromium."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from ridedash.store.models.people import Staff
from tests.views.served import Served, served_desk, violations

pytestmark = [pytest.mark.browser, pytest.mark.database]


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served_desk(tmp_path, browser) as found:
        found.desk.add(lambda s: setattr(s.get(Staff, found.desk.ids["desk"]), "role", "manager"))
        yield found


def test_the_link_of_an_invitation_is_copied_by_a_press(served: Served) -> None:
    page = served.staff(viewport={"width": 1280, "height": 800})
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=served.url)
    page.goto("/admin/staff")
    page.locator("form", has_text="Make a link").get_by_label("Name").fill("New Colleague")
    page.get_by_role("button", name="Make a link").click()
    link = page.get_by_label("Link", exact=True)
    expect(link).to_have_value(f"{served.url}/invite/" + link.input_value().rsplit("/", 1)[1])
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == link.input_value()
    assert violations(page) == []
