"""Abort, cancel, change of drop, feedback: recorded before the call, called once, read back.

See docs/booking-protocol.md 2.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash import wire
from ridedash.geo import LatLng
from ridedash.rides.accounts.tokens import AccountTokens
from ridedash.rides.actions.call import ActionResult, Caller
from ridedash.rides.runtime import Clock
from ridedash.rides.states import CANCELLABLE, TOO_LATE
from ridedash.rides.states import actions as allowed_actions
from ridedash.service.client import RideClient
from ridedash.store import audit
from ridedash.store.database.database import Database
from ridedash.store.models.orders import Action, Order, OrderState, Ride
from ridedash.store.orders import order_of_staff

__all__ = [
    "ActionResult",
    "abort",
    "arm_cancel",
    "cancel",
    "change_drop",
    "disarm_cancel",
    "feedback",
]

BUSY: Final = "BUSY"  # the same was asked a moment ago and has no answer yet
BUSY_LASTS: Final = timedelta(seconds=30)
NOT_FOUND: Final = "NOT_FOUND"
ALREADY_GIVEN: Final = "ALREADY_GIVEN"


def abort(
    db: Database,
    client: RideClient,
    tokens: AccountTokens,
    clock: Clock,
    order_id: int,
    staff_id: int,
) -> ActionResult:
    """Stop the search for a driver. Refused with BOOKING_ALLOTED: a driver has accepted, offer to
    cancel.
    """
    return _ask(Caller(db, client, tokens, clock), order_id, staff_id, "abort", {})


def cancel(
    db: Database,
    client: RideClient,
    tokens: AccountTokens,
    clock: Clock,
    order_id: int,
    staff_id: int,
    reason: str,
) -> ActionResult:
    """Cancel a ride that has a driver; a fee may apply."""
    return _ask(
        Caller(db, client, tokens, clock), order_id, staff_id, "cancel", {"reason": reason[:300]}
    )


def change_drop(
    db: Database,
    client: RideClient,
    tokens: AccountTokens,
    clock: Clock,
    order_id: int,
    staff_id: int,
    drop: LatLng,
    name: str | None = None,
) -> ActionResult:
    """Ask for another drop. For auto the answer carries no drop to read back: done means "sent"."""
    payload = {"lat": drop.lat, "lng": drop.lng, "name": name}
    return _ask(Caller(db, client, tokens, clock), order_id, staff_id, "drop", payload)


def feedback(
    db: Database,
    client: RideClient,
    tokens: AccountTokens,
    clock: Clock,
    order_id: int,
    staff_id: int,
    rating: int,
    options: Sequence[str] = (),
    comments: str | None = None,
) -> ActionResult:
    """Send feedback, once per ride; the worker tries again (three calls at most) after an unclear
    answer.
    """
    payload = {"rating": rating, "options": list(options), "comments": comments}
    return _ask(Caller(db, client, tokens, clock), order_id, staff_id, "feedback", payload)


def arm_cancel(
    db: Database, clock: Clock, order_id: int, staff_id: int, reason: str
) -> ActionResult:
    """Cancel as soon as a shared ride is matched: sent by the worker when the booking id comes."""
    now = clock()
    with db.write() as s:
        order = order_of_staff(s, order_id, staff_id)
        if (
            order is None
            or order.booking_id
            or order.state not in {OrderState.MATCHING, OrderState.BOOKED}
        ):
            return ActionResult("not_now", NOT_FOUND if order is None else TOO_LATE)
        armed = _armed(s, order_id)
        if armed is None:
            armed = _row(s, order, staff_id, "cancel", {"reason": reason[:300], "armed": True}, now)
            armed.state, armed.calls, armed.called_at = "armed", 0, None
            _audit(s, order, staff_id, "ride.arm_cancel", now)
        return ActionResult("armed", action_id=armed.id)


def disarm_cancel(db: Database, clock: Clock, order_id: int, staff_id: int) -> ActionResult:
    """Take an armed cancel back: done, or not_now when none is armed any more."""
    now = clock()
    with db.write() as s:
        order = order_of_staff(s, order_id, staff_id)
        armed = _armed(s, order_id) if order is not None else None
        if order is None or armed is None or armed.next_try_at is not None:
            return ActionResult("not_now", TOO_LATE)
        armed.state, armed.settled_at = "dropped", now
        order.version += 1
        _audit(s, order, staff_id, "ride.disarm_cancel", now)
        return ActionResult("done", action_id=armed.id)


def _ask(
    caller: Caller, order_id: int, staff_id: int, name: str, payload: dict[str, Any]
) -> ActionResult:
    """Commit the row, then call."""
    now = caller.clock()
    with caller.db.write() as s:
        order = order_of_staff(s, order_id, staff_id)
        no = ActionResult("not_now", NOT_FOUND) if order is None else _refusal(s, order, name, now)
        if no is not None or order is None:
            return no or ActionResult("not_now", NOT_FOUND)
        action_id = _row(s, order, staff_id, name, payload, now).id
    return caller.call(action_id)


def _refusal(s: Session, order: Order, name: str, now: datetime) -> ActionResult | None:
    """Why not now; None when it may be asked."""
    before = s.scalars(select(Action).where(Action.order_id == order.id, Action.name == name)).all()
    if any(a.state == "calling" and a.called_at and now - a.called_at < BUSY_LASTS for a in before):
        return ActionResult("not_now", BUSY)
    given = any(a.name == "feedback" and a.state in {"done", "unconfirmed"} for a in before)
    if given:
        return ActionResult("not_now", ALREADY_GIVEN)
    ride = s.scalars(select(Ride).where(Ride.order_id == order.id)).first()
    status = ride.status if ride else None
    possible = allowed_actions(
        OrderState(order.state), status, wire.Kind(order.kind), order.booking_id, False
    )
    if any(action.name == name and action.allowed for action in possible):
        return None
    if name == "abort" and status in CANCELLABLE:
        return ActionResult("not_now", wire.BOOKING_ALLOTED)
    return ActionResult(
        "not_now", next((a.note for a in possible if a.name == name), "") or TOO_LATE
    )


def _row(
    s: Session, order: Order, staff_id: int, name: str, payload: dict[str, Any], now: datetime
) -> Action:
    row = Action(
        property_id=order.property_id,
        staff_id=staff_id,
        account_id=order.account_id,
        order_id=order.id,
        name=name,
        payload=payload,
        state="calling",
        calls=1,
        made_at=now,
        called_at=now,
    )
    s.add(row)
    order.version += 1
    s.flush()
    return row


def _armed(s: Session, order_id: int) -> Action | None:
    return s.scalars(
        select(Action).where(Action.order_id == order_id, Action.state == "armed")
    ).first()


def _audit(s: Session, order: Order, staff_id: int, what: str, now: datetime) -> None:
    audit.record(
        s, f"staff:{staff_id}", what, f"orders:{order.id}", "ok", now, property_id=order.property_id
    )
