"""Reads a pickup time as people type it: `18:15`, `tomorrow 0615`, `fri 14`, `in half an hour`.

Pure. The answer is a time, a question (TimeQuestion) or a refusal (NotATime), never a guess: what
two people would read differently is asked. The text comes as tags and digits (`typed_words`).

An hour is certain if it is above 12, is 0 or has a zero in front (06:15), if a word names its half
of the day, or if only one of both is to come. In a language that writes the clock of 24 hours,
figures such as 6:15 are certain too, but not "at 6" or "half past six".
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from ridedash.rides.times.schedule_times import LocalTime, NoSuchTime, local_time, local_times
from ridedash.rides.times.time_answers import Asked, NotATime, TimeQuestion, TimeRefusal
from ridedash.rides.times.time_words import ENGLISH_WORDS, UNSPACED, TimeWords, normalised_words
from ridedash.rides.times.typed_days import Days, read_days
from ridedash.rides.times.typed_words import SPOKEN, TIME_CHARS, tagged
from ridedash.text import ascii_digits, one_line

_DAY: Final = 24 * 60  # minutes


@dataclass
class _Clock:
    """The time of day of a text: the minutes of the day that it may mean."""

    possible: frozenset[int] = frozenset()
    named: bool = False
    midnight: bool = False  # by its word: the day's beginning, or its end
    end_of_day: bool = False  # 24:00
    span: timedelta | None = None  # 2h may also be a span
    halves: set[str] = field(default_factory=set)  # forenoon, night, …
    am_pm: bool = False


class Text:
    """The part of a text that is not read yet."""

    def __init__(self, rest: str) -> None:
        self.rest = rest

    def cut(self, pattern: str) -> re.Match[str] | None:
        """Cut the first match out of the text."""
        found = re.search(rf"(?<!\S){pattern}(?=\s|$)", self.rest)
        if found:
            rest = f"{self.rest[: found.start()]} {self.rest[found.end() :]}"
            self.rest = " ".join(rest.split())
        return found


def read_time(
    text: str, now: datetime, tz: ZoneInfo, words: TimeWords = ENGLISH_WORDS
) -> LocalTime:
    """The instant that a typed text names, in UTC and after `now`, in whole minutes.

    A time without a day means the next such time. Raises NotATime; TimeQuestion for what may be
    several times; NoSuchTime for a time of day that a clock change leaves out.
    """
    at = _instant(text)
    if at is not None:
        return _to_come(at, now, tz)
    known = tagged(text, words)
    if not known:
        raise NotATime(TimeRefusal.EMPTY)
    try:
        return _read_known(known, now, tz, words)
    except (NotATime, TimeQuestion) as error:
        # the message quotes what was typed, never a tag
        if "<" in error.part:
            error.part = " ".join(text.split())[:TIME_CHARS]
        raise


def is_clock_alone(text: str, today: date, words: TimeWords = ENGLISH_WORDS) -> bool:
    """Whether a text names a time of the day, and neither a day nor a span: "18:15", "at 6"."""
    try:
        rest = Text(_plain(tagged(text, words)))
        return not re.search("<(ahead|minutes|hours)>", rest.rest) and not (
            read_days(rest, today).possible or _instant(text)
        )
    except NotATime:
        return False


def read_day(text: str, today: date, words: TimeWords = ENGLISH_WORDS) -> date | None:
    """The day that a text names, such as "31 mar"; None for no day, several, or other words."""
    try:
        rest = Text(_plain(tagged(text, words)))
        possible = read_days(rest, today).possible
    except NotATime:
        return None
    if len(possible) != 1 or rest.rest:
        return None
    return possible[0]


def _plain(known: str) -> str:
    return " ".join(re.sub(rf"{SPOKEN}|(?<!\S)[-|](?!\S)", " ", known).split())


# ---- an instant, with its offset from UTC

_INSTANT: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)[t ]+(\d\d):?(\d\d)(?::?\d\d(?:[.,]\d+)?)? ?(z|utc|gmt|[+-]\d\d(?::?\d\d)?)"
)


def _instant(text: str) -> datetime | None:
    """The instant of 2026-11-24T06:15+05:30; None for another text. Raises NotATime."""
    plain = ascii_digits(normalised_words(one_line(text, TIME_CHARS + 1)))
    found = _INSTANT.fullmatch(plain)
    if not found:
        return None
    day, hour, minute, offset = found.groups()
    if offset[0] not in "+-":
        offset = "+00"
    if len(offset) == 3:
        offset += ":00"
    try:
        return datetime.fromisoformat(f"{day}T{hour}:{minute}{offset}").astimezone(UTC)
    except (ValueError, OverflowError):
        raise NotATime(TimeRefusal.NO_DAY, plain) from None


def _to_come(at: datetime, now: datetime, tz: ZoneInfo) -> LocalTime:
    if at <= now:
        raise NotATime(TimeRefusal.PAST, at=at)
    here = at.astimezone(tz)
    return LocalTime(at, here.utcoffset() != here.replace(fold=1 - here.fold).utcoffset())


# ---- one text, or two times in it

_FIGURES: Final = r"\d{1,4}(?:[:.]\d\d)?(?: <(?:clock|mark)>(?: \d\d)?)?"
_WITH_HALF: Final = rf"{_FIGURES}(?: <(?:am|pm|second_half|forenoon|afternoon|evening|night)>)?"
_TWO: Final = re.compile(
    rf"(?<!\S)(?P<between><between> )?(?P<first>{_WITH_HALF})"
    rf" ?(?P<by><either>|<until>|<plus>|[-~/&]) ?(?P<second>{_WITH_HALF})(?!\S)"
)


def _read_known(known: str, now: datetime, tz: ZoneInfo, words: TimeWords) -> LocalTime:
    two = _TWO.search(known)
    if not two or not _is_two(two, known):
        return _read_one(known, now, tz, words)
    first, second = (two[each].replace("<mark>", "<clock>") for each in ("first", "second"))
    if second.endswith("<clock>") and first.isdigit():
        first = f"{first} <clock>"  # 6 oder 7 Uhr
    texts = [f"{known[: two.start()]} {each} {known[two.end() :]}" for each in (first, second)]
    if two["by"] == "<until>" and two["first"] == "5":
        texts.append(known)  # 5 to 7 is 6:55 as well
    choices: list[datetime] = []
    for text in texts:
        try:
            choices.append(_read_one(" ".join(text.split()), now, tz, words).at)
        except TimeQuestion as question:
            choices += question.choices
        except NotATime as error:
            if error.why is not TimeRefusal.PAST:
                raise
    if not choices:
        raise NotATime(TimeRefusal.PAST, at=now)
    raise TimeQuestion(Asked.WHICH, choices)


def _is_two(two: re.Match[str], known: str) -> bool:
    """Whether these are two times: not a day such as 4-12, nor a time such as ten to seven."""
    if two["by"] == "-":  # 6-7 is two times, 4-12 6:15 a day
        rest = known[: two.start()] + known[two.end() :]
        has_day = re.search(r"<(?:month|weekday)|<to|\d\.|\d[-/]\d", rest)
        return bool(has_day) or not re.search(r"(?<!<)\b\d", re.sub(r"<\w+>", "", rest))
    if two["by"] == "/":  # 6/7 pm is two times, 6/7 18:00 a day
        rest = known[: two.start()] + known[two.end() :]
        return ">" in two["second"] and not re.search(r"\d", re.sub(r"<\w+>", "", rest))
    if two["by"] == "<plus>":  # entre las 6 y 7; las 6 y 10
        return bool(two["between"])
    if two["by"] == "<until>" and not two["between"]:
        return not two["first"].isdigit() or (int(two["first"]) <= 12 and two["first"] != "10")
    return True


_ISO: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?")  # in the clock of 24 hours alone


def _read_one(known: str, now: datetime, tz: ZoneInfo, words: TimeWords) -> LocalTime:
    spoken = SPOKEN in known
    plain = _plain(known)
    ahead = _ahead(plain, now, tz)
    if ahead is not None:
        return _after(now, ahead, tz)
    text = Text(plain)
    days = read_days(text, now.astimezone(tz).date())
    # 18時 and 6時 are said as often as they are written
    said = spoken or ("<clock>" in plain and any(map(UNSPACED.search, words.clock)))
    settled = _ISO.fullmatch(plain) is not None or (words.of_24 and not said)
    clock = _read_clock(text, days, settled=settled)
    if text.rest.strip():
        raise NotATime(TimeRefusal.UNKNOWN, text.rest.strip())
    if not clock.named:
        raise NotATime(TimeRefusal.NO_CLOCK)
    if not clock.possible:
        raise NotATime(TimeRefusal.NOT_THEN, plain)
    return _resolved(clock, days, now, tz, plain)


# ---- a span

_SPAN: Final = re.compile(
    r"(?P<ahead><ahead> )?"
    r"(?:(?P<hours>\d{1,2})(?:[.,](?P<part>0|25|5|50|75))? (?P<unit><hours>|<mark>)(?: |$))?"
    r"(?:<shift_p(?P<more>\d+)>)?(?:<either> )?"
    r"(?:(?P<minutes>\d{1,5})(?P<named> <minutes>)?)?"
    r"(?P<after> ?<ahead>)?"
)
_PARTS: Final = {None: 0, "0": 0, "25": 15, "5": 30, "50": 30, "75": 45}


def _ahead(plain: str, now: datetime, tz: ZoneInfo) -> timedelta | None:
    """How far ahead a span of hours and minutes is; None for another text. Raises TimeQuestion."""
    found = _SPAN.fullmatch(plain)
    if not found or not (found["hours"] or found["minutes"]):
        return None
    # 14h30 is a clock time; "in 1 h 30" and "1 hour 30" are spans
    said = found["ahead"] or found["after"]
    marked = found["unit"] == "<mark>" and found["part"] is None
    if not (said or found["named"]) and (marked or not found["hours"]):
        return None
    if found["unit"] == "<hours>" and len(found["hours"]) == 2 and not (said or found["named"]):
        return None  # 06 hours, 18 hours
    if found["more"] and not said:
        return None  # deux heures et demie
    minutes = int(found["minutes"] or found["more"] or 0) + _PARTS[found["part"]]
    if said and not found["hours"] and not found["named"] and 0 < minutes <= 12:
        spans = timedelta(minutes=minutes), timedelta(hours=minutes)
        raise TimeQuestion(Asked.SPAN, (_after(now, each, tz).at for each in spans), plain)
    return timedelta(hours=int(found["hours"] or 0), minutes=minutes)


def _after(now: datetime, ahead: timedelta, tz: ZoneInfo) -> LocalTime:
    """The instant `ahead` of now, rounded up to a whole minute. Raises NotATime."""
    at = (now + ahead).astimezone(UTC)
    if at.second or at.microsecond:
        at = at.replace(second=0, microsecond=0) + timedelta(minutes=1)
    if not ahead:
        raise NotATime(TimeRefusal.PAST, at=now)
    return _to_come(at, now, tz)


# ---- the time of day

_HALVES: Final = "<(am|pm|second_half|forenoon|afternoon|evening|night)>"
_NIGHT_ENDS: Final = 5  # hours 0 to 4 belong to the night before
_TONIGHT: Final = frozenset({*range(17, 24), *range(_NIGHT_ENDS)})
_HOURS: Final = {  # the hours that a word allows
    "am": frozenset(range(12)),
    "pm": frozenset(range(12, 24)),
    "second_half": frozenset(range(12, 24)),
    "forenoon": frozenset(range(12)),
    "afternoon": frozenset(range(12, 21)),
    "evening": frozenset(range(16, 24)),
    "night": _TONIGHT - {17},
    "tonight": _TONIGHT,
    "noon": frozenset(range(11, 15)),
    "midnight": frozenset({23, 0}),
}
_LATE: Final = frozenset({"evening", "night", "tonight", "midnight"})


@dataclass
class _Figures:
    """An hour and a minute as they are written, and what is added to them."""

    hour: str
    minute: int = 0
    added: tuple[int, ...] = (0,)  # minutes; two where two people differ: half six
    sign: bool = False  # with a colon, Uhr or h, as on a clock of 24 hours
    bare_mark: bool = False  # 2h, 1h30, 18 hours: may be a span


def _read_clock(text: Text, days: Days, *, settled: bool) -> _Clock:
    """The time of day. `settled`: figures with a sign are those of a clock of 24 hours."""
    clock = _Clock()
    shift = text.cut(r"<shift_(\w+)>")
    added = _minutes_of(shift[1]) if shift else (0,)
    figures = _figures(text)
    halves = [found[1] for found in iter(lambda: text.cut(_HALVES), None) if found]
    for word in ("noon", "midnight"):
        if text.cut(f"<{word}>"):
            halves.append(word)
    clock.halves = {*halves, *({days.kind} & _HOURS.keys()), *days.halves}
    if figures is None:
        return _word_clock(clock, added)
    if shift and figures.minute:
        raise NotATime(TimeRefusal.UNKNOWN, f"{figures.hour}:{figures.minute:02}")
    if shift:
        figures.added = tuple(first + more for first in figures.added for more in added)
    clock.named = True
    clock.possible = _possible(figures, clock, settled=settled)
    clock.end_of_day = figures.hour == "24"
    if "midnight" in clock.halves and max(clock.possible, default=_DAY) < 60:
        clock.midnight = True
    if figures.bare_mark and not days.possible and not clock.halves:
        minutes = figures.minute + max(figures.added)
        clock.span = timedelta(hours=int(figures.hour), minutes=minutes)
    return clock


def _minutes_of(shift: str) -> tuple[int, ...]:
    """The minutes of a tag such as p30_m30."""
    return tuple(int(each.replace("p", "+").replace("m", "-")) for each in shift.split("_"))


def _word_clock(clock: _Clock, added: tuple[int, ...]) -> _Clock:
    """Noon or midnight by its word, and what is added to it: midi et demi."""
    base = {"noon": 12 * 60, "midnight": 0}.get(next(iter(clock.halves & {"noon", "midnight"}), ""))
    if base is None:
        return clock
    clock.named = True
    allowed = frozenset(range(24)).intersection(
        *(_HOURS[each] for each in clock.halves if each not in ("noon", "midnight"))
    )
    minutes = frozenset((base + each) % _DAY for each in added)
    clock.possible = frozenset(each for each in minutes if each // 60 in allowed)
    clock.midnight = base == 0 and min(added) >= 0
    return clock


def _figures(text: Text) -> _Figures | None:
    readers: tuple[Callable[[Text], _Figures | None], ...] = (
        _minutes_before,
        _minutes_behind,
        _with_colon,
        _with_blank,
        _marked,
        _digits,
    )
    return next((found for read in readers if (found := read(text))), None)


def _minutes_before(text: Text) -> _Figures | None:
    """10 to 7, 5 vor 7, 差10分7点."""
    found = text.cut(r"(\d{1,2})(?: <minutes>)? <(past|to|until)> (\d{1,2})(?: <clock>| <mark>)?")
    if not found:
        chinese = text.cut(r"<minus> (\d{1,2}) <minutes> (\d{1,2}) <clock>")
        if not chinese:
            return None
        return _Figures(chinese[2], added=(-int(chinese[1]),))
    minutes = int(found[1])
    if found[2] != "past":
        minutes = -minutes
    return _Figures(found[3], added=(minutes,))


def _minutes_behind(text: Text) -> _Figures | None:
    """Las 7 menos 10, 7点差10分, 7時10分前."""
    hour = r"(\d{1,2})(?: <clock>| <mark>)?"
    found = text.cut(rf"{hour} <(plus|minus)> (\d{{1,2}})(?: <minutes>)?")
    if not found:
        found = text.cut(r"(\d{1,2}) <clock> (\d{1,2}) <minutes> <minus>")
        if not found:
            return None
        return _Figures(found[1], added=(-int(found[2]),))
    minutes = int(found[3])
    if found[2] == "minus":
        minutes = -minutes
    return _Figures(found[1], added=(minutes,))


def _with_colon(text: Text) -> _Figures | None:
    found = text.cut(r"(\d{1,2})[:.](\d\d)(?::\d\d)?(?: <(clock|mark|hours)>)?")
    if not found:
        return None
    is_span = found[3] == "hours" and found[1][0] != "0" and int(found[1]) <= 12
    return _Figures(found[1], int(found[2]), sign=True, bare_mark=is_span)


def _with_blank(text: Text) -> _Figures | None:
    """18 30 and 18 30 Uhr. Minutes that end in 0 or 5 alone: 18 19 may be two hours."""
    found = text.cut(r"(\d{1,2}) ([0-5][05])(?! <minutes>)(?: <(?:clock|mark|hours)>)?")
    if not found:
        return None
    return _Figures(found[1], int(found[2]), sign=True)


def _marked(text: Text) -> _Figures | None:
    found = text.cut(r"(\d{1,2})(\d\d) <(?:clock|mark|hours)>")  # 1930hrs
    if found:
        return _Figures(found[1].zfill(2), int(found[2]), sign=True)
    found = text.cut(r"(\d{1,2}) <clock>(?: (\d{1,2})(?: <minutes>)?)?")
    if found:
        return _Figures(found[1], int(found[2] or 0), sign=True)
    found = text.cut(r"(\d{1,2}) <(mark|hours)>(?: (\d{1,2})(?: <minutes>)?)?")
    if not found:
        return None
    hour = int(found[1])
    is_span = found[1][0] != "0" and (hour <= 12 or hour == 24 or found[2] == "hours")
    return _Figures(found[1], int(found[3] or 0), sign=True, bare_mark=is_span)


def _digits(text: Text) -> _Figures | None:
    found = text.cut(r"(\d\d|[1-9])(\d\d)") or text.cut(r"(\d{1,2})()")
    if not found:
        return None
    return _Figures(found[1], int(found[2] or 0), sign=bool(found[2]))


def _possible(figures: _Figures, clock: _Clock, *, settled: bool) -> frozenset[int]:
    """The minutes of the day that figures and words such as "evening" may mean.

    Raises NotATime.
    """
    hour = int(figures.hour)
    shown = f"{figures.hour}:{figures.minute:02}"
    if hour > 24 or figures.minute > 59 or (hour == 24 and figures.minute):
        raise NotATime(TimeRefusal.NO_HOUR, shown)
    words = clock.halves
    minutes = {(hour * 60 + figures.minute + added) % _DAY for added in figures.added}
    if hour > 12 and words & {"am", "forenoon"}:
        raise NotATime(TimeRefusal.NO_HOUR, shown)
    if hour > 12 and words:  # tonight 16:30, 19:00 pm; never tonight 15:00
        least = 16 if words & _LATE else 12
        return frozenset(minutes if hour >= least and "noon" not in words else ())
    certain = hour > 12 or figures.hour[0] == "0" or (settled and figures.sign)
    if not words and certain:
        return frozenset(minutes)
    both = minutes | {(each + _DAY // 2) % _DAY for each in minutes}
    if hour and words & {"forenoon", "second_half"} and all(each // 60 in (0, 12) for each in both):
        return frozenset(both)  # 12 in the morning is the noon of some people, 午後12時 midnight
    allowed = frozenset(range(24)).intersection(*(_HOURS[word] for word in words))
    return frozenset(each for each in both if each // 60 in allowed)


# ---- the instant


def _resolved(clock: _Clock, days: Days, now: datetime, tz: ZoneInfo, plain: str) -> LocalTime:
    """The one instant that is meant. Raises TimeQuestion, NotATime or NoSuchTime."""
    today = now.astimezone(tz).date()
    found: list[datetime] = []
    missing: NoSuchTime | None = None
    for minutes in sorted(clock.possible):
        for day in _days_of(minutes, clock, days, now, tz):
            try:
                found += local_times(day, time(*divmod(minutes, 60)), tz)
            except NoSuchTime as error:
                missing = error
    if missing:
        raise missing
    ahead = sorted({at for at in found if at > now})
    if clock.span:
        ahead.append(_after(now, clock.span, tz).at)
        raise TimeQuestion(Asked.SPAN, ahead, plain)
    if not ahead:
        _over(max(found), days, today, now, tz)
    by_wall = {at.astimezone(tz).replace(tzinfo=None) for at in ahead}
    asked_days = len(days.possible) > 1
    if len(ahead) == 1 and not asked_days:
        return _to_come(ahead[0], now, tz)
    if len(by_wall) == 1 and not asked_days:
        raise TimeQuestion(Asked.TWICE, ahead)
    if asked_days:
        raise TimeQuestion(Asked.DAY, ahead, days.part or plain)
    if len({at.time().replace(hour=at.hour % 12) for at in by_wall}) > 1:
        raise TimeQuestion(Asked.WHICH, ahead)
    if len({at.hour for at in by_wall}) == 1:
        raise TimeQuestion(Asked.DAY, ahead, plain)
    raise TimeQuestion(Asked.HALF, ahead)


def _over(at: datetime, days: Days, today: date, now: datetime, tz: ZoneInfo) -> None:
    """Refuse a time that is over; that of today is asked about, at the same time tomorrow."""
    here = at.astimezone(tz)
    if days.kind in ("today", "tonight") and here.date() >= today - timedelta(days=1):
        try:
            again = local_time(here.date() + timedelta(days=1), here.time(), tz).at
        except NoSuchTime:
            again = at
        if again > now:
            raise TimeQuestion(Asked.OVER, [again], at=at)
    raise NotATime(TimeRefusal.PAST, at=at)


def _days_of(minutes: int, clock: _Clock, days: Days, now: datetime, tz: ZoneInfo) -> list[date]:
    """The days on which this time of day may be meant."""
    here = now.astimezone(tz)
    one = timedelta(days=1)
    of_night = days.kind == "tonight" or "night" in clock.halves
    small = of_night and minutes < _NIGHT_ENDS * 60 and not clock.midnight
    over = not any(at > now for at in _on(here.date(), minutes, tz))
    next_one = here.date() + one if over else here.date()
    if clock.midnight:
        if days.named:
            return [each for day in days.possible for each in (day, day + one)]
        return [here.date() + one] if minutes == 0 else [next_one]
    if clock.end_of_day:
        return [day + one for day in days.possible or (here.date(),)]
    if small and days.named and days.possible:
        # fri night 1: the night that begins or the night that ends on Friday?
        return [each for day in days.possible for each in (day, day + one)]
    if small and days.possible:
        return [next_one]  # the early morning after this night
    if over and days.weekday_only and days.possible and days.possible[0] == here.date():
        return [day + 7 * one for day in days.possible]
    return list(days.possible) or [next_one]


def _on(day: date, minutes: int, tz: ZoneInfo) -> tuple[datetime, ...]:
    try:
        return local_times(day, time(*divmod(minutes, 60)), tz)
    except NoSuchTime:
        return ()
