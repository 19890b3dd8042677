"""When to stop asking a service that gives no answers, and since when it gives none. Pure, of a
monotonic clock.
"""

import math
from collections import deque
from collections.abc import Callable
from typing import Final

RUN: Final = 5  # failures in a row
SHARE: Final = 0.5  # or this share of the calls of the window, when there were enough
ENOUGH: Final = 20
WINDOW_S: Final = 30.0

PROBE_AFTER_S: Final = 5.0
PROBE_MAX_S: Final = 30.0
# the waits after the first are up to a fifth shorter: no step with a service that flaps
PROBE_JITTER: Final = 0.2
# a probe without an answer for so long lets another go; a create may wait a minute
PROBE_LASTS_S: Final = 10.0
# between two closings: a service that flaps toggles it at most 12 times a minute
CALM_S: Final = 11.0

SILENT_AFTER: Final = 2  # failures in a row
SILENT_LASTS_S: Final = 120.0  # nothing asked for so long: nobody knows


class Breaker:
    """Opens after 5 failures in a row, or when half of 20 and more calls of 30 s failed; closed by
    one good probe.

    Not thread-safe. An epoch is the time between two toggles: what a call of an earlier one found
    is no news.
    """

    def __init__(self, chance: Callable[[], float]) -> None:
        self._chance = chance
        self._results: deque[tuple[float, bool]] = deque()
        self._failures = self._run = self._probes = 0
        self._probe_at = self._closed_at = self._probing_until = -math.inf
        self.epoch = 0
        self.opened_at: float | None = None

    def wait_s(self, now: float) -> float:
        """Seconds until a call may start; 0 when closed, or when a probe is due and none is under
        way.
        """
        if self.opened_at is None:
            return 0.0
        return max(0.0, self._probe_at - now, self._probing_until - now)

    def begin(self, now: float) -> int:
        """Start a call, which is the probe when the breaker is open. The epoch, for `succeeded` and
        `failed`.
        """
        if self.opened_at is not None:
            self._probing_until = now + PROBE_LASTS_S
        return self.epoch

    def succeeded(self, epoch: int, now: float) -> None:
        """The service answered."""
        if epoch != self.epoch:
            return
        if self.opened_at is not None:
            self._toggle(None)
            self._closed_at = now
            return
        self._run = 0
        self._count(True, now)

    def failed(self, epoch: int, now: float) -> None:
        """It did not."""
        if epoch != self.epoch:
            return
        if self.opened_at is not None:
            self._probe_failed(now)
            return
        self._run += 1
        self._count(False, now)
        if self._run >= RUN or (
            len(self._results) >= ENOUGH and self._failures >= SHARE * len(self._results)
        ):
            self._toggle(now)
            self._probe_at = max(now + PROBE_AFTER_S, self._closed_at + CALM_S)

    def void(self, epoch: int) -> None:
        """The call came to nothing on our side: it says nothing, and another may probe."""
        if epoch == self.epoch:
            self._probing_until = -math.inf

    def _probe_failed(self, now: float) -> None:
        self._probes += 1
        self._probing_until = -math.inf
        wait = min(PROBE_MAX_S, PROBE_AFTER_S * 2.0 ** min(self._probes, 10))
        self._probe_at = now + wait * (1 - PROBE_JITTER * self._chance())

    def _toggle(self, opened_at: float | None) -> None:
        self.epoch += 1
        self.opened_at = opened_at
        self._results.clear()
        self._failures = self._run = self._probes = 0
        self._probing_until = -math.inf

    def _count(self, good: bool, now: float) -> None:
        self._results.append((now, good))
        self._failures += not good
        while now - self._results[0][0] > WINDOW_S:
            self._failures -= not self._results.popleft()[1]


class Silence:
    """Since when the service gives no answers: the first failure of the present run.

    Not thread-safe.
    """

    def __init__(self) -> None:
        self._since = self._last = 0.0
        self._run = 0

    def failed(self, now: float) -> None:
        """No answer came."""
        self._since = now if self._run == 0 else self._since
        self._last = now
        self._run += 1

    def answered(self) -> None:
        """One came."""
        self._run = 0

    def since(self, now: float) -> float | None:
        """The moment, after two failures in a row; None while it answers, or when nothing was asked
        for long.
        """
        return (
            self._since
            if self._run >= SILENT_AFTER and now - self._last <= SILENT_LASTS_S
            else None
        )
