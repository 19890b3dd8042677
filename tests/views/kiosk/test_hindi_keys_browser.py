"""The Hindi keyboard: what is frequent is on its first page, also on a narrow screen."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.views.kiosk.kiosk_screens import FakeKiosk, fake_kiosk, press, type_on

pytestmark = [pytest.mark.browser, pytest.mark.database]
# the thirty most frequent letters and signs of wordfreq 3.1.1, its small list of Hindi
FREQUENT = "ाकेरहीनस्ंमितोलपयदजैवबगुभएअशचआ"
KEYS = """() => [...document.querySelectorAll(".k-keyboard [data-press^=key-]")]
  .map((key) => key.dataset.press.slice(4)).filter((name) => /^[^0-9]$/u.test(name))"""


@pytest.fixture
def kiosk(tmp_path: Path, browser: Browser) -> Iterator[FakeKiosk]:
    with fake_kiosk(tmp_path, browser) as made:
        yield made


def letters(page: Page) -> list[str]:
    found: list[str] = page.evaluate(KEYS)
    return found


@pytest.mark.parametrize("layout", ["landscape", "tablet-portrait"])
def test_frequent_letters_come_first_and_the_others_on_the_second_page(
    kiosk: FakeKiosk, layout: str
) -> None:
    page = kiosk.page(layout)
    press(page, "lang-hi", "start", "other", "swap")
    assert set(letters(page)) == set(FREQUENT)
    type_on(page, "राहुल")  # a name, and a word of a street, without a second page
    expect(page.locator("[data-field=query]")).to_have_value("राहुल")
    press(page, "key-rare")
    rare = letters(page)
    assert not set(rare) & set(FREQUENT)
    assert len(rare) == len(FREQUENT)
    press(page, "key-rare")
    assert set(letters(page)) == set(FREQUENT)
