"""One clock for many machines: the database's. All leases and due times follow it (booking-protocol.md 3)."""

import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

Clock = Callable[[], datetime]
Monotonic = Callable[[], float]
Reading = tuple[datetime, float]  # the database's time, and the monotonic one just then

EVERY_S: Final = 60.0  # the database is asked this often at most
AGAIN_S: Final = 5.0  # after it gave no answer


class DatabaseClock:
    """The database's time: asked now and then, carried on by the monotonic clock between; safe to share.

    Until the database has answered once, the machine's own clock stands in for it.
    """

    def __init__(
        self,
        ask: Callable[[Monotonic], Reading | None],
        wall: Clock,
        monotonic: Monotonic = time.monotonic,
    ) -> None:
        self._ask, self._wall, self._monotonic = ask, wall, monotonic
        self._asking = threading.Lock()
        self._known: Reading | None = None
        self._next = float("-inf")

    def __call__(self) -> datetime:
        if self._monotonic() >= self._next and self._asking.acquire(blocking=self._known is None):
            try:
                self._measure()
            finally:
                self._asking.release()
        known = self._known
        if known is None:
            return self._wall()
        return known[0] + timedelta(seconds=self._monotonic() - known[1])

    def _measure(self) -> None:
        if self._monotonic() < self._next:  # somebody else has just asked
            return
        told = self._ask(self._monotonic)
        self._next = self._monotonic() + (AGAIN_S if told is None else EVERY_S)
        self._known = told or self._known
