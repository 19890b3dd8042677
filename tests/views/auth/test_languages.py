"""Staff read their own language, else the property's; the sign-in page has the browser's."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ridedash.extensions import OFFERED
from ridedash.store.invitations import invite
from ridedash.store.models.people import Property, Staff
from tests.marked_words import GUESTS_ONLY, marked_words
from tests.views.ride_pages import NOON, Desk, make_desk, token

pytestmark = pytest.mark.database


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    with marked_words(made.app, ["ar", "de"]):
        yield made
    made.close()


def lang(page: str) -> str:
    return re.findall(r'<html lang="([^"]+)"', page)[0]


def stored(desk: Desk) -> tuple[str | None, str | None]:
    with desk.services.db.read() as s:
        staff = s.get_one(Staff, desk.ids["desk"])
        return staff.language, s.get_one(Property, staff.property_id).language


def set_property_language(desk: Desk, code: str | None) -> None:
    with desk.services.db.write() as s:
        s.get_one(Property, desk.ids["desk.property"]).language = code


def test_a_person_chooses_the_language_of_their_pages(desk: Desk) -> None:
    browser = desk.client()
    assert lang(browser.get("/me").text) == "en"
    form = {"csrf_token": token(browser), "language": "ar"}
    assert browser.post("/me/language", data=form).status_code == 303
    page = browser.get("/me?said=preferences").text
    assert (lang(page), 'dir="rtl"' in page, "⟨ar⟩Saved." in page) == ("ar", True, True)
    assert browser.post("/me/language", data=form | {"language": ""}).status_code == 303
    assert (lang(browser.get("/me").text), stored(desk)) == ("en", (None, None))


@pytest.mark.parametrize("code", ["xx", "ja", "ar ", "x" * 500, "AR"])
def test_only_what_is_offered_can_be_chosen(desk: Desk, code: str) -> None:
    browser = desk.client()
    form = {"csrf_token": token(browser), "language": code}
    answer = browser.post("/me/language", data=form)
    assert answer.status_code == 422
    assert "Choose a language from the list." in answer.text
    assert stored(desk) == (None, None)


def test_the_property_speaks_to_those_who_have_not_chosen(desk: Desk) -> None:
    set_property_language(desk, "de")
    browser = desk.client()
    ask = {"Accept-Language": "ar"}
    assert lang(browser.get("/", headers=ask).text) == "de"
    form = {"csrf_token": token(browser), "language": "en"}
    browser.post("/me/language", data=form)
    assert lang(browser.get("/", headers=ask).text) == "en"


def test_files_for_programs_are_english(desk: Desk) -> None:
    set_property_language(desk, "de")
    desk.order("BOOKED", "COMPLETED")
    with desk.services.db.write() as s:
        s.get_one(Staff, desk.ids["desk"]).role = "manager"
    browser = desk.client()
    assert "⟨de⟩" in browser.get("/history").text
    form = {"csrf_token": token(browser)}
    for path, cell in (
        ("/history.csv", "CRN000001"),
        ("/insights.csv", "No cost centre"),
        ("/admin/audit/export.csv", "Exported rides"),
    ):
        answer = browser.post(path, data=form)
        assert (answer.status_code, answer.mimetype) == (200, "text/csv"), path
        assert cell in answer.text, path
        assert "⟨de⟩" not in answer.text, path
    assert "⟨de⟩" in browser.get("/admin/audit").text


def test_a_language_that_is_no_longer_complete_is_replaced_by_english(desk: Desk) -> None:
    """An incomplete translation must not keep anybody from working."""
    with desk.services.db.write() as s:
        s.get_one(Staff, desk.ids["desk"]).language = "ar"
    browser = desk.client()
    assert lang(browser.get("/").text) == "ar"
    with marked_words(desk.app, ["ar", "de"], GUESTS_ONLY):
        assert lang(browser.get("/").text) == "en"


def test_the_sign_in_speaks_to_the_browser_and_then_for_the_property(desk: Desk) -> None:
    browser = desk.client(signed_in=False)
    german = {"Accept-Language": "de-AT,de;q=0.9"}
    with desk.services.db.write() as s:
        place = s.get_one(Property, desk.ids["desk.property"])
        place.language, place.door = "ar", "harbour"
    assert lang(browser.get("/sign-in", headers=german).text) == "de"
    assert lang(browser.get("/sign-in?at=harbour").text) == "ar"
    assert lang(browser.get("/sign-in?at=harbour", headers=german).text) == "de"


def test_an_invitation_knows_its_property(desk: Desk) -> None:
    set_property_language(desk, "ar")
    with desk.services.db.write() as s:
        _row, made = invite(s, desk.ids["desk.property"], "concierge", "Wren", None, NOON)
    browser = desk.client(signed_in=False)
    answer = browser.get(f"/invite/{made}")
    assert lang(answer.text) == "ar"
    assert {"Accept-Language", "Cookie"} <= set(answer.headers["Vary"].split(", "))
    assert lang(browser.get(f"/invite/{made}", headers={"Accept-Language": "de"}).text) == "de"


def test_languages_for_a_test_are_taken_back_when_it_fails(desk: Desk) -> None:
    before = desk.app.extensions[OFFERED]
    with pytest.raises(LookupError), marked_words(desk.app, ["hi"]):
        raise LookupError
    assert desk.app.extensions[OFFERED] is before
