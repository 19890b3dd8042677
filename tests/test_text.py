"""Cleaning of text: marks that stack, and the scripts that need several of them."""

import unicodedata

import pytest

from ridedash.text import ascii_digits, compact_key, normalised, one_line, plain_code


def longest_run(text: str) -> int:
    """The most combining marks in a row."""
    longest = run = 0
    for char in text:
        run = run + 1 if unicodedata.category(char) in ("Mn", "Me") else 0
        longest = max(longest, run)
    return longest


@pytest.mark.parametrize("mark", ["\u0300", "\u0489", "\u20dd", "\u0323\u0302\u0489"])
def test_a_letter_keeps_two_of_many_stacked_marks(mark: str) -> None:
    cleaned = one_line(f"KA{mark * 40} 01{mark * 40}", 300)
    assert longest_run(cleaned) == 2
    assert [char for char in cleaned if char.isalnum()] == list("KA01")


@pytest.mark.parametrize(
    "blank",
    ["\u3164", "\u115f\u1160", "\uffa0 \u2800", "\u034f", "\ufe0f", "\u200d", "\u0301\u0301"],
)
def test_a_text_of_which_nothing_is_seen_is_no_text(blank: str) -> None:
    assert (one_line(blank), one_line(f" {blank} ", 20)) == ("", "")
    assert one_line(f"김{blank}").startswith("김")


@pytest.mark.parametrize("between", ["\u200d", "\u200c", "\u034f", "\ufe0f"])
def test_invisible_characters_between_marks_give_no_room_for_more(between: str) -> None:
    cleaned = one_line("a" + f"\u0300{between}" * 40, 300)
    assert cleaned.count("\u0300") <= 2


def test_a_vowel_of_one_script_can_not_be_stacked_without_end() -> None:
    assert longest_run(one_line("\u0e01" + "\u0e47" * 40)) == 3


@pytest.mark.parametrize(
    "words",
    [
        "José Müller",
        unicodedata.normalize("NFD", "Việt Nam"),
        "\u1019\u102d\u102f\u1037",  # Burmese: three marks
        "\u0f56\u0f62\u0f92\u0fb1\u0f74\u0f51",  # Tibetan
        "तृष्णा क्षि",
        "שָׁלוֹם",
        "กี่ นี้",
        "ស្ត្រី",
        "1\ufe0f\u20e3",
    ],
)
def test_names_in_scripts_with_marks_stay_as_they_are(words: str) -> None:
    assert one_line(words) == words


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("فاطمة", "فاطمه"),
        ("مصطفى", "مصطفي"),
        ("أحمد إبراهيم آدم ٱلنور", "احمد ابراهيم ادم النور"),
        ("مُحَمَّد", "محمد"),
        ("محمـــد", "محمد"),
        ("مؤمن رئيف", "مومن رييف"),
        ("علی کریم", "علي كريم"),
        ("ﻣﺤﻤﺪ", "محمد"),  # letters in their forms of presentation
        ("علی\u200cرضا", "علی رضا"),
        ("ज़ाकिर क्\u200dषमा", "जाकिर क्षमा"),
        ("Ｇｕｅｓｔ　Ｈｅｒｏｎ", "guest heron"),
        ("ﾃﾞｽｸ", "デスク"),
        ("Wren ٤١٢ ۴१２", "wren 412 412"),
    ],
)
def test_spellings_of_one_name_are_one_for_a_search(written: str, typed: str) -> None:
    assert normalised(written) == normalised(typed)


def test_other_letters_stay_apart_for_a_search() -> None:
    names = ("سعيد", "صعيد", "نور", "نورا", "मीरा", "मीरी", "かな", "カナ")
    assert len(set(map(normalised, names))) == len(names)


def test_codes_have_ascii_digits_and_half_width_letters() -> None:
    assert ascii_digits("٠١٢ ۳۴ ५６ ²é") == "012 34 56 ²é"
    assert plain_code("１２Ａ-٧") == "12A-7"
    others = "12½ 2º B 5² ﷺ№ ①ﬁ é"
    assert plain_code(others) == others, "these are not the same on a door"
    assert compact_key("ｋａ ०१ ab-١٢٣٤") == "KA01AB1234"
