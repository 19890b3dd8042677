"""What processes that remember answers and sign-ins ask again and again: which order moved, which sign-in ended."""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from ridedash.store.order_tables import Order, Ride
from ridedash.store.people_tables import Account, EndedSignIn, SignIn, Staff

AT_ONCE: Final = 5_000  # ids in one statement


class Mark(NamedTuple):
    """What differs between two states of an order's page: a shown fact, whether its account may still ask, when the
    service was heard, how it is asked."""

    version: int
    account: str
    seen_at: datetime | None
    interval_s: float | None
    followed: bool


def mark_of(order: Order, account: Account, ride: Ride | None) -> Mark:
    """Where an order stands that was read whole."""
    if ride is None:
        return Mark(order.version, account.state, None, None, False)
    return Mark(order.version, account.state, ride.seen_at, ride.interval_s, ride.next_poll_at is not None)


class SignInFacts(NamedTuple):
    """A sign-in that holds, whose it is and which property it looks at: an admin's may be any.

    `sign_in` names it; the secret can't be told from that.
    """

    sign_in: str
    expires_at: datetime
    staff_id: int
    property_id: int
    name: str
    role: str


def sign_in_facts(s: Session, sid: str, now: datetime) -> SignInFacts | None:
    """Whose sign-in this is; None when it has ended, was closed, or its owner is disabled."""
    hashed = hashlib.sha256(sid.encode("utf-8", "replace")).hexdigest()
    row = s.execute(_SIGN_IN, {"hashed": hashed, "now": now}).first()
    return SignInFacts(*row) if row else None


_SIGN_IN: Final = (  # put together once: asked with every page
    select(SignIn.id_hash, SignIn.expires_at, Staff.id, SignIn.property_id, Staff.name, Staff.role)
    .join(Staff, Staff.id == SignIn.staff_id)
    .where(SignIn.id_hash == bindparam("hashed"), SignIn.expires_at > bindparam("now"), Staff.disabled_at.is_(None))
)
_MARKS: Final = (
    select(Order.id, Order.version, Account.state, Ride.seen_at, Ride.interval_s, Ride.next_poll_at.is_not(None))
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


def ended_sign_ins(s: Session, after: int) -> list[tuple[int, str]]:
    """Sign-ins that ended before their time: (number, hash), those with a number above `after`."""
    query = select(EndedSignIn.id, EndedSignIn.id_hash).where(EndedSignIn.id > after).order_by(EndedSignIn.id)
    return [(number, hashed) for number, hashed in s.execute(query)]
