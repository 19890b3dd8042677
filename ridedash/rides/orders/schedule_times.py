"""Pure: a pickup time as people say it, as an instant; and when it has to be ordered from the
service.

All of it is people's clock. A sandbox whose pace is above 1 drives faster, but nobody's alarm rings
earlier for it: neither the pickup time nor the lead is divided by the pace; its cab only comes
sooner within the lead.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

SOONEST: Final = timedelta(minutes=15)
LATEST: Final = timedelta(days=30)
MARGIN: Final = timedelta(minutes=10)  # added to the category's eta; a setting
USUAL_ETA: Final = timedelta(minutes=10)  # where the service told none
LONGEST_ETA: Final = timedelta(minutes=60)  # a longer one is no reason to order so early
WINDOW: Final = timedelta(minutes=10)  # after the pickup time nobody waits any more
PATIENCE_S: Final = (5.0, 60.0)  # the first wait between tries, doubling up to the last


class NoSuchTime(ValueError):
    """A local time that a clock change leaves out; `after` is the first time that exists again."""

    def __init__(self, after: time) -> None:
        super().__init__("this local time does not exist")
        self.after = after


@dataclass(frozen=True)
class LocalTime:
    """An instant for a local day and time; `twice` says that clocks show that time twice, and this
    is the first.
    """

    at: datetime
    twice: bool = False


def local_time(day: date, clock: time, tz: ZoneInfo) -> LocalTime:
    """The instant at which clocks in a zone show this. Raises NoSuchTime; OverflowError outside the
    calendar.
    """
    said = datetime.combine(day, clock.replace(second=0, microsecond=0, tzinfo=None), tz)
    at = said.astimezone(UTC)
    back = at.astimezone(tz)
    if back.replace(tzinfo=None) != said.replace(tzinfo=None):
        raise NoSuchTime(_after_gap(said))
    twice = said.utcoffset() != said.replace(fold=1).utcoffset()
    return LocalTime(at, twice)


def _after_gap(said: datetime) -> time:
    """The first minute after the gap that `said` lies in."""
    before, after = (said.replace(fold=fold).utcoffset() or timedelta(0) for fold in (0, 1))
    gap = after - before
    lasts = range(int(gap.total_seconds()) // 60 + 1)
    # wall arithmetic: the hands go on as if nothing were
    later = ((said + timedelta(minutes=n)) for n in lasts)
    real = (
        each for each in later if each.astimezone(UTC).astimezone(each.tzinfo).time() == each.time()
    )
    return next(real, said).time()


def eta_of(product: Mapping[str, Any]) -> timedelta:
    """How long a cab of an offered product would take to come, as far as the service said."""
    told = product.get("eta")
    seconds = told.get("seconds") if isinstance(told, Mapping) else None
    if not isinstance(seconds, (int, float)) or seconds < 0:
        return USUAL_ETA
    return min(timedelta(seconds=seconds), LONGEST_ETA)


def due_at(
    pickup_at: datetime, product: Mapping[str, Any], margin: timedelta, now: datetime
) -> datetime:
    """When to order from the service: the eta and a margin before the pickup, and not in the
    past.
    """
    return max(now, pickup_at - eta_of(product) - margin)


def wait_after(tries: int) -> timedelta:
    """How long after the n-th try in vain (from 1) the next one is made."""
    first, most = PATIENCE_S
    return timedelta(seconds=min(most, first * 2 ** min(tries - 1, 10)))
