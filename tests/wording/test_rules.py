"""What a translation must keep; a translation that has lost something is never shown."""

import logging

import pytest

from ridedash.wording.rules import faults, usable

RIGHT = [
    ("Meet at {pickup}.", "{pickup} पर मिलें।"),
    ("Driver on the way[ · {eta}]", "[{eta} · ]Fahrer unterwegs"),
    ("Driver on the way[ · {eta}]", "Fahrer unterwegs"),
    ("[Asked {asked}, ]no clear answer", "keine klare Antwort[ ({asked})]"),
    ("Line %(n)d: %(why)s", "%(why)s (Zeile %(n)d)"),
    ("%(n)s %%", "%(n)s %%"),
    ("%(n).1f km", "%(n).1f km"),
    ("Discount ({n} %)", "Rabatt ({n} %)"),
    ("Here", "Da"),
]
WRONG = [
    ("Meet at {pickup}.", "Treffpunkt", "{pickup} is missing"),
    ("Meet at {pickup}.", "Bei {ort}", "{ort} is no slot of the English text"),
    ("Here[ at {at}]", "Da um {at}", "{at} may be unknown"),
    ("Here[ at {at}]", "Da [um {at}", "a bracket has no partner"),
    ("Here[ at {at}]", "Da [um [{at}]]", "stands in another one"),
    ("Meet at {pickup}.", "Bei {pickup}}", "a brace has no partner"),
    ("Here", "Da {n}", "{n} is no slot"),
    ("Line %(n)d", "Zeile %(nn)d", "%(nn)d is no fact"),
    ("Line %(n)d", "Zeile %(n)s", "%(n)d is missing"),
    ("%(n).1f km", "%(km).1f km", "%(km).1f is no fact"),
    ("%(n).1f km", "%(n)d km", "%(n).1f is missing"),
    ("Line %(n)d", "100 % %(n)d", "must be doubled"),
    ("Line %(n)d", "100% %(n)d", "must be doubled"),
    ("Here", "100 %", "a percent sign is not in the English text"),
]


@pytest.mark.parametrize(("english", "translated"), RIGHT)
def test_a_translation_may_move_what_it_keeps(english: str, translated: str) -> None:
    assert faults(english, translated) == []


@pytest.mark.parametrize(("english", "translated", "fault"), WRONG)
def test_a_translation_that_lost_something_is_refused(
    english: str, translated: str, fault: str
) -> None:
    assert any(fault in each for each in faults(english, translated))


def test_a_form_of_a_plural_may_say_its_count_in_words() -> None:
    assert faults("%(num)d star", "نجمتان", plural="%(num)d stars") == []
    assert faults("one star", "%(num)d Sterne", plural="%(num)d stars") == []
    assert faults("%(num)d star", "%(n)d Sterne", plural="%(num)d stars") != []


def test_a_refused_translation_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert not usable("Only here: line %(n)d", "Zeile %(m)d")
        assert not usable("Only here: line %(n)d", "Zeile %(m)d")
    assert len(caplog.messages) == 1
    assert "Only here" in caplog.text
