"""A guest who listens: pauses, changes the volume, and leaves the keyboard with one key."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.views.kiosk.kiosk_screens import (
    LAYOUTS,
    FakeKiosk,
    at,
    fake_kiosk,
    heard,
    press,
    spoken,
    to_check,
)
from tests.views.kiosk.measured import faults

pytestmark = [pytest.mark.browser, pytest.mark.database]

USUAL, STEPS = 4, 6  # volumes


@pytest.fixture
def kiosk(tmp_path: Path, browser: Browser) -> Iterator[FakeKiosk]:
    with fake_kiosk(tmp_path, browser) as made:
        yield made


def waiting(page: Page) -> list[str]:
    """What is read now and afterwards."""
    found: list[str] = page.evaluate("queue.map(({ text }) => text)")
    return found


def volumes(page: Page) -> set[float]:
    """The volumes of what waits to be read."""
    return set(page.evaluate("queue.map(({ volume }) => volume)"))


def read_check(kiosk: FakeKiosk) -> tuple[Page, list[str]]:
    """A page that reads the last question, with the focus on its words; and what it reads."""
    page = kiosk.page(voices=True)
    press(page, "aid-aloud")
    spoken(page)
    to_check(page)
    at(page, "check")
    page.locator("h1").focus()
    return page, waiting(page)


@pytest.mark.parametrize("key", ["Enter", "Pause", "MediaPlayPause"])
def test_a_key_pauses_what_is_read_and_goes_on_with_the_sentence_it_stopped_at(
    kiosk: FakeKiosk, key: str
) -> None:
    page, sentences = read_check(kiosk)
    assert len(sentences) > STEPS
    heard(page, 2)
    page.keyboard.down(key)
    page.keyboard.down(key)  # held down it pauses once
    page.keyboard.up(key)
    assert waiting(page) == []
    pause = page.locator('[data-press="bar-pause"]')
    expect(pause).to_have_attribute("aria-pressed", "true")
    page.keyboard.press(key)
    assert waiting(page) == sentences[2:]
    expect(pause).to_have_attribute("aria-pressed", "false")


def test_enter_reads_the_words_again_once_they_were_heard_to_their_end(kiosk: FakeKiosk) -> None:
    page, sentences = read_check(kiosk)
    heard(page, len(sentences))
    page.keyboard.press("Enter")
    assert waiting(page) == sentences


def test_a_touch_pauses_and_a_paused_screen_is_silent_until_the_next(kiosk: FakeKiosk) -> None:
    page, sentences = read_check(kiosk)
    heard(page, 1)
    press(page, "bar-pause")
    assert waiting(page) == []
    page.keyboard.press("ArrowDown")  # where the focus goes is read at once
    assert len(waiting(page)) == 1
    expect(page.locator('[data-press="bar-pause"]')).to_have_attribute("aria-pressed", "false")
    page.locator("h1").focus()
    spoken(page)
    press(page, "bar-pause")  # nothing is left: the screen is read again
    assert waiting(page) == sentences
    press(page, "bar-pause", "bar-back")
    at(page, "who")
    assert kiosk.document()["words"]["en"]["who"] in waiting(page)


def test_the_volume_changes_at_once_and_is_usual_again_for_the_next_guest(
    kiosk: FakeKiosk,
) -> None:
    page, sentences = read_check(kiosk)
    (usual,) = volumes(page)
    page.keyboard.press("AudioVolumeUp")
    (louder,) = volumes(page)
    assert louder > usual
    assert waiting(page) == [f"Volume: {USUAL + 1} of {STEPS}", *sentences]
    for _ in range(STEPS):
        page.keyboard.press("AudioVolumeUp")
    assert volumes(page) == {1}
    press(page, "bar-volume")  # after the loudest the softest follows
    (softest,) = volumes(page)
    assert 0 < softest < usual
    page.keyboard.press("Pause")
    page.keyboard.press("AudioVolumeDown")
    assert waiting(page) == [f"Volume: 1 of {STEPS}"], "a paused screen stays paused"
    page.keyboard.press("Pause")
    assert waiting(page) == sentences
    press(page, "bar-over", "aid-aloud")
    at(page, "start")
    assert volumes(page) == {usual}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_pause_and_volume_have_room_in_the_bar_of_who_listens(
    kiosk: FakeKiosk, layout: str
) -> None:
    mm, bottom = LAYOUTS[layout][2:]
    page = kiosk.page(layout, voices=True)
    press(page, "aid-aloud")
    found = faults(page, mm, bottom, frozenset())
    press(page, "start", "place-0")
    page.locator(".k-car").first.wait_for()
    for aids in ((), ("large",), ("large", "lower")):
        press(page, *(f"aid-{aid}" for aid in aids))
        found += [(*aids, each) for each in faults(page, mm, bottom, frozenset(aids))]
        press(page, *(f"aid-{aid}" for aid in aids))
    assert found == []


def test_an_arrow_that_is_held_or_page_down_leaves_the_keyboard(kiosk: FakeKiosk) -> None:
    page = kiosk.page(voices=True)
    press(page, "start", "place-0")
    page.locator(".k-car").first.wait_for()
    press(page, "car-0")
    at(page, "who")
    press(page, "key-a")
    page.locator('[data-press="key-a"]').focus()
    page.keyboard.down("ArrowRight")
    for _ in range(3):  # the repeats of a key that is held
        page.keyboard.down("ArrowRight")
    page.keyboard.up("ArrowRight")
    expect(page.locator('[data-press="next"]')).to_be_focused()
    page.locator('[data-press="key-n"]').focus()
    page.keyboard.press("PageDown")
    expect(page.locator('[data-press="next"]')).to_be_focused()
    page.keyboard.press("Enter")
    at(page, "check")
