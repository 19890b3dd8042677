"""The days that a list names, for its times that stand without one.

Pure. A list with dates at some of its times, or in its title, means no time of it today only
because the day was left out: a person says which day is meant.
"""

import re
from collections.abc import Iterable
from datetime import date
from typing import Final

from ridedash.rides.times.time_answers import NotATime
from ridedash.rides.times.time_words import ENGLISH_WORDS, TimeWords
from ridedash.rides.times.typed_days import read_days
from ridedash.rides.times.typed_time import Text
from ridedash.rides.times.typed_words import tagged

MOST_DAYS: Final = 4  # among which a person chooses
# a date within a title: 5.12.2026, 05 DEC 2026, Dec 5th, tomorrow; each is looked for by itself
_DATES: Final = tuple(
    re.compile(each)
    for each in (
        r"\d{4}-\d\d-\d\d|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}",
        r"\d{1,2}(?:st|nd|rd|th|\.)?[-. ]?[^\W\d_]{3,9}\.?"
        r"(?:[-., ]{1,2}\d{4}|[-']?\d\d(?![\d:.]))?",
        r"[^\W\d_]{3,9}\.? \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?(?![\d:])",
        r"[^\W\d_]{3,12}",
    )
)


def days_of(text: str, today: date, words: TimeWords = ENGLISH_WORDS) -> frozenset[date]:
    """The days that a typed time names; none for a time of day alone."""
    try:
        return frozenset(read_days(Text(tagged(text, words)), today).possible)
    except NotATime:
        return frozenset()


def days_in(text: str, today: date, words: TimeWords = ENGLISH_WORDS) -> frozenset[date]:
    """The days that stand somewhere in a title or a message."""
    parts = [each for pattern in _DATES for each in pattern.findall(text[:200])]
    found = [days_of(each, today, words) for each in parts]
    return frozenset().union(*found)


def is_dayless(text: str, today: date, words: TimeWords = ENGLISH_WORDS) -> bool:
    """Whether a text is a time of day alone: no span such as "in 40 min", and no day."""
    try:
        known = tagged(text, words)
        days = read_days(Text(known), today)
    except NotATime:
        return False
    is_span = "<ahead>" in known or "<minutes>" in known
    return bool(known) and not is_span and not days.possible


def on_day(text: str, day: date) -> str:
    """A time of day with its day in front, in words that every language understands."""
    return f"{day.day} {ENGLISH_WORDS.months[day.month - 1][0]} {day.year} {text}"


def nearest(days: Iterable[date], today: date) -> tuple[date, ...]:
    """The first of the days that are not over, in their order."""
    return tuple(sorted(day for day in days if day >= today)[:MOST_DAYS])
