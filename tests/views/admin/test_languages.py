"""A manager sees how complete languages are, and decides on machine translations for guests."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route, expect

from ridedash.store.audit import AuditRow
from ridedash.store.models.people import Property, Staff
from tests.marked_words import GUESTS_ONLY, READ, marked_words
from tests.views.ride_pages import Desk, compact, make_desk, token
from tests.views.served import served_desk

pytestmark = pytest.mark.database


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    with made.services.db.write() as s:
        s.get_one(Staff, made.ids["desk"]).role = "manager"
    yield made
    made.close()


def rows(page: str) -> list[list[str]]:
    body = compact(page).split("<tbody>")[1].split("</tbody>")[0]
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in body.split("</tr>")[:-1]]
    return [[re.sub("<[^>]+>", "", cell) for cell in row] for row in cells]


def test_levels_and_shares_are_those_of_the_catalogues(desk: Desk) -> None:
    browser = desk.client()
    with marked_words(desk.app, ["ar"], GUESTS_ONLY):
        page = browser.get("/admin/languages").text
    assert rows(page) == [["العربية", "MachineRead", "100 % offered", "94 % not offered"]]
    with marked_words(desk.app, ["de"], READ):
        page = browser.get("/admin/languages").text
    assert rows(page) == [["Deutsch", "ReviewedRead", "100 % offered", "100 % offered"]]


@pytest.mark.browser
def test_a_browser_without_letters_of_a_language_says_so(tmp_path: Path, browser: Browser) -> None:
    unknown_letter = chr(0xE123)  # for private use: no font has this letter
    with served_desk(tmp_path, browser) as served:
        served.desk.add(lambda s: setattr(s.get(Staff, served.desk.ids["desk"]), "role", "manager"))
        page = served.staff()
        page.goto("/admin/languages")
        boxes = page.locator("[data-boxes]")
        expect(boxes).to_have_text(
            "This computer has the letters of every language that is offered."
        )

        def without_hindi(route: Route) -> None:
            text = route.fetch().text()
            route.fulfill(body=text.replace("आपके ड्राइवर", unknown_letter), content_type="text/html")

        page.route("**/admin/languages", without_hindi)
        page.reload()
        expect(boxes).to_contain_text("boxes instead of letters in: Hindi.")


def test_the_switch_is_stored_and_recorded_once(desk: Desk) -> None:
    browser = desk.client()
    form = {"csrf_token": token(browser)}
    for _twice in range(2):
        assert browser.post("/admin/languages", data=form).status_code == 303
    with desk.services.db.read() as s:
        assert not s.get_one(Property, desk.ids["desk.property"]).machine_words
        assert s.query(AuditRow).filter(AuditRow.what == "property.changed").count() == 1
    with marked_words(desk.app, ["ar"], GUESTS_ONLY):
        page = browser.get("/admin/languages?said=saved").text
    assert rows(page)[0][2] == "100 % not offered"
    assert "Saved." in page
    browser.post("/admin/languages", data=form | {"machine_words": "on"})
    with desk.services.db.read() as s:
        assert s.get_one(Property, desk.ids["desk.property"]).machine_words
