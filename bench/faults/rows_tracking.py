"""Workers that die at a hand-over or repeatedly, fall silent, or share one database.

Rows 19 to 21 of the fault matrix (docs/reliability.md 2).
"""

import contextlib
import random
import re
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from flask.testing import FlaskClient
from sqlalchemy import func, select

from bench.faults.checking import Findings
from bench.faults.crashing import CrashRun, Tally, crash_run
from bench.faults.desk import database
from bench.faults.rows_crashes import EACH_POINT, MOST, met, needed
from bench.faults.rows_locked import comes, followed
from bench.faults.scoreboard import POSTGRESQL, Case, Verdict, row
from bench.faults.shop import Service, shop
from ridedash.rides.actions import request
from ridedash.rides.journals.answer_journal import AnswerJournal
from ridedash.rides.tracking.policy import MOST_CALLS
from ridedash.rides.worker import Worker
from ridedash.store.database.database import Database
from ridedash.store.models.orders import Heartbeat
from ridedash.store.orders import Action, Order, OrderState, Ride, TimelineEvent
from ridedash.views.board.pages import SAME_S
from tests.running import clean_environment

POLL_POINTS: Final = ("poll.claimed", "poll.answered", "poll.merged", "handover.merged")
ANSWER_KINDS: Final = ("match_cancel", "match_cancel", "matching", "match_fails")
OPEN: Final = ("armed", "calling", "unconfirmed")
HANDED: Final = "a hand-over"
ARMED: Final = "an armed cancel"
BATCH: Final = 170
LIVE: Final = 8  # shared rides in progress at a time
MOST_GAP_S: Final = 35.0
RIDES: Final = 20
SLOWER: Final = 3.0  # speed of the clock in row 21; row 19 has crashing.SPEED, 10
# Pages must report a heartbeat that is older than this; a lease ends earlier.
SILENT_S: Final = 30.0
BAND: Final = re.compile(r"<[^>]*\sdata-stopped-band\b[^>]*>")


@dataclass
class Sharers(CrashRun):
    """People who book only shared rides, and cancel some while they wait for their booking.

    Such a cancel is "armed": it is stored, and sent once the ride has its booking.
    """

    armed: set[int] = field(default_factory=set)

    def people_do(self, rng: random.Random) -> None:
        """Book a shared ride if few are in progress, and arm the cancels of some that wait."""
        if (
            len(self.desk.in_state(OrderState.READY, OrderState.SENDING, OrderState.MATCHING))
            < LIVE
        ):
            self.desk.press(rng.choice(self.answer_kinds))
        for order_id in self.desk.in_state(OrderState.MATCHING):
            press = self.desk.presses.get(order_id)
            if (
                press is not None
                and press.answer_kind == "match_cancel"
                and order_id not in self.armed
            ):
                self._arm(order_id)

    def _arm(self, order_id: int) -> None:
        desk = self.desk
        if (
            request.arm_cancel(desk.db, desk.clock, order_id, desk.actor, "changed mind").outcome
            == "armed"
        ):
            self.armed.add(order_id)

    def is_busy(self) -> bool:
        """Whether any order is in progress, or any action may still be called."""
        states = (OrderState.READY, OrderState.SENDING, OrderState.MATCHING)
        with self.desk.db.read() as s:
            armed_actions = s.scalars(
                select(Action.id).where(Action.state.in_(OPEN), Action.calls < MOST_CALLS)
            ).first()
        return bool(self.desk.in_state(*states)) or armed_actions is not None

    def settle(self) -> Findings:
        """Run one worker until nothing is in progress; check hand-overs and armed cancels."""
        found = super().settle()
        with self.desk.db.read() as s:
            handed = Counter(
                s.scalars(select(TimelineEvent.order_id).where(TimelineEvent.name == "handover"))
            )
            orders = s.scalars(select(Order).where(Order.txn_id.is_not(None))).all()
            armed_actions = {
                each.order_id: each
                for each in s.scalars(select(Action).where(Action.name == "cancel"))
            }
        self.tally.events.update({HANDED: handed.total(), ARMED: len(self.armed)})
        cancels = Counter(line["booking_id"] for line in self.desk.ledger.of("cancel"))
        for order in orders:
            _check_hand_over(
                found,
                order,
                handed[order.id],
                cancels[order.booking_id],
                armed_actions.get(order.id),
            )
        return found


def _check_hand_over(
    found: Findings, order: Order, handed: int, cancels: int, armed: Action | None
) -> None:
    if order.state == OrderState.MATCHING:
        found.find("lost", f"order {order.id} is still looking for its ride")
    if order.state == OrderState.BOOKED and handed != 1:
        found.find("doubled", f"order {order.id} was handed over {handed} times")
    # `given_up`: both attempts to send the cancel are used up, and the page says "not confirmed".
    given_up = armed is not None and (armed.state, armed.calls) == ("unconfirmed", MOST_CALLS)
    if order.state == OrderState.BOOKED and armed and cancels == 0 and not given_up:
        found.find(
            "lost",
            f"the cancel of order {order.id} was never sent: {armed.state} after {armed.calls} "
            "calls",
        )
    # A cancel may be sent again if a poll after its first call showed no effect of it.
    if cancels > (armed.calls if armed else 0):
        found.find(
            "doubled",
            f"the cancel of order {order.id} was sent {cancels} times, armed: {armed is not None}",
        )


@row(19, "hand-over of a shared ride, tracker killed at each point")
def hand_over(case: Case) -> Verdict:
    """At least 500 workers are killed, at least 100 of them at each fail point."""
    tally, kills = Tally(), case.size(500, 24)
    while tally.total < kills or not (
        case.short
        or tally.total > MOST * kills
        or all(tally.kills[point] >= EACH_POINT for point in POLL_POINTS)
    ):
        options = {"answer_kinds": ANSWER_KINDS, "points": POLL_POINTS, "locked_share": 0.0}
        with (
            database(case) as url,
            crash_run(case, url, f"run-{tally.orders}", Sharers, **options) as run,
        ):
            run.kill(min(BATCH, kills), 1)
            run.tally.found = run.settle()
            run.tally.orders = len(run.desk.orders())
            tally.add(run.tally)
        if tally.found or tally.exits:
            break
    return met(tally, needed(case, POLL_POINTS, (HANDED, ARMED)))


@row(20, "tracker killed every 2 s: no ride waits long", short=False)
def dying_tracker(case: Case) -> Verdict:
    """For ten minutes of real time each worker is killed after 2 s, while it polls RIDES rides."""
    speed = case.size(1, 3) * 1.0
    with (
        database(case) as url,
        crash_run(case, url, "run", CrashRun, speed=speed, answer_kinds=("forever",)) as run,
    ):
        _book(run, RIDES)
        began, kills = time.monotonic(), 0
        while (time.monotonic() - began) * speed < case.size(600, 40):
            pid = run.nursery.spawn(run.desk.life(hurry=speed))
            code = run.nursery.wait(pid, 2.0 / speed)
            if code is not None:
                return Verdict(kills, ok=False, note=f"a worker ended with {code}")
            run.nursery.end(pid)
            kills += 1
        gap = _longest_gap(run, began, time.monotonic()) * speed
    return Verdict(
        kills,
        ok=gap <= MOST_GAP_S,
        note=f"longest time without a poll {gap:.1f} s (at most {MOST_GAP_S:.0f})",
    )


def _book(run: CrashRun, rides: int) -> None:
    """Book rides that never end."""
    pid = run.nursery.spawn(run.desk.life(hurry=SLOWER))
    for number in range(1, rides + 1):
        while len(run.desk.in_state(OrderState.BOOKED)) < number:
            press = run.desk.press("forever")
            assert press is not None
            run.waits(lambda: not run.is_busy(), 20.0)
    run.nursery.kill(pid, 15)
    assert run.nursery.wait(pid, 30) == 0


def _longest_gap(run: CrashRun, began: float, ended: float) -> float:
    """The longest time between two polls of one ride, in seconds of wall time."""
    times: dict[str, list[float]] = {}
    for line in run.desk.ledger.of("tracked"):
        if began <= line["at"] <= ended:
            times.setdefault(line["key"], [began]).append(line["at"])
    assert len(times) == RIDES, "each ride was polled"
    return max(b - a for at in times.values() for a, b in zip(at, [*at[1:], ended], strict=True))


@row(20, "tracker silent: every page says so, the next one takes over")
def silent_tracker(case: Case) -> Verdict:
    """A worker dies while it polls a ride, and another one starts, on a clock set by hand."""
    service, wrong = Service(), Counter[str]()
    with shop(case.folder, service.handle) as desk:
        browser, ride = desk.browser(), followed(desk, service)
        _check_pages(browser, ride, wrong, 0)
        desk.clock.go(10)
        # the worker claims the ride, and "dies": nothing is done with the claim
        wrong["nothing to take over"] += len(desk.worker.tracker.claim(8)) != 1
        for passed, age in ((SILENT_S - 11, SILENT_S - 1), (2, SILENT_S + 1), (9, SILENT_S + 10)):
            desk.clock.go(passed)
            _check_pages(browser, ride, wrong, age)
        with contextlib.closing(AnswerJournal(desk.folder / "box", slots=64)) as journal:
            Worker(desk.runtime, journal).step()
        wrong["the ride was not taken over"] += desk.ride(ride).seen_at != desk.clock()
        _check_pages(browser, ride, wrong, 0)
    note = str(
        dict(+wrong)
        or f"told after {SILENT_S:.0f} s and taken back; its ride polled {SILENT_S:.0f} s later"
    )
    return Verdict(5, ok=not +wrong, note=note)


def _check_pages(browser: FlaskClient, ride: int, wrong: Counter[str], age: float) -> None:
    """Count in `wrong` the pages that don't say that the worker is silent, or say so too soon."""
    silent = age > SILENT_S
    for path in ("/", "/rides/new", f"/rides/{ride}", "/history"):
        bands = BAND.findall(browser.get(path).text)
        hidden = [bool(re.search(r"\shidden\b", band)) for band in bands]
        wrong[f"{path} at {age:.0f} s"] += hidden != [not silent]
    wrong[f"an open page at {age:.0f} s"] += _shows_stopped(browser, silent) is not silent
    ready = browser.get("/readyz")
    wrong[f"/readyz: {ready.status_code} at {age:.0f} s"] += ready.status_code != (
        503 if silent else 200
    )
    wrong[f"its worker at {age:.0f} s"] += ready.get_json()["checks"]["worker"] is silent


def _shows_stopped(browser: FlaskClient, expected: bool) -> bool:
    """Whether an open page's poll says that updates stopped.

    The clock was set ahead, but an answer is cached for a moment of real time: wait until the cache
    has expired.
    """
    until = time.monotonic() + 2 * SAME_S
    while True:
        stopped = bool(browser.get("/board.json?only=bar").get_json()["bar"]["stopped"])
        if stopped is expected or time.monotonic() > until:
            return stopped


@row(20, "`ridedash worker` killed, started again by a supervisor", short=False)
def restarted(case: Case) -> Verdict:
    """Restarts by a supervisor: the files of a killed worker never prevent a start."""
    tries, came = case.size(10, 2), 0
    with database(case) as url, contextlib.closing(Database(url)) as db:
        settings = clean_environment(
            RIDEDASH_INSTANCE=str(case.folder / "instance"), RIDEDASH_DATABASE_URL=url
        )
        for number in range(1, tries + 1):
            command = [sys.executable, "-m", "ridedash.cli", "worker"]
            with subprocess.Popen(command, env=settings, stdout=subprocess.DEVNULL) as worker:
                came += (
                    comes(partial(_has_heartbeats, db, number, worker)) and worker.poll() is None
                )
                worker.kill()
    return Verdict(tries, ok=came == tries, note=f"{came} of {tries} starts went round")


def _has_heartbeats(db: Database, number: int, worker: "subprocess.Popen[bytes]") -> bool:
    """Whether that many workers have a heartbeat, or this one has ended."""
    with db.read() as s:
        return (
            s.scalars(select(func.count(Heartbeat.worker))).one() >= number
            or worker.poll() is not None
        )


@row(21, "three trackers on one database: nothing polled twice, SQLite", short=False)
def three_trackers(case: Case) -> Verdict:
    """Ten minutes by a clock that runs three times as fast as real time."""
    return _three(case)


@row(
    21,
    "three trackers on one database: nothing polled twice, PostgreSQL",
    database=POSTGRESQL,
    short=False,
)
def three_trackers_postgresql(case: Case) -> Verdict:
    """The same on PostgreSQL."""
    return _three(case)


def _three(case: Case) -> Verdict:
    with (
        database(case) as url,
        crash_run(
            case, url, "run", CrashRun, speed=SLOWER, hold_s=0.02, answer_kinds=("forever",)
        ) as run,
    ):
        _book(run, RIDES)
        began = time.monotonic()
        lives = [run.nursery.spawn(run.desk.life(hurry=SLOWER)) for _ in range(3)]
        time.sleep(case.size(600, 40) / SLOWER)
        for pid in lives:
            run.nursery.kill(pid, 15)
        codes = [run.nursery.wait(pid, 30) for pid in lives]
        with run.desk.db.read() as s:
            claims = s.scalars(select(func.sum(Ride.poll_seq))).one()
        polls = run.desk.ledger.of("track")
        doubled = max(0, len(polls) - claims) + _overlaps(run)
    by_three = [line["key"] for line in polls if line["at"] >= began]
    return Verdict(
        len(polls),
        doubled=doubled,
        ok=codes == [0, 0, 0] and len(by_three) > len(set(by_three)) == RIDES,
        note=f"{len(polls)} polls of {RIDES} rides, {len(by_three)} by the three; {claims} claims",
    )


def _overlaps(run: CrashRun) -> int:
    """Polls that began while another poll of the same ride was unanswered."""
    count, open_calls = 0, Counter[str]()
    for line in run.desk.ledger.lines():
        if line["what"] == "track":
            count += open_calls[line["key"]] > 0
            open_calls[line["key"]] += 1
        elif line["what"] == "tracked":
            open_calls[line["key"]] -= 1
    return count
