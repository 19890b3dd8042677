"""The page that pairs a screen works without a keyboard: its own keys write the code."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from ridedash.store.kiosks import LETTERS
from tests.views.kiosk.devices import code_of, new_device
from tests.views.served import Served, served_desk, violations

pytestmark = [pytest.mark.browser, pytest.mark.database]
KEY_PX = 20 / 25.4 * 96  # 20 mm on a screen that was not measured
# two fingers in turn, faster than the first one leaves the screen
TWO_FINGERS = """([one, two]) => {
  const touch = (letter, type, id) => {
    const key = document.querySelector(`[data-letter="${letter}"]`);
    const how = { pointerId: id, isPrimary: id === 1, bubbles: true, cancelable: true };
    key.dispatchEvent(new PointerEvent(type, how));
  };
  touch(one, "pointerdown", 1);
  touch(two, "pointerdown", 2);
  touch(one, "pointerup", 1);
  touch(two, "pointerup", 2);
}"""


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served_desk(tmp_path, browser) as found:
        yield found


def test_a_code_is_typed_with_the_keys_of_the_page_and_with_a_real_keyboard(
    served: Served,
) -> None:
    code = code_of(served.desk, new_device(served.desk))
    page = served.phone(viewport={"width": 820, "height": 1180})
    page.goto("/kiosk/pair")
    field = page.get_by_label("Pairing code")
    expect(field).to_have_attribute("inputmode", "none")  # no other keyboard covers the keys
    keys = page.locator("[data-keys] button")
    expect(keys).to_have_count(len(LETTERS) + 1)
    for key in keys.all():
        box = key.bounding_box()
        assert box
        assert min(box["width"], box["height"]) >= KEY_PX - 0.5
    assert violations(page) == []
    page.evaluate(TWO_FINGERS, [code[0], code[1]])
    expect(field).to_have_value(code[:2])
    for letter in code[2:4]:
        page.locator(f'[data-letter="{letter}"]').click()
    page.locator('[data-letter="Z"]').click()
    page.get_by_role("button", name="Delete").click()
    page.keyboard.type(code[4:6].lower())  # the field has kept the focus
    for letter in code[6:]:
        page.locator(f'[data-letter="{letter}"]').press("Enter")
    expect(field).to_have_value(code[:4] + code[4:6].lower() + code[6:])
    page.get_by_role("button", name="Pair this screen").click()
    page.wait_for_url("**/kiosk")
    expect(page.locator("[data-press]").first).to_be_visible()


@pytest.mark.parametrize(("width", "height"), [(1180, 820), (820, 1180), (1024, 600), (1080, 1920)])
def test_the_field_and_every_key_are_on_the_screen_at_once(
    served: Served, width: int, height: int
) -> None:
    page = served.phone(viewport={"width": width, "height": height})
    page.goto("/kiosk/pair")
    expect(page.locator("[data-keys]")).to_be_visible()
    last = page.get_by_role("button", name="Delete").bounding_box()
    assert last
    assert last["y"] + last["height"] <= height
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
