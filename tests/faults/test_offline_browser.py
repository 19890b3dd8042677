"""A browser without network shows that, queues nothing, and sends nothing once it has network."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from bench.faults.shop import PASSWORD, STAFF, Service, Shop, shop
from tests.rides.desk_world import DROP, PICKUP
from tests.running import whole
from tests.sandbox.serving import waitress

pytestmark = pytest.mark.browser
BAND = "[data-offline-band]"


@dataclass
class Seen:
    """A page at a desk, and the POST requests from it."""

    desk: Shop
    page: Page
    url: str
    posted: list[str]


@pytest.fixture
def seen(tmp_path: Path, browser: Browser) -> Iterator[Seen]:
    with shop(tmp_path, Service().handle, durable=False) as desk, waitress(whole(desk.app)) as url:
        context = browser.new_context()
        page, posted = context.new_page(), []
        page.on(
            "request",
            lambda request: posted.append(request.url) if request.method == "POST" else None,
        )
        page.goto(f"{url}/sign-in")
        page.fill("[name=name]", STAFF[0])
        page.fill("[name=password]", PASSWORD)
        page.click("main button[type=submit]")
        page.wait_for_url(f"{url}/")
        posted.clear()
        yield Seen(desk, page, url, posted)
        context.close()


def test_offline_a_ride_can_not_be_booked_and_is_not_when_the_network_comes_back(
    seen: Seen,
) -> None:
    page = seen.page
    trip = (
        f"pickup_lat={PICKUP.lat}&pickup_lng={PICKUP.lng}&drop_lat={DROP.lat}&drop_lng={DROP.lng}"
    )
    page.goto(f"{seen.url}/rides/new?show=1&{trip}")
    # the guest search posts the typed text shortly after
    with page.expect_response("**/guests.json"):
        page.fill("[name=guest_name]", "Guest Heron")
    seen.posted.clear()
    page.context.set_offline(True)
    expect(page.locator(BAND)).to_be_visible()
    page.locator("[data-book-go]").click(force=True)
    page.keyboard.press("Control+Enter")
    assert seen.posted == []
    page.context.set_offline(False)
    expect(page.locator(BAND)).to_be_hidden()
    page.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )
    assert seen.posted == []
    assert seen.desk.orders() == []
    expect(page.locator("[name=guest_name]")).to_have_value("Guest Heron")
    page.locator("[data-book-go]").click()
    page.wait_for_url(re.compile(r"/rides/\d+$"))
    (order,) = seen.desk.orders()
    assert page.url == f"{seen.url}/rides/{order.id}"


def test_offline_the_buttons_of_a_ride_are_off_and_nothing_is_sent_when_the_network_comes_back(
    seen: Seen,
) -> None:
    page, order_id = seen.page, seen.desk.send()
    page.goto(f"{seen.url}/rides/{order_id}")
    share = page.locator("button[data-online][data-link-use=follower]")
    expect(share).to_be_enabled()
    page.context.set_offline(True)
    expect(page.locator(BAND)).to_be_visible()
    for button in page.locator("button[data-online]").all():
        expect(button).to_be_disabled()
    share.click(force=True)
    page.context.set_offline(False)
    expect(page.locator(BAND)).to_be_hidden()
    page.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )
    assert seen.posted == []
