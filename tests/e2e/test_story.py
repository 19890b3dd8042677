"""Books a ride of each kind in a real browser, and follows it through all states of its kind."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e import story
from tests.e2e.conftest import control
from tests.running import Running

pytestmark = [pytest.mark.browser, pytest.mark.database]

StaffPage = Callable[..., Page]


@pytest.mark.parametrize(("size", "scheme"), [("phone", "dark")])
def test_a_city_taxi_from_the_picker_to_the_feedback(
    staff_page: StaffPage, desk: Running, size: str, scheme: str
) -> None:
    page = staff_page(size, scheme)
    name = f"taxi-{size}-{scheme}"
    story.choose_trip(page)
    story.choose_car(page, "mini")
    story.look(page, f"{name}-0-picker")
    story.hold(desk)
    story.press_book(page, f"Guest Heron {size}")
    story.record_statuses(page)
    story.look_at(page, desk, "ALLOTMENT_PENDING", f"{name}-1-finding")
    story.look_at(page, desk, "CALL_DRIVER", f"{name}-2-coming")
    expect(page.locator(".plate")).to_be_visible()
    expect(page.locator("[data-code]")).to_be_hidden()

    story.reach(page, desk, "CLIENT_LOCATED")
    expect(page.locator("#headline")).to_contain_text("Driver is here")
    expect(page.locator("[data-code-digits]")).to_have_text("••••")
    page.get_by_role("button", name="Show code").click()
    expect(page.locator("[data-code-digits]")).to_have_text(re.compile(r"^\d{4}$"))
    story.look(page, f"{name}-3-here")

    story.look_at(page, desk, "IN_PROGRESS", f"{name}-4-riding")
    expect(page.locator("[data-code]")).to_be_hidden()
    assert not re.search(r"••••", page.locator("main").inner_text())
    plate = page.locator(".plate").inner_text()
    story.reach(page, desk, "COMPLETED")
    expect(page.locator(".plate")).to_have_text(plate)
    lines = page.locator("[data-lines]")
    for word in ("Fare", "Service tax", "Total"):
        expect(lines).to_contain_text(word)
    assert story.statuses(page) == [
        "ALLOTMENT_PENDING",
        "CALL_DRIVER",
        "CLIENT_LOCATED",
        "IN_PROGRESS",
        "COMPLETED",
    ]
    send_feedback(page)
    story.look(page, f"{name}-5-done")


def send_feedback(page: Page) -> None:
    page.locator(".star-choice", has_text="5 stars").click()
    page.locator('[data-rating="5"] .chip').first.click()
    page.get_by_label("Anything else?").fill("Thank you")
    page.get_by_role("button", name="Send feedback").click()
    expect(page.locator("main")).to_contain_text("Feedback sent")


@pytest.mark.parametrize(("size", "scheme"), [("phone", "light")])
def test_a_shared_ride_through_all_of_its_states(
    staff_page: StaffPage, desk: Running, size: str, scheme: str
) -> None:
    control(desk, "next", scenario="share_immediate")
    story.hold(desk)
    page = staff_page(size, scheme)
    story.book(page, "share", f"Guest Egret {size}", seats=2)
    story.record_statuses(page)
    for status, word in (
        ("CALL_DRIVER", "coming"),
        ("CLIENT_LOCATED", "here"),
        ("INVOICE", "fare"),
        ("IN_PROGRESS", "riding"),
    ):
        story.look_at(page, desk, status, f"share-{size}-{scheme}-{word}")
    expect(page.locator("[data-route] .stop").first).to_be_visible()
    story.reach(page, desk, "COMPLETED")
    story.look(page, f"share-{size}-{scheme}-done")
    assert story.statuses(page) == [
        "CALL_DRIVER",
        "CLIENT_LOCATED",
        "INVOICE",
        "IN_PROGRESS",
        "COMPLETED",
    ]


def test_a_shared_ride_is_found_on_the_retry(staff_page: StaffPage, desk: Running) -> None:
    control(desk, "next", scenario="share_retry")
    story.hold(desk)
    page = staff_page()
    story.book(page, "share", "Guest Avocet", seats=1)
    expect(page.locator("#headline")).to_contain_text(re.compile("shared ride", re.IGNORECASE))
    story.wait_status(page, "ALLOTMENT_PENDING")
    story.look(page, "share-retry-looking")
    # the rider has not been matched yet
    booking_id = control(desk, "ledger")["bookings"][-1]["booking_id"]
    expect(page.locator("main")).not_to_contain_text(booking_id)
    story.reach(page, desk, "CALL_DRIVER")
    page.reload()
    expect(page.locator("main")).to_contain_text(booking_id)


@pytest.mark.parametrize(("size", "scheme"), [("desktop", "light")])
def test_an_auto_through_all_of_its_states_to_its_bill(
    staff_page: StaffPage, desk: Running, size: str, scheme: str
) -> None:
    story.hold(desk)
    page = staff_page(size, scheme)
    story.book(page, "auto", f"Guest Tern {size}")
    story.record_statuses(page)
    for status, word in (
        ("PENDING", "finding"),
        ("CALL_DRIVER", "coming"),
        ("IN_PROGRESS", "riding"),
        ("INVOICE", "bill"),
    ):
        story.look_at(page, desk, status, f"auto-{size}-{scheme}-{word}")
    story.reach(page, desk, "COMPLETED")
    expect(page.locator("[data-lines]")).to_contain_text("₹")
    story.look(page, f"auto-{size}-{scheme}-done")
    assert story.statuses(page) == ["PENDING", "CALL_DRIVER", "IN_PROGRESS", "INVOICE", "COMPLETED"]


def test_an_auto_driver_who_cancels_is_replaced_once(staff_page: StaffPage, desk: Running) -> None:
    control(desk, "next", scenario="driver_cancels")
    story.hold(desk)
    page = staff_page()
    story.book(page, "auto", "Guest Plover")
    story.record_statuses(page)
    story.look_at(page, desk, "ALLOTMENT_RETRYING", "auto-driver-cancelled")
    expect(page.locator(".plate")).to_be_hidden()  # the plate of a former driver is not shown
    story.reach(page, desk, "CALL_DRIVER")
    assert story.statuses(page)[-2:] == ["ALLOTMENT_RETRYING", "CALL_DRIVER"]
