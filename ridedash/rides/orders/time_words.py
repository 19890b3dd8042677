"""The words by which a pickup time is typed, by language: data for `typed_time`.

A language is one more `TimeWords`. Words are in lower case and without full stops; the first of
each is the one that the program writes itself. A phrase may have spaces.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Final

Words = tuple[str, ...]


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
    mark: Words  # between hours and minutes of a clock, and one for hours ahead: 14h30, in 2 h
    forenoon: Words
    afternoon: Words
    evening: Words
    night: Words  # from the evening to the small hours
    noon: Words
    midnight: Words
    skipped: Words  # they change nothing: "at" 6:15

    def tags(self) -> Iterator[tuple[str, str]]:
        """Each word or phrase with the tag by which the parser knows it."""
        for each in fields(self):
            listed = getattr(self, each.name)
            if each.name in ("weekdays", "months"):
                for number, words in enumerate(listed):
                    yield from ((word, f"{each.name[:-1]}{number:02}") for word in words)
            else:
                yield from ((word, each.name) for word in listed)


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
LANGUAGES: Final = {"en": ENGLISH}


def words_of(locale: str) -> TimeWords:
    """The words of a page's language; English where there are none of it yet."""
    return LANGUAGES.get(locale[:2], ENGLISH)
