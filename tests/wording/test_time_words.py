"""Staff type a time in the words of their language or in English, as the hints of a page show."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask

from ridedash.rides.orders.time_words import ENGLISH, TWO_THINGS, TimeWords, normalised_words
from ridedash.rides.orders.typed_time import NotATime, TimeRefusal, read_time
from ridedash.views.booking.pickup_times import quick_times
from ridedash.views.web.formatting import weekday_time, zone
from ridedash.wording.languages import LANGUAGES
from ridedash.wording.say import in_language
from ridedash.wording.time_words import examples, time_words
from ridedash.wording.typed_times import why_not
from tests.views.ride_pages import make_desk

pytestmark = pytest.mark.database
KOLKATA = zone("Asia/Kolkata")
NOW = datetime(2026, 11, 23, 10, 25, 20, tzinfo=UTC)  # Monday, 15:55:20 in Kolkata
FRIDAY, TUESDAY = "2026-11-27", "2026-11-24"
# what people type in each language, beyond the examples in the hints
TYPED = {
    "hi": ["कल सुबह 6:15 बजे", "कल 6 बजकर 15 मिनट"],
    "ar": ["غدًا الساعة 6:15 صباحًا", "غدا 6:15", "يوم الثلاثاء 6:15"],
    "es": [
        "mañana a las 6:15 de la mañana",
        "manana 6h15",
        "el martes 6:15",
        "24 de noviembre 6:15",
    ],
    "fr": ["demain à 6h15", "demain à 6 heures 15", "mardi 6:15 du matin"],
    "de": ["morgen früh um 6:15", "morgen 6 Uhr 15", "am Dienstag 6:15", "24. Nov. 6.15 Uhr"],
    "ja": ["明日6時15分", "明日の朝６：１５", "火曜6時15分", "11月24日 6:15"],
    "zh_Hans": ["明天早上6点15分", "周二6:15", "11月24日 6:15"],
    "en": ["tomorrow at 6:15", "tue 6:15 am"],
}
AFTERNOON = {
    "hi": "दोपहर 2 बजे",
    "ar": "2 بعد الظهر",
    "es": "2:00 de la tarde",
    "fr": "2:00 de l’après-midi",
    "de": "2 Uhr nachmittags",
    "ja": "午後2時",
    "zh_Hans": "下午2点",
    "en": "2 pm",
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    desk = make_desk(tmp_path_factory.mktemp("desk"))
    yield desk.app
    desk.close()


@pytest.fixture(params=LANGUAGES)
def code(request: pytest.FixtureRequest, app: Flask) -> Iterator[str]:
    with app.test_request_context(), in_language(request.param):
        yield request.param


def at(text: str, words: TimeWords) -> str:
    return f"{read_time(text, NOW, KOLKATA, words).at.astimezone(KOLKATA):%Y-%m-%d %H:%M}"


def test_what_a_hint_shows_is_understood(code: str) -> None:
    words = time_words(code)
    found = {name: at(text, words) for name, text in examples(words).items() if name != "dated"}
    assert found == {
        "tomorrow": f"{TUESDAY} 06:15",
        "friday": f"{FRIDAY} 14:00",
        "ahead": "2026-11-23 16:36",
        "span": "2026-11-23 17:56",
        "night": f"{TUESDAY} 02:00",
    }
    january = datetime(2026, 1, 5, 6, 0, tzinfo=UTC)
    dated = read_time(f"{examples(words)['dated']} 6:15", january, KOLKATA, words).at
    assert (dated.month, dated.day) == (3, 4)
    for text in quick_times(NOW, KOLKATA, words):
        assert read_time(text, NOW, KOLKATA, words).at > NOW, text
    shown = weekday_time(NOW + timedelta(days=4), KOLKATA, code)
    assert at(shown, words) == f"{FRIDAY} 15:55", shown


def test_every_message_shows_the_examples_of_its_language(code: str) -> None:
    words = time_words(code)
    for why in TimeRefusal:
        message = why_not(NotATime(why, "2", NOW), NOW, KOLKATA, words)
        assert "%(" not in message, why
        assert code == "en" or not any(each in message for each in ("tomorrow", "fri 14", "4 mar."))
    unknown = why_not(NotATime(TimeRefusal.UNKNOWN, "2"), NOW, KOLKATA, words)
    assert words.tomorrow[0] in unknown


def test_a_time_is_typed_as_people_there_write_it(code: str) -> None:
    words = time_words(code)
    assert {text: at(text, words) for text in TYPED[code]} == dict.fromkeys(
        TYPED[code], f"{TUESDAY} 06:15"
    )
    assert at(AFTERNOON[code], words) == f"{TUESDAY} 14:00"
    assert at(f"{words.tonight[0]} 8", words) == "2026-11-23 20:00"
    assert at(f"{words.after_tomorrow[0]} 9", words) == "2026-11-25 09:00"


def test_weekdays_and_months_are_understood_in_short_in_full_and_in_english(code: str) -> None:
    words = time_words(code)
    tags = words.tags()
    assert sum(tag == TWO_THINGS for tag in tags.values()) <= 2, tags
    for number, names in enumerate(words.weekdays):
        for name in names:
            if tags[normalised_words(name)] != TWO_THINGS:
                found = read_time(f"{name} 17", NOW, KOLKATA, words).at.astimezone(KOLKATA)
                assert found.weekday() == number, name
    for number, names in enumerate(words.months):
        assert any(tags[normalised_words(name)] != TWO_THINGS for name in names), names
        for name in names:
            if tags[normalised_words(name)] != TWO_THINGS:
                text = f"28 {name} 17" if number > 9 else f"28 {name} 2027 17"
                assert read_time(text, NOW, KOLKATA, words).at.month == number + 1, name
    assert at("tomorrow 0615", words) == at("tue 6:15", words) == f"{TUESDAY} 06:15"


def test_english_is_itself_alone(code: str) -> None:
    assert (time_words(code) is ENGLISH) == (code == "en")
    assert time_words("xx") is ENGLISH
