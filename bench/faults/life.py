"""A process that runs a worker or places one order with the production classes.

It kills or stops itself at a fail point, if one is set.
"""

import base64
import contextlib
import math
import os
import signal
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from bench.faults import mutants
from bench.faults.clock import FastClock
from bench.faults.double import LedgerFile
from ridedash.rides.accounts.tokens import AccountTokens
from ridedash.rides.journals.answer_journal import AnswerJournal
from ridedash.rides.orders.fields import BookingRequest
from ridedash.rides.orders.place import OfferStale, place
from ridedash.rides.runtime import Runtime
from ridedash.rides.worker import Worker
from ridedash.service.client import RideClient
from ridedash.service.oauth import OAuthClient
from ridedash.service.throttle.traffic import Traffic
from ridedash.service.transport.http import Answer, Http, Request
from ridedash.store.actors import Actor, ActorKind
from ridedash.store.database.database import CommitUnknown, Database, DatabaseBusy
from ridedash.store.encryption import TokenVault

KEYS: Final = "k1:" + base64.b64encode(b"a desk that will be thrown away.").decode()
LEDGER: Final = "ledger.jsonl"  # its name in `Life.folder`

STOPS_WITHIN_S: Final = 0.05


class Hurried(Http):
    """Http with shorter timeouts: a deadline of 60 s ends after 60 / `speed` seconds.

    Each answer to create that was read completely is a line of the ledger.
    """

    speed = 1.0
    ledger: LedgerFile

    def call(self, request: Request) -> Answer:
        """See Http.call."""
        answer = super().call(replace(request, total_s=request.total_s / self.speed))
        if request.url.endswith("/create"):
            self.ledger.note("read", mtx=request.json["merchant_txn_id"])
        return answer


# Made once, before any fork: reading the certificates takes longer than a short process lives.
_http = Hurried()


@dataclass(frozen=True)
class Life:
    """The settings of one process.

    It sends itself the signal `ends_by` when it reaches `point` for the `hit`th time.
    """

    url: str
    folder: str
    port: int
    origin: float
    speed: float
    point: str = ""
    hit: int = 1
    ends_by: int = signal.SIGKILL
    hurry: float = 200.0  # the deadlines of calls are divided by this
    threads: int = 8
    mutant: str = ""
    # send this booking request instead of running the worker
    request: dict[str, Any] = field(default_factory=dict)

    def run(self) -> None:
        """Run the process."""
        stop = threading.Event()
        if not self.request:
            signal.signal(signal.SIGTERM, lambda *_: stop.set())
        db = Database(self.url)
        clock = FastClock(self.origin, self.speed)
        if self.request:
            # the form is sent again, as after a kill; an offer is stale on a machine that is busy
            with contextlib.suppress(DatabaseBusy, CommitUnknown, OfferStale):
                place(db, clock, request_of(self.request), failpoint=self.at())
            return
        self.worker(db, clock).run(stop)

    def at(self) -> "EndAt":
        """The hook for fail points."""
        return EndAt(self.point, self.hit, self.ends_by)

    def worker(self, db: Database, clock: FastClock) -> Worker:
        """The production worker with short deadlines, the fail point's hook and the mutant."""
        ledger = LedgerFile(Path(self.folder) / LEDGER)
        _http.speed, _http.ledger = self.hurry, ledger
        address = f"http://127.0.0.1:{self.port}"
        vault = TokenVault(KEYS)
        oauth = OAuthClient(_http, address + "/authorize", address + "/token", "id", "secret", "")
        tokens = AccountTokens(db, vault, oauth, clock)
        client = RideClient(_http, address, "partner-key", traffic=self.traffic())
        journal = AnswerJournal(Path(self.folder) / "blackbox", slots=64)
        _note_records(journal, ledger)
        runtime = Runtime(db, client, tokens, clock, failpoint=self.at())
        worker = Worker(runtime, journal, threads=self.threads)
        mutants.apply(self.mutant, worker)
        return worker

    def traffic(self) -> Traffic:
        """Circuit breaker and throttling by the fast clock, without a limit of calls per second."""
        return Traffic(math.inf, monotonic=lambda: time.monotonic() * self.speed, pause=self._pause)

    def _pause(self, seconds: float) -> None:
        time.sleep(seconds / self.speed)


def _note_records(journal: AnswerJournal, ledger: LedgerFile) -> None:
    """Let each answer that is in the journal, on disk, be a line of the ledger."""
    append = journal.file.append

    def noted(record: dict[str, Any]) -> int:
        slot = append(record)
        ledger.note("journalled", mtx=record["mtx"], attempt=record["attempt"])
        return slot

    vars(journal.file)["append"] = noted


def request_of(values: dict[str, Any]) -> BookingRequest:
    """The booking request of which `desk.as_json` made these values."""
    actor = values["actor"]
    return BookingRequest(**{**values, "actor": Actor(ActorKind(actor["kind"]), actor["id"])})


class EndAt:
    """A hook that kills or stops the process at the `hit`th visit of a fail point."""

    def __init__(self, name: str, hit: int, ends_by: int) -> None:
        self.name, self.left, self.ends_by = name, hit, ends_by
        self._lock = threading.Lock()

    def __call__(self, name: str) -> None:
        """Handle one fail point."""
        if name != self.name:
            return
        with self._lock:
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), self.ends_by)
                # Reached after SIGSTOP only, which takes a moment to stop every thread.
                time.sleep(STOPS_WITHIN_S)
