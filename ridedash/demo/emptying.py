"""Reset: deletes the rides of a demo, so that the next audience finds it as it was at first.

All rows are deleted in one transaction in which no one else writes. The Reset goes on only if no
order and no action is waiting for the service's answer; no step of a worker begins before the
transaction has ended. A poll may still be waiting for its answer: when that comes, its ride is gone
and nothing changes.
"""

import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import (
    delete,
    func,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.orm import Session

from ridedash.rides.tracking import claims
from ridedash.store import restores, tries
from ridedash.store.database.database import Clock, Database
from ridedash.store.models.desk import Link
from ridedash.store.models.kiosks import (
    Kiosk,
    KioskAsk,
    KioskCode,
    KioskVisit,
    OwnPhone,
    Ticket,
)
from ridedash.store.models.lists import Companion, GuestList, ListLine
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

WAITS_S: Final = 20.0  # how long to wait for the answer to an order; then the Reset is refused
# how long to wait for the answers to polls; then the Reset goes on without them
POLLS_S: Final = 1.0
LOOKS_EVERY_S: Final = 0.05
LATER: Final = timedelta(minutes=1)  # the time for which no ride is polled
# the tables that are emptied, each before those that its rows refer to; of the offers only the
# newest stays (delete_rides), all other tables stay
EMPTIED: Final = (
    ListLine,
    GuestList,
    PathPoint,
    Attention,
    TimelineEvent,
    Action,
    Ride,
    Link,
    Ticket,
    LostOrder,
    OwnPhone,
    KioskAsk,
    KioskCode,
    KioskVisit,
    Companion,
    Order,
    Guest,
    InsightSpan,
    InsightChange,
)


class StillSending(Exception):
    """An order or an action waits for the sandbox's answer: nothing was deleted."""


def empty(
    db: Database,
    clock: Clock,
    reset_sandbox: Callable[[], None],
    note: Callable[[Session], None],
    waits_s: float = WAITS_S,
) -> None:
    """Delete all rides, here and in the sandbox.

    `reset_sandbox` deletes those of the sandbox, `note` writes the audit entry. Waits for the
    answer to an order that is under way, `waits_s` at most. Raises StillSending when it does not
    come by then, and what `note` and `reset_sandbox` raise; nothing is deleted then.
    """
    try:
        _wait(lambda: _polls_end(db, clock()), POLLS_S)
        if not _wait(lambda: _emptied(db, reset_sandbox, note), waits_s):
            raise StillSending
    except BaseException:
        claims.make_due(db, clock())
        raise


def _wait(done: Callable[[], bool], most_s: float) -> bool:
    """Call `done` at least once, until it is True or `most_s` are over. Returns the last result."""
    end = time.monotonic() + most_s
    pause = threading.Event()
    while not done():
        if time.monotonic() >= end:
            return False
        pause.wait(LOOKS_EVERY_S)
    return True


def _polls_end(db: Database, now: datetime) -> bool:
    """Let no poll begin during LATER. Returns whether no poll is under way."""
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
            note(s)
            s.flush()
            reset_sandbox()  # last: it can't be undone, and after it only the commit can fail
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
    """Delete all rides and guests without checking what is under way.

    For callers that have checked it, and for the start of a process, before its worker follows
    rides.
    """
    # the processes that have these links in memory are notified
    tell_ended(s, select(Link.token_hash))
    for table in EMPTIED:
        s.execute(delete(table))
    # the newest offer stays: so its number does not come again although the clock was set back, and
    # an old form that is still open books no other offer
    newest = select(func.max(Offer.id)).scalar_subquery()
    s.execute(delete(Offer).where(Offer.id < newest))
    # take back tablets that were lent to guests; kiosks that ask for codes, because of too many
    # abandoned rides, stop doing so
    touched = or_(Kiosk.handed_at.is_not(None), Kiosk.code_until.is_not(None))
    s.execute(
        update(Kiosk)
        .where(touched)
        .values(handed_at=None, handed_language=None, code_until=None, code_waived_at=None)
    )
    # otherwise the wrong PINs of one audience would lock the kiosk for the next one
    tries.forget_all(s)
    restores.begin_anew(s)
