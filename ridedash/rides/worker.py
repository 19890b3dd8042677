"""The worker: sends orders, follows rides, repeats actions and does the jobs that recur.

See docs/booking-protocol.md 1.3 and 3.
"""

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import Final, NamedTuple

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from ridedash.geo import LatLng
from ridedash.observability.exceptions import reason
from ridedash.observability.logs import worker_step
from ridedash.rides import health
from ridedash.rides.actions.call import Caller
from ridedash.rides.guest_lists.waves import ListDriver
from ridedash.rides.journals.answer_journal import AnswerJournal
from ridedash.rides.journals.sent_journal import EvenClock
from ridedash.rides.kiosk import watch
from ridedash.rides.orders import recover
from ridedash.rides.orders.due import Promoter
from ridedash.rides.orders.send import Sender
from ridedash.rides.privacy import retention
from ridedash.rides.runtime import Runtime
from ridedash.rides.tracking import claims, ends
from ridedash.rides.tracking.poll import Tracker
from ridedash.rides.tracking.pool import Polling
from ridedash.service.errors import ServiceError
from ridedash.store.database.database import DatabaseBusy

# called with the present time; returns how many rows it changed
RetentionJob = Callable[[datetime], int]

# the interval of an indexed query that finds what another process made due
LOOK_EVERY_S: Final = 0.25
RECOVER_EVERY_S: Final = 1.0  # its limits are counted in seconds, and its queries are short
RETENTION_EVERY_S: Final = 3600.0  # what is kept for days need not go to the minute
PLAN_EVERY_S: Final = 1.0  # a planned ride is ordered in the second in which it is due
# finds what a worker that died had written; few do, and the files are short
REPLAY_EVERY_S: Final = 15.0
KIOSKS_EVERY_S: Final = 5.0  # what it looks for has waited 45 s or minutes already
HEARTBEAT_EVERY_S: Final = 5.0  # six fit into the 30 s after which a worker counts as ended
PROBE_KEY_EVERY_S: Final = 60.0  # while the partner's key is refused, if no one else may ask
PROBE: Final = "probe 0"  # the key of the job
ENDS_EVERY_S: Final = 10.0  # an address for the end of a ride is for those who read its receipt
ENDS: Final = "ends 0"  # the key of that job
PROBE_SILENT_EVERY_S: Final = 10.0  # while the service is silent, if no one else asks
DRAIN_S: Final = 25.0  # less than the 30 s that systemd and containers give (docs/operating.md)
REST_S: Final = 1.0  # pause after a round that failed
NOWHERE: Final = LatLng(0.0, 0.0)  # any pickup will do to find out whether the service answers

log = logging.getLogger(__name__)


class Job(NamedTuple):
    """Work for a thread of its own; `key` is its word and the id of its row, like "send 12"."""

    key: str
    run: Callable[[], object]


class Worker:
    """One worker; any number may run on one database."""

    def __init__(
        self,
        runtime: Runtime,
        journal: AnswerJournal,
        *,
        threads: int = 8,
        drain_s: float = DRAIN_S,
        retention_job: RetentionJob | None = None,
        address_of: ends.AddressOf = ends.no_address,
    ) -> None:
        """`threads` threads poll; up to `2 * threads` more send, as many plan, and as many act.

        `drain_s` is how many seconds a stop waits for sends, plans and actions in flight. The
        worker takes leases under its own name.
        """
        self.name = f"{health.this_host()}:{os.getpid()}:{os.urandom(3).hex()}"
        self.runtime = replace(runtime, owner=self.name)
        self.journal = journal
        self.threads = threads
        self.drain_s = drain_s
        self.sender = Sender(self.runtime, journal)
        self.tracker = Tracker(self.runtime)
        self.caller = Caller(self.runtime)
        self.watch = self.sender.watch
        self.promoter = Promoter(self.runtime, journal, self.watch)
        self.lists = ListDriver(self.runtime, journal, self.watch)
        self.address_of = address_of
        self.retention_job = retention_job or partial(retention.drop_old_offers, runtime.db)
        self.round_ended = time.monotonic()  # when the last round ended, successfully or not
        # as reported by the last heartbeat: since when the service is silent, or refuses the key
        self._wrong_since: dict[str, datetime] = {}
        self._awake = threading.Event()
        self._woken = False  # whether there may be something to send
        self._lock = threading.Lock()
        self._busy: set[str] = set()  # keys of the jobs that are running in this process
        self._last: dict[str, float] = {}  # when each job was last done, monotonic
        self._turned_at = runtime.time().turned_at
        self._is_even = EvenClock(time.monotonic)

    def run(self, stop: threading.Event) -> None:
        """Work until `stop` is set; then claim nothing more, and wait for what is in flight."""
        dialect = self.runtime.db.dialect
        log.info("worker %s started: %d threads, on %s", self.name, self.threads, dialect)
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
        """Start a round now. Called when an order became READY, a job ended or a stop was set.

        Callable from any thread.
        """
        self._woken = True
        self._awake.set()

    def step(self) -> bool:
        """One round in this thread, for tests: recurring jobs, probes, plans, sends, actions and
        polls. Returns whether anything was done.
        """
        did = self._recurring_jobs(always=True)
        self._look_at_the_clock()
        for jobs in (
            self._probes,
            self._lists,
            self._plans,
            self._sends,
            self._actions,
            self._ends,
        ):
            for job in jobs():
                did |= bool(self._do(job))
        polled = [self.tracker.ask(claim) for claim in self.tracker.claim(self.threads)]
        return bool(self.tracker.record(polled)) or did

    def send_only(self) -> None:
        """One round in this thread that does recurring jobs and sends orders, without polls.

        A new demo calls it while it makes the rides of its past days.
        """
        self._recurring_jobs()
        for job in self._sends():
            self._do(job)

    def _round(self, polling: Polling, stop: threading.Event) -> None:
        wait_s: float | None = None
        try:
            self._recurring_jobs()
            self._look_at_the_clock()
            if self._is_due("look", LOOK_EVERY_S, always=self._woken):
                self._woken = False
                self._start(self._probes)
                if self._is_due("plan", PLAN_EVERY_S, always=False):
                    self._start(self._plans)
                    self._start(self._lists)
                self._start(self._sends)
                self._start(self._actions)
                self._start(self._ends)
            wait_s = polling.round()
        except (SQLAlchemyError, DatabaseBusy, OSError) as error:
            log.error("the worker's round failed: %s", reason(error))
            stop.wait(REST_S)
        except Exception as error:  # a bug of ours must cost one round, not the worker
            log.exception("the worker's round failed: %s", type(error).__name__)
            stop.wait(REST_S)
        self.round_ended = time.monotonic()
        self._awake.wait(wait_s or LOOK_EVERY_S)
        self._awake.clear()

    def _start(self, found: Callable[[], list[Job]]) -> None:
        """Find jobs, which marks them as busy, and start them at once.

        If another query failed in between, they would stay busy for ever.
        """
        for job in found():
            threading.Thread(target=self._do, args=(job,), name=job.key, daemon=True).start()

    def _look_at_the_clock(self) -> None:
        """After a turn of the service's clock, make all rides due: each may have another status."""
        turned_at = self.runtime.time().turned_at
        if turned_at != self._turned_at:
            self._turned_at = turned_at
            claims.make_due(self.runtime.db, self.runtime.clock())

    def _probes(self) -> list[Job]:
        """The job of calling the service while it refuses our key, or is silent and not called.

        Empty if the service does neither, or if the last such call was not long ago.
        """
        traffic = self.runtime.client.traffic
        due = traffic.unasked_s() >= PROBE_SILENT_EVERY_S and self._is_due(
            "probe", PROBE_SILENT_EVERY_S, always=False
        )
        if traffic.key_refused_s() is not None:
            due |= self._is_due("key", PROBE_KEY_EVERY_S, always=False)
        if due and self._begin(PROBE):
            return [Job(PROBE, self._probe)]
        return []

    def _probe(self) -> None:
        with contextlib.suppress(ServiceError):  # `traffic` has recorded how the call ended
            self.runtime.client.products(NOWHERE)

    def _ends(self) -> list[Job]:
        """The job of looking up where rides without a drop ended; a place search may be slow."""
        if self._is_due("ends", ENDS_EVERY_S, always=False) and self._begin(ENDS):
            return [Job(ENDS, self._name_ends)]
        return []

    def _name_ends(self) -> int:
        return ends.name_ends(self.runtime.db, self.address_of, self.runtime.clock())

    def _sends(self) -> list[Job]:
        return self._jobs("send", self.sender.due, self.sender.send)

    def _plans(self) -> list[Job]:
        return self._jobs("plan", self.promoter.due, self.promoter.promote)

    def _lists(self) -> list[Job]:
        return self._jobs("list", self.lists.due, self.lists.book)

    def _actions(self) -> list[Job]:
        ids = self._take_due("act", self.caller.due)
        return [Job(f"act {i}", partial(self.caller.again, i)) for i in ids]

    def _jobs(
        self, what: str, due: Callable[[int], Sequence[int]], do: Callable[[int], object]
    ) -> list[Job]:
        """A job for each due id; none before the watch knows whether the database was restored."""
        ids = self._take_due(what, due) if self.watch.settled else []
        return [Job(f"{what} {i}", partial(do, i)) for i in ids]

    def _take_due(self, what: str, due: Callable[[int], Sequence[int]]) -> list[int]:
        """Due ids that this worker is not busy with, one for each free thread; they become busy."""
        free = 2 * self.threads - self._count(what)
        if free <= 0:
            return []
        found = due(self.threads + self._count(what))
        return list(islice((i for i in found if self._begin(f"{what} {i}")), free))

    def _begin(self, key: str) -> bool:
        with self._lock:
            if key in self._busy:
                return False
            self._busy.add(key)
            return True

    def _count(self, what: str) -> int:
        with self._lock:
            return sum(key.startswith(what + " ") for key in self._busy)

    def _do(self, job: Job) -> object:
        """Do a job. Its errors end here: they are logged by type, without values."""
        word, _, number = job.key.partition(" ")
        before = worker_step.set((word, int(number)))
        try:
            return job.run()
        except (SQLAlchemyError, DatabaseBusy, OSError) as error:
            log.error("%s failed: %s", job.key, reason(error))
        except Exception as error:  # a bug of ours must cost one job, not the worker
            log.exception("%s failed: %s", job.key, type(error).__name__)
        finally:
            worker_step.reset(before)
            with self._lock:
                self._busy.discard(job.key)
            self.wake()
        return False

    def _recurring_jobs(self, always: bool = False) -> bool:
        """Do the jobs that are due; `always`: all but retention.

        Returns whether anything changed.
        """
        changed = 0
        if self._is_due("replay", REPLAY_EVERY_S, always):
            changed += self._replay()
        changed += self._heartbeat(always or not self.watch.settled)
        if self._is_due("recovery", RECOVER_EVERY_S, always):
            changed += recover.recover(self.runtime.db, self.runtime.clock(), self.watch.is_current)
        if self._is_due("kiosks", KIOSKS_EVERY_S, always):
            changed += watch.watch(self.runtime.db, self.runtime.clock())
        if self._is_due("retention", RETENTION_EVERY_S, always=False):
            now = self.runtime.clock()
            if self._is_even(now):  # data that is deleted because of a wrong clock is gone for good
                changed += self.retention_job(now)
            self.journal.drop_old(now)
        return bool(changed)

    def _heartbeat(self, always: bool) -> int:
        """Write the heartbeat every five seconds, and at once when an alarm begins or ends: the
        service is silent, or refuses our key.

        Then the database is compared with the sent journal. Returns how many rows that changed.
        """
        now = self.runtime.clock()
        traffic = self.runtime.client.traffic
        turned = self._note("silent", traffic.silent_s(), now)
        turned |= self._note("key", traffic.key_refused_s(), now)
        if self._is_due("heartbeat", HEARTBEAT_EVERY_S, always or turned):
            health.write_heartbeat(
                self.runtime.db,
                self.name,
                now,
                health.Alarms(
                    self._wrong_since.get("silent"),
                    self._wrong_since.get("key"),
                    self.runtime.clock_ahead_s(),
                ),
                ready=self.journal.ready(),
                also_write=self._beside_the_heartbeat,
            )
            with contextlib.suppress(OSError):  # a failure shows in `ready`
                self.journal.sent.flush()
            return self.watch.look()
        return 0

    def _beside_the_heartbeat(self, s: Session) -> None:
        health.note_compared(s, self.name, compared=self.watch.settled)
        self.watch.raise_watermark(s)

    def _note(self, what: str, for_s: float | None, now: datetime) -> bool:
        """Record since when something has been wrong.

        Returns whether that has just begun or ended.
        """
        if (for_s is None) is (what not in self._wrong_since):
            return False
        if for_s is None:
            del self._wrong_since[what]
        else:
            self._wrong_since[what] = now - timedelta(seconds=for_s)
        return True

    def _leave(self) -> None:
        try:
            health.write_end(self.runtime.db, self.name)
        # until its last heartbeat is old enough, this worker still counts as alive
        except (SQLAlchemyError, DatabaseBusy, OSError) as error:
            log.error("the worker's end is not written: %s", reason(error))

    def _replay(self) -> int:
        """Settle answers that were journalled but not settled, of dead workers and of this one."""
        count = sum(self.sender.replay(file) for file in self.journal.left_behind())
        return count + self.sender.replay(self.journal.file)

    def _is_due(self, job: str, every_s: float, always: bool) -> bool:
        """Whether to do a job now. If so, it counts as done now."""
        now = time.monotonic()
        if not always and now - self._last.get(job, -every_s) < every_s:
            return False
        self._last[job] = now
        return True

    def _drain(self) -> None:
        self.promoter.closed = self.lists.closed = True
        end = time.monotonic() + self.drain_s
        while any(map(self._count, ("send", "act", "plan", "list"))) and time.monotonic() < end:
            self._awake.wait(LOOK_EVERY_S)
            self._awake.clear()
