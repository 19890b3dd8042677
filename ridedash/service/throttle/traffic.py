"""What may be asked of the service now, and who goes first: breaker, limiter and retry budget of
one partner key.
"""

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

from ridedash.observability.hooks import Unwatched, Watch
from ridedash.service.errors import Held
from ridedash.service.throttle.breaker import Breaker, Silence
from ridedash.service.throttle.rate_limit import Bucket, RetryBudget

DEFAULT_RATE: Final = 45.0
MUCH: Final = 10_000  # room without a limit
PAUSE_MIN_S: Final = 0.001  # a shorter wait may end before the clock has moved
LIMITED_MAX_S: Final = 30.0  # a 429 that says no time: 1 s, doubling, to so much

log = logging.getLogger(__name__)


class Lane(IntEnum):
    """Whose call it is, the first served first."""

    WRITE = 0  # what a person pressed
    PAGE = 1  # what a page waits for
    WAITING = 2  # following a ride with a guest waiting
    REST = 3


# the share of a full bucket that a lane leaves to those before it
RESERVE: Final = {Lane.WRITE: 0.0, Lane.PAGE: 0.25, Lane.WAITING: 0.375, Lane.REST: 0.5}
# polls for waiting guests between two of the others, when there is not room for all
TURNS: Final = 3


class Result(Enum):
    """How a call ended, for the decisions here."""

    ANSWERED = "answered"  # whatever the answer was: a refusal and a 4xx are answers
    FAILED = "failed"  # none, or a 5xx, or nothing of the service's
    LIMITED = "limited"  # a 429
    VOID = "void"  # it never became a call, for a reason of ours


@dataclass(frozen=True)
class Pass:
    """The right to make one call."""

    lane: Lane
    began: float
    epoch: int
    waited_s: float = 0.0

    @property
    def write(self) -> bool:
        """Whether it counts for the breaker of writes."""
        return self.lane is Lane.WRITE


class Traffic:
    """Decides for one host and one partner key. Safe to share between threads; times are monotonic
    seconds.
    """

    def __init__(
        self,
        rate: float = DEFAULT_RATE,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
        watch: Watch | None = None,
    ) -> None:
        self._now, self._pause, self._watch = monotonic, pause, watch or Unwatched()
        self._lock = threading.Lock()
        self._bucket = Bucket(rate, monotonic())
        # by whether it is for writes
        self._breakers = {True: Breaker(chance), False: Breaker(chance)}
        self._budget, self._silence = RetryBudget(), Silence()
        self._queue = dict.fromkeys(Lane, 0)  # who waits for a token
        self._turns = 0  # polls for waiting guests since the last of another
        self._limited = 0  # answers 429 in a row that said no time
        self._held_at = -math.inf

    def enter(self, lane: Lane, patience_s: float = 0.0) -> Pass:
        """The right to make a call, waited for up to `patience_s`.

        Raises errors.Held; settle what it gives.
        """
        first = self._try(lane)
        return (
            first
            if isinstance(first, Pass)
            else self._in_turn(lane, first, self._now() + patience_s)
        )

    def settle(self, passed: Pass, result: Result, retry_after_s: float | None = None) -> None:
        """Say how a call ended. `retry_after_s` is a 429's own wish."""
        with self._lock:
            now, breaker = self._now(), self._breakers[passed.write]
            was_open = breaker.opened_at is not None
            if result is Result.VOID:
                breaker.void(passed.epoch)
            elif result is Result.FAILED:
                breaker.failed(passed.epoch, now)
                self._silence.failed(now)
            else:
                self._answered(passed, breaker, now)
                self._hold(passed, result, retry_after_s, now)
            is_open = breaker.opened_at is not None
        if is_open is not was_open:
            self._turned("write" if passed.write else "read", is_open)

    def room(self, lane: Lane = Lane.REST) -> int:
        """How many polls may start now: none while reads are held, one when a probe is due."""
        with self._lock:
            now, breaker = self._now(), self._breakers[False]
            if breaker.wait_s(now) > 0 or self._ahead(lane):
                return 0
            left = self._bucket.left(now) - self._reserve(lane)
            room = MUCH if math.isinf(left) else max(0, math.floor(left + 1e-9))
            return room if breaker.opened_at is None else min(room, 1)

    def wait_s(self, lane: Lane) -> float:
        """Seconds until a call of this lane may start; 0 for now.

        For whoever can come back later.
        """
        with self._lock:
            return self._wait(lane, self._now())[0]

    def held_s(self) -> float:
        """Seconds for which a 429 holds everything."""
        with self._lock:
            return self._bucket.held_s(self._now())

    def may_repeat(self) -> bool:
        """Spend one repeat of the budget: at most a tenth of the calls are repeats."""
        with self._lock:
            return self._budget.take()

    @property
    def silent_since(self) -> float | None:
        """The first failure of the present run of failures, once there were two; None while the
        service answers.
        """
        with self._lock:
            now = self._now()
            since = self._silence.since(now)
            return self._breakers[False].opened_at if since is None else since

    def silent_s(self) -> float | None:
        """For how long the service has given no answer; None while it does."""
        since = self.silent_since
        return None if since is None else max(0.0, self._now() - since)

    def is_open(self, *, write: bool) -> bool:
        """Whether a breaker is open."""
        with self._lock:
            return self._breakers[write].opened_at is not None

    def _turned(self, calls: str, is_open: bool) -> None:
        """Say that a breaker came to another state."""
        self._watch.breaker(calls, "open" if is_open else "closed")
        if is_open:
            log.warning("breaker of %s calls open: the service gives no answers", calls)
        else:
            log.info("breaker of %s calls closed: the service answers again", calls)

    def _in_turn(self, lane: Lane, held: Held, end: float) -> Pass:
        """Wait in the queue, ahead of whoever comes later in this lane or is in one behind it."""
        came = self._now()
        with self._queued(lane):
            while held.why == Held.LIMITED and self._now() + held.wait_s <= end:
                self._pause(max(held.wait_s, PAUSE_MIN_S))
                got = self._try(lane, queued=True)
                if isinstance(got, Pass):
                    return replace(got, waited_s=got.began - came)
                held = got
        raise held

    def _try(self, lane: Lane, *, queued: bool = False) -> Pass | Held:
        with self._lock:
            now = self._now()
            wait, why = self._wait(lane, now, queued=queued)
            if wait > 0:
                return Held(why, wait)
            self._bucket.take(now)
            self._budget.called()
            self._turns = 0 if lane is Lane.REST else self._turns + (lane is Lane.WAITING)
            breaker = self._breakers[lane is Lane.WRITE]
            probes, passed = breaker.opened_at is not None, Pass(lane, now, breaker.begin(now))
        if probes:
            log.info(
                "breaker of %s calls half-open: this one asks for all",
                "write" if passed.write else "read",
            )
        return passed

    def _wait(self, lane: Lane, now: float, *, queued: bool = False) -> tuple[float, str]:
        silent = self._breakers[lane is Lane.WRITE].wait_s(now)
        if silent > 0:
            return silent, Held.SILENT
        # `room` keeps the lanes of polls apart; one that was claimed must not fail for its lane
        needed = 1 + self._reserve(min(lane, Lane.WAITING)) + self._ahead(lane, itself=not queued)
        return self._bucket.wait_s(needed, now), Held.LIMITED

    def _reserve(self, lane: Lane) -> float:
        """What a lane leaves in the bucket.

        After some polls for waiting guests one of the others has its turn.
        """
        if math.isinf(self._bucket.rate) or self._bucket.rate < 2:
            return 0.0
        return (
            RESERVE[Lane.WAITING if lane is Lane.REST and self._turns >= TURNS else lane]
            * self._bucket.burst
        )

    def _ahead(self, lane: Lane, *, itself: bool = True) -> int:
        """How many wait for a token in the lanes before this one, and in `itself`."""
        return sum(
            count
            for other, count in self._queue.items()
            if other < lane or (itself and other == lane)
        )

    @contextmanager
    def _queued(self, lane: Lane) -> Iterator[None]:
        with self._lock:
            self._queue[lane] += 1
        try:
            yield
        finally:
            with self._lock:
                self._queue[lane] -= 1

    def _answered(self, passed: Pass, breaker: Breaker, now: float) -> None:
        was_open = breaker.opened_at is not None
        breaker.succeeded(passed.epoch, now)
        self._silence.answered()
        if was_open and breaker.opened_at is None:
            # all wait for this moment: they begin at the rate, without a burst
            self._bucket.drain(now)

    def _hold(self, passed: Pass, result: Result, retry_after_s: float | None, now: float) -> None:
        """A 429 holds the whole bucket; those of calls that were under way then are the same
        429.
        """
        if result is not Result.LIMITED:
            self._limited = self._limited if passed.began < self._held_at else 0
            return
        if retry_after_s is None:
            if passed.began < self._held_at:
                return
            retry_after_s = min(LIMITED_MAX_S, 2.0 ** min(self._limited, 10))
            self._limited += 1
        self._held_at = now
        self._bucket.hold(now + retry_after_s)
