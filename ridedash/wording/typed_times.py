"""A pickup time in a form; and the messages for one that is asked about or can't be read."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from ridedash.inputs import calendar_day, time_of_day
from ridedash.rides.times.schedule_times import (
    LATEST,
    LocalTime,
    NoSuchTime,
    local_time,
    local_times,
)
from ridedash.rides.times.time_answers import Asked, NotATime, TimeQuestion, TimeRefusal
from ridedash.rides.times.time_words import ENGLISH_WORDS, TimeWords
from ridedash.rides.times.typed_time import is_clock_alone, read_time
from ridedash.wording.say import gettext as _
from ridedash.wording.say import isolated, lazy
from ridedash.wording.time_words import examples

FIRST: Final = "first"  # of two times that clocks show when they go back
SECOND: Final = "second"


def why_not(
    error: NotATime | NoSuchTime | TimeQuestion,
    now: datetime,
    tz: ZoneInfo,
    words: TimeWords = ENGLISH_WORDS,
) -> str:
    """The message for a text that is no time or may be several, in the reader's words.

    An instant in the error is shown in the zone's local time.
    """
    if isinstance(error, NoSuchTime):
        return _(
            "Clocks go forward then: that time does not exist on that day. The next time that "
            "does is %(next)s.",
            next=f"{error.after:%H:%M}",
        )
    if isinstance(error, TimeQuestion):
        at = error.at or error.choices[0]
        clock = f"{at.astimezone(tz):%H:%M}" if error.about is Asked.TWICE else _clock(at, now, tz)
        facts = {"said": error.part, "clock": clock}
        return str(_QUESTIONS[error.about]) % isolated(facts)
    clock = _clock(error.at, now, tz) if error.at else ""
    facts = {**examples(words), "said": error.part, "clock": clock}
    return str(_MESSAGES[error.why]) % isolated(facts)


def _clock(at: datetime, now: datetime, tz: ZoneInfo) -> str:
    """The local time, with its date in front unless that is today."""
    here = at.astimezone(tz)
    if here.date() == now.astimezone(tz).date():
        return f"{here:%H:%M}"
    return f"{here:%Y-%m-%d, %H:%M}"


_QUESTIONS: Final = {
    Asked.HALF: lazy("Which half of the day is meant? Choose one."),
    Asked.DAY: lazy("“%(said)s” may be two days. Choose one."),
    Asked.SPAN: lazy("That may be several times. Choose one."),
    Asked.WHICH: lazy("That may be several times. Choose one."),
    Asked.TWICE: lazy("Clocks go back then and show %(clock)s twice. Choose one."),
    Asked.OVER: lazy("%(clock)s is over. Choose the next one, or type another time."),
}
_MESSAGES: Final = {
    TimeRefusal.EMPTY: lazy("At what time? Type one, such as 18:15 or %(tomorrow)s."),
    TimeRefusal.UNKNOWN: lazy(
        "“%(said)s” is not understood. Type a time such as 18:15, %(tomorrow)s, %(friday)s or "
        "%(ahead)s."
    ),
    TimeRefusal.TWO_THINGS: lazy(
        "“%(said)s” may be two things. Write the word in full, or type figures."
    ),
    TimeRefusal.NO_CLOCK: lazy("At what time that day? Add one, such as %(tomorrow)s."),
    TimeRefusal.NO_HOUR: lazy("%(said)s is no time of the day. Hours go from 0 to 23."),
    TimeRefusal.NO_DAY: lazy("There is no such day: %(said)s."),
    TimeRefusal.NOT_THAT_DAY: lazy("That date is another day of the week. Type one of the two."),
    TimeRefusal.NOT_THEN: lazy(
        "The parts of “%(said)s” don't go together. Type the time of 24 hours, such as %(night)s."
    ),
    TimeRefusal.PAST: lazy("That time is over: %(clock)s."),
}


class TimeRefused(ValueError):
    """A pickup time that is not possible; the message says what to type, `control` where.

    `choices` are the instants that the text may mean, each of which `typed_text` writes.
    """

    def __init__(self, control: str, message: str, choices: tuple[datetime, ...] = ()) -> None:
        super().__init__(message)
        self.control = control
        self.choices = choices


def _first_after(there: datetime | None, error: TimeRefused) -> LocalTime:
    """Of the times that a way back may mean, the only one after the way there.

    Raises TimeRefused: with the possible times alone if there are several, or with the error.
    """
    if there is None or not error.choices:
        raise error
    possible = tuple(at for at in error.choices if at > there)
    if not possible:
        raise TimeRefused("back_words", _("The way back begins after the way there.")) from None
    if len(possible) > 1:
        raise TimeRefused(error.control, str(error), possible) from None
    return LocalTime(possible[0])


def typed_text(at: datetime, tz: ZoneInfo) -> str:
    """An instant as a text to type, which is read as no other instant."""
    here = at.astimezone(tz)
    text = f"{here:%Y-%m-%d %H:%M}"
    if pass_of(at, tz):
        text += f"{here:%z}"
    return text


def pass_of(at: datetime, tz: ZoneInfo) -> str:
    """FIRST or SECOND if clocks show this time twice that day; else ""."""
    here = at.astimezone(tz)
    if here.utcoffset() == here.replace(fold=1 - here.fold).utcoffset():
        return ""
    if here.fold:
        return SECOND
    return FIRST


def pass_words(at: datetime, tz: ZoneInfo) -> str:
    """Which of two times is meant that clocks show when they go back; "" for any other time."""
    which = pass_of(at, tz)
    if not which:
        return ""
    if which == SECOND:
        return _("second, after clocks go back")
    return _("first, before clocks go back")


def departure_text(departs_at: datetime, tz: ZoneInfo) -> str:
    """The departure of a flight as a text to type."""
    return typed_text(departs_at, tz)


@dataclass(frozen=True)
class PickupTexts:
    """A pickup time in a form: as `clock` on `day`, or in words if `clock` is empty.

    `which` is FIRST or SECOND for a clock that is shown twice that day; "" asks.
    """

    words: str
    day: str
    clock: str
    which: str = ""

    def read(
        self,
        now: datetime,
        tz: ZoneInfo,
        words: TimeWords = ENGLISH_WORDS,
        latest: timedelta = LATEST,
    ) -> LocalTime:
        """The instant that the texts mean. Raises TimeRefused.

        A reading of a day that is further ahead than `latest` is no choice beside a nearer one.
        """
        if not self.clock:
            return self._read_words(now, tz, words, latest)
        clock = time_of_day(self.clock)
        day = calendar_day(self.day)
        if clock is None:
            raise TimeRefused("pickup_time", _("At what time? Choose one, such as 05:10."))
        if day is None:
            raise TimeRefused("pickup_date", _("On which day? Choose one, such as 2026-03-05."))
        try:
            return self._on_clock(datetime.combine(day, clock), now, tz)
        except (NoSuchTime, TimeQuestion) as error:
            raise TimeRefused("pickup_time", why_not(error, now, tz), _choices_of(error)) from None

    def read_back(
        self, there: datetime | None, now: datetime, tz: ZoneInfo, words: TimeWords = ENGLISH_WORDS
    ) -> LocalTime:
        """The way back of a ride that begins at `there`, or now. Raises TimeRefused.

        A time of the day alone is the next one after the way there.
        """
        begins = now
        if there and is_clock_alone(self.words, now.astimezone(tz).date(), words):
            begins = there
        try:
            found = self.read(begins, tz, words)
        except TimeRefused as error:
            return _first_after(there, error)
        if there and found.at <= there:
            raise TimeRefused("back_words", _("The way back begins after the way there."))
        return found

    def _on_clock(self, local: datetime, now: datetime, tz: ZoneInfo) -> LocalTime:
        """The instant of a day and clock. Of two, the one that is chosen or alone to come."""
        both = local_times(local.date(), local.time(), tz)
        ahead = [at for at in both if at > now] or [both[-1]]
        if len(both) == 1 or self.which in (FIRST, SECOND):
            fold = int(self.which == SECOND and len(both) > 1)
            return local_time(local.date(), local.time().replace(fold=fold), tz)
        if len(ahead) > 1:
            raise TimeQuestion(Asked.TWICE, ahead)
        return LocalTime(ahead[0], twice=True)

    def _read_words(
        self, now: datetime, tz: ZoneInfo, words: TimeWords, latest: timedelta
    ) -> LocalTime:
        try:
            return read_time(self.words, now, tz, words)
        except TimeQuestion as error:
            choices = _near(error, now, latest)
            message = why_not(error, now, tz, words)
            days = {at.astimezone(tz).date() for at in choices}
            if len(choices) < len(error.choices) and len(days) == 1:
                message = _(
                    "“%(said)s” may be another day too, but that one is too far ahead. Choose the "
                    "day, or type another.",
                    said=error.part,
                )
            raise TimeRefused("pickup_words", message, choices) from None
        except (NotATime, NoSuchTime) as error:
            raise TimeRefused("pickup_words", why_not(error, now, tz, words)) from None


def _near(error: TimeQuestion, now: datetime, latest: timedelta) -> tuple[datetime, ...]:
    """The choices of a question, without days too far ahead unless all are."""
    if error.about is not Asked.DAY:
        return error.choices
    return tuple(at for at in error.choices if at - now <= latest) or error.choices


def _choices_of(error: Exception) -> tuple[datetime, ...]:
    if not isinstance(error, TimeQuestion):
        return ()
    return error.choices
