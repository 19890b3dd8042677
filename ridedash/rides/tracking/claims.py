"""Claiming due rides: a whole batch in one statement, each ride by one worker only.

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
from ridedash.rides.orders import transitions
from ridedash.rides.tracking.policy import POISON, poison_wait_s
from ridedash.store.database.database import Database
from ridedash.store.models.orders import Order, Ride

LEASE: Final = timedelta(seconds=15)
# overdue for so long, a ride is asked about as if its guest were waiting
AGED: Final = timedelta(seconds=20)
GUEST_WAITS: Final = (*sorted(wire.SEARCHING), wire.CALL_DRIVER, wire.CLIENT_LOCATED)

RIDES: Final = cast(Table, Ride.__table__)
ORDERS: Final = cast(Table, Order.__table__)


@dataclass(frozen=True)
class Claim:
    """The right to poll one ride once. `seq` is the poll's number: only its answer may be merged.

    `row` is the ride as it was then, with its facts as JSON text and its order's
    `booking_timeout_at`.
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
        """Whether a guest waits for this answer: no driver yet, or not yet here."""
        return self.row.status is None or self.row.status in GUEST_WAITS


@dataclass(frozen=True)
class Bounds:
    """How many rides may be claimed, and how many of those without a guest who waits."""

    all: int
    rest: int


def claim_due(db: Database, now: datetime, bounds: Bounds, owner: str) -> list[Claim]:
    """Lease due rides, the longest overdue first; those with a waiting guest before the rest, when
    not all may go.

    A ride whose row can't be read is pushed ahead, so that it stands in the way of no other.
    """
    with db.read() as s:
        if bounds.all < 1 or s.execute(_ANY_DUE, {"now": now}).first() is None:
            return []
    try:
        with db.write() as s:
            return _claim(s, now, bounds, owner)
    except (ValueError, LookupError, TypeError):
        return _one_by_one(db, now, bounds, owner)


def release(db: Database, claims: Sequence[Claim]) -> None:
    """Give back what was claimed and not asked: another worker need not wait for the lease."""
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
    # left out where all writers take turns: SQLite
    due = found.with_for_update(skip_locked=True).cte("due")
    timeout = (
        select(ORDERS.c.booking_timeout_at).where(ORDERS.c.id == RIDES.c.order_id).scalar_subquery()
    )
    kept = [column for column in RIDES.c if column.name != "facts"]
    lease = {
        "lease_until": bindparam("lease"),
        "owner": bindparam("by"),
        "poll_seq": RIDES.c.poll_seq + 1,
    }
    return (
        update(RIDES)
        .where(RIDES.c.id.in_(select(due.c.id)))
        .values(lease)
        .returning(
            *kept, sql_cast(RIDES.c.facts, Text).label("facts"), timeout.label("booking_timeout_at")
        )
    )


_AGED: Final = RIDES.c.next_poll_at <= bindparam("aged", type_=RIDES.c.next_poll_at.type)
_ANY_DUE: Final = select(RIDES.c.id).where(*_due()).limit(1)
_ALL: Final = _statement()
_FIRST: Final = _statement(or_(RIDES.c.status.in_(GUEST_WAITS), RIDES.c.status.is_(None), _AGED))
_ONE: Final = _statement(RIDES.c.id == bindparam("ride"))
_ORDER_OF: Final = select(RIDES.c.order_id).where(RIDES.c.id == bindparam("ride")).scalar_subquery()


def _claim(s: Session, now: datetime, bounds: Bounds, owner: str) -> list[Claim]:
    said = {"now": now, "lease": now + LEASE, "by": owner, "aged": now - AGED}
    if bounds.rest >= bounds.all:
        return _claims(s.execute(_ALL, said | {"most": bounds.all}).all(), now)
    first = _claims(s.execute(_FIRST, said | {"most": bounds.all}).all(), now)
    left = bounds.rest - len(first)
    return first if left < 1 else first + _claims(s.execute(_ALL, said | {"most": left}).all(), now)


def _claims(rows: Sequence[Row[Any]], now: datetime) -> list[Claim]:
    """In the order in which they were due: a database returns changed rows in any."""
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
        said = {"now": now, "lease": now + LEASE, "by": owner, "ride": ride_id, "most": 1}
        try:
            with db.write() as s:
                found += _claims(s.execute(_ONE, said).all(), now)
        except (ValueError, LookupError, TypeError) as error:
            push_ahead(db, ride_id, None, 1, now, type(error).__name__)
    return found


def push_ahead(
    db: Database, ride_id: int, seq: int | None, times: int, now: datetime, why: str
) -> None:
    """A poison ride: five minutes, doubling, and a person is asked. Its row is not read: it may be
    what is wrong.

    `seq`: unless somebody has claimed it since; `times`: how often in a row this happened.
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
            transitions.attention(s, order, POISON, why, now)
