"""The board with many rides in Chromium: its columns, its folded groups, its headings, its map."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page, expect

from ridedash.store.models.people import Staff
from ridedash.store.orders import Order
from tests.views.board.test_pages_browser import CAB, NoTokens, opened, row
from tests.views.ride_pages import snapshot_facts
from tests.views.served import Served, served_desk

pytestmark = [pytest.mark.browser, pytest.mark.database]

LARGE: Final = {"width": 1440, "height": 900}
STATUSES: Final = ("ALLOTMENT_PENDING", "CALL_DRIVER", "CLIENT_LOCATED", "INVOICE", "IN_PROGRESS")
NAMES: Final = ("Li Bo", "Guest Avocet of a Very Long Family Name", "Guest Heron")
PLACES: Final = ("Opera", "Central Railway Station, Platform side entrance")
WHOLE: Final = """() => [...document.querySelectorAll(".row[data-id]")].filter((each) => {
  const {top, bottom, height} = each.getBoundingClientRect();
  const list = each.closest(".list-pinned, .list-rest").getBoundingClientRect();
  return height && top >= list.top - 1 && bottom <= Math.min(list.bottom, innerHeight) + 1;
}).length"""
# in how many places each part of the rows begins, or the plates end
EDGES: Final = """() => {
  const [start, end] = document.dir === "rtl" ? ["right", "left"] : ["left", "right"];
  const places = (part, side) => new Set([...document.querySelectorAll(`.row[data-id] ${part}`)]
    .filter((each) => each.getClientRects().length)
    .map((each) => Math.round(each.getBoundingClientRect()[side]))).size;
  return [".row-top", ".row-mid .room", ".row-name", ".row-to"].map((part) => places(part, start))
    .concat(places(".plate", end));
}"""
# the texts that the map's canvas has written since the last look
WRITTEN: Final = """() => {
  window.written = [];
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...at) {
    window.written.push(text);
    return fillText.call(this, text, ...at);
  };
}"""


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served_desk(tmp_path, browser) as found:
        found.desk.services.tokens = NoTokens()
        yield found


def full(served: Served, rides: int) -> list[int]:
    """Rides under way, whose cabs stand in a row, each with another plate."""
    made = []
    for n in range(rides):
        status = STATUSES[n % len(STATUSES)]
        facts = snapshot_facts("point_to_point", status)
        if "position" in facts:
            facts |= {
                "position": [-38.5 + n / 2_000, -128.0],
                "vehicle_number": f"KA01AB{n:04d}",
                "eta": {"seconds": 60 * (rides - n)},
            }
        made.append(
            served.desk.order(
                "BOOKED",
                status,
                guest=NAMES[n % len(NAMES)],
                room=str(100 + n) if n % 4 else "",
                drop_name=PLACES[n % len(PLACES)],
                ride={"facts": facts},
            )
        )
    return made


def as_group(served: Served, ids: list[int]) -> None:
    """Make these orders the cars of one press."""

    def rows(s: Any) -> None:
        for each in ids:
            order = s.get(Order, each)
            order.group_key = "group"
            order.guest_id = s.get(Order, ids[0]).guest_id

    served.desk.add(rows)


def texts(page: Page) -> list[str]:
    found: list[str] = page.evaluate("window.written.splice(0)")
    return found


def test_sixteen_rides_of_sixty_two_are_whole_in_view(served: Served) -> None:
    full(served, 62)
    page = opened(served, viewport=LARGE)
    assert page.evaluate(WHOLE) >= 16


@pytest.mark.parametrize("language", ["en", "ar"])
def test_the_columns_of_all_rows_begin_at_one_edge(served: Served, language: str) -> None:
    desk = served.desk
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "language", language))
    full(served, 12)
    desk.order("BOOKED", "CALL_DRIVER", attention=["silent"])
    page = opened(served)
    assert page.evaluate(EDGES) == [1, 1, 1, 1, 1]


def test_the_cars_of_a_group_are_one_row_that_unfolds(served: Served) -> None:
    first, *others = ids = [served.desk.order("BOOKED", "CLIENT_LOCATED") for _ in range(6)]
    as_group(served, ids)
    page = opened(served)
    button = row(page, first).get_by_role("button", name="6 cars")
    expect(button).to_have_attribute("aria-expanded", "false")
    expect(page.locator("#now [data-count]")).to_have_text("6")
    for each in others:
        expect(row(page, each)).to_be_hidden()
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(row(page, first).locator(".row-link")).to_be_focused()
    button.click()
    expect(button).to_have_attribute("aria-expanded", "true")
    expect(row(page, others[-1])).to_be_visible()
    button.click()
    expect(row(page, others[0])).to_be_hidden()


def test_a_car_of_a_group_that_needs_somebody_is_listed_apart(served: Served) -> None:
    ids = [served.desk.order("BOOKED", "CLIENT_LOCATED") for _ in range(3)]
    ids.append(served.desk.order("BOOKED", "ALLOTMENT_FAILED"))
    as_group(served, ids)
    page = opened(served)
    expect(page.locator(f'#needs .row[data-id="{ids[-1]}"]')).to_be_visible()
    expect(row(page, ids[0]).get_by_role("button", name="3 cars")).to_be_visible()


def test_the_heading_of_a_group_stays_in_view_while_its_rides_scroll(served: Served) -> None:
    full(served, 40)
    page = opened(served)
    page.locator(".list-rest").evaluate("(list) => list.scrollTo(0, 600)")
    expect(page.locator("#group-now")).to_be_in_viewport(ratio=0.9)


def test_many_cabs_are_dots_with_a_count_and_only_the_chosen_one_has_a_label(
    served: Served,
) -> None:
    ids = full(served, 40)
    page = served.staff(viewport=LARGE)
    page.add_init_script(f"({WRITTEN})()")
    page.goto("/")
    expect(page.locator(f"{CAB} .map-canvas")).to_be_attached()
    page.wait_for_function("window.written.some((text) => /^\\d+$/.test(text))")
    counts = [text for text in texts(page) if text != "!"]
    assert all(text.isdecimal() for text in counts), counts
    row(page, ids[2]).locator(".row-link").click()
    page.wait_for_function("window.written.some((text) => text.startsWith('Guest Heron'))")
    assert not [text for text in texts(page) if text.startswith(("Li Bo", "Guest Avocet"))]


def test_a_press_on_a_circle_shows_its_cabs_apart(served: Served) -> None:
    for n in range(14):
        facts = snapshot_facts("point_to_point", "CALL_DRIVER")
        facts["position"] = [-38.5 + n / 5_000, -128.0 + (n % 2) / 5_000]
        served.desk.order("BOOKED", "CALL_DRIVER", ride={"facts": facts})
    page = opened(served, viewport=LARGE)
    expect(page.locator(f"{CAB} .map-canvas")).to_be_attached()
    zoom = 'window[document.querySelector("[data-map]").dataset.map].getZoom()'
    before = page.evaluate(zoom)
    middle = page.evaluate(
        """() => { const map = window[document.querySelector("[data-map]").dataset.map];
          const box = map.getContainer().getBoundingClientRect();
          const {x, y} = map.latLngToContainerPoint([-38.4987, -127.9999]);
          return [box.x + x, box.y + y]; }"""
    )
    page.mouse.click(*middle)
    page.wait_for_function(f"{zoom} > {before}")
