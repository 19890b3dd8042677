"""Reads and checks the part of a form about a series of rides.

Every error has a message that says what to change.
"""

from dataclasses import dataclass
from datetime import date, datetime, time
from zoneinfo import ZoneInfo

from ridedash.rides.times.schedule_times import (
    MOST_RIDES,
    SERIES_LATEST,
    SeriesRide,
    series_rides,
)
from ridedash.wording import gettext as _
from ridedash.wording.say import pgettext


@dataclass(frozen=True)
class SeriesRequest:
    """A series as it was typed: first and last day, weekdays (Monday is 0) and a local time.

    A value that can't be read is None.
    """

    first: date | None
    last: date | None
    weekdays: frozenset[int]
    clock: time | None


def read_series(series: SeriesRequest, tz: ZoneInfo, now: datetime) -> list[SeriesRide]:
    """The rides of a series. Raises ValueError with what to change."""
    if series.first is None or series.clock is None:
        raise ValueError(_("Choose day and time of the first ride."))
    if series.last is None:
        # T: %(dated)s is a day with its month as a word
        dated = pgettext("typed time", "4 mar")
        raise ValueError(_("Until which day? Type one, such as %(dated)s.", dated=dated))
    rides = series_rides((series.first, series.last), series.weekdays, series.clock, tz)
    if not rides:
        raise ValueError(_("No day from the pickup day until then is one of these weekdays."))
    if rides[-1].at - now > SERIES_LATEST:
        raise ValueError(_("A series ends at most %(n)d days from now.", n=SERIES_LATEST.days))
    if len(rides) > MOST_RIDES:
        raise ValueError(
            _(
                "A series has at most %(n)d rides: choose an earlier day, or fewer weekdays.",
                n=MOST_RIDES,
            )
        )
    return rides
