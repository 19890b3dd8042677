"""The filters of the audit log in Chromium."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from ridedash.store.models.people import Staff
from tests.views.served import Served, served_desk

pytestmark = [pytest.mark.browser, pytest.mark.database]


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served_desk(tmp_path, browser) as found:
        desk = found.desk
        desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "role", "manager"))
        yield found


def test_the_filters_and_their_button_stand_in_one_row(served: Served) -> None:
    page = served.staff(viewport={"width": 1280, "height": 800})
    page.goto("/admin/audit")
    ends = page.locator(".audit-filters > *").evaluate_all(
        "all => all.map(each => Math.round(each.getBoundingClientRect().bottom))"
    )
    assert len(ends) == 5
    assert len(set(ends)) == 1, ends
