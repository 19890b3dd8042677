"""Intervals of polls, freshness, and times that the service counts by its own clock. Pure.

See docs/booking-protocol.md 3.2.
"""

from datetime import datetime
from typing import Final

from ridedash import wire
from ridedash.service_time import ServiceTime

MIN_INTERVAL_S: Final = 0.5  # the shortest interval, even if the service's clock runs fast
SEARCHING_S: Final = 3.0  # matching, pending, retrying
ON_THE_WAY_S: Final = 4.0  # the cab is still more than three minutes away
NEAR_S: Final = 3.0  # the car is on its way, at most NEAR_ETA_S away
HERE_S: Final = 3.0  # the driver waits at the pickup; INVOICE of share and point-to-point
IN_RIDE_S: Final = 5.0  # no one waits at the door any more
AUTO_INVOICE_S: Final = 5.0  # an auto has arrived by then, only the bill is missing
FINAL_S: Final = 60.0  # one more poll after the end, for the final price
NEAR_ETA_S: Final = 180.0  # until the cab arrives
STALE_S: Final = 60.0  # older facts are stale
LOST_S: Final = 300.0  # older facts are lost


def next_poll_s(status: str | None, kind: wire.Kind, eta_s: float | None, speed: float) -> float:
    """Seconds until the next poll of a ride whose last known status is `status`; without jitter.

    `speed`: how many times faster than real time the service's clock runs, at least 1.
    """
    return max(MIN_INTERVAL_S, _interval_s(status, kind, eta_s) / speed)


def _interval_s(status: str | None, kind: wire.Kind, eta_s: float | None) -> float:
    if status in wire.TERMINAL:
        return FINAL_S
    if status == wire.CALL_DRIVER:
        return NEAR_S if eta_s is not None and eta_s <= NEAR_ETA_S else ON_THE_WAY_S
    if status == wire.IN_PROGRESS:
        return IN_RIDE_S
    if status == wire.INVOICE:
        return AUTO_INVOICE_S if kind is wire.Kind.AUTO else HERE_S
    if status == wire.CLIENT_LOCATED:
        return HERE_S
    return SEARCHING_S


def freshness(seen_at: datetime | None, now: datetime, interval_s: float) -> str:
    """How fresh the facts of a ride are: fresh, aging, stale or lost.

    fresh: at most two intervals old, or ten seconds; aging: older, and pages show the age; stale:
    over a minute old, or never seen; lost: over five minutes. `interval_s` is the wait that the
    worker last set.
    """
    if seen_at is None:
        return "stale"
    age = (now - seen_at).total_seconds()
    if age <= max(2 * interval_s, 10.0):
        return "fresh"
    if age > LOST_S:
        return "lost"
    if age > STALE_S:
        return "stale"
    return "aging"


def cancel_free_until(
    applies_after_s: float | None, allotted_at: datetime | None, time: ServiceTime
) -> datetime | None:
    """The instant until which cancelling is free; None when the policy or its start is unknown.

    Also None while the service's clock is stopped before that instant, because nobody knows when it
    will come. `applies_after_s` is the policy's `cancellation_charge_applies_after_time` in seconds
    of the service's clock. The interface does not say from when they count; we assume: from the
    allotment of the first driver (docs/assumptions.md).
    """
    if applies_after_s is None or allotted_at is None:
        return None
    return time.due(allotted_at, applies_after_s)


def search_ends(
    stored: datetime | None,
    answered_at: datetime | None,
    timeout_s: float | None,
    time: ServiceTime,
) -> datetime | None:
    """When the service stops looking for a driver; None if unknown, or while its clock is stopped.

    That is `timeout_s` after `answered_at`, by the service's clock. `stored` is the same instant in
    orders of an earlier release, which stored it converted to our clock.
    """
    if stored is not None or answered_at is None or timeout_s is None:
        return stored
    return time.due(answered_at, timeout_s)
