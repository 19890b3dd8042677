"""The words with which a pickup time is typed: the type for all languages, and the English words.

The words of other languages come from CLDR and the catalogues (ridedash/wording/time_words.py). The
first word of each kind is the one that the program writes itself. A phrase may have spaces.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, Final

from ridedash.text import ARABIC_FORMS

Words = tuple[str, ...]
TWO_THINGS: Final = "two_things"  # the tag of an ambiguous word
UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff]")  # scripts without spaces
# marks above and below letters, which people often do not type: accents, Arabic vowels and hamzas,
# the nukta of Hindi; and what is invisible
_LEFT_OUT: Final = re.compile("[\u0300-\u036f\u064b-\u0655\u0670\u093c\u200c\u200d\ufe00-\ufe0f]")
_NARROW: Final = {0xFEE0 + each: each for each in range(0x21, 0x7F)} | {
    ord("、"): ",",
    ord("ँ"): "ं",  # both are typed for the same sound
    ord("ß"): "ss",
    **dict.fromkeys(map(ord, "‐‑‒–—―−"), "-"),
    **dict.fromkeys(map(ord, "〜～∼≈"), "~"),
    **dict.fromkeys(map(ord, "’‘ʼ´`"), "'"),
    **dict.fromkeys(map(ord, "∶꞉"), ":"),
}
_ARABIC: Final = str.maketrans(ARABIC_FORMS)


def normalised_words(text: str) -> str:
    """A text in the form in which time words are compared: lower case, half-width, without accents.

    >>> normalised_words("Übermorgen ６：１５")
    'ubermorgen 6:15'
    """
    plain = unicodedata.normalize("NFD", text.translate(_NARROW).casefold())
    return unicodedata.normalize("NFC", _LEFT_OUT.sub("", plain)).translate(_ARABIC)


VALUED: Final = ("numbers", "spans", "shifts")
_IN_TAGS: Final = str.maketrans({"+": "p", "-": "m", "/": "_", ":": "_"})


def _one_of(first: str, second: str) -> str:
    """The tag of a word with two: TWO_THINGS, or both of a number and a month ("sept" in French).

    Which of these is meant shows the text: 12 sept, but sept heures.
    """
    number, month = sorted((first, second), key=lambda each: each.startswith("month"))
    if number.startswith("number_") and month.startswith("month") and "_or_" not in number:
        return f"{number}_or_{month}"
    if second in first.split("_or_"):
        return first
    return TWO_THINGS


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
    am: Words = ()  # of the twelve-hour clock, where 12 am is midnight and 12 pm is noon
    pm: Words = ()
    second_half: Words = ()  # from noon to midnight, where 12 may be either: 午後
    this_morning: Words = ()
    this_afternoon: Words = ()
    this: Words = ()  # "this" Friday
    next: Words = ()  # "next" Friday: the coming one, or the one of next week
    next_week: Words = ()
    week_later: Words = ()  # Friday "week"
    either: Words = ()  # between two times, of which one is meant: 6 "or" 7
    between: Words = ()  # before two times: "between" 6 and 7
    past: Words = ()  # 10 "past" 6
    to: Words = ()  # 10 "before" 7
    until: Words = ()  # 10 "to" 7, which is 6:50, and 6 "to" 7, which is two times
    plus: Words = ()  # las seis "y" diez
    minus: Words = ()  # siete "menos" diez
    # A value and its words each: "6 six" for a number, "30 half an hour" for a span in minutes,
    # "+30 half past" for what is added to the hour named; "+30/-30 half" may be either.
    numbers: Words = ()
    spans: Words = ()
    shifts: Words = ()
    of_24: bool = False  # figures such as 6:15 are those of a clock with 24 hours

    def tags(self) -> dict[str, str]:
        """Each word or phrase, normalised, with the tag by which the parser knows it."""
        found: dict[str, str] = {}
        for word, tag in self._tagged():
            known = found.get(word, tag)
            found[word] = tag if known == tag else _one_of(known, tag)
        return found

    def _tagged(self) -> Iterator[tuple[str, str]]:
        for each in fields(self):
            listed = getattr(self, each.name)
            if each.name == "of_24":
                continue
            if each.name in VALUED:
                for item in listed:
                    value, _space, word = item.partition(" ")
                    yield normalised_words(word), f"{each.name[:-1]}_{value.translate(_IN_TAGS)}"
            elif each.name in ("weekdays", "months"):
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
        if self.today[0] != ENGLISH_WORDS.today[0] and self.hours[0] in ENGLISH_WORDS.hours:
            return self.mark[0]
        return self.hours[0]

    def and_english(self) -> "TimeWords":
        """These words plus the English ones, which everybody may type, except single letters."""
        if self == ENGLISH_WORDS:
            return self
        both: dict[str, Any] = {}
        for each in fields(self):
            own = getattr(self, each.name)
            english = getattr(ENGLISH_WORDS, each.name)
            if each.name == "of_24":
                both[each.name] = own
            elif each.name in ("weekdays", "months"):
                both[each.name] = tuple(map(tuple.__add__, own, english))
            else:  # "a" means am in English, and "at" in some other languages
                both[each.name] = own + tuple(word for word in english if len(word) > 1)
        return TimeWords(**both)


_TENS: Final = {20: "twenty", 30: "thirty", 40: "forty", 50: "fifty"}
_ONES: Final = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)

ENGLISH_WORDS: Final = TimeWords(
    today=("today",),
    tonight=("tonight", "this evening"),
    tomorrow=("tomorrow", "tomorow", "tommorow", "tommorrow", "tmrw", "tmr", "tom", "tm"),
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
    ahead=("in", "from now"),
    minutes=("min", "mins", "minute", "minutes", "m"),
    hours=("hour", "hours"),
    days=("day", "days", "d"),
    mark=("h", "hr", "hrs"),
    forenoon=("morning",),
    afternoon=("afternoon",),
    evening=("evening",),
    night=("night",),
    noon=("noon", "midday"),
    midnight=("midnight",),
    skipped=(
        *("at", "on", "the", "of", "o'clock", "oclock", "o clock", "in the"),
        *("sharp", "exactly", "around", "about", "approx", "approximately", "ish", "circa", "ca"),
        *("please", "pls", "pickup", "pick up"),
    ),
    clock=("uhr",),  # in what German guests write
    am=("am", "a"),
    pm=("pm", "p"),
    this_morning=("this morning",),
    this_afternoon=("this afternoon",),
    this=("this", "this coming", "coming"),
    next=("next",),
    next_week=("next week",),
    week_later=("week", "a week on", "week on", "a week from", "in a week", "a week later"),
    either=("or", "until", "till", "and"),
    between=("between", "from"),
    past=("past", "after"),
    to=("before",),
    until=("to",),
    numbers=(
        *(f"{n} {word}" for n, word in enumerate(_ONES, 1)),
        *(f"{n} {word}" for n, word in _TENS.items()),
        *(
            f"{tens + ones} {word}{dash}{_ONES[ones - 1]}"
            for tens, word in _TENS.items()
            for ones in range(1, 10)
            for dash in "- "
        ),
    ),
    spans=(
        *("60 an hour", "60 one hour", "30 half an hour", "30 a half hour", "30 half hour"),
        *("90 an hour and a half", "90 one and a half hours", "90 hour and a half"),
        *("15 a quarter of an hour", "15 quarter of an hour", "15 a quarter hour"),
        *("45 three quarters of an hour", "120 a couple of hours", "150 two and a half hours"),
    ),
    shifts=(
        *("+30 half past", "+30 half after", "+15 quarter past", "+15 a quarter past"),
        *("+15 quarter after", "+15 a quarter after", "-15 quarter to", "-15 a quarter to"),
        *("-15 quarter of", "-15 a quarter of", "-15 quarter before", "-15 quarter till"),
        "+30/-30 half",  # "half six" is 6:30 in Britain, and 5:30 to Germans, Dutch and Swedes
    ),
)
