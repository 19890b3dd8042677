"""Checks the invariants I1 to I7 of docs/booking-protocol.md 1.1 against the double's ledger.

The ledger records what the double of the service really did.
"""

import threading
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import select

from bench.faults.desk import Desk
from ridedash.rides.state.transitions import FRESH
from ridedash.store.orders import Order, OrderState

S = OrderState
# states in which an order may have a booking
MAY_EXIST: Final = frozenset(
    {S.BOOKED, S.MATCHING, S.FAILED, S.SENDING, S.UNKNOWN, S.CLOSED_NOT_BOOKED}
)
# by the state that an answer proves: the states in which its order may end
MAY_END: Final = {
    S.BOOKED: {S.BOOKED},
    S.MATCHING: {S.MATCHING, S.BOOKED, S.FAILED},
    S.REJECTED: {S.REJECTED},
    S.NOT_SENT: {S.NOT_SENT, S.REJECTED},  # REJECTED if it was UNKNOWN before
    S.UNKNOWN: {S.UNKNOWN},
}
# the same for an order that someone closed before its answer came: only a booking changes it
MAY_STAY: Final = {S.UNKNOWN, S.CLOSED_NOT_BOOKED}
# docs/booking-protocol.md 1.3; a literal, so that a change of the program's value is noticed
SHOWN_UNKNOWN: Final = timedelta(seconds=20)
# An order still overdue after this many recovery jobs is stuck; a job may skip a locked row.
SURE: Final = 3
# Seconds of the fast clock within which a claimed request reaches the service.
CLEAR_WITHIN_S: Final = 10.0


@dataclass
class Findings:
    """The number of violations by invariant; `messages` describes the first few.

    `states` counts the orders in each state.
    """

    lost: int = 0  # I1
    doubled: int = 0  # I2
    false_booked: int = 0  # I3
    false_not_booked: int = 0  # I4
    stuck: int = 0  # I5
    taken_back: int = 0  # I6: a page showed a booking id that the order no longer has
    late: int = 0  # I7
    forgotten: int = 0  # an answer had arrived, but its order is not settled by it
    messages: list[str] = field(default_factory=list)
    states: Counter[str] = field(default_factory=Counter)

    def find(self, what: str, words: str) -> None:
        """Count one violation."""
        setattr(self, what, getattr(self, what) + 1)
        if len(self.messages) < 5:
            self.messages.append(f"{what}: {words}")

    def __bool__(self) -> bool:
        counts = (self.lost, self.doubled, self.false_booked, self.false_not_booked)
        return any((*counts, self.stuck, self.taken_back, self.late, self.forgotten))

    def add(self, other: "Findings") -> None:
        """Add the violations of another run."""
        for name in (
            "lost",
            "doubled",
            "false_booked",
            "false_not_booked",
            "stuck",
            "taken_back",
            "late",
            "forgotten",
        ):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.messages = (self.messages + other.messages)[:5]
        self.states.update(other.states)


@dataclass
class Overdue:
    """I5: when an order has been SENDING for 20 s, the next recovery job makes it UNKNOWN.

    The check counts recovery jobs that certainly ran, not seconds: a busy machine runs them late.
    """

    desk: Desk
    found: Findings = field(default_factory=Findings)
    _passed: Counter[tuple[int, datetime]] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def swept(self, since: datetime, sweeps: int = 1) -> None:
        """Record that `sweeps` recovery jobs ran at `since` or later.

        An order that was overdue at `since` and is still SENDING after SURE jobs is stuck.
        """
        due = select(Order.id, Order.sent_at).where(
            Order.state == S.SENDING, Order.sent_at <= since - SHOWN_UNKNOWN
        )
        with self.desk.db.read() as s:
            passed = [
                (order_id, sent_at) for order_id, sent_at in s.execute(due) if sent_at is not None
            ]
        with self._lock:
            for order_id, sent_at in passed:
                reported = self._passed[order_id, sent_at] >= SURE
                self._passed[order_id, sent_at] += sweeps
                if not reported and self._passed[order_id, sent_at] >= SURE:
                    self.found.find(
                        "stuck",
                        f"order {order_id} is SENDING {since - sent_at} later, a worker swept",
                    )


def check(desk: Desk, *, quiet: bool, shown: dict[int, str] | None = None) -> Findings:
    """Compare all orders with the ledger.

    `quiet`: a worker has had time to finish, so no order may be in progress. `shown`: booking
    ids that a page has shown, by order.
    """
    found = Findings()
    now = desk.clock()
    orders = desk.orders()  # read before the ledger, so that the ledger has all their bookings
    made = _made(desk)
    by_mtx = {order.mtx: order for order in orders}
    found.states = Counter(order.state for order in orders)
    for mtx in made.keys() - by_mtx.keys():
        found.find("lost", f"{mtx} was booked and is nobody's order")
    for order in orders:
        _one(found, order, made.get(order.mtx, []))
        if (
            order.sent_at is not None
            and order.ready_at is not None
            and order.sent_at - order.ready_at >= FRESH
        ):
            found.find(
                "late",
                f"order {order.id} was claimed {order.sent_at - order.ready_at} after the press",
            )
        if quiet and order.state in {S.SENDING, S.READY}:
            found.find(
                "stuck",
                f"order {order.id} is still {order.state}, lease {order.lease_until}, now {now}",
            )
        if shown and order.id in shown and shown[order.id] != order.booking_id:
            found.find(
                "taken_back", f"order {order.id} was shown as {shown[order.id]}, is {order.state}"
            )
    for words in unsettled(desk) if quiet else ():
        found.find("forgotten", words)
    _requests(found, desk, made, by_mtx)
    _calls(found, desk, by_mtx)
    return found


def unsettled(desk: Desk) -> list[str]:
    """The orders that are not in progress, and not in a state that their answer leads to.

    An answer counts when a worker read it completely and wrote it to its answer journal: whatever
    happens to that worker, the order ends as the answer says.
    """
    proved, wrong = _proved(desk), list[str]()
    for order in desk.orders():
        attempt, means = proved.get(order.mtx, (0, S.UNKNOWN))
        if attempt != order.attempt or not attempt or order.state in {S.READY, S.SENDING}:
            continue  # an answer to an earlier attempt only allowed the next one
        is_closed = order.id in desk.closed and means not in {S.BOOKED, S.MATCHING}
        if order.state not in MAY_END[means] | (MAY_STAY if is_closed else set()):
            wrong.append(f"order {order.id} is {order.state} ({order.code}), journalled {means}")
    return wrong


def _proved(desk: Desk) -> dict[str, tuple[int, OrderState]]:
    """Of each partner reference: its last attempt whose answer a worker read and journalled, and
    the state that this answer proves.
    """
    sent, read = dict[str, OrderState](), dict[str, OrderState]()
    proved = dict[str, tuple[int, OrderState]]()
    for line in desk.ledger.lines():
        what, mtx = line["what"], line.get("mtx")
        if what == "call":
            sent[mtx] = S(line["means"])
        elif what == "read":
            read[mtx] = sent[mtx]
        elif what == "journalled" and mtx in read:
            proved[mtx] = line["attempt"], read.pop(mtx)
    return proved


def _made(desk: Desk) -> dict[str, list[set[str]]]:
    """The bookings of each partner reference, each as the set of its ids."""
    made: dict[str, list[set[str]]] = {}
    for line in desk.ledger.lines():
        if line["what"] == "made":
            made.setdefault(line["mtx"], []).append(
                {i for i in (line["booking_id"], line["txn_id"]) if i}
            )
        elif line["what"] == "handed":
            made[line["mtx"]][0].add(line["booking_id"])
    return made


def _one(found: Findings, order: Order, bookings: list[set[str]]) -> None:
    if len(bookings) > 1:
        found.find("doubled", f"order {order.id} ({order.mtx}) was booked {len(bookings)} times")
    if bookings and order.state not in MAY_EXIST:
        what = "false_not_booked" if order.state in {S.REJECTED, S.NOT_SENT} else "lost"
        found.find(what, f"order {order.id} is {order.state} ({order.code}), and was booked")
    if order.state in {S.BOOKED, S.MATCHING}:
        number = order.booking_id if order.state == S.BOOKED else order.txn_id
        if not any(number in ids for ids in bookings):
            found.find(
                "false_booked",
                f"order {order.id} is {order.state} as {number}, the service has {bookings}",
            )


def _requests(
    found: Findings, desk: Desk, made: dict[str, list[set[str]]], by_mtx: dict[str, Order]
) -> None:
    """I2: at most one booking for a request, plus one for each "book again"."""
    of_request: Counter[int] = Counter()
    for mtx in made.keys() & by_mtx.keys():
        press = desk.presses.get(by_mtx[mtx].id)
        of_request[press.root if press is not None else by_mtx[mtx].id] += 1
    for root, count in of_request.items():
        if count > 1 + desk.again.get(root, 0):
            presses = desk.again.get(root, 0)
            found.find(
                "doubled", f"the request of order {root} has {count} bookings, {presses} presses"
            )


def _calls(found: Findings, desk: Desk, by_mtx: dict[str, Order]) -> None:
    """I7: no call reached the service long after the press. I2: no order was sent too often."""
    calls: Counter[str] = Counter()
    for line in desk.ledger.of("call"):
        order = by_mtx.get(line["mtx"])
        calls[line["mtx"]] += 1
        if order is None or order.ready_at is None:
            continue
        age = (desk.clock.at(line["at"]) - order.ready_at).total_seconds()
        if age > FRESH.total_seconds() + CLEAR_WITHIN_S:
            claimed = order.sent_at and f"{(order.sent_at - order.ready_at).total_seconds():.1f} s"
            found.find(
                "late",
                f"order {order.id} reached the service {age:.0f} s after the press; its last claim "
                f"was {claimed} after it, attempt {order.attempt}",
            )
    for mtx, count in calls.items():
        order = by_mtx.get(mtx)
        if order is not None and count > 1 + order.reauthorised + order.throttled:
            found.find("doubled", f"order {order.id} was sent {count} times")
