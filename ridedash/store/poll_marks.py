"""The revision of an order's page, which shows web processes that a cached answer is outdated."""

from collections.abc import Collection
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from ridedash.store.models.orders import Order, Ride
from ridedash.store.models.people import Account


class Revision(NamedTuple):
    """A value that differs between two states of an order's page.

    A change of any other fact raises `version`. tests/views/poll_cache/test_columns.py compares
    these fields with the columns that pages read.
    """

    order_id: int
    version: int
    account: str
    seen_at: datetime | None
    interval_s: float | None
    followed: bool


def revision_of(order: Order, account: Account, ride: Ride | None) -> Revision:
    """The revision of an order that was read whole."""
    if ride is None:
        return Revision(order.id, order.version, account.state, None, None, False)
    followed = ride.next_poll_at is not None
    return Revision(order.id, order.version, account.state, ride.seen_at, ride.interval_s, followed)


_FOLLOWED: Final = Ride.next_poll_at.is_not(None)
_REVISIONS: Final = (
    select(Order.id, Order.version, Account.state, Ride.seen_at, Ride.interval_s, _FOLLOWED)
    .join(Account, Account.id == Order.account_id)
    .outerjoin(Ride, Ride.order_id == Order.id)
    .where(Order.id.in_(bindparam("ids")))
)


def revisions(s: Session, order_ids: Collection[int]) -> set[Revision]:
    """The revisions of at most 30,000 orders, by one statement."""
    return {Revision(*row) for row in s.execute(_REVISIONS, {"ids": list(order_ids)})}
