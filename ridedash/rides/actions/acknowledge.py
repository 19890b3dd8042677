"""Handling an attention item: marking it as seen, or ending the polls of its ride.

See docs/booking-protocol.md 3.2.
"""

import re
from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash.rides.kiosk import tickets
from ridedash.rides.kiosk.rules import ENDED_RIDES, WRONG_PINS, waive_code
from ridedash.rides.state import transitions
from ridedash.rides.tracking.policy import NO_DRIVER, NOT_KNOWN, POISON, STOPPED, TOO_OLD
from ridedash.rides.tracking.told import TO_TELL, note_told
from ridedash.store import audit
from ridedash.store.actors import by_staff
from ridedash.store.database.database import Clock, Database
from ridedash.store.models.orders import Order, Ride
from ridedash.store.orders import order_of_staff

ITEM_NAME: Final = re.compile(r"[a-z_]{1,40}")  # of an attention item
LONG_SEARCH: Final = "long_search"  # staff may wait for a driver, or look at a loss of one
SEEN_LONG_SEARCH: Final = "seen_long_search"  # a timeline event: staff wait on purpose
NOT_BOOKED: Final = "not_booked"  # the order failed, or the search found no driver
SEEN_NOT_BOOKED: Final = "seen_not_booked"  # a timeline event: staff have seen that item
SEEN: Final = {NOT_BOOKED: SEEN_NOT_BOOKED, LONG_SEARCH: SEEN_LONG_SEARCH}
# items for which the page offers to stop polling (docs/booking-protocol.md 3.2)
STOPPABLE: Final = frozenset({NOT_KNOWN, TOO_OLD})


def acknowledge(db: Database, clock: Clock, order_id: int, staff_id: int, name: str) -> bool:
    """Clear an attention item that a member of staff has seen.

    For `late_double` that is the button "Keep both", for TO_TELL "Guest told"; for `kiosk_pins` the
    kiosk takes the ride's number again, for `kiosk_ended_early` it asks for no desk codes.
    `long_search` is no stored item: "Keep waiting" holds until the search ends or a driver is lost.
    False for an order of another property; for `unknown` and `held`, which end only with a decision
    about the order; and for a `name` that does not match ITEM_NAME, because the audit log would
    store any text.
    """
    if name in (transitions.OUTCOME_UNKNOWN, transitions.HELD) or not ITEM_NAME.fullmatch(name):
        return False
    now = clock()
    with db.write() as s:
        order = order_of_staff(s, order_id, staff_id)
        if order is None:
            return False
        transitions.clear_attention(s, order, name, now)
        if name == WRONG_PINS:
            tickets.reopen(s, order.property_id, order.id, by_staff(staff_id), now)
        if name == ENDED_RIDES:
            waive_code(s, order, by_staff(staff_id), now)
        if name in TO_TELL:
            note_told(s, order, now)
        if name in SEEN:
            transitions.add_event(s, order, "event", SEEN[name], now)
        _record(s, order, staff_id, "attention.seen", name, now)
        return True


def stop_following(db: Database, clock: Clock, order_id: int, staff_id: int) -> bool:
    """End the polls of a ride that the service does not know, or that never ends.

    False when the ride is not polled, or belongs to another property.
    """
    now = clock()
    with db.write() as s:
        order = order_of_staff(s, order_id, staff_id)
        ride = s.scalars(select(Ride).where(Ride.order_id == order_id)).first()
        if order is None or ride is None or ride.next_poll_at is None:
            return False
        ride.next_poll_at = ride.lease_until = None
        ride.poll_seq = Ride.poll_seq + 1  # an answer to a poll that is in flight is not recorded
        order.open = False
        transitions.add_event(s, order, "event", STOPPED, now)
        for name in (*STOPPABLE, NO_DRIVER, POISON):
            transitions.clear_attention(s, order, name, now)
        _record(s, order, staff_id, "ride.stop_following", "stopped", now)
        return True


def _record(s: Session, order: Order, staff_id: int, what: str, result: str, now: datetime) -> None:
    who = by_staff(staff_id)
    subject = f"orders:{order.id}"
    audit.record(s, who, what, subject, result, now, property_id=order.property_id)
