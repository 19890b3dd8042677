"""What a person is typing stays while an answer of the server replaces that part of the page."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.views.served import Served, served_desk

pytestmark = [pytest.mark.browser, pytest.mark.database]
WIDE = {"width": 1280, "height": 900}
SWAPPED = {"attention": ["car_swapped"], "ride": {"previous_plate": "KA01AB9999"}}
CARET = "each => [each.selectionStart, each.selectionEnd, each === document.activeElement]"


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served_desk(tmp_path, browser) as found:
        yield found


def opened(served: Served, order_id: int, where: str) -> Page:
    page = served.staff(viewport=WIDE, reduced_motion="reduce")
    page.goto(f"/?ride={order_id}" if where == "board" else f"/rides/{order_id}")
    expect(page.locator(".state-headline")).to_be_visible()
    return page


@pytest.mark.parametrize("where", ["board", "page"])
def test_a_chosen_reason_stays_while_another_driver_is_looked_for(
    served: Served, where: str
) -> None:
    order_id = served.desk.order("BOOKED", "CALL_DRIVER", ride={"interval_s": 0.5})
    page = opened(served, order_id, where)
    page.locator("summary", has_text="Cancel ride").click()
    chosen = page.locator('[data-action="cancel"] .chip').nth(2)
    chosen.click()
    expect(chosen.locator("input")).to_be_checked()
    served.move(order_id, "ALLOTMENT_RETRYING")
    expect(page.locator('[data-action="cancel"] form')).to_have_count(0)
    served.move(order_id, "CALL_DRIVER")
    expect(page.locator('[data-action="cancel"] form')).to_be_attached()
    expect(chosen.locator("input")).to_be_checked()


def test_an_action_beside_it_leaves_what_is_being_typed_in_the_pane(served: Served) -> None:
    order_id = served.desk.order("BOOKED", "CALL_DRIVER", **SWAPPED)
    page = opened(served, order_id, "board")
    page.locator('[data-correct="correct-name"]').click()
    page.locator("#correct-name").fill("Guest Wrenn")
    page.locator("summary", has_text="Change drop").click()
    page.locator("#drop-name").fill("Old Harb")
    page.locator("#drop-name").press("ArrowLeft")
    seen = page.locator("[data-seen-form] button[data-verb]").first
    with page.expect_response(lambda answer: "/acknowledge" in answer.request.url):
        # pressed by key elsewhere: the focus stays where the words are typed
        seen.evaluate("each => each.form.requestSubmit(each)")
    expect(page.locator("[data-seen-form]:visible")).to_have_count(0)
    expect(page.locator("#correct-name")).to_have_value("Guest Wrenn")
    expect(page.locator("[data-correct-panel]")).to_have_attribute("open", "")
    expect(page.locator("#drop-name")).to_have_value("Old Harb")
    expect(page.locator("#drop-name")).to_be_visible()


def test_a_form_that_was_sent_is_not_filled_again(served: Served) -> None:
    order_id = served.desk.order("BOOKED", "CALL_DRIVER")
    page = opened(served, order_id, "board")
    page.locator('[data-correct="correct-name"]').click()
    page.locator("#correct-name").fill("Guest  Wrenn")
    page.locator("#correct-name").press("Enter")
    expect(page.locator("#said")).to_contain_text("The guest is corrected.")
    expect(page.locator("#correct-name")).to_have_value("Guest Wrenn")
    expect(page.locator("#correct-name")).to_be_hidden()


LIST = "Name;Room;Phone\nGuest Heron;412;98450 11111\nGuest Wren;413;12\nTotal: 2"


def read_list(served: Served, page: Page) -> None:
    page.goto(served.url + "/lists/new")
    page.get_by_label("List", exact=True).fill(LIST)
    page.get_by_role("button", name="Read the list").press("Enter")
    page.wait_for_url(re.compile(r"/lists/\d+$"))


# holds the answers of forms until window.release() is called
HOLD_ANSWERS = """() => {
  const plain = window.fetch;
  const late = new Promise((done) => (window.release = done));
  window.fetch = async (address, how) => {
    const asks = how?.body instanceof FormData;
    window.asked ||= asks;
    const answer = await plain(address, how);
    if (asks) await late;
    return answer;
  };
}"""


def test_prices_that_come_late_leave_what_is_being_typed_in_a_list(served: Served) -> None:
    page = served.staff(viewport=WIDE)
    read_list(served, page)
    page.evaluate(HOLD_ANSWERS)
    page.locator("#list-drop").fill("-38.41, -128.02")
    page.locator("#list-drop").press("Enter")
    page.wait_for_function("() => window.asked")
    page.locator("#list-pickup").fill("Old Harb")
    page.locator("#list-seats").fill("3")
    when = page.locator("#list-when")
    when.fill("tomorow 9:30")
    for _ in range(5):
        when.press("ArrowLeft")
    before = page.locator(".list-table").element_handle()
    page.evaluate("release()")
    assert before is not None
    before.wait_for_element_state("hidden")  # the answer has replaced it
    expect(page.locator("#list-drop")).to_have_value("-38.41000, -128.02000")
    expect(page.locator("#list-pickup")).to_have_value("Old Harb")
    expect(page.locator("#list-seats")).to_have_value("3")
    expect(when).to_have_value("tomorow 9:30")
    assert when.evaluate(CARET) == [7, 7, True]


def test_another_line_of_a_list_may_be_left_out_while_one_is_corrected(served: Served) -> None:
    page = served.staff(viewport=WIDE)
    read_list(served, page)
    page.get_by_role("link", name="Correct Line 3").press("Enter")
    page.locator("#edit-phone").fill("98450 2")
    page.get_by_role("button", name="Leave out Line 2").click()
    expect(page.get_by_role("button", name="Take in Line 2")).to_be_visible()
    expect(page.locator("#edit-phone")).to_have_value("98450 2")
    page.locator("#edit-phone").fill("98450 22222")
    page.locator("#edit-phone").press("Enter")
    expect(page.get_by_text("+91 98450 22222")).to_be_visible()
    expect(page.locator("#edit-phone")).to_have_count(0)
