"""What processes that remember answers and sign-ins ask again and again: which order moved, which sign-in ended."""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash.store.order_tables import Order, Ride
from ridedash.store.people_tables import EndedSignIn, SignIn, Staff

AT_ONCE: Final = 5_000  # ids in one statement


class Mark(NamedTuple):
    """By which two states of an order's page differ: a shown fact, or only when the service was last heard."""

    version: int
    seen_at: datetime | None


class SignInFacts(NamedTuple):
    """A sign-in that holds, and whose it is. `sign_in` names it; the secret can't be told from that."""

    sign_in: str
    expires_at: datetime
    staff_id: int
    property_id: int
    name: str
    role: str


def sign_in_facts(s: Session, sid: str, now: datetime) -> SignInFacts | None:
    """Whose sign-in this is; None when it has ended, was closed, or its owner is disabled."""
    columns = SignIn.id_hash, SignIn.expires_at, Staff.id, Staff.property_id, Staff.name, Staff.role
    query = select(*columns).join(Staff, Staff.id == SignIn.staff_id)
    hashed = hashlib.sha256(sid.encode("utf-8", "replace")).hexdigest()
    held = SignIn.id_hash == hashed, SignIn.expires_at > now, Staff.disabled_at.is_(None)
    row = s.execute(query.where(*held)).first()
    return SignInFacts(*row) if row else None


def marks(s: Session, order_ids: Sequence[int]) -> dict[int, Mark]:
    """Where these orders stand."""
    found: dict[int, Mark] = {}
    query = select(Order.id, Order.version, Ride.seen_at).outerjoin(Ride, Ride.order_id == Order.id)
    for start in range(0, len(order_ids), AT_ONCE):
        rows = s.execute(query.where(Order.id.in_(order_ids[start : start + AT_ONCE])))
        found |= {order_id: Mark(version, seen_at) for order_id, version, seen_at in rows}
    return found


def ended_sign_ins(s: Session, after: int) -> list[tuple[int, str]]:
    """Sign-ins that ended before their time: (number, hash), those with a number above `after`."""
    query = select(EndedSignIn.id, EndedSignIn.id_hash).where(EndedSignIn.id > after).order_by(EndedSignIn.id)
    return [(number, hashed) for number, hashed in s.execute(query)]
