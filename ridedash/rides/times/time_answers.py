"""What the reader of typed times answers beside a time: a question with its choices, or a refusal.

Pure.
"""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum


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
    NOT_THEN = "not_then"  # tonight 9 am, 2 in the evening
    PAST = "past"  # `at` is in the past


class NotATime(ValueError):
    """A text that does not name a future time.

    `part` is the wrong part of the text; `at` is the instant that the text names, or None.
    """

    def __init__(self, why: TimeRefusal, part: str = "", at: datetime | None = None) -> None:
        super().__init__(why.value)
        self.why = why
        self.part = part
        self.at = at


class Asked(StrEnum):
    """What is asked about a text that people read differently."""

    HALF = "half"  # 6: in the morning, or in the evening
    DAY = "day"  # 3/4, next Friday, Friday night 1: `part` is what may be two days
    SPAN = "span"  # 2h: in two hours, or at two
    TWICE = "twice"  # clocks show this time twice, because they go back
    OVER = "over"  # this morning 6, in the evening: the same time of the next day
    WHICH = "which"  # 6 or 7, half six


class TimeQuestion(ValueError):
    """A text that may mean several times to come; `choices` are these instants, in their order.

    `at` is the instant that is over, of a text that named one.
    """

    def __init__(
        self,
        about: Asked,
        choices: Iterable[datetime],
        part: str = "",
        at: datetime | None = None,
    ) -> None:
        super().__init__(about.value)
        self.about = about
        self.part = part
        self.at = at
        self.choices = tuple(sorted(set(choices)))
