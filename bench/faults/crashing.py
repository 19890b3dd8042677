"""The crash loop: workers are killed, at fail points and at random, while people book."""

import contextlib
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

from sqlalchemy import select, text

from bench.faults.answers import MIXED
from bench.faults.checking import SURE, Findings, Overdue, check, unsettled
from bench.faults.clock import fast
from bench.faults.desk import AWAY, Desk, Press, as_json, double
from bench.faults.nursery import Nursery
from bench.faults.scoreboard import POSTGRESQL, Case
from ridedash.rides.orders.place import OfferStale
from ridedash.rides.worker import RECOVER_EVERY_S
from ridedash.store.orders import Heartbeat, Order, OrderState

SPEED: Final = 10.0  # speed of the clock: a lease of 60 s ends after 6 s
READY: Final = "order.ready"
LOCKED: Final = "locked"  # a kill of a worker whose answer the database could not take
POINTS: Final = (
    "order.claimed",
    "order.sent",
    "order.answered",
    "order.journalled",
    "order.settled",
)
HURRIES: Final = (
    200.0,
    100.0,
    60.0,
    10.0,
)  # divisors of the deadlines of calls; with 10, a call may take as long as a lease
JOURNALS_IN_S: Final = 2.0  # a worker writes an answer that it has read to its journal in this time
POINT_S: Final = 4.0  # a worker that doesn't reach its fail point is killed after this time
QUIET_S: Final = 30.0  # longest time for the last worker to settle all orders
# Seconds of wall time between recovery jobs: the program's value, but no more than 15.
RECOVERIES_S: Final = min(RECOVER_EVERY_S, 15.0)
RANDOM_SHARE: Final = 0.2  # fraction of kills at random times
WAITING: Final = 4  # number of orders that are kept READY


@dataclass
class Tally:
    """The counts of a run, and the violations found."""

    found: Findings = field(default_factory=Findings)
    kills: Counter[str] = field(default_factory=Counter)  # of workers
    # exit codes of processes that ended by themselves, but should not; -1 for a worker that did
    # not end
    exits: list[int] = field(default_factory=list)
    orders: int = 0
    # web processes killed during a press, which are not counted as workers
    presses: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)  # that a row has to meet

    @property
    def total(self) -> int:
        """The number of killed workers."""
        return self.kills.total()

    def add(self, other: "Tally") -> None:
        """Add the counts of another run."""
        self.found.add(other.found)
        self.kills.update(other.kills)
        self.presses.update(other.presses)
        self.events.update(other.events)
        self.exits += other.exits
        self.orders += other.orders


@dataclass
class CrashRun:
    """People, workers and the code that kills the workers, on one property."""

    desk: Desk
    nursery: Nursery
    answer_kinds: Sequence[str] = MIXED
    points: Sequence[str] = POINTS
    mutant: str = ""
    locked_share: float = 0.03
    tally: Tally = field(default_factory=Tally)
    shown: dict[int, str] = field(default_factory=dict)
    # orders whose answer had arrived when the worker died
    answered: set[int] = field(default_factory=set)
    _left: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    # held by the thread that uses `desk`: only one may use it at a time
    _people: threading.Lock = field(default_factory=threading.Lock)
    _over: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.overdue = Overdue(self.desk)

    def kill(self, kills: int, slots: int) -> None:
        """Start and kill a number of workers, `slots` at a time, while people book.

        Raises the error of a thread, if there was one.
        """
        self._left, failed = kills, list[BaseException]()
        self._over.clear()
        seeds = [self.desk.rng.getrandbits(32) for _ in range(slots)]
        loops = [
            threading.Thread(target=self.guarded, args=(failed, self._slot, random.Random(s)))
            for s in seeds
        ]
        people = threading.Thread(target=self.guarded, args=(failed, self._press_on))
        for thread in (people, *loops):
            thread.start()
        for thread in loops:
            thread.join()
        self._over.set()
        people.join()
        if failed:
            raise failed[0]

    def settle(self) -> Findings:
        """Run one worker until all orders are settled, end it, and check all invariants."""
        life = self.nursery.spawn(self.desk.life(hurry=60.0, mutant=self.mutant))
        self._lives_until_quiet(life)
        self.nursery.kill(life, 15)
        code = self.nursery.wait(life, QUIET_S)
        if code not in {0, -15}:  # -15: SIGTERM came before its handler was set
            self.tally.exits.append(-1 if code is None else code)
            self.nursery.end(life)
        found = check(self.desk, quiet=True, shown=self.shown)
        found.add(self.overdue.found)
        self._forgotten(found)
        return found

    def _lives_until_quiet(self, pid: int) -> None:
        """Wait until all orders are settled, and record when recovery jobs must have run.

        In each round of the worker, a heartbeat comes before the job. If two heartbeats are an
        interval of the job apart, the job ran in one of their rounds; a third heartbeat shows that
        the job ended.
        """
        heartbeats, apart = (
            list[datetime](),
            timedelta(seconds=RECOVERIES_S * self.desk.clock.speed),
        )
        end = time.monotonic() + QUIET_S
        while (self.is_busy() or unsettled(self.desk)) and time.monotonic() < end:
            time.sleep(0.05)
            heartbeat = self._heartbeat_of(pid)
            if heartbeat is not None and (not heartbeats or heartbeat >= heartbeats[-1] + apart):
                heartbeats.append(heartbeat)
                if len(heartbeats) > 2:
                    # one job counts as SURE jobs, because no other worker locks a row now
                    self.overdue.swept(heartbeats[-3], SURE)

    def _heartbeat_of(self, pid: int) -> datetime | None:
        with self.desk.db.read() as s:
            return s.scalars(
                select(Heartbeat.beat_at).where(Heartbeat.worker.contains(f":{pid}:"))
            ).first()

    def is_busy(self) -> bool:
        """Whether any order is still in progress."""
        return bool(self.desk.in_state(OrderState.READY, OrderState.SENDING))

    def guarded(
        self, failed: list[BaseException], work: Callable[..., object], *given: object
    ) -> None:
        """Do some work in a thread. Its error ends the run, and is added to `failed`."""
        try:
            work(*given)
        except BaseException as error:  # raised again in the thread of the row
            failed.append(error)
            self._over.set()

    def _forgotten(self, found: Findings) -> None:
        for order in self.desk.orders():
            if order.id in self.answered and order.state != OrderState.BOOKED:
                found.find(
                    "forgotten",
                    f"order {order.id} is {order.state}; its worker had the answer before it died",
                )

    def _slot(self, rng: random.Random) -> None:
        while self._take():
            if rng.random() < self.locked_share:
                self._locked()
            else:
                self.once(rng)

    def _take(self) -> bool:
        with self._lock:
            self._left -= 1
            return self._left >= 0 and not self._over.is_set()

    def once(self, rng: random.Random) -> None:
        """Start one worker and kill it."""
        point = "" if rng.random() < RANDOM_SHARE else rng.choice(self.points)
        life = self.desk.life(
            point=point, hit=rng.randint(1, 3), hurry=rng.choice(HURRIES), mutant=self.mutant
        )
        born = self.desk.clock()
        pid = self.nursery.spawn(life)
        code = self.nursery.wait(pid, POINT_S if point else rng.uniform(0.02, 0.3))
        self._count(pid, point if code == -9 else "random")
        if code == -9 and point in POINTS:
            self.overdue.swept(born)  # a worker runs the recovery job before it sends

    def _count(self, pid: int, name: str) -> None:
        """Kill one worker, if it still runs, and count it as killed, or in `exits`."""
        self.nursery.kill(pid)
        code = self.nursery.wait(pid, 10)
        with self._lock:
            if code == -9:
                self.tally.kills[name] += 1
            else:
                self.tally.exits.append(-1 if code is None else code)

    def _locked(self) -> None:
        """Kill a worker that has an answer but can't write it to the database.

        The answer must be in the answer journal.
        """
        name = "random"  # unless an answer had arrived
        pid = self.nursery.spawn(self.desk.life(hurry=SPEED, mutant=self.mutant))
        with self._people:
            press = self.desk.press("slow")
        if press is not None and self.waits(lambda: self._is_sending(press)):
            with self._held() as mtx_of:
                mtx = mtx_of(press.order_id)
                if self.waits(lambda: self._notes("read", mtx)) and self._is_of(press, pid):
                    self.waits(lambda: self._notes("journalled", mtx), JOURNALS_IN_S)
                    self.answered.add(press.order_id)
                    name = LOCKED
                self.nursery.end(pid)
        self._count(pid, name)

    @contextlib.contextmanager
    def _held(self) -> Iterator[Callable[[int], str]]:
        """Hold the write lock of the orders. Yields a function: order id to partner reference."""
        with self.desk.db.write() as s:
            if s.connection().dialect.name == POSTGRESQL:
                s.execute(text("LOCK TABLE orders IN EXCLUSIVE MODE"))
            yield lambda order_id: s.scalars(select(Order.mtx).where(Order.id == order_id)).one()

    def _is_sending(self, press: Press) -> bool:
        return press.order_id in self.desk.in_state(OrderState.SENDING)

    def _is_of(self, press: Press, pid: int) -> bool:
        """Whether worker `pid` sends the order. Another may be killed before it has the answer."""
        owner = next(order.owner for order in self.desk.orders() if order.id == press.order_id)
        return owner is not None and f":{pid}:" in owner

    def _notes(self, what: str, mtx: str) -> bool:
        return any(line["mtx"] == mtx for line in self.desk.ledger.of(what))

    def waits(self, holds: Callable[[], bool], most_s: float = POINT_S) -> bool:
        """Wait for a condition. Returns whether it became true in time."""
        end = time.monotonic() + most_s
        while not holds():
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
        return True

    def _press_on(self) -> None:
        """Do what people do (`people_do`), until the run is over."""
        rng = random.Random(self.desk.rng.getrandbits(32))
        while not self._over.is_set():
            with self._people, contextlib.suppress(*AWAY):
                self.people_do(rng)
            self._over.wait(0.01)

    def people_do(self, rng: random.Random) -> None:
        """Place an order if few are READY; sometimes look at pages, or resolve an unknown order."""
        if len(self.desk.in_state(OrderState.READY)) < WAITING:
            if rng.random() < 0.1:
                self._press_and_die(rng)
            else:
                self.desk.press(rng.choice(self.answer_kinds))
        if rng.random() < 0.1:
            self._look()
        unknown = [
            i
            for i in self.desk.in_state(OrderState.UNKNOWN)
            if i in self.desk.presses and i not in self.answered
        ]
        if unknown and rng.random() < 0.05:
            self.desk.decide(self.desk.presses[rng.choice(unknown)])

    def _press_and_die(self, rng: random.Random) -> None:
        """Kill a web process during a request, then send the same form again, as a browser does."""
        kind = rng.choice(self.answer_kinds)
        request = self.desk.request(kind)
        at_point = rng.random() < 0.8
        pid = self.nursery.spawn(
            self.desk.life(request=as_json(request), point=READY if at_point else "")
        )
        at_ready = self.nursery.wait(pid, 10.0 if at_point else rng.uniform(0.0, 0.03)) == -9
        self.nursery.end(pid)
        code = self.nursery.wait(pid, 0.0)
        with self._lock:
            if code == -9:
                self.tally.presses[READY if at_ready else "random"] += 1
            elif code:  # 0: the press ended before the kill
                self.tally.exits.append(code)
        with contextlib.suppress(OfferStale):  # the process may have waited for the write lock
            self.desk.send(kind, request)

    def _look(self) -> None:
        """Note the booking ids that pages would show now; settle() checks that they stay."""
        with self.desk.db.read() as s:
            booked = s.execute(
                select(Order.id, Order.booking_id).where(Order.state == OrderState.BOOKED)
            ).all()
        for order_id, booking_id in booked:
            self.shown.setdefault(order_id, booking_id or "")


Kind = TypeVar("Kind", bound=CrashRun)


@contextlib.contextmanager
def crash_run(case: Case, url: str, name: str, kind: type[Kind], **options: Any) -> Iterator[Kind]:
    """A run of a new property with a double of the service and a fork server.

    Both are ended at the end. `speed` is that of the clock, `hold_s` the delay of each track_ride
    in seconds; the other options are fields of `kind`.
    """
    folder, speed, hold_s = case.sub(name), options.pop("speed", SPEED), options.pop("hold_s", 0.0)
    with (
        double(folder, hold_s) as (port, ledger),
        contextlib.closing(Nursery(folder / "lives.log")) as nursery,
    ):
        desk = Desk(url, folder, port, ledger, fast(speed), case.rng)
        try:
            yield kind(desk, nursery, **options)
        finally:
            desk.close()
