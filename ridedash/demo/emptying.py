"""Reset: the rides of a demo are deleted, so that the next partner finds it as the first one did.

Everything happens in one transaction in which nobody else writes, so no worker is in the middle of
a step: none begins one before the end, and none is waiting for the answer to an order or a press.
Nor to a poll, unless that takes long: then its answer finds the ride gone, which changes nothing.
"""

import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import (
    Connection,
    Integer,
    cast,
    delete,
    event,
    func,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.orm import Mapper, Session, object_session

from ridedash.rides.runtime import Clock
from ridedash.rides.tracking import claims
from ridedash.store import restores, tries
from ridedash.store.audit import AuditRow
from ridedash.store.database.database import Database
from ridedash.store.models.desk import Link
from ridedash.store.models.kiosks import (
    Kiosk,
    KioskAsk,
    KioskCode,
    KioskVisit,
    OwnPhone,
    Ticket,
)
from ridedash.store.models.orders import (
    Action,
    Attention,
    InsightChange,
    InsightSpan,
    Offer,
    Order,
    OrderState,
    PathPoint,
    Ride,
    TimelineEvent,
)
from ridedash.store.models.people import Guest
from ridedash.store.models.restores import LostOrder
from ridedash.store.sign_ins import tell_ended

WAITS_S: Final = 20.0  # for the answer to an order; then it is refused
POLLS_S: Final = 1.0  # for the answers to polls; then without them
LOOKS_EVERY_S: Final = 0.05
LATER: Final = timedelta(minutes=1)  # until then no ride is polled
# what is emptied, whatever points to others before them; all that is not named here stays
EMPTIED: Final = (
    *(PathPoint, Attention, TimelineEvent, Action, Ride, Link, Ticket, LostOrder),
    *(OwnPhone, KioskAsk, KioskCode, KioskVisit, Order, Guest, InsightSpan, InsightChange),
)
SUBJECT: Final = "orders:"  # of audit entries, before the number
AFTER: Final = "orders;"  # the first text behind all of them: so the index is used
GIVEN: Final = "number of the last order"  # in this session

_LAST: Final = select(
    func.max(cast(func.substr(AuditRow.subject, len(SUBJECT) + 1), Integer))
).where(AuditRow.subject > SUBJECT, AuditRow.subject < AFTER)


class StillSending(Exception):
    """An order or a press waits for the sandbox's answer: nothing was deleted."""


def empty(
    db: Database,
    clock: Clock,
    reset_sandbox: Callable[[], None],
    note: Callable[[Session], None],
    waits_s: float = WAITS_S,
) -> None:
    """Delete the rides here and, by `reset_sandbox`, there; `note` writes the audit entry.

    An answer that is on its way is waited for. When it does not come in time StillSending is
    raised; that, and what `reset_sandbox` raises, leaves every order as it was.
    """
    try:
        _wait(lambda: _polls_end(db, clock()), POLLS_S)
        if not _wait(lambda: _emptied(db, reset_sandbox, note), waits_s):
            raise StillSending
    except BaseException:
        claims.make_due(db, clock())
        raise


def _wait(done: Callable[[], bool], most_s: float) -> bool:
    """Try until it is done, once at least. Whether it was."""
    end, pause = time.monotonic() + most_s, threading.Event()
    while not done():
        if time.monotonic() >= end:
            return False
        pause.wait(LOOKS_EVERY_S)
    return True


def _polls_end(db: Database, now: datetime) -> bool:
    """Let no poll begin for a while. Whether none is under way."""
    polled = Ride.lease_until > now
    with db.write() as s:
        waiting = Ride.next_poll_at.is_not(None), or_(Ride.lease_until.is_(None), ~polled)
        s.execute(update(Ride).where(*waiting).values(next_poll_at=now + LATER))
        return s.execute(select(Ride.id).where(polled).limit(1)).first() is None


def _emptied(
    db: Database, reset_sandbox: Callable[[], None], note: Callable[[Session], None]
) -> bool:
    try:
        with db.write() as s:
            _empty(s)
            reset_sandbox()  # last: from then on only the commit can fail
            note(s)
    except StillSending:
        return False
    return True


def _empty(s: Session) -> None:
    if s.get_bind().dialect.name == "postgresql":
        # no order is added meanwhile; SQLite has one writer anyway
        s.execute(text("LOCK TABLE orders IN EXCLUSIVE MODE"))
    sending = select(Order.id).where(Order.state == OrderState.SENDING)
    calling = select(Action.id).where(Action.state == "calling")
    if any(s.execute(each.limit(1)).first() for each in (sending, calling)):
        raise StillSending
    delete_rides(s)


def delete_rides(s: Session) -> None:
    """Delete all rides and guests, whatever is on its way: for a start, when nobody sends."""
    tell_ended(s, select(Link.token_hash))  # for processes that know their guests
    for table in EMPTIED:
        s.execute(delete(table))
    # the newest offer stays: SQLite would give its number to the next one, and a form that is
    # still open would book that
    newest = select(func.max(Offer.id)).scalar_subquery()
    s.execute(delete(Offer).where(Offer.id < newest))
    # a tablet that was handed to a guest of before, and the caution after somebody's jokes
    touched = or_(Kiosk.handed_at.is_not(None), Kiosk.code_until.is_not(None))
    s.execute(
        update(Kiosk).where(touched).values(handed_at=None, handed_language=None, code_until=None)
    )
    tries.forget_all(s)  # or the wrong PINs of one partner would close the kiosk to the next
    restores.begin_anew(s)


def number_on() -> None:
    """Give no order a number of before a Reset, which the audit log names, from now on.

    SQLite numbers the rows of a table anew once it is empty; PostgreSQL never does.
    """
    if not event.contains(Order, "before_insert", _number):
        event.listen(Order, "before_insert", _number)


def _number(_mapper: Mapper[Order], connection: Connection, order: Order) -> None:
    """Give the first order of an empty table the number after the last one that the log names.

    All orders of a group of cars come here before the first of them is stored.
    """
    session = object_session(order)
    info: dict[Any, Any] = {} if session is None else session.info
    if connection.dialect.name != "sqlite" or order.id is not None:
        return
    last = info.get(GIVEN)
    if last is None:
        if connection.execute(select(Order.id).limit(1)).first() is not None:
            return
        last = connection.scalar(_LAST) or 0
    order.id = info[GIVEN] = last + 1
