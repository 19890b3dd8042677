"""Records the decisions of polls (docs/booking-protocol.md 3.5).

Most decisions change only the ride, its path and the order's version. They are written in batches,
one statement for all rides with the same columns. The others change more of the order or have side
rows (timeline, attention items, actions): they are written on locked rows, several in one
transaction.
"""

import functools
import logging
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from operator import itemgetter
from typing import Any, Final, cast

from sqlalchemy import JSON, Row, Table, Text, Update, bindparam, func, insert, select, update
from sqlalchemy import cast as sql_cast
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DataError, IntegrityError
from sqlalchemy.orm import Session

from ridedash.geo import LatLng
from ridedash.rides.runtime import Runtime
from ridedash.rides.state import transitions
from ridedash.rides.state.states import BadTransition
from ridedash.rides.tracking import policy
from ridedash.rides.tracking.claims import ORDERS, RIDE_AND_ORDER, RIDES, Claim, postpone
from ridedash.rides.tracking.merge import DRIVER_LOST, RideState
from ridedash.rides.tracking.policy import Before, Decision, Pacing, decide
from ridedash.rides.tracking.told import told_plate
from ridedash.service.transport.http import Answer
from ridedash.service.types.tracking import Snapshot
from ridedash.store import audit
from ridedash.store.actors import WORKER
from ridedash.store.database.database import Database
from ridedash.store.database.numbers import numbered
from ridedash.store.encryption import DecryptionFailed, TokenVault
from ridedash.store.models.orders import (
    Action,
    Attention,
    Offer,
    Order,
    OrderState,
    PathPoint,
    Ride,
)
from ridedash.store.models.people import Property
from ridedash.wire import Kind

# errors that, while a poll is decided or recorded, are due to the ride's row or its answer
POISONOUS: Final = (
    BadTransition,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    DataError,
)
# how many polls with side rows are written in one transaction, for which other writers may wait
TOGETHER: Final = 20

_PREFIX: Final = "new_"  # prefix of bound values: SQLAlchemy reserves the names of columns

# Which columns of RIDE_AND_ORDER are the fields of RideState and of Before. They are read by
# position, because a worker reads many rows a second.
_STATE: Final = tuple(
    each.name for each in fields(RideState) if each.name not in {"kind", "facts", "otp"}
)
# from `seq` to `currency`
_OTHERS: Final = Before._fields[1 : Before._fields.index("has_start_code")]
_NAMES: Final = [each.name for each in RIDE_AND_ORDER]
_POSITIONS: Final = {"seq": _NAMES.index("poll_seq")} | {name: n for n, name in enumerate(_NAMES)}
_state_of: Final = itemgetter(*map(_POSITIONS.__getitem__, _STATE))
_others_of: Final = itemgetter(*map(_POSITIONS.__getitem__, _OTHERS))
_ACTIONS: Final = cast(Table, Action.__table__)
_ATTENTION: Final = cast(Table, Attention.__table__)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Polled:
    """A ride that was polled, and the answer that came at `at`, or the error in its place.

    The answer is a Snapshot once it has been read. `decision` is made from the claimed row; if that
    fails it is None, and is made again from the locked row.
    """

    claim: Claim
    answer: Answer | Snapshot | Exception
    at: datetime
    decision: Decision | None = None


class PollRecorder:
    """Decides what polls change and writes it, for one worker. Safe to share between threads."""

    def __init__(self, runtime: Runtime, chance: Callable[[], float] = random.random) -> None:
        self.runtime = runtime
        self.chance = chance

    def decided(self, polled: Polled) -> Polled:
        """The poll with its decision; without one if its row or answer raises one of POISONOUS."""
        try:
            decision = self._decide(polled, before_of(polled.claim.row, self.runtime.tokens.vault))
        except POISONOUS:
            return polled
        return Polled(polled.claim, polled.answer, polled.at, decision)

    def write(self, polls: Sequence[Polled]) -> int:
        """Record polls whose answers have been read. Returns how many answers were recorded.

        Raises DatabaseBusy and SQLAlchemyError when nothing can be written now: the leases expire,
        and the rides are polled again.
        """
        batch = [each for each in polls if each.decision is not None and each.decision.batched]
        others = [each for each in polls if each.decision is None or not each.decision.batched]
        written: Sequence[Polled] = ()
        try:
            if batch:
                written, left = write_batch(self.runtime.db, batch)
                others += left
        except POISONOUS as error:
            log.error("a batch of polls is recorded one by one: %s", type(error).__name__)
            others += batch
        count = self._count([each.decision for each in written if each.decision is not None])
        return count + sum(
            self._write_some(others[n : n + TOGETHER]) for n in range(0, len(others), TOGETHER)
        )

    def _write_some(self, polls: Sequence[Polled]) -> int:
        """Write some polls in one transaction, or one by one when that fails.

        A ride whose poll can't be recorded by itself is postponed.
        """
        try:
            return self._count(self._write_locked(polls))
        except (*POISONOUS, IntegrityError) as error:
            if len(polls) > 1:
                return sum(self._write_some([each]) for each in polls)
            if isinstance(error, IntegrityError):
                # two orders got the same booking id at the same time: the next poll will see that
                # the id is taken
                raise
            claim = polls[0].claim
            times = claim.row.poison + 1
            now = self.runtime.clock()
            postpone(self.runtime.db, claim.ride_id, claim.seq, times, now, type(error).__name__)
            return 0

    def _write_locked(self, polls: Sequence[Polled]) -> list[Decision]:
        """Write polls with their side rows in one transaction, on locked rows."""
        written = []
        with self.runtime.db.write() as s:
            connection = s.connection()
            order_ids = [each.claim.order_id for each in polls]
            # each transaction that writes both tables locks the orders first, then their rides
            query = (
                select(Order).where(Order.id.in_(order_ids)).order_by(Order.id).with_for_update()
            )
            orders = {order.id: order for order in s.scalars(query)}
            locked = connection.execute(
                _LOCK_WHOLE_RIDES, {"rides": [each.claim.ride_id for each in polls]}
            )
            rows = {row.id: row for row in locked}
            items = open_items(connection, order_ids)
            acted = orders_with_open_actions(connection)
            for polled in polls:
                row = rows[polled.claim.ride_id]
                if row.poll_seq != polled.claim.seq:
                    continue  # another worker has begun a newer poll
                order = orders[row.order_id]
                decision = self._decision(s, polled, row)
                _write(s, order, row.id, decision, polled.at, self.runtime.tokens.vault)
                if decision.answered:
                    for name in items.get(order.id, set()).intersection(decision.cleared):
                        transitions.clear_attention(s, order, name, polled.at)
                if decision.answered and order.id in acted and not decision.is_of_another:
                    _settle_actions(s, order, polled, decision.status)
                written.append(decision)
        return written

    def _decision(self, s: Session, polled: Polled, row: Row[Any]) -> Decision:
        """The decision from the claimed row, or a new one if the row has changed since.

        A new one is made too if the booking id in the answer belongs to another order.
        """
        decision = polled.decision
        if decision is None or row != polled.claim.row:
            decision = self._decide(polled, before_of(row, self.runtime.tokens.vault))
        booking_id = decision.order.get("booking_id")
        if booking_id is not None and _is_taken(s, booking_id, row.order_id):
            before = before_of(row, self.runtime.tokens.vault)
            decision = self._decide(polled, before._replace(taken=booking_id))
        return decision

    def _decide(self, polled: Polled, before: Before) -> Decision:
        if isinstance(polled.answer, Answer):
            raise TypeError("the answer has to be parsed before it is decided on")
        time = self.runtime.time()
        decision = decide(
            before, polled.answer, polled.at, Pacing(time, self.chance(), self.chance())
        )
        turned_since = time.turned_at is not None and polled.claim.at < time.turned_at
        if turned_since and decision.next_poll_at is not None:
            # the answer may be from before the turn of the clock: mark it as older, and poll once
            # more
            decision.ride["next_poll_at"] = polled.at
            if decision.answered:
                decision.ride["seen_at"] = polled.claim.at
        return decision

    def _count(self, written: Iterable[Decision]) -> int:
        """How many of these had an answer. Calls the failpoint for each."""
        answered = [decision for decision in written if decision.answered]
        for decision in answered:
            if decision.handed_over:
                self.runtime.failpoint("handover.merged")
            self.runtime.failpoint("poll.merged")
        return len(answered)


def before_of(row: Row[Any], vault: TokenVault) -> Before:
    """The input of `decide` from a row with the columns of claims.RIDE_AND_ORDER."""
    state = dict(zip(_STATE, _state_of(row), strict=True))
    facts = Snapshot.model_validate_json(row.facts)
    otp = None if row.otp_enc is None else otp_of(row, vault)
    ride = RideState(kind=Kind(row.kind), facts=facts, otp=otp, **state)
    return Before._make((ride, *_others_of(row), row.otp_enc is not None, None))


def otp_of(ride: Ride | Row[Any], vault: TokenVault) -> str | None:
    """The start code; None when there is none, or when no key decrypts it."""
    if ride.otp_enc is None:
        return None
    try:
        return vault.decrypt(ride.otp_enc, "rides", ride.id, "otp")
    except DecryptionFailed:
        return None


def write_batch(db: Database, polls: Sequence[Polled]) -> tuple[list[Polled], list[Polled]]:
    """Write `batched` decisions in one transaction. Returns the written polls, and the others.

    The others belong to orders with an attention item to clear or an action to settle. A poll whose
    ride was claimed again meanwhile is in neither list: its answer is dropped.
    """
    with db.write() as s:
        connection = s.connection()
        _lock_orders(connection, polls)
        busy = orders_with_open_actions(connection)
        busy |= set(open_items(connection, [each.claim.order_id for each in polls]))
        ours = _still_ours(connection, polls)
        left = [each for each in ours if each.claim.order_id in busy and _answered(each)]
        written = [each for each in ours if each.claim.order_id not in busy or not _answered(each)]
        _update_rides(connection, written)
        _add_points(connection, written)
        shown = [
            each.claim.order_id
            for each in written
            if each.decision is not None and each.decision.shown
        ]
        if shown:
            connection.execute(_RAISE_VERSIONS, {"orders": shown})
    return written, left


def _answered(polled: Polled) -> bool:
    return polled.decision is not None and polled.decision.answered


def _lock_orders(connection: Connection, polls: Sequence[Polled]) -> None:
    """Lock the orders whose version will rise, before the rides are locked.

    Each transaction that writes both tables locks them in this sequence.
    """
    shown = [
        each.claim.order_id for each in polls if each.decision is not None and each.decision.shown
    ]
    if shown and connection.dialect.name != "sqlite":
        connection.execute(_LOCK_ORDERS, {"orders": shown}).all()


def orders_with_open_actions(connection: Connection) -> set[int]:
    """Orders with an action that was called and not confirmed."""
    return set(connection.execute(_OPEN_ACTIONS).scalars())


def open_items(connection: Connection, order_ids: Sequence[int]) -> dict[int, set[str]]:
    """The open attention items that an answer may clear, by order."""
    found: dict[int, set[str]] = {}
    for order_id, name in connection.execute(_OPEN_ITEMS, {"orders": order_ids}):
        found.setdefault(order_id, set()).add(name)
    return found


def _still_ours(connection: Connection, polls: Sequence[Polled]) -> list[Polled]:
    """Lock the rides. Returns the polls whose rides have not been claimed again since."""
    rows = connection.execute(_LOCK_RIDES, {"rides": [each.claim.ride_id for each in polls]})
    seq_of = dict(tuple(row) for row in rows)
    return [each for each in polls if seq_of.get(each.claim.ride_id) == each.claim.seq]


def _update_rides(connection: Connection, polls: Sequence[Polled]) -> None:
    """Write the rides, with one statement for all decisions on the same columns."""
    by_columns: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for each in polls:
        if each.decision is not None:
            columns = each.decision.ride
            values = _values_of(each.claim.ride_id, columns)
            by_columns.setdefault(tuple(columns), []).append(values)
    for names, rows in by_columns.items():
        connection.execute(_update_of(names, connection.dialect.name), rows)


def _add_points(connection: Connection, polls: Sequence[Polled]) -> None:
    """Add the new points of the cabs' paths."""
    rows = [
        {"order_id": each.claim.order_id, "at": each.at, "lat": point.lat, "lng": point.lng}
        for each in polls
        if each.decision is not None and (point := each.decision.point) is not None
    ]
    if rows:
        connection.execute(_ADD_POINT, numbered(connection, PathPoint.__tablename__, rows))


def _values_of(ride_id: int, columns: dict[str, Any]) -> dict[str, Any]:
    return {_PREFIX + name: value for name, value in columns.items()} | {"ride": ride_id}


@functools.lru_cache(maxsize=256)
def _update_of(names: tuple[str, ...], dialect: str) -> Update:
    """The statement that writes these columns of a ride and ends its lease.

    Building a statement costs more than running it for a few rides. Facts are written as JSON text.
    """
    values: dict[str, Any] = {
        name: bindparam(_PREFIX + name, type_=RIDES.c[name].type) for name in names
    }
    if "facts" in values:
        as_text = bindparam(_PREFIX + "facts", type_=Text())
        values["facts"] = as_text if dialect == "sqlite" else sql_cast(as_text, JSON)
    lease_ended = {"lease_until": None, "owner": None}
    return update(RIDES).where(RIDES.c.id == bindparam("ride")).values(values | lease_ended)


def _write(
    s: Session, order: Order, ride_id: int, decision: Decision, now: datetime, vault: TokenVault
) -> None:
    """Write a decision with all its side rows, in the transaction that has locked both rows.

    Raises BadTransition.
    """
    columns = dict(decision.ride)
    if decision.start_code is not None:
        columns["otp_enc"] = vault.encrypt(decision.start_code, "rides", ride_id, "otp")
    if decision.needs_currency:
        columns["currency"] = order.currency = _currency(s, order)
        if not decision.shown:  # otherwise the version is raised below
            order.version += 1
    statement = _update_of(tuple(columns), s.connection().dialect.name)
    s.connection().execute(statement, _values_of(ride_id, columns))
    if (point := decision.point) is not None:
        values = {"order_id": order.id, "at": now, "lat": point.lat, "lng": point.lng}
        rows = numbered(s.connection(), PathPoint.__tablename__, [values])
        s.connection().execute(_ADD_POINT, rows)
    for name, value in decision.order.items():
        setattr(order, name, value)
    if decision.shown:
        order.version += 1
    lost = any(entry.name == DRIVER_LOST for entry in decision.timeline)
    told = told_plate(s, order.id) if lost else None
    for entry in decision.timeline:
        if entry.what == "ride":
            transitions.note_wait(order, entry.name, now)
        transitions.add_event(s, order, entry.what, entry.name, now, entry.detail)
    _raise_items(s, order, decision, now)
    if told is not None:
        transitions.raise_attention(s, order, DRIVER_LOST, told, now)
    if decision.transition is not None:
        booked = decision.transition is OrderState.BOOKED
        facts = {"booking_id": order.booking_id} if booked else {"status": decision.status}
        transitions.change_state(s, order, decision.transition, now, WORKER, **facts)
    if decision.closes:
        order.open = False
    if decision.armed_cancel is not None:
        _free_armed_cancel(s, order, decision.armed_cancel, now)


def _raise_items(s: Session, order: Order, decision: Decision, now: datetime) -> None:
    """Raise attention items; alarms among them are audited."""
    for item in decision.raised:
        if transitions.raise_attention(s, order, item.name, item.detail, now) and item.alarm:
            audit.record(
                s,
                WORKER,
                "ride.alarm",
                f"orders:{order.id}",
                item.name,
                now,
                property_id=order.property_id,
            )


def _free_armed_cancel(s: Session, order: Order, fate: str, now: datetime) -> None:
    """Make an armed cancel due if there is a booking id (`fate` is "call"), else drop it."""
    for action in s.scalars(
        select(Action).where(Action.order_id == order.id, Action.state == "armed")
    ):
        if fate == "call":
            action.next_try_at = now
        else:
            action.state = "dropped"
            action.settled_at = now
            action.next_try_at = None


def _currency(s: Session, order: Order) -> str | None:
    """The currency of the order's offer, or else of its property."""
    query = select(func.coalesce(Offer.currency, Property.currency)).join(
        Property, Property.id == Offer.property_id
    )
    return s.scalar(query.where(Offer.id == order.offer_id))


def _is_taken(s: Session, booking_id: str, order_id: int) -> bool:
    """Whether another order or its ride has this booking id."""
    order = select(Order.id).where(Order.booking_id == booking_id, Order.id != order_id)
    ride = select(Ride.id).where(Ride.booking_id == booking_id, Ride.order_id != order_id)
    return s.scalars(order).first() is not None or s.scalars(ride).first() is not None


def _settle_actions(s: Session, order: Order, polled: Polled, status: str | None) -> None:
    """Settle unconfirmed actions that were called before this poll, or make them due once more."""
    query = select(Action).where(Action.order_id == order.id, Action.state == "unconfirmed")
    query = query.where(
        Action.name.in_(("abort", "cancel", "drop")), Action.called_at < polled.claim.at
    )
    for action in s.scalars(query.order_by(Action.id)):
        reading = _reading(s, action, polled, status, Kind(order.kind))
        if reading.verdict == policy.REPEAT and action.next_try_at is None:
            action.next_try_at = polled.at
        elif reading.verdict in {policy.DONE, policy.REFUSED}:
            action.state = reading.verdict
            action.code = reading.code
            action.settled_at = polled.at
            action.next_try_at = None
            order.version += 1


def _reading(
    s: Session, action: Action, polled: Polled, status: str | None, kind: Kind
) -> policy.ActionReading:
    """What a poll says about an unconfirmed action that was called before it."""
    if action.name != "drop":
        return policy.read_stop(action.name, action.calls, status, kind)
    newer = select(Action.id).where(
        Action.order_id == action.order_id, Action.name == "drop", Action.id > action.id
    )
    wanted = LatLng(action.payload["lat"], action.payload["lng"])
    drop = polled.answer.drop if isinstance(polled.answer, Snapshot) else None
    return policy.read_drop(
        action.calls, wanted, drop, status, newer=s.scalars(newer).first() is not None
    )


# built once: building a statement costs more than running it for a few rides
_ADD_POINT: Final = insert(cast(Table, PathPoint.__table__))
_SOME_ORDERS: Final[Any] = bindparam("orders")
_SOME_RIDES: Final[Any] = bindparam("rides")
_LOCK_ORDERS: Final = (
    select(ORDERS.c.id).where(ORDERS.c.id.in_(_SOME_ORDERS)).order_by(ORDERS.c.id).with_for_update()
)
_LOCK_RIDES: Final = (
    select(RIDES.c.id, RIDES.c.poll_seq)
    .where(RIDES.c.id.in_(_SOME_RIDES))
    .order_by(RIDES.c.id)
    .with_for_update()
)
_LOCK_WHOLE_RIDES: Final = (
    select(*RIDE_AND_ORDER)
    .where(RIDES.c.id.in_(_SOME_RIDES))
    .order_by(RIDES.c.id)
    .with_for_update(of=RIDES)
)
_RAISE_VERSIONS: Final = (
    update(ORDERS).where(ORDERS.c.id.in_(_SOME_ORDERS)).values(version=ORDERS.c.version + 1)
)
_OPEN_ACTIONS: Final = select(_ACTIONS.c.order_id).where(_ACTIONS.c.state == "unconfirmed")
_OPEN_ITEMS: Final = select(_ATTENTION.c.order_id, _ATTENTION.c.name).where(
    _ATTENTION.c.order_id.in_(_SOME_ORDERS),
    _ATTENTION.c.name.in_(policy.CLEARED_BY_POLLS),
    _ATTENTION.c.cleared_at.is_(None),
)
