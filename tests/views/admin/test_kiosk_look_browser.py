"""The look of kiosks in a browser: a picture is seen in both shapes before and after it is sent."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from ridedash.store.models.people import Staff
from tests.views.admin.test_kiosk_look import PHOTO
from tests.views.served import Served, served_desk, violations

pytestmark = [pytest.mark.browser, pytest.mark.database]
WIDE = "[data-look=wide]"


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served_desk(tmp_path, browser) as found:
        desk = found.desk
        desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "role", "manager"))
        yield found


def file(content: bytes) -> Any:
    return {"name": "lobby.jpg", "mimeType": "image/jpeg", "buffer": content}


def shape(page: Page, image: str) -> float:
    """Width / height of a picture once it is decoded."""
    expect(page.locator(image)).to_be_visible()
    script = "async img => { await img.decode(); return img.naturalWidth / img.naturalHeight; }"
    return float(page.locator(image).evaluate(script))


def test_a_manager_sees_a_picture_before_it_is_sent_and_as_kiosks_show_it(served: Served) -> None:
    page = served.staff(viewport={"width": 390, "height": 800})
    page.goto("/admin/property")
    expect(page.locator(WIDE)).to_be_hidden()
    page.locator("#picture").set_input_files(file(b" " * 8_000_001))
    assert not page.locator("#picture").evaluate("field => field.checkValidity()")
    expect(page.locator(WIDE)).to_be_hidden()
    page.locator("#picture").set_input_files(file(PHOTO))
    assert page.locator("#picture").evaluate("field => field.checkValidity()")
    assert shape(page, WIDE) == pytest.approx(1.6)
    middle = page.locator(WIDE).get_attribute("src") or ""
    assert middle.startswith("data:image/jpeg")
    page.locator("#focus").select_option("top")
    expect(page.locator(WIDE)).not_to_have_attribute("src", middle)
    page.get_by_role("button", name="Save the kiosks' look").click()
    expect(page.get_by_role("status").filter(has_text="Saved")).to_be_visible()
    assert (page.locator(WIDE).get_attribute("src") or "").startswith("/face/")
    assert shape(page, WIDE) == pytest.approx(1.6)
    assert shape(page, "[data-look=tall]") == pytest.approx(0.625)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert violations(page) == []
    page.get_by_role("button", name="Remove the picture").click()
    expect(page.get_by_role("button", name="Remove the picture")).to_have_count(0)
    expect(page.locator(WIDE)).to_be_hidden()
