"""Words of times: how they are compared, and English words beside those of another language."""

from dataclasses import replace

import pytest

from ridedash.rides.times.time_words import ENGLISH_WORDS, TWO_THINGS, normalised_words

# a language in which "a" means "at", with its own word for an hour
OTHER = replace(
    ENGLISH_WORDS,
    today=("heute",),
    tomorrow=("morgen",),
    weekdays=tuple((f"tag{number}",) for number in range(7)),
    months=tuple((f"monat{number}",) for number in range(12)),
    hours=("Stunde",),
    forenoon=("morgens",),
    am=(),
    skipped=("a",),
)


@pytest.mark.parametrize(
    ("typed", "compared"),
    [
        ("Übermorgen ６：１５", "ubermorgen 6:15"),
        ("DEMAIN À 6 H", "demain a 6 h"),
        ("o’clock", "o'clock"),
        ("！～", "!~"),
        ("！＠", "!@"),
        ("غدًا", "غدا"),
        ("11月24日、6時", "11月24日,6時"),
        ("が", "が"),
        ("साढ़े पाँच", "साढे पांच"),
        ("الساعة", "الساعه"),
        ("6\u200d:\ufe0f15", "6:15"),
        ("18∶15–19", "18:15-19"),
    ],
)
def test_a_text_is_compared_without_case_width_and_accents(typed: str, compared: str) -> None:
    assert normalised_words(typed) == compared


def test_each_word_is_known_by_what_it_means_and_one_of_two_meanings_as_such() -> None:
    tags = replace(OTHER, forenoon=("Morgen", "früh"), afternoon=("mittags",)).tags()
    assert (tags["heute"], tags["fruh"], tags["mittags"]) == ("today", "forenoon", "afternoon")
    assert tags["morgen"] == TWO_THINGS
    assert [tags[f"tag{number}"] for number in (0, 6)] == ["weekday00", "weekday06"]
    assert [tags[f"monat{number}"] for number in (0, 11)] == ["month00", "month11"]
    assert ENGLISH_WORDS.tags()["sept"] == "month08"


def test_a_number_that_is_a_month_too_is_known_by_its_place() -> None:
    french = replace(OTHER, numbers=("7 sept",), months=((),) * 8 + (("sept",),) + ((),) * 3)
    assert french.tags()["sept"] == "number_7_or_month08"
    assert replace(french, shifts=("+30 et demie", "-15 sept")).tags()["sept"] == TWO_THINGS


def test_english_is_understood_beside_another_language_but_for_its_single_letters() -> None:
    both = OTHER.and_english()
    assert both.today == ("heute", "today")
    assert both.weekdays[0] == ("tag0", "mon", "monday")
    assert both.months[11] == ("monat11", "dec", "december")
    assert (both.forenoon, both.am) == (("morgens", "morning"), ("am",)), "a is their at"
    assert both.tags()["a"] == "skipped"
    assert ENGLISH_WORDS.and_english() is ENGLISH_WORDS
    assert ENGLISH_WORDS.tags()["a"] == "am"


def test_an_hour_ahead_is_written_in_the_words_of_the_language_or_with_the_mark() -> None:
    assert ENGLISH_WORDS.hour_ahead == "hour"
    assert OTHER.and_english().hour_ahead == "Stunde"
    assert replace(OTHER, hours=("hour",)).hour_ahead == "h", "it has no word of its own"
