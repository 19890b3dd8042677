"""Critical sentences have the English text below them until a person has read the translation."""

import html
import re
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from ridedash.extensions import limiter
from ridedash.rides.share_links import LinkKind, make_link
from ridedash.store.actors import by_staff
from tests.marked_words import GUESTS_ONLY, READ, marked_words
from tests.views.ride_pages import NOON, Desk, compact, make_desk

pytestmark = pytest.mark.database
CODE = "Tell it to the driver when you are in the right car."  # hidden while there is no start code


@pytest.fixture(scope="module")
def shared_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    made = make_desk(tmp_path_factory.mktemp("desk"))
    yield made
    made.close()


@pytest.fixture
def desk(shared_desk: Desk) -> Desk:
    with shared_desk.app.app_context():
        limiter.reset()
    return shared_desk


@pytest.fixture
def phone(desk: Desk) -> FlaskClient:
    return desk.client(signed_in=False)


def link(desk: Desk, order_id: int, kind: LinkKind = LinkKind.RIDER) -> str:
    place, staff = desk.ids["desk.property"], desk.ids["desk"]
    return f"/t/{make_link(desk.services.db, NOON, place, order_id, kind, by_staff(staff))}"


def beneath(page: str) -> list[str]:
    """The English lines of a page, except the line about the start code."""
    parts = compact(page).split('<p class="guest-english" lang="en" dir="ltr"')[1:]
    opened = [part.partition(">")[2].partition("</p>")[0].strip() for part in parts]
    return [html.unescape(each) for each in opened if each and not each.startswith(CODE)]


def test_the_line_below_the_headline_has_its_facts_in_both(desk: Desk, phone: FlaskClient) -> None:
    bill = link(desk, desk.order("BOOKED", "INVOICE", "auto", payment="cash"))
    checks = link(desk, desk.order("UNKNOWN"))
    with marked_words(desk.app, ["de"], GUESTS_ONLY):
        lines = beneath(phone.get(f"{bill}?lang=de").text)
        # the English line formats amounts as English does, unlike the German sentence above it
        assert [re.sub(r"₹[\d.,]*\d", "AMOUNT", each) for each in lines[:1]] == [
            "Your bill: AMOUNT. Pay the driver AMOUNT in cash."
        ]
        text = "We are checking your booking with our team. Please don't book again."
        pays = "You pay the driver in cash."
        assert beneath(phone.get(f"{checks}?lang=de").text) == [text, pays]
        body = phone.get(f"{checks}/snapshot.json?lang=de").json or {}
        assert (body["english"], body["pays_english"]) == (text, pays)
        assert beneath(phone.get(f"{checks}?lang=en").text) == []
    with marked_words(desk.app, ["de"], READ):
        assert beneath(phone.get(f"{checks}?lang=de").text) == []


def test_sentences_that_warn_of_nothing_have_none(desk: Desk, phone: FlaskClient) -> None:
    address = link(desk, desk.order("BOOKED", "IN_PROGRESS"))
    with marked_words(desk.app, ["de"], GUESTS_ONLY):
        page = phone.get(f"{address}?lang=de").text
        assert beneath(page) == ["You pay the driver in cash."]
        assert page.count(CODE) == 2, "with the start code, which is hidden now"


def test_a_follower_has_them_too(desk: Desk, phone: FlaskClient) -> None:
    address = link(desk, desk.order("UNKNOWN"), LinkKind.FOLLOWER)
    with marked_words(desk.app, ["de"], GUESTS_ONLY):
        assert beneath(phone.get(f"{address}?lang=de").text) == [
            "The team is checking the booking."
        ]
