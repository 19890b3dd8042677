"""A pickup time in a form, and the messages for one that can't be read: what to type instead."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from ridedash.inputs import calendar_day, time_of_day
from ridedash.rides.orders.schedule_times import LocalTime, NoSuchTime, local_time
from ridedash.rides.orders.time_words import ENGLISH, TimeWords
from ridedash.rides.orders.typed_time import NotATime, TimeRefusal, read_time
from ridedash.wording.say import gettext as _
from ridedash.wording.say import isolated, lazy
from ridedash.wording.time_words import examples


def why_not(
    error: NotATime | NoSuchTime, now: datetime, tz: ZoneInfo, words: TimeWords = ENGLISH
) -> str:
    """The message for a text that is not a time, with what to type instead, in the reader's words.

    An instant in the error is shown in the zone's local time.
    """
    if isinstance(error, NoSuchTime):
        return _(
            "Clocks go forward then: that time does not exist on that day. The next time that "
            "does is %(next)s.",
            next=f"{error.after:%H:%M}",
        )
    clock = _clock(error.at, now, tz) if error.at else ""
    facts = {**examples(words), "said": error.part, "clock": clock}
    if error.why is TimeRefusal.SPAN_OR_CLOCK:
        facts["span"] = _("in %(h)d h", h=int(error.part))
    return str(_MESSAGES[error.why]) % isolated(facts)


def _clock(at: datetime, now: datetime, tz: ZoneInfo) -> str:
    """The local time, with its date in front unless that is today."""
    here = at.astimezone(tz)
    if here.date() == now.astimezone(tz).date():
        return f"{here:%H:%M}"
    return f"{here:%Y-%m-%d, %H:%M}"


_MESSAGES: Final = {
    TimeRefusal.EMPTY: lazy("At what time? Type one, such as 6:15 or %(tomorrow)s."),
    TimeRefusal.UNKNOWN: lazy(
        "“%(said)s” is not understood. Type a time such as 6:15, %(tomorrow)s, %(friday)s or "
        "%(ahead)s."
    ),
    TimeRefusal.TWO_THINGS: lazy(
        "“%(said)s” may be two things. Write the word in full, or type figures."
    ),
    TimeRefusal.NO_CLOCK: lazy("At what time that day? Add one, such as %(tomorrow)s."),
    TimeRefusal.NO_HOUR: lazy("%(said)s is no time of the day. Hours go from 0 to 23."),
    TimeRefusal.NO_DAY: lazy("There is no such day: %(said)s."),
    TimeRefusal.NOT_THAT_DAY: lazy("That date is another day of the week. Type one of the two."),
    TimeRefusal.DAY_OR_MONTH: lazy(
        "%(said)s may be two days. Type the month as a word, such as %(dated)s."
    ),
    TimeRefusal.SPAN_OR_CLOCK: lazy("Type “%(span)s”, or %(said)s:00."),
    TimeRefusal.MIDNIGHT: lazy(
        "Midnight of which day? Type 23:59, or 00:00 with the day it begins."
    ),
    TimeRefusal.NIGHT: lazy(
        "Which night is meant? Type the time of 24 hours and its own day, such as %(night)s."
    ),
    TimeRefusal.TWICE: lazy("Clocks go back then. Type the time itself, such as 3:30."),
    TimeRefusal.PAST: lazy("That time is over: %(clock)s."),
}


class TimeRefused(ValueError):
    """A pickup time that is not possible; the message says what to type, `control` where."""

    def __init__(self, control: str, message: str) -> None:
        super().__init__(message)
        self.control = control


def departure_text(departs_at: datetime, tz: ZoneInfo) -> str:
    """The departure of a flight as a text to type."""
    return f"{departs_at.astimezone(tz):%Y-%m-%d %H:%M}"


@dataclass(frozen=True)
class PickupTexts:
    """A pickup time in a form: as `clock` on `day`, or in words if `clock` is empty."""

    words: str
    day: str
    clock: str

    def read(self, now: datetime, tz: ZoneInfo, words: TimeWords = ENGLISH) -> LocalTime:
        """The instant that the texts mean. Raises TimeRefused."""
        if not self.clock:
            return self._read_words(now, tz, words)
        clock, day = time_of_day(self.clock), calendar_day(self.day)
        if clock is None:
            raise TimeRefused("pickup_time", _("At what time? Choose one, such as 05:10."))
        if day is None:
            raise TimeRefused("pickup_date", _("On which day? Choose one, such as 2026-03-05."))
        try:
            return local_time(day, clock, tz)
        except NoSuchTime as error:
            raise TimeRefused("pickup_time", why_not(error, now, tz)) from None

    def _read_words(self, now: datetime, tz: ZoneInfo, words: TimeWords) -> LocalTime:
        try:
            return read_time(self.words, now, tz, words)
        except (NotATime, NoSuchTime) as error:
            raise TimeRefused("pickup_words", why_not(error, now, tz, words)) from None
