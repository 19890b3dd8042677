"""Why a typed time is none, in words that say what to type instead."""

from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from ridedash.rides.orders.schedule_times import NoSuchTime
from ridedash.rides.orders.typed_time import NotATime, Why
from ridedash.wording.say import gettext as _
from ridedash.wording.say import lazy


def why_not(error: NotATime | NoSuchTime, now: datetime, tz: ZoneInfo) -> str:
    """The message for a text that is no time, with what to type instead.

    An instant that the error is about is shown on the clock of the zone.
    """
    if isinstance(error, NoSuchTime):
        return _(
            "Clocks go forward then: that time does not exist on that day. The next time that "
            "does is %(next)s.",
            next=f"{error.after:%H:%M}",
        )
    clock = _clock(error.at, now, tz) if error.at else ""
    return str(_MESSAGES[error.why]) % {"said": error.said, "clock": clock}


def _clock(at: datetime, now: datetime, tz: ZoneInfo) -> str:
    """Hours and minutes, and the day before them unless that is today."""
    here = at.astimezone(tz)
    if here.date() == now.astimezone(tz).date():
        return f"{here:%H:%M}"
    return f"{here:%Y-%m-%d, %H:%M}"


_MESSAGES: Final = {
    Why.EMPTY: lazy("At what time? Type one, such as 6:15 or tomorrow 0615."),
    Why.UNKNOWN: lazy(
        "“%(said)s” is not understood. Type a time such as 6:15, tomorrow 0615, fri 14 or "
        "in 40 min."
    ),
    Why.NO_CLOCK: lazy("At what time that day? Add one, such as tomorrow 0615."),
    Why.NO_HOUR: lazy("%(said)s is no time of the day. Hours go from 0 to 23."),
    Why.NO_DAY: lazy("There is no such day: %(said)s."),
    Why.NOT_THAT_DAY: lazy("That date is another day of the week. Type one of the two."),
    Why.DAY_OR_MONTH: lazy("%(said)s may be two days. Type the month as a word, such as 4 mar."),
    Why.SPAN_OR_CLOCK: lazy("Type in %(said)s h, or %(said)s:00."),
    Why.MIDNIGHT: lazy("Midnight of which day? Type 23:59, or 00:00 with the day it begins."),
    Why.TWICE: lazy("Clocks go back then. Type the time itself, such as 3:30."),
    Why.PAST: lazy("That time is over: %(clock)s."),
}
