"""Whether a kiosk may take orders now: its opening hours, and problems of the system.

It is checked before the first question, so that no guest is refused after six screens.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final
from zoneinfo import ZoneInfo

from sqlalchemy.orm import Session

from ridedash.rides.health import alarms, can_send
from ridedash.store.models.kiosks import Kiosk

GRACE: Final = timedelta(minutes=5)  # a guest who stood there at closing time may finish
DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class Problem(StrEnum):
    """Why no kiosk can book now."""

    NONE = ""
    SERVICE = "service"  # the ride service gives no answers, or refuses the key
    WORKER = "worker"  # no worker that can send is alive
    DATABASE = "database"  # the database takes no writes; found only by trying


def current_problem(s: Session, now: datetime) -> Problem:
    """The problem that keeps all kiosks from booking now; Problem.NONE without one."""
    wrong = alarms(s, now)
    if wrong.silent_since is not None or wrong.key_refused_since is not None:
        return Problem.SERVICE
    if not can_send(s, now):
        return Problem.WORKER
    return Problem.NONE


def is_open(kiosk: Kiosk, local: datetime) -> bool:
    """Whether a kiosk is open at this time of its property.

    A span whose end is not later than its start ends on the next day, and belongs to the day of its
    start.
    """
    return not kiosk.hours or _within(kiosk.hours, local)


def takes_orders(kiosk: Kiosk, now: datetime, tz: ZoneInfo) -> bool:
    """Whether a kiosk accepts an order now by its opening hours, whatever its page shows.

    That is five minutes longer than it is open, for a guest who stood there at closing time.
    """
    return any(is_open(kiosk, at.astimezone(tz)) for at in (now, now - GRACE))


def _within(hours: dict[str, Any], local: datetime) -> bool:
    """Whether a local time is within these hours.

    Times are compared as text, which works because all have the form "06:00".

    >>> [_within({"mon": [["06:00", "23:00"]]}, datetime(2026, 11, 23, h)) for h in (5, 6, 23)]
    [False, True, False]
    """
    at = f"{local:%H:%M}"
    today = local.weekday()
    for opens, closes in hours.get(DAYS[today], ()):
        if opens <= at and (at < closes or closes <= opens):
            return True
    late = hours.get(DAYS[today - 1], ())
    return any(closes <= opens and at < closes for opens, closes in late)
