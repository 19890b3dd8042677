"""Another writer locks the database file, for long or repeatedly.

Row 23 of the fault matrix (docs/reliability.md 2).
"""

import contextlib
import logging
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from html import unescape
from typing import Final

from flask.testing import FlaskClient
from sqlalchemy import func, select
from werkzeug.test import TestResponse

from bench.faults.scoreboard import SQLITE, Case, Verdict, row
from bench.faults.shop import Service, Shop, database_in, shop
from ridedash.rides.runtime import Runtime
from ridedash.rides.tracking.claims import Claim
from ridedash.rides.tracking.poll import Tracker
from ridedash.rides.tracking.record import Polled
from ridedash.store.audit import AuditRow
from ridedash.store.database.database import Database, DatabaseBusy

# Twice as long as a press may wait, so that a wait for the end of the lock is noticed.
HELD_S: Final = 10.0
# The five seconds of row 23, and one for the rest of the request on a busy machine.
MOST_S: Final = 6.0
LATER_S: Final = 30.0  # longest wait for a result; the time until it comes is not judged
CANT_SAVE: Final = "ridedash can't save right now, so it won't book"


@row(23, "SQLite locked for ten seconds by another writer")
def locked(case: Case) -> Verdict:
    """A press waits five seconds and is refused; polls are skipped; then everything continues."""
    service, rounds, wrong, waited, errors = (
        Service(),
        case.size(3, 1),
        Counter[str](),
        list[float](),
        0,
    )
    with shop(case.folder, service.handle) as desk:
        browser = desk.browser()
        page, ride = browser.get("/rides/new").text, followed(desk, service)
        with _working(desk, wrong) as met:
            for _ in range(rounds):
                form = desk.form(page, offer=desk.offer())
                errors += _pressed(desk, service, browser, form, wrong, waited)
                wrong["no poll met the lock"] += not comes(lambda: bool(met))
                met.clear()
                _goes_on(desk, browser, form, ride, wrong)
        made = len(service.bookings)
    if not case.short:  # the short form, which CI runs, judges answers but no times
        wrong[f"waited longer than {MOST_S:g} s"] += sum(each > MOST_S for each in waited)
    note = (
        f"{rounds} presses waited {max(waited):.1f} s at most; "
        f"{dict(+wrong) or 'polls skipped; then all went on'}"
    )
    return Verdict(
        rounds, doubled=max(0, made - rounds - 1), errors500=errors, ok=not +wrong, note=note
    )


def _pressed(
    desk: Shop,
    service: Service,
    browser: FlaskClient,
    form: dict[str, str],
    wrong: Counter[str],
    waited: list[float],
) -> int:
    """Press "Book" while another writer holds the lock. Returns the number of 500 answers."""
    orders, polls = len(desk.orders()), _polls(service)

    def look() -> None:
        wrong["polled without a claim"] += _polls(service) != polls

    # No heartbeat waits for the lock first: a poll that came after it would no longer be refused.
    desk.worker._last["heartbeat"] = time.monotonic()
    with _long_writer(desk, look):
        desk.clock.go(10)  # makes the ride due
        began = time.monotonic()
        answer = browser.post("/rides/new", data=form)
        waited.append(time.monotonic() - began)
        page = browser.get("/board.json")
        wrong[f"HTTP {answer.status_code}"] += answer.status_code != 503
        wrong["other words"] += not cant_save(answer) or "Nothing was booked" not in answer.text
        wrong["ordered all the same"] += len(desk.orders()) != orders
        wrong[f"a reader's HTTP {page.status_code}"] += page.status_code != 200
    return sum(each.status_code == 500 for each in (answer, page))


def _goes_on(
    desk: Shop, browser: FlaskClient, form: dict[str, str], ride: int, wrong: Counter[str]
) -> None:
    """Check that the same form now makes an order, and that the same worker sends and polls."""
    wrong["the same form later"] += browser.post("/rides/new", data=form).status_code != 303
    wrong["not sent later"] += not comes(lambda: desk.orders()[-1].state == "BOOKED")
    wrong["polls did not go on"] += not comes(lambda: desk.ride(ride).seen_at == desk.clock())


def _polls(service: Service) -> int:
    return sum(name == "track_ride" for name, _ in service.calls)


def comes(holds: Callable[[], bool]) -> bool:
    """Wait for a condition. Returns whether it became true."""
    end = time.monotonic() + LATER_S
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return holds()


def cant_save(answer: TestResponse) -> bool:
    """Whether an answer says in plain words that nothing can be saved."""
    return CANT_SAVE in unescape(answer.text)


def followed(desk: Shop, service: Service) -> int:
    """A ride that is polled and has a driver."""
    service.tracks["C1"] = [
        {"booking_id": "C1", "booking_status": "CALL_DRIVER", "driver_name": "Driver Cedar"}
    ]
    order_id = desk.place()
    desk.worker.step()
    desk.worker.step()
    assert desk.ride(order_id).status == "CALL_DRIVER"
    return order_id


@contextlib.contextmanager
def _long_writer(desk: Shop, look: Callable[[], None]) -> Iterator[None]:
    """Let another writer hold the lock for HELD_S, and call `look` just before it ends."""
    held = threading.Event()
    thread = threading.Thread(target=_hold, args=(desk.s.db.engine.url.database, held, look))
    thread.start()
    try:
        assert held.wait(LATER_S), "the other writer got its lock"
        yield
    finally:
        thread.join()


def _hold(path: str, held: threading.Event, look: Callable[[], None]) -> None:
    with contextlib.closing(sqlite3.connect(path, timeout=LATER_S, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        held.set()
        time.sleep(HELD_S)
        look()
        other.execute("ROLLBACK")


@contextlib.contextmanager
def _working(desk: Shop, wrong: Counter[str]) -> Iterator[list[str]]:
    """Run the worker in a thread. Yields what the lock refused its tracker.

    Other errors are counted in `wrong` at the end.
    """
    stop, reader = threading.Event(), _LogReader()
    desk.worker.tracker = tracker = _RefusedTracker(desk.worker.runtime)
    log = logging.getLogger("ridedash.rides")
    thread = threading.Thread(target=desk.worker.run, args=(stop,))
    log.addHandler(reader)
    log.setLevel(logging.ERROR)
    log.propagate = False
    thread.start()
    try:
        yield tracker.refused
        wrong["the worker ended"] += not thread.is_alive()
        wrong.update(reader.others)
    finally:
        stop.set()
        desk.worker.wake()
        thread.join(LATER_S)
        log.removeHandler(reader)
        log.setLevel(logging.NOTSET)
        log.propagate = True


class _RefusedTracker(Tracker):
    """A Tracker that notes when the lock refused it a claim of rides, or a record of answers."""

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self.refused: list[str] = []

    def claim(self, limit: int, rest: int | None = None) -> Sequence[Claim]:
        with self._noting("claim"):
            return super().claim(limit, rest)

    def record(self, polls: Sequence[Polled]) -> int:
        with self._noting("record"):
            return super().record(polls)

    @contextlib.contextmanager
    def _noting(self, what: str) -> Iterator[None]:
        try:
            yield
        except DatabaseBusy:
            self.refused.append(what)
            raise


class _LogReader(logging.Handler):
    """The worker's log, without the rounds that were skipped because of the lock."""

    def __init__(self) -> None:
        super().__init__()
        self.others: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if record.exc_info is not None or DatabaseBusy.__name__ not in message:
            self.others.append(message)


@row(23, "Four writers at once on one SQLite file")
def four_writers(case: Case) -> Verdict:
    """Four processes write at the same time, and none of their writes is refused."""
    times, url = case.size(5_000, 60), database_in(case.folder, SQLITE)
    command = [sys.executable, "-m", "bench.faults.writer", url, str(times)]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    locked_out = [int(writer.communicate()[0]) for writer in writers]
    db = Database(url)
    with db.read() as s:
        written = s.scalar(select(func.count()).select_from(AuditRow)) or 0
    db.close()
    lost = 4 * times - written - sum(locked_out)
    return Verdict(
        4 * times, lost=lost, ok=not any(locked_out), note=f"locked out: {sum(locked_out)}"
    )
