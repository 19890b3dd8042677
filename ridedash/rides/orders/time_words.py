"""The words with which a pickup time is typed: the type for all languages, and the English words.

The words of other languages come from CLDR and the catalogues (ridedash/wording/time_words.py). The
first word of each kind is the one that the program writes itself. A phrase may have spaces.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, Final

Words = tuple[str, ...]
TWO_THINGS: Final = "two_things"  # the tag of an ambiguous word
UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff]")  # scripts without spaces
# marks above and below letters, which people often do not type: accents, Arabic vowels and hamzas
_LEFT_OUT: Final = re.compile("[\u0300-\u036f\u064b-\u0655\u0670]")
_NARROW: Final = {0xFEE0 + each: each for each in range(0x21, 0x7F)} | {ord("、"): ","}


def normalised_words(text: str) -> str:
    """A text in the form in which time words are compared: lower case, half-width, without accents.

    >>> normalised_words("Übermorgen ６：１５")
    'ubermorgen 6:15'
    """
    plain = unicodedata.normalize("NFD", text.translate(_NARROW).casefold())
    return unicodedata.normalize("NFC", _LEFT_OUT.sub("", plain)).replace("’", "'")


@dataclass(frozen=True)
class TimeWords:
    """The words of one language. Weekdays begin with Monday, months with January."""

    today: Words
    tonight: Words
    tomorrow: Words
    after_tomorrow: Words
    weekdays: tuple[Words, ...]
    months: tuple[Words, ...]
    ahead: Words  # "in" 40 min
    minutes: Words
    hours: Words
    days: Words
    mark: Words  # between hours and minutes of a clock time, also for hours ahead: 14h30, in 2 h
    forenoon: Words
    afternoon: Words
    evening: Words
    night: Words  # from the evening to the early morning
    noon: Words
    midnight: Words
    skipped: Words  # words without effect: "at" 6:15
    clock: Words = ()  # between hours and minutes of a clock time only: 6 Uhr 15, 6時15分

    def tags(self) -> dict[str, str]:
        """Each word or phrase, normalised, with the tag by which the parser knows it."""
        found: dict[str, str] = {}
        for word, tag in self._tagged():
            found[word] = tag if found.get(word, tag) == tag else TWO_THINGS
        return found

    def _tagged(self) -> Iterator[tuple[str, str]]:
        for each in fields(self):
            listed = getattr(self, each.name)
            if each.name in ("weekdays", "months"):
                for number, words in enumerate(listed):
                    yield from (
                        (normalised_words(word), f"{each.name[:-1]}{number:02}") for word in words
                    )
            else:
                yield from ((normalised_words(word), each.name) for word in listed)

    @property
    def hour_ahead(self) -> str:
        """The unit that we write for one hour ahead, as in +1 hour.

        It is `mark`, as in +1 h, for a language whose word for hours is only the English one.
        """
        borrowed = self.today[0] != ENGLISH.today[0] and self.hours[0] in ENGLISH.hours
        return self.mark[0] if borrowed else self.hours[0]

    def and_english(self) -> "TimeWords":
        """These words plus the English ones, which everybody may type, except single letters."""
        if self == ENGLISH:
            return self
        both: dict[str, Any] = {}
        for each in fields(self):
            own, english = getattr(self, each.name), getattr(ENGLISH, each.name)
            if each.name in ("weekdays", "months"):
                both[each.name] = tuple(map(tuple.__add__, own, english))
            else:  # "a" means am in English, and "at" in some other languages
                both[each.name] = own + tuple(word for word in english if len(word) > 1)
        return TimeWords(**both)


ENGLISH: Final = TimeWords(
    today=("today",),
    tonight=("tonight", "this evening"),
    tomorrow=("tomorrow", "tomorow", "tmrw", "tmr", "tom", "tm"),
    after_tomorrow=("day after tomorrow", "overmorrow"),
    weekdays=(
        ("mon", "monday"),
        ("tue", "tuesday", "tues"),
        ("wed", "wednesday"),
        ("thu", "thursday", "thur", "thurs"),
        ("fri", "friday"),
        ("sat", "saturday"),
        ("sun", "sunday"),
    ),
    months=(
        ("jan", "january"),
        ("feb", "february"),
        ("mar", "march"),
        ("apr", "april"),
        ("may",),
        ("jun", "june"),
        ("jul", "july"),
        ("aug", "august"),
        ("sep", "september", "sept"),
        ("oct", "october"),
        ("nov", "november"),
        ("dec", "december"),
    ),
    ahead=("in",),
    minutes=("min", "mins", "minute", "minutes", "m"),
    hours=("hour", "hours", "hr", "hrs"),
    days=("day", "days", "d"),
    mark=("h",),
    forenoon=("am", "a", "morning"),
    afternoon=("pm", "p", "afternoon"),
    evening=("evening",),
    night=("night",),
    noon=("noon", "midday"),
    midnight=("midnight",),
    skipped=(
        "at",
        "on",
        "the",
        "of",
        "o'clock",
        "th",
        "st",
        "nd",
        "rd",
        "from now",
        "in the",
        "this",
    ),
)
