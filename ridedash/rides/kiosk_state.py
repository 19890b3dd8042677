"""Whether a kiosk may take orders now: its hours, and what is wrong in the house.

A guest hears it before the first question, not after six screens.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final
from zoneinfo import ZoneInfo

from sqlalchemy.orm import Session

from ridedash.rides.health import can_send, key_refused_since, service_silent_since
from ridedash.store.models.kiosks import Kiosk

GRACE: Final = timedelta(minutes=5)  # who stood there at closing time may finish
DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class Trouble(StrEnum):
    """Why no kiosk can book now."""

    NONE = ""
    SERVICE = "service"  # the ride service gives no answers, or refuses the key
    WORKER = "worker"  # nothing would be sent
    DATABASE = "database"  # it takes no writes: this one is found by trying


def trouble(s: Session, now: datetime) -> Trouble:
    """What keeps every kiosk from booking now."""
    if service_silent_since(s, now) is not None or key_refused_since(s, now) is not None:
        return Trouble.SERVICE
    return Trouble.NONE if can_send(s, now) else Trouble.WORKER


def is_open(kiosk: Kiosk, local: datetime) -> bool:
    """Whether a kiosk is open at this time of its property.

    A span that ends before it begins goes past midnight, and belongs to the day of its beginning.
    """
    return not kiosk.hours or _within(kiosk.hours, local)


def takes_orders(kiosk: Kiosk, now: datetime, tz: ZoneInfo) -> bool:
    """Whether a kiosk takes an order now by its hours, whatever its page shows.

    Five minutes longer than it is open, for the guest who stood there at closing time.
    """
    return any(is_open(kiosk, at.astimezone(tz)) for at in (now, now - GRACE))


def _within(hours: dict[str, Any], local: datetime) -> bool:
    """Times are compared as text: "06:00" to "23:00" are of one length.

    >>> [_within({"mon": [["06:00", "23:00"]]}, datetime(2026, 11, 23, h)) for h in (5, 6, 23)]
    [False, True, False]
    """
    at, today = f"{local:%H:%M}", local.weekday()
    for opens, closes in hours.get(DAYS[today], ()):
        if opens <= at and (at < closes or closes <= opens):
            return True
    late = hours.get(DAYS[today - 1], ())
    return any(closes <= opens and at < closes for opens, closes in late)
