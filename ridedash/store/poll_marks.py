"""What processes that remember answers and sign-ins ask again and again: which order moved, which
sign-in ended.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from ridedash.store.models.orders import Order, Ride
from ridedash.store.models.people import Account

AT_ONCE: Final = 5_000  # ids in one statement


class Mark(NamedTuple):
    """What differs between two states of an order's page: a shown fact, whether its account may
    still ask, when the service was heard, how it is asked.
    """

    version: int
    account: str
    seen_at: datetime | None
    interval_s: float | None
    followed: bool


def mark_of(order: Order, account: Account, ride: Ride | None) -> Mark:
    """Where an order stands that was read whole."""
    if ride is None:
        return Mark(order.version, account.state, None, None, False)
    return Mark(
        order.version, account.state, ride.seen_at, ride.interval_s, ride.next_poll_at is not None
    )


_MARKS: Final = (
    select(
        Order.id,
        Order.version,
        Account.state,
        Ride.seen_at,
        Ride.interval_s,
        Ride.next_poll_at.is_not(None),
    )
    .join(Account, Account.id == Order.account_id)
    .outerjoin(Ride, Ride.order_id == Order.id)
    .where(Order.id.in_(bindparam("ids", expanding=True)))
)


def marks(s: Session, order_ids: Sequence[int]) -> dict[int, Mark]:
    """Where these orders stand."""
    found: dict[int, Mark] = {}
    for start in range(0, len(order_ids), AT_ONCE):
        for order_id, *mark in s.execute(_MARKS, {"ids": order_ids[start : start + AT_ONCE]}):
            found[order_id] = Mark(*mark)
    return found
