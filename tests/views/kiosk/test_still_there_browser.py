""" "Still there?" shows nothing of the visit, and whoever stands there may start over."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.views.kiosk.kiosk_screens import (
    LAYOUTS,
    FakeKiosk,
    at,
    close,
    fake_kiosk,
    press,
    to_check,
)
from tests.views.kiosk.measured import faults

pytestmark = [pytest.mark.browser, pytest.mark.database]
NAME = "anna"
# what lies on top at the place of the guest's name, and whether one can see through it
COVER = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walker.nextNode()) {
    if (walker.currentNode.data.trim() !== "Anna") continue;
    range.selectNodeContents(walker.currentNode);
    const box = range.getBoundingClientRect();
    const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    const sheet = top.closest(".k-sheet");
    return [sheet?.dataset.sheet, sheet && getComputedStyle(sheet).backgroundColor];
  }
  return null;
}"""


@pytest.fixture
def kiosk(tmp_path: Path, browser: Browser) -> Iterator[FakeKiosk]:
    with fake_kiosk(tmp_path, browser) as made:
        yield made


def asked(kiosk: FakeKiosk, layout: str = "tablet") -> Page:
    """A kiosk that asks a guest, who is about to book, whether they are still there."""
    page = kiosk.page(layout, before=lambda page: page.clock.install())
    to_check(page, name=NAME)
    at(page, "check")
    page.clock.fast_forward(91_000)
    expect(page.get_by_role("alertdialog", name="Still there?")).to_be_visible()
    return page


def test_the_question_hides_the_guests_name_and_all_else_of_the_visit(kiosk: FakeKiosk) -> None:
    page = asked(kiosk)
    sheet, colour = page.evaluate(COVER)
    assert sheet == "there"
    assert colour.startswith("rgb("), "nothing shines through"
    assert "Anna" not in page.get_by_role("alertdialog").inner_text()


def test_start_over_beside_it_ends_the_visit_and_any_other_touch_goes_on(
    kiosk: FakeKiosk,
) -> None:
    page = asked(kiosk)
    page.mouse.click(40, 40)
    expect(page.get_by_role("alertdialog")).to_have_count(0)
    at(page, "check")
    page.clock.fast_forward(91_000)
    page.get_by_role("button", name="Go on").click()
    at(page, "check")
    page.clock.fast_forward(91_000)
    page.get_by_role("button", name="Start over").last.click()
    at(page, "start")
    expect(page.locator("body")).not_to_contain_text("Anna")
    assert [given["how"] for name, given in kiosk.requests if name == "end"] == ["left"]
    assert [name for name, _ in kiosk.requests if name == "order"] == []


@pytest.mark.parametrize("layout", LAYOUTS)
def test_both_answers_have_room_on_each_layout(kiosk: FakeKiosk, layout: str) -> None:
    mm, bottom = LAYOUTS[layout][2:]
    found = []
    for language in ("de", "hi"):
        page = kiosk.page(layout, before=lambda page: page.clock.install())
        press(page, f"lang-{language}", "start")
        for aids in ((), ("large", "lower")):
            press(page, *(f"aid-{aid}" for aid in aids))
            page.clock.fast_forward(61_000)
            page.locator('[data-press="there-over"]').wait_for()
            wrong = faults(page, mm, bottom, frozenset(aids))
            found += [(language, *aids, each) for each in wrong]
            press(page, "here")
        close(page)
    assert found == []
