"""The answers of /readyz and /metrics, given within DEADLINE_S even if the database hangs.

For each of the two, only one thread at a time waits for the database. A request waits for that
thread until DEADLINE_S after the thread's start; then the answer is given without the database. If
the thread still waits, later requests get such an answer at once.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLate
from typing import Final, Generic, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from ridedash.observability.metrics import GaugeReading, Metrics
from ridedash.rides.health import HealthCounts, can_send, counts, heartbeat_age, is_alive
from ridedash.store.database.database import Clock, Database, DatabaseBusy
from ridedash.store.kiosk_desk import KioskCounts, kiosk_counts

T = TypeVar("T")
HEARTBEAT_S: Final = 20  # a kiosk sends a heartbeat this often
DEADLINE_S: Final = 3.0  # shorter than the timeout of load balancers, five seconds or more
CHECKS: Final = ("database", "migrations", "worker", "sending")


class Probe(Generic[T]):
    """Runs a check in a thread of its own, one at a time, and waits DEADLINE_S for it."""

    def __init__(self, check: Callable[[], T]) -> None:
        self._check = check
        self._lock = threading.Lock()
        self._running: Future[T] | None = None
        self._end = 0.0  # monotonic: the end of waiting for the running check

    def result(self) -> T | None:
        """The result of a check that began now or is running; None when it takes too long.

        Raises what the check raises.
        """
        with self._lock:
            running = self._running
            if running is None or running.done():
                running = self._running = Future()
                self._end = time.monotonic() + DEADLINE_S
                run = threading.Thread(target=self._run, args=(running,), name="probe", daemon=True)
                run.start()
            left = self._end - time.monotonic()
        try:
            return running.result(max(0.0, left))
        except TooLate:
            return None

    def _run(self, future: "Future[T]") -> None:
        try:
            future.set_result(self._check())
        except BaseException as error:  # raised again in the thread that waits
            future.set_exception(error)


class Monitor:
    """The readiness and the metrics of a process."""

    def __init__(self, db: Database, clock: Clock, metrics: Metrics) -> None:
        self._db = db
        self._clock = clock
        self._metrics = metrics
        self._ready = Probe(self._look)
        self._counts = Probe(self._count)

    def readiness(self) -> dict[str, bool]:
        """Whether each of CHECKS holds; all are False when the database does not answer in time.

        They hold if the database answers, its migrations are current, a worker is alive, and a
        worker is alive that can send.
        """
        return self._ready.result() or dict.fromkeys(CHECKS, False)

    def metrics(self) -> bytes:
        """The metrics of all processes of this machine, and counts of orders and rides."""
        found = self._counts.result()
        if not found:
            return self._metrics.text([*database_gauges(None)])
        return self._metrics.text([*database_gauges(found[0]), *kiosk_gauges(found[1])])

    def _look(self) -> dict[str, bool]:
        checks = dict.fromkeys(CHECKS, False)
        # if an error ends this, `checks` has the results until then
        with contextlib.suppress(SQLAlchemyError, DatabaseBusy):
            checks["migrations"] = self._db.revision_ok()
            checks["database"] = True
            if checks["migrations"]:  # without tables there is no heartbeat to read
                with self._db.read() as session:
                    age = heartbeat_age(session, self._clock())
                    checks["sending"] = can_send(session, self._clock())
                checks["worker"] = is_alive(age)
        return checks

    def _count(self) -> tuple[HealthCounts, KioskCounts] | None:
        try:
            with self._db.read() as session:
                now = self._clock()
                return counts(session, now), kiosk_counts(session, now)
        except (SQLAlchemyError, DatabaseBusy):
            return None  # the metrics of the processes are answered nevertheless


def database_gauges(found: HealthCounts | None) -> Iterator[GaugeReading]:
    """The gauges that are read from the database; `found` is None if it did not answer."""
    yield _one("ridedash_database_up", "Whether the database answered", float(found is not None))
    if found is None:
        return
    states: dict[tuple[str, ...], float] = {
        (state,): float(count) for state, count in found.orders.items()
    }
    yield GaugeReading("ridedash_orders_open", "Orders that are not settled", states, ("state",))
    yield _one(
        "ridedash_unknown_oldest_seconds",
        "Age of the oldest order of unknown outcome",
        found.unknown_oldest_s,
    )
    yield _one("ridedash_rides_followed", "Rides that are being followed", found.followed)
    yield _one("ridedash_rides_overdue", "Rides whose poll is due", found.overdue)
    yield _one("ridedash_poll_lag_seconds", "How late the most overdue ride is", found.late_s)
    yield _one("ridedash_workers", "Workers with a heartbeat in the last 30 s", found.workers)
    if found.worker_silent_s is not None:
        yield _one(
            "ridedash_worker_silent_seconds",
            "Since the last heartbeat of any worker",
            found.worker_silent_s,
        )
    yield _one(
        "ridedash_service_silent_seconds",
        "Time since the service last answered a worker",
        found.service_silent_s,
    )


def kiosk_gauges(found: KioskCounts) -> Iterator[GaugeReading]:
    """The gauges of paired devices."""
    states: dict[tuple[str, ...], float] = {
        ("alive",): float(found.alive),
        ("silent",): float(found.silent),
        ("out_of_order",): float(found.out_of_order),
    }
    yield GaugeReading("ridedash_kiosks", "Paired kiosks and door displays", states, ("state",))
    yield _one(
        "ridedash_kiosk_beats_missed",
        "Heartbeats that the kiosk which is silent for longest has missed",
        found.silent_s // HEARTBEAT_S,
    )


def _one(name: str, meaning: str, value: float) -> GaugeReading:
    return GaugeReading(name, meaning, {(): float(value)})
