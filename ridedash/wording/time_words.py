"""The words with which staff type a pickup time in their language, and examples.

Weekdays and months come from CLDR, the other words from the catalogues. English is always
understood too (`TimeWords.and_english`).
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any, Final

from babel.core import Locale

from ridedash.rides.times.time_words import ENGLISH_WORDS, UNSPACED, TimeWords, Words
from ridedash.wording.languages import ENGLISH, LANGUAGES
from ridedash.wording.say import gettext as _
from ridedash.wording.say import lazy_pgettext, pgettext

# T: Words that staff may type for a time, parted by bars. The first is the one that we show.
# T: Name every usual spelling; accents and full stops may be left out of what is typed.
# T: "–" where the language has no such word.
_TYPED: Final = {
    "today": lazy_pgettext("typed time", "today"),
    "tonight": lazy_pgettext("typed time", "tonight|this evening"),
    "tomorrow": lazy_pgettext("typed time", "tomorrow"),
    "after_tomorrow": lazy_pgettext("typed time", "day after tomorrow"),
    # T: Before or behind a span: in 40 min
    "ahead": lazy_pgettext("typed time", "in"),
    "minutes": lazy_pgettext("typed time", "min|minute|minutes"),
    # T: Of a span alone. What may also be a time of the day stands with "h".
    "hours": lazy_pgettext("typed time", "hour|hours"),
    "days": lazy_pgettext("typed time", "day|days"),
    # T: Between hours and minutes of a time of the day, and for a span as well: 14h30, in 2 h
    "mark": lazy_pgettext("typed time", "h"),
    # T: Behind the hour of a time of the day alone, such as 6 Uhr 15 in German
    "clock": lazy_pgettext("typed time", "o'clock"),
    "forenoon": lazy_pgettext("typed time", "am|in the morning"),
    "afternoon": lazy_pgettext("typed time", "pm|in the afternoon"),
    # T: The second half of the day, where 12 may be noon and midnight: 午後
    "second_half": lazy_pgettext("typed time", "from noon to midnight"),
    "evening": lazy_pgettext("typed time", "in the evening"),
    "night": lazy_pgettext("typed time", "at night"),
    "noon": lazy_pgettext("typed time", "noon|midday"),
    "midnight": lazy_pgettext("typed time", "midnight"),
    # T: Words that change nothing, such as "at" in: tomorrow at 6:15
    "skipped": lazy_pgettext("typed time", "at|the|of"),
    "this_morning": lazy_pgettext("typed time", "this morning"),
    "this_afternoon": lazy_pgettext("typed time", "this afternoon"),
    # T: Before or behind a weekday: the one of this week
    "this": lazy_pgettext("typed time", "this"),
    # T: Before or behind a weekday, where some people mean the coming one and others that of next
    # T: week
    "next": lazy_pgettext("typed time", "next"),
    "next_week": lazy_pgettext("typed time", "next week"),
    # T: Behind a weekday, which is meant a week later: Monday week
    "week_later": lazy_pgettext("typed time", "in a week"),
    # T: Between two times, of which one is meant: 6 or 7
    "either": lazy_pgettext("typed time", "or|until"),
    # T: Before two times: between 6 and 7
    "between": lazy_pgettext("typed time", "between|from"),
    # T: Before the hour: 10 past 6. "–" where minutes stand behind the hour.
    "past": lazy_pgettext("typed time", "past"),
    "to": lazy_pgettext("typed time", "to"),
    # T: Behind the hour, such as "y" in: las 6 y 10; and "menos" in: las 7 menos 10
    "plus": lazy_pgettext("typed time", "past, behind the hour"),
    "minus": lazy_pgettext("typed time", "to, behind the hour"),
    # T: Numbers as words, each behind its figures. At least 1 to 12 and those of minutes. What
    # T: is a time by itself is written with a colon: 1:30. "–" for numbers of Han characters.
    "numbers": lazy_pgettext("typed time", "2 two|3 three|4 four"),
    # T: Spans as words, each behind its minutes
    "spans": lazy_pgettext("typed time", "60 an hour|30 half an hour|90 an hour and a half"),
    # T: Parts of an hour, before or behind it, each with the minutes that it adds to the hour that
    # T: is named: "-30 halb" for German "halb sieben", 6:30. "+15/-45 …" where people differ.
    "shifts": lazy_pgettext("typed time", "+30 half past|+15 quarter past|-15 quarter to"),
    # T: What stands before a weekday, such as "on" Friday
    "on": lazy_pgettext("typed time", "on"),
}


def time_words(locale: str) -> TimeWords:
    """The time words of the reader's language, with the English words."""
    if locale not in LANGUAGES or locale == ENGLISH:
        return ENGLISH_WORDS
    return _with_english(locale, tuple((name, str(text)) for name, text in _TYPED.items()))


@lru_cache(maxsize=32)
def _with_english(locale: str, typed: tuple[tuple[str, str], ...]) -> TimeWords:
    listed = {
        name: tuple(each.strip() for each in text.split("|") if each != "–") for name, text in typed
    }
    known = Locale.parse(locale)
    on = listed.pop("on")
    weekdays = tuple(tuple(_forms(known.days, number, on)) for number in range(7))
    months = tuple(tuple(_forms(known.months, number)) for number in range(1, 13))
    of_24 = "H" in known.time_formats["short"].pattern
    return TimeWords(weekdays=weekdays, months=months, of_24=of_24, **listed).and_english()


def _forms(names: Any, number: int, on: Words = ()) -> Iterator[str]:
    """A weekday or month as in CLDR, short and in full, without full stops.

    Each form is yielded alone, and after each word of `on`.
    """
    forms = [
        names[context][width][number].rstrip(".॰")
        for width in ("abbreviated", "wide")
        for context in ("stand-alone", "format")
    ]
    forms = [each for each in forms if not each[0].isdigit()]  # 3月 is read as digits instead
    forms += [each.removesuffix("日") for each in forms if each.endswith("曜日")]
    forms += [each.removeprefix("ال") for each in forms if each.startswith("ال")]
    yield from forms
    for before, each in product(on, forms):
        space = "" if UNSPACED.search(each) else " "
        yield f"{before}{space}{each}"


def examples(words: TimeWords) -> dict[str, str]:
    """Example texts that the parser understands, for the hints of the reader's page."""
    return {
        "tomorrow": f"{words.tomorrow[0]} 0615",
        "friday": f"{words.weekdays[4][0]} 14",
        "ahead": _("in %(n)d min", n=40),
        # T: A day with its month as a word, as it may be typed
        "dated": pgettext("typed time", "4 mar"),
        "night": f"{words.tomorrow[0]} 02:00",
    }
