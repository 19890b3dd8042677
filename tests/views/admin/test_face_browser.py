"""A property's logo and colour in a browser: set by a manager, seen by guests, light and dark."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from ridedash.store.models.people import Property, Staff
from tests.views.admin.test_face import SVG
from tests.views.served import Served, served_desk, violations

pytestmark = [pytest.mark.browser, pytest.mark.database]


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served_desk(tmp_path, browser) as found:
        desk = found.desk
        desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "role", "manager"))
        yield found


def file(content: bytes) -> Any:
    return {"name": "logo.svg", "mimeType": "image/svg+xml", "buffer": content}


def is_drawn(page: Page) -> bool:
    """Whether the logo has arrived and been decoded."""
    logo = page.locator(".house-logo").first
    expect(logo).to_be_visible()
    return bool(logo.evaluate("async img => { await img.decode(); return img.naturalWidth > 0; }"))


def test_a_manager_chooses_a_face_and_a_guest_sees_it(served: Served) -> None:
    page = served.staff(viewport={"width": 1280, "height": 800})
    page.goto("/admin/property")
    page.locator("#logo").set_input_files(file(b" " * 200_001))
    assert not page.locator("#logo").evaluate("field => field.checkValidity()")
    page.locator("#logo").set_input_files(file(SVG))
    assert page.locator("#logo").evaluate("field => field.checkValidity()")
    page.locator("#colour").fill("#ffd60a")
    expect(page.get_by_label("Use our own colour")).to_be_checked()
    page.get_by_role("button", name="Save this look").click()
    expect(page.get_by_role("status").filter(has_text="Saved, without")).to_be_visible()
    assert is_drawn(page)
    assert violations(page) == []

    with served.desk.services.db.read() as s:
        prop = s.get_one(Property, served.desk.ids["desk.property"])
    link = served.link(served.desk.order("BOOKED", "CLIENT_LOCATED", otp="4821"))
    for scheme in ("light", "dark"):
        phone = served.phone(scheme, reduced_motion="reduce")
        for address in (link, f"/sign-in?at={prop.door}"):
            phone.goto(address)
            assert is_drawn(phone)
            assert violations(phone) == [], (address, scheme)
    phone.goto(link)
    expect(phone.locator(".house-band")).to_have_css("background-color", "rgb(255, 214, 10)")

    phone.goto(f"/face/{prop.logo}")  # the file alone: a picture without scripts
    assert phone.evaluate("document.querySelectorAll('script, [onclick]').length") == 0
    assert phone.evaluate("origin") == "null"
