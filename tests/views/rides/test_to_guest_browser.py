"""The ride on the whole screen, for a monitor that is turned to the guest, in Chromium."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy.orm import Session

from ridedash.store.models.people import Property
from ridedash.store.orders import Order, Ride
from tests.views.ride_pages import snapshot_facts
from tests.views.served import Served, served_desk, violations

pytestmark = [pytest.mark.browser, pytest.mark.database]


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served_desk(tmp_path, browser) as found:
        place = {"pickup_lat": -38.5, "pickup_lng": -128.0, "pickup_name": "Main door"}
        found.desk.add(lambda s: s.query(Property).update(place))
        yield found


def turned(served: Served, order_id: int, size: tuple[int, int] = (1280, 800)) -> Page:
    """The ride's page after the key press that shows the ride on the whole screen."""
    page = served.staff(viewport={"width": size[0], "height": size[1]})
    page.goto(f"/rides/{order_id}")
    expect(page.locator("html.scripted")).to_be_attached()
    page.keyboard.press("w")
    expect(page.locator("[data-to-guest]")).to_be_visible()
    return page


def move(served: Served, order_id: int, status: str) -> None:
    """Store another status of the ride, as after a poll."""

    def rows(s: Session) -> None:
        s.get_one(Order, order_id).version += 1
        ride = s.query(Ride).filter_by(order_id=order_id).one()
        ride.status = status
        ride.facts = snapshot_facts("point_to_point", status)

    served.desk.add(rows)


def test_the_screen_for_the_guest_shows_this_ride_alone_and_follows_it(served: Served) -> None:
    order_id = served.desk.order("BOOKED", "CALL_DRIVER", note="Third call", otp="4711")
    page = turned(served, order_id)
    screen = page.locator("[data-to-guest]")
    expect(screen).to_contain_text("arrives in 4 min")
    expect(screen.get_by_label("Number plate K A 0 1 A B 1 2 3 4")).to_be_visible()
    expect(screen).to_contain_text("White · Mini · Tata Tiago")
    expect(screen).to_contain_text("Meet at")
    for private in ("Guest Heron", "412", "Third call", "Concierge desk", "+91", "4711"):
        expect(screen).not_to_contain_text(private)
    move(served, order_id, "CLIENT_LOCATED")
    expect(screen).to_contain_text("Your driver is here")
    page.keyboard.press("Escape")
    expect(screen).to_be_hidden()
    expect(page).to_have_url(f"{served.url}/rides/{order_id}")  # the ride stays open


def test_the_code_is_large_only_after_a_press_and_masked_again_with_the_screen(
    served: Served,
) -> None:
    order_id = served.desk.order("BOOKED", "CLIENT_LOCATED", otp="4711")
    page = turned(served, order_id)
    screen = page.locator("[data-to-guest]")
    expect(screen).not_to_contain_text("4711")
    screen.get_by_role("button", name="Show code").click()
    expect(screen.locator(".to-guest-digits")).to_have_text("4711")
    assert violations(page) == []
    screen.get_by_role("button", name="Back to the desk").click()
    expect(screen).to_be_hidden()
    expect(page.locator("[data-code-digits]")).to_have_text("••••")


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_nothing_on_the_screen_for_the_guest_is_cut(served: Served, size: tuple[int, int]) -> None:
    here = {"otp": "4711", "language": "ar"}  # Arabic lines are higher
    page = turned(served, served.desk.order("BOOKED", "CLIENT_LOCATED", **here), size)
    page.locator("[data-to-guest]").get_by_role("button", name="Show code").click()
    expect(page.locator(".to-guest-digits")).to_have_text("4711")
    words = page.locator(".to-guest-words")
    assert words.evaluate("(each) => each.scrollHeight <= each.clientHeight + 1")
    cut = page.evaluate(
        """() => [...document.querySelectorAll(".to-guest *")].filter((each) =>
             each.getClientRects().length &&
             (each.getBoundingClientRect().right > innerWidth + 1 ||
              each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).display != "inline")
           ).map((each) => each.className || each.localName)"""
    )
    assert cut == []
    lines = page.locator(".to-guest-plate").evaluate(
        "(e) => { const all = document.createRange(); all.selectNodeContents(e.firstChild);"
        " return all.getClientRects().length; }"
    )
    assert lines == 1


def test_a_ride_that_is_over_is_not_shown_to_guests(served: Served) -> None:
    page = served.staff()
    page.goto(f"/rides/{served.desk.order('BOOKED', 'COMPLETED')}")
    expect(page.locator("html.scripted")).to_be_attached()
    page.keyboard.press("w")
    expect(page.locator("[data-key-said]")).to_contain_text("not possible for this ride now")
    expect(page.locator("[data-to-guest]")).to_be_hidden()
