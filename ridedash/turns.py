"""The turns of this installation's own sandbox, read over HTTP; loaded in a demo only.

They are kept in memory: the sandbox stores them, and a second store could only differ.
"""

import logging
import os
import threading
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Final

from ridedash.observability.exceptions import reason
from ridedash.service.errors import ServiceError
from ridedash.service.transport.http import Http, Request
from ridedash.service_time import ServiceTime, Turn

EVERY_S: Final = 1.0
WITHIN_S: Final = 1.0
TOLD_AFTER: Final = 10  # it may be starting, or stopping with us
CONTROL: Final = {"X-Sandbox-Control": "1"}

log = logging.getLogger(__name__)


class SandboxTime:
    """The line of the sandbox's clock: call it for the present one.

    A thread of each process reads it, from the first question on and every second. Until the
    sandbox has answered, its clock is taken to run at `pace`; while it is silent, the last line
    goes on.
    """

    def __init__(self, http: Http, service_url: str, pace: float) -> None:
        self._http, self._url = http, f"{service_url.rstrip('/')}/control/clock"
        self._line = ServiceTime(pace=pace)
        self._reader = 0  # the process in which it is read: a fork has none of our threads
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._missed = 0  # readings in a row

    def __call__(self) -> ServiceTime:
        """The line as it was last read, a second ago at most."""
        if self._reader != os.getpid():
            self._start()
        return self._line

    def stop(self) -> None:
        """Read no more."""
        self._ended.set()

    def read(self) -> None:
        """Read the turns now; for whoever has just turned the clock."""
        try:
            answer = self._http.call(Request("GET", self._url, WITHIN_S, CONTROL))
            turns = turns_of(answer.json())
        except (ServiceError, ValueError, TypeError, LookupError, ArithmeticError) as error:
            self._missed += 1
            if self._missed == TOLD_AFTER:
                log.warning("the sandbox does not tell its time: %s", reason(error))
            return
        self._missed = 0
        if turns != self._line.turns:
            self._line = ServiceTime(turns, self._line.pace)

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
    turns = tuple(
        Turn(_instant(each["wall"]), _instant(each["service"]), float(each["speed"]))
        for each in body["turns"]
    )
    if any(later.wall < turn.wall for turn, later in pairwise(turns)):
        raise ValueError("the turns are not in order")
    return turns


def _instant(seconds: Any) -> datetime:
    return datetime.fromtimestamp(float(seconds), UTC)
