"""Claims: a worker leases a batch of due rides in one transaction; no other worker gets them.

See docs/booking-protocol.md 3.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, cast

from sqlalchemy import ColumnElement, Row, Table, Text, bindparam, or_, select, true, update
from sqlalchemy import cast as sql_cast
from sqlalchemy.orm import Session

from ridedash import wire
from ridedash.rides.state import transitions
from ridedash.rides.tracking.policy import POISON, poison_wait_s
from ridedash.store.database.database import Database
from ridedash.store.models.orders import Order, Ride

# a poll ends within nine seconds and five; then another worker takes over
LEASE: Final = timedelta(seconds=15)
# a ride that is overdue by more than this is claimed like one whose guest waits
AGED: Final = timedelta(seconds=20)
GUEST_WAITS: Final = (*sorted(wire.SEARCHING), wire.CALL_DRIVER, wire.CLIENT_LOCATED)

RIDES: Final = cast(Table, Ride.__table__)
ORDERS: Final = cast(Table, Order.__table__)


def _of_order(column: ColumnElement[Any], name: str) -> ColumnElement[Any]:
    of_ride = select(column).where(ORDERS.c.id == RIDES.c.order_id)
    return of_ride.scalar_subquery().label(name)


# the input of the decision on a poll (record.before_of): the ride, its facts as JSON text, and its
# order
RIDE_AND_ORDER: Final[tuple[ColumnElement[Any], ...]] = (
    *(column for column in RIDES.c if column.name != "facts"),
    sql_cast(RIDES.c.facts, Text).label("facts"),
    _of_order(ORDERS.c.state, "order_state"),
    _of_order(ORDERS.c.open, "order_open"),
    _of_order(ORDERS.c.booking_timeout_at, "booking_timeout_at"),
    _of_order(ORDERS.c.booking_timeout_s, "booking_timeout_s"),
)


@dataclass(frozen=True)
class Claim:
    """The right to poll one ride once.

    `seq` is the number of the poll among those of the ride: its answer is dropped once a newer poll
    has begun. `at` is when the claim was made. `row` has the columns RIDE_AND_ORDER at that time.
    """

    ride_id: int
    order_id: int
    account_id: int
    seq: int
    booking_id: str | None
    txn_id: str | None
    at: datetime
    row: Row[Any] = field(repr=False)

    @property
    def guest_waits(self) -> bool:
        """Whether a guest waits: for a driver, or for the ride to begin."""
        return self.row.status is None or self.row.status in GUEST_WAITS


@dataclass(frozen=True)
class Bounds:
    """How many rides may be claimed: at most `all`.

    Rides without a waiting guest are claimed only while fewer than `rest` rides, of both sorts, are
    claimed.
    """

    all: int
    rest: int


def claim_due(db: Database, now: datetime, bounds: Bounds, owner: str) -> list[Claim]:
    """Lease due rides, the longest overdue first.

    If `bounds.rest` is less than `bounds.all`, rides with a waiting guest come before the others. A
    ride whose row can't be read is postponed, so that it does not block the others.
    """
    with db.read() as s:
        if bounds.all < 1 or s.execute(_ANY_DUE, {"now": now}).first() is None:
            return []
    try:
        with db.write() as s:
            return _claim(s, now, bounds, owner)
    except (ValueError, LookupError, TypeError):
        return _one_by_one(db, now, bounds, owner)


def make_due(db: Database, now: datetime) -> None:
    """Make every ride that is still polled due now, whatever its schedule was."""
    with db.write() as s:
        later = RIDES.c.next_poll_at > now
        s.execute(update(RIDES).where(later).values(next_poll_at=now))


def release(db: Database, claims: Sequence[Claim]) -> None:
    """Give back claims that were not polled, so that other workers need not wait for them."""
    with db.write() as s:
        for claim in claims:
            ours = (RIDES.c.id == claim.ride_id, RIDES.c.poll_seq == claim.seq)
            s.execute(update(RIDES).where(*ours).values(lease_until=None, owner=None))


def _due(*more: ColumnElement[bool]) -> tuple[ColumnElement[bool], ...]:
    now: ColumnElement[Any] = bindparam("now", type_=RIDES.c.next_poll_at.type)
    return (
        RIDES.c.next_poll_at <= now,
        or_(RIDES.c.lease_until.is_(None), RIDES.c.lease_until <= now),
        *more,
    )


def _statement(*more: ColumnElement[bool]) -> Any:
    found = (
        select(RIDES.c.id)
        .where(*_due(*more))
        .order_by(RIDES.c.next_poll_at)
        .limit(bindparam("most"))
    )
    # SQLite has no row locks: there writers follow one another, and the clause is left out
    due = found.with_for_update(skip_locked=True).cte("due")
    lease = {
        "lease_until": bindparam("lease"),
        "owner": bindparam("by"),
        "poll_seq": RIDES.c.poll_seq + 1,
    }
    return (
        update(RIDES)
        .where(RIDES.c.id.in_(select(due.c.id)))
        .values(lease)
        .returning(*RIDE_AND_ORDER)
    )


_AGED: Final = RIDES.c.next_poll_at <= bindparam("aged", type_=RIDES.c.next_poll_at.type)
_ANY_DUE: Final = select(RIDES.c.id).where(*_due()).limit(1)
_ALL: Final = _statement()
_FIRST: Final = _statement(or_(RIDES.c.status.in_(GUEST_WAITS), RIDES.c.status.is_(None), _AGED))
_ONE: Final = _statement(RIDES.c.id == bindparam("ride"))
_ORDER_OF: Final = select(RIDES.c.order_id).where(RIDES.c.id == bindparam("ride")).scalar_subquery()


def _claim(s: Session, now: datetime, bounds: Bounds, owner: str) -> list[Claim]:
    values = {"now": now, "lease": now + LEASE, "by": owner, "aged": now - AGED}
    if bounds.rest >= bounds.all:
        return _claims(s.execute(_ALL, values | {"most": bounds.all}).all(), now)
    first = _claims(s.execute(_FIRST, values | {"most": bounds.all}).all(), now)
    left = bounds.rest - len(first)
    if left < 1:
        return first
    return first + _claims(s.execute(_ALL, values | {"most": left}).all(), now)


def _claims(rows: Sequence[Row[Any]], now: datetime) -> list[Claim]:
    """The claims in the order in which rides were due: databases return changed rows unsorted."""
    ordered = sorted(rows, key=lambda row: row.next_poll_at)
    return [
        Claim(r.id, r.order_id, r.account_id, r.poll_seq, r.booking_id, r.txn_id, now, r)
        for r in ordered
    ]


def _one_by_one(db: Database, now: datetime, bounds: Bounds, owner: str) -> list[Claim]:
    with db.read() as s:
        due = select(RIDES.c.id).where(*_due()).order_by(RIDES.c.next_poll_at).limit(bounds.all)
        ids = s.scalars(due, {"now": now}).all()
    found: list[Claim] = []
    for ride_id in ids:
        values = {"now": now, "lease": now + LEASE, "by": owner, "ride": ride_id, "most": 1}
        try:
            with db.write() as s:
                found += _claims(s.execute(_ONE, values).all(), now)
        except (ValueError, LookupError, TypeError) as error:
            postpone(db, ride_id, None, 1, now, type(error).__name__)
    return found


def postpone(
    db: Database, ride_id: int, seq: int | None, times: int, now: datetime, why: str
) -> None:
    """Postpone a ride whose row can't be read or whose answer can't be recorded.

    The attention item POISON is raised. The row is not read, because the error may be in the row.
    `seq` is the number of the failed poll: nothing is done when the ride has been claimed since;
    None: postpone in any case. `times` is the number of consecutive failures.
    """
    wait = poison_wait_s(times)
    later = {"next_poll_at": now + timedelta(seconds=wait), "interval_s": wait, "poison": times}
    still = (RIDES.c.id == ride_id, true() if seq is None else RIDES.c.poll_seq == seq)
    with db.write() as s:
        order = s.scalars(
            select(Order).where(Order.id == _ORDER_OF).with_for_update(), {"ride": ride_id}
        ).first()
        changed = s.connection().execute(
            update(RIDES).where(*still).values(later | {"lease_until": None, "owner": None})
        )
        if order is not None and changed.rowcount:
            transitions.raise_attention(s, order, POISON, why, now)
