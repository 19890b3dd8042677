"""The disk is full, or the answer journal can't be written.

Rows 24 and 25 of the fault matrix (docs/reliability.md 2).
"""

import contextlib
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from flask.testing import FlaskClient
from sqlalchemy.exc import SQLAlchemyError

from bench.faults.rows_locked import cant_save, followed
from bench.faults.rows_migration import ended
from bench.faults.scoreboard import SQLITE, Case, Verdict, row
from bench.faults.shop import Service, Shop, csrf_of, database_in, shop
from ridedash.store.database.database import DatabaseBusy
from tests.running import clean_environment

DISK: Final = 6 * 1024 * 1024


@row(24, "The disk is full")
def disk_full(case: Case) -> Verdict:
    """No new order is sent, an answer in flight is kept in the answer journal, pages still work.

    Everything is settled later.
    """
    rounds, wrong, errors, real = case.size(10, 1), Counter[str](), 0, True
    for number in range(rounds):
        service = Service()
        with (
            small_disk(case.sub(f"disk-{number}")) as disk,
            shop(disk.folder, service.handle) as desk,
        ):
            disk.watch(desk)
            real = disk.real
            errors += _full_round(desk, service, disk, wrong)
    note = (
        f"{'a real tmpfs' if real else 'SQLite page limit'}; "
        f"{dict(+wrong) or 'kept, refused, and settled later'}"
    )
    return Verdict(rounds, errors500=errors, ok=not +wrong, note=note)


def _full_round(desk: Shop, service: Service, disk: "SmallDisk", wrong: Counter[str]) -> int:
    browser = desk.browser()
    page = browser.get("/rides/new").text
    ride, form = followed(desk, service), desk.form(page, offer=desk.offer())
    flying, waiting = desk.place(), desk.place()
    service.create.append(lambda body: (disk.fill(), service.booked(body))[1])
    wrong["a send went through"] += _works(lambda: desk.worker.sender.send(flying))
    wrong["settled without space"] += desk.order(flying).state != "SENDING"
    wrong["not in the answer journal"] += len(list(desk.journal.file.pending())) != 1
    wrong["sent without T2"] += (
        _works(lambda: desk.worker.sender.send(waiting)) or len(service.bookings) != 2
    )
    wrong["a round went through"] += (
        _works(desk.worker.step) and desk.order(flying).state != "SENDING"
    )
    errors = _pages(browser, ride, form, wrong)
    wrong["integrity"] += _integrity(desk) != "ok"
    disk.free()
    for _ in range(2):
        desk.worker.step()
    wrong["not replayed"] += desk.order(flying).state != "BOOKED" or bool(
        list(desk.journal.file.pending())
    )
    wrong["not sent later"] += desk.order(waiting).state != "BOOKED"
    wrong["the same form later"] += browser.post("/rides/new", data=form).status_code != 303
    desk.worker.step()
    mine = Counter(booking["mtx"] for booking in service.bookings)
    wrong["bookings"] += len(mine) != 4 or max(mine.values()) != 1
    return errors


def _works(work: Callable[[], Any]) -> bool:
    try:
        work()
    except (SQLAlchemyError, DatabaseBusy):
        return False
    return True


def _pages(browser: FlaskClient, ride: int, form: dict[str, str], wrong: Counter[str]) -> int:
    """Count in `wrong` pages that can't be read, and writes without a plain message and 503.

    Returns the number of answers with status 500.
    """
    errors = 0
    for path in (
        "/",
        "/board.json",
        f"/rides/{ride}",
        f"/rides/{ride}/snapshot.json",
        "/rides/new",
    ):
        answer = browser.get(path)
        errors += answer.status_code == 500
        wrong[f"{path}: {answer.status_code}"] += answer.status_code != 200
    token = csrf_of(browser.get(f"/rides/{ride}").text)
    facts = {"csrf_token": token, "reason": "Changed plans", "what": "seen", "item": "x"}
    for path, data in (
        ("/rides/new", form),
        (f"/rides/{ride}/cancel", facts),
        (f"/rides/{ride}/again", facts),
    ):
        answer = browser.post(path, data=data)
        errors += answer.status_code == 500
        wrong[f"POST {path}: {answer.status_code}"] += answer.status_code != 503
        wrong[f"POST {path}: other words"] += not cant_save(answer)
    return errors


def _integrity(desk: Shop) -> str:
    with desk.s.db.engine.connect() as line:
        return str(line.exec_driver_sql("PRAGMA integrity_check").scalar())


class SmallDisk:
    """A folder that can be filled.

    It is a tmpfs if this user may mount one, otherwise SQLite's page limit is used.
    """

    def __init__(self, folder: Path, real: bool) -> None:
        self.folder, self.real = folder, real
        self._desk: Shop | None = None

    def watch(self, desk: Shop) -> None:
        """Set the Shop whose database is on this disk."""
        self._desk = desk

    def fill(self) -> None:
        """Fill the disk, after SQLite has truncated its write-ahead log, which had spare space."""
        assert self._desk is not None
        with self._desk.s.db.engine.connect() as line:
            line.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        if not self.real:
            self._limit(1)
            return
        with (
            (self.folder / "filler").open("wb", buffering=0) as filler,
            contextlib.suppress(OSError),
        ):
            while True:
                filler.write(b"x" * 4096)

    def free(self) -> None:
        """Free the space again."""
        if self.real:
            (self.folder / "filler").unlink()
        else:
            self._limit(2**30)

    def _limit(self, pages: int) -> None:
        """Limit the database to `pages` pages, or to those in use, on each pooled connection."""
        assert self._desk is not None
        lines = [self._desk.s.db.engine.connect() for _ in range(12)]
        for line in lines:
            line.exec_driver_sql(f"PRAGMA max_page_count={pages}")
        for line in lines:
            line.close()


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[SmallDisk]:
    """A disk of six megabytes, removed at the end."""
    real = _mounted(folder)
    try:
        yield SmallDisk(folder, real)
    finally:
        if real:
            subprocess.run(["umount", "-l", str(folder)], check=True)


def _mounted(folder: Path) -> bool:
    """Mount a tmpfs of DISK bytes. Returns False if this user may not or has no mount program."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(folder)]
    if os.geteuid() != 0 or shutil.which("mount") is None:
        return False
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@row(25, "The answer journal can't be written")
def box_unwritable(case: Case) -> Verdict:
    """An answer that could not be journalled is settled all the same.

    No new order is sent until a write works.
    """
    service, wrong = Service(), Counter[str]()
    with shop(case.folder, service.handle) as desk:
        sound, unwritable = desk.journal.file._fd, os.open(desk.journal.path, os.O_RDONLY)
        browser = desk.browser()
        wrong["not ready before"] += _ready(browser, desk) != 200
        desk.journal.file._fd = unwritable
        first = desk.send()
        wrong["the answer was lost"] += desk.order(first).state != "BOOKED"
        second = desk.place()
        desk.worker.step()
        wrong["sent without a journal"] += (
            desk.order(second).state != "READY" or len(service.bookings) != 1
        )
        wrong["ready without a journal"] += _ready(browser, desk) != 503
        desk.journal.file._fd = sound
        desk.worker.step()
        wrong["not sent later"] += desk.order(second).state != "BOOKED"
        wrong["not ready later"] += _ready(browser, desk) != 200
        os.close(unwritable)
    wrong["started without a journal"] += _starts_without(case.sub("start"))
    return Verdict(
        3,
        ok=not +wrong,
        note=str(dict(+wrong) or "no send, not ready; both again after a write that worked"),
    )


def _ready(browser: FlaskClient, desk: Shop) -> int:
    desk.worker._recurring_jobs(always=True)
    return browser.get("/readyz").status_code


def _starts_without(folder: Path) -> bool:
    """Whether a worker starts although its journal folder is a file, or ends without saying why."""
    (folder / "instance").mkdir(mode=0o700)
    (folder / "instance" / "blackbox").write_text("")
    url = database_in(folder, SQLITE)
    settings = clean_environment(
        RIDEDASH_INSTANCE=str(folder / "instance"), RIDEDASH_DATABASE_URL=url
    )
    code, printed = ended([sys.executable, "-m", "ridedash.cli", "worker"], settings)
    return code != 2 or "can't be written" not in printed or "Traceback" in printed
