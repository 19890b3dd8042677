"""Guests at kiosks need the desk: on its board calls ring, are answered, and codes are made."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from ridedash.store.models.kiosks import KioskAsk, KioskVisit
from ridedash.store.models.people import Staff
from tests.views.admin.test_kiosks import add_kiosk
from tests.views.board.test_kiosks import ask, ring
from tests.views.board.test_pages_browser import polled
from tests.views.served import Served, served_desk, violations

pytestmark = [pytest.mark.browser, pytest.mark.database]

DESKTOP = {"width": 1280, "height": 800}


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served_desk(tmp_path, browser) as found:
        yield found


def test_the_desk_hears_answers_and_makes_a_code_without_leaving_the_board(
    served: Served,
) -> None:
    desk = served.desk
    kiosk_id = add_kiosk(desk, rule="approval")
    desk.add(lambda s: s.query(Staff).filter_by(id=desk.ids["desk"]).update({"sound": True}))
    page = served.staff(viewport=DESKTOP)
    page.goto("/")
    polled(page)
    page.evaluate(
        "window.chimes = 0; document.addEventListener('ridedash:chime', () => window.chimes++)"
    )

    visit = ring(desk, kiosk_id)
    calls = page.locator("[data-calls] .call")
    expect(calls).to_have_count(1)
    expect(page.locator("[data-kiosk-asks]")).to_contain_text("1 asks for help")
    assert page.evaluate("window.chimes") == 1
    number = ask(desk, kiosk_id)
    expect(calls).to_have_count(2)
    assert page.evaluate("window.chimes") == 2
    assert violations(page) == []
    waiting = page.locator("[data-what=ask]")
    expect(waiting).to_contain_text("Ana wants to go to Airport")

    # a poll leaves what a user is choosing as it is
    waiting.get_by_role("combobox").select_option("ask")
    page.get_by_role("button", name="Coming").click()
    expect(calls).to_have_count(1)
    expect(waiting.get_by_role("combobox")).to_have_value("ask")
    waiting.get_by_role("button", name="Decline").click()
    expect(calls).to_have_count(0)
    expect(page.locator("[data-kiosk-asks]")).to_be_hidden()
    with desk.services.db.read() as s:
        assert s.get_one(KioskVisit, visit).help_answered_by == desk.ids["desk"]
        assert s.get_one(KioskAsk, number).reason == "ask"

    page.get_by_role("link", name="Kiosk code").click()
    dialog = page.get_by_role("dialog", name="Kiosk code")
    dialog.get_by_text("The house pays", exact=True).click()
    assert violations(page) == []
    dialog.get_by_role("button", name="Make a code").click()
    expect(dialog.get_by_text("The house pays.")).to_be_visible()
    shown = dialog.locator("[data-kcode-digits]").inner_text()
    assert len(shown.replace(" ", "")) == 6
    assert page.url.endswith("/")


def top(part: Locator) -> float:
    """Where a part of the page begins, in px."""
    box = part.bounding_box()
    assert box is not None
    return box["y"]


def test_a_guest_who_calls_is_in_view_while_the_mouse_rests_on_a_row(served: Served) -> None:
    desk = served.desk
    kiosk_id = add_kiosk(desk)
    for _ in range(14):
        desk.order("BOOKED", "CALL_DRIVER")
    page = served.staff(viewport=DESKTOP)
    page.goto("/")
    polled(page)
    page.locator(".row").last.hover()
    visit = ring(desk, kiosk_id)
    call = page.locator("[data-calls] .call")
    expect(call).to_be_in_viewport(ratio=1)
    # a colleague answers the call
    desk.add(lambda s: setattr(s.get_one(KioskVisit, visit), "help_answered_at", desk.now))
    expect(call).to_have_count(0)
