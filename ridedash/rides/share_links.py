"""Links to one ride for people who don't sign in: made, found, ended (docs/security.md 6)."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from sqlalchemy import Select, bindparam, select
from sqlalchemy.orm import Session

from ridedash import wire
from ridedash.rides.actions.acknowledge import STOPPED
from ridedash.rides.states import WITHOUT_RIDE
from ridedash.store import audit
from ridedash.store.database.database import Database
from ridedash.store.models.desk import Link
from ridedash.store.models.orders import Order, Ride, TimelineEvent
from ridedash.store.sign_ins import tell_ended

MOST_FOLLOWERS: Final = 5
# after the link was made or the guest is due: no ride goes on for so long
LONGEST: Final = timedelta(days=7)


class LinkKind(StrEnum):
    """Who a link is for: the guest who rides, or somebody who watches."""

    RIDER = "rider"
    FOLLOWER = "follower"


# after the ride's end
KEPT: Final = {LinkKind.RIDER: timedelta(hours=24), LinkKind.FOLLOWER: timedelta(minutes=30)}


@dataclass(frozen=True)
class Shared:
    """A link that holds."""

    kind: LinkKind
    order_id: int
    property_id: int
    made_at: datetime
    until: datetime  # it opens nothing from then on
    secret: str  # the hash of its token


class TooManyFollowers(Exception):
    """There are as many live follower links of a ride as there may be."""


class RideOver(Exception):
    """The ride ended too long ago for such a link, or there never was one."""


def make_link(
    db: Database, now: datetime, property_id: int, order_id: int, kind: LinkKind, staff_id: int
) -> str:
    """A new token for an order of the property, to be told now or never. A rider's ends the rider's
    one before.

    Raises TooManyFollowers, RideOver, and LookupError when there is no such order.
    """
    token = secrets.token_urlsafe(16)
    with db.write() as s:
        wanted = select(Order).where(Order.id == order_id, Order.property_id == property_id)
        order = s.scalars(wanted.with_for_update()).first()  # two presses take turns
        if order is None:
            raise LookupError("no such order")
        if order.state in WITHOUT_RIDE:
            raise RideOver
        held = _held(s, order_id, kind, now)
        if kind is LinkKind.FOLLOWER and len(held) >= MOST_FOLLOWERS:
            raise TooManyFollowers
        replaced = _revoke(s, held, now) if kind is LinkKind.RIDER else 0
        row = Link(
            token_hash=_hash(token), property_id=property_id, order_id=order_id, kind=kind.value
        )
        row.made_by, row.made_at = staff_id, now
        s.add(row)
        s.flush()
        if row not in _held(s, order_id, kind, now):
            raise RideOver
        _record(s, staff_id, "link.made", row, now, replaced)
    return token


def end_links(db: Database, now: datetime, property_id: int, order_id: int, staff_id: int) -> int:
    """End every link of an order; how many held until now."""
    with db.write() as s:
        held = [row for row in _held(s, order_id, None, now) if row.property_id == property_id]
        for row in held:
            _record(s, staff_id, "link.ended", row, now, 0)
        return _revoke(s, held, now)


def find_link(s: Session, token: str, now: datetime) -> tuple[Shared | None, bool]:
    """What a token opens, and whether it ever opened anything.

    One question for every token alike.
    """
    found = s.execute(_FIND, {"token_hash": _hash(token)}).first()
    if found is None or not _holds(*found._tuple(), now):
        return None, found is not None
    return _shared(*found._tuple()), True


def live_links(s: Session, property_id: int, order_id: int, now: datetime) -> tuple[Shared, ...]:
    """The links of an order that hold, the oldest first."""
    found = [row._tuple() for row in s.execute(_of_order(order_id))]
    return tuple(
        _shared(*row) for row in found if _holds(*row, now) and row[0].property_id == property_id
    )


_STOPPED_AT: Final = (
    select(TimelineEvent.at)
    .where(TimelineEvent.order_id == Order.id, TimelineEvent.name == STOPPED)
    .order_by(TimelineEvent.id.desc())
    .limit(1)
    .scalar_subquery()
)
_LINKS: Final[Select[tuple[Link, Order, Ride, datetime]]] = (  # the last two may be missing
    select(Link, Order, Ride, _STOPPED_AT)
    .join(Order, Order.id == Link.order_id)
    .outerjoin(Ride, Ride.order_id == Order.id)
)
_FIND: Final = _LINKS.where(Link.token_hash == bindparam("token_hash"))


def _held(s: Session, order_id: int, kind: LinkKind | None, now: datetime) -> list[Link]:
    found = [row._tuple() for row in s.execute(_of_order(order_id))]
    return [row[0] for row in found if _holds(*row, now) and (kind is None or row[0].kind == kind)]


def _of_order(order_id: int) -> Select[tuple[Link, Order, Ride, datetime]]:
    return _LINKS.where(Link.order_id == order_id, Link.revoked_at.is_(None)).order_by(Link.id)


def _shared(link: Link, order: Order, ride: Ride | None, stopped_at: datetime | None) -> Shared:
    until = _until(link, order, ride, stopped_at)
    return Shared(
        LinkKind(link.kind), link.order_id, link.property_id, link.made_at, until, link.token_hash
    )


def _holds(
    link: Link, order: Order, ride: Ride | None, stopped_at: datetime | None, now: datetime
) -> bool:
    """Whether a link is neither revoked nor past its time."""
    return link.revoked_at is None and now < _until(link, order, ride, stopped_at)


def _until(link: Link, order: Order, ride: Ride | None, stopped_at: datetime | None) -> datetime:
    at_most = max(link.made_at, order.pickup_at or link.made_at) + LONGEST
    ended = _ended_at(order, ride, stopped_at)
    return at_most if ended is None else min(at_most, ended + KEPT[LinkKind(link.kind)])


def _ended_at(order: Order, ride: Ride | None, stopped_at: datetime | None) -> datetime | None:
    if order.state in WITHOUT_RIDE:
        return order.resolved_at or order.created_at
    if ride is None:
        return None
    if ride.ended_at is not None or ride.status in wire.TERMINAL:
        return ride.ended_at or ride.seen_at
    return stopped_at if ride.next_poll_at is None else None


def _revoke(s: Session, rows: list[Link], now: datetime) -> int:
    for row in rows:
        row.revoked_at = now
    if rows:
        tell_ended(s, select(Link.token_hash).where(Link.id.in_([row.id for row in rows])))
    return len(rows)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _record(s: Session, staff_id: int, what: str, row: Link, now: datetime, replaced: int) -> None:
    facts = {"kind": row.kind} | ({"replaced": replaced} if replaced else {})
    audit.record(
        s,
        f"staff:{staff_id}",
        what,
        f"orders:{row.order_id}",
        "ok",
        now,
        property_id=row.property_id,
        **facts,
    )
