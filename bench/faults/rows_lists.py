"""Lists of guests, booked in waves while workers and pressing processes are killed at any instant.

Row 41 of the fault matrix (docs/reliability.md 2).
"""

import contextlib
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import select

from bench.faults.checking import Findings
from bench.faults.crashing import POINTS, READY, CrashRun, crash_run
from bench.faults.desk import AWAY, DROP, PICKUP, database
from bench.faults.rows_crashes import met
from bench.faults.scoreboard import POSTGRESQL, Case, Verdict, row
from ridedash.rides.guest_lists import press
from ridedash.rides.guest_lists.press import CarPlan
from ridedash.rides.orders.press import token_of
from ridedash.rides.orders.request import new_group, new_reference
from ridedash.store.guest_lists import (
    GuestList,
    LineState,
    ListLine,
    ListState,
    NewLine,
    lines_of,
    store_list,
)

LIST_POINTS: Final = ("list.claimed", "list.priced", "list.placed")
LINES: Final = 14  # of one list: three waves
LISTS: Final = 2  # lists that are being booked at once


@dataclass
class WithLists(CrashRun):
    """People who read lists, press them, often twice, stop them and go on."""

    pressed: dict[int, int] = field(default_factory=dict)  # lines that were pressed, by list

    def people_do(self, rng: random.Random) -> None:
        """Read and press a list if few are being booked; sometimes stop one, or go on."""
        running = self._lists(ListState.RUNNING)
        if len(running) < LISTS:
            self._press(rng, self._read(rng))
        elif rng.random() < 0.05:
            who = self.desk.property_id, rng.choice(running), self.desk.staff_id
            press.stop(self.desk.db, self.desk.clock, *who)
        for stopped in self._lists(ListState.STOPPED):
            who = self.desk.property_id, stopped, self.desk.staff_id
            press.go_on(self.desk.db, self.desk.clock, *who)

    def is_busy(self) -> bool:
        """Whether an order or a list is still in progress."""
        return super().is_busy() or bool(self._lists(ListState.RUNNING))

    def undone(self) -> Findings:
        """Check that each line that was pressed is one order, or asks, and none is two."""
        found = Findings()
        orders = {order.id: order for order in self.desk.orders()}
        of_guest = Counter(order.guest_id for order in orders.values() if order.group_key)
        for guest, count in of_guest.items():
            if count > 1:
                found.find("doubled", f"guest {guest} of a list has {count} orders")
        with self.desk.db.read() as s:
            for list_id, count in self.pressed.items():
                lines, listed = lines_of(s, list_id), s.get_one(GuestList, list_id)
                done = [each for each in lines if each.state == LineState.ORDERED]
                if len(done) != count:
                    states = Counter(each.state for each in lines)
                    found.find("lost", f"list {list_id} ({listed.state}): {dict(states)}")
                for line in done:
                    order = orders.get(line.order_id or 0)
                    token = token_of(listed.form_token, line.number)
                    if order is None or (order.form_token, order.mtx) != (token, line.mtx):
                        found.find("lost", f"line {line.number} of list {list_id} has no order")
        return found

    def _lists(self, state: ListState) -> list[int]:
        with self.desk.db.read() as s:
            return list(s.scalars(select(GuestList.id).where(GuestList.state == state)))

    def _read(self, rng: random.Random) -> int:
        """A list of guests whom nobody else has booked for."""
        desk, now = self.desk, self.desk.clock()
        row = GuestList(
            property_id=desk.property_id,
            staff_id=desk.staff_id,
            label="",
            state=ListState.DRAFT,
            version=0,
            created_at=now,
            changed_at=now,
            digest="",
            form_token=f"list-{rng.getrandbits(60)}",
            group_key=new_group(),
            sheet={},
            trip={
                "pickup": {"name": "Lobby", "lat": PICKUP.lat, "lng": PICKUP.lng},
                "drop": {"name": "Airport", "lat": DROP.lat, "lng": DROP.lng},
                "category": "mini",
                "account_id": desk.account_id,
                "margin_min": 10,
                "zone": "Asia/Kolkata",
            },
        )
        with desk.db.write() as s:
            new = [NewLine(n, (), None, new_reference()) for n in range(1, LINES + 1)]
            return store_list(s, row, new).id

    def _press(self, rng: random.Random, list_id: int) -> None:
        """Press once or twice, as with a double click; the answer of a press may get lost."""
        desk = self.desk
        cars = [
            CarPlan(n, f"Guest {list_id} {n}", str(n), None, None, None, None)
            for n in range(1, LINES + 1)
        ]
        shown = desk.property_id, list_id, 0
        for _ in range(rng.randint(1, 2)):
            with contextlib.suppress(*AWAY, press.ListChanged):
                press.book(desk.db, desk.clock, shown, desk.staff_id, cars)
        with desk.db.read() as s:
            states = s.scalars(select(ListLine.state).where(ListLine.list_id == list_id)).all()
        if LineState.OPEN not in states:
            self.pressed[list_id] = LINES


@row(41, "kill -9 of a worker at each step of the booking of a list")
def lists(case: Case) -> Verdict:
    """Lists of 14 guests each; workers are killed at each fail point of lists and of orders."""
    return _killed(case, case.size(400, 25))


@row(
    41,
    "kill -9 of a worker at each step of the booking of a list, PostgreSQL",
    short=False,
    database=POSTGRESQL,
)
def lists_postgresql(case: Case) -> Verdict:
    """The same on PostgreSQL."""
    return _killed(case, case.size(400, 25))


def _killed(case: Case, kills: int) -> Verdict:
    points = (*LIST_POINTS, READY, *POINTS)
    options = {"points": points, "locked_share": 0.0}
    with database(case) as url, crash_run(case, url, "run", WithLists, **options) as run:
        run.kill(kills, 2)
        run.tally.found = run.settle()
        run.tally.found.add(run.undone())
        run.tally.orders = len(run.desk.orders())
        run.tally.events["lists"] = len(run.pressed)
        wanted = (" or ".join(LIST_POINTS),) if case.short else LIST_POINTS
        return met(run.tally, (*wanted, "BOOKED", "lists"))
