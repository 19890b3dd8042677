"""The worker: sends orders, follows rides, repeats actions; a loop of small steps that stops
cleanly.
"""

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from ridedash.observability.exceptions import reason
from ridedash.observability.hooks import Hooks
from ridedash.rides.accounts.tokens import AccountTokens
from ridedash.rides.actions.call import Caller
from ridedash.rides.health import beat, leave
from ridedash.rides.orders import recover
from ridedash.rides.orders.answer_journal import BlackBox
from ridedash.rides.orders.due import Promoter
from ridedash.rides.orders.send import Sender
from ridedash.rides.privacy import retention
from ridedash.rides.runtime import Clock, Failpoint, Runtime, no_failpoint
from ridedash.rides.tracking.poll import Tracker
from ridedash.rides.tracking.pool import Polling
from ridedash.service.client import RideClient
from ridedash.store.database.database import Database, DatabaseBusy

Job = Callable[[], object]

LOOK_EVERY_S: Final = 0.25  # an indexed check for what another process made due
SWEEP_EVERY_S: Final = 1.0
TIDY_EVERY_S: Final = 3600.0
PLAN_EVERY_S: Final = 1.0
REPLAY_EVERY_S: Final = 15.0
BEAT_EVERY_S: Final = 5.0
DRAIN_S: Final = 25.0
REST_S: Final = 1.0  # after a round that failed

log = logging.getLogger(__name__)


class Worker:
    """One worker; any number may run on one database."""

    def __init__(
        self,
        db: Database,
        client: RideClient,
        tokens: AccountTokens,
        blackbox: BlackBox,
        clock: Clock,
        pace: float = 1.0,
        threads: int = 8,
        at: Failpoint = no_failpoint,
        drain_s: float = DRAIN_S,
        watch: Hooks | None = None,
        tidy: Callable[[datetime], int] | None = None,
    ) -> None:
        self.name = f"{socket.gethostname()[:40]}:{os.getpid()}:{os.urandom(3).hex()}"
        self.db, self.box, self.clock, self.threads, self.drain_s = (
            db,
            blackbox,
            clock,
            threads,
            drain_s,
        )
        self.sender = Sender(db, client, tokens, blackbox, clock, pace=pace, owner=self.name, at=at)
        runtime = Runtime(db, client, tokens, clock, pace, self.name, at, watch)
        self.tracker = Tracker(runtime)
        self.caller = Caller(db, client, tokens, clock)
        asked = db, client, tokens, blackbox, clock
        self.promoter = Promoter(*asked, owner=self.name, at=at)
        self.tidy = tidy or partial(retention.drop_old_offers, db)
        self._silent_since: datetime | None = None  # as the last heartbeat said
        self._awake = threading.Event()
        self._pressed = False  # there may be something to send
        self._lock = threading.Lock()
        self._busy: set[str] = set()  # what runs in this process now
        self._last: dict[str, float] = {}  # chore to when it was last done, monotonic

    def run(self, stop: threading.Event) -> None:
        """Go round until `stop` is set; then claim nothing more and wait up to 25 s for sends in
        flight.
        """
        log.info("worker %s started: %d threads, on %s", self.name, self.threads, self.db.dialect)
        polling = Polling(self.tracker, self.threads, self._awake.set)
        polling.start()
        try:
            while not stop.is_set():
                self._round(polling, stop)
        finally:
            polling.stop()
        self._drain()
        self._leave()
        log.info("worker %s stopped", self.name)

    def wake(self) -> None:
        """Look now: an order became READY, or the stop event was set. Callable from any thread."""
        self._pressed = True
        self._awake.set()

    def step(self) -> bool:
        """One round in this thread, for tests: chores, sends, actions, polls. Whether anything was
        done.
        """
        did = self._chores(always=True)
        for jobs in (self._plans, self._sends, self._actions):
            for job in jobs():
                did |= bool(job())
        claims = self.tracker.claim(self.threads)
        return bool(self.tracker.record([self.tracker.ask(claim) for claim in claims])) or did

    def _round(self, polling: Polling, stop: threading.Event) -> None:
        wait_s: float | None = None
        try:
            self._chores()
            if self._is_time("look", LOOK_EVERY_S, always=self._pressed):
                self._pressed = False
                plans = self._plans() if self._is_time("plan", PLAN_EVERY_S, always=False) else []
                for job in (*plans, *self._sends(), *self._actions()):
                    threading.Thread(target=job, name="send", daemon=True).start()
            wait_s = polling.round()
        except (SQLAlchemyError, DatabaseBusy, OSError) as error:
            log.error("the worker's round failed: %s", reason(error))
            stop.wait(REST_S)
        except Exception as error:  # a mistake of ours must cost one round, not the worker
            log.exception("the worker's round failed: %s", type(error).__name__)
            stop.wait(REST_S)
        self._awake.wait(wait_s or LOOK_EVERY_S)
        self._awake.clear()

    def _sends(self) -> list[Job]:
        ids = self._fresh("send", self.sender.due)
        return [partial(self._do, f"send {i}", partial(self.sender.send, i)) for i in ids]

    def _plans(self) -> list[Job]:
        ids = self._fresh("plan", self.promoter.due)
        return [partial(self._do, f"plan {i}", partial(self.promoter.promote, i)) for i in ids]

    def _actions(self) -> list[Job]:
        ids = self._fresh("act", self.caller.due)
        return [partial(self._do, f"act {i}", partial(self.caller.again, i)) for i in ids]

    def _fresh(self, what: str, due: Callable[[int], Sequence[int]]) -> list[int]:
        """Due ids that no thread of ours has, as many as threads are free; taken at once."""
        free = 2 * self.threads - self._count(what)
        found = due(self.threads + self._count(what)) if free > 0 else ()
        return [i for i in found[:free] if self._begin(f"{what} {i}")]

    def _begin(self, key: str) -> bool:
        with self._lock:
            if key in self._busy:
                return False
            self._busy.add(key)
            return True

    def _count(self, what: str) -> int:
        with self._lock:
            return sum(key.startswith(what + " ") for key in self._busy)

    def _do(self, key: str, job: Job) -> object:
        """A job that never takes its thread down; what went wrong is logged by type, never by
        value.
        """
        try:
            return job()
        except (SQLAlchemyError, DatabaseBusy, OSError) as error:
            log.error("%s failed: %s", key, reason(error))
        except Exception as error:  # a mistake of ours must cost one job, not the worker
            log.exception("%s failed: %s", key, type(error).__name__)
        finally:
            with self._lock:
                self._busy.discard(key)
            self.wake()
        return False

    def _chores(self, always: bool = False) -> bool:
        did = 0
        self._beat(always)
        if self._is_time("replay", REPLAY_EVERY_S, always):
            did += self._replay()
        if self._is_time("sweep", SWEEP_EVERY_S, always):
            did += recover.sweep(self.db, self.clock())
        if self._is_time("tidy", TIDY_EVERY_S, always=False):
            did += self.tidy(self.clock())
        return bool(did)

    def _beat(self, always: bool) -> None:
        """Every five seconds, and at once when the service falls silent or speaks again."""
        now, silent_s = self.clock(), self.tracker.runtime.client.traffic.silent_s()
        turned = (silent_s is None) is not (self._silent_since is None)
        if turned:
            self._silent_since = None if silent_s is None else now - timedelta(seconds=silent_s)
        if self._is_time("beat", BEAT_EVERY_S, always or turned):
            beat(self.db, self.name, now, self._silent_since, ready=self.box.ready())

    def _leave(self) -> None:
        try:
            leave(self.db, self.name)
        # it counts until it has been silent for long enough
        except (SQLAlchemyError, DatabaseBusy, OSError) as error:
            log.error("the worker's end is not written: %s", reason(error))

    def _replay(self) -> int:
        """Answers that were kept and not settled: those of dead workers, and ours."""
        count = sum(self.sender.replay(file) for file in self.box.left_behind())
        return count + self.sender.replay(self.box.file)

    def _is_time(self, chore: str, every_s: float, always: bool) -> bool:
        now = time.monotonic()
        if not always and now - self._last.get(chore, -every_s) < every_s:
            return False
        self._last[chore] = now
        return True

    def _drain(self) -> None:
        self.promoter.closed = True
        end = time.monotonic() + self.drain_s
        while any(map(self._count, ("send", "act", "plan"))) and time.monotonic() < end:
            self._awake.wait(LOOK_EVERY_S)
            self._awake.clear()
