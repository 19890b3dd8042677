"""Links, card and receipt in Chromium: on a phone, in light and dark, without scripts, printed."""

import base64
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zxingcpp
from playwright.sync_api import Browser, Page, Route, expect

from ridedash.rides.share_links import end_links
from ridedash.service_time import ServiceTime, Turn
from ridedash.store.actors import by_staff
from ridedash.store.orders import Ride
from tests.views.ride_pages import NOON
from tests.views.served import PHONE, Served, served_desk, violations

pytestmark = [pytest.mark.browser, pytest.mark.database]

CODE = "4821"
STATES = [
    ("BOOKED", "ALLOTMENT_PENDING"),
    ("BOOKED", "CALL_DRIVER"),
    ("BOOKED", "CLIENT_LOCATED"),
    ("BOOKED", "IN_PROGRESS"),
    ("BOOKED", "COMPLETED"),
    ("BOOKED", "BOOKING_CANCELLED"),
    ("SCHEDULED", None),
    ("UNKNOWN", None),
]
# whether no zoom is under way, and the cab stands at its position to a fraction of a pixel
CAB_IN_PLACE = """() => {
  const map = window[document.querySelector("[data-map]").dataset.map];
  const cab = document.querySelector(".map-cab"), mark = cab.parentElement;
  const marker = Object.values(map._layers).find((layer) => layer._icon === mark);
  const exact = map.project(marker.getLatLng()).subtract(map.getPixelOrigin());
  const rest = new DOMMatrix(getComputedStyle(cab).transform);
  const at = L.DomUtil.getPosition(mark).add([rest.e, rest.f]);
  return !map._animatingZoom && at.distanceTo(exact) < 0.02;
}"""


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served_desk(tmp_path, browser) as found:
        yield found


@pytest.mark.parametrize(("kind", "scheme"), [("rider", "light"), ("follower", "dark")])
def test_axe_finds_nothing_behind_a_link_in_any_state(
    served: Served, kind: str, scheme: str
) -> None:
    page = served.phone(scheme, reduced_motion="reduce")
    for state, status in STATES:
        order_id = served.desk.order(
            state, status, otp=CODE if status == "CLIENT_LOCATED" else None
        )
        page.goto(served.link(order_id, kind))
        assert violations(page) == [], (state, status)
        wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
        assert not wide, (state, status)
    page.goto("/t/nothing")
    assert violations(page) == []


HOSTILE = {
    "vehicle_number": "KA01" * 75,
    "vehicle_type": "w" * 300,
    "car_model": "W" * 300,
    "driver_name": "Wren" + "\u0300\u0489" * 40,
    "driver_number": "+" + "1" * 299,
}
WIDE = "document.documentElement.scrollWidth > innerWidth"


def hostile_ride(served: Served) -> int:
    """A ride with a start code, whose texts about the cab are as long as the service may send."""
    order_id = served.desk.order(
        "BOOKED", "CLIENT_LOCATED", otp=CODE, guest="G" * 120, pickup_name="P" * 200
    )

    def facts(s: Any) -> None:
        ride = s.query(Ride).filter(Ride.order_id == order_id).one()
        ride.facts = {**ride.facts, **HOSTILE}

    served.desk.add(facts)
    return order_id


def test_no_text_of_the_service_makes_a_guests_page_wide_or_covers_its_code(served: Served) -> None:
    order_id = hostile_ride(served)
    page = served.phone()
    for kind in ("rider", "follower"):
        page.goto(served.link(order_id, kind))
        assert not page.evaluate(WIDE), kind
    page.goto(served.link(order_id))
    assert {
        name: page.locator(name).evaluate("part => getComputedStyle(part).overflowY")
        for name in (".guest-state", ".guest-cab", ".guest-code")
    } == dict.fromkeys((".guest-state", ".guest-cab", ".guest-code"), "clip")
    code = page.locator(".guest-digits").bounding_box()
    assert code
    assert code["y"] + code["height"] < PHONE["height"], "it is seen without scrolling"


def test_no_text_of_the_service_leaves_the_card_or_pushes_out_its_code(served: Served) -> None:
    order_id = hostile_ride(served)
    page = served.staff()
    page.goto(f"/rides/{order_id}/card")
    page.get_by_role("button", name="Add the start code").click()
    expect(page.locator(".sheet-code")).to_contain_text(CODE)
    assert not page.evaluate(WIDE)
    page.emulate_media(media="print")
    sheet = page.locator(".sheet").bounding_box()
    assert sheet
    for name in (".sheet-plate", ".sheet-code", ".sheet-qr"):
        box = page.locator(name).bounding_box()
        assert box, name
        assert box["x"] >= sheet["x"], name
        assert box["x"] + box["width"] <= sheet["x"] + sheet["width"] + 1, name
        assert box["y"] + box["height"] <= sheet["y"] + sheet["height"] + 1, name


def test_wrong_links_from_the_same_address_leave_an_open_page_as_it_is(served: Served) -> None:
    order_id = served.desk.order("BOOKED", "CALL_DRIVER")
    guest, stranger = served.phone(), served.phone()
    address = served.link(order_id)
    guest.goto(address)
    expect(guest.locator("[data-slot=headline]")).to_be_visible()
    for n in range(25):
        assert stranger.request.get(f"{served.url}/t/{n:022d}").status == 404
    served.move(order_id, "CLIENT_LOCATED", CODE)
    expect(guest.locator("[data-slot=code]")).to_have_text(CODE)
    stranger.goto(address)
    expect(stranger.locator("[data-slot=code]")).to_have_text(CODE)


def test_a_page_asks_once_more_before_it_says_that_its_link_is_not_open(served: Served) -> None:
    order_id = served.desk.order("BOOKED", "CALL_DRIVER")
    guest = served.phone()
    guest.goto(served.link(order_id))
    refused: list[str] = []

    def answer(route: Route) -> None:
        if refused:
            return route.fallback()
        refused.append(route.request.url)
        return route.fulfill(status=404, json={"error": "gone"})

    guest.evaluate("window.same = true")
    guest.route("**/snapshot.json", answer)
    served.move(order_id, "CLIENT_LOCATED", CODE)
    expect(guest.locator("[data-slot=code]")).to_have_text(CODE)
    assert len(refused) == 1
    assert guest.evaluate("window.same"), "the page was not loaded again"
    desk = served.desk
    staff = by_staff(desk.ids["desk"])
    end_links(desk.services.db, desk.now, desk.ids["desk.property"], order_id, staff)
    expect(guest.get_by_role("heading", name="This link is not open")).to_be_visible()


@pytest.mark.parametrize("scheme", ["dark"])
def test_axe_finds_nothing_on_card_receipt_and_ride(served: Served, scheme: str) -> None:
    page = served.staff(scheme=scheme, reduced_motion="reduce")
    order_id = served.desk.order("BOOKED", "CLIENT_LOCATED", otp=CODE)
    for path in (f"/rides/{order_id}", f"/rides/{order_id}/receipt", f"/rides/{order_id}/card"):
        page.goto(path)
        assert violations(page) == [], path
    page.get_by_role("button", name="Make the guest's link").click()
    page.get_by_role("button", name="Add the start code").click()
    expect(page.locator(".sheet-code")).to_contain_text(CODE)
    assert violations(page) == []
    for wanted in (PHONE, {"width": 320, "height": 640}):
        page.set_viewport_size(wanted)  # type: ignore[arg-type]
        expect(page.locator("html")).to_have_js_property("scrollWidth", wanted["width"])


def test_without_scripts_the_page_shows_the_ride_and_reloads_by_itself(
    served: Served,
) -> None:
    page = served.phone(java_script_enabled=False)
    order_id = served.desk.order("BOOKED", "CLIENT_LOCATED", otp=CODE)
    page.goto(served.link(order_id))
    expect(page.get_by_role("heading", level=1)).to_have_text("Your driver is here")
    expect(page.locator(".plate")).to_have_text("KA 01 AB 1234")
    expect(page.locator(".guest-digits")).to_have_text(CODE)
    expect(page.get_by_text("Updated just now")).to_be_visible()
    expect(page.locator("[data-map-card]")).to_be_hidden()
    assert page.locator('meta[http-equiv="refresh"][content="15"]').count() == 1


def test_the_page_updates_by_itself_until_the_ride_ends(served: Served) -> None:
    served.desk.now = NOON
    order_id = served.desk.order("BOOKED", "ALLOTMENT_PENDING", ride={"seen_at": NOON})
    page = served.phone()
    page.goto(served.link(order_id))
    expect(page.locator(".guest-cab")).to_be_hidden()
    running = served.desk.services.time
    served.desk.services.time = lambda: ServiceTime((Turn(NOON, NOON, 0.0),))
    served.move(order_id, "CALL_DRIVER")
    expect(page.locator(".plate")).to_have_text("KA 01 AB 1234")
    expect(page.get_by_text("The demo's clock is held at 14:00.")).to_be_visible()
    served.desk.services.time = running
    expect(page.locator(".plate")).to_have_attribute(
        "aria-label", "Number plate K A 0 1 A B 1 2 3 4"
    )
    expect(page.locator(".map-cab").first).to_be_visible()
    page.wait_for_function(CAB_IN_PLACE)  # although the view was fitted after the cab was drawn
    expect(page.get_by_role("link", name="Call driver")).to_have_attribute(
        "href", "tel:+910000012345"
    )
    served.move(order_id, "CLIENT_LOCATED", CODE)
    expect(page.locator(".guest-digits")).to_have_text(CODE)
    expect(page.locator(".band-warn")).to_be_hidden()
    served.move(order_id, "IN_PROGRESS")
    expect(page.locator(".guest-code")).to_be_hidden()
    served.move(order_id, "COMPLETED")
    expect(page.get_by_role("heading", level=1)).to_have_text("You have arrived. ₹240")
    expect(page.locator("[data-map-card]")).to_be_hidden()
    expect(page.get_by_role("link", name="Call driver")).to_be_hidden()
    expect(page.locator(".lines")).to_contain_text("₹240")
    assert page.context.cookies() == []


def test_ending_a_link_clears_the_open_page(served: Served) -> None:
    order_id = served.desk.order("BOOKED", "CALL_DRIVER")
    page = served.phone()
    page.goto(served.link(order_id))
    expect(page.locator(".plate")).to_be_visible()
    desk = served.desk
    staff = by_staff(desk.ids["desk"])
    end_links(desk.services.db, desk.now, desk.ids["desk.property"], order_id, staff)
    expect(page.get_by_role("heading", level=1)).to_have_text("This link is not open")
    assert "KA 01" not in page.content()


def test_a_page_with_old_data_shows_its_age(served: Served) -> None:
    old = {"seen_at": NOON - timedelta(seconds=150)}
    page = served.phone()
    page.goto(served.link(served.desk.order("BOOKED", "CALL_DRIVER", ride=old)))
    expect(page.locator("[data-age-text]")).to_have_text("Not updating · last news 2 min ago")
    expect(page.locator(".guest-ride")).to_have_class(re.compile("is-stale"))


def test_a_follower_never_requests_tiles_of_the_guests_address(served: Served) -> None:
    tiles: list[str] = []
    page = served.phone()
    page.on("request", lambda r: tiles.append(r.url) if "/tiles/" in r.url else None)
    page.goto(served.link(served.desk.order("BOOKED", "ALLOTMENT_PENDING"), "follower"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("Guest Heron")
    page.wait_for_load_state("networkidle")
    nowhere = re.compile(r"/tiles/15/1638[34]/1638[34]\.svg")  # the center of a hidden map
    assert [tile for tile in tiles if not nowhere.search(tile)] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_qr_code_on_the_card_decodes_to_a_valid_link(served: Served, scheme: str) -> None:
    page = served.staff(scheme=scheme, viewport={"width": 1280, "height": 800})
    order_id = served.desk.order("BOOKED", "CALL_DRIVER")
    page.goto(f"/rides/{order_id}")
    page.get_by_role("button", name="Guest card").click()
    expect(page.locator(".sheet-short")).to_be_visible()
    read = decoded(page, page.screenshot(full_page=True))
    assert read == [page.locator("[data-link]").input_value()]
    assert read[0].removeprefix("http://") == page.locator(".sheet-short").inner_text()
    guest = served.phone()
    guest.goto(read[0])
    expect(guest.locator(".plate")).to_have_text("KA 01 AB 1234")


def decoded(page: Page, png: bytes) -> list[str]:
    """The texts of the QR codes in a screenshot; the browser decodes the PNG into pixels."""
    blank = page.context.new_page()
    width, height, grey = blank.evaluate(
        """async (png) => {
          const shot = await fetch("data:image/png;base64," + png);
          const picture = await createImageBitmap(await shot.blob());
          const canvas = new OffscreenCanvas(picture.width, picture.height);
          const paper = canvas.getContext("2d");
          paper.drawImage(picture, 0, 0);
          const { data } = paper.getImageData(0, 0, picture.width, picture.height);
          let grey = "";
          for (let i = 0; i < data.length; i += 4) grey += String.fromCharCode(data[i + 1]);
          return [picture.width, picture.height, btoa(grey)];
        }""",
        base64.b64encode(png).decode(),
    )
    blank.close()
    pixels = np.frombuffer(base64.b64decode(grey), dtype=np.uint8).reshape(height, width)
    return [
        found.text
        for found in zxingcpp.read_barcodes(pixels, formats=zxingcpp.BarcodeFormat.QRCode)
    ]


def test_card_and_receipt_take_one_sheet_each(served: Served) -> None:
    page = served.staff(viewport={"width": 1280, "height": 800})
    order_id = served.desk.order("BOOKED", "CLIENT_LOCATED", otp=CODE)
    page.goto(f"/rides/{order_id}/card")
    page.get_by_role("button", name="Make the guest's link").click()
    page.get_by_role("button", name="Add the start code").click()
    expect(page.locator(".sheet-code")).to_be_visible()
    expect(page.locator(".sheet-map image")).to_have_count(0)  # no tile server answers here
    assert [sheets(page.pdf(format=size)) for size in ("A6", "A4", "Letter")] == [1, 1, 1]
    page.emulate_media(media="print")
    assert page.locator(".sheet .paper-demo").bounding_box()
    assert page.locator(".demo-band").is_hidden()  # the card itself has a label instead
    page.emulate_media(media="screen")
    for kind in ("point_to_point", "auto"):
        page.goto(f"/rides/{served.desk.order('BOOKED', 'COMPLETED', kind)}/receipt")
        assert [sheets(page.pdf(format=size)) for size in ("A4", "Letter")] == [1, 1]


def sheets(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def test_a_link_is_copied_by_one_press_and_active_links_are_listed(served: Served) -> None:
    page = served.staff(
        viewport={"width": 1280, "height": 800}, permissions=["clipboard-read", "clipboard-write"]
    )
    order_id = served.desk.order("BOOKED", "CALL_DRIVER")
    page.goto(f"/rides/{order_id}")
    copied: Callable[[], str] = lambda: page.evaluate("navigator.clipboard.readText()")  # noqa: E731
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("[data-links-state]")).to_contain_text("The guest has a link since")
    assert copied() == page.locator("[data-link]").input_value()
    page.get_by_role("button", name="Share with follower").click()
    expect(page.locator("[data-links-state]")).to_contain_text("1 of 5 followers")
    page.get_by_role("button", name="End links").click()
    expect(page.locator("[data-links-said]")).to_have_text("No link is open any more.")
    expect(page.get_by_role("button", name="End links")).to_be_hidden()


@pytest.mark.parametrize("secure", [True, False], ids=["https", "plain-http"])
def test_a_link_is_copied_from_its_own_page(served: Served, secure: bool) -> None:
    page = served.staff(permissions=["clipboard-read", "clipboard-write"])
    order_id = served.desk.order("BOOKED", "CALL_DRIVER")
    if not secure:  # a page that came over plain http has no clipboard to write to
        page.add_init_script("delete Navigator.prototype.clipboard")
    page.goto(f"/rides/{order_id}/card")
    page.get_by_role("button", name="Make the guest's link").click()
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    link = page.locator("[data-link]").input_value()
    page.goto("/search")
    page.locator("#search").focus()
    page.keyboard.press("Control+V")
    expect(page.locator("#search")).to_have_value(link)


def test_a_link_that_could_not_be_copied_is_selected(served: Served) -> None:
    page = served.staff()
    page.add_init_script("navigator.clipboard.writeText = () => Promise.reject(new Error())")
    page.goto(f"/rides/{served.desk.order('BOOKED', 'CALL_DRIVER')}")
    page.get_by_role("button", name="Share with follower").click()
    expect(page.locator("[data-links-said]")).to_contain_text("The link is ready: press Copy.")
    page.locator("[data-link-row]").get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Selected: copy it yourself")).to_be_visible()
    field = page.locator("[data-link]")
    assert page.evaluate("getSelection().toString()") == field.input_value()


def test_the_map_changes_between_day_and_night_with_the_page(served: Served) -> None:
    page = served.staff(scheme="dark")
    page.goto(f"/rides/{served.desk.order('BOOKED', 'CALL_DRIVER')}")
    by_night = page.locator("img.leaflet-tile[src*='/tiles/dark/']")
    by_day = page.locator("img.leaflet-tile:not([src*='/tiles/dark/'])")
    expect(by_night.first).to_be_attached()
    expect(by_day).to_have_count(0)
    page.emulate_media(color_scheme="light")
    expect(by_day.first).to_be_attached()
    expect(by_night).to_have_count(0)
    page.emulate_media(color_scheme="dark")
    expect(by_day).to_have_count(0)


def test_a_plate_stands_in_one_line_on_a_small_phone(served: Served) -> None:
    page = served.staff(viewport={"width": 320, "height": 700})
    page.goto(f"/rides/{served.desk.order('BOOKED', 'CALL_DRIVER')}")
    shown = page.locator(".state .plate")
    lines = {}
    for width, plate in product((320, 360, 375, 390), ("PM 05 AU 1750", "KA 51 MM 9999")):
        page.set_viewport_size({"width": width, "height": 700})
        lines[width, plate] = shown.evaluate(
            """(element, plate) => {
                element.textContent = plate;
                const all = document.createRange();
                all.selectNodeContents(element);
                return all.getClientRects().length;
            }""",
            plate,
        )
    assert set(lines.values()) == {1}, lines
