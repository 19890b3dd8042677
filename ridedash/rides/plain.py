"""The plain poll: nothing happened but time, place and facts, so that many can be written in one go.

Nearly every poll is one. Whatever else there is to do, an event, an end, an error, an open action, something that
asks for a person, goes the careful way, one ride and one transaction at a time (tracking.py).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, Final, cast

from sqlalchemy import JSON, Table, Text, bindparam, select, update
from sqlalchemy import cast as sql_cast
from sqlalchemy.engine import Connection

from ridedash.rides import bills, following
from ridedash.rides.claiming import ORDERS, RIDES, Claim
from ridedash.rides.merging import Merged, RideState
from ridedash.rides.schedule import next_poll_s
from ridedash.store.db import Database
from ridedash.store.order_tables import Action, Attention

_WRITTEN: Final = frozenset({"facts", "position_at", "seen_at", "merged_seq"})
_kept: Final = attrgetter(*(each.name for each in fields(RideState) if each.name not in _WRITTEN))
_AS_AFTER_ANY: Final[dict[str, Any]] = {"lease_until": None, "owner": None, "errors": 0, "poison": 0, "unknown_id": 0}
_CLEARED_BY_A_POLL: Final = (following.NO_DRIVER, following.NOT_KNOWN, following.POISON, following.TOO_OLD)
_ACTIONS: Final = cast(Table, Action.__table__)
_ATTENTION: Final = cast(Table, Attention.__table__)


@dataclass(frozen=True)
class Plain:
    """What such a poll writes. `facts` is JSON text, or None when they are as they were; `shown`: a page changes."""

    claim: Claim
    seen_at: datetime
    position_at: datetime | None
    wait_s: float
    next_poll_at: datetime
    facts: str | None
    shown: bool


def plain(
    claim: Claim, before: RideState, merged: Merged, now: datetime, pace: float, spread: Callable[[float], timedelta]
) -> Plain | None:
    """The poll as a plain one; None when it needs care. `spread` makes a wait of a number of seconds."""
    after = merged.ride
    if merged.events or after.ended_at is not None or after.merged_seq != claim.seq or _kept(before) != _kept(after):
        return None
    if now - claim.row.created_at > following.TOO_OLD_AFTER:
        return None
    if following.overdue_by(claim.row.booking_timeout_at, after.status, now, pace) is not None:
        return None
    wait = next_poll_s(after.status, after.kind, after.facts.eta.seconds if after.facts.eta else None, pace)
    changed = after.facts is not before.facts and after.facts != before.facts
    if changed and bills.other_bill(before, after):
        return None
    facts = after.facts.model_dump_json(exclude_none=True) if changed else None
    return Plain(claim, now, after.position_at, wait, now + spread(wait), facts, merged.changed)


def write_plain(db: Database, polls: Sequence[Plain]) -> tuple[list[Plain], list[Plain]]:
    """Write all in one transaction. Those that were written, and those that turn out to need care.

    The rest were somebody else's meanwhile: their answers are dropped.
    """
    with db.write() as s:
        line = s.connection()
        _hold_orders(line, polls)
        careful = need_care(line, [each.claim.order_id for each in polls])
        ours = _ours(line, polls)
        written = [each for each in ours if each.claim.order_id not in careful]
        _update(line, written)
    return written, [each for each in ours if each.claim.order_id in careful]


def _hold_orders(line: Connection, polls: Sequence[Plain]) -> None:
    """Orders are locked before rides, as by everybody who writes both."""
    shown = [each.claim.order_id for each in polls if each.shown]
    if shown and line.dialect.name != "sqlite":
        line.execute(_LOCK_ORDERS, {"orders": shown}).all()


def need_care(line: Connection, order_ids: Sequence[int]) -> set[int]:
    """Orders with an action to read back, or with something to clear."""
    found = set(line.execute(_OPEN_ACTIONS).scalars())
    return found | set(line.execute(_OPEN_ITEMS, {"orders": order_ids}).scalars())


def _ours(line: Connection, polls: Sequence[Plain]) -> list[Plain]:
    rows = line.execute(_LOCK_RIDES, {"rides": [each.claim.ride_id for each in polls]})
    now_at = dict(tuple(row) for row in rows)
    return [each for each in polls if now_at.get(each.claim.ride_id) == each.claim.seq]


def _update(line: Connection, polls: Sequence[Plain]) -> None:
    changed = [_values(each) | {"new_facts": each.facts} for each in polls if each.facts is not None]
    same = [_values(each) for each in polls if each.facts is None]
    if changed:
        line.execute(_WITH_FACTS[line.dialect.name], changed)
    if same:
        line.execute(_TIMES, same)
    shown = [each.claim.order_id for each in polls if each.shown]
    if shown:
        line.execute(_RAISE_VERSIONS, {"orders": shown})


def _values(poll: Plain) -> dict[str, Any]:
    return {
        "ride": poll.claim.ride_id,
        "seen": poll.seen_at,
        "placed": poll.position_at,
        "seq": poll.claim.seq,
        "wait": poll.wait_s,
        "next": poll.next_poll_at,
    }


def _named(pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    return {column: bindparam(name) for column, name in pairs}


# made once: building a statement costs more than running it for a few rides
_SOME_ORDERS: Final[Any] = bindparam("orders", expanding=True)
_SOME_RIDES: Final[Any] = bindparam("rides", expanding=True)
_LOCK_ORDERS: Final = select(ORDERS.c.id).where(ORDERS.c.id.in_(_SOME_ORDERS)).order_by(ORDERS.c.id).with_for_update()
_LOCK_RIDES: Final = (
    select(RIDES.c.id, RIDES.c.poll_seq).where(RIDES.c.id.in_(_SOME_RIDES)).order_by(RIDES.c.id).with_for_update()
)
_RAISE_VERSIONS: Final = update(ORDERS).where(ORDERS.c.id.in_(_SOME_ORDERS)).values(version=ORDERS.c.version + 1)
_OPEN_ACTIONS: Final = select(_ACTIONS.c.order_id).where(_ACTIONS.c.state == "unconfirmed")
_OPEN_ITEMS: Final = select(_ATTENTION.c.order_id).where(
    _ATTENTION.c.order_id.in_(_SOME_ORDERS),
    _ATTENTION.c.name.in_(_CLEARED_BY_A_POLL),
    _ATTENTION.c.cleared_at.is_(None),
)
_TIMES: Final = (
    update(RIDES)
    .where(RIDES.c.id == bindparam("ride"))
    .values(_AS_AFTER_ANY)
    .values(_named([("seen_at", "seen"), ("position_at", "placed"), ("merged_seq", "seq")]))
    .values(_named([("interval_s", "wait"), ("next_poll_at", "next")]))
)
_TEXT: Final = bindparam("new_facts", type_=Text())
_WITH_FACTS: Final = {
    "sqlite": _TIMES.values(facts=_TEXT),
    "postgresql": _TIMES.values(facts=sql_cast(_TEXT, JSON)),
}
