"""The chosen ride beside the list, in Chromium: every act of it is in view, in one order."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, expect

from ridedash.store.models.people import Staff
from tests.views.board.test_pages_browser import NoTokens
from tests.views.ride_pages import ENDS, NOON, ORDER_STATES, STATUSES
from tests.views.served import Served, served_desk

pytestmark = [pytest.mark.browser, pytest.mark.database]

WIDE: Final = {"width": 1280, "height": 800}
OVER: Final = ("COMPLETED", *ENDS)
OF_RIDES: Final = [
    ("BOOKED", status, kind) for kind, steps in STATUSES.items() for status in (*steps, *ENDS)
]
OF_ORDERS: Final = [(state, None, "point_to_point") for state in ORDER_STATES if state != "BOOKED"]
# what can be pressed, and ends below the window; not what is in a form that is open
BELOW: Final = """() => [...document.querySelectorAll("[data-detail] :is(.tile, .btn, summary)")]
  .filter((each) => each.getClientRects().length && !each.closest(".action-body"))
  .filter((each) => !each.matches("details:not([open]) > :not(summary) *"))
  .filter((each) => each.getBoundingClientRect().bottom > innerHeight)
  .map((each) => each.textContent.trim())"""
ACTS: Final = """() => [...document.querySelectorAll("[data-detail] :is(.tile, summary)")]
  .filter((each) => each.getClientRects().length && !each.closest("[data-part=correct]"))
  .map((each) => each.textContent.trim().replace(/\\s+/g, " "))"""


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served_desk(tmp_path, browser) as found:
        found.desk.services.tokens = NoTokens()
        yield found


def chosen(served: Served, page: Page, state: str, status: str | None, kind: str) -> int:
    ended = {"ended_at": NOON, "next_poll_at": None} if status in OVER else {}
    order_id = served.desk.order(state, status, kind, ride=ended)
    if status == "CLIENT_LOCATED":
        served.move(order_id, status, otp="4821")
    page.goto(f"/?ride={order_id}")
    expect(page.locator(f'[data-detail] [data-ride="{order_id}"]')).to_be_visible()
    expect(page.locator("[data-alerts][data-key]")).to_be_attached()
    return order_id


def test_every_act_of_a_ride_is_in_view_in_every_state_of_every_kind(served: Served) -> None:
    page = served.staff(viewport=WIDE)
    for case in OF_RIDES + OF_ORDERS:
        chosen(served, page, *case)
        assert page.evaluate(BELOW) == [], case


@pytest.mark.parametrize("language", ["fr", "ja", "hi", "ar"])
def test_every_act_is_in_view_in_languages_of_long_words_and_high_lines(
    served: Served, language: str
) -> None:
    served.desk.add(lambda s: s.query(Staff).update({"language": language}))
    page = served.staff(viewport=WIDE)
    below = {}
    for kind in STATUSES:
        for status in ("CALL_DRIVER", "CLIENT_LOCATED"):
            chosen(served, page, "BOOKED", status, kind)
            below[status, kind] = page.evaluate(BELOW)
    assert {case: acts for case, acts in below.items() if acts} == {}


def test_one_bar_leads_to_the_guest_and_cancel_is_the_last_of_the_acts(served: Served) -> None:
    page = served.staff(viewport=WIDE)
    bar = ["Copy link", "Show to guest", "Call driver", "Guest card"]
    for status in ("ALLOTMENT_PENDING", "CALL_DRIVER", "CLIENT_LOCATED"):
        chosen(served, page, "BOOKED", status, "point_to_point")
        assert page.evaluate(ACTS) == [*bar, "Change drop", "Cancel ride"], status
    chosen(served, page, "BOOKED", "COMPLETED", "point_to_point")
    assert page.evaluate(ACTS) == ["Copy link", "Guest card", "Receipt", "Give feedback"]


def test_the_bar_keeps_its_places_until_there_is_a_driver_to_call(served: Served) -> None:
    page = served.staff(viewport=WIDE)
    order_id = chosen(served, page, "BOOKED", "ALLOTMENT_PENDING", "point_to_point")
    call = page.locator("[data-detail] .tile", has_text="Call driver")
    assert call.get_attribute("href") is None
    places = "[...document.querySelectorAll('.tile')].map((each) => each.offsetLeft)"
    before = page.evaluate(places)
    served.move(order_id, "CALL_DRIVER")
    expect(call).to_have_attribute("href", "tel:+910000012345")
    assert page.evaluate(places) == before


def test_what_a_press_opens_is_scrolled_into_view(served: Served) -> None:
    page = served.staff(viewport=WIDE)
    chosen(served, page, "BOOKED", "CLIENT_LOCATED", "share")
    panel = page.locator("[data-detail] [data-action=cancel]")
    panel.locator("summary").click()
    expect(panel.get_by_role("button", name="Cancel ride")).to_be_in_viewport(ratio=0.9)
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#out-message")).to_be_in_viewport(ratio=0.9)


def test_the_guest_is_shown_the_ride_after_a_correction_too(served: Served) -> None:
    page = served.staff(viewport=WIDE)
    chosen(served, page, "BOOKED", "CALL_DRIVER", "point_to_point")
    part = "document.querySelector('[data-part=out]')"
    page.evaluate(f"{part}.replaceWith({part}.cloneNode(true))")
    page.get_by_role("button", name="Show to guest").click()
    expect(page.get_by_role("dialog")).to_be_visible()
