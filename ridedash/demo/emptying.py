"""Reset: the rides of a demo are deleted, so that the next partner finds it as the first one did.

Everything happens in one transaction in which nobody else writes, so no worker is in the middle of
a step: none begins one before the end, and none is waiting for the answer to an order or a press.
A poll that was under way finds its ride gone, which changes nothing.
"""

import threading
import time
from collections.abc import Callable
from typing import Final

from sqlalchemy import delete, or_, select, text, update
from sqlalchemy.orm import Session

from ridedash.store import restores
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
LOOKS_EVERY_S: Final = 0.25
# what is emptied, whatever points to others before them; all that is not named here stays
EMPTIED: Final = (
    *(PathPoint, Attention, TimelineEvent, Action, Ride, Link, Ticket, LostOrder),
    *(OwnPhone, KioskAsk, KioskCode, KioskVisit, Order, Guest),
)


class StillSending(Exception):
    """An order or a press waits for the sandbox's answer: nothing was deleted."""


def empty(
    db: Database,
    reset_sandbox: Callable[[], None],
    note: Callable[[Session], None],
    waits_s: float = WAITS_S,
) -> None:
    """Delete the rides here and, by `reset_sandbox`, there; `note` writes the audit entry.

    An answer that is on its way is waited for. When it does not come in time StillSending is
    raised; that, and what `reset_sandbox` raises, leaves every row as it was.
    """
    end = time.monotonic() + waits_s
    pause = threading.Event()
    while True:
        try:
            with db.write() as s:
                _empty(s)
                reset_sandbox()  # last: from then on only the commit can fail
                note(s)
            return
        except StillSending:
            if time.monotonic() >= end:
                raise
        pause.wait(LOOKS_EVERY_S)


def _empty(s: Session) -> None:
    if s.get_bind().dialect.name == "postgresql":
        # no order is added meanwhile; SQLite has one writer anyway
        s.execute(text("LOCK TABLE orders IN EXCLUSIVE MODE"))
    sending = select(Order.id).where(Order.state == OrderState.SENDING)
    calling = select(Action.id).where(Action.state == "calling")
    if any(s.execute(each.limit(1)).first() for each in (sending, calling)):
        raise StillSending
    tell_ended(s, select(Link.token_hash))  # for processes that know their guests
    for table in EMPTIED:
        s.execute(delete(table))
    # a tablet that was handed to a guest of before, and the caution after somebody's jokes
    touched = or_(Kiosk.handed_at.is_not(None), Kiosk.code_until.is_not(None))
    s.execute(
        update(Kiosk).where(touched).values(handed_at=None, handed_language=None, code_until=None)
    )
    restores.begin_anew(s)
