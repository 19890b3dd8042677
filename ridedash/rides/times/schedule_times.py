"""The times of a planned ride: the instant of a local time, and the time to order the ride.

Pure. See docs/booking-protocol.md 1.3 and docs/pages.md 2.

All times here are wall-clock times. In a demo the cabs of the sandbox drive faster, but a guest
still leaves at the time that was agreed: neither the pickup time nor the lead is divided by the
pace.
"""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

SOONEST: Final = timedelta(minutes=15)  # a ride that is sooner is a ride now
LATEST: Final = timedelta(days=30)  # as far ahead as a guest's stay is usually known
MOST_RIDES: Final = 60  # rides in one series
SERIES_LATEST: Final = timedelta(days=90)  # how far ahead a ride of a series may be
KEY_LENGTH: Final = 16  # hexadecimal: 64 bits tell the dates of two series apart
# a ride is ordered this long plus the eta before its pickup, if RIDEDASH_SCHEDULE_LEAD_MINUTES is
# not set
MARGIN: Final = timedelta(minutes=10)
USUAL_ETA: Final = timedelta(minutes=10)  # used when the service states no eta
LONGEST_ETA: Final = timedelta(minutes=60)  # a longer eta is taken as this one
WINDOW: Final = timedelta(minutes=10)  # time after the pickup time in which attempts are still made
# the first wait between attempts, which doubles, and the longest one
RETRY_WAITS_S: Final = (5.0, 60.0)


class NoSuchTime(ValueError):
    """A local time that a clock change skips; `after` is the first time after the gap."""

    def __init__(self, after: time) -> None:
        super().__init__("this local time does not exist")
        self.after = after


@dataclass(frozen=True)
class LocalTime:
    """The instant of a local day and time.

    `twice`: clocks show this time twice on that day; `at` is one of the two instants.
    """

    at: datetime
    twice: bool = False


def local_time(day: date, clock: time, tz: ZoneInfo) -> LocalTime:
    """The instant at which clocks in a zone show this time.

    Of two such instants it is the first one, or the second one for a clock with `fold` 1. Raises
    NoSuchTime; OverflowError outside the calendar.
    """
    shown = datetime.combine(day, clock.replace(second=0, microsecond=0, tzinfo=None), tz)
    at = shown.astimezone(UTC)
    back = at.astimezone(tz)
    if back.replace(tzinfo=None) != shown.replace(tzinfo=None):
        raise NoSuchTime(_after_gap(shown))
    twice = shown.utcoffset() != shown.replace(fold=1 - shown.fold).utcoffset()
    return LocalTime(at, twice)


def local_times(day: date, clock: time, tz: ZoneInfo) -> tuple[datetime, ...]:
    """The instant at which clocks show this time, or the two of them. Raises as `local_time`."""
    first = local_time(day, clock.replace(fold=0), tz)
    if not first.twice:
        return (first.at,)
    return first.at, local_time(day, clock.replace(fold=1), tz).at


@dataclass(frozen=True)
class SeriesRide:
    """One ride of a series: its day in the property's zone and its instant.

    `moved`: clocks skip its time on that day, so the ride is at the first time after the gap.
    `twice`: clocks show its time twice; the ride is at the first one, or at the second one for a
    series at a clock with `fold` 1.
    """

    day: date
    at: datetime
    moved: bool = False
    twice: bool = False


def series_rides(
    days: tuple[date, date], weekdays: Collection[int], clock: time, tz: ZoneInfo
) -> list[SeriesRide]:
    """A ride at a local time on each of these weekdays (0: Monday), from a first to a last day.

    Stops at MOST_RIDES + 1, which tells the caller that there are too many.
    """
    found: list[SeriesRide] = []
    day, last = days
    while day <= last and len(found) <= MOST_RIDES:
        if day.weekday() in weekdays:
            found.append(ride_on(day, clock, tz))
        if day == date.max or not weekdays:
            break
        day += timedelta(days=1)
    return found


def ride_on(day: date, clock: time, tz: ZoneInfo) -> SeriesRide:
    """The ride of a series on one day, at a local time."""
    try:
        found = local_time(day, clock, tz)
        return SeriesRide(day, found.at, twice=found.twice)
    except NoSuchTime as error:
        return SeriesRide(day, local_time(day, error.after, tz).at, moved=True)


def departure_of(
    pickup_at: datetime,
    first_at: datetime,
    departs_at: datetime,
    tz: ZoneInfo,
    *,
    lands: bool = False,
) -> datetime:
    """The departure of the flight of a series' ride whose pickup is at `pickup_at`.

    `departs_at` is the departure for the ride at `first_at`. The result has the same local time,
    and is as many days after its own pickup. If `departs_at` is not later than `first_at`, only its
    time of day counts: the result is the next such time after the pickup. With `lands` it is the
    landing, which is before the pickup.
    """
    first = first_at.astimezone(tz)
    departs = departs_at.astimezone(tz)
    days = (departs.date() - first.date()).days
    if departs <= first and not lands:
        days = 1 if departs.time() <= first.time() else 0
    day = pickup_at.astimezone(tz).date() + timedelta(days=days)
    return ride_on(day, departs.time(), tz).at


def dates_key(rides: Collection[SeriesRide]) -> str:
    """A text that identifies these pickups, by which a form states which dates it has shown."""
    instants = ",".join(ride.at.isoformat() for ride in rides)
    return hashlib.sha256(instants.encode()).hexdigest()[:KEY_LENGTH]


def _after_gap(shown: datetime) -> time:
    """The first minute after the gap that contains `shown`."""
    before, after = (shown.replace(fold=fold).utcoffset() or timedelta(0) for fold in (0, 1))
    gap = after - before
    minutes = range(int(gap.total_seconds()) // 60 + 1)
    # local times, of which some don't exist
    later = (shown + timedelta(minutes=n) for n in minutes)
    return next((each for each in later if _exists(each)), shown).time()


def _exists(local: datetime) -> bool:
    """Whether clocks show this local time: then conversion to UTC and back does not change it."""
    return local.astimezone(UTC).astimezone(local.tzinfo).time() == local.time()


def eta_of(product: Mapping[str, Any]) -> timedelta:
    """How long a cab of an offered product takes to come, as the service stated, else USUAL_ETA."""
    eta = product.get("eta")
    seconds = eta.get("seconds") if isinstance(eta, Mapping) else None
    if not isinstance(seconds, (int, float)) or seconds < 0:
        return USUAL_ETA
    return min(timedelta(seconds=seconds), LONGEST_ETA)


def due_at(
    pickup_at: datetime, product: Mapping[str, Any], margin: timedelta, now: datetime
) -> datetime:
    """When to order: the eta and the margin before the pickup, but never in the past."""
    return max(now, pickup_at - eta_of(product) - margin)


def wait_after(tries: int) -> timedelta:
    """How long after the n-th failed attempt (counted from 1) the next one is made."""
    first, most = RETRY_WAITS_S
    return timedelta(seconds=min(most, first * 2 ** min(tries - 1, 10)))
