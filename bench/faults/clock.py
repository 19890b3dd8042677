"""A clock that all processes of a run share, and that runs faster than the wall's."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

START: Final = datetime(2026, 3, 1, 14, 0, tzinfo=UTC)


@dataclass(frozen=True)
class FastClock:
    """`speed` seconds pass in one. The kernel's monotonic clock is the same in every process of a
    machine.
    """

    origin: float
    speed: float

    def __call__(self) -> datetime:
        """The instant."""
        return self.at(time.monotonic())

    def at(self, monotonic: float) -> datetime:
        """What this clock showed when the monotonic one showed that."""
        return START + timedelta(seconds=(monotonic - self.origin) * self.speed)


def fast(speed: float) -> FastClock:
    """A clock that begins now."""
    return FastClock(time.monotonic(), speed)
