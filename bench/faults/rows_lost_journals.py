"""The database is restored where the journals are lost as well, and nobody says so.

Row 40 of the fault matrix (docs/reliability.md 2).
"""

import contextlib
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from sqlalchemy import select

from bench.faults.scoreboard import POSTGRESQL, SQLITE, Case, Verdict, row
from bench.faults.shop import Service, Shop, database_in, shop
from ridedash.rides.journals.answer_journal import AnswerJournal
from ridedash.rides.orders.resolve import withdraw
from ridedash.rides.worker import Worker
from ridedash.store.models.orders import OrderState
from ridedash.store.models.restores import Restore
from tests.rides.dumps import dump, restore

AT_ONE_DESK: Final = 10  # restores of one database, before the next one is made
PLANNED: Final = 4  # planned rides in each backup
STEP_S: Final = 60.0  # how far the clock goes on between rounds of a worker
ROUNDS: Final = 50  # 50 minutes: until all planned rides were due and their pickup is over


@dataclass
class Counts:
    """The counts of all rounds, and messages about the first violations."""

    restores: int = 0
    forgotten: int = 0  # planned rides that were sent or withdrawn, and that the database forgot
    held: int = 0
    doubled: int = 0
    withdrawn: int = 0  # rides that were withdrawn and ordered nevertheless
    stuck: int = 0  # restores after which nothing was held, or a new press was not booked
    messages: list[str] = field(default_factory=list)

    def find(self, what: str, words: str) -> None:
        """Count one violation."""
        setattr(self, what, getattr(self, what) + 1)
        self.messages = [*self.messages, f"{what}: {words}"][:3]


@row(40, "The database is restored and the journals are lost, SQLite")
def lost_with_sqlite(case: Case) -> Verdict:
    """200 restores of SQLite on a machine without journals."""
    return _restores(case, SQLITE)


@row(40, "The same on PostgreSQL", database=POSTGRESQL)
def lost_with_postgresql(case: Case) -> Verdict:
    """200 restores of PostgreSQL on a machine without journals."""
    return _restores(case, POSTGRESQL)


def _restores(case: Case, kind: str) -> Verdict:
    counts, wanted = Counts(), case.size(200, 3)
    while counts.restores < wanted:
        folder, service = case.sub(f"{kind}-{counts.restores}"), Service()
        url = database_in(folder, kind)
        with shop(folder, service.handle, url=url, durable=False) as desk:
            for _ in range(min(AT_ONE_DESK, wanted - counts.restores)):
                _Round(desk, service, case.rng, counts).play()
    note = f"{counts.forgotten} sends and withdrawals forgotten, {counts.held} rides held; " + (
        "; ".join(counts.messages) or "none ordered again"
    )
    return Verdict(
        counts.restores,
        doubled=counts.doubled,
        ok=min(counts.forgotten, counts.held) > 0 and not (counts.withdrawn or counts.stuck),
        note=note,
    )


class _Round:
    """Planned rides, a backup, work after it, and a restore on a machine that has no journals."""

    def __init__(self, desk: Shop, service: Service, rng: random.Random, counts: Counts) -> None:
        self.desk, self.service, self.rng, self.counts = desk, service, rng, counts
        self.machine = counts.restores  # each restore is on another machine
        self.taken_back: set[str] = set()

    def play(self) -> None:
        desk, rng = self.desk, self.rng
        self.counts.restores += 1
        with self._worker() as worker:
            desk.place()
            worker.step()
            for _ in range(PLANNED):
                ahead = timedelta(minutes=rng.choice((22, 25, 30, 40)))
                desk.place(pickup_at=desk.clock() + ahead)
            for _ in range(rng.randrange(1, 4)):
                self._step(worker)
            backup, sent = dump(desk.s.db), self._made()
            self._work(worker)
        self.counts.forgotten += len(self._made() - sent) + len(self.taken_back)
        restore(desk.s.db, backup)
        desk.clock.go(rng.choice((0.2, 3, 40, 400)))
        self.machine += 1000
        with contextlib.ExitStack() as machines:
            workers = [
                machines.enter_context(self._worker(f"-{number}"))
                for number in range(rng.choice((1, 1, 2)))
            ]
            for _ in range(ROUNDS):
                for worker in workers:
                    self._step(worker, STEP_S / len(workers))
            self._check(workers)

    def _work(self, worker: Worker) -> None:
        """What happens after the backup: planned rides are sent, one is withdrawn, one is new."""
        desk = self.desk
        planned = [each for each in desk.orders() if each.state == OrderState.SCHEDULED]
        # a ride that an earlier restore holds may have been booked before that restore
        free = [each for each in planned if each.held_at is None]
        for order in self.rng.sample(free, min(1, len(free))):
            if withdraw(desk.s.db, desk.clock, order.id, desk.actor):
                self.taken_back.add(order.mtx)
        if self.rng.random() < 0.5:
            desk.place()
        for _ in range(self.rng.choice((2, 8, 20))):
            self._step(worker, STEP_S)

    def _step(self, worker: Worker, seconds: float = 2.0) -> None:
        worker.step()
        self.desk.clock.go(seconds)

    @contextlib.contextmanager
    def _worker(self, name: str = "") -> Iterator[Worker]:
        """A worker of the present machine, with journals of its own."""
        journal = AnswerJournal(self.desk.folder / f"machine-{self.machine}{name}", slots=16)
        try:
            yield Worker(self.desk.runtime, journal)
        finally:
            journal.close()

    def _made(self) -> set[str]:
        return {each["mtx"] for each in self.service.bookings}

    def _check(self, workers: list[Worker]) -> None:
        """Count what the service booked twice, or although it was withdrawn."""
        for reference, times in Counter(each["mtx"] for each in self.service.bookings).items():
            if times > 1:
                self.counts.find("doubled", f"{reference} was booked {times} times")
            if reference in self.taken_back:
                self.counts.find("withdrawn", reference)
        with self.desk.s.db.read() as s:
            noted = s.scalars(select(Restore.id).where(Restore.bare)).all()
        held = [each for each in self.desk.orders() if each.held_at is not None]
        self.counts.held += len(held)
        new = self.desk.place()
        for worker in workers:
            self._step(worker)
        if not noted or self.desk.order(new).state != OrderState.BOOKED:
            self.counts.find("stuck", f"{len(noted)} noted, {self.desk.order(new).state}")
