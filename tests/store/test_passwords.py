"""Which passwords are refused, and why."""

import secrets

import pytest
from werkzeug import security

from ridedash.store.passwords import (
    LONGEST,
    SHORTEST,
    SYMBOLS,
    estimated_part,
    hashed,
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
