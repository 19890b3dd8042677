"""Parses a pickup time as people type it: `6:15`, `tomorrow 0615`, `fri 14`, `14h30`, `in 40 min`.

Pure. The words of a language are data (`time_words`). First each of these words in the text is
replaced by its tag, such as "tomorrow" by "<tomorrow>"; the grammar below knows only tags and
digits. Japanese and Chinese words have no spaces between them, so they are replaced wherever they
occur in the text. Hours are those of a clock with 24 hours unless a word says otherwise.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from ridedash.rides.orders.schedule_times import LocalTime, local_time
from ridedash.rides.orders.time_words import (
    ENGLISH,
    TWO_THINGS,
    UNSPACED,
    TimeWords,
    normalised_words,
)
from ridedash.text import ascii_digits, one_line

LONGEST: Final = 60  # characters
# a letter, or a combining mark as Hindi uses it
_LETTER: Final = r"(?:[^\W\d_]|[\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963])"
_WORD: Final = re.compile(rf"{_LETTER}+(?:'{_LETTER}+)*")
_HAN_DATE: Final = re.compile(r"(?:(\d{4})年)?(\d{1,2})月(\d{1,2})[日号]?")
_HAN_HALF: Final = re.compile(r"(?<=\d[時点])半")


class TimeRefusal(StrEnum):
    """Why a text is not a pickup time."""

    EMPTY = "empty"
    UNKNOWN = "unknown"  # `part` is the part that is not understood
    # `part` has two meanings: it is a word for both Tuesday and March ("mar"), or it means
    # something else in English
    TWO_THINGS = "two_things"
    NO_CLOCK = "no_clock"  # a day without a time
    NO_HOUR = "no_hour"  # 25:00, 6:75, 14 pm
    NO_DAY = "no_day"  # 31 February
    NOT_THAT_DAY = "not_that_day"  # Friday 24 November, which is a Tuesday
    DAY_OR_MONTH = "day_or_month"  # 3/4
    SPAN_OR_CLOCK = "span_or_clock"  # 2h: in two hours, or at two
    MIDNIGHT = "midnight"  # midnight of a named day, which begins and ends at midnight
    NIGHT = "night"  # fri night 1 may mean two nights; tonight 12 pm means none
    TWICE = "twice"  # "in 40 min" ends in the second pass of an hour that the clocks repeat
    PAST = "past"  # `at` is in the past


class NotATime(ValueError):
    """A text that does not name a future time.

    `part` is the wrong part of the text; `at` is the instant that the text names, or None.
    """

    def __init__(self, why: TimeRefusal, part: str = "", at: datetime | None = None) -> None:
        super().__init__(why.value)
        self.why, self.part, self.at = why, part, at


@dataclass
class _Parts:
    """The parts of a text that are read so far: day, time of day, and the text not yet read."""

    text: str
    today: date
    day: date | None = None
    weekday: int | None = None
    kind: str = ""  # today, tonight, …: the tag of the day
    hour: int | None = None
    minute: int = 0
    half: str = ""  # forenoon, afternoon, evening or night
    around: str = ""  # a word such as "night" that does not follow the time: fri night 11
    midnight: bool = False
    exact: bool = False  # noon or midnight as a word
    seen: list[str] = field(default_factory=list)

    def cut(self, pattern: str) -> re.Match[str] | None:
        """Cut the first match out of the text."""
        found = re.search(rf"(?<!\S){pattern}(?=\s|$)", self.text)
        if found:
            self.text = f"{self.text[: found.start()]} {self.text[found.end() :]}"
            self.seen.append(found[0])
        return found


def read_time(text: str, now: datetime, tz: ZoneInfo, words: TimeWords = ENGLISH) -> LocalTime:
    """The instant that a typed text names, in UTC and after `now`, in whole minutes.

    A time without a day means the next such time. Raises NotATime; NoSuchTime for a time of day
    that a clock change leaves out.
    """
    tagged = _tagged(text, words)
    if not tagged:
        raise NotATime(TimeRefusal.EMPTY)
    try:
        return _parse(tagged, now, tz)
    except NotATime as error:
        # the message quotes what was typed, never a tag
        if "<" in error.part:
            error.part = " ".join(text.split())
        raise


def _parse(tagged: str, now: datetime, tz: ZoneInfo) -> LocalTime:
    ahead = _ahead(tagged)
    if ahead is not None:
        return _after(now, ahead, tz)
    parts = _Parts(tagged, now.astimezone(tz).date())
    _read_day(parts)
    _read_clock(parts)
    if parts.text.strip():
        raise NotATime(TimeRefusal.UNKNOWN, parts.text.strip())
    if parts.hour is None:
        raise NotATime(TimeRefusal.NO_CLOCK)
    found = _resolve(parts, now, tz)
    if found.at <= now:
        raise NotATime(TimeRefusal.PAST, at=found.at)
    return found


def _tagged(text: str, words: TimeWords) -> str:
    """The text in lower case, with a tag for each known word and one space between parts.

    Raises NotATime for a word that is in no list, or has two meanings.
    """
    typed = one_line(text, LONGEST + 1).casefold()
    if len(typed) > LONGEST:
        raise NotATime(TimeRefusal.UNKNOWN, typed[:20] + "…")
    plain = _with_digits(normalised_words(typed).replace("<", " "))
    tags, phrases = _tags_and_pattern(words)
    if phrases:
        plain = phrases.sub(lambda found: f" <{tags[found[0]]}> ", plain)

    def tag(found: re.Match[str]) -> str:
        name = tags.get(found[0], "")
        if name in ("", TWO_THINGS):
            why = TimeRefusal.TWO_THINGS if name else TimeRefusal.UNKNOWN
            raise NotATime(why, _as_typed(found[0], typed))
        return f" <{name}> "

    # re.split with one group: every second part is a match
    parts = re.split(r"(<\w+>)", plain)
    tagged = "".join(f" {each} " if n % 2 else _WORD.sub(tag, each) for n, each in enumerate(parts))
    tagged = tagged.replace("<skipped>", " ").replace("+", " <ahead> ")
    return " ".join(re.sub("[,،()]", " ", tagged).split())


def _with_digits(plain: str) -> str:
    """The text with ASCII digits; dates and half hours written in Han characters become digits."""
    plain = ascii_digits(plain)
    plain = re.sub(rf"(?<={_LETTER})[.॰]", "", plain)  # a.m., Fri.
    plain = re.sub(r"(?<=\d)t(?=\d\d:)", " ", plain)  # 2026-11-24T06:15
    return _HAN_HALF.sub("30", _HAN_DATE.sub(_date_digits, plain))


def _date_digits(found: re.Match[str]) -> str:
    """A date in Han characters as digits: 3月5日 as 5.3., with a year 2026-03-05."""
    year, month, day = found.groups()
    return f" {year}-{int(month):02}-{int(day):02} " if year else f" {day}.{month}. "


def _as_typed(word: str, typed: str) -> str:
    """The word with the accents as typed."""
    return next((each for each in _WORD.findall(typed) if normalised_words(each) == word), word)


@lru_cache(maxsize=32)
def _tags_and_pattern(words: TimeWords) -> tuple[dict[str, str], re.Pattern[str] | None]:
    """The tags of a language's words, and a pattern of the words that _WORD can't find.

    These are words with characters other than letters, and words of scripts without spaces. The
    pattern leaves out a weekday of one character, because it occurs in other words.
    """
    tags = words.tags()
    found = []
    plain = [word for word, tag in tags.items() if tag != TWO_THINGS]
    for each in sorted(plain, key=len, reverse=True):
        if UNSPACED.search(each):
            if len(each) > 1 or not tags[each].startswith("weekday"):
                found.append(re.escape(each))
        elif not _WORD.fullmatch(each):
            found.append(rf"(?<!{_LETTER}){re.escape(each)}(?!{_LETTER})")
    return tags, re.compile("|".join(found)) if found else None


_SPAN: Final = re.compile(
    r"(?P<ahead><ahead> )?"
    r"(?:(?P<hours>\d{1,3}) (?P<unit><hours>|<mark>)(?: |$))?"
    r"(?:(?P<minutes>\d{1,5})(?P<named> <minutes>)?)?"
    r"(?P<after> ?<ahead>)?"
)


def _ahead(tagged: str) -> timedelta | None:
    """How far ahead a span of hours and minutes is; None for any other text."""
    found = _SPAN.fullmatch(tagged)
    if not found or not (found["hours"] or found["minutes"]):
        return None
    # 14h30 is a clock time; "in 1 h 30" and "1 hour 30" are spans
    marked = found["unit"] == "<mark>"
    is_span = found["ahead"] or found["after"] or found["named"]
    if not is_span and (marked or not found["hours"]):
        return None
    return timedelta(hours=int(found["hours"] or 0), minutes=int(found["minutes"] or 0))


def _after(now: datetime, ahead: timedelta, tz: ZoneInfo) -> LocalTime:
    """The instant `ahead` of now, rounded up to a whole minute. Raises NotATime."""
    if not ahead:
        raise NotATime(TimeRefusal.PAST, at=now)
    at = (now + ahead).astimezone(UTC)
    if at.second or at.microsecond:
        at = at.replace(second=0, microsecond=0) + timedelta(minutes=1)
    if at.astimezone(tz).fold:
        raise NotATime(TimeRefusal.TWICE, at=at)
    return LocalTime(at)


# ---- the day


def _read_day(parts: _Parts) -> None:
    """Read the day, which may be named twice: Tomorrow, Tue 24 Nov."""
    readers = (_named_day, _days_ahead, _numbered_day, _month_day, _slashed_day)
    days = {day for read in readers if (day := read(parts))}
    weekday = parts.cut(r"<weekday(\d\d)>")
    if weekday:
        parts.weekday = int(weekday[1])
    parts.day = min(days, default=None)
    wrong = parts.day and parts.weekday is not None and parts.day.weekday() != parts.weekday
    if wrong or len(days) > 1:
        raise NotATime(TimeRefusal.NOT_THAT_DAY, f"{parts.day:%Y-%m-%d}")


def _named_day(parts: _Parts) -> date | None:
    for kind, days in (("today", 0), ("tonight", 0), ("after_tomorrow", 2), ("tomorrow", 1)):
        if parts.cut(f"<{kind}>"):
            parts.kind = kind
            return parts.today + timedelta(days=days)
    return None


def _days_ahead(parts: _Parts) -> date | None:
    found = parts.cut(r"(?:<ahead> )?(\d{1,3}) <days>(?: <ahead>)?")
    return parts.today + timedelta(days=int(found[1])) if found else None


def _numbered_day(parts: _Parts) -> date | None:
    found = parts.cut(r"(\d{4})-(\d\d)-(\d\d)")
    if found:
        return _date(parts, int(found[3]), int(found[2]), found[1])
    found = parts.cut(r"(\d{1,2})\.(\d{1,2})\.(\d{4}|\d\d)?")
    return _date(parts, int(found[1]), int(found[2]), found[3]) if found else None


def _month_day(parts: _Parts) -> date | None:
    found = parts.cut(r"(\d{1,2})\.? <month(\d\d)>")
    if found:
        return _date(parts, int(found[1]), int(found[2]) + 1)
    found = parts.cut(r"<month(\d\d)> (\d{1,2})\.?")
    return _date(parts, int(found[2]), int(found[1]) + 1) if found else None


def _slashed_day(parts: _Parts) -> date | None:
    """A day such as 24/11, if it can be read in one way only. Raises NotATime."""
    found = parts.cut(r"(\d{1,2})/(\d{1,2})(?:/(\d{4}|\d\d))?")
    if not found:
        return None
    first, second = int(found[1]), int(found[2])
    if first <= 12 and second <= 12 and first != second:
        raise NotATime(TimeRefusal.DAY_OR_MONTH, found[0])
    day, month = (first, second) if second <= 12 else (second, first)
    return _date(parts, day, month, found[3])


def _date(parts: _Parts, day: int, month: int, year: str | None = None) -> date:
    """A day of the calendar. Without a year it is the date nearest to today, past or future.

    If the text also has the number of this year, the last or the next one, it is the year: in 2026
    "2027" is not the time 20:27.
    """
    this = parts.today.year
    near = [this - 1, this, this + 1]
    named = None if year else parts.cut(f"({'|'.join(map(str, near))})")
    year = named[1] if named else year
    years = [_century(parts, year) + int(year)] if year else near
    found = []
    for each in years:
        try:
            found.append(date(each, month, day))
        except ValueError:
            continue
    if not found or not 2000 <= found[0].year < 2200:
        raise NotATime(
            TimeRefusal.NO_DAY, parts.seen[-1] if not year else f"{year}-{month:02}-{day:02}"
        )
    return min(found, key=lambda each: abs(each - parts.today))


def _century(parts: _Parts, year: str) -> int:
    """The century to add to a year of two digits; 0 for four digits."""
    return parts.today.year // 100 * 100 if len(year) == 2 else 0


# ---- the time of day

_HALVES: Final = "<(forenoon|afternoon|evening|night)>"
_HALF: Final = rf"(?: {_HALVES})?"
_NIGHT_ENDS: Final = 5  # hours 0 to 4 belong to the night before
_TONIGHT: Final = frozenset({*range(17, 24), *range(_NIGHT_ENDS)})
_HOURS: Final = {  # the hours that a word allows
    "forenoon": frozenset(range(12)),
    "afternoon": frozenset(range(12, 24)),
    "evening": frozenset(range(16, 24)),
    "night": _TONIGHT - {17},
    "tonight": _TONIGHT,
}


def _read_clock(parts: _Parts) -> None:
    readers: tuple[Callable[[_Parts], None], ...] = (_word_clock, _marked_clock, _digits_clock)
    for read in readers:
        if parts.hour is None:
            read(parts)
    around = parts.cut(_HALVES)  # "tomorrow morning 6:15"
    if around:
        parts.around = around[1]
    if parts.hour is not None:
        parts.hour = _hour_of_day(parts, parts.hour)


def _word_clock(parts: _Parts) -> None:
    if parts.cut("<noon>"):
        parts.hour = 12
        parts.exact = True
    elif parts.cut("<midnight>"):
        parts.hour = 0
        parts.exact = True
        parts.midnight = True


def _marked_clock(parts: _Parts) -> None:
    found = parts.cut(r"(\d{1,2}) <clock>(?: (\d{1,2})(?: <minutes>)?)?")
    if not found:
        found = parts.cut(r"(\d{1,2}) <mark>(?: (\d\d))?")
        if not found:
            return
        if found[2] is None and int(found[1]) <= 12 and not _is_named(parts):
            raise NotATime(TimeRefusal.SPAN_OR_CLOCK, found[1])
    parts.hour = int(found[1])
    parts.minute = int(found[2] or 0)


def _is_named(parts: _Parts) -> bool:
    """Whether a day is named by a weekday, a date or a word other than "today" and "tonight"."""
    return parts.weekday is not None or (bool(parts.day) and parts.kind not in ("today", "tonight"))


def _digits_clock(parts: _Parts) -> None:
    found = (
        parts.cut(rf"(\d{{1,2}})[:.](\d\d)(?::\d\d)?(?: <clock>)?{_HALF}")
        or parts.cut(rf"(\d{{1,2}})(\d\d)(?: <clock>)?{_HALF}")
        or parts.cut(rf"(\d{{1,2}})(){_HALF}")
    )
    if found:
        parts.hour = int(found[1])
        parts.minute = int(found[2] or 0)
        parts.half = found[3] or ""


def _hour_of_day(parts: _Parts, hour: int) -> int:
    """The hour of the day, 0 to 23, that a typed hour and words such as "evening" mean.

    Raises NotATime.
    """
    shown = f"{hour}:{parts.minute:02}"
    if hour > 23 or parts.minute > 59:
        raise NotATime(TimeRefusal.NO_HOUR, shown)
    words = {parts.half, parts.around, parts.kind} & _HOURS.keys()
    if hour > 12:
        if "forenoon" in words:
            raise NotATime(TimeRefusal.NO_HOUR, shown)
        return hour
    possible = {hour} if parts.exact or not words else {hour % 12, hour % 12 + 12}
    possible = possible.intersection(*(_HOURS[word] for word in words))
    if len(possible) != 1:
        raise NotATime(TimeRefusal.NIGHT)
    return possible.pop()


# ---- the instant


def _resolve(parts: _Parts, now: datetime, tz: ZoneInfo) -> LocalTime:
    """The instant of the parts that were read; without a day, the next such time of day."""
    clock = time(parts.hour or 0, parts.minute)
    day = parts.day
    if parts.midnight:
        if _is_named(parts):
            raise NotATime(TimeRefusal.MIDNIGHT)
        return local_time(parts.today + timedelta(days=1), clock, tz)
    of_night = parts.kind == "tonight" or "night" in (parts.half, parts.around)
    small = of_night and clock.hour < _NIGHT_ENDS
    named = _is_named(parts)
    if small and named and (parts.around == "night" or not clock.hour):
        # fri night 1: the night that begins or the night that ends on Friday?
        raise NotATime(TimeRefusal.NIGHT)
    if day is None:
        ahead = 0 if parts.weekday is None else (parts.weekday - parts.today.weekday()) % 7
        day = parts.today + timedelta(days=ahead)
        if ahead == 0 and clock <= now.astimezone(tz).time():  # that time is over for today
            day += timedelta(days=1 if parts.weekday is None else 7)
    elif small and not named and clock <= now.astimezone(tz).time():
        day += timedelta(days=1)  # the early morning after this night
    return local_time(day, clock, tz)
