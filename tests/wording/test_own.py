"""A property's own words keep the facts of our sentences; the list has sentences of ours only."""

from types import SimpleNamespace

import pytest

from ridedash.wording.own import SENTENCES, SentenceFault, Wrong, is_stale, texts_of, wrong_with
from tools import words

MEET, DESK = SENTENCES["meet_pickup"], SENTENCES["card_desk"]


def written(name: str, text: str, english: str | None = None, language: str = "de"):  # type: ignore[no-untyped-def]
    ours = SENTENCES[name].english if name in SENTENCES else ""
    return SimpleNamespace(
        language=language, name=name, text=text, english=ours if english is None else english
    )


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Our porter waits with you at {pickup}", None),
        ("{pickup}: bring your bags to {pickup}", None),
        ("Meet us outside", Wrong(SentenceFault.MISSING, "{pickup}")),
        ("Meet {driver} at {pickup}", Wrong(SentenceFault.UNKNOWN, "{driver}")),
        ("Meet at {pickup} {", Wrong(SentenceFault.SIGN, "{")),
        ("Meet at {pickup}[ at {pickup}]", Wrong(SentenceFault.SIGN, "[")),
        ("Meet at {pickup}, 10 % off", Wrong(SentenceFault.SIGN, "%")),
        ("{pickup}" + "x" * 193, Wrong(SentenceFault.LONG)),
    ],
)
def test_words_keep_every_fact_and_no_other_sign(text: str, wrong: Wrong | None) -> None:
    assert wrong_with(MEET, text) == wrong


def test_facts_are_written_in_one_form_whatever_the_code_uses() -> None:
    assert DESK.english == "Desk: {phone}"
    assert texts_of([written("card_desk", "Rezeption: {phone}")]) == {
        "de": {"Desk: %(phone)s": "Rezeption: %(phone)s"}
    }


def test_words_that_no_longer_fit_are_not_shown() -> None:
    left = [written("meet_pickup", "Outside"), written("gone", "Hello")]
    assert texts_of(left) == {}
    assert texts_of([written("greeting", "Hello", language="en")]) == {"en": {"greeting": "Hello"}}


def test_words_are_stale_when_our_sentence_has_changed_since() -> None:
    assert is_stale(written("thank_you", "Come again", "Thank you"))
    assert not is_stale(written("thank_you", "Come again"))
    assert not is_stale(written("greeting", "Hello"))


def test_every_sentence_of_the_list_is_one_that_guests_meet() -> None:
    guests = {text for context, text in words.tier_1() if not context}
    assert {each.text for each in SENTENCES.values() if each.text} <= guests
    assert len({each.key for each in SENTENCES.values()}) == len(SENTENCES)
