"""What staff open in Chromium, by mouse and by key, and where the next letters go."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, Page, Route, expect

from ridedash.geo import LatLng
from ridedash.store.properties import set_favourite
from tests.engines.engine import KEYS, Engine
from tests.views.hands import (
    EACH,
    NOW,
    REACHED,
    TYPED,
    Hands,
    hands_on,
    open_page,
    walk,
    walk_kiosk,
)
from tests.views.served import carry_sign_in

pytestmark = [pytest.mark.browser, pytest.mark.database]

NAMES = {code: name for name, code in KEYS.items()}
PAGES = sorted({each.page for each in EACH})


class Chromium(Engine):
    """A page of the browser that the other tests use."""

    name = "Chromium"
    lost = (Error,)

    def __init__(self, page: Page) -> None:
        self.page = page

    def go(self, url: str) -> None:
        self.page.goto(url)

    def back(self) -> None:
        self.page.go_back()

    def run(self, script: str, *given: Any) -> Any:
        call = f"(given) => (function () {{ {script} }}).apply(null, given)"
        return self.page.evaluate(call, list(given))

    def strike(self, *keys: str) -> None:
        names = [NAMES.get(key, key) for key in keys]
        for name in names:
            self.page.keyboard.down(name)
        for name in reversed(names):
            self.page.keyboard.up(name)

    def click(self, selector: str, words: str = "") -> None:
        self.page.locator(selector, has_text=words).first.click()

    def resize(self, width: int, height: int) -> None:
        self.page.set_viewport_size({"width": width, "height": height})

    def forget(self) -> None:
        self.page.context.clear_cookies()

    def picture(self) -> bytes:
        return self.page.screenshot()

    def quit(self) -> None:
        self.page.close()


@pytest.fixture
def hands(tmp_path: Path) -> Iterator[Hands]:
    with hands_on(tmp_path) as made:
        yield made


@contextmanager
def at(hands: Hands, browser: Browser, page: str, width: int = 1280) -> Iterator[Page]:
    """A page of the desk, whose scripts have no error."""
    with browser.new_page(viewport={"width": width, "height": 900}) as found:
        faults: list[str] = []
        found.on("pageerror", lambda error: faults.append(str(error)))
        carry_sign_in(hands.desk.client(), found, hands.url)
        open_page(Chromium(found), hands, page)
        yield found
        assert faults == []


@pytest.mark.parametrize("page", PAGES)
def test_letters_go_into_what_was_opened_and_nowhere_else(
    hands: Hands, browser: Browser, page: str
) -> None:
    with at(hands, browser, page) as found:
        assert walk(Chromium(found), hands, page) == []


def test_letters_go_into_the_chosen_field_of_a_kiosk(hands: Hands, browser: Browser) -> None:
    with browser.new_page(viewport={"width": 1080, "height": 1920}) as page:
        assert walk_kiosk(Chromium(page), hands) == {"name": "R5dx", "phone": "9820"}


def many(route: Route) -> None:
    """So many places or guests that their list scrolls."""
    found = [
        {"name": f"Heron {n}", "lat": -38.5, "lng": -128, "id": n, "room": "", "phone": ""}
        for n in range(40)
    ]
    route.fulfill(json={"places": found, "guests": found})


@pytest.mark.parametrize("page", ["desk", "form"])
def test_tab_leads_from_an_open_list_to_the_next_field(
    hands: Hands, browser: Browser, page: str
) -> None:
    with at(hands, browser, page) as found:
        found.route("**/*places.json*", many)
        found.route("**/guests.json", many)
        engine = Chromium(found)
        for _, after_ms in TYPED:
            found.click("#guest-find")
            found.keyboard.type("Her")
            if after_ms:  # at once, the list is still being asked for
                expect(found.locator("#guest-find-list")).to_be_visible()
            start = engine.run(NOW)
            engine.until(REACHED, start + after_ms)
            for words in ("507", "98200 77881"):
                found.keyboard.press("Tab")
                found.keyboard.type(words)
            expect(found.locator("#guest_room")).to_have_value("507")
            expect(found.locator("#guest_phone")).to_have_value("98200 77881")
            expect(found.locator("#drop")).to_have_value("")
            found.locator("[data-book]").evaluate("(form) => form.reset()")
        for field in ("#pickup", "#drop"):
            found.click(field)
            found.keyboard.type("Her")
            expect(found.locator(f"{field}-list")).to_be_visible()
            found.keyboard.press("Tab")
            assert found.evaluate("document.activeElement.matches('input, button, select')")


def test_a_digit_chooses_a_drop_and_never_replaces_one(hands: Hands, browser: Browser) -> None:
    add_favourite(hands, 7, "Central Station")
    with at(hands, browser, "desk") as page:
        drop, undo = page.locator("#drop"), page.get_by_role("button", name="Undo")
        page.keyboard.press("5")
        expect(drop).to_have_value("Departures")
        expect(undo).to_be_hidden()
        page.keyboard.press("7")
        expect(page.locator("[data-book-go]")).to_have_text("Book Mini to Departures · ₹240 fixed")
        page.fill("#drop", "7")  # in the field it is a search
        expect(drop).to_have_value("Central Station")
        expect(page.locator("[data-former-said]")).to_have_text("Changed from Departures")
        undo.click()
        expect(drop).to_have_value("Departures")
        page.keyboard.press("z")
        expect(drop).to_have_value("Central Station")
        expect(page.locator("[data-book-go]")).to_contain_text("Book Mini to Central Station ·")
        page.get_by_role("button", name="Clear Drop").click()
        page.keyboard.press("Escape")  # its list
        page.keyboard.press("Escape")
        page.keyboard.press("z")
        expect(drop).to_have_value("Central Station")


def add_favourite(hands: Hands, slot: int, name: str) -> None:
    home, point = hands.desk.ids["desk.property"], LatLng(-38.52, -128.02)
    hands.desk.add(lambda s: set_favourite(s, home, "drop", slot, name, point))


def test_who_types_on_after_the_pause_of_a_favourite_meant_an_address(
    hands: Hands, browser: Browser
) -> None:
    with at(hands, browser, "desk") as page:
        page.click("#drop")
        page.keyboard.type("5")
        expect(page.locator("#drop")).to_have_value("Departures")
        page.keyboard.type("2 High Street")
        expect(page.locator("#drop")).to_have_value("52 High Street")
        expect(page.locator("[name=drop_lat]")).to_have_value("")


def test_the_button_names_a_planned_drop_on_two_lines_at_most(
    hands: Hands, browser: Browser
) -> None:
    name = "Kempegowda International Airport, Terminal 2, Departures"
    add_favourite(hands, 1, name)
    with at(hands, browser, "form", width=390) as page:
        page.click(".when-choice:has([value=later])")
        page.keyboard.type("tomorrow 18:15")
        page.click("#drop")
        page.keyboard.type("1")
        words = f"Plan Mini to {name} for 18:15 tomorrow · now ₹240"
        button = page.get_by_role("button", name=words, exact=True)
        expect(button).to_be_enabled()
        assert button.evaluate("(each) => each.firstChild.getBoundingClientRect().height") < 45


def test_escape_returns_to_what_has_opened(hands: Hands, browser: Browser) -> None:
    with at(hands, browser, "pane") as page:
        for opener in (".more > summary", "[data-action=cancel] > summary"):
            page.click(opener)
            page.keyboard.press("Escape")
            expect(page.locator(opener)).to_be_focused()
            assert not page.locator(opener).evaluate("(each) => each.parentElement.open")
        page.click(".when-choice:has([value=later])")
        page.keyboard.press("Escape")
        expect(page.locator("[name=when][value=later]")).to_be_focused()


def test_copying_a_link_by_key_is_its_button_and_the_keys_still_work(
    hands: Hands, browser: Browser
) -> None:
    with at(hands, browser, "pane") as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=hands.url)
        said = page.locator("[data-links-said]")
        expect(page.get_by_role("button", name="Copy link")).to_have_attribute(
            "aria-keyshortcuts", "L"
        )
        page.keyboard.press("l")
        expect(said).to_have_text(re.compile("For the guest only: .* start code"))
        page.get_by_role("button", name="Copy link").click()
        expect(page.get_by_role("button", name="Copy link")).to_be_focused()
        page.keyboard.press("d")
        expect(page.locator("#drop-name")).to_be_focused()


def test_a_key_does_not_replace_a_form_that_was_begun(hands: Hands, browser: Browser) -> None:
    with at(hands, browser, "pane") as page:
        page.fill("#guest-find", "Guest Merle")
        page.keyboard.press("Escape")
        page.keyboard.press("r")
        expect(page.locator("[data-key-said]")).to_have_text(
            "The form has a ride that is not booked yet."
        )
        expect(page.locator("#guest-find")).to_have_value("Guest Merle")


# a browser takes the focus from an inert field only when it draws next
FOCUS_WHEN_SENT = """() => {
  const go = document.querySelector("[data-book-go]");
  const seen = new MutationObserver(() => {
    globalThis.focusWhenSent ??= document.activeElement.tagName;
  });
  seen.observe(go, { attributes: true, attributeFilter: ["aria-busy"] });
}"""


def test_a_name_that_is_typed_while_a_ride_is_being_booked_is_the_next_guests(
    hands: Hands, browser: Browser
) -> None:
    held: list[Route] = []
    with at(hands, browser, "desk") as page:
        page.keyboard.press("5")
        page.fill("#guest-find", "Guest Merle")
        expect(page.locator("[data-book-go]")).to_be_enabled()
        page.route("**/rides/new", lambda route: held.append(route))
        page.evaluate(FOCUS_WHEN_SENT)
        page.keyboard.press("Control+Enter")
        expect(page.locator("[data-book-go]")).to_have_text("Booking…")
        assert page.evaluate("focusWhenSent") == "BODY", "a field that can't be changed has it"
        page.keyboard.type("Ardua x")
        while not held:
            page.wait_for_load_state()
        held[0].continue_()
        expect(page.locator("#guest-find")).to_have_value("Ardua x")
        expect(page.locator("#guest-find")).to_be_focused()
        expect(page.locator("[name=when][value=now]")).to_be_checked()
