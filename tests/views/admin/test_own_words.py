"""A manager rewrites sentences in the property's own words, which only its guests read."""

import html
import io
import re
from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from ridedash.extensions import limiter
from ridedash.rides.share_links import LinkKind, make_link
from ridedash.store.actors import by_staff
from ridedash.store.audit import AuditRow
from ridedash.store.models.people import Guest, Property, Staff, Wording
from ridedash.store.orders import Order
from tests.marked_words import GUESTS_ONLY, marked_words
from tests.views.ride_pages import NOON, Desk, compact, make_desk, token

pytestmark = pytest.mark.database
WORDS = "/admin/languages/words"


@pytest.fixture
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = make_desk(tmp_path_factory.mktemp("desk"))
    with made.services.db.write() as s:
        s.get_one(Staff, made.ids["desk"]).role = "manager"
        s.get_one(Property, made.ids["desk.property"]).phone = "+49 30 123456"
    with made.app.app_context():
        limiter.reset()
    yield made
    made.close()


@pytest.fixture
def manager(desk: Desk) -> FlaskClient:
    return desk.client()


def write(manager: FlaskClient, language: str = "en", **fields: str) -> Any:
    form = {"csrf_token": token(manager), "language": language, **fields}
    return manager.post(WORDS, data=form)


def link(desk: Desk, order_id: int, kind: LinkKind = LinkKind.RIDER) -> str:
    place, staff = desk.ids["desk.property"], desk.ids["desk"]
    return f"/t/{make_link(desk.services.db, NOON, place, order_id, kind, by_staff(staff))}"


def rows(desk: Desk) -> list[tuple[str, str, str]]:
    with desk.services.db.read() as s:
        return [(row.language, row.name, row.text) for row in s.query(Wording).all()]


def test_own_words_stand_on_the_link_the_poll_the_card_and_the_receipt(
    desk: Desk, manager: FlaskClient
) -> None:
    own = {"greeting": "Dear <guest>", "card_meet": "Our porter waits at"}
    own |= {"card_foot": "We & our porters", "receipt_foot": "See you <soon>"}
    sentences = {"meet_pickup": "Look for our porter at {pickup}", "card_desk": "Ring {phone}"}
    assert write(manager, **own, **sentences).status_code == 303
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    address, phone = link(desk, order_id), desk.client(signed_in=False)
    page = html.unescape(phone.get(address).text)
    assert "Dear <guest>" in page
    assert "Dear <guest>" not in phone.get(address).text
    assert "Look for our porter at" in page
    body = phone.get(f"{address}/snapshot.json").json or {}
    assert body["detail"].startswith("Look for our porter at")
    card = manager.get(f"/rides/{order_id}/card").text
    assert "Our porter waits at" in card
    assert "We &amp; our porters" in card
    made = manager.post(f"/rides/{order_id}/card", data={"csrf_token": token(manager)}).text
    assert "Ring " in made
    assert "+49 30 123456" in made.split("Ring ")[1][:40]
    assert "See you &lt;soon&gt;" in manager.get(f"/rides/{order_id}/receipt").text
    others = desk.order("BOOKED", "CALL_DRIVER", prop="other")
    with desk.services.db.read() as s:
        home = s.get_one(Order, others).property_id
    made = make_link(
        desk.services.db, NOON, home, others, LinkKind.RIDER, by_staff(desk.ids["other"])
    )
    assert "Dear" not in phone.get(f"/t/{made}").text


def test_a_follower_reads_none_of_them(desk: Desk, manager: FlaskClient) -> None:
    words = {"greeting": "Welcome to the Meridian", "call_desk": "Call the Meridian"}
    assert write(manager, **words).status_code == 303
    address = link(desk, desk.order("BOOKED", "CALL_DRIVER"), LinkKind.FOLLOWER)
    answer = desk.client(signed_in=False).get(address)
    assert answer.status_code == 200
    assert "Meridian" not in answer.text


def test_another_language_keeps_our_words_there(desk: Desk, manager: FlaskClient) -> None:
    order_id = desk.order("BOOKED", "COMPLETED")
    address, phone = link(desk, order_id), desk.client(signed_in=False)
    with marked_words(desk.app, ["de", "ar"], GUESTS_ONLY):
        write(manager, "de", thank_you="Kommen Sie wieder")
        assert "Kommen Sie wieder" in phone.get(f"{address}?lang=de").text
        assert "⟨ar⟩Thank you for riding" in phone.get(f"{address}?lang=ar").text
        assert "Thank you for riding" in phone.get(f"{address}?lang=en").text
        with desk.services.db.write() as s:
            s.get_one(Guest, s.get_one(Order, order_id).guest_id).language = "de"
        assert "Kommen Sie wieder" in manager.get(f"/rides/{order_id}").text, "Show to guest"


def test_what_cant_be_used_stays_in_its_field_and_nothing_is_saved(
    desk: Desk, manager: FlaskClient
) -> None:
    answer = write(manager, thank_you="Come again", meet_pickup="Meet us <outside>")
    assert answer.status_code == 422
    page = html.unescape(answer.text)
    assert "Keep {pickup}: a fact of the ride is put there." in page
    assert 'value="Meet us <outside>"' in page
    assert 'value="Come again"' in page
    assert rows(desk) == []


def test_a_look_saves_nothing_and_has_facts_in_it(desk: Desk, manager: FlaskClient) -> None:
    answer = write(manager, card_desk="Ring {phone}", look="1")
    assert answer.status_code == 200
    assert "<bdi>Ring +49 30 123456</bdi>" in compact(answer.text)
    assert "Not saved yet" in answer.text
    assert rows(desk) == []


def test_an_emptied_field_and_a_press_bring_ours_back(desk: Desk, manager: FlaskClient) -> None:
    write(manager, thank_you="Come again", card_only="For you", greeting="Hello")
    write(manager, thank_you="", card_only="For you", greeting="Hello", reset="greeting")
    assert rows(desk) == [("en", "card_only", "For you")]
    with desk.services.db.read() as s:
        facts = [row.facts for row in s.query(AuditRow).filter(AuditRow.what == "words.written")]
    assert facts == [
        {"language": "en", "changed": ["greeting", "thank_you", "card_only"]},
        {"language": "en", "changed": ["greeting", "thank_you"]},
    ]


def test_words_for_a_sentence_that_has_changed_since_are_marked_until_they_are_confirmed(
    desk: Desk, manager: FlaskClient
) -> None:
    write(manager, thank_you="Come again", card_only="For you")
    with desk.services.db.write() as s:
        key = {"property_id": desk.ids["desk.property"], "language": "en", "name": "thank_you"}
        s.get_one(Wording, key).english = "Thanks"
    assert manager.get(WORDS).text.count("Our sentence has changed") == 1
    write(manager, thank_you="Come again", card_only="Only you")
    assert "Our sentence has changed" in manager.get(WORDS).text, "another one was written"
    write(manager, thank_you="Come again", card_only="Only you", keep="thank_you")
    assert "Our sentence has changed" not in manager.get(WORDS).text


def send(manager: FlaskClient, content: bytes, language: str = "de") -> Any:
    form = {"csrf_token": token(manager), "language": language}
    return manager.post(f"{WORDS}/file", data=form | {"file": (io.BytesIO(content), "a.po")})


def test_the_file_goes_out_and_comes_back(desk: Desk, manager: FlaskClient) -> None:
    write(manager, "de", thank_you="Danke")
    answer = manager.get(f"{WORDS}/file.po?language=de")
    assert answer.headers["Content-Disposition"] == "attachment; filename=demo-own-words-de.po"
    assert 'msgid "Thank you for riding"\nmsgstr "Danke"' in answer.text
    changed = answer.text.replace('"Danke"', '"Vielen Dank"').encode()
    assert send(manager, changed).status_code == 303
    assert rows(desk) == [("de", "thank_you", "Vielen Dank")]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"thank_you"', '"thanks"'), "a sentence that is not in the list: thanks"),
        (('"Danke"', '"Danke {guest}"'), "This sentence has no fact called {guest}."),
        (("Language: de", "Language: fr"), "This is no file of own words in Deutsch."),
        ((re.compile(r'msgctxt "thank_you"\n.*\n.*\n'), ""), ""),
        ((re.compile("^msgctxt", re.MULTILINE), "#, fuzzy\nmsgctxt"), "no file of own words in"),
    ],
)
def test_a_file_is_used_whole_or_not_at_all(
    desk: Desk, manager: FlaskClient, change: tuple[Any, str], message: str
) -> None:
    write(manager, "de", thank_you="Danke")
    text = manager.get(f"{WORDS}/file.po?language=de").text
    answer = send(manager, re.sub(change[0], change[1], text).encode())
    assert answer.status_code == (422 if message else 303)
    assert message in html.unescape(answer.text)
    assert rows(desk) == [("de", "thank_you", "Danke")]
