"""Reads the changes ("turns") of the clock of a demo's own sandbox, over HTTP.

They are kept in memory only, because the sandbox stores them.
"""

import logging
import os
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count, pairwise
from typing import Any, Final, NamedTuple

from ridedash.observability.exceptions import reason
from ridedash.service.errors import ServiceError
from ridedash.service.transport.http import Http, Request
from ridedash.service_time import ServiceTime, Turn

EVERY_S: Final = 1.0
WITHIN_S: Final = 1.0
# unanswered requests before a warning: the sandbox may be starting, or stopping with this program
WARN_AFTER: Final = 10
CONTROL: Final = {"X-Sandbox-Control": "1"}

log = logging.getLogger(__name__)


class KnownTurns(NamedTuple):
    """The time line as read, and the one to use from an announced stop on, if there is one."""

    line: ServiceTime
    stopped: ServiceTime | None


class SandboxTime:
    """The time line of the sandbox's clock; calling it returns the present one.

    A thread of each process reads it every second, from the first call on. Until the sandbox has
    answered, its clock is assumed to run at `pace`; while it is silent, the last line continues. An
    announced stop becomes a turn as soon as its time has come.
    """

    def __init__(
        self, http: Http, service_url: str, pace: float, wall: Callable[[], datetime] | None = None
    ) -> None:
        self._http = http
        self._url = f"{service_url.rstrip('/')}/control/clock"
        self._wall = wall or _machine_clock
        self._pace = pace
        self._known = KnownTurns(ServiceTime(pace=pace), None)
        # the id of the process that runs the thread: a forked process has no threads
        self._reader = 0
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._missed = 0  # consecutive readings without an answer
        self._questions = count(1)
        self._latest = 0  # number of the latest reading that was answered

    def __call__(self) -> ServiceTime:
        """The time line that is known now. The first call in a process starts its thread."""
        if self._reader != os.getpid():
            self._start()
        return self._line

    @property
    def _line(self) -> ServiceTime:
        line, stopped = self._known
        if stopped is None or self._wall() < stopped.turns[-1].wall:
            return line
        return stopped

    def stop(self) -> None:
        """Stop reading."""
        self._ended.set()

    def read(self) -> None:
        """Read the turns now. Call it after a change of the clock, to know of that at once."""
        question = next(self._questions)
        try:
            answer = self._http.call(Request("GET", self._url, WITHIN_S, CONTROL))
            body = answer.json()
            turns = turns_of(body)
            stop = stop_of(body)
        except (ServiceError, ValueError, TypeError, LookupError, ArithmeticError) as error:
            self._missed += 1
            if self._missed == WARN_AFTER:
                log.warning("the sandbox does not tell its time: %s", reason(error))
            return
        if question < self._latest:  # a later reading was answered first: this answer is older
            return
        self._missed = 0
        self._latest = question
        line, stopped = self._known
        if stopped is not None and turns == stopped.turns:
            line = stopped  # the time of the announced stop has come
        elif turns != line.turns:
            line = ServiceTime(turns, self._pace, self._wall())
        stopped = None if stop is None else ServiceTime((*turns, stop), self._pace)
        self._known = KnownTurns(line, stopped)

    def _start(self) -> None:
        with self._lock:
            if self._reader == os.getpid():
                return
            self._reader = os.getpid()
            threading.Thread(target=self._go_on, name="turns", daemon=True).start()

    def _go_on(self) -> None:
        self.read()
        while not self._ended.wait(EVERY_S):
            self.read()


def turns_of(body: Any) -> tuple[Turn, ...]:
    """The turns in an answer of GET /control/clock.

    Raises ValueError, TypeError, LookupError or ArithmeticError for any other body.
    """
    turns = tuple(_turn(each) for each in body["turns"])
    if any(later.wall < turn.wall for turn, later in pairwise(turns)):
        raise ValueError("the turns are not in order")
    return turns


def stop_of(body: Any) -> Turn | None:
    """The announced turn that stops the clock, from the same answer; None without one.

    Raises like `turns_of`.
    """
    found = body["stop"]
    return None if found is None else _turn(found)


def _turn(each: Any) -> Turn:
    return Turn(_instant(each["wall"]), _instant(each["service"]), float(each["speed"]))


def _machine_clock() -> datetime:
    return datetime.now(UTC)


def _instant(seconds: Any) -> datetime:
    return datetime.fromtimestamp(float(seconds), UTC)
