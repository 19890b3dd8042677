"""The display at the door in Chromium: rows change in place, and a long day leaks no nodes."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from ridedash.store import kiosks
from ridedash.store.models.kiosks import Kiosk
from ridedash.store.models.orders import Order, Ride
from tests.views.door.doors import device_page
from tests.views.ride_pages import NOON
from tests.views.served import Served, served_desk, violations

pytestmark = [pytest.mark.browser, pytest.mark.database]
UPRIGHT = {"width": 1080, "height": 1920}
LYING = {"width": 1920, "height": 1080}
TABLET = {"width": 1180, "height": 820}
TABLET_UPRIGHT = {"width": 820, "height": 1180}
CUT_OFF = """() => [...document.querySelectorAll(".door-row:not([hidden])")].filter((row) => {
  const box = row.getBoundingClientRect();
  return [...row.querySelectorAll(".plate, .door-car, .door-when, .door-who, .door-mark")]
    .filter((part) => part.getClientRects().length)
    .some((part) => {
      const { left, right, top, bottom } = part.getBoundingClientRect();
      return left < box.left || right > box.right || top < box.top || bottom > box.bottom + 0.5;
    });
}).map((row) => row.textContent)"""


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served_desk(tmp_path, browser) as found:
        yield found


def swap(served: Served, order_id: int) -> None:
    """Replace the car of a ride by another one."""

    def rows(s: Any) -> None:
        s.get_one(Order, order_id).version += 1
        ride = s.query(Ride).filter(Ride.order_id == order_id).one()
        ride.previous_plate, ride.swapped_at = "KA01AB1234", served.desk.now
        ride.facts = {**ride.facts, "vehicle_number": "KA05MC7781"}

    served.desk.add(rows)


def test_a_car_comes_is_swapped_and_is_here_and_the_doorman_marks_its_guest(served: Served) -> None:
    page = device_page(served, "door", LYING, marks=True, shows="room")
    page.goto("/door")
    expect(page.get_by_text("No car is coming now")).to_be_visible()
    order_id = served.desk.order("BOOKED", "CALL_DRIVER")
    row = page.locator(".door-row")
    expect(row.locator(".plate")).to_have_text("KA 01 AB 1234")
    expect(row.locator(".door-when")).to_have_text("4 min")
    expect(row.locator(".door-who")).to_have_text("412")
    row.evaluate("(row) => (window.same = row)")
    swap(served, order_id)
    expect(row.locator(".plate")).to_have_text("KA 05 MC 7781")
    expect(row.locator(".door-was")).to_have_text("KA 01 AB 1234")
    served.move(order_id, "CLIENT_LOCATED")
    expect(row.locator(".door-when")).to_have_text("Here now")
    row.get_by_role("button", name="Guest is in").click()
    expect(row.get_by_role("button", name="Guest is in")).to_have_attribute("aria-pressed", "true")
    assert page.evaluate("window.same === document.querySelector('.door-row')"), "changed in place"
    page.emulate_media(reduced_motion="reduce")
    assert violations(page) == []
    page.evaluate("document.documentElement.dataset.look = 'dark'")
    assert violations(page, "color-contrast") == []


def test_what_is_shown_fits_and_plates_have_twenty_millimetres_where_they_can(
    served: Served,
) -> None:
    for n in range(9):
        status = "CLIENT_LOCATED" if n < 3 else "CALL_DRIVER"
        old = {"previous_plate": "KA05XY9876", "swapped_at": NOON} if n == 4 else {}
        served.desk.order("BOOKED", status, ride=old, pickup_name="Garden gate" if n else "Door")
    for size, mm_per_px, rows in (
        (UPRIGHT, 0.369, 8),
        (LYING, 0.369, 8),
        (TABLET, None, 8),
        (TABLET, 0.193, 3),
        (TABLET_UPRIGHT, 0.193, 3),
    ):
        page = device_page(served, "door", size, mm_per_px=mm_per_px, marks=True, shows="room")
        page.goto("/door")
        expect(page.locator(".door-row:not([hidden])")).to_have_count(rows)
        expect(page.get_by_text(f"More cars: {9 - rows}")).to_be_visible()
        assert page.evaluate(CUT_OFF) == [], (size, mm_per_px)
        assert not page.evaluate("document.documentElement.scrollHeight > innerHeight")
        plate = page.locator(".plate").first.evaluate(
            "(plate) => parseFloat(getComputedStyle(plate).fontSize)"
        )
        assert mm_per_px is None or plate * mm_per_px >= 20, size


def test_without_an_answer_all_is_grey_and_its_age_is_shown(served: Served) -> None:
    served.desk.order("BOOKED", "CALL_DRIVER")
    page = device_page(served, "door", TABLET)
    page.clock.install(time=NOON)
    page.clock.pause_at(NOON + timedelta(minutes=1))  # only the test moves the clock
    page.goto("/door")
    expect(page.locator(".door-age")).to_have_text("Updated just now")
    page.context.set_offline(True)
    page.clock.run_for(45_000)
    expect(page.locator(".door-age")).to_have_text("No answer · last news 45 s ago")
    expect(page.locator("body")).to_contain_class("is-cut-off")
    page.clock.run_for(300_000)
    expect(page.locator(".door-when")).to_be_hidden()
    page.context.set_offline(False)
    page.clock.resume()
    expect(page.locator(".door-when")).to_be_visible()


def test_it_is_loaded_anew_once_its_page_comes_and_is_paired_again_where_it_was_revoked(
    served: Served,
) -> None:
    served.desk.order("BOOKED", "CALL_DRIVER")
    page = device_page(served, "door", TABLET)
    page.goto("/door")
    body = page.evaluate("JSON.parse(document.querySelector('[data-points]').textContent)")
    page.route("**/door", lambda route: route.fulfill(status=502, body="of a proxy"))
    newer = body | {"release": "newer"}
    page.route("**/door/rows.json*", lambda route: route.fulfill(json=newer))
    with page.expect_response("**/door"):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # polls at once
    expect(page.locator(".door-row .plate")).to_have_text("KA 01 AB 1234")
    page.unroute("**/door")
    page.unroute("**/door/rows.json*")
    with served.desk.services.db.write() as s:
        kiosks.revoke(s.query(Kiosk).one(), served.desk.now)
    expect(page.get_by_label("Pairing code")).to_be_visible(timeout=20_000)


def test_a_newer_page_that_can_not_be_loaded_is_requested_again_without_a_change(
    served: Served,
) -> None:
    page = device_page(served, "door", TABLET)
    page.goto("/door")
    body = page.evaluate("JSON.parse(document.querySelector('[data-points]').textContent)")
    page.evaluate("document.body.dataset.older = 1")
    page.route("**/door", lambda route: route.fulfill(status=502, body="of a proxy"))
    newer = iter([body | {"release": "newer"}])

    def answer(route: Any) -> None:
        changed = next(newer, None)
        route.fulfill(json=changed) if changed else route.fulfill(status=304)

    page.route("**/door/rows.json*", answer)
    with page.expect_response("**/door"):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # polls at once
    page.unroute("**/door")
    expect(page.locator("body[data-older]")).to_have_count(0, timeout=20_000)


def test_a_day_of_cars_leaves_no_more_nodes_or_listeners_than_a_few_cars(served: Served) -> None:
    page = device_page(served, "door", TABLET, marks=True)
    order_id = served.desk.order("BOOKED", "CLIENT_LOCATED")
    page.clock.install(time=NOON)
    page.clock.pause_at(NOON + timedelta(minutes=1))  # the page polls when the test moves the clock
    page.goto("/door")
    expect(page.locator(".door-row")).to_have_count(1)
    body = page.evaluate("JSON.parse(document.querySelector('[data-points]').textContent)")
    seen = {"n": 0}

    def answer(route: Any) -> None:
        seen["n"] += 1
        row = body["rows"][0] | {"id": order_id + seen["n"], "plate": f"KA {seen['n']}"}
        route.fulfill(json=body | {"rows": [row]}, headers={"ETag": f'"{seen["n"]}"'})

    page.route("**/door/rows.json*", answer)
    tools = page.context.new_cdp_session(page)

    def cars_come(cars: int) -> dict[str, int]:
        for _car in range(cars):
            with page.expect_response("**/door/rows.json*"):
                page.clock.run_for(4_000)
            expect(page.locator(".plate")).to_have_text(f"KA {seen['n']}")
        return counted(tools)

    before = cars_come(10)  # by then the browser has made the nodes that it keeps
    after = cars_come(40)
    assert after["listeners"] <= before["listeners"]
    assert after["nodes"] <= before["nodes"] + 60, "one row's nodes, and what is not yet collected"


def counted(tools: Any) -> dict[str, int]:
    """How many nodes and listeners the page holds after garbage collections.

    One collection is not enough: objects that it frees may have kept others alive.
    """
    tools.send("HeapProfiler.enable")
    for _ in range(3):
        tools.send("HeapProfiler.collectGarbage")
    found = tools.send("Memory.getDOMCounters")
    return {"nodes": found["nodes"], "listeners": found["jsEventListeners"]}
