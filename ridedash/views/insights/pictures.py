"""The pictures of the insights: the positions of their bars and squares. Pure; templates draw them.

Our own templates draw them, because chart libraries for Python write styles, scripts and colours
into a picture, which our pages must not contain (docs/security.md). The height of a bar is a number
from 0 to 100; its colour, and the darkness of a square, are set by the style sheet.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from babel.dates import get_day_names

from ridedash.store.insights import Figures, Insights
from ridedash.views.insights.periods import Period
from ridedash.views.insights.waits import by_minutes
from ridedash.views.web.formatting import day_text
from ridedash.wording import gettext as _
from ridedash.wording import ngettext

FULL: Final = 100.0  # height and width of a row of bars, and width of the longest bar in a table
LABELS: Final = 5  # labels below a row of bars, at most
LEVELS: Final = 5  # levels of darkness of the heat map
LONG_WAIT: Final = 15  # minutes; waits of this length and longer ones share a bar


@dataclass(frozen=True)
class Bar:
    """A bar: its position, its height, the height of its lower part, and its numbers in words."""

    x: float
    width: float
    height: float
    part: float  # the height of the lower part, in the same scale
    before: float | None  # the height of the line for the period before
    words: str


@dataclass(frozen=True)
class Bars:
    """A row of bars, the number that its top stands for, and the labels below it."""

    bars: Sequence[Bar]
    top: int
    labels: Sequence[str]


@dataclass(frozen=True)
class Square:
    """An hour of the week: its position, and its level from 0 (nothing) to LEVELS."""

    x: int
    y: int
    level: int
    words: str


@dataclass(frozen=True)
class Heat:
    """The hours of a week; `rows` are the numbers of each day, for the table."""

    squares: Sequence[Square]
    days: Sequence[str]
    rows: Sequence[tuple[str, Sequence[int]]]
    busiest: str


def day_bars(now: Insights, before: Insights, periods: tuple[Period, Period], locale: str) -> Bars:
    """Rides by day and how many were completed; a line shows the same day of the period before."""
    days = periods[0].days
    earlier = periods[1].days
    rides = [now.days.get(day, Figures()) for day in days]
    past = [before.days.get(day, Figures()).rides for day in earlier[: len(days)]]
    past += [0] * (len(days) - len(past))
    top = nice(max([each.rides for each in rides] + past))
    width = FULL / len(days)
    bars = [
        Bar(
            x=n * width,
            width=width,
            height=FULL * each.rides / top,
            part=FULL * each.completed / top,
            before=FULL * past[n] / top if past[n] else None,
            words=ngettext(
                "%(day)s: %(num)d ride, %(completed)s completed; before: %(before)s",
                "%(day)s: %(num)d rides, %(completed)s completed; before: %(before)s",
                each.rides,
                day=day_words(day, locale),
                completed=each.completed,
                before=past[n],
            ),
        )
        for n, (day, each) in enumerate(zip(days, rides, strict=True))
    ]
    return Bars(bars, top, [day_label(each, locale) for each in _some(days)])


def wait_bars(waits: Counter[int]) -> Bars:
    """The number of rides by minutes of waiting, from that by seconds."""
    counts = by_minutes(waits, LONG_WAIT)
    top = nice(max(counts.values(), default=0))
    width = FULL / (LONG_WAIT + 1)
    bars = [
        Bar(
            x=n * width,
            width=width,
            height=FULL * counts[n] / top,
            part=FULL * counts[n] / top,
            before=None,
            words=ngettext(
                "%(num)d ride: %(minutes)s",
                "%(num)d rides: %(minutes)s",
                counts[n],
                minutes=minute_words(n),
            ),
        )
        for n in range(LONG_WAIT + 1)
    ]
    return Bars(bars, top, ["0", "5", "10", _("%(n)d+ min", n=LONG_WAIT)])


def minute_words(minute: int) -> str:
    """The words of a bar of waits."""
    if minute >= LONG_WAIT:
        return _("%(n)d minutes or more", n=LONG_WAIT)
    return _("%(from)d to %(to)d minutes", **{"from": minute, "to": minute + 1})


def heat(week: Mapping[tuple[int, int], Figures], locale: str) -> Heat:
    """Rides by hour of the week: darker where there are more."""
    names = get_day_names("abbreviated", locale=locale)
    rides = {key: metrics.rides for key, metrics in week.items()}
    most = max(rides.values(), default=0)
    squares = [
        Square(
            x=hour,
            y=day,
            level=-(-LEVELS * rides.get((day, hour), 0) // most) if most else 0,
            words=ngettext(
                "%(when)s: %(num)d ride",
                "%(when)s: %(num)d rides",
                count,
                when=hour_words(day, hour, locale),
            ),
        )
        for day in range(7)
        for hour in range(24)
        for count in [rides.get((day, hour), 0)]
    ]
    rows = [(names[day], [rides.get((day, hour), 0) for hour in range(24)]) for day in range(7)]
    busiest = ""
    if most:
        day, hour = min(key for key, count in rides.items() if count == most)
        busiest = ngettext(
            "Busiest: %(when)s, %(num)d ride",
            "Busiest: %(when)s, %(num)d rides",
            most,
            when=hour_words(day, hour, locale),
        )
    return Heat(squares, [names[day] for day in range(7)], rows, busiest)


def hour_words(day: int, hour: int, locale: str) -> str:
    """An hour of the week: "Monday 14–15"."""
    return f"{get_day_names('wide', locale=locale)[day]} {hour:02d}–{hour + 1:02d}"


def day_words(on: date, locale: str) -> str:
    """A day with its weekday, as in the tables."""
    return day_text(on, "MMMEd", locale)


def day_label(on: date, locale: str) -> str:
    """A day without its weekday, for a label below a bar."""
    return day_text(on, "MMMd", locale)


def nice(most: int) -> int:
    """A round number, not below the maximum and at least 1: the top of a picture.

    >>> [nice(n) for n in (0, 4, 11, 96, 240)]
    [1, 4, 15, 100, 250]
    """
    if most <= 10:
        return max(1, most)
    step: int = 5 * 10 ** (len(str(most)) - 2)
    return -(-most // step) * step


def _some(days: Sequence[date]) -> list[date]:
    """At most LABELS of these days, for labels that stand below their bars at equal distances.

    The first and the last day are always among them. If equal distances are impossible, the only
    other label is a day in the middle.
    """
    if len(days) <= LABELS:
        return list(days)
    last = len(days) - 1
    steps = next((n for n in range(LABELS - 1, 1, -1) if last % n == 0), 2)
    return [days[n * last // steps] for n in range(steps + 1)]
