"""The pencil in Chromium: it opens the form at its field, and nothing leaves the board."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.views.ride_pages import token
from tests.views.served import Served, served_desk, violations

pytestmark = [pytest.mark.browser, pytest.mark.database]


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served_desk(tmp_path, browser) as found:
        yield found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_pencil_opens_its_field_and_the_correction_is_said(served: Served, scheme: str) -> None:
    order_id = served.desk.order("BOOKED", "CALL_DRIVER")
    served.link(order_id)
    page = served.staff(scheme=scheme, reduced_motion="reduce")
    page.goto(f"/rides/{order_id}")
    page.locator('[data-correct="correct-phone"]').click()
    expect(page.locator("#correct-phone")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#correct-phone")).to_be_hidden()
    page.locator('[data-correct="correct-phone"]').press("Enter")
    page.locator("#correct-phone").fill("12")
    page.locator("#correct-phone").press("Enter")
    expect(page.locator("#form-error")).to_be_visible()
    assert violations(page) == []
    page.locator("#correct-phone").fill("+91 22 2778 3300")
    page.locator("#correct-phone").press("Enter")
    expect(page.locator("#said")).to_contain_text("the old number may have it")
    expect(page.locator('[data-from="phone"]')).to_have_text("+91 22 2778 3300")
    assert violations(page) == []


def test_beside_the_board_a_correction_leaves_nothing(served: Served) -> None:
    order_id = served.desk.order("BOOKED", "CALL_DRIVER")
    page = served.staff(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page.goto(f"/?ride={order_id}")
    beside = page.locator("[data-ride]")
    beside.locator('[data-correct="correct-name"]').click()
    expect(page.locator("#correct-name")).to_be_focused()
    page.keyboard.type("Guest Wren")
    page.keyboard.press("Enter")
    expect(beside.locator("[data-from=guest]")).to_have_text("Guest Wren")
    expect(beside.locator("#said")).to_contain_text("The guest is corrected.")
    assert page.url.startswith(f"{served.url}/?")


def correct(served: Served, order_id: int, desk: str = "desk", **facts: str) -> None:
    """Correct the guest at another desk, in a session of its own."""
    client = served.desk.client(name=desk)
    page = client.get(f"/rides/{order_id}").text
    hidden = re.findall(r'name="(shown_\w+)" value="([^"]*)"', page)
    form = {"csrf_token": token(client)} | {name: unescape(text) for name, text in hidden}
    form |= {f"guest_{name.removeprefix('shown_')}": unescape(text) for name, text in hidden}
    answer = client.post(f"/rides/{order_id}/guest", data=form | facts)
    assert answer.status_code == 303


@pytest.mark.parametrize("where", ["/rides/{id}", "/?ride={id}"])
def test_a_correction_at_another_desk_shows_on_an_open_page(served: Served, where: str) -> None:
    order_id = served.desk.order("BOOKED", "CALL_DRIVER", ride={"interval_s": 0.5})
    page = served.staff(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page.goto(where.format(id=order_id))
    ride = page.locator("[data-ride]")
    expect(ride.locator("[data-from=guest]")).to_have_text("Guest Heron")
    correct(served, order_id, guest_name="Guest Wren", guest_room="7", guest_phone="022 2778 3300")
    expect(ride.locator("[data-from=guest]")).to_have_text("Guest Wren")
    expect(ride.locator("[data-from=room]")).to_have_text("Room 7")
    phone = ride.locator('[data-from="phone"]')
    expect(phone).to_have_attribute("href", "tel:+912227783300")
    expect(ride.locator("[data-out]")).to_contain_text("+91 22 2778 3300")
    expect(ride.locator("#correct-name")).to_have_value("Guest Wren")
    if where.startswith("/rides"):
        expect(page).to_have_title(re.compile("Guest Wren"))
    # what was not there, and what is not there any more
    correct(served, order_id, guest_phone="", guest_room="")
    expect(phone).to_have_count(0)
    expect(ride.locator("[data-from=room]")).to_have_count(0)
    correct(served, order_id, guest_phone="022 2778 3300")
    expect(phone).to_have_text("+91 22 2778 3300")
    # the new parts work as the old ones did
    ride.locator('[data-correct="correct-phone"]').click()
    expect(ride.locator("#correct-phone")).to_be_focused()
    with page.expect_response(lambda answer: answer.url.endswith("/links/rider")):
        ride.locator('[data-link-use="rider"]').click()
    expect(ride.locator("[data-link-row]")).to_be_visible()


def test_words_being_typed_stay_and_only_their_own_field_asks(served: Served) -> None:
    order_id = served.desk.order("BOOKED", "CALL_DRIVER", ride={"interval_s": 0.5})
    page = served.staff(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page.goto(f"/rides/{order_id}")
    page.locator('[data-correct="correct-room"]').click()
    page.locator("#correct-room").fill("41")
    correct(served, order_id, guest_name="Guest Wren")
    expect(page.locator("[data-from=guest]")).to_have_text("Guest Wren")
    expect(page.locator("#correct-name")).to_have_value("Guest Wren")
    expect(page.locator("#correct-room")).to_have_value("41")
    expect(page.locator("#correct-room")).to_be_focused()
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("The guest is corrected.")
    expect(page.locator("[data-from=guest]")).to_have_text("Guest Wren")
    expect(page.locator("[data-from=room]")).to_have_text("Room 413")
    # the same field at both desks: the colleague's word is not overwritten without a question
    page.locator('[data-correct="correct-room"]').click()
    page.locator("#correct-room").fill("500")
    correct(served, order_id, guest_room="600")
    expect(page.locator("[data-from=room]")).to_have_text("Room 600")
    page.locator("#correct-room").press("Enter")
    expect(page.locator("#form-error")).to_contain_text("A colleague corrected this guest")
    expect(page.locator("#correct-room")).to_have_value("500")
