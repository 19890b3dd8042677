"""The drawer in Chromium: its key, a call, its tabs, and what the browser remembers."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route, expect

from ridedash.store.models.orders import Order
from ridedash.store.models.people import Staff
from tests.demo.lens.exchanges import poll
from tests.views.served import served_desk, violations

pytestmark = [pytest.mark.browser, pytest.mark.database]


def test_the_drawer_shows_the_calls_of_the_ride_and_remembers_its_height(
    tmp_path: Path, browser: Browser
) -> None:
    with served_desk(tmp_path, browser) as served:
        desk = served.desk
        desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "role", "manager"))
        order = desk.order("BOOKED", "CALL_DRIVER")
        desk.add(lambda s: setattr(s.get(Order, order), "booking_id", "CRN1"))
        lens = desk.app.extensions["ridedash.lens"]
        lens.exchange(poll(driver_name="<b>Cedar</b>", driver_lat=1))
        page = served.staff()
        page.goto(f"/rides/{order}")
        drawer = page.get_by_role("region", name="Lens")
        expect(drawer).to_be_hidden()
        page.keyboard.press("~")
        row = drawer.locator("[data-lens-rows] button")
        expect(row).to_contain_text("track_ride 200 11 ms CALL_DRIVER")
        lens.exchange(poll(driver_name="<b>Cedar</b>", driver_lat=2))
        expect(row).to_contain_text("×2")  # without a reload
        row.click()
        name = drawer.locator('[data-answer] [data-pointer="/driver_name"]')
        expect(name).to_contain_text('"<b>Cedar</b>"')
        drawer.get_by_role("button", name="httpx").click()
        expect(drawer.locator("#lens-httpx")).to_contain_text('os.environ["APP_TOKEN"]')
        expect(name).to_be_hidden()
        drawer.get_by_role("button", name="States").click()
        expect(
            drawer.get_by_role("heading", name="States of a point-to-point ride")
        ).to_be_visible()
        drawer.get_by_role("button", name="All calls").click()
        grip = drawer.get_by_role("separator")
        grip.press("ArrowUp")
        expect(grip).to_have_attribute("aria-valuenow", "50")
        page.reload()
        expect(row).to_contain_text(f"Ride {order}")
        expect(grip).to_have_attribute("aria-valuenow", "50")
        page.route("**/demo/lens/calls.json*", lambda route: route.fulfill(body='{"turn"'))
        expect(drawer.locator("[data-lens-note]")).to_have_text("The calls can't be read now.")
        page.get_by_role("button", name="Close", exact=True).last.click()
        expect(drawer).to_be_hidden()
        assert violations(page) == []


def test_the_drawer_beside_the_desk_of_the_stage_is_open_however_late_it_is_loaded(
    tmp_path: Path, browser: Browser
) -> None:
    with served_desk(tmp_path, browser) as served:
        desk = served.desk
        desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "role", "manager"))
        page = served.staff(viewport={"width": 1440, "height": 900})
        page.goto("/demo/stage")
        beside = page.get_by_role("button", name="Lens", exact=True)
        drawer = page.frame_locator("iframe[name=desk]").locator("[data-lens]")
        expect(drawer).to_be_attached()
        held: list[Route] = []
        page.route("**/demo/drawer.js*", lambda request: held.append(request))
        with page.expect_request("**/demo/drawer.js*"):
            beside.click()
        for _ in range(2):  # closed, and opened again
            beside.click()
        expect(drawer).to_be_hidden()
        page.wait_for_timeout(0)  # lets Playwright call the route's handler
        assert held
        for request in held:
            request.continue_()
        page.unroute("**/demo/drawer.js*")
        expect(drawer).to_be_visible()
        beside.click()
        expect(drawer).to_be_hidden()
        # the presenter's sheet, which the stage links
        page.goto("/demo/sheet")
        papers = [page.pdf(format=paper) for paper in ("A4", "Letter")]
        assert [len(re.findall(rb"/Type */Page\b", each)) for each in papers] == [1, 1]
