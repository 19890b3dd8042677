"""Actions on a ride: abort, cancel, change of drop, feedback (docs/booking-protocol.md 2).

Staff can do all of them; guests at a kiosk can abort and cancel. An action is committed before its
call. The next poll of the ride shows whether it had an effect.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash import wire
from ridedash.geo import LatLng
from ridedash.rides.actions.call import ActionResult, Caller
from ridedash.rides.runtime import Runtime
from ridedash.rides.state.states import ACCEPTED, TOO_LATE, may_cancel
from ridedash.rides.state.states import actions as allowed_actions
from ridedash.store import audit
from ridedash.store.actors import Actor
from ridedash.store.database.database import Clock, Database
from ridedash.store.models.orders import Action, Order, OrderState, Ride
from ridedash.store.orders import order_of_actor

__all__ = [
    "ActionResult",
    "abort",
    "arm_cancel",
    "cancel",
    "change_drop",
    "disarm_cancel",
    "feedback",
]

BUSY: Final = "BUSY"  # the same action was requested just before and is not answered yet
# no call of an action takes longer, so after that the process has died
BUSY_LASTS: Final = timedelta(seconds=30)
NOT_FOUND: Final = "NOT_FOUND"
ALREADY_GIVEN: Final = "ALREADY_GIVEN"
LONGEST_REASON: Final = 300  # as much text as is kept of anything that the service says


def abort(runtime: Runtime, order_id: int, who: Actor) -> ActionResult:
    """Stop the search for a driver (docs/service-interface.md 2).

    The service refuses this with BOOKING_ALLOTED when a driver has accepted: `cancel` is for that.
    """
    return _request(runtime, order_id, who, "abort", {})


def cancel(runtime: Runtime, order_id: int, who: Actor, reason: str) -> ActionResult:
    """Cancel a ride that has a driver; a fee may apply (docs/service-interface.md 4)."""
    payload = {"reason": reason[:LONGEST_REASON]}
    return _request(runtime, order_id, who, "cancel", payload)


def change_drop(
    runtime: Runtime, order_id: int, who: Actor, drop: LatLng, name: str | None = None
) -> ActionResult:
    """Change the drop of a ride (docs/service-interface.md 3).

    Polls of an auto have no drop to compare with: the change is done when the service accepts it.
    """
    payload = {"lat": drop.lat, "lng": drop.lng, "name": name}
    return _request(runtime, order_id, who, "drop", payload)


def feedback(
    runtime: Runtime,
    order_id: int,
    who: Actor,
    rating: int,
    options: Sequence[str] = (),
    comments: str | None = None,
) -> ActionResult:
    """Send feedback, once for each ride (docs/service-interface.md 7).

    After an unclear answer the worker sends it again: three calls at most, this one included.
    """
    payload = {"rating": rating, "options": list(options), "comments": comments}
    return _request(runtime, order_id, who, "feedback", payload)


def arm_cancel(db: Database, clock: Clock, order_id: int, who: Actor, reason: str) -> ActionResult:
    """Store a cancel of a shared ride, which the worker sends as soon as there is a booking id."""
    now = clock()
    with db.write() as s:
        order = order_of_actor(s, order_id, who)
        if order is None:
            return ActionResult("not_now", NOT_FOUND)
        if order.booking_id or order.state not in ACCEPTED:
            return ActionResult("not_now", TOO_LATE)
        armed = _armed_cancel(s, order_id)
        if armed is None:
            payload = {"reason": reason[:LONGEST_REASON], "armed": True}
            armed = _add_action(s, order, who, "cancel", payload, now)
            armed.state = "armed"
            armed.calls = 0
            armed.called_at = None
            _record(s, order, who, "ride.arm_cancel", now)
        return ActionResult("armed", action_id=armed.id)


def disarm_cancel(db: Database, clock: Clock, order_id: int, who: Actor) -> ActionResult:
    """Withdraw an armed cancel. The result is done, or not_now if none was waiting."""
    now = clock()
    with db.write() as s:
        order = order_of_actor(s, order_id, who)
        if order is None:
            return ActionResult("not_now", TOO_LATE)
        armed = _armed_cancel(s, order_id)
        if armed is None or armed.next_try_at is not None:
            return ActionResult("not_now", TOO_LATE)
        armed.state = "dropped"
        armed.settled_at = now
        order.version += 1
        _record(s, order, who, "ride.disarm_cancel", now)
        return ActionResult("done", action_id=armed.id)


def _request(
    runtime: Runtime, order_id: int, who: Actor, name: str, payload: dict[str, Any]
) -> ActionResult:
    """Commit the action, then call the service (docs/booking-protocol.md 2)."""
    now = runtime.clock()
    with runtime.db.write() as s:
        order = order_of_actor(s, order_id, who)
        if order is None:
            return ActionResult("not_now", NOT_FOUND)
        refusal = _refusal(s, order, name, now)
        if refusal is not None:
            return ActionResult("not_now", refusal)
        action_id = _add_action(s, order, who, name, payload, now).id
    return Caller(runtime).call(action_id)


def _refusal(s: Session, order: Order, name: str, now: datetime) -> str | None:
    """The code of the reason why the action is impossible now; None when it is possible."""
    same = select(Action).where(Action.order_id == order.id, Action.name == name)
    before = s.scalars(same).all()
    if any(a.state == "calling" and a.called_at and now - a.called_at < BUSY_LASTS for a in before):
        return BUSY
    # a call of a process that died stays "calling" for a while: it may have been answered
    if name == "feedback" and any(a.state in {"done", "unconfirmed", "calling"} for a in before):
        return ALREADY_GIVEN
    ride = s.scalars(select(Ride).where(Ride.order_id == order.id)).first()
    status = ride.status if ride else None
    possible = allowed_actions(
        OrderState(order.state), status, wire.Kind(order.kind), order.booking_id, False
    )
    offered = next((each for each in possible if each.name == name), None)
    if offered is not None and offered.allowed:
        return None
    if name == "abort" and may_cancel(status, wire.Kind(order.kind)):
        return wire.BOOKING_ALLOTED
    if offered is None:
        return TOO_LATE
    return offered.note or TOO_LATE


def _add_action(
    s: Session, order: Order, who: Actor, name: str, payload: dict[str, Any], now: datetime
) -> Action:
    action = Action(
        property_id=order.property_id,
        staff_id=who.staff_id,
        kiosk_id=who.kiosk_id,
        account_id=order.account_id,
        order_id=order.id,
        name=name,
        payload=payload,
        state="calling",
        calls=1,
        made_at=now,
        called_at=now,
    )
    s.add(action)
    order.version += 1
    s.flush()
    return action


def _armed_cancel(s: Session, order_id: int) -> Action | None:
    query = select(Action).where(Action.order_id == order_id, Action.state == "armed")
    return s.scalars(query).first()


def _record(s: Session, order: Order, who: Actor, what: str, now: datetime) -> None:
    subject = f"orders:{order.id}"
    audit.record(s, who, what, subject, "ok", now, property_id=order.property_id)
