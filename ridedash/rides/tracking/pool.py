"""Polls of one worker: threads make the calls, and each round records answers and claims rides.

See docs/booking-protocol.md 3.1.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from ridedash.observability.exceptions import reason
from ridedash.rides.tracking.claims import LEASE, Claim, release
from ridedash.rides.tracking.poll import Tracker
from ridedash.rides.tracking.record import Polled
from ridedash.service.throttle.traffic import Priority
from ridedash.store.database.database import DatabaseBusy

# besides two claims per thread, this many seconds of the threads' work may be claimed ahead
AHEAD_S: Final = 0.25
MOST_AHEAD: Final = 400  # two batches of records; more would lie until their leases end
# when this many answers have come, they are recorded without waiting for the next round
BATCH: Final = 200
# seconds between rounds while there are polls: one commit costs as much as twenty polls
ROUND_S: Final = 0.1
# a ride claimed longer ago is not polled: the call may take five seconds of its lease
LATEST_S: Final = LEASE.total_seconds() - 6

log = logging.getLogger(__name__)


class Polling:
    """Keeps as many polls going as threads, due rides and the service's capacity allow."""

    def __init__(
        self,
        tracker: Tracker,
        threads: int,
        wake: Callable[[], None],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.tracker = tracker
        self.threads = threads
        self._wake = wake
        self._monotonic = monotonic
        self._capacity = tracker.runtime.client.traffic.capacity
        self._waiting: SimpleQueue[tuple[Claim, float] | None] = SimpleQueue()
        self._done: deque[Polled] = deque()
        self._lock = threading.Lock()
        self._out = 0  # claims that the threads have not finished yet
        self._finished = 0  # polls finished since the last round
        self._per_second = 0.0  # polls that the threads finish per second
        self._last = self._monotonic()
        self._more_due = False  # whether the last claim was full: more rides may be due
        self._threads = [
            threading.Thread(target=self._work, name=f"poll-{n}", daemon=True)
            for n in range(threads)
        ]

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def round(self) -> float | None:
        """Record the answers that came, and claim due rides.

        Returns the seconds until the next round; None when no poll is under way.
        """
        self._record()
        self._claim()
        if not self._out:
            return None
        return ROUND_S

    def stop(self) -> None:
        """Wait for running calls, record their answers, and give back the other claims."""
        left = self._left()
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join()
        try:
            self._record()
            release(self.tracker.runtime.db, left)
        except (SQLAlchemyError, DatabaseBusy, OSError) as error:  # the leases then expire
            log.error("polls were not recorded at the stop: %s", reason(error))

    def _left(self) -> list[Claim]:
        found: list[Claim] = []
        with suppress(Empty):
            while (entry := self._waiting.get_nowait()) is not None:
                found.append(entry[0])
        return found

    def _record(self) -> None:
        while self._done:
            batch = [self._done.popleft() for _ in range(min(len(self._done), MOST_AHEAD))]
            self.tracker.record(batch)

    def _claim(self) -> None:
        ahead = self._ahead() - self._out
        queued = self._waiting.qsize()
        most = min(ahead, self._capacity(Priority.WAITING) - queued)
        rest = min(ahead, self._capacity(Priority.REST) - queued)
        self._more_due = False
        if most < 1:
            return
        claims = self.tracker.claim(most, max(0, rest))
        with self._lock:
            self._out += len(claims)
        self._more_due = len(claims) == ahead
        now = self._monotonic()
        for claim in claims:
            self._waiting.put((claim, now))

    def _ahead(self) -> int:
        """How many claims may be open: two per thread, and as many as finish in AHEAD_S."""
        now = self._monotonic()
        with self._lock:
            finished = self._finished
            self._finished = 0
        passed = max(0.001, now - self._last)
        self._last = now
        self._per_second += min(1.0, passed / 0.5) * (finished / passed - self._per_second)
        return min(MOST_AHEAD, 2 * self.threads + int(self._per_second * AHEAD_S))

    def _work(self) -> None:
        while (entry := self._waiting.get()) is not None:
            claim, claimed_at = entry
            try:
                if self._monotonic() - claimed_at < LATEST_S:
                    self._done.append(self.tracker.ask(claim))
            except (SQLAlchemyError, DatabaseBusy, OSError) as error:
                log.error("poll of ride %d failed: %s", claim.ride_id, reason(error))
            except Exception as error:  # a bug of ours must cost one poll, not the thread
                log.exception("poll of ride %d failed: %s", claim.ride_id, type(error).__name__)
            finally:
                self._finish()

    def _finish(self) -> None:
        with self._lock:
            self._out -= 1
            self._finished += 1
        if (self._more_due and self._out <= self.threads) or len(self._done) >= BATCH:
            self._wake()
