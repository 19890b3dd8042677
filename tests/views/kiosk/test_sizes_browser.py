"""Each screen of a kiosk on each of its layouts: sizes in millimetres, reach, nothing cut off.

RIDEDASH_TEST_LANGUAGES=all measures the narrowest layout in all languages.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from ridedash.wording import in_language
from ridedash.wording.kiosk import kiosk_words
from tests.views.kiosk.kiosk_screens import (
    LAYOUTS,
    RIDE,
    VIEW,
    FakeKiosk,
    close,
    fake_kiosk,
    press,
    to_check,
    type_on,
    walk,
)
from tests.views.kiosk.measured import faults, faults_of_pages

pytestmark = [pytest.mark.browser, pytest.mark.database]

NONE, LARGE, LOWER = frozenset[str](), frozenset({"large"}), frozenset({"lower"})
# Looks by language. Each layout is measured in en and ar, and the narrowest one also in hi, whose
# lines are higher, and in ja, where guests choose places from lists.
LOOKS = {
    "en": (NONE, LARGE, LOWER, LARGE | LOWER),
    "ar": (NONE, LARGE | LOWER),
    "hi": (NONE, LARGE | LOWER),
    "ja": (NONE, LARGE | LOWER),
}
# mm per px of a screen of 21.5 inches, the smallest one whose bar has words on all its buttons
SMALLER_MM = 0.248
LEAST_FACE_PX = 250  # of 510 px that no one reaches on an upright screen
COUNTER_MM = 900  # from the floor to the lower edge of a screen on a counter
LONG_WORDS = ("de", "es", "fr")
if os.environ.get("RIDEDASH_TEST_LANGUAGES") == "all":
    LOOKS |= dict.fromkeys(("es", "fr", "de", "zh-Hans"), LOOKS["en"])


LARGER = 1.3  # with large text
# px of running text and of each of a screen's own larger texts; a ticket's number is always as
# large as a plate
GROWING = """() => Object.fromEntries(
  ["[data-stage]", "body:not([data-look=ticket]) .k-question", ".k-begin", ".k-price",
    ".k-fact-price dd"]
    .map((name) => [name, document.querySelector(name)])
    .filter(([, node]) => node?.checkVisibility())
    .map(([name, node]) => [name, Number.parseFloat(getComputedStyle(node).fontSize)]),
)"""


@pytest.fixture
def kiosk(tmp_path: Path, browser: Browser) -> Iterator[FakeKiosk]:
    with fake_kiosk(tmp_path, browser) as made:
        yield made


@pytest.mark.parametrize("layout", LAYOUTS)
def test_controls_are_large_and_apart_and_within_reach_and_nothing_is_cut_off(
    kiosk: FakeKiosk, layout: str
) -> None:
    mm, bottom = LAYOUTS[layout][2:]
    languages = LOOKS if layout == "tablet-portrait" else ("en", "ar")
    found = []
    for language in languages:
        page = kiosk.page(layout, voices=True)
        for screen in walk(kiosk, page, language):
            if layout == "portrait" and screen != "start":
                # the part of an upright screen that no one reaches has the property's face
                face = page.locator("[data-stage] > .k-face").bounding_box()
                assert face, screen
                assert face["height"] > LEAST_FACE_PX, screen
            on, usual = NONE, page.evaluate(GROWING)
            for look in LOOKS[language]:
                press(page, *(f"aid-{aid}" for aid in sorted(on ^ look)))
                on = look
                where = (language, screen, *sorted(look))
                if look >= LARGE:
                    now = page.evaluate(GROWING)
                    grown = {name: now[name] / size for name, size in usual.items() if name in now}
                    found += [(*where, each) for each in grown.items() if each[1] < LARGER - 0.01]
                found += [(*where, fault) for fault in faults_of_pages(page, mm, bottom, look)]
            press(page, *(f"aid-{aid}" for aid in sorted(on)))
        close(page)
    assert found == []


@pytest.mark.parametrize("language", ["en", "de", "hi"])
def test_the_smallest_screen_shows_two_cars_and_says_what_a_field_is_for(
    kiosk: FakeKiosk, language: str
) -> None:
    page = kiosk.page("least")
    for screen in walk(kiosk, page, language):
        if screen == "car":
            assert page.locator(".k-car:visible").count() >= 2
        if screen == "who":
            label = page.locator(".k-part:not(.is-chosen) .k-label")
            assert label.is_visible()
            assert label.evaluate("label => label.scrollWidth <= label.clientWidth")


def test_the_words_of_a_held_clock_have_room_beside_all_that_a_ride_shows(
    kiosk: FakeKiosk, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = "The demo's clock is held at 14:00. All rides stand still."
    monkeypatch.setitem(VIEW, "held", held)
    page = kiosk.page("tablet-portrait", voices=True)
    press(page, "have")
    type_on(page, "27")
    press(page, "field-pin")
    type_on(page, RIDE["pin"])
    press(page, "next")
    page.locator(".k-plate").first.wait_for()
    press(page, "show-code")
    page.locator(".k-code[aria-label]").wait_for()
    expect(page.get_by_text(held)).to_be_visible()
    expect(page.locator(".k-away")).to_be_hidden()  # the cab stands still
    assert faults(page, *LAYOUTS["tablet-portrait"][2:], NONE) == []


def test_why_a_ride_is_not_shown_covers_no_key_beside_large_letters(kiosk: FakeKiosk) -> None:
    with kiosk.served.desk.app.test_request_context("/"), in_language("de"):
        words = kiosk_words("closed").as_json()
    kiosk.answers["ride"] = lambda _: {"state": "closed", "words": words}
    page = kiosk.page("tablet", voices=True)
    press(page, "lang-de", "have")
    type_on(page, "27")
    press(page, "field-pin")
    type_on(page, "1111")
    press(page, "next")
    problem = page.locator(".k-said.is-problem")
    expect(problem).to_have_text(f"{words['headline']} {words['next']}")
    assert faults(page, *LAYOUTS["tablet"][2:], NONE) == []
    press(page, "aid-large")
    expect(problem).to_have_text(words["headline"])
    assert faults(page, *LAYOUTS["tablet"][2:], LARGE) == []
    press(page, "aid-large", "bar-over", "lang-es", "start")  # with a word that is too wide
    assert faults(page, *LAYOUTS["tablet"][2:], NONE) == []


@pytest.mark.parametrize("layout", ["portrait", "landscape"])
def test_no_word_of_the_bar_and_of_the_lists_is_broken_on_a_screen_of_21_inches(
    kiosk: FakeKiosk, layout: str
) -> None:
    kiosk.more = {"mm_per_px": SMALLER_MM}
    bottom = LAYOUTS[layout][3]
    found = []
    for language in LONG_WORDS:
        page = kiosk.page(layout)
        press(page, f"lang-{language}", "start", "other", "swap")
        for look in (NONE, LARGE):
            press(page, *(f"aid-{aid}" for aid in look))
            found += [(language, *look, each) for each in faults(page, SMALLER_MM, bottom, look)]
        close(page)
    assert found == []


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_changed_price_and_its_english_have_room_beside_all_other_facts(
    kiosk: FakeKiosk, layout: str
) -> None:
    changed = {"offer": 9, "old": "₹249", "new": "₹265"}
    kiosk.order = [{"state": "changed", "changed": changed}]
    found = []
    for language in ("en", "hi", "de"):
        page = kiosk.page(layout, voices=True)
        press(page, f"lang-{language}")
        to_check(page, name="कगच" if language == "hi" else "anna")
        press(page, "book")
        page.locator(".k-changed").wait_for()
        mm, bottom = LAYOUTS[layout][2:]
        found += [(language, each) for each in faults_of_pages(page, mm, bottom, NONE)]
        close(page)
    assert found == []


LINES = """() => [...document.querySelectorAll(".k-bar-word")].map((word) => {
  const range = document.createRange();
  range.selectNodeContents(word);
  const tops = [...range.getClientRects()].map(({ top }) => Math.round(top));
  return { word: word.textContent, lines: new Set(tops).size };
}).filter(({ lines }) => lines > 1).map(({ word }) => word)"""


@pytest.mark.parametrize("layout", ["portrait", "landscape"])
def test_words_of_the_bar_stand_in_one_line_on_a_large_screen(
    kiosk: FakeKiosk, layout: str
) -> None:
    page = kiosk.page(layout)
    for language in ("en", "hi", "ar", "es", "fr", "de", "ja", "zh-Hans"):
        press(page, f"lang-{language}", "start")
        assert page.evaluate(LINES) == [], language
        press(page, "bar-over")


@pytest.mark.parametrize("layout", ["tablet", "tablet-portrait"])
def test_aids_have_visible_words_on_a_tablet_where_they_are_met_first(
    kiosk: FakeKiosk, layout: str
) -> None:
    page = kiosk.page(layout, voices=True)
    mm, bottom = LAYOUTS[layout][2:]
    words = page.locator(".k-aid .k-bar-word:visible")
    for language in ("en", "ar", "fr", "de"):
        press(page, f"lang-{language}")
        expect(words).to_have_count(4 if language in ("en", "ar") else 3)  # fr, de: no voice
        assert faults(page, mm, bottom, NONE) == [], language
    press(page, "aid-large")  # the bar has no room for large words, only for the symbols
    expect(words).to_have_count(0)
    assert faults(page, mm, bottom, LARGE) == []


@pytest.mark.parametrize("look", [LARGE, LOWER, LARGE | LOWER], ids=sorted)
def test_aids_have_room_beside_what_is_typed_on_a_low_screen(
    kiosk: FakeKiosk, look: frozenset[str]
) -> None:
    kiosk.more = {"mm_per_px": SMALLER_MM, "bottom_mm": COUNTER_MM}
    page = kiosk.page("landscape", voices=True)
    press(page, "lang-hi", *(f"aid-{aid}" for aid in look), "start", "other", "swap")
    type_on(page, "कग")
    page.locator(".k-results [data-press]").first.wait_for()
    assert faults(page, SMALLER_MM, COUNTER_MM, look) == []
    press(page, "bar-back", "place-0", "car-0", "bar-language", "lang-es", "next")
    assert faults(page, SMALLER_MM, COUNTER_MM, look) == []
    expect(page.locator("[data-press=next]")).to_be_visible()
    head, entry = (page.locator(part).bounding_box() for part in (".k-head", ".k-entry"))
    assert entry
    assert not head or entry["y"] >= head["y"] + head["height"]
