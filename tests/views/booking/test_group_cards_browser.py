"""The cards of a group on paper, in Chromium: none is cut, whatever its guest reads."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from sqlalchemy.orm import Session

from ridedash.store.models.people import Guest
from ridedash.store.orders import Order
from tests.views.served import Served, served_desk

pytestmark = [pytest.mark.browser, pytest.mark.database]
A4_IN_PX = {"width": 748, "height": 1077}  # without its margins
CUT = """() => [...document.querySelectorAll(".mini")]
  .filter((card) => card.scrollHeight > card.clientHeight)
  .map((card) => `${card.lang} ${card.scrollHeight} > ${card.clientHeight}`)"""


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served_desk(tmp_path, browser) as found:
        yield found


def test_no_card_of_two_languages_is_cut_on_paper(served: Served) -> None:
    languages = ("de", "ar", "hi", "ja", "es", "fr")
    states = ["CLIENT_LOCATED", "ALLOTMENT_PENDING"] * 3
    ids = [served.desk.order("BOOKED", state) for state in states]

    def group(s: Session) -> None:
        for order_id, language in zip(ids, languages, strict=True):
            order = s.get_one(Order, order_id)
            order.group_key, order.room = f"G-{ids[0]}", "412"
            guest = s.get_one(Guest, order.guest_id)
            guest.language, guest.name = language, "Heron Heron Heron-Heron of Heron"

    served.desk.add(group)
    page = served.staff(viewport=A4_IN_PX)
    page.goto(f"/groups/{ids[0]}/cards")
    page.get_by_role("button", name="Add a link for each guest").click()
    expect(page.locator(".mini-qr")).to_have_count(len(ids))
    expect(page.locator(".mini[lang=ar] .sheet-ours").first).to_be_attached()
    page.emulate_media(media="print")
    assert page.evaluate(CUT) == []
