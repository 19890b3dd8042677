"""The board in Chromium: keyboard use, live updates that keep rows in place, and shown outages."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from ridedash.rides.accounts.tokens import NeedsReconnect
from ridedash.store.models.orders import PathPoint
from ridedash.store.models.people import Property, Staff
from ridedash.store.orders import Order, Ride
from tests.views.admin.test_kiosks import add_kiosk
from tests.views.ride_pages import NOON, snapshot_facts
from tests.views.served import (
    PHONE,
    SET_BACK,
    Served,
    map_there,
    press_in_more,
    served_desk,
    violations,
)

pytestmark = [pytest.mark.browser, pytest.mark.database]

WIDE = {"width": 1280, "height": 800}
TALL = {"width": 1280, "height": 920}  # a window whose map has room beside a chosen ride
CAB = "[data-board] .desk-map"
# the path of a line with four, and with five, commands L
PARTS_4, PARTS_5 = (re.compile(rf"^([^L]*L){{{n}}}[^L]*$") for n in (4, 5))
# whether the driven path ends at the cab, which does not move
ENDS_AT_CAB = """() => {
  const map = window[document.querySelector("[data-map]").dataset.map];
  if (!map?._loaded) return false;
  const {x, y} = map.latLngToLayerPoint([-38.505, -128.004]);
  const path = document.querySelector("path.map-line")?.getAttribute("d") ?? "";
  return path.trim().endsWith(`L${x} ${y}`);
}"""


VIEW = """() => { const map = window[document.querySelector("[data-map]").dataset.map];
  const {lat, lng} = map.getCenter(); return [lat, lng, map.getZoom()]; }"""
# a drag ends in a glide, which begins with the next frame
HALT = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
  window[document.querySelector("[data-map]").dataset.map].stop();
  done();
})))"""
SHOWS = """((point) => window[document.querySelector("[data-map]").dataset.map]
  .getBounds().contains(point))"""
TOUCHED = """() => {
  window.touched = [];
  const row = (node) => (node.parentElement ?? node).closest(".row")?.dataset.id ?? "none";
  new MutationObserver((list) => list.forEach((each) => window.touched.push(row(each.target))))
    .observe(
      document.querySelector(".list-body"),
      { subtree: true, childList: true, characterData: true },
    );
}"""
BOOKED = (
    """id => document.dispatchEvent(new CustomEvent("ridedash:booked", {detail: {order: id}}))"""
)


class NoTokens:
    """No account has tokens, so the service is never called."""

    def bearer(self, _account_id: int) -> str:
        raise NeedsReconnect("house")


@pytest.fixture
def served(tmp_path: Path, browser: Browser) -> Iterator[Served]:
    with served_desk(tmp_path, browser) as found:
        found.desk.services.tokens = NoTokens()
        place = {"pickup_lat": -38.5, "pickup_lng": -128.0, "pickup_name": "Main door"}
        found.desk.add(lambda s: s.query(Property).update(place))
        yield found


def opened(served: Served, path: str = "/", **options: Any) -> Page:
    """The board with a signed-in user, after its first poll."""
    page = served.staff(**({"viewport": WIDE} | options))
    page.goto(path)
    polled(page)
    return page


def polled(page: Page) -> None:
    """Wait until the board shows its first poll: what comes later is news to it."""
    expect(page.locator("[data-alerts][data-key]")).to_be_attached()


def row(page: Page, order_id: int) -> Any:
    return page.locator(f'.row[data-id="{order_id}"]')


def headline(page: Page) -> Any:
    return page.locator("[data-detail] #headline")


def note(served: Served, order_id: int, **facts: Any) -> None:
    """Change another shown field of a ride."""

    def rows(s: Any) -> None:
        s.get(Order, order_id).version += 1
        for name, value in facts.items():
            setattr(s.query(Ride).filter(Ride.order_id == order_id).one(), name, value)

    served.desk.add(rows)


def ended(served: Served, order_id: int) -> None:
    """Note that a ride has ended, and is not polled any more."""
    note(served, order_id, ended_at=NOON, next_poll_at=None)


def test_a_click_shows_the_ride_beside_the_list_and_one_poll_updates_both(
    served: Served,
) -> None:
    order_id = served.desk.order("BOOKED", "CALL_DRIVER")
    page = opened(served)
    polled: list[str] = []
    page.on("request", lambda r: polled.append(r.url) if "snapshot.json" in r.url else None)
    row(page, order_id).locator(".row-link").click()
    expect(headline(page)).to_have_text("Driver on the way\u00a0· 4 min")
    expect(page).to_have_url(f"{served.url}/?ride={order_id}")
    served.move(order_id, "CLIENT_LOCATED")
    expect(headline(page)).to_have_text("Driver is here")
    expect(row(page, order_id).locator(".row-headline")).to_have_text("Driver is here")
    assert polled == []
    page.reload()
    expect(headline(page)).to_have_text("Driver is here")


def test_keys_move_between_rides_and_closing_one_restores_the_focus(served: Served) -> None:
    second, first = (
        served.desk.order("BOOKED", "CALL_DRIVER"),
        served.desk.order("BOOKED", "CALL_DRIVER"),
    )
    page = opened(served)
    for key, order_id in (("j", first), ("j", second), ("j", second), ("k", first), ("j", second)):
        page.keyboard.press(key)
        expect(row(page, order_id).locator(".row-link")).to_be_focused()
    page.keyboard.press("Enter")
    expect(row(page, second)).to_have_class(re.compile("is-chosen"))
    expect(page.locator("[data-detail]")).to_be_focused()
    page.keyboard.press("Escape")
    expect(row(page, second).locator(".row-link")).to_be_focused()
    expect(page.locator("[data-detail]")).to_be_hidden()
    expect(page).to_have_url(f"{served.url}/")


def test_back_closes_the_chosen_ride_and_forward_opens_it_again(served: Served) -> None:
    second, first = (served.desk.order("BOOKED", "CALL_DRIVER") for _ in range(2))
    page = opened(served)
    before = page.evaluate("history.length")
    for order_id in (first, second):
        row(page, order_id).locator(".row-link").click()
        expect(page).to_have_url(f"{served.url}/?ride={order_id}")
    assert page.evaluate("history.length") == before + 1
    page.go_back()
    expect(page.locator("[data-detail]")).to_be_hidden()
    page.go_forward()
    expect(headline(page)).to_be_visible()
    expect(row(page, second)).to_have_class(re.compile("is-chosen"))


def test_a_key_that_is_pressed_before_its_script_has_come_counts_then(served: Served) -> None:
    order_id = served.desk.order("BOOKED", "CALL_DRIVER")
    page = served.staff(viewport=WIDE)
    held: list[Route] = []
    page.route("**/board/list*.js*", lambda route: held.append(route))
    page.goto("/", wait_until="commit")
    page.locator("main").wait_for()
    page.evaluate("import(document.querySelector('script[src*=\"shared/keys\"]').src)")
    page.keyboard.press("j")
    for route in held:
        route.continue_()
    expect(row(page, order_id).locator(".row-link")).to_be_focused()


def test_cancelling_by_key_asks_once_with_the_focus_on_the_safe_answer(served: Served) -> None:
    order_id = served.desk.order("BOOKED", "CALL_DRIVER")
    page = opened(served, f"/?ride={order_id}")
    expect(headline(page)).to_be_visible()
    page.keyboard.press("x")
    expect(page.get_by_role("button", name="Keep the ride")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator('[data-action="cancel"]')).not_to_have_attribute("open", "")
    none = {"places": [], "message": "No place of that name."}
    page.route("**/places.json*", lambda route: route.fulfill(json=none))
    page.keyboard.press("d")
    expect(page.get_by_role("combobox", name="New drop")).to_be_focused()
    page.keyboard.type("x")  # typed as a letter: a field has the focus
    expect(page.get_by_role("combobox", name="New drop")).to_have_value("x")
    expect(page.locator("[data-drop-price]")).to_have_text("No place of that name.")
    page.keyboard.press("Escape")  # closes the panel, and not the ride
    expect(page.locator('[data-action="drop"]')).not_to_have_attribute("open", "")
    expect(headline(page)).to_be_visible()


def test_keys_show_the_code_and_fill_the_form_again_or_for_the_return_trip(served: Served) -> None:
    order_id = served.desk.order("BOOKED", "CLIENT_LOCATED", otp="4711")
    page = opened(served, f"/?ride={order_id}")
    expect(headline(page)).to_be_visible()
    page.evaluate("""() => { window.heard = [];
        document.addEventListener("ridedash:refill", ({detail}) => window.heard.push(detail)); }""")
    page.locator("[data-detail]").focus()
    page.keyboard.press("o")
    expect(page.locator("[data-code-digits]")).to_have_text("4711")
    page.keyboard.press("r")
    expect(page.locator("[data-filled]")).to_be_focused()  # the form is filled in and focused
    page.locator("[data-detail]").focus()
    page.keyboard.press("t")
    page.wait_for_function("window.heard.length > 1")
    assert page.evaluate("window.heard") == [
        {"order": order_id, "how": "again"},
        {"order": order_id, "how": "return"},
    ]


def test_a_key_that_can_do_nothing_says_so(served: Served) -> None:
    order_id = served.desk.order("BOOKED", "COMPLETED")
    page = opened(served, f"/?ride={order_id}")
    expect(headline(page)).to_be_visible()
    message = page.locator("[data-detail] [data-key-said]")
    for key, words in (
        ("o", "There is no start code now: it comes with the driver."),
        ("x", "That is not possible for this ride now."),
        ("d", "That is not possible for this ride now."),
    ):
        page.keyboard.press(key)
        expect(message).to_have_text(words)


def test_saying_what_happened_begins_with_what_is_not_known(served: Served) -> None:
    order_id = served.desk.order("UNKNOWN")
    page = opened(served)
    row(page, order_id).locator(".row-link").click()
    expect(page.get_by_label("Booking number")).to_be_in_viewport(ratio=1)
    row(page, order_id).get_by_role("link", name="Say what happened").click()
    expect(page.get_by_label("Booking number")).to_be_focused()
    expect(headline(page)).to_be_in_viewport()
    explained = page.get_by_text("Only a person can close this: the program never does.")
    expect(explained).to_be_in_viewport()
    expect(page.get_by_role("heading", name="It was booked", exact=True)).to_be_in_viewport()


def test_keys_for_the_form_and_the_search_and_the_list_of_keys(served: Served) -> None:
    page = opened(served)
    page.keyboard.press("n")
    expect(page.locator("#guest-find")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#guest-find")).not_to_be_focused()
    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()
    press_in_more(page, "Keys")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()


def test_single_keys_do_nothing_when_they_are_switched_off(served: Served) -> None:
    served.desk.order("BOOKED", "CALL_DRIVER")
    served.desk.add(lambda s: s.query(Staff).update({"shortcuts": False}))
    page = opened(served)
    for key in ("n", "j", "?"):
        page.keyboard.press(key)
        expect(page.locator("body")).to_be_focused()
    press_in_more(page, "Keys")
    expect(page.get_by_role("dialog")).to_contain_text("Single keys are switched off for you.")


def ids(page: Page, part: str = "") -> list[int]:
    return page.locator(f"{part} .row").evaluate_all("rows => rows.map(r => Number(r.dataset.id))")


@pytest.mark.parametrize("how", ["click", "j"])
def test_news_moves_rows_although_the_mouse_or_the_focus_rests_in_the_list(
    served: Served, how: str
) -> None:
    coming, other = (served.desk.order("BOOKED", "CALL_DRIVER") for _ in range(2))
    page = opened(served)
    link = row(page, other).locator(".row-link")
    if how == "click":
        link.click()
    else:
        page.keyboard.press("j")
    served.move(coming, "CLIENT_LOCATED")
    expect(page.locator("#now .row").first).to_have_attribute("data-id", str(coming))
    assert ids(page) == [coming, other]
    expect(link).to_be_focused()


def test_what_needs_somebody_is_in_view_however_far_the_list_is_scrolled(served: Served) -> None:
    *others, last, needy = (served.desk.order("BOOKED", "CALL_DRIVER") for _ in range(14))
    page = opened(served)
    first = row(page, others[0])
    first.scroll_into_view_if_needed()
    first.locator(".row-link").click()
    served.move(needy, "ALLOTMENT_FAILED")
    expect(row(page, needy).locator(".row-do")).to_be_in_viewport(ratio=1)
    expect(page.locator("#group-needs")).to_be_in_viewport(ratio=1)
    for each in (last, others[0]):
        row(page, each).scroll_into_view_if_needed()
        expect(row(page, needy).locator(".row-do")).to_be_in_viewport(ratio=1)
    page.set_viewport_size({"width": 390, "height": 844})
    for each in (last, others[0]):
        row(page, each).scroll_into_view_if_needed()
        expect(page.locator("#group-needs")).to_be_in_viewport(ratio=1)


def test_a_list_that_fits_is_not_scrolled_and_hides_no_ride(served: Served) -> None:
    calm, needy = (served.desk.order("BOOKED", "CALL_DRIVER") for _ in range(2))
    page = opened(served)
    row(page, calm).locator(".row-link").click()
    served.move(needy, "ALLOTMENT_FAILED")
    expect(page.locator("#needs .row")).to_have_count(1)
    for each in (calm, needy):
        expect(row(page, each)).to_be_in_viewport(ratio=0.9)
    tall = "parts => parts.map(each => each.scrollHeight - each.clientHeight)"
    assert page.locator(".list-body, .list-body > *").evaluate_all(tall) == [0, 0, 0]


def test_a_list_of_things_that_need_somebody_leaves_room_for_the_rest(served: Served) -> None:
    for _ in range(12):
        served.desk.order("UNKNOWN")
    calm = served.desk.order("BOOKED", "CALL_DRIVER")
    page = opened(served)
    expect(row(page, calm)).to_be_in_viewport(ratio=0.9)
    page.locator("#unknown .row").last.scroll_into_view_if_needed()
    expect(page.locator("#unknown .row").last).to_be_in_viewport(ratio=0.9)


def test_each_row_shows_where_the_ride_goes_however_long_the_name_is(served: Served) -> None:
    long = {"guest": "Guest Avocet of a Very Long Family Name", "room": "1507"}
    served.desk.order("UNKNOWN", **long)
    served.desk.order("BOOKED", "ALLOTMENT_FAILED", **long)
    served.desk.order("BOOKED", "CALL_DRIVER", **long)
    page = opened(served)
    widths = page.locator(".row-to").evaluate_all("all => all.map((each) => each.clientWidth)")
    assert len(widths) == 3
    assert min(widths) >= 80


def test_only_the_text_that_changed_is_touched(served: Served) -> None:
    first, second = (
        served.desk.order("BOOKED", "CALL_DRIVER"),
        served.desk.order("BOOKED", "IN_PROGRESS"),
    )
    page = opened(served)
    page.evaluate(TOUCHED)
    note(
        served, second, facts=snapshot_facts("point_to_point", "IN_PROGRESS", eta={"seconds": 600})
    )
    expect(row(page, second).locator(".row-headline")).to_have_text(
        "On trip\u00a0· about 10 min left"
    )
    assert set(page.evaluate("window.touched")) == {str(second)}
    assert first


def test_rides_that_need_attention_are_counted_in_the_title_and_sound_once(
    served: Served,
) -> None:
    old, order_id = served.desk.order("UNKNOWN"), served.desk.order("BOOKED", "CALL_DRIVER")
    served.desk.add(lambda s: s.query(Staff).update({"sound": True}))
    page = opened(served)
    page.evaluate(
        """() => {
          window.chimes = 0;
          document.addEventListener("ridedash:chime", () => (window.chimes += 1));
        }"""
    )
    expect(page).to_have_title("(1) Rides · Grand Meridian Hotel · Demo: no real rides")
    served.move(order_id, "ALLOTMENT_FAILED")
    expect(page).to_have_title("(2) Rides · Grand Meridian Hotel · Demo: no real rides")
    note(served, order_id, reported="ODD")
    expect(row(page, order_id).locator(".row-why")).to_contain_text("ODD")
    expect(row(page, order_id).locator(".row-do")).to_be_visible()  # the row had no button at first
    assert page.evaluate("window.chimes") == 1
    assert old


def test_a_suggested_action_needs_one_press(served: Served) -> None:
    swapped = served.desk.order(
        "BOOKED", "CALL_DRIVER", ride={"previous_plate": "KA 1"}, attention=["car_swapped"]
    )
    unknown = served.desk.order("UNKNOWN")
    page = opened(served)
    row(page, swapped).get_by_role("link", name="Guest told").click()
    expect(row(page, swapped).get_by_role("link", name="Guest told")).to_be_hidden()
    expect(page.locator("#needs")).to_be_hidden()
    row(page, unknown).get_by_role("link", name="Say what happened").click()
    expect(page.get_by_label("Booking number")).to_be_focused()
    page.get_by_label("How do you know?").fill("The driver never heard of it")
    page.get_by_role("button", name="Close as not booked").click()
    expect(page.locator("[data-detail] #said")).to_contain_text("Saved.")
    expect(headline(page)).to_contain_text("Closed as not booked")
    expect(page).to_have_url(f"{served.url}/?ride={unknown}")
    expect(page).to_have_title("Rides · Grand Meridian Hotel · Demo: no real rides")


def test_a_suggested_action_works_before_the_first_poll(served: Served) -> None:
    swapped = served.desk.order(
        "BOOKED", "CALL_DRIVER", ride={"previous_plate": "KA 1"}, attention=["car_swapped"]
    )
    page = served.staff(viewport=WIDE)
    page.route("**/board.json*", lambda route: route.abort())
    with page.expect_event("requestfailed", lambda failed: "/board.json" in failed.url):
        page.goto("/")  # now the page's script runs
    with page.expect_response(f"**/rides/{swapped}/acknowledge") as acknowledged:
        row(page, swapped).get_by_role("link", name="Guest told").click()
    assert acknowledged.value.status == 303
    expect(page).to_have_url(f"{served.url}/")


@pytest.mark.parametrize("language", ["en", "ar"])
def test_the_lines_of_a_row_on_a_phone_begin_at_one_edge(served: Served, language: str) -> None:
    desk = served.desk
    desk.add(lambda s: setattr(s.get(Staff, desk.ids["desk"]), "language", language))
    desk.order("BOOKED", "CALL_DRIVER", room="7")
    page = opened(served, viewport=PHONE)
    starts = """all => all.map((each) => {
      const range = document.createRange();
      range.selectNodeContents(each);
      const side = document.dir === "rtl" ? "right" : "left";
      return Math.round(range.getBoundingClientRect()[side]);
    })"""
    found = page.locator(".row-headline, .row-mid .room").evaluate_all(starts)
    assert len(found) == 2
    assert found[0] == found[1]


@pytest.mark.parametrize("width", [360, 390, 768, 1280, 1366, 1440])
def test_the_head_of_the_list_is_one_line_where_kiosk_codes_are_made(
    served: Served, width: int
) -> None:
    served.desk.order("BOOKED", "CALL_DRIVER")
    served.desk.order("SCHEDULED")
    served.desk.order("BOOKED", "COMPLETED")
    add_kiosk(served.desk, rule="code")
    page = opened(served, viewport={"width": width, "height": 800})
    middles = page.locator(
        ".list-head > h1, .list-jumps > a:first-child, .list-ways > a, .list-kiosks > a"
    ).evaluate_all(
        """all => all.map(each => each.getBoundingClientRect()).filter(({width}) => width)
          .map(({top, bottom}) => (top + bottom) / 2)"""
    )
    assert len(middles) == 3
    assert max(middles) - min(middles) < 4
    expect(page.get_by_role("link", name="Kiosk code")).to_be_visible()


def test_the_panel_begins_with_the_guest_and_then_says_what_they_read(served: Served) -> None:
    order_id = served.desk.order("BOOKED", "CALL_DRIVER", language="de")
    page = opened(served, f"/?ride={order_id}")
    guest, reads = page.locator(".beside .ride-guest"), page.locator(".beside .ride-reads")
    expect(reads).to_contain_text("Guest reads")
    above, below = guest.bounding_box(), reads.bounding_box()
    assert above
    assert below
    assert above["y"] + above["height"] <= below["y"] + 1


def test_a_long_button_of_a_row_leaves_its_guest_the_width(served: Served) -> None:
    served.desk.order("REJECTED", guest="Guest Heron", drop_name="Harbour")
    page = opened(served)
    page.locator(".row-do").evaluate(
        "each => { each.firstChild.textContent = 'Beheben und noch einmal versuchen'; }"
    )
    cut = page.locator(".row-name").evaluate("name => name.scrollWidth > name.clientWidth + 1")
    assert not cut


def test_the_button_of_a_row_covers_no_text(served: Served) -> None:
    served.desk.order("UNKNOWN", guest="Konstantinos Papadopoulos")
    served.desk.order("NOT_SENT", guest="Zebulon Featherstonehaugh")
    page = opened(served)
    expect(page.locator(".row-do")).to_have_count(2)
    wide = page.locator(".row-top").evaluate_all(
        "all => all.map(each => each.getBoundingClientRect().right)"
    )
    begun = page.locator(".row-do").evaluate_all(
        "all => all.map(each => each.getBoundingClientRect().left)"
    )
    assert all(end <= start for end, start in zip(wide, begun, strict=True)), (wide, begun)


def test_a_refused_form_is_shown_again_beside_the_list_with_its_text(
    served: Served,
) -> None:
    order_id = served.desk.order("UNKNOWN")
    page = opened(served, f"/?ride={order_id}")
    page.get_by_label("Booking number").fill("no number at all!")
    page.get_by_role("button", name="Check and link it").click()
    expect(page.locator("#form-error")).to_be_focused()
    expect(page.get_by_label("Booking number")).to_have_value("no number at all!")
    expect(page).to_have_url(f"{served.url}/?ride={order_id}")


# zooms the map to its property, and waits until all is drawn
ZOOMED = """async (zoom) => {
  const { map, home } = { map: window[document.querySelector("[data-map]").dataset.map],
    home: JSON.parse(document.querySelector("[data-home]").dataset.home) };
  window.written.length = 0;
  map.setView([home.lat, home.lng], zoom, { animate: false });
  for (let frames = 0; frames < 3; frames += 1) await new Promise(requestAnimationFrame);
}"""
WRITTEN = """() => {
  window.written = [];
  const plain = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    const half = this.measureText(text).width / 2;
    window.written.push([text, x - half, x + half, y]);
    return plain.call(this, text, x, y);
  };
}"""


@pytest.mark.parametrize(("zoom", "named"), [(13, True), (15, False)])
def test_the_map_names_the_property_where_its_tiles_do_not(
    served: Served, zoom: int, named: bool
) -> None:
    page = served.staff(viewport=WIDE)
    page.add_init_script(f"({WRITTEN})()")
    page.goto("/")
    expect(page.locator(f"{CAB} .map-home")).to_be_visible()
    page.evaluate(ZOOMED, zoom)
    drawn = page.evaluate("() => window.written.map(([text]) => text)")
    assert ("Grand Meridian Hotel" in drawn) is named


def test_the_map_marks_the_property_and_each_cab_with_its_room_inside_the_map(
    served: Served,
) -> None:
    order_id = served.desk.order("BOOKED", "CALL_DRIVER", guest="Guest Avocet of a Long Family")
    page = served.staff(viewport=WIDE)
    page.add_init_script(f"({WRITTEN})()")
    page.goto(f"/?ride={order_id}")
    expect(page.locator(f"{CAB} .map-home")).to_be_visible()
    expect(page.get_by_role("img", name="Grand Meridian Hotel", exact=True)).to_have_count(1)
    page.wait_for_function("() => window.written.some(([text]) => text.startsWith('Guest'))")
    frame = page.locator(CAB).bounding_box()
    assert frame is not None
    written = page.evaluate("window.written.filter(([text]) => text.startsWith('Guest')).at(-1)")
    assert written[1] >= 0
    assert written[2] <= frame["width"]
    assert 0 <= written[3] <= frame["height"]
    # the room, and the minutes until the cab arrives
    assert "412 · 4 min" in {each[0] for each in page.evaluate("window.written")}


def test_a_short_trip_is_fitted_again_after_a_long_one(served: Served) -> None:
    page = opened(served)
    map_there(page)
    show = """(drop) => document.dispatchEvent(new CustomEvent("ridedash:trip", {detail: {ends: [
      {lat: -38.5, lng: -128, name: "Main door"}, {...drop, name: "Drop"}]}}))"""
    zoom = """() => window[document.querySelector("[data-map]").dataset.map].getZoom()"""
    page.evaluate(show, {"lat": -38.4, "lng": -127.9})
    page.wait_for_function(f"() => ({zoom})() <= 12")
    page.evaluate(show, {"lat": -38.502, "lng": -128.002})
    page.wait_for_function(f"() => ({zoom})() >= 15")


def test_a_map_that_a_person_has_moved_stays_until_it_follows_again(served: Served) -> None:
    order_id = served.desk.order("BOOKED", "CALL_DRIVER")
    served.desk.order("BOOKED", "IN_PROGRESS")
    page = opened(served, f"/?ride={order_id}", viewport=TALL)
    expect(headline(page)).to_contain_text("on the way")
    again = page.get_by_role("button", name="Follow again")
    map_there(page)
    expect(again).to_be_hidden()
    box = page.locator(CAB).bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 150, y - 40, steps=4)
    page.mouse.up()
    expect(again).to_be_visible()
    page.evaluate(HALT)
    moved = page.evaluate(VIEW)

    def far(s: Any) -> None:  # the cab leaves the view
        s.get(Order, order_id).version += 1
        moved_on = {"position": [-38.6, -128.2], "eta": {"seconds": 540}}
        facts = snapshot_facts("point_to_point", "CALL_DRIVER", **moved_on)
        s.query(Ride).filter(Ride.order_id == order_id).one().facts = facts

    served.desk.add(far)
    expect(page.locator(f'.row[data-id="{order_id}"]')).to_contain_text("9 min")  # it is updated
    assert page.evaluate(VIEW) == moved
    again.click()
    expect(again).to_be_hidden()
    page.wait_for_function(f"() => {SHOWS}([-38.6, -128.2])")
    page.keyboard.press("m")  # show all cabs
    page.wait_for_function(f"() => {SHOWS}([-38.505, -128.004]) && {SHOWS}([-38.6, -128.2])")


def test_the_path_that_the_chosen_cab_has_driven_is_on_the_map(served: Served) -> None:
    order_id = served.desk.order("BOOKED", "CALL_DRIVER")

    def driven(s: Any) -> None:
        for n in range(4):
            at = NOON - timedelta(seconds=10 * (4 - n))
            point = {"lat": -38.52 + n * 0.004, "lng": -128.02 + n * n * 0.001}
            s.add(PathPoint(order_id=order_id, at=at, **point))

    served.desk.add(driven)
    page = opened(served, f"/?ride={order_id}", viewport=TALL)
    line = page.locator(f"{CAB} path.map-line")
    expect(line).to_have_attribute("d", PARTS_4)
    page.goto(f"/rides/{order_id}")
    page.wait_for_function(ENDS_AT_CAB)
    page.goto(f"/?ride={order_id}")
    expect(line).to_have_attribute("d", PARTS_4)

    def arrived(s: Any) -> None:  # no poll of this page has seen the cab's last positions
        for lat, lng in ((-38.506, -128.002), (-38.503, -128.009)):
            s.add(PathPoint(order_id=order_id, at=NOON, lat=lat, lng=lng))
        s.get(Order, order_id).version += 1
        ride = s.query(Ride).filter(Ride.order_id == order_id).one()
        ride.status, ride.facts = "COMPLETED", snapshot_facts("point_to_point", "COMPLETED")
        ride.ended_at = NOON

    served.desk.add(arrived)
    expect(line).to_have_attribute("d", PARTS_5)
    page.keyboard.press("Escape")  # no ride is chosen any more
    expect(page.locator(f"{CAB} path.map-line")).to_have_count(0)


def test_a_cab_on_the_map_chooses_its_ride(served: Served) -> None:
    order_id = served.desk.order("BOOKED", "IN_PROGRESS")
    page = opened(served)
    map_there(page)  # by then it is fitted to the cabs that the list knows
    box = page.locator(CAB).bounding_box()
    assert box is not None
    at = page.evaluate(
        """() => { const map = window[document.querySelector("[data-map]").dataset.map];
        const {x, y} = map.latLngToContainerPoint([-38.505, -128.004]);
        return [x, y]; }"""
    )
    page.mouse.click(box["x"] + at[0], box["y"] + at[1])
    expect(headline(page)).to_contain_text("On trip")
    expect(page.get_by_role("img", name="Meridian Airport, Departures")).to_be_visible()
    expect(row(page, order_id)).to_have_class(re.compile("is-chosen"))


def test_a_board_without_a_cab_shows_from_where_the_first_one_will_come(served: Served) -> None:
    """The map does not move by itself later: it must show a cab that comes from 1.5 km away."""
    page = opened(served)
    map_there(page)
    page.wait_for_function(
        """() => { const map = window[document.querySelector("[data-map]").dataset.map];
        return [[-38.4865, -128], [-38.5135, -128], [-38.5, -128.017], [-38.5, -127.983]].every(
          (point) => map.getBounds().contains(point)); }"""
    )


def test_a_silent_server_is_shown_until_it_answers(served: Served) -> None:
    order_id = served.desk.order("BOOKED", "CALL_DRIVER")
    page = served.staff(viewport=WIDE)
    page.clock.install(time=NOON)
    page.goto("/")
    polled(page)
    chip = page.locator("[data-live-chip]")
    expect(chip).to_have_text("Live · just now")
    page.route("**/board.json*", lambda route: route.abort())
    page.evaluate(SET_BACK)
    for _ in range(4):
        page.clock.fast_forward(4_000)
    expect(chip).to_have_text(re.compile(r"Not live · \d+:\d\d"))
    expect(chip).to_have_attribute("title", re.compile(r"^No answer from ridedash\."))
    expect(page.locator("[data-board]")).to_have_class(re.compile("is-cut"))
    page.unroute("**/board.json*")
    page.clock.fast_forward(40_000)
    expect(chip).to_contain_text("Live")
    expect(chip).to_have_attribute("title", "")
    expect(page.locator("[data-board]")).not_to_have_class(re.compile("is-cut"))
    expect(row(page, order_id)).to_be_visible()


@pytest.mark.parametrize("width", [390, 560, 820, 1024, 1100, 1280])
def test_the_head_of_the_list_keeps_its_height_without_a_network(
    served: Served, width: int
) -> None:
    served.desk.order("BOOKED", "CALL_DRIVER")
    page = served.staff(viewport={"width": width, "height": 800})
    page.goto("/")
    polled(page)
    head = page.locator(".list-head")
    before = head.bounding_box()
    page.context.set_offline(True)
    expect(page.locator("[data-board]")).to_have_class(re.compile("is-cut"))
    after = head.bounding_box()
    assert before
    assert after
    assert after["height"] == before["height"]


@pytest.mark.parametrize("part", ["board/fleet.js", "leaflet/leaflet.js"])
def test_a_map_that_did_not_come_says_so_and_the_list_goes_on(served: Served, part: str) -> None:
    """There is no script error either: the fixture checks that at its end."""
    page = served.staff(viewport=WIDE)
    page.route(f"**/{part}", lambda route: route.abort())
    page.goto("/")
    expect(page.locator(CAB)).to_contain_text("The map did not load. Reload the page.")
    order_id = served.desk.order("READY")
    page.evaluate(BOOKED, order_id)
    expect(row(page, order_id)).to_be_visible()


def test_a_new_ride_is_listed_before_the_next_poll_is_due(served: Served) -> None:
    page = opened(served)
    order_id = served.desk.order("READY")
    page.evaluate(BOOKED, order_id)
    expect(row(page, order_id).locator(".row-headline")).to_have_text("Sending request…")


def test_a_late_answer_for_the_earlier_ride_is_not_shown(served: Served) -> None:
    first, second = (
        served.desk.order("BOOKED", "CALL_DRIVER"),
        served.desk.order("BOOKED", "IN_PROGRESS"),
    )
    page = opened(served, f"/?ride={first}")
    expect(headline(page)).to_contain_text("Driver on the way")

    def slow(route: Route) -> None:
        answer = route.fetch()
        row(page, second).locator(".row-link").dispatch_event("click")
        route.fulfill(response=answer)

    page.route(f"**/board.json*ride={first}", slow, times=1)
    served.move(first, "CLIENT_LOCATED")
    expect(headline(page)).to_contain_text("On trip")
    expect(row(page, first).locator(".row-headline")).to_have_text("Driver is here")
    expect(headline(page)).to_contain_text("On trip")


def test_on_a_phone_a_ride_is_a_page_and_the_map_another_view(served: Served) -> None:
    order_id = served.desk.order("BOOKED", "CALL_DRIVER")
    page = opened(served, viewport={"width": 390, "height": 844})
    expect(page.locator(CAB)).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("link", name="Map", exact=True).click()
    expect(page.locator(CAB)).to_be_visible()
    expect(row(page, order_id)).to_be_hidden()
    page.get_by_role("link", name="List", exact=True).click()
    row(page, order_id).locator(".row-link").click()
    expect(page).to_have_url(f"{served.url}/rides/{order_id}")
    expect(page.locator("html.scripted")).to_be_attached()
    page.keyboard.press("d")
    expect(page.get_by_role("combobox", name="New drop")).to_be_focused()


@pytest.mark.parametrize("size", [(768, 1024), (820, 1180), (1000, 768)])
def test_on_a_tablet_the_list_stands_beside_the_form_and_beside_the_chosen_ride(
    served: Served, size: tuple[int, int]
) -> None:
    order_id = served.desk.order("BOOKED", "CALL_DRIVER")
    page = opened(served, viewport={"width": size[0], "height": size[1]})
    listed = page.locator(".desk-list").bounding_box()
    expect(page.locator("[data-desk-new]")).to_be_visible()
    row(page, order_id).click()
    expect(headline(page)).to_be_visible()
    expect(page.locator(CAB)).to_be_visible()
    expect(page.locator("[data-desk-new]")).to_be_hidden()
    assert page.locator(".desk-list").bounding_box() == listed
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    page.keyboard.press("Escape")
    expect(page.locator("[data-desk-new]")).to_be_visible()


FACES = {  # the widest and the narrowest of common fonts
    "wide": "DejaVu Sans, Verdana",
    "narrow": "DejaVu Sans Condensed, Liberation Sans Narrow, Arial Narrow",
}
CUT = """() => [...document.querySelectorAll(
    ".bar-link, .list-head *, .state-headline, .state-detail, .plate, .btn, .step-label"
  )].filter((part) => part.getClientRects().length && !part.closest(".visually-hidden, dialog") &&
      part.clientWidth > 1 && part.scrollWidth > part.clientWidth + 1)
    .map((part) => part.className || part.textContent)"""


@pytest.mark.parametrize("face", FACES)
def test_words_hold_in_the_widest_and_the_narrowest_face(served: Served, face: str) -> None:
    order_id = served.desk.order("BOOKED", "CLIENT_LOCATED", otp="4711")
    page = served.staff(viewport=WIDE)
    for path in (f"/?ride={order_id}", f"/rides/{order_id}"):
        page.goto(path)
        page.evaluate(
            "(face) => document.documentElement.style.setProperty('--sans', face)", FACES[face]
        )
        expect(page.locator(".state-headline")).to_be_visible()
        for width in (1280, 1024, 768, 390):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate(CUT) == [], width
            assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_a_board_with_rides_of_all_kinds(served: Served, scheme: str) -> None:
    chosen = served.desk.order("BOOKED", "CLIENT_LOCATED", otp="4711")
    for state, status, facts in (
        ("UNKNOWN", None, {}),
        ("BOOKED", "ALLOTMENT_FAILED", {}),
        ("BOOKED", "COMPLETED", {}),
        ("READY", None, {}),
        (
            "BOOKED",
            "CALL_DRIVER",
            {"ride": {"previous_plate": "KA 1"}, "attention": ["car_swapped"]},
        ),
    ):
        served.desk.order(state, status, **facts)
    page = opened(served, f"/?ride={chosen}", color_scheme=scheme)
    expect(headline(page)).to_be_visible()
    assert violations(page) == []
    ids = page.locator("[id]").evaluate_all("list => list.map(each => each.id)")
    assert sorted(ids) == sorted(set(ids))
