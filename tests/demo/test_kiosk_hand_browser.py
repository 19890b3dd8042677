"""The stage presses at the kiosk: a visit that is cut short begins anew, and makes one order."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.views.kiosk.kiosk_screens import FakeKiosk, fake_kiosk

pytestmark = [pytest.mark.browser, pytest.mark.database]
WANTED = {"language": "ar", "drop": "Central Station", "car": "mini", "name": "Lapwing"}
REFERENCES = {"visit": "v" * 16, "form_token": "f" * 24}
HAND = """async ([wanted, stands]) => {
  const { book } = await import("/static/js/demo/kiosk_hand.js");
  return book(() => document, wanted, async () => stands);
}"""

# the visit ends, as when a page comes from the browser's memory, just before the first answer about
# cars
CUT = """() => {
  const usual = globalThis.fetch;
  globalThis.fetch = async (path, options) => {
    const answer = await usual(path, options);
    if (path !== "/kiosk/cars") return answer;
    globalThis.fetch = usual;
    dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
    return answer;
  };
}"""


@pytest.fixture
def kiosk(tmp_path: Path, browser: Browser) -> Iterator[FakeKiosk]:
    with fake_kiosk(tmp_path, browser) as made:
        made.order = [made.booked()]
        yield made


def test_a_visit_that_is_cut_short_begins_anew_and_makes_one_order(kiosk: FakeKiosk) -> None:
    page = kiosk.page()
    page.evaluate(CUT)
    assert page.evaluate(HAND, [WANTED | REFERENCES, True]) is True
    names = [name for name, _given in kiosk.requests]
    assert names.count("cars") == 2
    [order] = [given for name, given in kiosk.requests if name == "order"]
    assert (order["visit"], order["form_token"]) == tuple(REFERENCES.values())


def test_what_need_not_be_booked_any_more_is_not_booked(kiosk: FakeKiosk) -> None:
    page = kiosk.page()
    assert page.evaluate(HAND, [WANTED | REFERENCES, False]) is False
    assert page.locator("body").get_attribute("data-screen") == "check"
    assert [name for name, _given in kiosk.requests if name == "order"] == []
