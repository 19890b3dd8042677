"""Pointing at a fact of a ride in Chromium: its field lights up in the drawer, and back."""

import os
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from ridedash.store.models.orders import Order
from ridedash.store.models.people import Staff
from tests.demo.lens.answers import driven
from tests.demo.lens.exchanges import TRACK, exchange
from tests.views.served import served_desk, violations

pytestmark = [pytest.mark.browser, pytest.mark.database]
PICTURES = os.environ.get("PICTURES")


def point(page: Page) -> None:
    """Press the key for pointing at facts, and wait until the lens, which loads late, is ready."""
    page.keyboard.press("e")
    expect(page.locator("[data-lens-elements]")).to_have_attribute("aria-pressed", "true")


def test_a_fact_lights_up_its_field_and_a_field_its_facts(tmp_path: Path, browser: Browser) -> None:
    with served_desk(tmp_path, browser) as served:
        desk = served.desk
        desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "role", "manager"))
        order = desk.order("BOOKED", "CALL_DRIVER")
        desk.add(lambda s: setattr(s.get(Order, order), "booking_id", "CRN000001"))
        lens = desk.app.extensions["ridedash.lens"]
        body = driven("CALL_DRIVER")
        lens.exchange(exchange(TRACK, body, params={"booking_id": "CRN000001"}))
        for size, scheme in (((1280, 800), "light"), ((390, 844), "dark")):
            page = served.staff(viewport={"width": size[0], "height": size[1]}, scheme=scheme)
            page.goto(f"/rides/{order}")
            page.keyboard.press("~")
            point(page)
            origin = page.locator("[data-lens-origin]")
            plate = page.locator(".state [data-slot='cab.plate']")
            if size[0] > 1000:
                plate.hover()
            else:
                plate.focus()
            expect(origin).to_contain_text('track_ride /vehicle_number = "KA01AB1234"')
            field = page.locator('[data-answer] [data-pointer="/vehicle_number"]')
            expect(field).to_contain_class("is-lit")
            expect(plate).to_contain_class("is-looked-at")
            assert violations(page, "color-contrast", "aria-required-children") == []
            if PICTURES:
                page.screenshot(path=f"{PICTURES}/ride-{size[0]}-{scheme}.png")
            page.locator('[data-answer] [data-pointer="/driver_name"]').hover()
            expect(page.locator(".is-looked-at[data-slot='driver.name']")).to_be_attached()
            expect(plate).not_to_contain_class("is-looked-at")
        page.set_viewport_size({"width": 1280, "height": 800})
        for paper in ("card", "receipt"):
            page.goto(f"/rides/{order}/{paper}")
            point(page)
            page.locator("[data-from=plate]").hover()
            expect(origin).to_contain_text('track_ride /vehicle_number = "KA01AB1234"')
        page.goto("/")
        point(page)  # the drawer is open already, as the browser remembers
        page.locator(f".row[data-id='{order}'] [data-cell='plate']").hover()
        cell = page.locator(f".row[data-id='{order}'] .is-looked-at[data-cell='plate']")
        expect(cell).to_be_visible()
        if PICTURES:
            page.screenshot(path=f"{PICTURES}/board-1280-dark.png")
