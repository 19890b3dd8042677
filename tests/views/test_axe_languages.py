"""axe finds nothing on pages in any language: direction, marks of language, contrast.

Each run checks a few pages in Arabic. RIDEDASH_TEST_LANGUAGES=all checks every page and state in
all languages but English, light and dark, in half an hour; test_axe.py checks English.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from ridedash.store import properties
from ridedash.wording.languages import ENGLISH, LANGUAGES
from tests.views.kiosk.kiosk_screens import FakeKiosk, press, walk
from tests.views.ride_pages import ENDS, HASH, NOON, ORDER_STATES, STATUSES
from tests.views.served import PHONE, Served, served_desk, violations
from tests.views.test_axe import ADDRESSES, DESKTOP, FILES, routes

pytestmark = [pytest.mark.browser, pytest.mark.database]
ALL = os.environ.get("RIDEDASH_TEST_LANGUAGES") == "all"
by_hand = pytest.mark.skipif(not ALL, reason="takes minutes: RIDEDASH_TEST_LANGUAGES=all")
in_each = pytest.mark.parametrize("code", [code for code in LANGUAGES if code != ENGLISH])
LINKS = ("rider", "follower")
OVER = ("REJECTED", "NOT_SENT", "CLOSED_NOT_BOOKED", "FAILED")  # these have no links
# no pages in a reader's language
OTHERS = {"health.ready", "sandbox.show"}


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served_desk(tmp_path, browser) as found:
        home = found.desk.ids["desk.property"]
        found.desk.add(lambda s: properties.add_staff(s, home, "boss", HASH, "admin", NOON))
        yield found


def boss(served: Served, code: str, **options: Any) -> Page:
    """A signed-in page of a user who works in this language, in a browser that prefers it."""

    def choose(s: Any) -> None:
        found = properties.find_staff(s, "boss")
        assert found is not None
        found.language = code

    served.desk.add(choose)
    return served.staff("boss", locale=LANGUAGES[code].tag, reduced_motion="reduce", **options)


def faults(page: Page, address: str, code: str) -> list[str]:
    """What axe finds on a page, and a fault if the page is not in this language."""
    answer = page.goto(address)
    assert answer is not None
    assert answer.status == 200, address
    found = violations(page)
    lang = page.locator("html").get_attribute("lang")
    if lang != LANGUAGES[code].tag:
        found.append(f"its language is {lang}")
    return [f"{code} {address[:40]}: {each}" for each in found]


def rides(served: Served, code: str) -> Iterator[tuple[int, bool]]:
    """A ride in each state of each kind, and an order in each state, of a guest with this language;
    for each its id, and whether it may have links.
    """
    for kind, statuses in STATUSES.items():
        for status in (*statuses, *ENDS):
            yield served.desk.order("BOOKED", status, kind, otp="4821", language=code), True
    for state in ORDER_STATES:
        yield served.desk.order(state, language=code), state not in OVER


def test_axe_finds_nothing_on_pages_from_right_to_left(served: Served) -> None:
    order_id = served.desk.order("BOOKED", "CLIENT_LOCATED", otp="4821", language="ar")
    desk = boss(served, "ar", viewport=DESKTOP)
    phone = served.phone("dark", reduced_motion="reduce")
    found = faults(desk, "/", "ar") + faults(desk, f"/rides/{order_id}", "ar")
    found += faults(phone, served.link(order_id), "ar")
    assert found == []


@by_hand
@in_each
def test_axe_finds_nothing_on_any_route(served: Served, code: str) -> None:
    order_id = served.desk.order("BOOKED", "COMPLETED", language=code)
    rules = routes(served.desk)
    desk = boss(served, code, viewport=DESKTOP)
    phone = boss(served, code, viewport=PHONE, color_scheme="dark")
    found = []
    for endpoint in sorted(rules.keys() - FILES - OTHERS):
        rule = rules[endpoint].replace("<int:order_id>", str(order_id))
        for page in (desk, phone):
            address = ADDRESSES[endpoint](served, order_id) if endpoint in ADDRESSES else rule
            found += faults(page, address, code)
    assert found == []


@by_hand
@in_each
def test_axe_finds_nothing_in_any_state_of_a_ride(served: Served, code: str) -> None:
    desk = boss(served, code, viewport=DESKTOP)
    phone = served.phone(reduced_motion="reduce")
    found = []
    tag = LANGUAGES[code].tag
    for order_id, linked in rides(served, code):
        links = [f"{served.link(order_id, kind)}?lang={tag}" for kind in LINKS if linked]
        for scheme in ("light", "dark"):
            desk.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            phone.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            found += faults(desk, f"/rides/{order_id}", code)
            for link in links:
                found += faults(phone, link, code)
    assert found == []


@by_hand
@in_each
def test_axe_finds_nothing_on_any_screen_of_a_kiosk(served: Served, code: str) -> None:
    found, tag = [], LANGUAGES[code].tag
    for scheme, aids in (("light", ()), ("dark", ()), ("light", ("aid-contrast",))):
        kiosk = FakeKiosk(served)
        page = kiosk.page("tablet-portrait", voices=True, color_scheme=scheme)
        press(page, *aids)
        for screen in walk(kiosk, page, tag):
            found += [f"{tag} {screen} {scheme} {aids}: {each}" for each in violations(page)]
        page.context.close()
    assert found == []
