"""A circuit breaker for a service that gives no answers; `Silence` records since when.

The caller passes the time, in seconds of a monotonic clock.
"""

import math
from collections import deque
from collections.abc import Callable
from typing import Final

FAILURES_IN_A_ROW: Final = 5  # fewer happen by chance on a bad line
# the breaker also opens if this share of at least ENOUGH_CALLS calls in the window failed
FAILED_SHARE: Final = 0.5
ENOUGH_CALLS: Final = 20  # a share of fewer says little
WINDOW_S: Final = 30.0  # what was longer ago says nothing of now

PROBE_AFTER_S: Final = 5.0  # a restart of the service takes some seconds
# half a minute after the service is back at the latest, orders are sent again
PROBE_MAX_S: Final = 30.0
# later waits are shortened by up to a fifth, so as not to keep in step with a flapping service
PROBE_JITTER: Final = 0.2
# after this time without an answer another probe may start: the call that books a ride may take a
# minute, which is too long to wait for
PROBE_LASTS_S: Final = 10.0
# least time between two closings: a flapping service toggles the breaker 12 times a minute at most
CALM_S: Final = 11.0

SILENT_FAILURES: Final = 2  # consecutive failures
SILENT_LASTS_S: Final = 120.0  # without a failure for this long, the state is unknown


class Breaker:
    """Opens after 5 failures in a row, or when half of at least 20 calls in 30 s have failed.

    A probe that is answered closes it. Not thread-safe. `chance` gives a random number of at least
    0 and less than 1. An epoch is the time between two toggles: results of calls from an earlier
    epoch are ignored.
    """

    def __init__(self, chance: Callable[[], float]) -> None:
        self._chance = chance
        self._results: deque[tuple[float, bool]] = deque()
        self._failures = 0
        self._failures_in_a_row = 0
        self._failed_probes = 0
        self._probe_at = -math.inf
        self._closed_at = -math.inf
        self._probing_until = -math.inf
        self.epoch = 0
        self.opened_at: float | None = None

    def wait_s(self, now: float) -> float:
        """Seconds until a call may start; 0 when closed, or when a probe is due and none runs."""
        if self.opened_at is None:
            return 0.0
        return max(0.0, self._probe_at - now, self._probing_until - now)

    def begin(self, now: float) -> int:
        """Start a call (the probe, when the breaker is open); returns the epoch of its result."""
        if self.opened_at is not None:
            self._probing_until = now + PROBE_LASTS_S
        return self.epoch

    def succeeded(self, epoch: int, now: float) -> None:
        """Record that the service answered."""
        if epoch != self.epoch:
            return
        if self.opened_at is not None:
            self._toggle(None)
            self._closed_at = now
            return
        self._failures_in_a_row = 0
        self._count(True, now)

    def failed(self, epoch: int, now: float) -> None:
        """Record that the service did not answer."""
        if epoch != self.epoch:
            return
        if self.opened_at is not None:
            self._probe_failed(now)
            return
        self._failures_in_a_row += 1
        self._count(False, now)
        calls = len(self._results)
        too_many = calls >= ENOUGH_CALLS and self._failures >= FAILED_SHARE * calls
        if self._failures_in_a_row >= FAILURES_IN_A_ROW or too_many:
            self._toggle(now)
            self._probe_at = max(now + PROBE_AFTER_S, self._closed_at + CALM_S)

    def void(self, epoch: int) -> None:
        """Record a failure on our side, which proves nothing; the next call may be the probe."""
        if epoch == self.epoch:
            self._probing_until = -math.inf

    def _probe_failed(self, now: float) -> None:
        self._failed_probes += 1
        self._probing_until = -math.inf
        wait = min(PROBE_MAX_S, PROBE_AFTER_S * 2.0 ** min(self._failed_probes, 10))
        self._probe_at = now + wait * (1 - PROBE_JITTER * self._chance())

    def _toggle(self, opened_at: float | None) -> None:
        self.epoch += 1
        self.opened_at = opened_at
        self._results.clear()
        self._failures = 0
        self._failures_in_a_row = 0
        self._failed_probes = 0
        self._probing_until = -math.inf

    def _count(self, good: bool, now: float) -> None:
        self._results.append((now, good))
        self._failures += not good
        while now - self._results[0][0] > WINDOW_S:
            self._failures -= not self._results.popleft()[1]


class Silence:
    """Records since when calls fail: the first failure of the present run.

    Not thread-safe. After `lasts_s` without a failure the state is unknown.
    """

    def __init__(self, lasts_s: float = SILENT_LASTS_S) -> None:
        self._lasts_s = lasts_s
        self._since = self._last = -math.inf
        self._in_a_row = 0

    def failed(self, now: float) -> None:
        """Record a call that failed."""
        if self._in_a_row == 0 or not self.is_known(now):
            self._since = now
            self._in_a_row = 0
        self._last = now
        self._in_a_row += 1

    def answered(self) -> None:
        """Record a call that did not fail: the run is over."""
        self._in_a_row = 0

    def is_known(self, now: float) -> bool:
        """Whether the last failure is recent enough to be meaningful."""
        return now - self._last <= self._lasts_s

    def quiet_s(self, now: float) -> float:
        """Seconds since the last failure."""
        return now - self._last

    def since(self, now: float) -> float | None:
        """The first failure of a run of two or more; None after an answer.

        Also None when the last failure is too long ago (`is_known`).
        """
        if self._in_a_row < SILENT_FAILURES or not self.is_known(now):
            return None
        return self._since
