"""Steps of a member of staff, for tests to combine; each waits for its result."""

import re

from playwright.sync_api import Page, expect

from tests.e2e.conftest import READY, control, shot
from tests.running import Running
from tests.views.served import violations


def choose_trip(page: Page, drop: str = "airport") -> None:
    """Open the picker at the hotel, type a drop, and take the first suggested place."""
    page.goto("/rides/new", wait_until=READY)
    expect(page.get_by_role("combobox", name="Pickup")).to_have_value("Grand Meridian Hotel")
    field = page.get_by_role("combobox", name="Drop")
    field.fill(drop)
    first = page.get_by_role("listbox", name="Drop").get_by_role("option").first
    expect(first).to_be_visible()
    field.press("Enter")
    # the cars of an earlier trip are shown until those of this one come
    expect(page.locator("[data-cars]")).not_to_have_attribute("aria-busy", "true")
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
    """Fill in the guest, press the button with car and price; returns the path of the ride."""
    page.get_by_label("Guest name").fill(guest)
    button = page.get_by_role("button", name=re.compile("^Book "))
    expect(button).to_have_text(re.compile(r"₹"))
    button.click()
    page.wait_for_url(re.compile(r"/rides/\d+$"), wait_until=READY)
    return page.url


def book(
    page: Page, category: str, guest: str, drop: str = "airport", seats: int | None = None
) -> str:
    """All steps of picking and booking."""
    choose_trip(page, drop)
    choose_car(page, category, seats)
    return press_book(page, guest)


def record_statuses(page: Page) -> None:
    """Record, in the page, every status that it shows from now on."""
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
    """The statuses of record_statuses, without the empty one before the booking."""
    return [status for status in page.evaluate("window.seenStatuses") if status]


def wait_status(page: Page, status: str) -> None:
    """Wait until the page shows this status of the service."""
    expect(page.locator("[data-ride]")).to_have_attribute("data-status", status)


def open_panel(page: Page, label: str) -> None:
    """Open the panel of an action by its label, once the ride's status allows it."""
    page.locator('summary:not([aria-disabled="true"])', has_text=label).click()


def expect_no_violations(page: Page, name: str) -> None:
    """axe finds nothing on the current page; its report is the failure message."""
    found = violations(page)
    assert found == [], name


def look(page: Page, name: str) -> None:
    """Check a page with axe, and take a screenshot for people."""
    expect_no_violations(page, name)
    shot(page, name)


def hold(desk: Running) -> None:
    """From now on each status of a ride lasts for most of a minute, or until `reach`."""
    control(desk, "speed", speed=1)


def reach(page: Page, desk: Running, status: str) -> None:
    """Advance to this status of the last booking, and wait until the page shows it.

    Call `hold` before, so that the status lasts.
    """
    # wait until the ride is booked
    expect(page.locator("[data-ride]")).to_have_attribute("data-status", re.compile("."))
    phases = control(desk, "ledger")["bookings"][-1]["phases"]
    at = next(phase["at"] for phase in phases if phase["status"] == status)
    control(desk, "advance", seconds=max(0.0, at - control(desk, "clock")["now"]))
    wait_status(page, status)


def look_at(page: Page, desk: Running, status: str, name: str) -> None:
    """Advance to a status and take a screenshot (tests/views/test_axe.py runs axe on each)."""
    reach(page, desk, status)
    shot(page, name)
    wait_status(page, status)  # the status has not changed meanwhile
