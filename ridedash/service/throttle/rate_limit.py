"""A token bucket for calls, which can be paused, and a budget for retries.

The caller passes the time, in seconds of a monotonic clock.
"""

import math
from collections import deque
from typing import Final

BURST_SHARE: Final = 0.45  # share of a second's calls that may start at once after idle time
MIN_BURST: Final = 4.0  # calls; at a rate below 9 this is more than that share
WINDOW_S: Final = 1.0  # the rate of a partner key is counted by the second
# tolerance for rounding: after a wait of exactly `wait_s` there must be a token
EPSILON: Final = 1e-9

RETRY_SHARE: Final = 0.1  # of the calls: repetitions must not multiply an outage
RETRIES_AT_START: Final = 2.0  # so that the first calls may be repeated too
RETRIES_STORED: Final = 10.0  # a long calm must not save up a storm of repetitions


class TokenBucket:
    """At most `rate` calls in any second, and after idle time at most `burst` of them at once.

    Not thread-safe. With tokens alone, a burst and the refill of a second could be used within one
    second; therefore the starts of the last second are counted too.
    """

    def __init__(self, rate: float, now: float) -> None:
        if not rate >= 1:
            raise ValueError("a rate is at least one call a second")
        self.rate = rate
        self.burst = min(max(MIN_BURST, rate * BURST_SHARE), rate)
        self._tokens = self.burst
        self._at = now
        self._throttled_until = -math.inf
        self._starts: deque[float] = deque()

    def left(self, now: float) -> float:
        """How many calls may start now; 0 while the bucket is throttled."""
        is_throttled = now < self._throttled_until
        if math.isinf(self.rate):
            return 0.0 if is_throttled else math.inf
        self._refill(now)
        if is_throttled:
            return 0.0
        return min(self._tokens, int(self.rate) - len(self._starts))

    def take(self, now: float) -> None:
        """Start one call."""
        if not math.isinf(self.rate):
            self._refill(now)
            self._tokens -= 1
            self._starts.append(now)

    def wait_s(self, needed: float, now: float) -> float:
        """Seconds until `left` is `needed`; 0 if it already is."""
        throttled_s = max(0.0, self._throttled_until - now)
        if math.isinf(self.rate) or self.left(now) >= needed - EPSILON:
            return throttled_s
        for_tokens = throttled_s + max(0.0, needed - self._tokens) / self.rate
        surplus = math.ceil(len(self._starts) + needed - int(self.rate) - EPSILON)
        for_window = 0.0
        if 0 < surplus <= len(self._starts):
            for_window = self._starts[surplus - 1] + WINDOW_S - now
        return max(for_tokens, for_window, EPSILON)

    def hold(self, until: float) -> None:
        """Let nothing start until this time.

        At that time the bucket is empty, so that calls of high priority get the first tokens.
        """
        if until > self._throttled_until:
            self._throttled_until = until
            self.drain(until)

    def drain(self, now: float) -> None:
        """Empty the bucket, so that no saved tokens remain."""
        self._tokens = 0.0
        self._at = max(self._at, now)

    def throttled_s(self, now: float) -> float:
        """Seconds for which nothing may start."""
        return max(0.0, self._throttled_until - now)

    def _refill(self, now: float) -> None:
        if now > self._at:
            self._tokens = min(self.burst, self._tokens + (now - self._at) * self.rate)
            self._at = now
        while self._starts and now - self._starts[0] >= WINDOW_S - EPSILON:
            self._starts.popleft()


class RetryBudget:
    """A budget for retries: two at the start, then at most a tenth of the calls.

    Not thread-safe.
    """

    def __init__(self) -> None:
        self._left = RETRIES_AT_START

    def called(self) -> None:
        """Count a call."""
        self._left = min(RETRIES_STORED, self._left + RETRY_SHARE)

    def take(self) -> bool:
        """Spend a retry. False when none is left."""
        if self._left < 1 - EPSILON:
            return False
        self._left -= 1
        return True
