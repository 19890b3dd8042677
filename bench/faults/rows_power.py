"""Row 27: a power cut forgets nothing that was sent: what the kernel is asked to sync, and when, seen by strace."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Final

from bench.faults.crashing import Crew, crew
from bench.faults.desk import database
from bench.faults.life import Life
from bench.faults.nursery import ROOT
from bench.faults.scoreboard import Case, Missing, Verdict, row
from ridedash.store.orders import OrderState

CALLS: Final = "fsync,fdatasync,pwrite64,write,sendto,recvfrom"
SYNCS: Final = ("fsync", "fdatasync")
CODE: Final = "import json, sys; from bench.faults.life import Life; Life(**json.loads(sys.argv[1])).run()"
LINE: Final = re.compile(r"(?P<tid>\d+) +(?P<name>\w+)\(\d+<(?P<file>[^>]*)>(?:, (?P<data>.*))?")
SENT: Final = '"POST /v1.5/bookings/create'


@dataclass(frozen=True)
class Event:
    """One system call of one thread that has begun."""

    tid: str
    name: str
    file: str
    data: str

    def syncs(self, file: str) -> bool:
        """Whether it brings a file of that ending to the disk."""
        return self.name in SYNCS and self.file.endswith(file)

    def writes(self, file: str) -> bool:
        """Whether it changes a file of that ending."""
        return self.name in {"pwrite64", "write"} and self.file.endswith(file)


Holds = Callable[[Event], bool]


@row(27, "power cut: the claim is on the disk before a byte leaves")
def power_cut(case: Case) -> Verdict:
    """T2 is synced before the request, the answer before T3, T3 before anybody says "Booked"."""
    if shutil.which("strace") is None:
        raise Missing("strace")
    orders = case.size(50, 5)
    with database(case) as url, crew(case, url, "run", Crew, speed=1.0) as run:
        trace = run.desk.folder / "trace"
        worker = _traced(run.desk.life(hurry=1.0, threads=1), trace)
        try:
            for number in range(1, orders + 1):
                assert run.desk.press("booked") is not None
                assert run.waits(partial(_booked, run, number), 20.0)
        finally:
            _end(worker)
    return _judged(list(events(trace)), orders)


def _traced(life: Life, trace: Path) -> "subprocess.Popen[bytes]":
    command = ["strace", "-f", "-y", "-qq", "-s", "40", "-e", f"trace={CALLS}", "-o", str(trace)]
    worker = [sys.executable, "-c", CODE, json.dumps(asdict(life))]
    return subprocess.Popen([*command, *worker], cwd=ROOT)


def events(trace: Path) -> Iterator[Event]:
    """The calls of a trace, in the order in which they began."""
    for line in trace.read_text(errors="replace").splitlines():
        found = LINE.match(line)
        if found:
            yield Event(found["tid"], found["name"], found["file"], found["data"] or "")


def _booked(run: Crew, number: int) -> bool:
    return len(run.desk.in_state(OrderState.BOOKED)) == number


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
    wrong = [reason for send in sends for reason in _wrong([e for e in all_events if e.tid == send.tid], send)]
    note = "; ".join(wrong[:3]) or f"{len(sends)} sends, each after its claim was synced, each answer synced twice"
    return Verdict(len(sends), lost=len(wrong), ok=len(sends) == orders, note=note)


def _wrong(mine: list[Event], send: Event) -> Iterator[str]:
    """What one sending thread did in the wrong order."""
    at = mine.index(send)
    before, after = mine[:at], mine[at + 1 :]
    claimed = _last(before, lambda e: e.writes("-wal"))
    synced = _last(before, lambda e: e.syncs("-wal"))
    if claimed < 0 or synced < claimed:
        yield "a request left before its claim was synced"
    steps: tuple[tuple[str, Holds], ...] = (
        ("the answer was written into the black box", lambda e: e.writes(".box")),
        ("the black box was synced", lambda e: e.syncs(".box")),
        ("the outcome was written", lambda e: e.writes("-wal")),
        ("the outcome was synced", lambda e: e.syncs("-wal")),
    )
    came = -1
    for words, holds in steps:
        found = next((i for i, event in enumerate(after) if holds(event) and i > came), -1)
        if found < 0:
            yield f"not seen after a send: {words}"
            return
        came = found
    wal = next(i for i, event in enumerate(after) if event.writes("-wal"))
    box = next(i for i, event in enumerate(after) if event.syncs(".box"))
    if wal < box:
        yield "the database heard of an answer before the black box was synced"


def _last(some: list[Event], holds: Holds) -> int:
    return max((i for i, event in enumerate(some) if holds(event)), default=-1)
