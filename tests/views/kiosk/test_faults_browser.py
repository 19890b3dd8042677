"""What a kiosk's page does by itself when an answer does not come, on each screen of a visit.

What the server answers is tested in test_faults.py. `python -m bench.kiosk_faults`, which is run by
hand, provokes these and more faults in the running program, in two languages.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.views.kiosk.kiosk_screens import (
    RIDE,
    FakeKiosk,
    at,
    fake_kiosk,
    press,
    to_check,
    type_on,
)

pytestmark = [pytest.mark.browser, pytest.mark.database]
GRACE_MS = 6_000  # a little more than the page waits for a server to come back


@pytest.fixture
def kiosk(tmp_path: Path, browser: Browser) -> Iterator[FakeKiosk]:
    with fake_kiosk(tmp_path, browser) as made:
        yield made


@pytest.fixture
def page(kiosk: FakeKiosk) -> Page:
    return kiosk.page(before=lambda page: page.clock.install())


def find(page: Page) -> None:
    """Look for the ride of a ticket, from the start screen."""
    press(page, "have")
    type_on(page, "27")
    press(page, "field-pin")
    type_on(page, RIDE["pin"])
    press(page, "next")


def begins_anew(kiosk: FakeKiosk, page: Page) -> None:
    """End the fault, and return to the start screen for another guest."""
    kiosk.failing = set()
    press(page, "bar-over")
    at(page, "start")


def test_what_is_never_answered_while_our_server_lives_ends_at_a_person(
    kiosk: FakeKiosk, page: Page
) -> None:
    words = kiosk.document()["words"]["ar"]
    heading = expect(page.locator("h1"))

    press(page, "lang-ar", "start")
    kiosk.failing = {"cars"}
    press(page, "place-0")
    page.clock.fast_forward(GRACE_MS)
    heading.to_have_text(words["trouble"])
    expect(page.locator("[data-stage]")).to_contain_text(words["trouble_next"])
    expect(page.locator('[data-press="help"]')).to_be_visible()
    begins_anew(kiosk, page)

    press(page, "lang-ar", "start", "other", "swap")
    kiosk.failing = {"places.json"}
    press(page, "key-م", "key-ه")
    page.clock.fast_forward(GRACE_MS)
    page.clock.fast_forward(GRACE_MS)
    expect(page.locator(".k-results")).to_have_text(words["limited"])
    kiosk.failing = set()
    page.clock.fast_forward(3_000)  # the page searches again by itself
    page.locator(".k-results [data-press]").first.wait_for()
    begins_anew(kiosk, page)

    press(page, "lang-ar")
    kiosk.failing = {"ride"}
    find(page)
    press(page, "next")
    page.clock.fast_forward(GRACE_MS)
    heading.to_have_text(words["ride_closed"])
    begins_anew(kiosk, page)

    press(page, "lang-ar")
    kiosk.failing = {"help"}
    press(page, "bar-help")
    expect(page.get_by_role("dialog")).to_contain_text(words["help_no_way"])


def test_places_are_those_of_all_that_was_typed_although_the_screen_was_drawn_anew(
    kiosk: FakeKiosk, page: Page
) -> None:
    press(page, "start", "other")
    type_on(page, "ai")
    page.clock.fast_forward(1_000)
    expect(page.locator(".k-results")).to_contain_text("Ai Road")
    type_on(page, "rp")
    press(page, "aid-large")  # before these letters are searched for
    page.clock.fast_forward(1_000)
    expect(page.locator(".k-results")).to_contain_text("Airp Road")


def test_a_press_of_show_my_ride_counts_once_until_it_is_answered(
    kiosk: FakeKiosk, page: Page
) -> None:
    kiosk.failing = {"ride"}
    with page.expect_response("**/kiosk/ride"):
        find(page)
        press(page, "next", "next")
    kiosk.failing = set()
    page.clock.fast_forward(1_000)
    at(page, "ride")
    rides = [given for name, given in kiosk.requests if name == "ride"]
    assert len(rides) == 2, "one that failed, and its repetition"
    assert {given["kiosk"] for given in rides} == {"1"}


def test_a_lost_server_is_reported_in_the_guests_language_and_leaves_no_one_waiting(
    kiosk: FakeKiosk, page: Page
) -> None:
    words = kiosk.document()["words"]
    heading = expect(page.locator("h1"))
    contrast = expect(page.locator('[data-press="aid-contrast"]'))
    press(page, "lang-ar", "start", "aid-contrast")
    kiosk.away = True
    press(page, "place-1")
    page.clock.fast_forward(GRACE_MS)
    heading.to_have_text(words["ar"]["broken"])
    contrast.to_have_attribute("aria-pressed", "true")  # the guest who needs it is still there
    assert "Central Station" not in page.content().split("<script")[0]
    page.clock.fast_forward(46_000)
    heading.to_have_text(words["en"]["broken"])  # the guest has left
    contrast.to_have_attribute("aria-pressed", "false")
    kiosk.away = False
    page.clock.fast_forward(1_000)
    at(page, "start")

    to_check(page)
    for _ in range(3):  # until the prices are so old that Book asks for new ones
        page.clock.fast_forward(40_000)
        page.keyboard.press("Shift")
    at(page, "check")
    kiosk.away = True
    press(page, "book")
    page.clock.fast_forward(GRACE_MS)
    heading.to_have_text(words["en"]["not_booked"])
    assert "order" not in [name for name, _given in kiosk.requests]
    page.clock.fast_forward(46_000)  # time to read; then the kiosk asks “Still there?”
    page.clock.fast_forward(20_000)
    heading.to_have_text(words["en"]["broken"])


def test_that_nothing_was_ordered_stays_while_the_database_is_locked(
    kiosk: FakeKiosk, page: Page
) -> None:
    words = kiosk.document()["words"]["en"]
    words_shown = {"headline": words["trouble"], "why": "Nothing was booked.", "next": ""}
    to_check(page)
    kiosk.order = [{"state": "trouble", "words": words_shown}]
    kiosk.heartbeat["trouble"] = "database"
    press(page, "book")
    at(page, "sorry")
    with page.expect_response("**/kiosk/beat"):
        page.clock.fast_forward(20_000)
    page.clock.fast_forward(GRACE_MS)
    expect(page.locator("[data-stage]")).to_contain_text("Nothing was booked.")
    press(page, "bar-over")
    expect(page.locator("h1")).to_have_text(words["broken"])


def test_a_refused_heartbeat_ends_no_visit_unless_the_device_is_no_longer_a_kiosk(
    kiosk: FakeKiosk, page: Page
) -> None:
    press(page, "start", "place-0")
    page.locator(".k-car").first.wait_for()
    press(page, "car-0")
    type_on(page, "anna")
    name = page.locator(".is-chosen input")
    for status in (404, 401, 400):  # from a proxy, or because the token is not the session's
        kiosk.refusing, kiosk.csrf = {"beat": status}, f"after-{status}"
        with page.expect_request("**/kiosk"):  # the page requests itself
            page.clock.fast_forward(20_000)
        kiosk.refusing = {}
        fresh = f"csrf_token={kiosk.csrf}"
        with page.expect_request(lambda sent, fresh=fresh: fresh in (sent.post_data or "")):
            page.clock.fast_forward(6_000)
        page.keyboard.press("Shift")  # a guest is still there
        expect(name).to_have_value("Anna")
    kiosk.refusing, kiosk.paired = {"beat": 404}, False
    page.clock.fast_forward(20_000)
    expect(page.locator("h1")).to_have_text("Pair this screen")


def test_a_new_release_is_loaded_once_and_under_no_guest(kiosk: FakeKiosk, page: Page) -> None:
    loads: list[Page] = []
    reloads: list[str] = []
    page.on("load", lambda loaded: loads.append(loaded))
    page.on(
        "request", lambda sent: reloads.append(sent.url) if sent.url.endswith("/kiosk") else None
    )

    def heartbeats(times: int = 1) -> None:
        for _ in range(times):
            with page.expect_response("**/kiosk/beat"):
                page.clock.fast_forward(20_000)

    kiosk.release, kiosk.refusing = "r2", {"document": 502}
    press(page, "start")
    heartbeats(2)
    assert reloads == [], "a guest stands there"
    press(page, "bar-over")
    with page.expect_response("**/kiosk"):
        page.clock.fast_forward(20_000)
    at(page, "start")
    assert loads == []
    kiosk.refusing = {}
    with page.expect_event("load"):
        page.clock.fast_forward(20_000)
    at(page, "start")
    page.locator('[data-press="start"]').wait_for()
    heartbeats(3)
    assert len(loads) == 1


def test_the_clock_follows_the_servers_although_the_page_is_never_loaded_again(
    kiosk: FakeKiosk, page: Page
) -> None:
    clock = expect(page.locator("[data-clock]"))
    clock.to_have_text("14:00")
    kiosk.heartbeat["clock"] = {"now": "2026-07-01T20:30:40Z", "speed": 0}
    page.clock.fast_forward(20_000)
    clock.to_have_text("02:00")
    page.clock.fast_forward(19_000)
    clock.to_have_text("02:00")  # the clock stands still
    kiosk.heartbeat["clock"] = {"now": "2026-07-01T20:30:40Z", "speed": 60}
    with page.expect_response("**/kiosk/beat"):
        page.clock.fast_forward(2_000)
    clock.to_have_text(re.compile(r"02:0[1-9]"))
    kiosk.away = True  # each further answer would set the clock back to its time
    press(page, "lang-hi")
    page.clock.fast_forward(10_000)
    clock.to_have_text(re.compile(r"02:[1-5]\d"))  # at this speed a slow machine adds minutes


def test_a_server_that_comes_back_in_time_costs_nothing(kiosk: FakeKiosk, page: Page) -> None:
    press(page, "start")
    kiosk.away = True
    press(page, "place-0")
    expect(page.locator("h1")).to_have_text("Which car?")
    kiosk.away = False
    page.clock.fast_forward(1_000)
    page.locator(".k-car").first.wait_for()


def test_a_short_loss_of_the_network_is_shown_and_wipes_nothing(
    kiosk: FakeKiosk, page: Page
) -> None:
    moment = page.locator("[data-moment]")
    press(page, "start", "place-0", "car-0")
    type_on(page, "an")
    kiosk.away = True
    page.evaluate("dispatchEvent(new Event('offline'))")
    expect(moment).to_have_text("One moment…")
    type_on(page, "na")  # the keys work on
    page.clock.fast_forward(3_000)
    at(page, "who")
    kiosk.away = False
    page.evaluate("dispatchEvent(new Event('online'))")
    expect(moment).to_be_hidden()
    expect(page.locator(".is-chosen input")).to_have_value("Anna")
    press(page, "next")
    at(page, "check")
    kiosk.order = [kiosk.booked()]
    press(page, "book")
    page.locator(".k-pin").wait_for()
    assert "end" not in [name for name, _given in kiosk.requests]


def test_a_press_during_a_short_loss_of_the_network_has_its_answer_afterwards(
    kiosk: FakeKiosk, page: Page
) -> None:
    press(page, "start")
    kiosk.away = True
    press(page, "place-0")
    expect(page.locator("[data-moment]")).to_be_visible()
    page.clock.fast_forward(4_000)
    expect(page.locator("h1")).to_have_text("Which car?")
    kiosk.away = False
    page.clock.fast_forward(1_000)
    page.locator(".k-car").first.wait_for()
    expect(page.locator("[data-moment]")).to_be_hidden()


@pytest.mark.parametrize("lost", ["network", "database"])
def test_a_visit_is_wiped_after_five_seconds_and_with_words(
    kiosk: FakeKiosk, page: Page, lost: str
) -> None:
    press(page, "start", "place-0", "car-0")
    type_on(page, "anna")
    if lost == "network":
        kiosk.away = True
        page.evaluate("dispatchEvent(new Event('offline'))")
    else:
        kiosk.heartbeat["trouble"] = "database"
        page.clock.fast_forward(20_000)
    expect(page.locator("[data-moment]")).to_have_text("One moment…")
    page.clock.fast_forward(3_000)
    expect(page.locator(".is-chosen input")).to_have_value("Anna")
    page.clock.fast_forward(GRACE_MS)
    expect(page.locator("h1")).to_have_text("Out of order. Please ask our staff.")
    expect(page.locator("[data-moment]")).to_be_hidden()
    assert "Anna" not in page.content()


def test_the_usual_duration_is_shown_after_four_seconds_and_twenty_are_never_exceeded(
    kiosk: FakeKiosk, page: Page
) -> None:
    to_check(page)
    # only the fake clock ends the wait
    page.evaluate("AbortSignal.timeout = () => new AbortController().signal")
    waiting: list[Route] = []
    page.route("**/kiosk/order", lambda route: waiting.append(route))
    press(page, "book")
    stage = page.locator("[data-stage]")
    expect(stage).to_contain_text("Booking your ride")
    page.clock.fast_forward(4_000)
    expect(stage).to_contain_text("This usually takes 2 seconds.")
    page.clock.fast_forward(16_000)
    at(page, "unknown")
    expect(page.locator("h1")).to_contain_text("Please don't book again.")
    for route in waiting:
        route.abort()


def test_a_lost_answer_while_the_desk_confirms_changes_nothing(
    kiosk: FakeKiosk, page: Page
) -> None:
    to_check(page)
    kiosk.order = [{"state": "asking"}]
    press(page, "book")
    at(page, "asking")
    page.clock.fast_forward(30_000)
    kiosk.failing = {"order"}
    with page.expect_response(lambda answer: answer.status == 500):
        page.clock.fast_forward(1_000)
    kiosk.failing = set()
    with page.expect_request("**/kiosk/order") as repeated:
        page.clock.fast_forward(1_000)
    assert "look=" not in (repeated.value.post_data or "")
    at(page, "asking")
    kiosk.order = [{"state": "sending"}]
    page.clock.fast_forward(1_000)
    at(page, "sending")  # and not `unknown`, although half a minute is over
    kiosk.order = [kiosk.booked()]
    page.clock.fast_forward(1_000)
    expect(page.locator("h1")).to_have_text(re.compile("K27"))


def test_cars_that_could_not_be_requested_come_by_themselves_while_the_guest_waits(
    kiosk: FakeKiosk, page: Page
) -> None:
    words = kiosk.document()["words"]["ar"]
    words_shown = {"headline": words["limited"], "why": "", "next": ""}
    heading, usual = expect(page.locator("h1")), kiosk.answers["cars"]
    without = {"words": words_shown, "cars": [], "again_s": 5}
    kiosk.answers["cars"] = lambda _: {"state": "trouble", **without}
    press(page, "lang-ar", "start", "place-0")
    heading.to_have_text(words["limited"])
    expect(page.locator('[data-press="again"]')).to_have_text(words["try_again"])
    page.locator("h1").evaluate("node => { globalThis.drawn = node; }")
    for _ in range(3):
        with page.expect_response("**/kiosk/cars"):
            page.clock.fast_forward(5_000)
    assert page.evaluate("drawn.isConnected"), "what is shown already is not announced again"

    kiosk.failing = {"cars"}  # errors of our own server don't end the attempts
    with page.expect_response("**/kiosk/cars"):
        page.clock.fast_forward(5_000)
    heading.to_have_text(words["trouble"])
    kiosk.failing, kiosk.answers["cars"] = set(), usual
    page.clock.fast_forward(5_000)
    page.locator(".k-car").first.wait_for()

    counted = len(kiosk.requests)
    press(page, "bar-back")
    kiosk.answers["cars"] = lambda _: {"state": "limited", **without}
    press(page, "place-1")
    heading.to_have_text(words["limited"])
    press(page, "bar-back")
    page.clock.fast_forward(15_000)
    at(page, "where")
    assert [name for name, _ in kiosk.requests[counted:] if name == "cars"] == ["cars"]


def test_the_wait_for_cars_is_bounded(kiosk: FakeKiosk, page: Page) -> None:
    kiosk.answers["cars"] = lambda _: {"state": "trouble", "cars": [], "again_s": 5}
    press(page, "start", "place-0")
    page.locator('[data-press="again"]').wait_for()
    page.clock.fast_forward(61_000)
    page.get_by_role("alertdialog").wait_for()
    page.clock.fast_forward(21_000)
    at(page, "start")
    counted = [name for name, _ in kiosk.requests].count("cars")
    page.clock.fast_forward(15_000)
    assert [name for name, _ in kiosk.requests].count("cars") == counted
