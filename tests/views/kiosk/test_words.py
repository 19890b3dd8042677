"""The words of a kiosk: complete in every language, plain, and without technical terms."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from flask import Flask

from ridedash.views.kiosk.words import WORDS, choices, words_of
from ridedash.wording.languages import LANGUAGES
from tests.views.ride_pages import make_desk

SCRIPTS = Path(__file__).parents[3] / "static/js/kiosk"
TRADE = ("drop", "category", "allotment", "invoice", "booking status", "error", "invalid", "oops")
# beginnings of keys that a script composes: t(`aid_${name}`)
MADE = ("aid_", "tab_", "deed_", "help_", "full_")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    desk = make_desk(tmp_path_factory.mktemp("desk"))
    yield desk.app
    desk.close()


@pytest.mark.database
def test_every_language_has_every_word_with_the_slots_of_the_english_one(app: Flask) -> None:
    with app.test_request_context("/"):
        found = words_of(LANGUAGES)
    assert set(found) == {row.tag for row in LANGUAGES.values()}
    for tag, words in found.items():
        assert words.keys() == WORDS.keys()
        for key, text in words.items():
            slots = re.findall(r"\{\w+\}", text)
            assert sorted(slots) == sorted(re.findall(r"\{\w+\}", found["en"][key])), (tag, key)
            assert text.strip(), (tag, key)


@pytest.mark.database
@pytest.mark.parametrize(
    ("days", "ending"),
    [("1", "Deleted after 1 day."), ("7", "Deleted after 7 days."), ("30", "30 days.")],
)
def test_a_guest_reads_for_how_long_a_phone_number_is_stored_here(
    days: str, ending: str, tmp_path: Path
) -> None:
    with (
        closing(make_desk(tmp_path, KEEP_GUESTS_DAYS=days)) as desk,
        desk.app.test_request_context("/"),
    ):
        found = words_of(["ar"])
    assert found["en"]["phone_why"].endswith(ending)
    assert days == "1" or days in found["ar"]["phone_why"]


@pytest.mark.database
def test_a_kiosk_of_few_languages_carries_those_and_english(app: Flask) -> None:
    with app.test_request_context("/"):
        assert list(words_of(["ar", "ar", "xx"])) == ["ar", "en"]
    assert [each["tag"] for each in choices(["hi", "zh_Hans"])] == ["hi", "zh-Hans"]
    assert choices([]) == [{"tag": "en", "name": "English", "dir": "ltr"}]


@pytest.mark.database
def test_sentences_have_twelve_words_at_most_and_none_of_the_trade(app: Flask) -> None:
    with app.test_request_context("/"):
        words = words_of([])["en"]
    for key, text in words.items():
        for sentence in re.split(r"(?<=[.?!])\s", text):
            assert len(sentence.split()) <= 12, (key, sentence)
        assert not [word for word in TRADE if word in text.lower()], key


def test_scripts_use_every_word_and_no_other() -> None:
    code = "\n".join(path.read_text() for path in SCRIPTS.glob("*.js"))
    used = set(re.findall(r"""\bt\(\s*["'`](\w+)["'`]""", code))
    assert used - WORDS.keys() == set()
    quoted = set(re.findall(r"""["'`](\w+)["'`]""", code)) | set(re.findall(r"words\.(\w+)", code))
    unused = {key for key in WORDS.keys() - quoted if not key.startswith(MADE)}
    assert unused == set()
