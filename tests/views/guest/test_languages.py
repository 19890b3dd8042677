"""The language of a link's page: chosen on it, else by the desk, the phone or the property."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from ridedash.extensions import limiter
from ridedash.rides.share_links import LinkKind, make_link
from ridedash.store.actors import by_staff
from ridedash.store.models.people import Guest, Property
from ridedash.store.orders import Order
from tests.marked_words import GUESTS_ONLY, PARTLY, READ, marked_words
from tests.views.ride_pages import NOON, Desk, make_desk

pytestmark = pytest.mark.database
CODES = ["ar", "de", "ja", "zh_Hans"]


@pytest.fixture(scope="module")
def shared_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = make_desk(tmp_path_factory.mktemp("desk"))
    yield made
    made.close()


@pytest.fixture
def desk(shared_desk: Desk) -> Iterator[Desk]:
    with shared_desk.app.app_context():
        limiter.reset()
    set_property(shared_desk, language=None, machine_words=True)
    with marked_words(shared_desk.app, CODES):
        yield shared_desk


@pytest.fixture
def phone(desk: Desk) -> FlaskClient:
    return desk.client(signed_in=False)


def set_property(desk: Desk, **facts: Any) -> None:
    with desk.services.db.write() as s:
        prop = s.get(Property, desk.ids["desk.property"])
        for name, value in facts.items():
            setattr(prop, name, value)


def link(desk: Desk, language: str | None = None, kind: LinkKind = LinkKind.RIDER) -> str:
    """The address of a link to a ride; `language` is what the desk noted for its guest."""
    order_id = desk.order("BOOKED", "CALL_DRIVER")
    with desk.services.db.write() as s:
        s.get_one(Guest, s.get_one(Order, order_id).guest_id).language = language
    place, staff = desk.ids["desk.property"], desk.ids["desk"]
    return f"/t/{make_link(desk.services.db, NOON, place, order_id, kind, by_staff(staff))}"


def spoken(page: str) -> tuple[str, str]:
    """The language and direction of a page, after a check that its heading is in that language."""
    lang, direction = re.findall(r'<html lang="([^"]+)" dir="([^"]+)">', page)[0]
    heading = re.findall(r"<h1[^>]*>\s*([^<]+)", page)[0]
    code = lang.replace("-", "_")
    assert heading.startswith(f"⟨{code}⟩") or (lang == "en" and "⟨" not in heading), heading
    return lang, direction


ARABIC, ENGLISH = ("ar", "rtl"), ("en", "ltr")


def test_the_desks_choice_is_the_language_of_page_and_poll(phone: FlaskClient, desk: Desk) -> None:
    address = link(desk, "ar")
    assert spoken(phone.get(address).text) == ARABIC
    body = phone.get(f"{address}/snapshot.json?lang=ar").json or {}
    assert body["headline"].startswith("⟨ar⟩")


def test_the_choice_on_the_page_wins_and_stands_in_the_address_alone(
    phone: FlaskClient, desk: Desk
) -> None:
    answer = phone.get(f"{link(desk, 'ar')}?lang=ja", headers={"Accept-Language": "de"})
    assert spoken(answer.text) == ("ja", "ltr")
    assert "Set-Cookie" not in answer.headers
    row = answer.text.split("guest-languages")[1]
    rows = re.findall(r'href="\?lang=([^#"]+)#lang-\1"\s+lang="\1"\s+dir="(\w+)"', row)
    assert rows == [
        *(("en", "ltr"), ("ar", "rtl"), ("de", "ltr"), ("ja", "ltr"), ("zh-Hans", "ltr")),
    ]
    assert re.findall(r'id="lang-(\S+)"[^>]*aria-current="true"', answer.text) == ["ja"]


@pytest.mark.parametrize(
    ("of_desk", "of_browser", "of_property", "expected"),
    [
        (None, "de-AT, en;q=0.5", None, ("de", "ltr")),
        (None, "zh-CN", "ar", ("zh-Hans", "ltr")),
        (None, "zh-TW, zh;q=0.9", "ar", ENGLISH),
        (None, "", "ar", ARABIC),
        (None, "ko", "ar", ARABIC),
        (None, "ko, de;q=0", "ar", ARABIC),
        (None, "", None, ENGLISH),
        ("bn", "de", "ar", ENGLISH),
        ("zh", "de", None, ("zh-Hans", "ltr")),
    ],
)
def test_what_follows_the_desks_choice(
    phone: FlaskClient,
    desk: Desk,
    of_desk: str | None,
    of_browser: str,
    of_property: str | None,
    expected: tuple[str, str],
) -> None:
    """A noted language in which no page is offered makes the page English, as the desk reads."""
    set_property(desk, language=of_property)
    headers = {"Accept-Language": of_browser} if of_browser else {}
    assert spoken(phone.get(link(desk, of_desk), headers=headers).text) == expected


def test_a_followers_page_never_tells_what_the_guest_reads(phone: FlaskClient, desk: Desk) -> None:
    one = link(desk, "ar", LinkKind.FOLLOWER)
    assert spoken(phone.get(one).text) == ENGLISH
    assert spoken(phone.get(one, headers={"Accept-Language": "de"}).text) == ("de", "ltr")
    assert spoken(phone.get(f"{one}?lang=ja").text) == ("ja", "ltr")
    assert "⟨ar⟩" not in phone.get(f"{one}/snapshot.json").text
    set_property(desk, language="ar")
    assert spoken(phone.get(one).text) == ARABIC


def test_pages_vary_with_the_browsers_languages_and_polls_do_not(
    phone: FlaskClient, desk: Desk
) -> None:
    address = link(desk, "ar")
    assert "Accept-Language" in phone.get(address).headers["Vary"]
    assert "Accept-Language" in phone.get("/t/unknown").headers["Vary"]
    assert "Accept-Language" not in phone.get(f"{address}/snapshot.json").headers.get("Vary", "")
    assert "Accept-Language" in phone.get("/sign-in").headers["Vary"]
    assert "Accept-Language" not in desk.client().get("/").headers.get("Vary", "")


def test_a_link_that_is_not_open_speaks_to_the_browser(phone: FlaskClient, desk: Desk) -> None:
    assert spoken(phone.get("/t/no", headers={"Accept-Language": "ar"}).text) == ARABIC
    assert spoken(phone.get("/t/no?lang=de", headers={"Accept-Language": "ar"}).text)[0] == "de"


def test_a_press_leads_back_to_the_language_of_the_page(phone: FlaskClient, desk: Desk) -> None:
    address = link(desk, "ar")
    assert phone.post(f"{address}?lang=ja").headers["Location"] == f"{address}?lang=ja"
    odd = phone.post(f"{address}?lang=//evil.example").headers["Location"]
    assert odd == address


def test_what_is_not_whole_is_offered_to_no_guest(phone: FlaskClient, desk: Desk) -> None:
    address = link(desk, "ar")
    with marked_words(desk.app, CODES, PARTLY):
        page = phone.get(f"{address}?lang=de", headers={"Accept-Language": "ja"}).text
        assert spoken(page) == ENGLISH
        assert "guest-languages" not in page


def test_a_manager_may_keep_machine_words_from_guests(phone: FlaskClient, desk: Desk) -> None:
    """Translations that people have read are still offered."""
    set_property(desk, machine_words=False)
    page = phone.get(f"{link(desk, 'ar')}?lang=ja").text
    assert spoken(page) == ENGLISH
    assert "guest-languages" not in page
    with marked_words(desk.app, CODES, READ):
        assert spoken(phone.get(link(desk, "ar")).text) == ARABIC


def test_staff_are_offered_what_is_nearly_whole_for_them(desk: Desk) -> None:
    """A language may be complete for guests and not for staff."""
    with marked_words(desk.app, CODES, GUESTS_ONLY):
        assert spoken(desk.client(signed_in=False).get(link(desk, "ar")).text) == ARABIC
        sign_in = desk.client(signed_in=False).get("/sign-in", headers={"Accept-Language": "ar"})
        assert spoken(sign_in.text) == ENGLISH


def test_a_machines_words_say_so_and_lead_to_english(phone: FlaskClient, desk: Desk) -> None:
    """English pages and translations that people have read have no such note."""
    address = link(desk, "ar")
    page = phone.get(address).text
    notice = page.split("guest-by-machine")[1].split("</p>")[0]
    assert "Translated by a machine. The English text holds." in notice
    assert 'href="?lang=en#lang-en"' in notice
    assert "guest-by-machine" not in phone.get(f"{address}?lang=en").text
    with marked_words(desk.app, CODES, READ):
        assert "guest-by-machine" not in phone.get(address).text
