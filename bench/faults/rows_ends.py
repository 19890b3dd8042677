"""The database server is killed, the host sleeps, or a worker is asked to stop.

Rows 26, 29 and 30 of the fault matrix (docs/reliability.md 2).
"""

import contextlib
import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import httpx
from flask.testing import FlaskClient

from bench.faults.answers import CLEAR
from bench.faults.checking import Findings
from bench.faults.crashing import RANDOM_SHARE, CrashRun, Tally, crash_run
from bench.faults.desk import AWAY, Press, database, postgres
from bench.faults.rows_crashes import met, verdict
from bench.faults.scoreboard import POSTGRESQL, Case, Verdict, row
from bench.faults.shop import shop
from ridedash.store.database.database import Database
from ridedash.store.orders import OrderState
from tests.backing import PostgresServer

CALLING: Final = "SIGTERM during a call"
DRAIN_S: Final = 26.0
SLEEPS: Final = ("order.claimed", "order.sent", "", "answer")
STOPPED_S: Final = 45.0  # by the fast clock; longer than an order may wait for its call
# the states for which `_sleeps` waits: if the order's worker was suspended before the call, and if
# it was suspended while it waited for the answer
ENDS: Final = (
    # REJECTED in place of NOT_SENT if the recovery job had set UNKNOWN before
    {OrderState.NOT_SENT, OrderState.REJECTED, OrderState.BOOKED},
    {OrderState.UNKNOWN, OrderState.BOOKED},
)
LONG_S: Final = 90.0  # longer than a lease


@dataclass
class Drained(CrashRun):
    """Workers that are asked to stop while they send."""

    def once(self, rng: random.Random) -> None:
        """Run one worker and ask it to stop."""
        pid = self.nursery.spawn(self.desk.life(hurry=1.0))
        self.nursery.wait(pid, rng.uniform(0.1, 0.7))
        if rng.random() >= RANDOM_SHARE:
            self.waits(self._is_calling)
        self.tally.events[CALLING] += self._is_calling()
        self.nursery.kill(pid, signal.SIGTERM)
        code = self.nursery.wait(pid, DRAIN_S)
        if code != 0:
            self.nursery.end(pid)
            self.tally.exits.append(-1 if code is None else code)
        self.tally.kills["SIGTERM"] += 1

    def _is_calling(self) -> bool:
        return bool(self.desk.in_state(OrderState.SENDING))


@row(30, "SIGTERM of the worker under load")
def drain(case: Case) -> Verdict:
    """Each worker is asked to stop in the middle of its calls: no order may become UNKNOWN."""
    options = {"answer_kinds": CLEAR, "locked_share": 0.0, "speed": 1.0}
    with database(case) as url, crash_run(case, url, "run", Drained, **options) as run:
        run.kill(case.size(100, 8), 1)
        found = run.settle()
        for order in run.desk.orders():
            if order.state in {OrderState.UNKNOWN, OrderState.CLOSED_NOT_BOOKED}:
                found.find("forgotten", f"order {order.id} is {order.state} ({order.code})")
        run.tally.found, run.tally.orders = found, len(run.desk.orders())
        return met(run.tally, (CALLING, "BOOKED"))


@row(29, "the host sleeps: nothing late is sent when it wakes", short=False)
def asleep(case: Case) -> Verdict:
    """Workers get SIGSTOP after a claim, before the call, while idle, or waiting for an answer."""
    found, tried = Findings(), 0
    with database(case) as url, crash_run(case, url, "run", CrashRun, speed=20.0) as run:
        for number in range(case.size(60, 4)):
            _sleeps(run, found, SLEEPS[number % len(SLEEPS)], 600.0 if number in {8, 9} else 0.0)
            tried += 1
        found.add(run.settle())
    return verdict(Tally(found, run.tally.kills, run.tally.exits, tried))


def _sleeps(run: CrashRun, found: Findings, where: str, how_long_s: float) -> None:
    """Suspend one worker for longer than an order may wait, and continue it.

    `where` is a fail point, "" (the worker is idle), or "answer" (it waits for an answer).
    """
    ends_by = signal.SIGSTOP if where.startswith("order.") else signal.SIGKILL
    pid = run.nursery.spawn(
        run.desk.life(point=where if ends_by == signal.SIGSTOP else "", ends_by=ends_by, hurry=20.0)
    )
    time.sleep(0.3)  # time for at least one round of the worker
    if where == "":
        _stop(run, pid)
    press = run.desk.press("silent_after" if where == "answer" else "booked")
    assert press is not None
    if where == "answer":
        assert run.waits(lambda: _was_sent(run, press), 3.0)
        _stop(run, pid)
    assert run.waits(lambda: _is_stopped(pid), 3.0), "it stopped"
    wait_s = how_long_s or (LONG_S if where == "answer" else STOPPED_S)
    time.sleep(wait_s / run.desk.clock.speed)
    os.kill(pid, signal.SIGCONT)
    run.waits(lambda: _state(run, press) in ENDS[where == "answer"], 5.0)
    _judge(run, found, press, where)
    run.nursery.end(pid)
    run.tally.kills[f"stopped {where or 'at rest'}"] += 1


def _stop(run: CrashRun, pid: int) -> None:
    """Stop a worker that is not in the middle of a write.

    A worker stopped during a write would keep others waiting; on a sleeping host, those sleep too.
    """
    with run.desk.db.write():
        os.kill(pid, signal.SIGSTOP)
        assert run.waits(lambda: _is_stopped(pid), 3.0)


def _judge(run: CrashRun, found: Findings, press: Press, where: str) -> None:
    state, order = _state(run, press), next(o for o in run.desk.orders() if o.id == press.order_id)
    sent = _was_sent(run, press)
    wanted = (
        {OrderState.UNKNOWN} if where == "answer" else {OrderState.NOT_SENT, OrderState.REJECTED}
    )
    if sent != (where == "answer"):
        found.find("late", f"order {order.id}, stopped {where or 'at rest'}: sent {sent}")
    if state not in wanted:
        found.find("stuck", f"order {order.id}, stopped {where or 'at rest'}, is {state}")


def _state(run: CrashRun, press: Press) -> OrderState:
    return next(
        OrderState(order.state) for order in run.desk.orders() if order.id == press.order_id
    )


def _was_sent(run: CrashRun, press: Press) -> bool:
    mtx = next(order.mtx for order in run.desk.orders() if order.id == press.order_id)
    return any(line["mtx"] == mtx for line in run.desk.ledger.of("call"))


def _is_stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


@dataclass
class Shot(CrashRun):
    """People who repeat a form that was answered with "can't save right now"."""

    def people_do(self, rng: random.Random) -> None:
        """Send again a form that could not be saved, then do what the people of CrashRun do."""
        if self.desk.unsure:
            self.desk.send(*self.desk.unsure[0])
            del self.desk.unsure[0]
        super().people_do(rng)


@row(26, "PostgreSQL is stopped at once and started, under load", database=POSTGRESQL, short=False)
def shot(case: Case) -> Verdict:
    """Two workers survive the restarts; pages say that they can't save, and when to retry."""
    with postgres() as server:
        made = Database(server.url())
        made.upgrade()
        made.close()
        options = {"answer_kinds": CLEAR, "locked_share": 0.0, "speed": 1.0}
        with crash_run(case, server.url(), "run", Shot, **options) as run:
            pages = _restarts(run, server, case)
            found = run.settle()
            tally = Tally(found, run.tally.kills, run.tally.exits, len(run.desk.presses))
    for answer in pages - {"503 5", "200 None"}:
        found.find("stuck", f"a page said {answer}")
    whole = met(tally, ("BOOKED",))
    return replace(
        whole,
        errors500=sum(each.startswith("500") for each in pages),
        ok=whole.ok and len(pages) == 2,
    )


def _restarts(run: CrashRun, server: PostgresServer, case: Case) -> set[str]:
    """The answers of pages during restarts: status and Retry-After."""
    answers: set[str] = set()
    lives = [run.nursery.spawn(run.desk.life(hurry=1.0)) for _ in range(2)]
    with (
        shop(case.sub("pages"), lambda _: httpx.Response(200), url=server.url()) as web,
        _pressing(run),
    ):
        browser = web.browser()
        for _ in range(case.size(50, 3)):
            time.sleep(run.desk.rng.uniform(0.3, 2.5))
            server.stop(immediate=True)
            answers.add(_status_of(browser))
            server.start()
            answers.add(_status_of(browser))
            run.tally.kills["immediate stop"] += 1
        time.sleep(3.0)  # a worker pauses for a second after a failed round
    for pid in lives:
        run.nursery.kill(pid, signal.SIGTERM)
        code = run.nursery.wait(pid, DRAIN_S)
        if code != 0:
            run.tally.exits.append(-1 if code is None else code)
    return answers


def _status_of(browser: FlaskClient) -> str:
    answer = browser.get("/")
    return f"{answer.status_code} {answer.headers.get('Retry-After')}"


@contextlib.contextmanager
def _pressing(run: CrashRun) -> Iterator[None]:
    over, seed, failed = threading.Event(), run.desk.rng.getrandbits(32), list[BaseException]()

    def press() -> None:
        rng = random.Random(seed)
        while not over.wait(0.01):
            with contextlib.suppress(*AWAY):
                run.people_do(rng)

    people = threading.Thread(target=run.guarded, args=(failed, press))
    people.start()
    try:
        yield
    finally:
        over.set()
        people.join()
    if failed:
        raise failed[0]
