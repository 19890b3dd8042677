"""A clock faster than wall time that all processes of a run share."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

START: Final = datetime(2026, 3, 1, 14, 0, tzinfo=UTC)


@dataclass(frozen=True)
class FastClock:
    """A clock on which `speed` seconds pass in one second.

    It uses the kernel's monotonic clock, which is the same in every process of a machine.
    """

    origin: float
    speed: float

    def __call__(self) -> datetime:
        """The current time."""
        return self.at(time.monotonic())

    def at(self, monotonic: float) -> datetime:
        """The time of this clock at a time of the monotonic clock."""
        return START + timedelta(seconds=(monotonic - self.origin) * self.speed)


def fast(speed: float) -> FastClock:
    """A clock that begins now."""
    return FastClock(time.monotonic(), speed)
