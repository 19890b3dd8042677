"""The end of a sign-in in Chromium: warned before it, covered at it, and what was typed stays."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from werkzeug.security import generate_password_hash

from ridedash.store import properties
from ridedash.store.models.people import Guest, Property, SignIn
from ridedash.store.sign_ins import WHOLE_LASTS
from ridedash.views.poll_cache.cache import EXTENSION, PollCache
from tests.views.booking.test_pages import PASSWORD, TRIP, Desk, desk
from tests.views.booking.test_pages_browser import Browsed, browsed
from tests.views.served import PHONE, carry_sign_in, map_there, press_in_more, violations

__all__ = ["browsed", "desk"]
pytestmark = [pytest.mark.browser, pytest.mark.database]
READY = "/rides/new?show=1&" + "&".join(f"{name}={value}" for name, value in TRIP.items())
HOUR, MINUTE, SECOND = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)
STORED = "JSON.stringify([{...sessionStorage}, {...localStorage}])"
NOTE = "two cases and a cello"


def add_wren(desk: Desk) -> None:
    """Another person of the house."""
    services = desk.app.extensions["ridedash"]
    with services.db.write() as s:
        home = s.query(Property).first()
        hashed = generate_password_hash(PASSWORD, method="scrypt:1024:8:1")
        properties.add_staff(s, home.id, "wren", hashed, "concierge", desk.now)


def notes(desk: Desk) -> list[str | None]:
    """The notes about the guests of all orders."""
    guests = [order.guest_id for order in desk.orders()]
    with desk.app.extensions["ridedash"].db.read() as s:
        return [s.get_one(Guest, each).note for each in guests]


def band(page: Page) -> Locator:
    return page.locator("[data-ending-band]")


def cover(page: Page) -> Locator:
    return page.locator("[data-cover]")


def type_words(page: Page) -> None:
    """Type a guest and a note into the booking form; the focus stays in the note."""
    page.locator("[name=guest_name]").fill("Guest Heron")
    page.locator(".more > summary").first.click()
    page.locator("[name=guest_note]").fill(NOTE)
    page.locator("[name=guest_note]").focus()


def go_in(page: Page, name: str = "desk") -> None:
    """Sign in, in place or on the page."""
    scope = page.locator("[data-cover-form], main form[action='/sign-in']").first
    scope.locator("[name=name]").fill(name)
    scope.locator("[name=password]").fill(PASSWORD)
    scope.locator("button[type=submit]").click()


def near_the_end(page: Page, desk: Desk) -> None:
    """Nobody uses the open page until nine minutes are left. Its clock must be installed."""
    desk.now += 12 * HOUR - 9 * MINUTE
    page.clock.fast_forward("11:51:00")
    expect(band(page)).to_be_visible()


def end(desk: Desk) -> None:
    """End the sign-in as time does: no one has used the desk for twelve hours."""
    desk.now += 12 * HOUR + SECOND
    cache: PollCache = desk.app.extensions[EXTENSION]
    cache.viewers.clear()  # its clock is another one


def asks_at_once(page: Page) -> None:
    """As when the window gets the focus after a while: the page asks how its sign-in is."""
    page.clock.fast_forward(11_000)
    page.evaluate("window.dispatchEvent(new Event('focus'))")


def no_polls(page: Page) -> None:
    """No poll hears of the end before a press."""
    page.route("**/board.json*", lambda route: route.abort())


# ---- the warning ----


@pytest.mark.parametrize(
    "path", ["/", "/rides/new", "/history", "/lists/new", "/handover", "/me", "ride"]
)
def test_every_page_of_the_desk_is_warned_ten_minutes_before(
    browsed: Browsed, desk: Desk, path: str
) -> None:
    if path == "ride":
        desk.press(desk.form())
        path = f"/rides/{desk.ride(1)}"
    page = browsed.page
    page.clock.install()
    browsed.open(path)
    page.evaluate("document.activeElement.blur()")
    expect(band(page)).to_be_hidden()
    near_the_end(page, desk)
    expect(band(page)).to_contain_text("You will be signed out at")
    expect(page.get_by_role("button", name="Stay signed in")).to_be_visible()
    assert page.evaluate("document.activeElement === document.body")
    assert browsed.faults == []


def test_stay_signed_in_is_one_press_and_the_focus_returns(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    page.clock.install()
    browsed.open("/rides/new")
    page.locator("[name=guest_room]").focus()
    near_the_end(page, desk)
    # by the keyboard of a screen reader: no key and no press of the page is heard
    page.evaluate("document.querySelector('[data-stay]').focus()")
    page.evaluate("document.querySelector('[data-stay]').click()")
    expect(band(page)).to_be_hidden()
    expect(page.locator("[name=guest_room]")).to_be_focused()
    desk.now += 11 * HOUR
    page.reload()
    expect(page.locator("[data-book]")).to_be_visible()


def test_a_desk_on_which_someone_types_is_not_asked_to_stay(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    page.clock.install()
    browsed.open("/rides/new")
    near_the_end(page, desk)
    page.locator("[name=guest_note]").evaluate("(field) => (field.closest('details').open = true)")
    page.locator("[name=guest_note]").focus()
    page.keyboard.type(NOTE)
    page.clock.fast_forward(6_000)
    expect(band(page)).to_be_hidden()
    expect(page.locator("[name=guest_note]")).to_be_focused()
    expect(page.locator("[name=guest_note]")).to_have_value(NOTE)
    assert browsed.faults == []


def test_presses_are_reported_once_in_five_minutes(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    page.clock.install()
    browsed.open("/rides/new")
    sent: list[str] = []
    page.on("request", lambda r: sent.append(r.url) if r.url.endswith("/me/stay") else None)
    for _ in range(3):
        page.keyboard.type("Her")
    assert sent == []
    with page.expect_request("**/me/stay"):
        page.clock.fast_forward(301_000)
    page.keyboard.type("on")
    page.clock.fast_forward(60_000)
    assert len(sent) == 1
    with page.expect_request("**/me/stay"):
        page.clock.fast_forward(301_000)
    assert browsed.faults == []


def test_before_the_end_of_the_week_the_password_is_typed_in_place(
    browsed: Browsed, desk: Desk
) -> None:
    services = desk.app.extensions["ridedash"]
    with services.db.write() as s:
        for row in s.query(SignIn):
            row.created_at = desk.now - WHOLE_LASTS + 5 * MINUTE
            row.expires_at = desk.now + 5 * MINUTE
    page = browsed.page
    browsed.open("/rides/new")
    type_words(page)
    expect(band(page)).to_contain_text("after a week everybody types their password again")
    expect(page.get_by_role("button", name="Stay signed in")).to_be_hidden()
    page.get_by_role("button", name="Sign in now").click()
    expect(cover(page)).to_be_visible()
    page.get_by_role("button", name="Not now").click()
    expect(cover(page)).to_be_hidden()
    expect(page.locator("[name=guest_note]")).to_be_visible()
    page.get_by_role("button", name="Sign in now").click()
    go_in(page)
    expect(cover(page)).to_be_hidden()
    expect(band(page)).to_be_hidden()
    expect(page.locator("[name=guest_note]")).to_have_value(NOTE)
    assert browsed.faults == []


def test_a_clock_that_is_wrong_says_nothing(browsed: Browsed) -> None:
    page = browsed.page
    page.clock.install()
    browsed.open("/rides/new")
    type_words(page)
    with page.expect_response("**/sign-in.json"):
        page.clock.fast_forward("20:00:00")
    expect(cover(page)).to_be_hidden()
    expect(band(page)).to_be_hidden()
    expect(page.locator("[name=guest_note]")).to_be_focused()
    assert browsed.faults == []


# ---- the end ----


def hidden_words(page: Page) -> None:
    """Nothing of the page is seen or reached, but its dialog."""
    expect(cover(page)).to_be_visible()
    expect(page.locator("main")).to_be_hidden()
    expect(page.locator("header.bar")).to_be_hidden()
    expect(page).to_have_title("Sign in · ridedash")
    assert page.locator("main").inner_text().strip() == ""


def test_the_board_is_covered_and_the_same_person_goes_on_and_books(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    browsed.open("/")
    map_there(page)
    page.fill("#guest-find", "Guest Heron")
    page.fill("#drop", "airp")
    expect(page.locator("#drop-list [role=option]")).to_have_count(1)
    page.keyboard.press("Enter")
    go = page.locator("[data-book-go]")
    expect(go).to_have_text("Book Mini to Meridian Airport · ₹240 fixed")
    page.locator("#guest-find").focus()
    end(desk)
    hidden_words(page)
    page.keyboard.type("x")  # keys that were on their way
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    hidden_words(page)
    go_in(page)
    expect(cover(page)).to_be_hidden()
    expect(page.locator("#guest-find")).to_have_value("Guest Heron")
    expect(page.locator("#guest-find")).to_be_focused()
    assert desk.orders() == [], "signing in orders nothing"
    page.keyboard.press("Control+Enter")
    # the price is twelve hours old: a fresh one is shown, and what was typed stays
    expect(page.locator("[data-desk-form] [role=alert]")).to_contain_text("price")
    expect(page.locator("#guest-find")).to_have_value("Guest Heron")
    expect(go).to_be_enabled()
    go.click()
    expect(page.locator("[data-desk-said]")).to_have_text("Being booked: Guest Heron")
    assert len(desk.orders()) == 1
    expect(page.locator(".row .row-link")).to_have_count(1)  # polls go on
    assert browsed.faults == []


def test_a_wrong_password_is_said_in_place(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    browsed.open("/rides/new")
    end(desk)
    expect(cover(page)).to_be_visible()
    page.fill("#cover-name", "desk")
    page.fill("#cover-password", "not this one")
    page.keyboard.press("Enter")
    expect(cover(page).get_by_role("alert")).to_have_text(
        "That name and password don't go together."
    )
    expect(page.locator("#cover-password")).to_be_focused()
    page.route("**/sign-in", lambda route: route.abort())
    page.keyboard.press("Enter")
    expect(cover(page).get_by_role("alert")).to_have_text("That did not work. Try again.")
    page.unroute("**/sign-in")
    go_in(page)
    expect(cover(page)).to_be_hidden()


@pytest.mark.parametrize("path", ["/", "/rides/new"])
def test_another_person_gets_a_page_of_their_own_and_no_words(
    browsed: Browsed, desk: Desk, path: str
) -> None:
    add_wren(desk)
    page = browsed.page
    browsed.open(path)
    type_words(page)
    end(desk)
    hidden_words(page)
    with page.expect_navigation(url=f"{browsed.url}/"):
        go_in(page, "wren")
    expect(page.locator(".bar-who")).to_have_text("wren")
    expect(cover(page)).to_be_hidden()
    expect(page.locator("[name=guest_name]")).to_have_value("")
    for words in ("Heron", NOTE):
        assert words not in page.content()
        assert words not in page.evaluate(STORED)
    page.go_back()
    for field in page.locator("[name=guest_name], [name=guest_note]").all():
        assert field.input_value() == ""
    assert browsed.faults == []


def test_on_waking_a_laptop_asks_and_is_covered(browsed: Browsed, desk: Desk) -> None:
    page = browsed.page
    page.clock.install()
    browsed.open("/rides/new")
    type_words(page)
    no_polls(page)
    desk.now += 13 * HOUR
    page.clock.fast_forward("13:00:00")
    hidden_words(page)
    page.clock.fast_forward("01:00:01")
    page.wait_for_url(f"{browsed.url}/sign-in")
    assert NOTE not in page.content()


def test_without_an_answer_the_page_is_covered_when_its_time_is_over(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    page.clock.install()
    browsed.open("/rides/new")
    type_words(page)
    page.route("**/*", lambda route: route.abort())
    page.clock.fast_forward("13:00:00")
    hidden_words(page)
    page.unroute("**/*")
    asks_at_once(page)  # the server knows that the clock was wrong
    expect(cover(page)).to_be_hidden()
    expect(page.locator("[name=guest_note]")).to_have_value(NOTE)
    expect(page.locator("[name=guest_note]")).to_be_focused()


# ---- two tabs ----


@pytest.fixture
def both(browsed: Browsed, desk: Desk, browser: Browser) -> Iterator[tuple[Page, Page]]:
    """Two tabs of one browser."""
    with browser.new_context(viewport={"width": 1280, "height": 800}) as context:
        tabs = context.new_page(), context.new_page()
        carry_sign_in(desk.client, tabs[0], browsed.url)
        yield tabs


def test_staying_in_one_tab_ends_the_warning_in_the_other(
    browsed: Browsed, desk: Desk, both: tuple[Page, Page]
) -> None:
    for page in both:
        page.clock.install()
        page.goto(f"{browsed.url}/rides/new")
    desk.now += 12 * HOUR - 9 * MINUTE
    for page in both:
        page.clock.fast_forward("11:51:00")
        expect(band(page)).to_be_visible()
    both[0].evaluate("document.querySelector('[data-stay]').click()")
    for page in both:
        expect(band(page)).to_be_hidden()


def test_signed_out_in_one_tab_the_other_is_covered_until_the_same_person_is_back(
    browsed: Browsed, desk: Desk, both: tuple[Page, Page]
) -> None:
    one, other = both
    one.goto(f"{browsed.url}{READY}")
    type_words(one)
    other.goto(f"{browsed.url}/")
    press_in_more(other, "Sign out")
    other.wait_for_url("**/sign-in?out=1")
    hidden_words(one)
    go_in(other)
    expect(one.locator("[name=guest_note]")).to_be_visible()
    expect(one.locator("[name=guest_note]")).to_have_value(NOTE)
    one.locator("[data-book-go]").click()
    expect(one.locator("#headline")).to_be_visible()
    assert notes(desk) == [NOTE]


def test_when_another_signs_in_in_one_tab_the_other_loses_its_words(
    browsed: Browsed, desk: Desk, both: tuple[Page, Page]
) -> None:
    add_wren(desk)
    one, other = both
    one.goto(f"{browsed.url}/rides/new")
    type_words(one)
    no_polls(one)
    other.goto(f"{browsed.url}/")
    press_in_more(other, "Sign out")
    other.wait_for_url("**/sign-in?out=1")
    go_in(other, "wren")
    one.wait_for_url(f"{browsed.url}/")
    expect(one.locator(".bar-who")).to_have_text("wren")
    assert NOTE not in one.content()


# ---- forms sent after the end ----


def test_a_form_is_held_back_when_nothing_was_heard_for_a_while(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    page.clock.install()
    browsed.open(READY)
    type_words(page)
    no_polls(page)
    page.clock.fast_forward(11_000)
    end(desk)
    page.locator("[data-book-go]").click()
    hidden_words(page)
    go_in(page)
    expect(cover(page)).to_be_hidden()
    expect(page.locator("[name=guest_note]")).to_have_value(NOTE)
    page.clock.fast_forward(11_000)  # and one that may go goes
    with page.expect_navigation():
        page.locator("[data-book-go]").click()
    expect(page.get_by_role("alert")).to_contain_text("price")  # twelve hours old
    expect(page.locator("[name=guest_note]")).to_have_value(NOTE)
    page.locator("[data-book-go]").click()
    expect(page.locator("#headline")).to_be_visible()
    assert notes(desk) == [NOTE]
    assert browsed.faults == []


def test_a_form_that_came_too_late_is_there_again_after_signing_in(
    browsed: Browsed, desk: Desk
) -> None:
    page = browsed.page
    browsed.open(READY)
    type_words(page)
    no_polls(page)
    end(desk)
    page.locator("[data-book-go]").click()
    expect(page.get_by_text("Sign in as the same person")).to_be_visible()
    assert NOTE not in page.content()
    assert violations(page) == []
    go_in(page)
    expect(page.locator("[name=guest_name]")).to_have_value("Guest Heron")
    expect(page.locator("[name=guest_note]")).to_have_value(NOTE)
    assert desk.orders() == []
    page.unroute("**/board.json*")
    go = page.locator("[data-book-go]")
    expect(go).to_have_text("Book Mini to Airport · ₹240 fixed")
    go.click()
    expect(page.locator("#headline")).to_be_visible()
    assert notes(desk) == [NOTE]


def test_it_is_so_without_scripts_too(browsed: Browsed, desk: Desk, browser: Browser) -> None:
    state = browsed.page.context.storage_state()
    with browser.new_context(java_script_enabled=False, storage_state=state) as bare:
        page = bare.new_page()
        page.goto(f"{browsed.url}{READY}")
        page.locator("[name=guest_name]").fill("Guest Heron")
        page.locator("[name=guest_room]").fill("412")
        end(desk)
        page.locator("[data-book-go]").click()
        go_in(page)
        page.get_by_role("button", name="Go on with the form").click()
        expect(page.locator("[name=guest_name]")).to_have_value("Guest Heron")
        expect(page.locator("[name=guest_room]")).to_have_value("412")
        page.locator("[data-book-go]").click()
        expect(page.locator("#headline")).to_be_visible()
    assert len(desk.orders()) == 1


# ---- for everybody ----


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, {"width": 1280, "height": 800}])
def test_axe_finds_nothing_in_the_warning_and_the_cover(
    browsed: Browsed, desk: Desk, scheme: str, size: dict[str, int]
) -> None:
    page = browsed.page
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
    page.set_viewport_size(size)  # type: ignore[arg-type]
    page.clock.install()
    for path in ("/", "/rides/new"):
        browsed.open(path)
        near_the_end(page, desk)
        assert violations(page) == []
    desk.now += 10 * MINUTE
    hidden_words(page)
    assert violations(page) == []
