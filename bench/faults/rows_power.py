"""A power cut loses no sent order: strace shows what is synced to disk, and when.

Row 27 of the fault matrix (docs/reliability.md 2).
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from sqlalchemy import func, select

from bench.faults.clock import FastClock
from bench.faults.crashing import CrashRun, crash_run
from bench.faults.desk import database
from bench.faults.life import Life
from bench.faults.nursery import ROOT
from bench.faults.scoreboard import Case, Missing, Verdict, row
from ridedash.extensions import Services, limiter
from ridedash.factory import create_app
from ridedash.store.orders import Order, OrderState
from ridedash.store.sign_ins import open_sign_in

CALLS: Final = "fsync,fdatasync,pwrite64,write,sendto,recvfrom"
SYNCS: Final = ("fsync", "fdatasync")
CODE: Final = "import sys; from bench.faults.rows_power import watched; watched(*sys.argv[1:])"
POLL_S: Final = 0.01
# Each sync takes 100,000 microseconds longer, so that a page which is too early is noticed.
SLOW_SYNC: Final = "inject=fsync,fdatasync:delay_enter=100000"
ENDED: Final = re.compile(r"(?P<tid>\d+) +<\.\.\. \w+ resumed>")
LINE: Final = re.compile(r"(?P<tid>\d+) +(?P<name>\w+)\(\d+<(?P<file>[^>]*)>(?:, (?P<data>.*))?")
SENT_JOURNAL: Final = "-000001.log"  # how the name of its only file ends
SENT: Final = '"POST /v1.5/bookings/create'


@dataclass(frozen=True)
class Event:
    """One system call of one thread: the lines of the trace on which it began and ended."""

    tid: str
    name: str
    file: str
    data: str
    began: int = 0
    ended: int = 0

    def syncs(self, file: str) -> bool:
        """Whether the call syncs a file with that suffix to the disk."""
        return self.name in SYNCS and self.file.endswith(file)

    def writes(self, file: str) -> bool:
        """Whether the call changes a file with that suffix."""
        return self.name in {"pwrite64", "write"} and self.file.endswith(file)


Holds = Callable[[Event], bool]
# what a sending thread must do after the request, in this order
STEPS: Final[tuple[tuple[str, Holds], ...]] = (
    ("the answer was written into the answer journal", lambda e: e.writes(".box")),
    ("the answer journal was synced", lambda e: e.syncs(".box")),
    ("the outcome was written", lambda e: e.writes("-wal")),
    ("the outcome was synced", lambda e: e.syncs("-wal")),
)


@row(27, "power cut: the claim is on the disk before a byte leaves")
def power_cut(case: Case) -> Verdict:
    """The claim and the sent journal are synced before the request is sent.

    The answer journal is synced before the outcome is written to the database, and the outcome is
    synced before a page says "Booked".
    """
    if shutil.which("strace") is None:
        raise Missing("strace")
    orders = case.size(50, 5)
    with database(case) as url, crash_run(case, url, "run", CrashRun, speed=1.0) as run:
        trace, shown = run.desk.folder / "trace", run.desk.folder / "said"
        worker = _traced(run.desk.life(hurry=1.0, threads=1), run.desk.staff_id, shown, trace)
        try:
            assert run.waits(shown.exists, 60.0), "somebody reads"
            pressed = list[int]()
            for _ in range(orders):
                press = run.desk.press("booked")
                assert press is not None
                pressed.append(press.order_id)
                assert run.waits(partial(_booked, run, shown, pressed), 20.0)
        finally:
            _end(worker)
    return _judged(events(trace), orders)


def _traced(life: Life, staff_id: int, shown: Path, trace: Path) -> "subprocess.Popen[bytes]":
    command = [
        "strace",
        "-f",
        "-y",
        "-qq",
        "-s",
        "40",
        "-e",
        f"trace={CALLS}",
        "-e",
        SLOW_SYNC,
        "-o",
        str(trace),
    ]
    worker = [sys.executable, "-c", CODE, json.dumps(asdict(life)), str(staff_id), str(shown)]
    return subprocess.Popen([*command, *worker], cwd=ROOT)


def watched(life: str, staff_id: str, shown: str) -> None:
    """A worker and a reader of pages in one tree of processes, so in one trace."""
    lived, worker = Life(**json.loads(life)), os.getpid()
    if os.fork():
        lived.run()
        return
    try:
        _read(lived, int(staff_id), Path(shown), worker)
    except Exception:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(0)


def _read(life: Life, staff_id: int, shown: Path, worker: int) -> None:
    """Poll one order after the other until it is shown as booked; write a line to `said` then."""
    clock, limiter.enabled = FastClock(life.origin, life.speed), False
    # POLL_LAYER=off: each poll reads the database.
    settings = {"INSTANCE": f"{life.folder}/web", "DATABASE_URL": life.url, "POLL_LAYER": "off"}
    app = create_app({f"RIDEDASH_{name}": value for name, value in settings.items()}, clock)
    services: Services = app.extensions["ridedash"]
    browser, last = app.test_client(), 0
    with services.db.write() as s, browser.session_transaction() as session:
        session["sid"] = open_sign_in(s, staff_id, clock())
    with shown.open("ab", buffering=0) as lines:
        while os.getppid() == worker:
            with services.db.read() as s:
                order_id = s.scalar(select(func.min(Order.id)).where(Order.id > last)) or 0
            page = browser.get(f"/rides/{order_id}/snapshot.json")
            if page.status_code == 200 and "booked" in page.text.lower():
                lines.write(b"booked %d\n" % order_id)
                last = order_id
            time.sleep(POLL_S)


def events(trace: Path) -> list[Event]:
    """The calls of a trace, in the order in which they began."""
    found, unfinished = list[Event](), dict[str, int]()
    for number, line in enumerate(trace.read_text(errors="replace").splitlines()):
        if (ended := ENDED.match(line)) and ended["tid"] in unfinished:
            index = unfinished.pop(ended["tid"])
            found[index] = replace(found[index], ended=number)
        elif begun := LINE.match(line):
            if line.endswith("<unfinished ...>"):
                unfinished[begun["tid"]] = len(found)
            found.append(
                Event(
                    begun["tid"], begun["name"], begun["file"], begun["data"] or "", number, number
                )
            )
    return [
        replace(each, ended=sys.maxsize) if i in unfinished.values() else each
        for i, each in enumerate(found)
    ]


def _booked(run: CrashRun, shown: Path, pressed: list[int]) -> bool:
    """Whether all these orders are booked, and a page of each has said so, one after the other."""
    said = [int(line.split()[1]) for line in shown.read_bytes().splitlines()]
    return len(run.desk.in_state(OrderState.BOOKED)) == len(pressed) and said == pressed


def _end(strace: "subprocess.Popen[bytes]") -> None:
    """End the worker; strace ends with it."""
    worker = Path(f"/proc/{strace.pid}/task/{strace.pid}/children").read_text().split()
    for pid in worker:
        os.kill(int(pid), signal.SIGTERM)
    try:
        strace.wait(20)
    except subprocess.TimeoutExpired:
        for pid in worker:
            os.kill(int(pid), signal.SIGKILL)
        strace.wait(20)


def _judged(all_events: list[Event], orders: int) -> Verdict:
    sends = [event for event in all_events if event.data.startswith(SENT)]
    pages = [event for event in all_events if event.writes("/said")]
    wrong = (
        []
        if len(sends) == len(pages) == orders
        else [f"{len(sends)} sends, {len(pages)} pages said Booked"]
    )
    for send, page in zip(sends, pages, strict=False):
        wrong += _wrong([e for e in all_events if e.tid == send.tid], send, page)
    note = (
        f"{len(sends)} sends, each after its claim and its line in the sent journal were synced, "
        "each answer synced twice before a page said Booked"
    )
    return Verdict(len(sends), lost=len(wrong), ok=not wrong, note="; ".join(wrong[:3]) or note)


def _wrong(mine: list[Event], send: Event, page: Event) -> Iterator[str]:
    """Messages about system calls of a sending thread in the wrong order, and a page too early."""
    at = mine.index(send)
    before, after = mine[:at], mine[at + 1 :]
    claimed = _last(before, lambda e: e.writes("-wal"))
    synced = _last(before, lambda e: e.syncs("-wal"))
    if claimed < 0 or synced < claimed or before[synced].ended > send.began:
        yield "a request left before its claim was synced"
    noted = _last(before, lambda e: e.writes(SENT_JOURNAL))
    journalled = _last(before, lambda e: e.syncs(SENT_JOURNAL))
    if noted < claimed or journalled < noted or before[journalled].ended > send.began:
        yield "a request left before it was in the sent journal"
    came = -1
    for words, holds in STEPS:
        came = next((i for i, event in enumerate(after) if holds(event) and i > came), -1)
        if came < 0:
            yield f"not seen after a send: {words}"
            return
    wal = next(i for i, event in enumerate(after) if event.writes("-wal"))
    box = next(i for i, event in enumerate(after) if event.syncs(".box"))
    if wal < box:
        yield "the database heard of an answer before the answer journal was synced"
    if page.began < after[came].ended:
        yield "a page said Booked before that was synced"


def _last(some: list[Event], holds: Holds) -> int:
    return max((i for i, event in enumerate(some) if holds(event)), default=-1)
