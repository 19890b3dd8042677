"""Search everywhere: what finds a ride, in which order, for whom, and the list below the box in a real browser."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from playwright.sync_api import Browser, expect

from ridedash.ext import limiter
from ridedash.store.finding import find_orders
from ridedash.store.orders import Order
from tests.views.ride_pages import NOON, Desk, make_desk
from tests.views.served import served_desk, violations

pytestmark = pytest.mark.database


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(tmp_path)
    with made.app.app_context():
        limiter.reset()
    yield made
    made.close()


@pytest.fixture
def browser_at(desk: Desk) -> FlaskClient:
    return desk.client()


def ride(desk: Desk, status: str = "COMPLETED", plate: str | None = None, **facts: Any) -> int:
    over = {"ended_at": NOON, "next_poll_at": None} if status == "COMPLETED" else {}
    order_id = desk.order("BOOKED", status, ride=over | {"plate": plate}, **facts)
    if over:
        desk.add(lambda s: setattr(s.get(Order, order_id), "ended_as", status))
    return order_id


def found(desk: Desk, text: str, limit: int = 20) -> list[int]:
    with desk.services.db.read() as s:
        return find_orders(s, desk.ids["desk.property"], text, limit)


@pytest.mark.parametrize("status", ["COMPLETED", "CALL_DRIVER"])
def test_a_ride_is_found_by_whatever_somebody_remembers_of_it(desk: Desk, status: str) -> None:
    wanted = ride(desk, status, "KA05XY7788", guest="José García", room="PH-1", phone="+912227783300")
    ride(desk, status, "MH12AB1234", guest="Guest Wren", room="204", phone="+912227780000")
    ride(desk, status, "KA05XY7788", guest="José García", room="PH-1", phone="+912227783300", house="other")
    with desk.services.db.read() as s:
        order = s.get(Order, wanted)
        assert order is not None
        numbers = [order.booking_id, order.booking_id.lower(), order.mtx, order.mtx[:17], f" {order.mtx.lower()} "]
    for text in ("ph-1", "garcia", "jos gar", "022 2778 3300", "+91 (0)22 2778-3300", "3300", "ka 05 xy-7788", "7788",
                 "KA05", *numbers):  # fmt: skip
        assert found(desk, text) == [wanted], text


def test_rides_that_are_not_over_come_first_and_then_the_newest(desk: Desk) -> None:
    planned = desk.order("SCHEDULED")
    done = [ride(desk) for _ in range(3)]
    unknown = desk.order("UNKNOWN")
    over = ride(desk)
    live = ride(desk, "IN_PROGRESS")
    refused = desk.order("REJECTED")
    assert found(desk, "heron") == [live, unknown, planned, refused, over, *done[::-1]]
    assert found(desk, "heron", 4) == [live, unknown, planned, refused]


def test_a_room_is_found_by_its_beginning_only_while_the_ride_is_not_over(desk: Desk) -> None:
    ride(desk, room="412")
    live = ride(desk, "CALL_DRIVER", room="413")
    assert found(desk, "41") == [live]


def test_many_guests_of_one_name_do_not_hide_the_newest_ride_of_any(desk: Desk) -> None:
    made = [ride(desk, guest=f"Guest N{n}") for n in range(205)]
    assert found(desk, "guest") == made[:-21:-1]
    assert found(desk, "n7") == [made[n] for n in range(204, -1, -1) if str(n).startswith("7")][:20]


@pytest.mark.parametrize("text", ["", "   ", "%", "_", "%%%", "\\", "zz", "0000", "''; --", "\U0010ffff" * 4, "-" * 80])
def test_what_fits_nothing_finds_nothing(desk: Desk, text: str) -> None:
    ride(desk, plate="KA05XY7788", phone=None)
    assert found(desk, text) == []


def test_the_page_shows_what_was_found_and_what_can_be_searched_for(desk: Desk, browser_at: FlaskClient) -> None:
    order_id = ride(desk, "CALL_DRIVER", "KA05XY7788", guest="<b>Guest</b> Heron")
    text = browser_at.get("/search?q=heron").text
    assert re.findall(r'cell-when"><a href="/rides/(\d+)"', text) == [str(order_id)]
    assert "&lt;b&gt;Guest&lt;/b&gt; Heron" in text
    assert "Driver on the way" in text
    assert "KA 05 XY 7788" in text
    assert "Search by room, guest, phone" in browser_at.get("/search?q=nobody").text
    assert browser_at.get("/search").status_code == 200
    assert browser_at.get("/search?q=" + "x" * 5000 + "%00").status_code == 200


def test_the_list_is_short_and_says_that_there_is_more(desk: Desk, browser_at: FlaskClient) -> None:
    made = [ride(desk) for _ in range(10)]
    body = browser_at.get("/search.json?q=heron").json
    assert body is not None
    assert ([each["id"] for each in body["rides"]], body["more"]) == (made[:1:-1], True)
    assert body["rides"][0] == {
        "id": made[-1], "guest": "Guest Heron", "room": "412", "to": "Meridian Airport, Departures", "plate": "",
        "at": "Mon 4 May 13:59", "state": "Completed", "icon": "done", "tone": "quiet",
    }  # fmt: skip
    assert browser_at.get("/search.json?q=nobody").json == {"rides": [], "more": False}


def test_a_rides_secrets_are_not_in_the_list(desk: Desk, browser_at: FlaskClient) -> None:
    ride(desk, "CLIENT_LOCATED", otp="4821")
    text = browser_at.get("/search.json?q=heron").text
    assert "4821" not in text
    assert "12345" not in text  # the guest's phone


def test_nobody_searches_all_day_faster_than_people_type(desk: Desk, browser_at: FlaskClient) -> None:
    codes = {browser_at.get("/search.json?q=x").status_code for _ in range(240)}
    assert codes == {200}
    assert browser_at.get("/search?q=x").status_code == 429


@pytest.mark.browser
def test_the_box_lists_rides_while_somebody_types_and_keys_open_one(tmp_path: Path, browser: Browser) -> None:
    with served_desk(tmp_path, browser) as served:
        wanted = ride(served.desk, "CALL_DRIVER", "KA05XY7788", guest="José García", room="PH-1")
        other = ride(served.desk, guest="Garcia Wren", room="9")
        page = served.staff(viewport={"width": 1280, "height": 800})
        page.goto("/history")
        page.keyboard.press("/")
        box = page.get_by_role("combobox", name=re.compile("Search by room"))
        expect(box).to_be_focused()
        page.keyboard.type("garcia")
        options = page.get_by_role("listbox", name="Rides found").get_by_role("option")
        expect(options).to_have_count(2)
        expect(options.first).to_contain_text("José García · PH-1")
        page.keyboard.press("ArrowDown")
        expect(options.first).to_have_attribute("aria-selected", "true")
        assert violations(page) == []
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/rides/{other}")
        page.get_by_role("combobox", name=re.compile("Search by room")).fill("xy 7788")
        expect(options).to_have_count(1)
        options.first.click()
        page.wait_for_url(f"**/rides/{wanted}")
        page.get_by_role("combobox", name=re.compile("Search by room")).fill("garcia")
        page.keyboard.press("Enter")
        page.wait_for_url("**/search?q=garcia")
        expect(page.locator(".rides-table tbody tr")).to_have_count(2)


@pytest.mark.browser
def test_the_list_closes_says_when_nothing_is_found_and_when_it_can_not_ask(tmp_path: Path, browser: Browser) -> None:
    with served_desk(tmp_path, browser) as served:
        page = served.staff(viewport={"width": 390, "height": 844})
        page.goto("/history")
        box = page.get_by_role("combobox", name=re.compile("Search by room"))
        box.fill("nobody")
        listed = page.locator("[data-found]")
        expect(listed).to_have_text("No ride found")
        page.keyboard.press("Escape")
        expect(listed).to_be_hidden()
        expect(box).to_be_focused()
        page.context.set_offline(True)
        box.fill("heron")
        expect(listed).to_contain_text("Search does not answer")
        page.context.set_offline(False)
        assert violations(page) == []
