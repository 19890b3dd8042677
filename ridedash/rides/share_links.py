"""Links to one ride for guests and followers, who don't sign in: makes, finds and ends them.

See docs/security.md 6.
"""

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import Select, bindparam, select
from sqlalchemy.orm import Session

from ridedash import wire
from ridedash.rides.state.states import WITHOUT_RIDE
from ridedash.rides.tracking.policy import STOPPED
from ridedash.store import audit
from ridedash.store.actors import Actor
from ridedash.store.database.database import Database
from ridedash.store.encryption import secret_hash
from ridedash.store.models.desk import Link
from ridedash.store.models.orders import Order, Ride, TimelineEvent
from ridedash.store.sign_ins import tell_ended

TOKEN_BYTES: Final = 16  # 128 random bits: no one guesses a link
MOST_LINKS: Final = 5  # links of each kind that may be valid at the same time
# counted from when the link was made, or from the pickup time if it is later; longer than any ride
LONGEST: Final = timedelta(days=7)


class LinkKind(StrEnum):
    """The reader of a link: the guest who rides, or a follower who watches."""

    RIDER = "rider"
    FOLLOWER = "follower"


# how long a link is valid after the ride has ended
AFTER_RIDE: Final = {
    LinkKind.RIDER: timedelta(hours=24),
    LinkKind.FOLLOWER: timedelta(minutes=30),
}


@dataclass(frozen=True)
class ValidLink:
    """A link that is neither revoked nor past its time."""

    kind: LinkKind
    order_id: int
    property_id: int
    made_at: datetime
    until: datetime  # the end of its validity
    secret: str  # the hash of its token


class TooManyLinks(Exception):
    """The ride has the maximum number of valid links of this kind."""


class RideOver(Exception):
    """The ride ended too long ago for a link of this kind, or the order has no ride."""


def make_link(
    db: Database, now: datetime, property_id: int, order_id: int, kind: LinkKind, who: Actor
) -> str:
    """The token of a new link to an order of the property. Only its hash is stored.

    Earlier links stay valid. Raises TooManyLinks, RideOver, and LookupError when there is no such
    order.
    """
    with db.write() as s:
        order = _lock_order(s, property_id, order_id)
        if len(_valid_rows(s, order_id, kind, now)) >= MOST_LINKS:
            raise TooManyLinks
        return _add_link(s, order, kind, who, now)


def token_of(key: str, secret: str) -> str:
    """The token of a rider's link, derived from `secret`, which only the page of one visit has.

    No table needs to hold the token. It also depends on the key of this installation, so the secret
    alone is not enough to make it.
    """
    made = hmac.new(key.encode(), f"link|{secret}".encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(made[:TOKEN_BYTES]).decode().rstrip("=")


def give_link(db: Database, now: datetime, order_id: int, who: Actor, token: str) -> None:
    """Make the rider's link with this token (`token_of`), unless it exists already.

    Raises RideOver, and LookupError when there is no such order.
    """
    known = select(Link).where(Link.token_hash == secret_hash(token))
    with db.read() as s:
        if s.scalars(known).first() is not None:
            return
        found = s.get(Order, order_id)
    if found is None:
        raise LookupError("no such order")
    with db.write() as s:
        order = _lock_order(s, found.property_id, order_id)
        if s.scalars(known).first() is None:
            row = _keep_link(s, order, LinkKind.RIDER, who, token, now)
            _record(s, who, "link.made", row, now, 0)


def replace_rider_links(
    db: Database, now: datetime, property_id: int, order_id: int, who: Actor
) -> str:
    """The token of a new link for the rider; all earlier ones are revoked.

    Raises RideOver, and LookupError when there is no such order.
    """
    with db.write() as s:
        order = _lock_order(s, property_id, order_id)
        replaced = _revoke(s, _valid_rows(s, order_id, LinkKind.RIDER, now), now)
        return _add_link(s, order, LinkKind.RIDER, who, now, replaced)


def end_links(db: Database, now: datetime, property_id: int, order_id: int, who: Actor) -> int:
    """Revoke every link of an order. Returns how many were valid until now."""
    with db.write() as s:
        valid = _valid_rows(s, order_id, None, now)
        valid = [row for row in valid if row.property_id == property_id]
        for row in valid:
            _record(s, who, "link.ended", row, now, 0)
        return _revoke(s, valid, now)


def end_given_links(s: Session, order_ids: list[int], who: Actor, now: datetime) -> int:
    """Revoke the riders' links that staff have made for these orders: a wrong number may have them.

    Links of a kiosk's page, which nobody sent, stay. Returns how many were valid until now. Needs a
    write session.
    """
    given = [
        row
        for order_id in order_ids
        for row in _valid_rows(s, order_id, LinkKind.RIDER, now)
        if row.made_by is not None
    ]
    for row in given:
        _record(s, who, "link.ended", row, now, 0)
    return _revoke(s, given, now)


def find_link(s: Session, token: str, now: datetime) -> tuple[ValidLink | None, bool]:
    """The valid link of a token, and whether the token has a link, valid or not.

    Every token takes the same query, so that its duration reveals nothing.
    """
    found = s.execute(_FIND, {"token_hash": secret_hash(token)}).first()
    if found is None or not _is_valid(*found._tuple(), now):
        return None, found is not None
    return _valid_link(*found._tuple()), True


def live_links(s: Session, property_id: int, order_id: int, now: datetime) -> tuple[ValidLink, ...]:
    """The valid links of an order, the oldest first."""
    found = [row._tuple() for row in s.execute(_of_order(order_id))]
    return tuple(
        _valid_link(*row)
        for row in found
        if _is_valid(*row, now) and row[0].property_id == property_id
    )


_STOPPED_AT: Final = (
    select(TimelineEvent.at)
    .where(TimelineEvent.order_id == Order.id, TimelineEvent.name == STOPPED)
    .order_by(TimelineEvent.id.desc())
    .limit(1)
    .scalar_subquery()
)
_LINKS: Final[Select[tuple[Link, Order, Ride, datetime]]] = (  # the last two may be None
    select(Link, Order, Ride, _STOPPED_AT)
    .join(Order, Order.id == Link.order_id)
    .outerjoin(Ride, Ride.order_id == Order.id)
)
_FIND: Final = _LINKS.where(Link.token_hash == bindparam("token_hash"))


def _lock_order(s: Session, property_id: int, order_id: int) -> Order:
    """The order of a link, locked, so that links are made one after the other.

    Raises RideOver if the order has no ride, and LookupError if there is no such order.
    """
    wanted = select(Order).where(Order.id == order_id, Order.property_id == property_id)
    order = s.scalars(wanted.with_for_update()).first()
    if order is None:
        raise LookupError("no such order")
    if order.state in WITHOUT_RIDE:
        raise RideOver
    return order


def _add_link(
    s: Session, order: Order, kind: LinkKind, who: Actor, now: datetime, replaced: int = 0
) -> str:
    token = secrets.token_urlsafe(TOKEN_BYTES)
    row = _keep_link(s, order, kind, who, token, now)
    _record(s, who, "link.made", row, now, replaced)
    return token


def _keep_link(
    s: Session, order: Order, kind: LinkKind, who: Actor, token: str, now: datetime
) -> Link:
    row = Link(
        token_hash=secret_hash(token),
        property_id=order.property_id,
        order_id=order.id,
        kind=kind.value,
        made_by=who.staff_id,
        made_at=now,
    )
    s.add(row)
    if row not in _valid_rows(s, order.id, kind, now):
        raise RideOver
    return row


def _valid_rows(s: Session, order_id: int, kind: LinkKind | None, now: datetime) -> list[Link]:
    found = [row._tuple() for row in s.execute(_of_order(order_id))]
    valid = [row[0] for row in found if _is_valid(*row, now)]
    return [link for link in valid if kind is None or link.kind == kind]


def _of_order(order_id: int) -> Select[tuple[Link, Order, Ride, datetime]]:
    return _LINKS.where(Link.order_id == order_id, Link.revoked_at.is_(None)).order_by(Link.id)


def _valid_link(
    link: Link, order: Order, ride: Ride | None, stopped_at: datetime | None
) -> ValidLink:
    until = _until(link, order, ride, stopped_at)
    return ValidLink(
        LinkKind(link.kind), link.order_id, link.property_id, link.made_at, until, link.token_hash
    )


def _is_valid(
    link: Link, order: Order, ride: Ride | None, stopped_at: datetime | None, now: datetime
) -> bool:
    return link.revoked_at is None and now < _until(link, order, ride, stopped_at)


def _until(link: Link, order: Order, ride: Ride | None, stopped_at: datetime | None) -> datetime:
    at_most = max(link.made_at, order.pickup_at or link.made_at) + LONGEST
    ended = _ended_at(order, ride, stopped_at)
    if ended is None:
        return at_most
    return min(at_most, ended + AFTER_RIDE[LinkKind(link.kind)])


def _ended_at(order: Order, ride: Ride | None, stopped_at: datetime | None) -> datetime | None:
    if order.state in WITHOUT_RIDE:
        return order.resolved_at or order.created_at
    if ride is None:
        return None
    if ride.ended_at is not None or ride.status in wire.TERMINAL:
        return ride.ended_at or ride.seen_at
    if ride.next_poll_at is not None:
        return None
    return stopped_at


def _revoke(s: Session, rows: list[Link], now: datetime) -> int:
    for row in rows:
        row.revoked_at = now
    if rows:
        tell_ended(s, select(Link.token_hash).where(Link.id.in_([row.id for row in rows])))
    return len(rows)


def _record(s: Session, who: Actor, what: str, row: Link, now: datetime, replaced: int) -> None:
    facts: dict[str, Any] = {"kind": row.kind}
    if replaced:
        facts["replaced"] = replaced
    audit.record(
        s,
        who,
        what,
        f"orders:{row.order_id}",
        "ok",
        now,
        property_id=row.property_id,
        **facts,
    )
