"""The property's face on a kiosk's screens, what nobody's kiosk shows, and the way to a booking."""

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.views.kiosk.kiosk_screens import FakeKiosk, at, fake_kiosk, press, type_on

pytestmark = [pytest.mark.browser, pytest.mark.database]

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
PICTURE = {"wide": "/face/wide.jpg", "tall": "/face/tall.jpg"}
LONG_MS = 160_000  # after which nobody is expected any more
IN_STAGE = "[data-stage] > .k-face"


@pytest.fixture
def kiosk(tmp_path: Path, browser: Browser) -> Iterator[FakeKiosk]:
    with fake_kiosk(tmp_path, browser) as made:
        yield made


def with_facts(kiosk: FakeKiosk, **facts: Any) -> None:
    """Let the kiosk's document have these facts."""
    document = kiosk.document()
    kiosk.document = lambda: document | facts  # type: ignore[method-assign]


def with_property(kiosk: FakeKiosk, **facts: Any) -> None:
    """Let the kiosk's document have these facts of its property."""
    with_facts(kiosk, property=kiosk.document()["property"] | facts)


def pictures(asked: list[str], answer: Callable[[Route], None]) -> Callable[[Page], None]:
    """Answer requests for the property's picture, and note them."""

    def answered(route: Route) -> None:
        asked.append(route.request.url.rsplit("/", 1)[1])
        answer(route)

    return lambda page: page.route("**/face/*.jpg", answered)


def clocked(page: Page) -> None:
    page.clock.install()


def jump(page: Page, ms: int) -> None:
    """Let this time pass at once; the heartbeat that is due then is answered."""
    with page.expect_response("**/kiosk/beat"):
        page.clock.fast_forward(ms)
    page.evaluate("() => new Promise((done) => queueMicrotask(done))")


def leave_alone(page: Page) -> None:
    """Let the time pass after which nobody is expected any more."""
    page.wait_for_load_state("networkidle")
    jump(page, LONG_MS)


def test_room_204_takes_seven_touches(kiosk: FakeKiosk) -> None:
    page = kiosk.page("landscape")
    touches = ["once-0", "car-0", "key-2", "key-0", "key-4", "next", "book"]
    kiosk.order = [kiosk.booked()]
    for touch in touches:
        press(page, touch)
    at(page, "booked")
    assert len(touches) == 7
    (order,) = [given for name, given in kiosk.requests if name == "order"]
    assert order["name"] == "204"


def test_a_place_of_the_start_screen_is_where_its_car_goes(kiosk: FakeKiosk) -> None:
    page = kiosk.page("portrait")
    press(page, "once-1")
    page.locator(".k-car").first.wait_for()
    (asked,) = [given for name, given in kiosk.requests if name == "cars"]
    assert asked["drop_name"] == "Central Station"
    press(page, "bar-back")
    at(page, "start")


@pytest.mark.parametrize("layout", ["tablet", "least-portrait"])
def test_a_tablet_has_no_room_for_places_on_its_start_screen(kiosk: FakeKiosk, layout: str) -> None:
    page = kiosk.page(layout)
    expect(page.locator("[data-press=start]")).to_be_visible()
    expect(page.locator("[data-press^=once-]")).to_have_count(0)


def test_each_question_says_how_many_follow(kiosk: FakeKiosk) -> None:
    page = kiosk.page("landscape")
    said = page.locator(".k-step-words")
    expect(said).to_have_count(0)
    press(page, "start")
    expect(said).to_have_text("1 of 4")
    press(page, "place-0")
    expect(said).to_have_text("2 of 4")
    press(page, "car-0")
    expect(said).to_have_text("3 of 4")
    type_on(page, "204")
    press(page, "next")
    expect(said).to_have_text("4 of 4")
    kiosk.order = [kiosk.booked()]
    press(page, "book")
    at(page, "booked")
    expect(said).to_have_count(0)


def test_screens_move_the_way_that_their_questions_follow(kiosk: FakeKiosk) -> None:
    page = kiosk.page("landscape", reduced_motion="no-preference")
    body = page.locator("body")
    press(page, "start")
    expect(body).to_have_attribute("data-move", "")
    press(page, "place-0")
    page.locator(".k-car").first.wait_for()
    press(page, "car-0")
    expect(body).to_have_attribute("data-move", "on")
    moves = "() => document.querySelector('.k-question').getAnimations().length"
    assert page.evaluate(moves) == 1
    press(page, "bar-back")
    expect(body).to_have_attribute("data-move", "back")


def test_a_place_has_the_sign_of_its_kind_and_any_other_a_pin(kiosk: FakeKiosk) -> None:
    page = kiosk.page("landscape")
    press(page, "start")
    uses = page.locator(".k-sign use")
    expect(uses).to_have_count(6)
    signs = uses.evaluate_all("uses => uses.map((use) => use.href.baseVal.split('#')[1])")
    assert signs == ["plane", "stations", "drop", "drop", "hospitals", "sights"]


def test_the_way_is_on_a_map_beside_the_cars_of_a_wide_screen(kiosk: FakeKiosk) -> None:
    page = kiosk.page("landscape")
    press(page, "start", "place-0")
    way = page.get_by_role("img", name="Map of the way")
    expect(way).to_be_visible()
    expect(way.locator(".k-map-pin")).to_have_count(2)
    page.context.close()
    kiosk.failing.add("tiles")  # no pins on an empty map
    page = kiosk.page("landscape")
    press(page, "start", "place-0")
    page.locator(".k-car").first.wait_for()
    expect(page.locator(".k-map-box")).to_have_count(0)


@pytest.mark.parametrize(("layout", "crop"), [("landscape", "tall.jpg"), ("portrait", "wide.jpg")])
def test_the_picture_of_the_property_is_cropped_for_its_place(
    kiosk: FakeKiosk, layout: str, crop: str
) -> None:
    asked: list[str] = []
    with_property(kiosk, picture=PICTURE)
    shown = pictures(asked, lambda route: route.fulfill(body=PIXEL, content_type="image/png"))
    page = kiosk.page(layout, before=shown)
    page.wait_for_load_state("networkidle")
    assert asked == [crop]
    expect(page.locator(f"{IN_STAGE} img")).to_be_visible()
    press(page, "start")
    expect(page.locator(f"{IN_STAGE} img")).to_be_visible()
    assert asked == [crop]  # one picture for all screens


@pytest.mark.parametrize("pattern", ["waves", "arches", "lattice"])
def test_without_a_picture_there_is_a_pattern_in_the_colour_of_the_property(
    kiosk: FakeKiosk, pattern: str
) -> None:
    with_property(kiosk, pattern=pattern)
    page = kiosk.page("landscape")
    drawn = page.locator(f"{IN_STAGE} svg")
    expect(drawn).to_be_visible()
    fills = drawn.evaluate(
        "svg => new Set([...svg.children].map((each) => getComputedStyle(each).fill)).size"
    )
    assert fills > 5


def test_a_picture_that_does_not_come_leaves_the_pattern(kiosk: FakeKiosk) -> None:
    with_property(kiosk, picture=PICTURE)
    page = kiosk.page("landscape", before=pictures([], lambda route: route.abort()))
    expect(page.locator(f"{IN_STAGE} svg")).to_be_visible()
    expect(page.locator(f"{IN_STAGE} img")).to_have_count(0)


def test_a_kiosk_that_nobody_touches_invites_in_all_its_languages(kiosk: FakeKiosk) -> None:
    kiosk.languages = ["en", "ar"]
    page = kiosk.page("landscape", before=clocked)
    expect(page.locator(".k-attract")).to_have_count(0)
    leave_alone(page)
    words = page.locator(".k-attract-words")
    seen = set()
    for _ in range(2):
        seen.add((words.get_attribute("lang"), words.get_attribute("dir")))
        expect(words).to_contain_text("Grand Meridian")
        jump(page, 7_000)
    assert seen == {("en", "ltr"), ("ar", "rtl")}
    page.locator(".k-attract").wait_for()
    page.mouse.click(1400, 300)  # where the start screen has its largest control
    expect(page.locator(".k-attract")).to_have_count(0)
    at(page, "start")
    press(page, "start")
    at(page, "where")


def test_a_key_ends_the_invitation_and_presses_nothing(kiosk: FakeKiosk) -> None:
    page = kiosk.page("portrait", before=clocked)
    leave_alone(page)
    page.locator(".k-attract").wait_for()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".k-attract")).to_have_count(0)
    at(page, "start")


@pytest.mark.parametrize(
    "state", [{"open": False}, {"full": "hourly"}, {"trouble": "service"}, {"needs_code": True}]
)
def test_a_kiosk_that_books_nothing_now_invites_nobody(
    kiosk: FakeKiosk, state: dict[str, Any]
) -> None:
    kiosk.heartbeat |= state
    page = kiosk.page("landscape", before=clocked)
    leave_alone(page)
    expect(page.locator(".k-attract")).to_have_count(0)


@pytest.mark.parametrize(("now", "ground"), [("T14:00", "light"), ("T23:30", "dark")])
def test_a_kiosk_is_dark_by_night(kiosk: FakeKiosk, now: str, ground: str) -> None:
    with_facts(kiosk, clock={"now": f"2024-05-01{now}:00+05:30", "speed": 1})
    page = kiosk.page("landscape")
    red, green, blue = page.locator("html").evaluate(
        "root => getComputedStyle(root).backgroundColor.match(/[\\d.]+/g).slice(0, 3).map(Number)"
    )
    assert {True: "light", False: "dark"}[red + green + blue > 380] == ground
