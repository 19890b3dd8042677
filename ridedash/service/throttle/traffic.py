"""Permits for calls with one partner key: circuit breaker, rate limit and retry budget."""

import logging
import math
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from typing import Final

from ridedash.service.errors import Throttled
from ridedash.service.hooks import Hooks, NoHooks
from ridedash.service.throttle.breaker import Breaker, Silence
from ridedash.service.throttle.rate_limit import RetryBudget, TokenBucket

DEFAULT_RATE: Final = 45.0  # calls a second
UNLIMITED: Final = 10_000  # the return value of `capacity` without a rate limit
PAUSE_MIN_S: Final = 0.001  # a shorter wait may end before the clock's value has changed
# the longest wait after 429 answers without Retry-After: it starts at 1 s and doubles
LIMITED_MAX_S: Final = 30.0

_CALLS: Final = {True: "write", False: "read"}  # Permit.write in words
log = logging.getLogger(__name__)


class Priority(IntEnum):
    """Who needs the call; a lower number is served first."""

    WRITE = 0  # a person has pressed a button
    PAGE = 1  # a page is waiting for it
    WAITING = 2  # the poll of a ride whose guest is waiting
    REST = 3


# The share of a full bucket that calls of a priority leave to calls of higher priorities.
RESERVE: Final = {
    Priority.WRITE: 0.0,
    Priority.PAGE: 0.25,
    Priority.WAITING: 0.375,
    Priority.REST: 0.5,
}
# polls for waiting guests between two other polls, when there is too little capacity for all
WAITING_IN_A_ROW: Final = 3


class Result(Enum):
    """How a call ended, in the categories of the throttle."""

    ANSWERED = "answered"  # any answer counts: refusals and 4xx too
    FAILED = "failed"  # no answer, a 5xx, or a body that the service did not write
    LIMITED = "limited"  # a 429
    KEY_REFUSED = "key_refused"  # an answer that refuses the partner's key, and so every user
    VOID = "void"  # no call was made, for a reason on our side


@dataclass(frozen=True)
class Permit:
    """The right to make one call. `epoch` is the breaker's epoch when the call began."""

    priority: Priority
    started: float
    epoch: int
    waited_s: float = 0.0

    @property
    def write(self) -> bool:
        """Whether the call counts for the breaker of writes."""
        return self.priority is Priority.WRITE


class Traffic:
    """Decides which calls may start, for one host and one partner key.

    Safe to share between threads; times are monotonic seconds.
    """

    def __init__(
        self,
        rate: float = DEFAULT_RATE,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
        hooks: Hooks | None = None,
    ) -> None:
        self.hooks = hooks or NoHooks()
        self._now = monotonic
        self._pause = pause
        self._lock = threading.Lock()
        self._rate, self._chance = rate, chance
        self._begin()
        self._queue = dict.fromkeys(Priority, 0)  # calls that wait for a token
        self._waiting_in_a_row = 0  # polls for waiting guests since the last other poll

    def _begin(self) -> None:
        self._bucket = TokenBucket(self._rate, self._now())
        # the breaker of writes, and the one of reads
        self._breakers = {True: Breaker(self._chance), False: Breaker(self._chance)}
        self._budget = RetryBudget()
        self._silence = Silence()
        # refusals of the partner's key; a refusal counts until a call proves the contrary
        self._refusals = Silence(math.inf)
        self._limited_in_a_row = 0  # consecutive 429 answers without Retry-After
        self._limited_at = -math.inf

    def forget(self) -> None:
        """Begin anew, as after a start: a demo's reset may have replaced the service."""
        with self._lock:
            was_open = [
                write for write, breaker in self._breakers.items() if breaker.opened_at is not None
            ]
            self._begin()
        for write in was_open:
            self._report(_CALLS[write], is_open=False)

    def enter(self, priority: Priority, patience_s: float = 0.0) -> Permit:
        """The right to make a call, after a wait of at most `patience_s`. Raises errors.Throttled.

        Every permit must be passed to `settle`.
        """
        first = self._try(priority)
        if isinstance(first, Permit):
            return first
        return self._wait_for_permit(priority, first, self._now() + patience_s)

    def settle(self, permit: Permit, result: Result, retry_after_s: float | None = None) -> None:
        """Record how a call ended. `retry_after_s` is the Retry-After header of a 429."""
        with self._lock:
            now, breaker = self._now(), self._breakers[permit.write]
            was_open = breaker.opened_at is not None
            if result is Result.VOID:
                breaker.void(permit.epoch)
            elif result is Result.FAILED:
                breaker.failed(permit.epoch, now)
                self._silence.failed(now)
            else:
                self._answered(permit, breaker, now, result)
                self._note_limit(permit, result, retry_after_s, now)
            is_open = breaker.opened_at is not None
        if is_open is not was_open:
            self._report(_CALLS[permit.write], is_open)

    def capacity(self, priority: Priority = Priority.REST) -> int:
        """How many polls may start now.

        While the breaker of reads is open it is 0, or 1 when a probe is due.
        """
        with self._lock:
            now, breaker = self._now(), self._breakers[False]
            if breaker.wait_s(now) > 0 or self._queued_before(priority):
                return 0
            left = self._bucket.left(now) - self._reserve(priority)
            capacity = UNLIMITED if math.isinf(left) else max(0, math.floor(left + 1e-9))
            if breaker.opened_at is not None:
                return min(capacity, 1)
            return capacity

    def wait_s(self, priority: Priority) -> float:
        """Seconds until a call of this priority may start; 0 means now."""
        with self._lock:
            return self._wait(priority, self._now())[0]

    def throttled_s(self) -> float:
        """Seconds for which a 429 stops every call."""
        with self._lock:
            return self._bucket.throttled_s(self._now())

    def may_repeat(self) -> bool:
        """Spend one retry of the budget: at most a tenth of the calls are retries."""
        with self._lock:
            return self._budget.take()

    @property
    def silent_since(self) -> float | None:
        """When the service stopped answering: the first failure of a run of two or more.

        Without such a run it is when the breaker of reads opened. None while the service answers,
        and from two minutes after the last failure on: otherwise a caller that waits for the end of
        the silence would never call again.
        """
        with self._lock:
            return self._silent_since(self._now())

    def silent_s(self) -> float | None:
        """For how long the service has given no answer; None while it answers."""
        since = self.silent_since
        return None if since is None else max(0.0, self._now() - since)

    def unasked_s(self) -> float:
        """Seconds since the last call to a silent service failed; 0 while it answers."""
        with self._lock:
            now = self._now()
            if self._silent_since(now) is None:
                return 0.0
            return self._silence.quiet_s(now)

    def key_refused_s(self) -> float | None:
        """For how long the service has refused the partner's key; None while it accepts it."""
        with self._lock:
            now = self._now()
            since = self._refusals.since(now)
            return None if since is None else max(0.0, now - since)

    def is_open(self, *, write: bool) -> bool:
        """Whether a breaker is open."""
        with self._lock:
            return self._breakers[write].opened_at is not None

    def _silent_since(self, now: float) -> float | None:
        since = self._silence.since(now)
        if since is None and self._silence.is_known(now):
            return self._breakers[False].opened_at
        return since

    def _report(self, calls: str, is_open: bool) -> None:
        self.hooks.breaker(calls, "open" if is_open else "closed")
        if is_open:
            log.warning("the breaker of %s calls is open: the service gives no answers", calls)
        else:
            log.info("the breaker of %s calls is closed: the service answers again", calls)

    def _wait_for_permit(self, priority: Priority, throttled: Throttled, end: float) -> Permit:
        """Wait in the queue, before later calls of this priority and calls of lower priorities."""
        came = self._now()
        with self._queued(priority):
            while throttled.why == Throttled.LIMITED and self._now() + throttled.wait_s <= end:
                self._pause(max(throttled.wait_s, PAUSE_MIN_S))
                got = self._try(priority, queued=True)
                if isinstance(got, Permit):
                    return replace(got, waited_s=got.started - came)
                throttled = got
        raise throttled

    def _try(self, priority: Priority, *, queued: bool = False) -> Permit | Throttled:
        with self._lock:
            now = self._now()
            wait, why = self._wait(priority, now, queued=queued)
            if wait > 0:
                return Throttled(why, wait)
            self._bucket.take(now)
            self._budget.called()
            if priority is Priority.REST:
                self._waiting_in_a_row = 0
            elif priority is Priority.WAITING:
                self._waiting_in_a_row += 1
            breaker = self._breakers[priority is Priority.WRITE]
            is_probe = breaker.opened_at is not None
            permit = Permit(priority, now, breaker.begin(now))
        if is_probe:
            calls = _CALLS[permit.write]
            log.info("the breaker of %s calls is half-open: this call is the probe", calls)
        return permit

    def _wait(self, priority: Priority, now: float, *, queued: bool = False) -> tuple[float, str]:
        """Seconds until a call may start, and the reason for the wait."""
        silent = self._breakers[priority is Priority.WRITE].wait_s(now)
        if silent > 0:
            return silent, Throttled.SILENT
        # Both priorities of polls have the reserve of WAITING here: `capacity` has already
        # distinguished them before the polls were claimed, and a claimed poll must not be refused
        # for its priority.
        reserve = self._reserve(min(priority, Priority.WAITING))
        needed = 1 + reserve + self._queued_before(priority, itself=not queued)
        return self._bucket.wait_s(needed, now), Throttled.LIMITED

    def _reserve(self, priority: Priority) -> float:
        """The tokens that calls of a priority leave in the bucket.

        After WAITING_IN_A_ROW polls for waiting guests, the next other poll has their reserve.
        """
        if math.isinf(self._bucket.rate) or self._bucket.rate < 2:
            return 0.0
        if priority is Priority.REST and self._waiting_in_a_row >= WAITING_IN_A_ROW:
            priority = Priority.WAITING
        return RESERVE[priority] * self._bucket.burst

    def _queued_before(self, priority: Priority, *, itself: bool = True) -> int:
        """How many calls of higher priorities, and with `itself` of this one, wait for a token."""
        return sum(
            count
            for other, count in self._queue.items()
            if other < priority or (itself and other == priority)
        )

    @contextmanager
    def _queued(self, priority: Priority) -> Iterator[None]:
        with self._lock:
            self._queue[priority] += 1
        try:
            yield
        finally:
            with self._lock:
                self._queue[priority] -= 1

    def _answered(self, permit: Permit, breaker: Breaker, now: float, result: Result) -> None:
        was_open = breaker.opened_at is not None
        breaker.succeeded(permit.epoch, now)
        self._silence.answered()
        if result is Result.KEY_REFUSED:
            self._refusals.failed(now)
        elif result is Result.ANSWERED:
            self._refusals.answered()
        if was_open and breaker.opened_at is None:
            # all waiting callers would start now: let them start at the rate, without a burst
            self._bucket.drain(now)

    def _note_limit(
        self, permit: Permit, result: Result, retry_after_s: float | None, now: float
    ) -> None:
        """Stop every call after a 429.

        A 429 without Retry-After changes nothing if its call had started before the last 429.
        """
        if result is not Result.LIMITED:
            if permit.started >= self._limited_at:
                self._limited_in_a_row = 0
            return
        if retry_after_s is None:
            if permit.started < self._limited_at:
                return
            retry_after_s = min(LIMITED_MAX_S, 2.0 ** min(self._limited_in_a_row, 10))
            self._limited_in_a_row += 1
        self._limited_at = now
        self._bucket.hold(now + retry_after_s)
