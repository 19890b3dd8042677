"""A kiosk used by five keys, by ear and by touch; axe on each of its screens."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.views.kiosk.kiosk_screens import (
    LAYOUTS,
    RIDE,
    VIEW,
    FakeKiosk,
    close,
    fake_kiosk,
    press,
    spoken,
    to_check,
    walk,
)
from tests.views.served import violations

pytestmark = [pytest.mark.browser, pytest.mark.database]


@pytest.fixture
def kiosk(tmp_path: Path, browser: Browser) -> Iterator[FakeKiosk]:
    with fake_kiosk(tmp_path, browser) as made:
        yield made


SLIP = (  # all that is printed
    "Grand Meridian",
    "Ride K27",
    "Your ride is booked",
    "Number and PIN show your ride on this screen again.",
    "PIN",
    "4821",
    "Meet the car at",
    "Main Entrance",
    "40 m · no steps",
    "To",
    "International Airport, Terminal 2",
    "₹249",
    "You pay the driver in cash.",
    "Follow your ride on your phone",
    RIDE["short"],
)
READ_MS = 500  # a guest looks at a new screen at least this long


def go_to(page: Page, name: str) -> None:
    """Press an arrow key until this control has the focus, as a blind guest does, then Enter."""
    onward = "ArrowLeft" if page.evaluate("document.body.dir") == "rtl" else "ArrowRight"
    for _ in range(80):
        page.keyboard.press(onward)
        if page.evaluate("document.activeElement.dataset.press") == name:
            page.keyboard.press("Enter")
            return
    raise AssertionError(f"no way to {name}")


def test_where_the_arrows_stood_is_gone_with_its_screen_and_its_language(
    kiosk: FakeKiosk,
) -> None:
    page = kiosk.page()
    place = page.locator("[data-place]")
    page.keyboard.press("ArrowRight")
    expect(place).not_to_be_empty()
    press(page, "lang-es")
    expect(place).to_be_empty()
    page.keyboard.press("ArrowRight")
    expect(place).not_to_be_empty()
    press(page, "start")
    expect(place).to_be_empty()


@pytest.mark.parametrize("language", ["en", "ar"])
def test_a_ride_is_booked_by_five_keys_and_by_ear(kiosk: FakeKiosk, language: str) -> None:
    page = kiosk.page(voices=True)
    words = kiosk.document()["words"][language]
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-place]")).to_have_text("1 of 19")
    if language != "en":
        go_to(page, f"lang-{language}")
    expect(page.locator("[data-clock]")).to_have_text("14:00")
    go_to(page, "aid-aloud")
    assert spoken(page)[0] == "Grand Meridian"
    page.locator("h1").focus()
    page.keyboard.press("ArrowDown")
    place = words["position"].replace("{n}", "1").replace("{of}", "21")
    pause = "، " if language == "ar" else ", "
    assert spoken(page) == [f"{words['start']}{pause}{place}"]
    page.keyboard.press("Enter")
    assert spoken(page) == [words["where"]]
    page.keyboard.press("ArrowDown")
    assert spoken(page)[0].startswith("International Airport, Terminal 2")
    label = page.locator('[data-press="place-0"]').get_attribute("aria-label")
    assert (label or "").startswith(f"International Airport, Terminal 2{pause}")
    page.keyboard.press("Enter")
    page.locator(".k-car").first.wait_for()
    assert words["which_car"] in spoken(page)
    go_to(page, "car-0")
    assert words["who"] in spoken(page)
    letter = "ا" if language == "ar" else "a"
    go_to(page, f"key-{letter}")
    assert spoken(page)[-1] == letter
    page.locator("h1").focus()
    go_to(page, "next")
    check = spoken(page)
    assert f"{words['to']} International Airport, Terminal 2" in check
    assert any(each.startswith(words["price"]) and "₹249" in each for each in check)
    assert any(each.startswith(words["pay"]) for each in check)
    kiosk.order = [kiosk.booked()]
    go_to(page, "book")
    page.locator(".k-pin").wait_for()
    booked = spoken(page)
    assert words["ride"].replace("{number}", "K27") in booked
    assert words["spoken_pin"].replace("{digits}", " ".join(RIDE["pin"])) in booked
    page.keyboard.press("Escape")  # Escape doesn't leave the ticket
    expect(page.locator(".k-pin")).to_be_visible()
    go_to(page, "done")
    expect(page.locator("body")).to_have_attribute("data-screen", "start")
    assert page.evaluate("queue.length") == 0


def test_a_pin_is_not_read_aloud_and_help_rings(kiosk: FakeKiosk) -> None:
    page = kiosk.page(voices=True)
    press(page, "aid-aloud", "have", "field-pin")
    spoken(page)
    press(page, "key-4", "key-8")
    assert spoken(page) == ["star", "star"]
    page.keyboard.press("F1")
    expect(page.get_by_role("dialog")).to_contain_text("We have called our staff.")
    kiosk.heartbeat["help"] = "coming"
    expect(page.get_by_role("dialog")).to_contain_text("Somebody is coming to you.")
    assert [given["screen"] for name, given in kiosk.requests if name == "help"] == ["find"]
    press(page, "close")
    expect(page.locator(".k-sheet")).to_have_count(0)


def test_a_touch_acts_on_release_inside_and_a_palm_does_nothing(kiosk: FakeKiosk) -> None:
    page = kiosk.page(before=lambda page: page.clock.install())
    page.locator(".k-soon").wait_for()  # the first heartbeat draws the screen anew
    start = page.locator('[data-press="start"]').bounding_box()
    assert start is not None
    page.mouse.move(start["x"] + 50, start["y"] + 50)
    page.mouse.down()
    page.mouse.move(start["x"] + 50, start["y"] - 200)
    page.mouse.up()
    expect(page.locator("body")).to_have_attribute("data-screen", "start")
    page.clock.pause_at(page.evaluate("Date.now() / 1000") + 5)
    page.mouse.click(start["x"] + 50, start["y"] + start["height"] + 4)  # people aim too low
    expect(page.locator("body")).to_have_attribute("data-screen", "where")
    touch = """() => {
      const node = document.querySelector('[data-press="place-0"]');
      const { left, top } = node.getBoundingClientRect();
      const at = { clientX: left + 40, clientY: top + 20, bubbles: true, pointerId: 7 };
      node.dispatchEvent(new PointerEvent("pointerdown", at));
      node.dispatchEvent(new PointerEvent("pointerup", at));
      return document.body.dataset.screen;
    }"""
    assert page.evaluate(touch) == "where", "a palm"
    page.clock.run_for(READ_MS)
    assert page.evaluate(touch) == "car"


def book_by_touch(kiosk: FakeKiosk, page: Page, *steps: str) -> tuple[int, int]:
    """Tap these controls once each, and nothing else; returns the numbers of touches and of keys.

    A step `type:anna` taps the keys of these letters. A guest looks at the screen before each step
    except Next, which may be tapped right after the last letter.
    """
    kiosk.order = [kiosk.booked()]
    touches = keys = 0
    for step in steps:
        name, _, letters = step.partition(":")
        if name != "next":
            page.clock.run_for(READ_MS)
        if name.startswith("found-"):  # results for all letters, not for the first few
            expect(page.locator(f'[data-press="{name}"]')).to_contain_text("Airp")
        for each in [f"key-{letter}" for letter in letters] or [name]:
            page.locator(f'[data-press="{each}"]').tap()
        touches, keys = touches + (not letters), keys + len(letters)
    expect(page.locator(".k-pin")).to_have_text(RIDE["pin"])
    press(page, "done")
    return touches, keys


def test_a_ride_is_booked_by_few_touches_and_a_fast_one_is_not_lost(kiosk: FakeKiosk) -> None:
    page = kiosk.page(before=lambda page: page.clock.install(), has_touch=True)
    last = ("next", "book")
    usual_touches, keys = book_by_touch(
        kiosk, page, "start", "place-0", "car-0", "type:anna", *last
    )
    search = ("start", "other", "type:airp", "found-0", "car-0", "key-digits", "type:412")
    search_touches, _letters = book_by_touch(kiosk, page, *search, *last)
    assert usual_touches <= 5
    assert keys <= 8
    assert search_touches <= 9
    page.clock.pause_at(page.evaluate("Date.now() / 1000") + 5)
    press(page, "have")
    page.locator('[data-press="key-2"]').tap()
    page.locator('[data-press="next"]').tap()
    assert page.get_by_role("alert").count() == 0, "a palm tries no PIN, and orders nothing"
    page.clock.run_for(READ_MS)
    page.locator('[data-press="next"]').tap()
    lead = kiosk.document()["words"]["en"]["my_ride_lead"]
    expect(page.get_by_role("alert")).to_have_text(lead)
    page.locator('[data-press="key-7"]').tap()
    expect(page.locator('[data-field="number"]')).to_have_value("K27")


def test_a_press_is_not_lost_when_its_screen_is_drawn_anew_under_the_finger(
    kiosk: FakeKiosk,
) -> None:
    page = kiosk.page(before=lambda page: page.clock.install())

    def held(name: str) -> None:
        box = page.locator(f'[data-press="{name}"]').bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + 50, box["y"] + 30)
        page.mouse.down()

    held("start")
    kiosk.heartbeat["soonest_min"] = 7
    page.clock.fast_forward(20_000)
    expect(page.locator(".k-soon")).to_contain_text("7 min")
    page.mouse.up()
    expect(page.locator("h1")).to_have_text("Where to?")
    press(page, "place-0")
    page.locator(".k-car").first.wait_for()
    press(page, "car-0", "key-a", "next")
    page.clock.run_for(READ_MS)
    held("book")
    page.evaluate("""() => {
      const drawn = document.querySelector('[data-press="book"]');
      const other = drawn.cloneNode(true);
      other.append("dearer");
      drawn.replaceWith(other);
    }""")
    page.mouse.up()
    expect(page.locator("body")).to_have_attribute("data-screen", "check")
    assert [name for name, _ in kiosk.requests if name == "order"] == []


def test_a_key_that_answers_still_there_does_nothing_else(kiosk: FakeKiosk) -> None:
    page = kiosk.page(voices=True, before=lambda page: page.clock.install())
    press(page, "aid-aloud", "start", "place-0")
    page.locator(".k-car").first.wait_for()
    press(page, "car-0", "key-a")
    name = page.get_by_role("button", name="First name or room number, A", exact=True)
    expect(name).to_be_visible()
    press(page, "next")
    page.locator('[data-press="book"]').focus()
    spoken(page)
    page.clock.fast_forward(91_000)
    dialog = page.get_by_role("alertdialog", name="Still there?")
    expect(dialog).to_have_accessible_description(
        re.compile(r"This screen clears in \d+ s Touch the screen to go on\.")
    )
    texts = spoken(page)
    assert re.fullmatch(r"This screen clears in \d+ s", texts[1])
    assert texts[2] == kiosk.document()["words"]["en"]["spoken_there"]
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    assert spoken(page)[0].startswith("Book, ₹249"), "it says where the guest stands"
    expect(page.locator("body")).to_have_attribute("data-screen", "check")
    assert [name for name, _ in kiosk.requests if name == "order"] == []
    kiosk.order = [kiosk.booked()]
    page.keyboard.press("Enter")
    page.locator(".k-pin").wait_for()
    spoken(page)
    page.clock.fast_forward(62_000)
    expect(page.locator(".k-clears [role=status]")).to_contain_text("This screen clears in")
    assert spoken(page)[0].startswith("This screen clears in")  # a ticket clears too


def test_a_dark_screen_stays_dark_for_keys_and_a_touch_brings_it_back(kiosk: FakeKiosk) -> None:
    page = kiosk.page(voices=True)
    press(page, "start")
    page.evaluate("dispatchEvent(new KeyboardEvent('keydown', { key: 'F15' }))")
    press(page, "blank-yes")
    expect(page.locator(".k-dark")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator(".k-car").first.wait_for()
    assert "Which car?" in spoken(page)
    assert page.evaluate("document.elementFromPoint(300, 900).matches('.k-dark')")
    page.mouse.click(300, 900)
    expect(page.locator(".k-dark")).to_have_count(0)
    expect(page.locator("body")).to_have_attribute("data-screen", "car")


SHORTCUTS = ("F3", "F5", "F7", "F11", "F12", "Ctrl+p", "Ctrl+s", "Ctrl+l", "Ctrl+r", "Ctrl+u")
MORE = ("Ctrl+f", "Ctrl++", "Ctrl+Shift+I", "Alt+ArrowLeft", "Alt+Home", "Meta+r", "BrowserRefresh")


def test_no_shortcut_of_the_browser_reaches_it(kiosk: FakeKiosk) -> None:
    page = kiosk.page()
    press(page, "start", "other")
    let_through = page.evaluate(
        """(chords) => {
          const stopped = (kind, event) => !document.body.dispatchEvent(event) || kind;
          const common = { bubbles: true, cancelable: true };
          const keys = chords.map((chord) => {
            const held = chord.split("+");
            const key = chord.endsWith("++") ? "+" : held.at(-1);
            const [ctrlKey, altKey, metaKey] = ["Ctrl", "Alt", "Meta"].map((m) => held.includes(m));
            return stopped(chord, new KeyboardEvent("keydown",
              { key, ctrlKey, altKey, metaKey, ...common }));
          });
          const others = ["contextmenu", "dragstart", "dragover", "drop", "paste", "selectstart"]
            .map((kind) => stopped(kind, new Event(kind, common)));
          const wheel = stopped("wheel", new WheelEvent("wheel", { ctrlKey: true, ...common }));
          return [...keys, ...others, wheel].filter((each) => each !== true);
        }""",
        [*SHORTCUTS, *MORE],
    )
    assert let_through == []
    expect(page.locator("input")).to_have_value("")


def test_only_a_ticket_prints_and_without_a_name(kiosk: FakeKiosk) -> None:
    page = kiosk.page("landscape", color_scheme="dark")
    seen = []
    for screen in walk(kiosk, page):
        page.emulate_media(media="print")
        seen.append((screen, page.locator("body").is_visible()))
        if screen == "booked":
            expect(page.locator(".k-qr")).to_be_visible()
            expect(page.locator(".k-pin")).to_have_css("color", "rgb(0, 0, 0)")
            expect(page.locator("[data-bar], .k-deeds")).to_have_count(2)
            assert not page.locator("[data-bar]").is_visible()
        page.emulate_media(media="screen")
    assert [screen for screen, shown in seen if shown] == ["booked"]


@pytest.mark.parametrize("aid", ["", "large"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_slip_has_the_ticket_and_nothing_else_of_the_screen(
    kiosk: FakeKiosk, layout: str, aid: str
) -> None:
    kiosk.view = VIEW | {"phase": "finding", "headline": "Finding your driver", "plate": ""}
    page = kiosk.page(layout)
    if aid:
        press(page, f"aid-{aid}")
    to_check(page)
    kiosk.order = [kiosk.booked()]
    press(page, "book")
    page.locator(".k-pin").wait_for()
    page.emulate_media(media="print")
    assert page.locator("button:visible").count() == 0
    printed = "".join(page.locator("body").inner_text().split())
    for text in SLIP:
        assert "".join(text.split()) in printed, text
        printed = printed.replace("".join(text.split()), "", 1)
    assert printed == ""


def test_still_there_is_put_off_as_often_as_one_likes(kiosk: FakeKiosk) -> None:
    page = kiosk.page(before=lambda page: page.clock.install())
    press(page, "start")
    for _ in range(10):
        page.clock.fast_forward(61_000)
        expect(page.get_by_role("alertdialog")).to_contain_text("Still there?")
        press(page, "here")
        expect(page.get_by_role("alertdialog")).to_have_count(0)
    page.clock.fast_forward(61_000)
    expect(page.get_by_role("alertdialog")).to_be_visible()
    page.clock.fast_forward(21_000)
    expect(page.locator("body")).to_have_attribute("data-screen", "start")
    assert [given["how"] for name, given in kiosk.requests if name == "end"] == ["idle"]


def test_axe_finds_nothing_on_any_screen(kiosk: FakeKiosk) -> None:
    for scheme, aids in (("light", ()), ("dark", ()), ("light", ("aid-contrast",))):
        page = kiosk.page("tablet-portrait", voices=True, color_scheme=scheme)
        press(page, *aids)
        for screen in walk(kiosk, page):
            rules = ("color-contrast", "color-contrast-enhanced")
            if scheme == "light" and not aids:
                assert violations(page) == [], screen
            assert violations(page, *rules) == [], (screen, scheme, aids)
            if screen == "find":  # aids end with their visit
                press(page, *aids)
        close(page)


def test_a_second_document_says_so_and_takes_over_when_the_first_is_gone(
    kiosk: FakeKiosk,
) -> None:
    page = kiosk.page()
    other = page.context.new_page()
    other.route(f"{kiosk.served.url}/kiosk**", kiosk.answer)
    other.route(f"{kiosk.served.url}/kiosk/**", kiosk.answer)
    other.goto(f"{kiosk.served.url}/kiosk")
    expect(other.locator("h1")).to_have_text("This page is already open on this screen.")
    close(page)
    expect(other.locator('[data-press="start"]')).to_be_visible()


CORNERS = """() => {
  for (const [x, y, pointerId] of [[10, 10, 1], [innerWidth - 10, innerHeight - 10, 2]])
    document.body.dispatchEvent(new PointerEvent("pointerdown", {
      clientX: x, clientY: y, pointerId, bubbles: true }));
}"""


def open_panel(page: Page) -> None:
    """Hold two opposite corners until the panel asks for its PIN."""
    dialog = page.get_by_role("dialog")
    for _ in range(100):  # the panel's script is loaded after the first heartbeat
        page.evaluate(CORNERS)
        page.clock.fast_forward(3_100)
        if dialog.count():
            break
        page.wait_for_timeout(50)
    expect(dialog).to_contain_text("PIN of 6 digits")


# Taps each of these controls, one right after the other; returns those that are not there.
TAPS = """(names) => names.filter((name) => {
  const node = [...document.querySelectorAll(`[data-press="${name}"]`)].at(-1);
  if (!node) return true;
  const { left, top, width, height } = node.getBoundingClientRect();
  const at = { clientX: left + width / 2, clientY: top + height / 2, bubbles: true, pointerId: 9 };
  for (const kind of ["pointerdown", "pointerup"])
    node.dispatchEvent(new PointerEvent(kind, { ...at, isPrimary: true }));
  return false;
})"""


def test_digits_are_above_the_letters_and_none_is_swallowed(kiosk: FakeKiosk) -> None:
    page = kiosk.page("tablet-portrait")
    press(page, "start", "place-0")
    page.locator(".k-car").first.wait_for()
    press(page, "car-0")
    name = page.locator('[data-field="name"]')
    assert page.evaluate(TAPS, [f"key-{digit}" for digit in "204"]) == []
    expect(name).to_have_value("204")
    # the key draws the keyboard anew, and the next one may follow at once
    press(page, "key-erase", "key-erase", "key-erase")
    assert page.evaluate(TAPS, ["key-digits", "key-4", "key-&", "key-digits", "key-b"]) == []
    expect(name).to_have_value("4&b")
    page.evaluate(TAPS, ["bar-back"])
    expect(page.locator("body")).to_have_attribute("data-screen", "who")  # a palm on the bar


def test_staff_open_the_panel_by_a_pin_and_find_no_page_of_the_desk(kiosk: FakeKiosk) -> None:
    page = kiosk.page(before=lambda page: page.clock.install())
    open_panel(page)
    press(page, *(f"pin-{digit}" for digit in "111111"))
    expect(page.get_by_role("alert")).to_have_text("That PIN is not right.")
    press(page, *(f"pin-{digit}" for digit in "246810"))
    expect(page.get_by_role("dialog")).to_contain_text("Set out of order")
    assert page.locator("a").count() == 0
    press(page, "deed_calibrate")
    steps = page.locator(".k-steps button")
    expect(steps).to_have_text(["Narrower 10", "Narrower 1", "Wider 1", "Wider 10"])
    for _ in range(3):  # measuring a screen takes longer than a minute
        page.clock.fast_forward(40_000)
        press(page, "wider-1")
    press(page, "panel-close")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_fast_fingers_lose_no_digit_in_the_panel_and_send_one_pin(kiosk: FakeKiosk) -> None:
    page = kiosk.page(before=lambda page: page.clock.install())
    open_panel(page)
    assert page.evaluate(TAPS, [f"pin-{digit}" for digit in "24681077"]) == []
    expect(page.get_by_role("dialog")).to_contain_text("Set out of order")
    page.evaluate(TAPS, ["deed_out"])  # a second touch of the last digit, where the menu is now
    sent = [(given["pin"], given["deed"]) for name, given in kiosk.requests if name == "pair"]
    assert sent == [("246810", "open")]
    press(page, "deed_out")
    expect(page.get_by_role("status").last).to_have_text("Done")
    kiosk.answers["pair"] = lambda given: (
        {"state": "unfit", "problem": "height", "least": 100, "most": 1100}
        if given["deed"] == "calibrate"
        else {"state": "ok"}
    )
    press(page, "deed_calibrate", "next", "pin-erase", "pin-erase", "pin-erase", "pin-0", "save")
    problem = expect(page.get_by_role("alert"))
    problem.to_contain_text("The lower edge must be 100 to 1100 mm above the floor.")
    expect(page.locator(".k-code")).to_have_text("0")
    given = kiosk.requests[-1][1]
    assert (given["bottom_mm"], given["width_px"], given["height_px"]) == ("0", "1080", "1920")


# emoji, control, direction marks, private use, keys of an IME, markup, a combining mark alone
ODD = ("\U0001f600", "\0", "\u202e", "\u200f", "\ue000", "Process", "Unidentified", "<", "\u0301")
SEND = """(keys) => keys.forEach((key) => dispatchEvent(
  new KeyboardEvent("keydown", { key, cancelable: true })))"""


def test_a_joker_leaves_nothing_that_covers_or_breaks_a_screen(kiosk: FakeKiosk) -> None:
    page = kiosk.page()
    press(page, "lang-hi", "start", "place-0")
    page.locator(".k-car").first.wait_for()
    press(page, "car-0")
    name = page.locator('[data-field="name"]')
    page.evaluate(SEND, [*ODD])
    expect(name).to_have_value("<")
    press(page, "next")
    expect(page.locator(".k-problem")).to_have_text(kiosk.document()["words"]["hi"]["name_needed"])
    page.evaluate(SEND, ["Backspace", "ß", "क", *("ु" * 9), "\u0301", "a"])
    expect(name).to_have_value("ßकुुुa")
    page.evaluate(SEND, ["x"] * 99)
    expect(name).to_have_value("ßकुुुa" + "x" * 14)
    press(page, "field-phone")
    page.evaluate(SEND, [*ODD, *"+4+9a १"])
    expect(page.locator('[data-field="phone"]')).to_have_value("+49")
    press(page, "next")
    wrong = expect(page.locator(".k-problem"))
    wrong.to_have_text(kiosk.document()["words"]["hi"]["phone_wrong"])
    page.evaluate(SEND, [*"30123456"])
    press(page, "next")
    kiosk.order = [{"state": "refused", "field": "phone", "words": {"headline": "A", "next": "B"}}]
    press(page, "book")
    wrong.to_have_text("A B")
    expect(page.locator(".is-chosen input")).to_have_value("+4930123456")
    press(page, "next")
    expect(page.locator("body")).to_have_attribute("data-screen", "check")


def test_a_real_keyboard_writes_and_goes_on_with_enter(kiosk: FakeKiosk) -> None:
    page = kiosk.page()
    screen = expect(page.locator("body"))
    press(page, "start", "other")
    page.keyboard.type("ab c")
    expect(page.locator("input")).to_have_value("Ab C")
    expect(page.locator(".k-field")).to_have_css("outline-style", "solid")
    expect(page.locator(".k-results [data-press]").first).to_contain_text("Ab C Road")
    page.keyboard.press("Enter")  # focuses the first place, without choosing it
    expect(page.locator('[data-press="found-0"]')).to_be_focused()
    page.keyboard.press("Enter")
    page.locator(".k-car").first.wait_for()
    press(page, "car-0")
    page.keyboard.type("anna")
    expect(page.locator(".is-chosen .k-field")).to_have_css("outline-style", "solid")
    page.keyboard.press("Enter")
    screen.to_have_attribute("data-screen", "check")
    press(page, "bar-back")
    for _ in range(6):  # a key that is held down
        page.keyboard.down("Backspace")
    screen.to_have_attribute("data-screen", "who")
    expect(page.locator(".is-chosen input")).to_have_value("")
    page.keyboard.up("Backspace")
    press(page, "bar-over", "have")
    page.keyboard.type("27")
    page.keyboard.press("Enter")
    page.keyboard.type(f"+{RIDE['pin']}")  # the plus is ignored, as it is no digit
    page.keyboard.press("Enter")
    screen.to_have_attribute("data-screen", "ride")


IN_VIEW = """(field) => {
  const left = field.scrollWidth - field.clientWidth;
  return [left > 0, Math.abs(field.scrollLeft) >= left - 1];
}"""


@pytest.mark.parametrize(("language", "letter"), [("en", "w"), ("ar", "ص"), ("ar", "w")])
def test_what_is_typed_last_is_in_view(kiosk: FakeKiosk, language: str, letter: str) -> None:
    page = kiosk.page("tablet")
    press(page, f"lang-{language}", "start", "other")
    if language == "ar":
        press(page, "swap")
    field = page.locator(".k-field")
    page.evaluate(SEND, [letter] * 40)
    assert field.evaluate(IN_VIEW) == [True, True]
    press(page, "aid-large")  # this draws the screen anew
    assert field.evaluate(IN_VIEW) == [True, True]
    press(page, "bar-back", "place-0")
    page.locator(".k-car").first.wait_for()
    press(page, "car-0")
    page.evaluate(SEND, [letter] * 20)
    chosen = page.locator(".is-chosen .k-field")
    assert chosen.evaluate(IN_VIEW)[1]
    press(page, "next", "bar-back")
    assert chosen.evaluate(IN_VIEW)[1]
