"""The chosen days, and the earlier days with which they are compared. Pure."""

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from ridedash.store.insights import Span, span_of
from ridedash.views.web.formatting import days_text
from ridedash.wording import gettext as _

DAY: Final = timedelta(days=1)
MOST_DAYS: Final = 366


@dataclass(frozen=True)
class Period:
    """Calendar days; both ends are included."""

    first: date
    last: date

    @property
    def days(self) -> list[date]:
        return [self.first + n * DAY for n in range((self.last - self.first).days + 1)]

    def span(self, tz: ZoneInfo) -> Span:
        """The instants of these days in a zone."""
        return span_of(self.first, self.last, tz)

    def words(self, locale: str) -> str:
        """The days in the usual notation: "1 – 31 May 2026"."""
        return days_text(self.first, self.last, locale)


def month_of(day: date) -> Period:
    """The whole month of a day."""
    return Period(day.replace(day=1), day.replace(day=monthrange(day.year, day.month)[1]))


def before(period: Period) -> Period:
    """The days with which a period is compared.

    For a whole month, they are the month before. For the first days of a month, they are the same
    days of the month before. For other days, they are equally many days just before.

    >>> before(Period(date(2026, 3, 1), date(2026, 3, 31))).last
    datetime.date(2026, 2, 28)
    """
    first = period.first
    last = period.last
    if first.day == 1 and (first.year, first.month) == (last.year, last.month):
        month = month_of(first - DAY)
        if period == month_of(first):
            return month
        return Period(month.first, month.last.replace(day=min(last.day, month.last.day)))
    return Period(first - (last - first) - DAY, first - DAY)


def common(today: date) -> list[tuple[str, Period]]:
    """Common periods for quick choice, by name."""
    month = month_of(today)
    last_month = month_of(month.first - DAY)
    quarter = month_of(last_month.first - DAY)
    return [
        (_("This month"), Period(month.first, today)),
        (_("Last month"), last_month),
        (_("7 days"), Period(today - 6 * DAY, today)),
        (_("Last 3 months"), Period(month_of(quarter.first - DAY).first, last_month.last)),
    ]


def chosen(first: date | None, last: date | None, today: date) -> Period:
    """The period in a form; without both ends, this month up to today.

    A missing last day is today; a missing first day is the first of the month of the last day.
    """
    if first is None and last is None:
        return Period(today.replace(day=1), today)
    last = last or max(today, first or today)
    first = first or last.replace(day=1)
    return Period(min(first, last), max(first, last))
