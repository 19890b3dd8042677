"""What the screen reads aloud to a guest: tickets, sheets, keys, and results of presses."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.views.kiosk.kiosk_screens import (
    FEE,
    RIDE,
    VIEW,
    FakeKiosk,
    fake_kiosk,
    press,
    spoken,
    to_check,
    type_on,
)

pytestmark = [pytest.mark.browser, pytest.mark.database]


@pytest.fixture
def kiosk(tmp_path: Path, browser: Browser) -> Iterator[FakeKiosk]:
    with fake_kiosk(tmp_path, browser) as made:
        yield made


def test_a_ticket_is_heard_whole_and_its_plate_once_it_is_known(kiosk: FakeKiosk) -> None:
    page = kiosk.page(voices=True, before=lambda page: page.clock.install())
    words = kiosk.document()["words"]["en"]
    press(page, "aid-aloud")
    to_check(page)
    kiosk.order = [{"state": "sending"}, kiosk.booked()]
    spoken(page)
    press(page, "book")
    expect(page.locator("body")).to_have_attribute("data-screen", "sending")
    assert spoken(page) == [words["booking"]]  # spoken only once
    page.clock.run_for(1_500)
    page.locator(".k-pin").wait_for()
    texts = spoken(page)
    assert words["pin_why"] in texts
    assert f"{words['meet_at']} Main Entrance, 40 m, no steps" in texts
    page.clock.run_for(3_500)
    page.locator(".k-plate").wait_for()
    texts = spoken(page)
    assert texts[0] == "Your driver is here"
    assert f"{words['plate']} K A 0 1 A B 1 2 3 4" in texts
    assert "White Tata Tiago" in texts
    press(page, "aid-contrast")  # this draws the screen anew
    page.clock.run_for(3_500)
    assert spoken(page) == ["More contrast: on"]
    press(page, "aid-contrast")
    assert spoken(page) == ["More contrast: off"]
    page.locator('[data-press="aid-lower"]').focus()
    page.keyboard.press("ArrowLeft")
    assert spoken(page)[-1].startswith("Large text: off, ")
    press(page, "aid-aloud", "aid-large")
    assert spoken(page) == ["Read aloud: off"]


def test_sheets_and_what_comes_of_them_are_heard(kiosk: FakeKiosk) -> None:
    page = kiosk.page(voices=True)
    words = kiosk.document()["words"]["en"]
    press(page, "aid-aloud", "have")
    spoken(page)
    page.evaluate("dispatchEvent(new KeyboardEvent('keydown', { key: 'F15' }))")
    spoken(page)
    press(page, "blank-yes")
    assert spoken(page) == [words["blanked"], words["my_ride"], words["my_ride_lead"]]
    page.mouse.click(5, 5)  # the screen is light again
    type_on(page, "27")
    press(page, "field-pin")
    type_on(page, RIDE["pin"])
    press(page, "next")
    page.locator(".k-plate").wait_for()
    assert spoken(page)[-9:] == [
        "Check the plate, then get in.",
        words["old_plate"].replace("{plate}", "K A 0 5 M C 9 9 1 2"),
        f"{words['plate']} K A 0 1 A B 1 2 3 4",
        "White Tata Tiago",
        words["away"].replace("{n}", "4"),
        f"{words['meet_at']} Main Entrance, 40 m, no steps",
        words["code_hidden"],
        "₹249, Fixed price",
        VIEW["pays"],
    ]
    press(page, "show-code")
    page.locator(".k-code[aria-label]").wait_for()
    assert spoken(page) == [f"{words['start_code']} 7 3 0 5", words["tell_driver"]]
    page.locator('[data-press="cancel"]').focus()
    page.keyboard.press("Enter")
    assert spoken(page) == [words["cancel_ask"], FEE, f"{words['cancel_no']}, 1 of 2"]
    page.keyboard.press("Enter")
    assert re.fullmatch(rf"{words['cancel']}, 2 of \d+", spoken(page)[0])
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    spoken(page)
    kiosk.failing = {"ride"}  # a further look at the ride would replace this screen
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Ride cancelled")
    assert spoken(page) == ["Ride cancelled"]
    press(page, "bar-language")
    assert spoken(page) == [words["choose_language"], "English, 1 of 9"]
    page.keyboard.press("Escape")
    page.keyboard.press("F1")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert words["help_asked"] in spoken(page)
    page.keyboard.press("Enter")
    page.evaluate("document.querySelector('h1').focus()")
    spoken(page)
    press(page, "bar-language", "close")
    assert "Ride cancelled" in spoken(page), "the screen is read where no control has the focus"


def test_each_key_is_heard_and_each_fact_of_a_card_alone(kiosk: FakeKiosk) -> None:
    page = kiosk.page(voices=True)
    words = kiosk.document()["words"]["en"]
    press(page, "aid-aloud", "start")
    spoken(page)
    page.keyboard.press("ArrowDown")
    assert spoken(page)[0].startswith("International Airport, Terminal 2, about 38 min, 1 of ")
    press(page, "place-0")
    page.locator(".k-car").first.wait_for()
    meet = f"{words['meet_at']} Main Entrance"
    assert spoken(page)[-2:] == ["International Airport, Terminal 2", f"{meet}, 40 m, no steps"]
    page.locator('[data-press="change"]').focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    assert spoken(page)[1].startswith(f"{words['change']}, {meet}, 5 of ")
    page.locator("h1").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    auto = "Auto, Three-wheeler with open sides, Up to 3, Lowest price, about ₹140–180, "
    assert spoken(page)[1].startswith(f"{auto}6 min away, 2 of ")
    press(page, "more")
    assert spoken(page)[0].startswith("Prime Sedan, Premium car, Up to 4, ₹310")
    press(page, "car-3", "key-a", "key-b")
    page.locator('[data-press="field-name"]').focus()
    page.keyboard.press("ArrowRight")
    field = spoken(page)
    assert field[-2].startswith(f"{words['phone']}, 2 of ")
    assert field[-1] == words["phone_why"]
    press(page, "key-erase", "key-erase", "key-erase")  # the last press deletes and says nothing
    deleted = words["key_delete"]
    assert spoken(page) == [f"{deleted}, b", f"{deleted}, A"]
    press(page, "key-digits")
    assert spoken(page)[0].startswith(words["key_letters"])
    press(page, "bar-over", "aid-aloud", "have", "field-pin", "key-1")
    spoken(page)
    press(page, "key-erase")
    assert spoken(page) == [f"{deleted}, {words['star']}"]


def test_what_comes_of_a_press_is_heard(kiosk: FakeKiosk) -> None:
    page = kiosk.page(voices=True)
    words = kiosk.document()["words"]

    def hears(sentence: str) -> None:
        page.wait_for_function("(sentence) => said.includes(sentence)", arg=sentence)
        spoken(page)

    press(page, "aid-aloud")
    page.locator('[data-press="lang-hi"]').focus()
    page.keyboard.press("ArrowDown")  # a voice of that language reads its name
    queue = page.evaluate("queue.map(({ text, lang }) => [text, lang])")
    assert queue == [["العربية", "ar"], ["9 of 21", "en-GB"]]
    press(page, "lang-ar")
    hears(words["ar"]["start_lead"])
    press(page, "start")
    spoken(page)
    page.keyboard.press("ArrowDown")
    assert "Terminal 2، نحو 38 د، 1 " in spoken(page)[0], "pauses are Arabic"
    press(page, "bar-over", "aid-aloud", "lang-en", "start", "other")
    spoken(page)
    type_on(page, "ai")
    hears("Ai Gardens")
    page.locator("h1").focus()
    page.keyboard.press("Enter")
    assert spoken(page) == [words["en"]["which_place"], words["en"]["type_place"], "Ai"]
    press(page, "key-erase", "key-erase")
    type_on(page, "zz")
    hears(words["en"]["nothing_found"])
    press(page, "swap")
    hears(words["en"]["which_place"])
    press(page, "tab-airport")
    hears("Air Road")
    press(page, "bar-over", "aid-aloud", "have", "key-1", "field-pin")
    hears(words["en"]["pin"])
    type_on(page, "1111")
    press(page, "next")
    hears(words["en"]["wrong_pin"])
    words_of_closed = {"headline": "It can't be shown.", "why": "", "next": "Ask our desk."}
    kiosk.answers["ride"] = lambda _: {"state": "closed", "words": words_of_closed}
    type_on(page, "2222")
    press(page, "next")
    hears("It can't be shown. Ask our desk.")
    expect(page.locator(".k-problem")).to_have_text("It can't be shown. Ask our desk.")
