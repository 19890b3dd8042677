"""The careful way to record polls: events, ends, errors, open actions; everything that a plain poll
has not.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, Final, TypeVar, cast

from sqlalchemy import JSON, Table, Text, bindparam, select, update
from sqlalchemy import cast as sql_cast
from sqlalchemy.engine import Connection, Row
from sqlalchemy.orm import Session

from ridedash import wire
from ridedash.rides.accounts.tokens import TokenUnreadable
from ridedash.rides.orders import transitions
from ridedash.rides.runtime import Clock
from ridedash.rides.tracking import policy, totals
from ridedash.rides.tracking.claims import ORDERS, RIDES, Claim
from ridedash.rides.tracking.intervals import MIN_INTERVAL_S, next_poll_s
from ridedash.rides.tracking.merge import (
    ALARMS,
    CAR_SWAPPED,
    DRIVER_LOST,
    HANDOVER,
    STATUS,
    Event,
    Merged,
    RideState,
    merge,
)
from ridedash.rides.tracking.totals import keep_bill
from ridedash.service.errors import Refused, Throttled
from ridedash.service.types.tracking import Snapshot
from ridedash.store import audit
from ridedash.store.database.database import Database
from ridedash.store.encryption import Sealed, TokenVault
from ridedash.store.models.orders import Action, Attention, Order, OrderState, Ride
from ridedash.text import squeezed
from ridedash.wire import Kind

_WRITTEN: Final = frozenset({"facts", "position_at", "seen_at", "merged_seq"})
_kept: Final = attrgetter(*(each.name for each in fields(RideState) if each.name not in _WRITTEN))
_AS_AFTER_ANY: Final[dict[str, Any]] = {
    "lease_until": None,
    "owner": None,
    "errors": 0,
    "poison": 0,
    "unknown_id": 0,
}
_CLEARED_BY_A_POLL: Final = (policy.NO_DRIVER, policy.NOT_KNOWN, policy.POISON, policy.TOO_OLD)
_ACTIONS: Final = cast(Table, Action.__table__)
_ATTENTION: Final = cast(Table, Attention.__table__)


@dataclass(frozen=True)
class Plain:
    """What such a poll writes. `facts` is JSON text, or None when they are as they were; `shown`: a
    page changes.
    """

    claim: Claim
    seen_at: datetime
    position_at: datetime | None
    wait_s: float
    next_poll_at: datetime
    facts: str | None
    shown: bool


def plain(
    claim: Claim,
    before: RideState,
    merged: Merged,
    now: datetime,
    pace: float,
    spread: Callable[[float], timedelta],
) -> Plain | None:
    """The poll as a plain one; None when it needs care.

    `spread` makes a wait of a number of seconds.
    """
    after = merged.ride
    if (
        merged.events
        or after.ended_at is not None
        or after.merged_seq != claim.seq
        or _kept(before) != _kept(after)
    ):
        return None
    if now - claim.row.created_at > policy.TOO_OLD_AFTER:
        return None
    if policy.overdue_by(claim.row.booking_timeout_at, after.status, now, pace) is not None:
        return None
    wait = next_poll_s(
        after.status, after.kind, after.facts.eta.seconds if after.facts.eta else None, pace
    )
    changed = after.facts is not before.facts and after.facts != before.facts
    if changed and totals.other_bill(before, after):
        return None
    facts = after.facts.model_dump_json(exclude_none=True) if changed else None
    return Plain(claim, now, after.position_at, wait, now + spread(wait), facts, merged.changed)


def write_plain(db: Database, polls: Sequence[Plain]) -> tuple[list[Plain], list[Plain]]:
    """Write all in one transaction. Those that were written, and those that turn out to need care.

    The rest were somebody else's meanwhile: their answers are dropped.
    """
    with db.write() as s:
        line = s.connection()
        _hold_orders(line, polls)
        careful = need_care(line, [each.claim.order_id for each in polls])
        ours = _ours(line, polls)
        written = [each for each in ours if each.claim.order_id not in careful]
        _update(line, written)
    return written, [each for each in ours if each.claim.order_id in careful]


def _hold_orders(line: Connection, polls: Sequence[Plain]) -> None:
    """Orders are locked before rides, as by everybody who writes both."""
    shown = [each.claim.order_id for each in polls if each.shown]
    if shown and line.dialect.name != "sqlite":
        line.execute(_LOCK_ORDERS, {"orders": shown}).all()


def need_care(line: Connection, order_ids: Sequence[int]) -> set[int]:
    """Orders with an action to read back, or with something to clear."""
    found = set(line.execute(_OPEN_ACTIONS).scalars())
    return found | set(line.execute(_OPEN_ITEMS, {"orders": order_ids}).scalars())


def _ours(line: Connection, polls: Sequence[Plain]) -> list[Plain]:
    rows = line.execute(_LOCK_RIDES, {"rides": [each.claim.ride_id for each in polls]})
    now_at = dict(tuple(row) for row in rows)
    return [each for each in polls if now_at.get(each.claim.ride_id) == each.claim.seq]


def _update(line: Connection, polls: Sequence[Plain]) -> None:
    changed = [
        _values(each) | {"new_facts": each.facts} for each in polls if each.facts is not None
    ]
    same = [_values(each) for each in polls if each.facts is None]
    if changed:
        line.execute(_WITH_FACTS[line.dialect.name], changed)
    if same:
        line.execute(_TIMES, same)
    shown = [each.claim.order_id for each in polls if each.shown]
    if shown:
        line.execute(_RAISE_VERSIONS, {"orders": shown})


def _values(poll: Plain) -> dict[str, Any]:
    return {
        "ride": poll.claim.ride_id,
        "seen": poll.seen_at,
        "placed": poll.position_at,
        "seq": poll.claim.seq,
        "wait": poll.wait_s,
        "next": poll.next_poll_at,
    }


def _named(pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    return {column: bindparam(name) for column, name in pairs}


# made once: building a statement costs more than running it for a few rides
_SOME_ORDERS: Final[Any] = bindparam("orders", expanding=True)
_SOME_RIDES: Final[Any] = bindparam("rides", expanding=True)
_LOCK_ORDERS: Final = (
    select(ORDERS.c.id).where(ORDERS.c.id.in_(_SOME_ORDERS)).order_by(ORDERS.c.id).with_for_update()
)
_LOCK_RIDES: Final = (
    select(RIDES.c.id, RIDES.c.poll_seq)
    .where(RIDES.c.id.in_(_SOME_RIDES))
    .order_by(RIDES.c.id)
    .with_for_update()
)
_RAISE_VERSIONS: Final = (
    update(ORDERS).where(ORDERS.c.id.in_(_SOME_ORDERS)).values(version=ORDERS.c.version + 1)
)
_OPEN_ACTIONS: Final = select(_ACTIONS.c.order_id).where(_ACTIONS.c.state == "unconfirmed")
_OPEN_ITEMS: Final = select(_ATTENTION.c.order_id).where(
    _ATTENTION.c.order_id.in_(_SOME_ORDERS),
    _ATTENTION.c.name.in_(_CLEARED_BY_A_POLL),
    _ATTENTION.c.cleared_at.is_(None),
)
_TIMES: Final = (
    update(RIDES)
    .where(RIDES.c.id == bindparam("ride"))
    .values(_AS_AFTER_ANY)
    .values(_named([("seen_at", "seen"), ("position_at", "placed"), ("merged_seq", "seq")]))
    .values(_named([("interval_s", "wait"), ("next_poll_at", "next")]))
)
_TEXT: Final = bindparam("new_facts", type_=Text())
_WITH_FACTS: Final = {
    "sqlite": _TIMES.values(facts=_TEXT),
    "postgresql": _TIMES.values(facts=sql_cast(_TEXT, JSON)),
}
TIMELINE = frozenset({DRIVER_LOST, CAR_SWAPPED, HANDOVER})


def record(s: Session, order: Order, ride: Ride, merged: Merged, now: datetime) -> None:
    """Write down what happened, in the transaction that wrote the ride. Raises moves.BadMove."""
    if merged.changed:
        order.version += 1
    for event in merged.events:
        if event.name == STATUS:
            transitions.moment(s, order, "ride", event.detail or "", now)
        elif event.name in TIMELINE:
            transitions.moment(s, order, "event", event.name, now, event.detail)
        if event.name in ALARMS:
            _alarm(s, order, event, now)
    if any(event.name == HANDOVER for event in merged.events):
        _hand_over(s, order, ride, now)
    if ride.ended_at is not None and order.open:
        _end(s, order, ride, now)


def _alarm(s: Session, order: Order, event: Event, now: datetime) -> None:
    if transitions.attention(s, order, event.name, event.detail, now):
        subject = f"orders:{order.id}"
        audit.record(
            s, "worker", "ride.alarm", subject, event.name, now, property_id=order.property_id
        )


def _hand_over(s: Session, order: Order, ride: Ride, now: datetime) -> None:
    """The booking id has come: the order is booked, and a cancel that was armed may go."""
    order.booking_id = ride.booking_id
    if order.state == OrderState.MATCHING:
        transitions.move(s, order, OrderState.BOOKED, now, "worker", booking_id=ride.booking_id)
    armed = select(Action).where(Action.order_id == order.id, Action.state == "armed")
    for action in s.scalars(armed):
        action.next_try_at = now


def _end(s: Session, order: Order, ride: Ride, now: datetime) -> None:
    """The journey is over: the guest may book again.

    A match that never got a booking id has failed.
    """
    if order.state == OrderState.MATCHING and ride.status != wire.COMPLETED:
        transitions.move(s, order, OrderState.FAILED, now, "worker", status=ride.status)
    order.open = False
    for action in s.scalars(
        select(Action).where(Action.order_id == order.id, Action.state == "armed")
    ):
        action.state, action.settled_at, action.next_try_at = "dropped", now, None


_SAME = (
    "booking_id",
    "txn_id",
    "status",
    "reported",
    "back_status",
    "previous_plate",
    "swapped_at",
    "retried",
    "allotted_at",
    "ended_at",
    "position_at",
    "seen_at",
    "merged_seq",
)


def facts_of(ride: Ride) -> Snapshot:
    """The merged facts of a ride, without its start code."""
    return Snapshot.model_validate(ride.facts)


def otp_of(ride: Ride | Row[Any], vault: TokenVault) -> str | None:
    """The start code; None when there is none now, or its key is gone."""
    if ride.otp_enc is None:
        return None
    try:
        return vault.decrypt(ride.otp_enc, "rides", ride.id, "otp")
    except Sealed:
        return None


def state_of(ride: Ride, vault: TokenVault) -> RideState:
    """A row as a value."""
    same = {name: getattr(ride, name) for name in _SAME}
    return RideState(kind=Kind(ride.kind), facts=facts_of(ride), otp=otp_of(ride, vault), **same)


def state_as_claimed(row: Row[Any], vault: TokenVault) -> RideState:
    """A claimed row as a value; its facts are still JSON text."""
    same = {name: getattr(row, name) for name in _SAME}
    otp = None if row.otp_enc is None else otp_of(row, vault)
    return RideState(
        kind=Kind(row.kind), facts=Snapshot.model_validate_json(row.facts), otp=otp, **same
    )


def write_state(ride: Ride, state: RideState, vault: TokenVault) -> None:
    """A value into its row. A code that did not change keeps its ciphertext; one that is gone is
    wiped.
    """
    if state.otp is None:
        ride.otp_enc = None
    elif otp_of(ride, vault) != state.otp:
        ride.otp_enc = vault.encrypt(state.otp, "rides", ride.id, "otp")
    facts = state.facts.model_dump(mode="json", exclude_none=True)
    if facts != ride.facts:
        ride.facts = facts
        ride.plate = squeezed(state.facts.vehicle_number) or None
    for name in _SAME:
        setattr(ride, name, getattr(state, name))


# until a ride is tried again whose account's token this process can't read: another may
UNREAD_S: Final = 5.0
Locked = TypeVar("Locked", Order, Ride)
Answered = tuple[Claim, Snapshot | Exception]


@dataclass(frozen=True)
class Written:
    """How many answers were recorded, and how many of them brought a booking id for what had
    none.
    """

    merged: int = 0
    handed_over: int = 0


class Careful:
    """Records some polls in one transaction; whatever goes wrong with one of them undoes all."""

    def __init__(
        self,
        db: Database,
        vault: TokenVault,
        clock: Clock,
        pace: float,
        chance: Callable[[], float],
    ) -> None:
        self.db, self.vault, self.clock, self.pace, self.chance = db, vault, clock, pace, chance

    def write(self, answered: Sequence[Answered]) -> Written:
        """Raises whatever a row or an answer makes recording raise, DatabaseBusy and
        SQLAlchemyError.
        """
        with self.db.write() as s:
            # orders before their rides, as everybody locks them
            orders = _held(s, Order, [claim.order_id for claim, _ in answered])
            rides = _held(s, Ride, [claim.ride_id for claim, _ in answered])
            busy = need_care(s.connection(), list(orders))
            done = [
                self._one(
                    s,
                    orders[claim.order_id],
                    rides[claim.ride_id],
                    claim,
                    answer,
                    claim.order_id in busy,
                )
                for claim, answer in answered
                if rides[claim.ride_id].poll_seq == claim.seq
            ]
        return Written(sum(each is not None for each in done), sum(bool(each) for each in done))

    def spread(self, wait_s: float) -> timedelta:
        """The wait, 10 % more or less, so that rides do not march in step."""
        return timedelta(seconds=max(MIN_INTERVAL_S, wait_s * (0.9 + 0.2 * self.chance())))

    def _one(
        self,
        s: Session,
        order: Order,
        ride: Ride,
        claim: Claim,
        answer: Snapshot | Exception,
        busy: bool,
    ) -> bool | None:
        """Whether the booking id came with it; None for what is no answer."""
        now = self.clock()
        if isinstance(answer, Exception):
            self._failed(s, order, ride, answer, now)
            return None
        had_id = ride.booking_id is not None
        self._merge(s, order, ride, answer, claim, now, busy)
        return not had_id and ride.booking_id is not None

    def _merge(
        self,
        s: Session,
        order: Order,
        ride: Ride,
        answer: Snapshot,
        claim: Claim,
        now: datetime,
        busy: bool,
    ) -> None:
        merged = merge(state_of(ride, self.vault), answer, claim.seq, now)
        merged = policy.unless_taken(s, order, ride, merged)
        was_ended = ride.ended_at is not None
        write_state(ride, merged.ride, self.vault)
        keep_bill(s, order, ride, merged.ride)
        record(s, order, ride, merged, now)
        if busy:
            policy.read_back(s, order, ride, answer, claim.at, now)
        ride.errors = ride.poison = ride.unknown_id = 0
        ride.final_polls += was_ended
        self._next(ride, policy.wait_s(s, order, ride, now, self.pace, clear=busy), now)

    def _failed(
        self, s: Session, order: Order, ride: Ride, error: Exception, now: datetime
    ) -> None:
        """The schedule is the retry; last facts stay as they are.

        What we did not ask is no failure of the ride.
        """
        if isinstance(error, Throttled | TokenUnreadable):
            self._next(
                ride,
                max(MIN_INTERVAL_S, error.wait_s if isinstance(error, Throttled) else UNREAD_S),
                now,
            )
            return
        ride.errors += 1
        ride.unknown_id = ride.unknown_id + 1 if isinstance(error, Refused) else 0
        wait = policy.wait_after_error_s(s, order, ride, error, now, self.pace, self.chance())
        given_up = ride.ended_at is not None and ride.errors >= policy.FINAL_TRIES
        self._next(ride, None if given_up else wait, now)

    def _next(self, ride: Ride, wait_s: float | None, now: datetime) -> None:
        ride.lease_until = ride.owner = None
        if wait_s is None:
            ride.next_poll_at = None
            return
        ride.interval_s = wait_s
        ride.next_poll_at = now + self.spread(wait_s)


def _held(s: Session, table: type[Locked], ids: Sequence[int]) -> dict[int, Locked]:
    """Rows by id, locked in the order of their ids."""
    query = select(table).where(table.id.in_(ids)).order_by(table.id).with_for_update()
    return {row.id: row for row in s.scalars(query)}
