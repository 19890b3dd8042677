"""The cards of a group on paper, in Chromium: no card is cut, in whichever language."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy.orm import Session

from ridedash.store.models.people import Guest, Staff
from ridedash.store.orders import Order
from tests.face.pictures import disc
from tests.views.admin.test_face import save
from tests.views.ride_pages import NOON
from tests.views.served import Served, served_desk

pytestmark = [pytest.mark.browser, pytest.mark.database]
A4_IN_PX, LETTER_IN_PX = (748, 1077), (770, 1010)  # without their margins
CUT = """() => [...document.querySelectorAll(".mini")]
  .filter((card) => card.scrollHeight > card.clientHeight)
  .map((card) => `${card.lang} ${card.scrollHeight} > ${card.clientHeight}`)"""


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served_desk(tmp_path, browser) as found:
        yield found


def linked_cards(served: Served) -> Page:
    """A page of six cards in two languages each, with links, and with a logo and a colour."""
    desk = served.desk
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "role", "manager"))
    save(desk.client(), disc(400, 100), own_colour="y", colour="#8a0f4e")
    languages = ("de", "ar", "hi", "ja", "es", "fr")
    states = ["CLIENT_LOCATED", "ALLOTMENT_PENDING"] * 3
    ids = [desk.order("BOOKED", state) for state in states]

    def group(s: Session) -> None:
        for order_id, language in zip(ids, languages, strict=True):
            order = s.get_one(Order, order_id)
            order.group_key, order.room = f"G-{ids[0]}", "412"
            if language in ("ar", "fr"):
                order.pickup_at = NOON + timedelta(days=1)
            guest = s.get_one(Guest, order.guest_id)
            guest.language, guest.name = language, "Heron Heron Heron-Heron of Heron"

    desk.add(group)
    page = served.staff(viewport={"width": 1280, "height": 800})
    page.goto(f"/groups/{ids[0]}/cards")
    page.get_by_role("button", name="Add a link for each guest").click()
    expect(page.locator(".mini-qr")).to_have_count(len(ids))
    expect(page.locator(".mini[lang=ar] .sheet-ours").first).to_be_attached()
    return page


def test_six_cards_of_two_languages_fit_on_one_sheet_and_none_is_cut(served: Served) -> None:
    page = linked_cards(served)
    for paper, (width, height) in (("A4", A4_IN_PX), ("Letter", LETTER_IN_PX)):
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(media="print")
        assert page.evaluate(CUT) == [], paper
        sheets = re.findall(rb"/Type */Page\b", page.pdf(format=paper))
        assert len(sheets) == 1, paper


def test_each_card_has_the_face_of_the_property(served: Served) -> None:
    page = linked_cards(served)
    logos = page.locator(".mini .house-logo")
    expect(logos).to_have_count(6)
    expect(logos.first).to_be_visible()
    expect(page.locator(".mini-top").first).to_have_css("border-bottom-color", "rgb(138, 15, 78)")


def test_a_place_on_a_card_of_two_languages_has_a_line_of_its_own(served: Served) -> None:
    page = linked_cards(served)
    lines = page.locator(".mini-meet").evaluate_all(
        """all => all.map((each) => {
          const [label, place] = [".label", ":scope > bdi"].map((part) => each.querySelector(part));
          return label.getBoundingClientRect().bottom <= place.getBoundingClientRect().top + 1;
        })"""
    )
    assert lines == [True] * 6
