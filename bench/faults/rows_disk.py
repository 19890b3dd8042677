"""Rows about the disk and the database file: locked, full, a black box that can't be written, half a migration."""

import contextlib
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any, Final

from flask.testing import FlaskClient
from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError

from bench.faults.scoreboard import SQLITE, Case, Verdict, row
from bench.faults.shop import Service, Shop, csrf_of, database_in, shop
from ridedash.store.audit import AuditRow
from ridedash.store.db import Database, DatabaseBusy
from tests.running import clean_environment

CANT_SAVE: Final = "ridedash can't save right now, so it won't book"
DISK: Final = 6 * 1024 * 1024


@row(23, "SQLite locked for long by another writer")
def locked(case: Case) -> Verdict:
    """A press waits five seconds and is told that nothing was ordered; polls skip a turn; then all goes on."""
    service, rounds, wrong, errors = Service(), case.size(3, 1), Counter[str](), 0
    with shop(case.folder, service.handle) as desk:
        browser = desk.browser()
        page = browser.get("/rides/new").text
        ride = followed(desk, service)
        for number in range(rounds):
            desk.clock.go(10)
            form = desk.form(page, offer=desk.offer())
            with _long_writer(desk), _working(desk) as thread:
                began = time.monotonic()
                answer = browser.post("/rides/new", data=form)
                waited = time.monotonic() - began
                wrong["the worker ended"] += not thread.is_alive()
            errors += answer.status_code == 500
            wrong[f"HTTP {answer.status_code}"] += answer.status_code != 503
            wrong["other words"] += CANT_SAVE not in unescape(answer.text) or "Nothing was ordered" not in answer.text
            wrong["ordered all the same"] += len(desk.orders()) != number + 1
            wrong["the same form later"] += browser.post("/rides/new", data=form).status_code != 303
            desk.worker.step()
            wrong["polls did not go on"] += desk.ride(ride).seen_at != desk.clock()
        made = len(service.bookings)
    note = f"the press waited {waited:.1f} s; {dict(+wrong) or 'then all went on'}"
    return Verdict(rounds, doubled=max(0, made - rounds - 1), errors500=errors, ok=not +wrong, note=note)


def followed(desk: Shop, service: Service) -> int:
    """A ride that is polled and has a driver."""
    service.tracks["C1"] = [{"booking_id": "C1", "booking_status": "CALL_DRIVER", "driver_name": "Driver Cedar"}]
    order_id = desk.place()
    desk.worker.step()
    desk.worker.step()
    assert desk.ride(order_id).status == "CALL_DRIVER"
    return order_id


@contextlib.contextmanager
def _long_writer(desk: Shop) -> Iterator[None]:
    path = desk.s.db.engine.url.database
    assert path is not None
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@contextlib.contextmanager
def _working(desk: Shop) -> Iterator[threading.Thread]:
    """The worker goes round meanwhile, as in production."""
    stop = threading.Event()
    thread = threading.Thread(target=desk.worker.run, args=(stop,))
    thread.start()
    try:
        yield thread
    finally:
        stop.set()
        desk.worker.wake()
        thread.join(30)


@row(23, "Four writers at once on one SQLite file")
def four_writers(case: Case) -> Verdict:
    """Write transactions of four processes take turns: nobody is told that the database is locked."""
    times, url = case.size(5_000, 60), database_in(case.folder, SQLITE)
    command = [sys.executable, "-m", "bench.faults.writer", url, str(times)]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    locked_out = [int(writer.communicate()[0]) for writer in writers]
    db = Database(url)
    with db.read() as s:
        written = s.scalar(select(func.count()).select_from(AuditRow)) or 0
    db.close()
    lost = 4 * times - written - sum(locked_out)
    return Verdict(4 * times, lost=lost, ok=not any(locked_out), note=f"locked out: {sum(locked_out)}")


@row(24, "The disk is full")
def disk_full(case: Case) -> Verdict:
    """Nothing new is sent, an answer in flight is kept in the black box, pages go on, and all is settled later."""
    rounds, wrong, errors, real = case.size(10, 1), Counter[str](), 0, True
    for number in range(rounds):
        service = Service()
        with small_disk(case.sub(f"disk-{number}")) as disk, shop(disk.folder, service.handle) as desk:
            disk.watch(desk)
            real = disk.real
            errors += _full_round(desk, service, disk, wrong)
    note = f"{'a real tmpfs' if real else 'SQLite page limit'}; {dict(+wrong) or 'kept, refused, and settled later'}"
    return Verdict(rounds, errors500=errors, ok=not +wrong, note=note)


def _full_round(desk: Shop, service: Service, disk: "SmallDisk", wrong: Counter[str]) -> int:
    browser = desk.browser()
    page = browser.get("/rides/new").text
    ride, form = followed(desk, service), desk.form(page, offer=desk.offer())
    flying, waiting = desk.place(), desk.place()
    service.create.append(lambda body: (disk.fill(), service.booked(body))[1])
    wrong["a send went through"] += _works(lambda: desk.worker.sender.send(flying))
    wrong["settled without space"] += desk.order(flying).state != "SENDING"
    wrong["not in the black box"] += len(list(desk.box.file.pending())) != 1
    wrong["sent without T2"] += _works(lambda: desk.worker.sender.send(waiting)) or len(service.bookings) != 2
    wrong["a round went through"] += _works(desk.worker.step) and desk.order(flying).state != "SENDING"
    errors = _pages(browser, ride, form, wrong)
    wrong["integrity"] += _integrity(desk) != "ok"
    disk.free()
    for _ in range(2):
        desk.worker.step()
    wrong["not replayed"] += desk.order(flying).state != "BOOKED" or bool(list(desk.box.file.pending()))
    wrong["not sent later"] += desk.order(waiting).state != "BOOKED"
    wrong["the same form later"] += browser.post("/rides/new", data=form).status_code != 303
    desk.worker.step()
    mine = Counter(booking["mtx"] for booking in service.bookings)
    wrong["bookings"] += len(mine) != 4 or max(mine.values()) != 1
    return errors


def _works(deed: Callable[[], Any]) -> bool:
    try:
        deed()
    except (SQLAlchemyError, DatabaseBusy):
        return False
    return True


def _pages(browser: FlaskClient, ride: int, form: dict[str, str], wrong: Counter[str]) -> int:
    """Reading goes on; each way of writing says 503 in plain words."""
    errors = 0
    for path in ("/", "/board.json", f"/rides/{ride}", f"/rides/{ride}/snapshot.json", "/rides/new"):
        answer = browser.get(path)
        errors += answer.status_code == 500
        wrong[f"{path}: {answer.status_code}"] += answer.status_code != 200
    token = csrf_of(browser.get(f"/rides/{ride}").text)
    facts = {"csrf_token": token, "reason": "Changed plans", "what": "seen", "item": "x"}
    for path, data in (("/rides/new", form), (f"/rides/{ride}/cancel", facts), (f"/rides/{ride}/again", facts)):
        answer = browser.post(path, data=data)
        errors += answer.status_code == 500
        wrong[f"POST {path}: {answer.status_code}"] += answer.status_code != 503
        wrong[f"POST {path}: other words"] += CANT_SAVE not in unescape(answer.text)
    return errors


def _integrity(desk: Shop) -> str:
    with desk.s.db.engine.connect() as line:
        return str(line.exec_driver_sql("PRAGMA integrity_check").scalar())


class SmallDisk:
    """A folder that can be filled: a tmpfs of its own where this user may mount one, else SQLite's page limit."""

    def __init__(self, folder: Path, real: bool) -> None:
        self.folder, self.real = folder, real
        self._desk: Shop | None = None

    def watch(self, desk: Shop) -> None:
        """The desk whose database lies here."""
        self._desk = desk

    def fill(self) -> None:
        """No block is free any more; what SQLite had reserved in its log is given back first."""
        assert self._desk is not None
        with self._desk.s.db.engine.connect() as line:
            line.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        if not self.real:
            self._limit(1)
            return
        with (self.folder / "filler").open("wb", buffering=0) as filler, contextlib.suppress(OSError):
            while True:
                filler.write(b"x" * 4096)

    def free(self) -> None:
        """Somebody made room."""
        if self.real:
            (self.folder / "filler").unlink()
        else:
            self._limit(2**30)

    def _limit(self, pages: int) -> None:
        """On each connection that is open: SQLite keeps the limit at what is in use."""
        assert self._desk is not None
        lines = [self._desk.s.db.engine.connect() for _ in range(12)]
        for line in lines:
            line.exec_driver_sql(f"PRAGMA max_page_count={pages}")
        for line in lines:
            line.close()


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[SmallDisk]:
    """A disk of six megabytes, taken away at the end."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(folder)]
    with contextlib.suppress(FileNotFoundError):
        if os.geteuid() == 0 and subprocess.run(command, capture_output=True, check=False).returncode == 0:
            try:
                yield SmallDisk(folder, real=True)
            finally:
                subprocess.run(["umount", "-l", str(folder)], check=True)
            return
    yield SmallDisk(folder, real=False)


@row(25, "The black box can't be written")
def box_unwritable(case: Case) -> Verdict:
    """An answer that could not be kept: it is settled all the same, and nothing more is sent until a write works."""
    service, wrong = Service(), Counter[str]()
    with shop(case.folder, service.handle) as desk:
        sound, unwritable = desk.box.file._fd, os.open(desk.box.path, os.O_RDONLY)
        browser = desk.browser()
        wrong["not ready before"] += _ready(browser, desk) != 200
        desk.box.file._fd = unwritable
        first = desk.send()
        wrong["the answer was lost"] += desk.order(first).state != "BOOKED"
        second = desk.place()
        desk.worker.step()
        wrong["sent without a box"] += desk.order(second).state != "READY" or len(service.bookings) != 1
        wrong["ready without a box"] += _ready(browser, desk) != 503
        desk.box.file._fd = sound
        desk.worker.step()
        wrong["not sent later"] += desk.order(second).state != "BOOKED"
        wrong["not ready later"] += _ready(browser, desk) != 200
        os.close(unwritable)
    wrong["started without a box"] += _starts_without(case.sub("start"))
    return Verdict(
        3, ok=not +wrong, note=str(dict(+wrong) or "no send, not ready; both again after a write that worked")
    )


def _ready(browser: FlaskClient, desk: Shop) -> int:
    desk.worker._chores(always=True)
    return browser.get("/readyz").status_code


def _starts_without(folder: Path) -> bool:
    """Whether a worker starts where its black box can't be: a file stands in the place of the folder."""
    (folder / "instance").mkdir(mode=0o700)
    (folder / "instance" / "blackbox").write_text("")
    url = database_in(folder, SQLITE)
    settings = clean_environment(RIDEDASH_INSTANCE=str(folder / "instance"), RIDEDASH_DATABASE_URL=url)
    code, said = _ended([sys.executable, "-m", "ridedash.cli", "worker"], settings)
    return code != 2 or "can't be written" not in said or "Traceback" in said


@row(33, "A migration half done, or another version's")
def half_migrated(case: Case) -> Verdict:
    """The program does not start on it, and says why in a sentence that names what it found."""
    wrong = Counter[str]()
    damages = {"half": DAMAGES["half"]} if case.short else DAMAGES
    for name, (damage, word) in damages.items():
        folder = case.sub(name)
        url = database_in(folder, SQLITE)
        path = url.removeprefix("sqlite:///")
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as line:
            line.executescript(damage)
        before = Path(path).read_bytes()
        settings = clean_environment(RIDEDASH_INSTANCE=str(folder / "instance"), RIDEDASH_DATABASE_URL=url)
        command = [sys.executable, "-m", "ridedash.cli", "worker"]
        code, said = _ended(command, settings)
        wrong[f"{name}: started"] += code != 2
        wrong[f"{name}: {said[-60:]}"] += word not in said or "Traceback" in said
        wrong[f"{name}: changed"] += Path(path).read_bytes() != before
    return Verdict(len(damages), ok=not +wrong, note=str(dict(+wrong) or "each refused by name"))


def _ended(command: list[str], settings: dict[str, str]) -> tuple[int | None, str]:
    """The exit code of a program that should not start, and what it said; None when it had to be stopped."""
    with subprocess.Popen(command, env=settings, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
        try:
            said = run.communicate(timeout=30)[1]
        except subprocess.TimeoutExpired:
            run.terminate()
            return None, run.communicate()[1]
        return run.returncode, said


DAMAGES: Final = {
    "newer": ("UPDATE alembic_version SET version_num = 'from-the-future'", "from-the-future"),
    "older": (
        "UPDATE alembic_version SET version_num = '0003'; ALTER TABLE heartbeats DROP COLUMN silent_since",
        "0003",
    ),
    "half": ("ALTER TABLE heartbeats DROP COLUMN silent_since", "heartbeats.silent_since"),
}
