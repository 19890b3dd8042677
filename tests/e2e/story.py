"""What a person at the desk does, as steps that tests put together; each waits for what it leads
to.
"""

import re

from playwright.sync_api import Page, expect

from tests.e2e.conftest import control, shot
from tests.running import Running
from tests.views.served import violations


def choose_trip(page: Page, drop: str = "airport") -> None:
    """Open the picker; the pickup is the hotel; type a drop and take the first place that is
    offered.
    """
    page.goto("/rides/new")
    expect(page.get_by_role("combobox", name="Pickup")).to_have_value("Grand Meridian Hotel")
    field = page.get_by_role("combobox", name="Drop")
    field.fill(drop)
    first = page.get_by_role("listbox", name="Drop").get_by_role("option").first
    expect(first).to_be_visible()
    field.press("ArrowDown")
    field.press("Enter")
    expect(page.locator('[data-product="mini"] .product-radio')).to_be_enabled()


def choose_car(page: Page, category: str, seats: int | None = None) -> None:
    """Take one product card, and for share the number of seats."""
    card = page.locator(f'[data-product="{category}"]')
    radio = card.locator(".product-radio")
    expect(radio).to_be_enabled()
    card.locator(".product-face").click()
    expect(radio).to_be_checked()
    if seats is not None:
        card.locator(f'input[name=seats][value="{seats}"]').check()


def press_book(page: Page, guest: str) -> str:
    """Fill in the guest, press the button that names car and price, land on the ride. Returns the
    ride's path.
    """
    page.get_by_label("Guest name").fill(guest)
    button = page.get_by_role("button", name=re.compile("^Book "))
    expect(button).to_have_text(re.compile(r"₹"))
    button.click()
    page.wait_for_url(re.compile(r"/rides/\d+$"))
    return page.url


def book(
    page: Page, category: str, guest: str, drop: str = "airport", seats: int | None = None
) -> str:
    """The whole of picking and booking."""
    choose_trip(page, drop)
    choose_car(page, category, seats)
    return press_book(page, guest)


def record_statuses(page: Page) -> None:
    """Keep, in the page, every status that it ever shows, from now on."""
    page.evaluate(
        """() => {
          const ride = document.querySelector("[data-ride]");
          const seen = (window.seenStatuses = [ride.dataset.status]);
          new MutationObserver(() => {
            if (seen.at(-1) !== ride.dataset.status) seen.push(ride.dataset.status);
          }).observe(ride, { attributes: true, attributeFilter: ["data-status"] });
        }"""
    )


def statuses(page: Page) -> list[str]:
    """What record_statuses saw, without the empty one before the booking."""
    return [status for status in page.evaluate("window.seenStatuses") if status]


def wait_status(page: Page, status: str) -> None:
    """Wait until the page shows this status of the service."""
    expect(page.locator("[data-ride]")).to_have_attribute("data-status", status)


def open_panel(page: Page, label: str) -> None:
    """Open what staff can do by its label, once the page offers it: its panels follow its
    status.
    """
    page.locator('summary:not([aria-disabled="true"])', has_text=label).click()


def expect_no_violations(page: Page, name: str) -> None:
    """axe finds nothing on the page as it is; its report is the message when it does."""
    found = violations(page)
    assert found == [], name


def look(page: Page, name: str) -> None:
    """Both kinds of look at a page: axe's, and a picture for people."""
    expect_no_violations(page, name)
    shot(page, name)


def hold(desk: Running) -> None:
    """From now on the sandbox takes its time: each state lasts for most of a minute, or until
    `reach` moves on.
    """
    control(desk, "speed", speed=1)


def reach(page: Page, desk: Running, status: str) -> None:
    """Leap to where the last booking has this status, and wait until the page shows it.

    The clock is held.
    """
    # it is booked
    expect(page.locator("[data-ride]")).to_have_attribute("data-status", re.compile("."))
    phases = control(desk, "ledger")["bookings"][-1]["phases"]
    at = next(phase["at"] for phase in phases if phase["status"] == status)
    control(desk, "advance", seconds=max(0.0, at - control(desk, "clock")["now"]))
    wait_status(page, status)


def look_at(page: Page, desk: Running, status: str, name: str) -> None:
    """Go on to a status, and take a picture of it; what axe says of each state,
    tests/views/test_axe.py asks.
    """
    reach(page, desk, status)
    shot(page, name)
    wait_status(page, status)  # it is still what we looked at
