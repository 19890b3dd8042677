"""Cards of planned rides say when and where to, with the day, in the guest's language."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from ridedash.store.models.people import Guest
from ridedash.store.orders import Order
from tests.views.lists.test_lists import words
from tests.views.ride_pages import NOON, Desk, make_desk

pytestmark = pytest.mark.database


@pytest.fixture
def rides(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize(("language", "day"), [("en", "Tue 5 May"), ("de", "Di., 5. Mai")])
def test_a_card_of_a_planned_ride_says_its_day_time_and_destination(
    rides: Desk, language: str, day: str
) -> None:
    order_id = rides.order("SCHEDULED", None)

    def plan(s: object) -> None:
        order = s.get_one(Order, order_id)  # type: ignore[attr-defined]
        order.pickup_at = NOON + timedelta(days=1)
        order.group_key = "G-1"
        s.get_one(Guest, order.guest_id).language = language  # type: ignore[attr-defined]

    rides.add(plan)
    browser = rides.client()
    for path in (f"/rides/{order_id}/card", f"/groups/{order_id}/cards"):
        page = browser.get(path).text
        sheet = words(page[page.index("<article") :])
        assert "14:00" in sheet, path
        assert re.search(r"\b(To|Nach) \w+", sheet), sheet
        assert day in sheet, sheet
