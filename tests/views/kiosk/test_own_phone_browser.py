"""A guest books on their own phone in Chromium, in light and dark, in English and Arabic."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from ridedash.places import SandboxPlaces
from ridedash.service.client import RideClient
from ridedash.service.transport.http import Http
from ridedash.store import kiosks
from ridedash.store.models.kiosks import KioskKind
from ridedash.store.models.people import Property
from ridedash.store.own_phones import make_link
from tests.views.fake_service import FakeService
from tests.views.served import Served, served_desk, violations

pytestmark = [pytest.mark.browser, pytest.mark.database]
SERVICE = "http://127.0.0.1:9"
SMALL = "[...document.querySelectorAll('main button, main input, main a')].filter((part) => " + (
    "part.type !== 'hidden' && part.getBoundingClientRect().height < 44).map((p) => p.outerHTML)"
)


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    http = Http(FakeService().transport())
    with served_desk(tmp_path, browser) as found:
        services = found.desk.services
        services.client = RideClient(http, SERVICE, "the key")
        services.geocoder = SandboxPlaces(http, SERVICE)
        with services.db.write() as s:
            home = s.get_one(Property, found.desk.ids["desk.property"])
            home.pickup_name, home.pickup_lat, home.pickup_lng = "Lobby", -38.5, -128.0
        yield found
    http.close()


def link(served: Served) -> str:
    desk = served.desk
    with desk.services.db.write() as s:
        home = desk.ids["desk.property"]
        kiosk = kiosks.new_device(s, home, KioskKind.KIOSK, "Lobby", desk.now)
        return f"/k/{make_link(s, kiosk.id, home, 'v' * 20, desk.now)}"


def looked_at(page: Page) -> None:
    """Check that axe finds nothing, each control is large enough, and the page is not too wide."""
    assert violations(page) == [], page.url
    assert page.evaluate(SMALL) == [], page.url
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth"), page.url


@pytest.mark.parametrize(("scheme", "language"), [("light", "en"), ("dark", "ar")])
def test_a_guest_answers_every_question_and_books(
    served: Served, scheme: str, language: str
) -> None:
    page = served.phone(scheme, locale=language, reduced_motion="reduce")
    page.goto(link(served))
    looked_at(page)
    page.locator("main form button").click()
    expect(page.locator("#q")).to_be_visible()
    looked_at(page)
    page.locator("#q").fill("airport")
    page.locator("#q").press("Enter")
    place = page.locator(".phone-pick")
    expect(place).to_contain_text("Meridian Airport")
    looked_at(page)
    place.click()
    looked_at(page)
    page.locator(".phone-car").filter(has_text="Mini").click()
    page.locator("#name").fill("Ana")
    looked_at(page)
    page.locator("main form button").click()
    expect(page.locator(".phone-total")).to_contain_text("Mini")
    looked_at(page)
    page.locator(".phone-book").click()
    expect(page.locator(".phone-wait")).to_be_visible()
    looked_at(page)
