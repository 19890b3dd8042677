"""Reads the day of a typed time: tomorrow, Tue 24 Nov, 4/12, 04DEC26, next Friday.

Pure. The text comes as tags and digits (`typed_words`). A day that two people read differently
becomes several possible ones, which the reader of times asks about.
"""

import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Protocol

from ridedash.rides.times.time_answers import NotATime, TimeRefusal

_WEEK: Final = timedelta(days=7)


class Rest(Protocol):
    """A text from which what was read is cut out."""

    rest: str

    def cut(self, pattern: str) -> re.Match[str] | None:
        """Cut the first match out of the text."""


@dataclass(frozen=True)
class Days:
    """The days that a text may mean; none where it names no day.

    `kind` is the tag of a word such as "tonight", `halves` what else it says, as "this morning".
    `weekday_only`: the next day of that name. `part`: the text that may be two days.
    """

    possible: tuple[date, ...] = ()
    kind: str = ""
    halves: tuple[str, ...] = ()
    weekday_only: bool = False
    part: str = ""

    @property
    def named(self) -> bool:
        """Whether it is another day than today, or one by its date or weekday."""
        return bool(self.possible) and self.kind not in ("today", "tonight")


def read_days(text: Rest, today: date) -> Days:
    """The day, which may be named twice: Tomorrow, Tue 24 Nov. Raises NotATime."""
    kind, halves, named = _named_day(text, today)
    readers = (_days_ahead, _numbered_day, _month_day)
    found = {day for read in readers if (day := read(text, today))}
    if named:
        found.add(named)
    slashed, part = _slashed_day(text, today)
    week_later = bool(text.cut("<week_later>"))
    weekday = _weekday(text)
    if len(found) > 1:
        raise NotATime(TimeRefusal.NOT_THAT_DAY, f"{min(found):%Y-%m-%d}")
    dates = found or slashed
    if found and slashed:
        dates = found & slashed
    if weekday and dates:
        dates = {day for day in dates if day.weekday() == weekday.number}
    if (found or slashed) and not dates:
        wrong = min(found or slashed)
        raise NotATime(TimeRefusal.NOT_THAT_DAY, f"{wrong:%Y-%m-%d}")
    if not dates and weekday:
        return _of_weekday(weekday, today, week_later=week_later)
    if week_later:
        if not dates:
            raise NotATime(TimeRefusal.UNKNOWN, text.rest)
        dates = {day + _WEEK for day in dates}
    return Days(tuple(sorted(dates)), kind, halves, part=part)


# ---- the name of a day

_KINDS: Final = (
    ("this_morning", "today", 0, ("forenoon",)),
    ("this_afternoon", "today", 0, ("afternoon",)),
    ("today", "today", 0, ()),
    ("tonight", "tonight", 0, ()),
    ("after_tomorrow", "after_tomorrow", 2, ()),
    ("tomorrow", "tomorrow", 1, ()),
)


def _named_day(text: Rest, today: date) -> tuple[str, tuple[str, ...], date | None]:
    for tag, kind, days, halves in _KINDS:
        if text.cut(f"<{tag}>"):
            return kind, halves, today + timedelta(days=days)
    this = re.search(r"<this> <(forenoon|afternoon|evening|night)>", text.rest)
    if this:
        text.cut("<this>")
        kind = "tonight" if this[1] in ("evening", "night") else "today"
        return kind, (), today
    return "", (), None


@dataclass(frozen=True)
class _Weekday:
    number: int  # Monday is 0
    said: str = ""  # this, next or next_week


def _weekday(text: Rest) -> _Weekday | None:
    for said in ("next_week", "this", "next"):
        found = text.cut(rf"<{said}> <weekday(\d\d)>") or text.cut(rf"<weekday(\d\d)> <{said}>")
        if found:
            return _Weekday(int(found[1]), said)
    found = text.cut(r"<weekday(\d\d)>")
    if not found:
        return None
    return _Weekday(int(found[1]))


def _of_weekday(weekday: _Weekday, today: date, *, week_later: bool) -> Days:
    """The days that a weekday may mean.

    "Next Friday" is the coming one to some people, and that of next week to others.
    """
    ahead = timedelta(days=(weekday.number - today.weekday()) % 7)
    coming = today + ahead
    if week_later:
        return Days((coming + _WEEK,), "weekday")
    if weekday.said == "next_week":
        monday = today + timedelta(days=7 - today.weekday())
        of_week = monday + timedelta(days=weekday.number)
        if today.weekday() != 6:
            return Days((of_week,), "weekday")
        # on a Sunday the next week begins tomorrow to some people
        return Days((of_week, of_week + _WEEK), "weekday")
    if weekday.said == "next" and not ahead:
        return Days((coming + _WEEK,), "weekday")
    if weekday.said == "next":
        return Days((coming, coming + _WEEK), "weekday")
    return Days((coming,), "weekday", weekday_only=weekday.said != "this")


# ---- the date of a day


def _days_ahead(text: Rest, today: date) -> date | None:
    found = text.cut(r"(?:<ahead> )?(\d{1,3}) <days>(?: <ahead>)?")
    if not found:
        return None
    return today + timedelta(days=int(found[1]))


def _numbered_day(text: Rest, today: date) -> date | None:
    found = text.cut(r"(\d{4})[-./](\d{1,2})[-./](\d{1,2})")
    if found:
        return _date(text, today, (int(found[3]), int(found[2]), found[1]), found[0])
    found = text.cut(r"(\d{1,2})\.(\d{1,2})\.(\d{4}|\d\d)?")
    if not found and re.search(r"(?<!\S)\d{1,2}:\d\d(?!\S)", text.rest):
        found = text.cut(r"(\d{1,2})\.(\d{1,2})()")  # 04.12 18:00
    if not found:
        return None
    return _date(text, today, (int(found[1]), int(found[2]), found[3] or None), found[0])


def _month_day(text: Rest, today: date) -> date | None:
    found = text.cut(r"(\d{1,2})[-./]? ?<month(\d\d)>(?: <glued> [-./']?(\d\d))?")
    if found:
        year = found[3]
        if not year and (behind := text.cut(r"[-./'](\d{4})")):
            year = behind[1]
        return _date(text, today, (int(found[1]), int(found[2]) + 1, year), found[0])
    found = text.cut(r"<month(\d\d)>(?: <glued>)? [-./]?(\d{1,2})\.?")
    if not found:
        return None
    return _date(text, today, (int(found[2]), int(found[1]) + 1, None), found[0])


def _slashed_day(text: Rest, today: date) -> tuple[set[date], str]:
    """The days that 4/12 may mean, and its text. Raises NotATime."""
    found = text.cut(r"(\d{1,2})[-/](\d{1,2})(?:[-/](\d{4}|\d\d))?")
    if not found:
        return set(), ""
    first = int(found[1])
    second = int(found[2])
    orders = {(first, second), (second, first)}
    possible = [order for order in orders if order[1] <= 12]
    if not possible:
        raise NotATime(TimeRefusal.NO_DAY, found[0])
    dates = set()
    for day, month in possible:
        try:
            dates.add(_date(text, today, (day, month, found[3]), found[0]))
        except NotATime:
            if len(possible) == 1:
                raise
    return dates, found[0] if len(dates) > 1 else ""


def _date(text: Rest, today: date, named: tuple[int, int, str | None], said: str) -> date:
    """A day of the calendar. Without a year it is the date nearest to today, past or future.

    If the text also has the number of this year, the last or the next one, it is the year: in 2026
    "2027" is not the time 20:27.
    """
    day, month, year = named
    near = [today.year - 1, today.year, today.year + 1]
    if year is None:
        other = text.cut(f"({'|'.join(map(str, near))})")
        short = other or text.cut(f"'({'|'.join(f'{each % 100:02}' for each in near)})")
        year = short[1] if short else None
    years = near
    part = said
    if year:
        years = [_century(today, year) + int(year)]
        part = f"{year}-{month:02}-{day:02}"
    found = []
    for each in years:
        try:
            found.append(date(each, month, day))
        except ValueError:
            continue
    if not found or not 2000 <= found[0].year < 2200:
        raise NotATime(TimeRefusal.NO_DAY, part)
    return min(found, key=lambda each: abs(each - today))


def _century(today: date, year: str) -> int:
    """The century to add to a year of two digits; 0 for four digits."""
    if len(year) != 2:
        return 0
    return today.year // 100 * 100
