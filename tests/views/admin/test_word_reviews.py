"""A manager records that a native reader has read the critical sentences of a language."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from flask.testing import FlaskClient

from ridedash.extensions import OFFERED, limiter
from ridedash.store.audit import AuditRow
from ridedash.store.models.people import Property, Staff
from tests.marked_words import GUESTS_ONLY, marked_words
from tests.views.admin.test_own_words import link, write
from tests.views.guest.test_english_beneath import beneath
from tests.views.ride_pages import Desk, compact, make_desk, token

pytestmark = pytest.mark.database
READ = "/admin/languages/read"
BY_MACHINE = "Translated by a machine"


@pytest.fixture
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = make_desk(tmp_path_factory.mktemp("desk"))
    with made.services.db.write() as s:
        s.get_one(Staff, made.ids["desk"]).role = "manager"
    with made.app.app_context():
        limiter.reset()
    with marked_words(made.app, ["de"], GUESTS_ONLY):
        yield made
    made.close()


@pytest.fixture
def manager(desk: Desk) -> FlaskClient:
    return desk.client()


def press(manager: FlaskClient, **fields: str) -> None:
    page = manager.get(f"{READ}?language=de").text
    digest = re.findall(r'name="digest" value="([^"]+)"', page)[0]
    form = {"csrf_token": token(manager), "language": "de", "digest": digest}
    assert manager.post(READ, data=form | fields).status_code == 303


def test_a_press_takes_the_english_and_the_note_away_until_a_sentence_changes(
    desk: Desk, manager: FlaskClient
) -> None:
    address = f"{link(desk, desk.order('BOOKED', 'ALLOTMENT_FAILED'))}?lang=de"
    phone = desk.client(signed_in=False)
    english = "No ride, nothing to pay to a driver."
    before = phone.get(address).text
    assert english in beneath(before)
    assert BY_MACHINE in before
    press(manager)
    assert BY_MACHINE in phone.get(address).text, "no one has confirmed that they are right"
    press(manager, sure="on")
    page = phone.get(address).text
    assert f"⟨de⟩{english[:-1]}" in page
    assert beneath(page) == []
    assert BY_MACHINE not in page
    write(manager, "de", ask_payment="Fragen Sie uns")  # this sentence is critical
    assert BY_MACHINE in phone.get(address).text
    assert "Some have changed since" in manager.get(f"{READ}?language=de").text
    press(manager, sure="on")
    assert BY_MACHINE not in phone.get(address).text
    press(manager, undo="1")
    assert BY_MACHINE in phone.get(address).text


def test_the_mark_offers_a_language_that_the_property_keeps_from_its_guests_otherwise(
    desk: Desk, manager: FlaskClient
) -> None:
    with desk.services.db.write() as s:
        s.get_one(Property, desk.ids["desk.property"]).machine_words = False
    address, phone = f"{link(desk, desk.order())}?lang=de", desk.client(signed_in=False)
    assert '<html lang="en"' in phone.get(address).text
    press(manager, sure="on")
    assert '<html lang="de"' in phone.get(address).text
    assert "Checked" in manager.get("/admin/languages").text.partition("</tbody>")[0]


def test_who_and_when_stand_on_the_page_and_in_the_audit_log(
    desk: Desk, manager: FlaskClient
) -> None:
    press(manager, sure="on")
    press(manager, undo="1")
    press(manager, sure="on")
    with desk.services.db.read() as s:
        rows = s.query(AuditRow).filter(AuditRow.what.startswith("words.")).order_by(AuditRow.id)
        found = [(row.what, row.who, row.facts) for row in rows]
        name = s.get_one(Staff, desk.ids["desk"]).name
    who = f"staff:{desk.ids['desk']}"
    assert [what for what, _who, _facts in found] == ["words.read", "words.unread", "words.read"]
    assert {(by, facts["language"]) for _what, by, facts in found} == {(who, "de")}
    assert f"says {name}" in manager.get(f"{READ}?language=de").text


def test_the_page_shows_each_critical_sentence_in_both_languages(
    desk: Desk, manager: FlaskClient
) -> None:
    page = compact(manager.get(READ).text)
    assert len(desk.app.extensions[OFFERED].critical) >= 30
    assert page.count("⟨de⟩") == len(desk.app.extensions[OFFERED].critical)
    desk.app.extensions[OFFERED] = replace(desk.app.extensions[OFFERED], figures={})
    assert manager.get(READ).status_code == 404
