"""The orders on a property's board, and the columns by which a change of one is noticed."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from sqlalchemy import BindParameter, bindparam, exists, func, not_, or_, select, union
from sqlalchemy.orm import Session, aliased

from ridedash import wire
from ridedash.store.encryption import TokenVault
from ridedash.store.models.orders import (
    UNSETTLED,
    Attention,
    Order,
    OrderState,
    Ride,
    TimelineEvent,
)
from ridedash.store.models.people import Account

LATELY: Final = timedelta(minutes=40)  # what ended is shown for a while
# a failed order that nobody has seen leaves the board after this time; the hand-over sheet names it
SHIFT: Final = timedelta(hours=12)
SEARCHED_FOR: Final = timedelta(hours=1)  # longer than from the due time to the failure
UNSEEN: Final = 100  # more failures than anybody looks at
NEWEST: Final = 30  # the latest orders fill a screen, even on a quiet day
# attention items without meaning once the ride is over
WHILE_LIVE: Final = ("car_swapped", "driver_lost", "unknown_status")
OF_LATE: Final = 200  # more than a desk orders in the time, and few enough to read


class BoardMark(NamedTuple):
    """An order of the board.

    `version` rises when a shown fact changes. The other columns tell whether the ride is still
    polled, and when the time since the last poll (`seen_at`) is so long that its facts are stale.
    """

    order_id: int
    version: int
    status: str | None
    seen_at: datetime | None
    interval_s: float | None
    followed: bool


def board_marks(s: Session, property_id: int, now: datetime) -> list[BoardMark]:
    """Orders that are not over or have open attention items, recent ones, and the newest ones.

    Recent are those that were due within LATELY, and failed ones of this shift that nobody has
    seen. Rows of other orders are not read.
    """
    parameters = {
        "property_id": property_id,
        "now": now,
        "lately": now - LATELY,
        "since": now - SHIFT - SEARCHED_FOR,
    }
    return [BoardMark(*row) for row in s.execute(_MARKS, parameters)]


def placed_since(s: Session, property_id: int, since: datetime) -> set[int]:
    """The orders of a property that were placed at or after an instant."""
    query = select(Order.id).where(Order.property_id == property_id, Order.created_at >= since)
    return set(s.scalars(query))


class AccountInNeed(NamedTuple):
    """A linked account that can't be used: the service refuses it, or no key decrypts its token."""

    id: int
    label: str
    is_unreadable: bool  # no key decrypts its token, which a manager can't repair


def accounts_in_need(s: Session, property_id: int, vault: TokenVault) -> list[AccountInNeed]:
    """The accounts of a property that can't be used; `vault` has the keys of this process.

    Each token is decrypted, because a new key may have the same name as the lost one.
    """
    found = []
    for number, label, state, token in s.execute(_ACCOUNTS, {"property_id": property_id}):
        is_unreadable = (
            state == "ok"
            and token is not None
            and not vault.opens(token, "accounts", number, "access_token")
        )
        if is_unreadable or state != "ok":
            found.append(AccountInNeed(number, label, is_unreadable))
    return found


def unknown_orders(s: Session, property_id: int) -> tuple[int, datetime | None]:
    """The number of orders of unknown outcome, and when the oldest of them was sent."""
    count, since = s.execute(_UNKNOWN, {"property_id": property_id}).one()
    return count, since


_HERE: Final[BindParameter[int]] = bindparam("property_id")
_ACCOUNTS: Final = (
    select(Account.id, Account.label, Account.state, Account.access_token_enc)
    .where(Account.property_id == _HERE, Account.state.in_(("ok", "reconnect")))
    .order_by(Account.id)
)
_UNKNOWN: Final = (
    select(func.count(), func.min(Order.sent_at))
    .where(Order.property_id == _HERE, Order.state == OrderState.UNKNOWN)
    # keeps SQLite from choosing, by its statistics, to read all orders that are over
    .with_hint(Order, "INDEXED BY orders_of_property", "sqlite")
)
_LATEST: Final = (
    select(Order.id)
    .where(Order.property_id == _HERE)
    .order_by(Order.id.desc())
    .limit(NEWEST)
    .subquery()
)
# Orders that are over and were due lately. Unsettled orders are listed anyway. Planned rides that
# were withdrawn long ago are left out: a few series of these would leave no room for failures.
_OF_LATE: Final = (
    select(Order.id)
    .where(
        Order.property_id == _HERE,
        Order.state.in_([state for state in OrderState if state not in UNSETTLED]),
        Order.due_at > bindparam("lately"),
        or_(
            Order.due_at <= bindparam("now"),
            Order.state != OrderState.NOT_SENT,
            Order.resolved_at > bindparam("lately"),
        ),
    )
    .order_by(Order.due_at > bindparam("now"), Order.due_at.desc())
    .limit(OF_LATE)
    .subquery()
)
NEXT: Final = aliased(Order)
# Failed orders that were neither seen nor booked again; not those that were withdrawn. The states
# are one list, so that an index finds by property, state and time.
NOT_SEEN: Final = (
    Order.state.in_(
        (OrderState.REJECTED, OrderState.NOT_SENT, OrderState.FAILED, OrderState.BOOKED)
    ),
    or_(Order.state != OrderState.BOOKED, Order.ended_as == wire.ALLOTMENT_FAILED),
    func.coalesce(Order.code, "").not_in(("WITHDRAWN", "START_MISSED")),
    not_(exists().where(NEXT.supersedes == Order.id)),
    not_(
        exists().where(TimelineEvent.order_id == Order.id, TimelineEvent.name == "seen_not_booked")
    ),
)
_NOBODY_SAW: Final = (
    select(Order.id)
    .where(Order.property_id == _HERE, Order.due_at > bindparam("since"), *NOT_SEEN)
    .order_by(Order.due_at.desc())
    .limit(UNSEEN)
    .subquery()
)
_LISTED: Final = union(
    select(Order.id).where(Order.property_id == _HERE, Order.state.in_(UNSETTLED)),
    select(Ride.order_id).where(Ride.property_id == _HERE, Ride.next_poll_at.is_not(None)),
    select(Attention.order_id).where(
        Attention.property_id == _HERE,
        Attention.cleared_at.is_(None),
        Attention.name.not_in(WHILE_LIVE),
    ),
    select(_LATEST.c.id),
    select(_OF_LATE.c.id),
    select(_NOBODY_SAW.c.id),
).subquery()
_MARKS: Final = (
    select(
        Order.id,
        Order.version,
        Ride.status,
        Ride.seen_at,
        Ride.interval_s,
        Ride.next_poll_at.is_not(None),
    )
    .join(_LISTED, _LISTED.c[0] == Order.id)
    .outerjoin(Ride, Ride.order_id == Order.id)
)
