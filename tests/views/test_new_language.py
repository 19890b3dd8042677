"""A new language is a row in a table and a translators' file: pages need no other code."""

import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from ridedash import factory
from ridedash.extensions import babel
from ridedash.rides.share_links import LinkKind, make_link
from ridedash.store.actors import by_staff
from ridedash.store.models.people import Staff
from ridedash.wording import languages, readers
from tests.views.ride_pages import NOON, Desk, make_desk
from tools import words

pytestmark = pytest.mark.database
CODE, NAME = "he", "עברית"  # from right to left, and not among those of the program


def translated(folder: Path) -> None:
    """Write a catalogue as `make words` could have done; each text is marked as this language's."""
    with words.TEMPLATE.open("rb") as file:
        template = read_po(io.BytesIO(file.read()))
    catalogue = words.read(CODE)
    words.update(catalogue, template)
    for message in words.messages(catalogue):
        marked = f"⟨{CODE}⟩{words.key_of(message)[1]}"
        message.string = (marked,) * catalogue.num_plurals if message.pluralizable else marked
        message.flags.add(words.MACHINE)
    path = folder / CODE / "LC_MESSAGES" / "messages.po"
    path.parent.mkdir(parents=True)
    path.write_bytes(words.with_head(CODE, catalogue))
    (folder / words.CRITICAL_LIST.name).write_bytes(words.CRITICAL_LIST.read_bytes())


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    texts, folder_of = tmp_path / "texts", factory._folder
    translated(texts)
    monkeypatch.setitem(languages.LANGUAGES, CODE, languages.Language(CODE, NAME))
    monkeypatch.setitem(readers.TAGS, CODE, CODE)  # made from LANGUAGES when it is imported
    monkeypatch.setattr(
        factory, "_folder", lambda name: texts if name == "translations" else folder_of(name)
    )
    made = make_desk(tmp_path)
    yield made
    with made.app.app_context():
        babel.domain_instance.cache.pop((CODE, "messages"), None)
    made.close()


def test_a_row_and_a_file_make_a_language_of_guests_and_staff(desk: Desk) -> None:
    order_id, staff = desk.order("BOOKED", "CALL_DRIVER", language=CODE), desk.ids["desk"]
    place, by = desk.ids["desk.property"], by_staff(staff)
    link = f"/t/{make_link(desk.services.db, NOON, place, order_id, LinkKind.RIDER, by)}"
    desk.add(lambda s: setattr(s.get_one(Staff, staff), "role", "manager"))
    phone, browser = desk.client(signed_in=False), desk.client()
    mark, head = f"⟨{CODE}⟩", f'<html lang="{CODE}" dir="rtl">'

    page = phone.get(link).text
    assert head in page
    assert re.search(rf"<h1[^>]*>\s*{mark}", page)
    assert NAME in page.split("guest-languages")[1]
    assert phone.get(f"{link}/snapshot.json?lang={CODE}").json["headline"].startswith(mark)
    assert '<html lang="en" dir="ltr">' in phone.get(f"{link}?lang=en").text
    assert head in phone.get("/sign-in", headers={"Accept-Language": "he-IL"}).text
    for paper in ("card", "receipt"):
        assert mark in browser.get(f"/rides/{order_id}/{paper}").text
    assert mark not in browser.get("/").text
    assert NAME in browser.get("/admin/languages").text
    assert f'value="{CODE}"' in browser.get("/me").text
    desk.add(lambda s: setattr(s.get_one(Staff, staff), "language", CODE))
    assert head in browser.get("/").text
    assert mark in browser.get(f"/board.json?lang={CODE}").text
