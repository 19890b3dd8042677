"""The times of a planned ride: the instant of a local time, and when the ride has to be ordered.

Pure. See docs/booking-protocol.md 1.3 and docs/architecture.md 7.

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

SOONEST: Final = timedelta(minutes=15)
LATEST: Final = timedelta(days=30)
MOST_RIDES: Final = 60  # in one series
SERIES_LATEST: Final = timedelta(days=90)  # ahead, for a ride of a series
KEY_LENGTH: Final = 16
MARGIN: Final = timedelta(minutes=10)  # added to the eta: RIDEDASH_SCHEDULE_LEAD_MINUTES by default
USUAL_ETA: Final = timedelta(minutes=10)  # where the service states none
LONGEST_ETA: Final = timedelta(minutes=60)  # a longer eta counts as this one
WINDOW: Final = timedelta(minutes=10)  # after the pickup time; then no attempt is made any more
RETRY_WAITS_S: Final = (5.0, 60.0)  # the first wait between attempts, doubled up to the last


class NoSuchTime(ValueError):
    """A local time that a clock change leaves out; `after` is the first time that exists again."""

    def __init__(self, after: time) -> None:
        super().__init__("this local time does not exist")
        self.after = after


@dataclass(frozen=True)
class LocalTime:
    """The instant of a local day and time.

    `twice`: clocks show this time twice on that day, and `at` is the first of the two instants.
    """

    at: datetime
    twice: bool = False


def local_time(day: date, clock: time, tz: ZoneInfo) -> LocalTime:
    """The instant at which clocks in a zone show this time.

    Raises NoSuchTime; OverflowError outside the calendar.
    """
    shown = datetime.combine(day, clock.replace(second=0, microsecond=0, tzinfo=None), tz)
    at = shown.astimezone(UTC)
    back = at.astimezone(tz)
    if back.replace(tzinfo=None) != shown.replace(tzinfo=None):
        raise NoSuchTime(_after_gap(shown))
    twice = shown.utcoffset() != shown.replace(fold=1).utcoffset()
    return LocalTime(at, twice)


@dataclass(frozen=True)
class SeriesRide:
    """One ride of a series: its day in the property's zone and its instant.

    `moved`: clocks leave its time out on that day, so it is the first one after the gap. `twice`:
    they show it twice, and this is the first of both.
    """

    day: date
    at: datetime
    moved: bool = False
    twice: bool = False


def series_rides(
    days: tuple[date, date], weekdays: Collection[int], clock: time, tz: ZoneInfo
) -> list[SeriesRide]:
    """A ride at one local time on each of these weekdays (Monday is 0), from day to day.

    Stops at MOST_RIDES + 1, by which a caller knows that there are too many.
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
    pickup_at: datetime, first_at: datetime, departs_at: datetime, tz: ZoneInfo
) -> datetime:
    """When the flight of a ride of a series departs, whose pickup is at `pickup_at`.

    `departs_at` is the departure of the ride at `first_at`. The other departs at the same local
    time, as many days after its own pickup. Where `departs_at` is no later than `first_at`, only
    its time of day counts: the next such time after the pickup.
    """
    first = first_at.astimezone(tz)
    departs = departs_at.astimezone(tz)
    days = (departs.date() - first.date()).days
    if departs <= first:
        days = 1 if departs.time() <= first.time() else 0
    day = pickup_at.astimezone(tz).date() + timedelta(days=days)
    return ride_on(day, departs.time(), tz).at


def dates_key(rides: Collection[SeriesRide]) -> str:
    """A text that stands for these pickups, for a form to say which ones it has shown."""
    instants = ",".join(ride.at.isoformat() for ride in rides)
    return hashlib.sha256(instants.encode()).hexdigest()[:KEY_LENGTH]


def _after_gap(shown: datetime) -> time:
    """The first minute after the gap that contains `shown`."""
    before, after = (shown.replace(fold=fold).utcoffset() or timedelta(0) for fold in (0, 1))
    gap = after - before
    minutes = range(int(gap.total_seconds()) // 60 + 1)
    later = (shown + timedelta(minutes=n) for n in minutes)  # in local time, so some don't exist
    return next((each for each in later if _exists(each)), shown).time()


def _exists(local: datetime) -> bool:
    """Whether clocks show this local time: by way of UTC it comes back as it was."""
    return local.astimezone(UTC).astimezone(local.tzinfo).time() == local.time()


def eta_of(product: Mapping[str, Any]) -> timedelta:
    """How long a cab of an offered product takes to come: as the service stated, else as usual."""
    eta = product.get("eta")
    seconds = eta.get("seconds") if isinstance(eta, Mapping) else None
    if not isinstance(seconds, (int, float)) or seconds < 0:
        return USUAL_ETA
    return min(timedelta(seconds=seconds), LONGEST_ETA)


def due_at(
    pickup_at: datetime, product: Mapping[str, Any], margin: timedelta, now: datetime
) -> datetime:
    """When to order: the eta and the margin before the pickup, never in the past."""
    return max(now, pickup_at - eta_of(product) - margin)


def wait_after(tries: int) -> timedelta:
    """How long after the n-th failed attempt (from 1) the next one is made."""
    first, most = RETRY_WAITS_S
    return timedelta(seconds=min(most, first * 2 ** min(tries - 1, 10)))
