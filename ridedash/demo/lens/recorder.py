"""Records the calls to the service; loaded in demo mode only. It works in processes without pages.

Recording never delays a call and never makes it fail: the thread that made the call puts a
reference to it into a bounded queue, and all else happens in one thread of this process, which
lives as long as there is something to write. When the queue is full, or the file can't be written,
calls are dropped and counted.
"""

import logging
import os
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from ridedash.demo.lens.store import LensFile
from ridedash.demo.lens.writing import OffersOfCause, Seen, Writer
from ridedash.observability import logs
from ridedash.observability.exceptions import reason
from ridedash.service.hooks import Exchange, Hooks
from ridedash.services import Services
from ridedash.store.database.database import Clock

MOST_WAITING: Final = 2_000
BATCH_S: Final = 0.2  # calls that come within this time are written together
# after this time without calls the thread ends; the next call starts another one
QUIET_S: Final = 3.0
RESTS_S: Final = 5.0  # pause after a failure
ORDERS: Final = frozenset({"send", "plan"})  # steps of the worker that are about an order

Cause = tuple[str, int | None]  # why a call was made, and the order that it was about

log = logging.getLogger(__name__)


def no_page() -> Cause:
    """The cause in a process without pages."""
    return "", None


class LensRecorder:
    """Hooks that record exchanges and offers, and pass all other events on to `inner`."""

    records = True

    def __init__(
        self, inner: Hooks, file: LensFile, clock: Clock, page: Callable[[], Cause] = no_page
    ) -> None:
        self.file = file
        self.dropped = 0
        self._inner = inner
        self._clock = clock
        self._page = page
        self._queue: deque[Seen | OffersOfCause] = deque()
        self._wake = threading.Event()
        self._hurry = threading.Event()
        self._lock = threading.Condition()
        self._writing = 0  # calls that the thread has taken and not written yet
        # the id of the process in which the thread runs; a forked process has another id, and so
        # starts its own thread
        self._in_process = 0
        self._not_before = 0.0  # the earliest time of the next start; monotonic

    def exchange(self, exchange: Exchange) -> None:
        """Put the exchange into the queue."""
        self._put(lambda: Seen(self._clock().timestamp(), *self._cause(), exchange))

    def offers(self, ids: Sequence[int]) -> None:
        """Put the offers into the queue, behind the calls that they come from."""
        self._put(lambda: OffersOfCause(self._cause()[0], tuple(ids)))

    def flush(self, within_s: float = 5.0) -> bool:
        """Wait until all calls in the queue are written or dropped; False if that takes longer."""
        self._hurry.set()
        try:
            with self._lock:
                return self._lock.wait_for(lambda: not (self._queue or self._writing), within_s)
        finally:
            self._hurry.clear()

    def call(self, operation: str, outcome: str, seconds: float) -> None:
        """See Hooks."""
        self._inner.call(operation, outcome, seconds)

    def breaker(self, calls: str, state: str) -> None:
        """See Hooks."""
        self._inner.breaker(calls, state)

    def _put(self, made: Callable[[], Seen | OffersOfCause]) -> None:
        try:
            if len(self._queue) >= MOST_WAITING or time.monotonic() < self._not_before:
                self.dropped += 1
                return
            self._queue.append(made())
            if self._in_process != os.getpid():
                self._start()
            if not self._wake.is_set():
                self._wake.set()
        except Exception as error:  # a recorder may miss a call, but never make one fail
            self.dropped += 1
            log.warning("a call was not recorded: %s", type(error).__name__)

    def _cause(self) -> Cause:
        name, number = logs.worker_step.get()
        if request_id := logs.request_id.get():
            page, order = self._page()
            return f"request {request_id} {page}".rstrip(), order
        return f"worker: {name} {number}" if name else "", number if name in ORDERS else None

    def _start(self) -> None:
        with self._lock:
            if self._in_process == os.getpid():
                return
            self._in_process = os.getpid()
            threading.Thread(target=self._run, name="lens", daemon=True).start()

    def _run(self) -> None:
        try:
            while self._writes_to_one_file():
                pass
        except Exception as error:  # a full disk, a broken file, or a bug
            self._failed(error)

    def _writes_to_one_file(self) -> bool:
        """Write until no calls come. True when the file was deleted and has to be made again."""
        with self.file.writing() as db:
            writer = Writer(db)
            number = self.file.number()
            while self._round(writer):
                if self.file.number() != number:
                    return True
        return False

    def _round(self, writer: Writer) -> bool:
        """Write the calls that have come. False after QUIET_S without any: then the thread ends."""
        came = self._wake.wait(BATCH_S if writer.is_behind else QUIET_S)
        if not came and not writer.is_behind and self._ends():
            return False
        self._wake.clear()
        if came:
            self._hurry.wait(BATCH_S)
        with self._lock:
            batch = [self._queue.popleft() for _ in range(len(self._queue))]
            self._writing = len(batch)
        try:
            writer.write(batch)
        except Exception:
            self.dropped += len(batch)
            raise
        finally:
            with self._lock:
                self._writing = 0
                self._lock.notify_all()
        return True

    def _ends(self) -> bool:
        """Let the next call start another thread. False if a call has come meanwhile."""
        with self._lock:
            # set before the queue is read: either a caller sees 0 and starts a thread, or this
            # thread sees the call
            self._in_process = 0
            if self._queue:
                self._in_process = os.getpid()
            return self._in_process == 0

    def _failed(self, error: Exception) -> None:
        if not isinstance(error, sqlite3.Error | OSError):
            log.exception("the lens stopped recording: %s", type(error).__name__)
        else:
            log.warning("the lens can't record: %s", reason(error))
        with self._lock:
            self.dropped += len(self._queue)
            self._queue.clear()
            self._not_before = time.monotonic() + RESTS_S
            self._in_process = 0
            self._lock.notify_all()


def record(services: Services, page: Callable[[], Cause] = no_page) -> LensRecorder:
    """Record the calls of this process from now on, into instance/lens.db."""
    traffic = services.client.traffic
    file = LensFile(services.settings.instance)
    recorder = traffic.hooks = LensRecorder(traffic.hooks, file, services.clock, page)
    return recorder
