"""Which passwords are refused, and why."""

import secrets
import unicodedata

import pytest
from werkzeug import security

from ridedash.store.passwords import (
    LONGEST,
    SHORTEST,
    SYMBOLS,
    estimated_part,
    hashed,
    is_outdated,
    matches,
    weakness,
)
from tests.cheap_hashes import hash_as_ever

NAMES = ("Grand Meridian Hotel", "Asha Rao")


@pytest.mark.parametrize(
    "password",
    [
        "trustno1trustno",
        "dragonmonkey12",
        "sunshine2024!",
        "iloveyoubaby99",
        "administrator",
        "Password1234",
        "qwertyuiop123",
        "1234567890123",
        "aaaaaaaaaaaaaa",
        "abcabcabcabc",
        "summer2024hotel",
        "p0o9i8u7y6t5",
    ],
)
def test_a_password_that_guessing_programs_try_early_is_refused(password: str) -> None:
    assert weakness(password) == "common"


@pytest.mark.parametrize(
    "password",
    [
        "Grand Meridian 1",
        "gr4ndm3r1d14n12",
        "asha-rao-2026",
        "ridedash-desk-2026",
        "Hotel.Reception.99",
        "AshaRaoHotel1234",
    ],
)
def test_a_password_of_the_propertys_the_persons_and_the_trades_words_is_refused(
    password: str,
) -> None:
    assert weakness(password, NAMES) == "common"


@pytest.mark.parametrize(
    "password",
    [
        "a long enough password",
        "seven herons over the lagoon",
        "violet-otter-tram",
        "grüne Laterne am Fluss",
        "x7#Kq2!vB9@m",
    ],
)
def test_a_phrase_of_words_that_dont_belong_together_is_accepted(password: str) -> None:
    assert weakness(password, NAMES) is None


def test_a_generated_password_is_accepted() -> None:
    assert [
        each for each in (secrets.token_urlsafe(12) for _ in range(50)) if weakness(each, NAMES)
    ] == []


def test_the_length_is_at_least_12_and_at_most_128_characters() -> None:
    phrase = "violet otter tram harbour lantern " * 4
    assert (SHORTEST, LONGEST) == (12, 128)
    assert weakness("x7#Kq2!vB9@") == "short"
    assert weakness("x7#Kq2!vB9@m") is None
    assert weakness(phrase[:128]) is None
    assert weakness(phrase[:129]) == "long"


def test_a_long_password_is_judged_by_how_it_begins() -> None:
    assert weakness("a" * 40 + "violet otter tram") == "common"
    assert weakness("violet otter tram" + "a" * 100) is None


def test_the_estimate_never_sees_more_than_ten_symbols_that_stand_for_letters() -> None:
    """Each further symbol doubles the time that zxcvbn takes."""
    hostile = "4@8({[<3691!|70$5+%2" * 6
    assert len(set(estimated_part(hostile)) & set(SYMBOLS)) == 0
    assert estimated_part(hostile) == "aabcccceggiiitosstxzaabcccceggii"
    assert estimated_part("p4ssw0rd!7$ on the roof") == "p4ssw0rd!7$ on the roof"
    assert weakness("4(2!7)9$x%8{0+3 violet") is None


def test_a_password_is_stored_as_a_salted_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "_hash_internal", hash_as_ever)
    first, second = hashed("violet otter tram"), hashed("violet otter tram")
    assert first != second
    assert first.startswith("scrypt:32768:8:1$")
    assert matches(first, "violet otter tram")
    assert not matches(first, "violet otter tra")
    assert "violet" not in first


def test_eight_letters_of_ones_own_are_enough_and_seven_are_not() -> None:
    assert weakness("ridedashvqxtkzwm") is None
    assert weakness("ridedashvqxtkzw") == "common"


def test_a_word_of_three_letters_counts_and_one_of_two_does_not() -> None:
    names = ("Asha Rao", "Bo Lee")
    assert weakness("raoVleeTraoXleeQk", names) == "common"
    assert weakness("boVboTboXboQkboZw", names) is None


def test_the_longest_of_two_names_is_what_a_password_begins_with() -> None:
    names = ("Ann", "Annabelle Otterbein")
    assert weakness("annabelleotterbeinvqxtkzw", names) == "common"
    assert weakness("annabelleotterbeinvqxtkzwj", names) is None


def test_ten_symbols_that_stand_for_letters_are_estimated_as_they_are() -> None:
    ten = "4@8({[<369"
    assert estimated_part(ten) == ten
    assert estimated_part(ten + "1") == "aabcccceggi"


SPELLINGS = [
    ("Jos\u00e9 plante des choux", "Jose\u0301 plante des choux"),  # as Windows and macOS type it
    ("lantern bicycle 4711", "lantern bicycle ４７１１"),
    ("ｌａｎｔｅｒｎ　ｂｉｃｙｃｌｅ", "lantern bicycle"),
    ("カメラ と じてんしゃ です", "ｶﾒﾗ と じてんしゃ です"),
    ("ｶﾞｯｺｳ まで はしります", "ガッコウ まで はしります"),
    ("한국의 기차는 빠릅니다", "\u1112\u1161\u11ab국의 기차는 빠릅니다"),
    ("phở và bánh mì sáng nay", "pho\u031b\u0309 và bánh mì sáng nay"),
    ("a\u00a0narrow bridge at night", "a narrow bridge at night"),
]


@pytest.mark.parametrize(("stored", "typed"), SPELLINGS)
def test_a_password_opens_however_a_keyboard_composes_it(stored: str, typed: str) -> None:
    assert matches(hashed(stored), typed)
    assert matches(hashed(typed), stored)
    assert not matches(hashed(stored), typed + "x")
    assert not is_outdated(hashed(stored), typed)
    assert weakness(stored) == weakness(typed)


@pytest.mark.parametrize(("stored", "typed"), SPELLINGS)
def test_a_hash_of_an_earlier_release_opens_as_it_was_typed(stored: str, typed: str) -> None:
    for as_typed in (stored, typed):
        old = security.generate_password_hash(as_typed)
        assert matches(old, as_typed)
        assert is_outdated(old, as_typed) is not matches_only(old, as_typed)


def matches_only(stored: str, typed: str) -> bool:
    """Whether the form that is stored today opens it."""
    return security.check_password_hash(stored, unicodedata.normalize("NFKC", typed))


def test_a_hash_of_a_decomposed_password_opens_with_the_composed_one() -> None:
    old = security.generate_password_hash("Jose\u0301 plante des choux")
    assert matches(old, "Jos\u00e9 plante des choux")


@pytest.mark.parametrize("typed", ["wrong", "wr\u00f6ng", "wro\u0308ng", "ｗｒｏｎｇ"])
def test_a_wrong_password_takes_the_same_work_whatever_is_stored(
    typed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    monkeypatch.setattr(security, "check_password_hash", lambda _h, each: tried.append(each))
    counts = set()
    for stored in ("lantern bicycle 4711", "ｌａｎｔｅｒｎ bicycle"):
        tried.clear()
        matches(hashed(stored), typed)
        counts.add(len(tried))
    assert len(counts) == 1
    assert counts.pop() == (1 if typed.isascii() else 2)


def test_the_length_of_a_password_is_that_of_its_composed_form() -> None:
    long = "é" * 40 + "ABCDEFGHIJ" * 8
    assert len(long) <= LONGEST < len(unicodedata.normalize("NFD", long)) + 10
    decomposed = unicodedata.normalize("NFD", "Zwölf Übel kämen spät" * 6)
    assert len(decomposed) > LONGEST
    assert weakness(decomposed) is None
    assert weakness("ﷺ" * 11) == "long", "eighteen letters each"
