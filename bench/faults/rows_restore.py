"""The database is restored from a backup at random moments around sends.

Row 37 of the fault matrix (docs/reliability.md 2).
"""

import contextlib
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Final

import httpx
from sqlalchemy import select

from bench.faults import crashing
from bench.faults.scoreboard import POSTGRESQL, SQLITE, Case, Verdict, row
from bench.faults.shop import Service, Shop, database_in, shop
from ridedash.rides.journals.answer_journal import AnswerJournal
from ridedash.rides.orders import after_restore
from ridedash.rides.orders.after_restore import TakeUp
from ridedash.rides.worker import Worker
from ridedash.store import restores
from ridedash.store.models.restores import LostOrder
from ridedash.store.orders import OrderState
from tests.rides.dumps import Dump, dump, restore

S = OrderState
POINTS: Final = (
    *crashing.POINTS,
    "plan.claimed",
    "plan.asked",
    "plan.ready",
)
AT_ONE_DESK: Final = 10  # restores of one database, before the next one is made
# states of an order for which the service may have a booking
STANDS_FOR: Final = frozenset(
    {S.BOOKED, S.MATCHING, S.FAILED, S.SENDING, S.UNKNOWN, S.CLOSED_NOT_BOOKED}
)


class Died(BaseException):
    """The process of a worker ended at a failpoint."""


@dataclass
class Hook:
    """A failpoint hook: calls `work` at the `hit`th visit of `point`, then may raise Died."""

    point: str
    hit: int
    work: Callable[[], None]
    dies: bool
    counts: "Counts"

    def __call__(self, name: str) -> None:
        """Handle one failpoint."""
        if name != self.point:
            return
        self.hit -= 1
        if self.hit == 0:
            self.work()
            self.counts.at_point += 1
            if self.dies:
                self.counts.died += 1
                raise Died


@dataclass
class Counts:
    """The counts of all rounds, and messages about the first violations."""

    restores: int = 0
    at_point: int = 0  # restores at a failpoint of a worker
    died: int = 0  # workers that ended there
    doubled: int = 0
    unlisted: int = 0
    false_not_booked: int = 0
    not_taken_up: int = 0
    bookings: int = 0
    messages: list[str] = field(default_factory=list)

    def find(self, what: str, words: str) -> None:
        """Count one violation."""
        setattr(self, what, getattr(self, what) + 1)
        self.messages = [*self.messages, f"{what}: {words}"][:3]


@row(37, "The database is restored from a backup around sends, SQLite")
def restored_sqlite(case: Case) -> Verdict:
    """200 restores of SQLite: nothing is booked twice.

    Each booking has an order, or is in the list of lost orders.
    """
    return _restores(case, SQLITE)


@row(37, "The same on PostgreSQL", database=POSTGRESQL)
def restored_postgresql(case: Case) -> Verdict:
    """200 restores of PostgreSQL."""
    return _restores(case, POSTGRESQL)


def _restores(case: Case, kind: str) -> Verdict:
    counts, wanted = Counts(), case.size(200, 8)
    while counts.restores < wanted:
        folder = case.sub(f"{kind}-{counts.restores}")
        service = Service()
        url = database_in(folder, kind)
        with shop(folder, service.handle, url=url, durable=False) as desk:
            for _ in range(min(AT_ONE_DESK, wanted - counts.restores)):
                _Round(desk, service, case.rng, counts).play()
        counts.bookings += len(service.bookings)
    unlisted = counts.unlisted + counts.not_taken_up
    note = f"{counts.bookings} bookings, {counts.at_point} restores at failpoints; " + (
        "; ".join(counts.messages) or "each an order, or listed"
    )
    return Verdict(
        counts.restores,
        lost=unlisted,
        doubled=counts.doubled,
        false_not_booked=counts.false_not_booked,
        ok=min(counts.bookings, counts.at_point, counts.died) > 0,
        note=note,
    )


class _Round:
    """One backup, work around it, the restore, and what people do afterwards."""

    def __init__(self, desk: Shop, service: Service, rng: random.Random, counts: Counts) -> None:
        self.desk, self.service, self.rng, self.counts = desk, service, rng, counts
        self.backup: Dump = {}
        self.is_restored = False

    def play(self) -> None:
        self.counts.restores += 1
        self._work(self.rng.randrange(3))
        self._press(minutes=self.rng.choice((15, 16, 18)))  # due soon after the backup
        if self.rng.random() < 0.5:
            self._press(minutes=0)
        self.backup = dump(self.desk.s.db)
        self._work(self.rng.randrange(1, 6))
        point, hit = self.rng.choice(POINTS), self.rng.randrange(1, 3)
        dies = self.rng.random() < 0.5
        hook = Hook(point, hit, self._restore, dies, self.counts)
        self._press()
        with self._worker(hook) as worker, contextlib.suppress(Died):
            for _ in range(self.rng.randrange(1, 4)):
                self._step(worker)
        if not self.is_restored:
            self._restore()
        self.desk.clock.go(self.rng.choice((0.2, 3, 40, 400)))
        self._settle()
        self._check("restored")
        self._decide()
        self._settle()
        self._check("decided")

    def _restore(self) -> None:
        restore(self.desk.s.db, self.backup)
        self.is_restored = True

    def _press(self, minutes: int | None = None) -> None:
        """Place an order for a ride in `minutes` (0: now, None: random), with a random answer."""
        rng, service = self.rng, self.service
        ahead = rng.choice((0, 0, 0, 15, 22, 40)) if minutes is None else minutes
        pickup_at = self.desk.clock() + timedelta(minutes=ahead)
        self.desk.place(**({"pickup_at": pickup_at} if ahead else {}))
        answers = (service.booked, service.lost_answer, service.unreachable, _refused, _limited)
        weights = (12, 3, 1, 2, 1)
        service.create.extend(rng.choices(answers, weights, k=1))

    def _work(self, steps: int) -> None:
        with self._worker() as worker:
            for _ in range(steps):
                for _ in range(self.rng.randrange(3)):
                    self._press()
                self._step(worker)

    def _step(self, worker: Worker) -> None:
        worker.step()
        self.desk.clock.go(self.rng.choice((0.3, 2, 6, 300)))

    def _settle(self) -> None:
        """Let new workers run some rounds, so that all that was in flight is settled."""
        for _ in range(2):
            with self._worker() as worker:
                for _ in range(3):
                    worker.step()
                    self.desk.clock.go(11)

    @contextlib.contextmanager
    def _worker(self, hook: Hook | None = None) -> Iterator[Worker]:
        """A worker with the journals of this machine, whose files remain after its end."""
        journal = AnswerJournal(self.desk.folder / "blackbox", slots=64)
        runtime = self.desk.runtime
        try:
            yield Worker(replace(runtime, failpoint=hook) if hook else runtime, journal)
        finally:
            journal.close()

    def _decide(self) -> None:
        """Make orders of all lost ones, release some held rides, then accept the restore."""
        desk = self.desk
        with desk.s.db.read() as s:
            lost = [row.mtx for row in restores.lost_orders(s, desk.property_id)]
            held = [order.id for order in restores.held_orders(s, desk.property_id)]
        for reference in lost:
            wanted = TakeUp(desk.property_id, desk.staff_id, reference)
            after_restore.take_up(desk.runtime, wanted)
        for order_id in held:
            if self.rng.random() < 0.3:
                after_restore.release(desk.s.db, desk.clock, order_id, desk.staff_id)
        after_restore.accept(desk.s.db, desk.clock)
        self.service.create.clear()
        desk.clock.go(self.rng.choice((60, 1800)))

    def _check(self, when: str) -> None:
        """Count bookings made twice, denied by their order, or with neither order nor lost order.

        Once staff have decided, the list of lost orders must be empty.
        """
        made = Counter(each["mtx"] for each in self.service.bookings)
        with self.desk.s.db.read() as s:
            lost = set(s.scalars(select(LostOrder.mtx).where(LostOrder.closed_at.is_(None))))
        states = {order.mtx: order.state for order in self.desk.orders()}
        for reference, times in made.items():
            if times > 1:
                self.counts.find("doubled", f"{reference} was booked {times} times")
            state = states.get(reference)
            if state in (S.REJECTED, S.NOT_SENT):
                self.counts.find("false_not_booked", f"{reference} is {state} ({when})")
            elif state not in STANDS_FOR and reference not in lost:
                self.counts.find("unlisted", f"{reference} is {state or 'nowhere'} ({when})")
        if when == "decided" and lost:
            self.counts.find("not_taken_up", ", ".join(sorted(lost)))


def _refused(_body: dict[str, Any]) -> httpx.Response:
    return httpx.Response(200, json={"status": "FAILURE", "code": "NO_CABS_AVAILABLE"})


def _limited(_body: dict[str, Any]) -> httpx.Response:
    return httpx.Response(429, headers={"Retry-After": "1"})
