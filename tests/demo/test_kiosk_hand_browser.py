"""The hand of the stage at the kiosk: a visit that is cut short begins anew, one order whatever."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.views.kiosk.kiosk_screens import FakeKiosk, fake_kiosk
from tests.views.ride_pages import NOON

pytestmark = [pytest.mark.browser, pytest.mark.database]
WANTED = {"language": "ar", "drop": "Central Station", "car": "mini", "name": "Lapwing"}
REFERENCES = {"visit": "v" * 16, "form_token": "f" * 24}
HAND = """async ([wanted, stands]) => {
  const { book } = await import("/static/js/demo/kiosk_hand.js");
  return book(() => document, wanted, async () => stands);
}"""


@pytest.fixture
def kiosk(tmp_path: Path, browser: Browser) -> Iterator[FakeKiosk]:
    with fake_kiosk(tmp_path, browser) as made:
        made.order = [made.booked()]
        usual, held = made.document, {"at": NOON.isoformat(), "speed": 0}
        made.document = lambda: usual() | {"clock": held}  # type: ignore[method-assign]
        yield made


def test_a_visit_that_is_cut_short_begins_anew_and_makes_one_order(kiosk: FakeKiosk) -> None:
    tries = []

    def cars(given: dict[str, str]) -> Any:
        tries.append(given)
        if len(tries) > 1:
            return kiosk.cars(given)
        kiosk.beat["out_of_order"] = True  # for a moment: the guest is sent away
        return {"state": "none", "cars": []}

    def beat(given: dict[str, str]) -> Any:
        told = kiosk.beat | {"release": "r1", "csrf": "token"}
        kiosk.beat.pop("out_of_order", None)
        return told

    kiosk.answers |= {"cars": cars, "beat": beat}
    page = kiosk.page()
    expect(page.locator("[data-clock]")).to_have_text("14:00")  # the demo's, in Kolkata
    assert page.evaluate(HAND, [WANTED | REFERENCES, True]) is True
    assert len(tries) == 2
    [order] = [given for name, given in kiosk.asked if name == "order"]
    assert (order["visit"], order["form_token"]) == tuple(REFERENCES.values())


def test_what_need_not_be_booked_any_more_is_not_booked(kiosk: FakeKiosk) -> None:
    page = kiosk.page()
    assert page.evaluate(HAND, [WANTED | REFERENCES, False]) is False
    assert page.locator("body").get_attribute("data-screen") == "check"
    assert [name for name, _given in kiosk.asked if name == "order"] == []
