"""How long until a ride is asked about again, when a person must look, and what a poll says about
open actions.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash import wire
from ridedash.geo import LatLng, distance_m
from ridedash.rides.orders import transitions
from ridedash.rides.states import CANCELLABLE
from ridedash.rides.tracking import merge
from ridedash.rides.tracking.intervals import FINAL_S, MIN_INTERVAL_S, next_poll_s
from ridedash.rides.tracking.merge import Merged
from ridedash.service.errors import RateLimited, Refused
from ridedash.service.types.tracking import Snapshot
from ridedash.store.models.orders import Action, Order, Ride

DONE: Final = "done"
REFUSED: Final = "refused"
REPEAT: Final = "repeat"
WAIT: Final = "wait"
READ_BACK: Final = "READ_BACK"  # the code of an action that a later poll proved
RIDE_ENDED: Final = "RIDE_ENDED"
SAME_PLACE_M: Final = 50.0
MOST_CALLS: Final = 2


@dataclass(frozen=True)
class Reading:
    """What to do with the action, and the code to keep."""

    verdict: str
    code: str | None = None


def read_stop(name: str, calls: int, status: str | None) -> Reading:
    """An abort or cancel, by the status that a later poll brought."""
    if status == wire.BOOKING_CANCELLED:
        return Reading(DONE, READ_BACK)
    if status in wire.TERMINAL:
        return Reading(REFUSED, RIDE_ENDED)
    if name == "abort" and status in CANCELLABLE:
        return Reading(REFUSED, wire.BOOKING_ALLOTED)
    if status in {wire.IN_PROGRESS, wire.INVOICE}:
        return Reading(REFUSED, wire.CANCELLATION_NOT_ALLOWED)
    return Reading(REPEAT if calls < MOST_CALLS else WAIT)


def read_drop(
    calls: int, asked: LatLng, told: LatLng | None, status: str | None, newer: bool
) -> Reading:
    """A change of drop, by the drop that a later poll carried; one that carried none proves
    nothing.
    """
    if told is not None and distance_m(asked, told) <= SAME_PLACE_M:
        return Reading(DONE, READ_BACK)
    if status in wire.TERMINAL:
        return Reading(REFUSED, RIDE_ENDED)
    if newer:
        return Reading(REFUSED, "SUPERSEDED")
    return Reading(REPEAT if told is not None and calls < MOST_CALLS else WAIT)


# attention items of a ride
# no driver a minute after the service said that it would stop searching
NO_DRIVER: Final = "no_driver"
NOT_KNOWN: Final = "not_known"  # the service no longer knows the id
TOO_OLD: Final = "too_old"  # still live after a day
POISON: Final = "poison"  # its answers can't be recorded
SLOW_S: Final = 300.0
OVERDUE_S: Final = 60.0  # between polls of a search that should be over
OVERDUE_LASTS: Final = timedelta(minutes=30)
TOO_OLD_AFTER: Final = timedelta(hours=24)
ERROR_MAX_S: Final = 30.0
NOT_KNOWN_AFTER: Final = 3  # refusals in a row: a replica may not know a new booking yet
POISON_MAX_S: Final = 3600.0
FINAL_TRIES: Final = 5  # failed polls after the end, before the final price is given up


def wait_s(
    s: Session, order: Order, ride: Ride, now: datetime, pace: float, *, clear: bool = True
) -> float | None:
    """Seconds to the next poll after a good one; None when the ride is over and its final price was
    asked for.

    `clear`: whether there may be anything to clear of what asks for a person; looking costs as much
    as the rest.
    """
    if ride.ended_at is not None:
        _clear(s, order, now, (NO_DRIVER, NOT_KNOWN, TOO_OLD) if clear else ())
        return None if ride.final_polls else max(MIN_INTERVAL_S, FINAL_S / pace)
    _clear(s, order, now, (NOT_KNOWN, POISON) if clear else ())
    if now - ride.created_at > TOO_OLD_AFTER:
        transitions.attention(s, order, TOO_OLD, None, now)
        return SLOW_S
    overdue = overdue_by(order.booking_timeout_at, ride.status, now, pace)
    if overdue is not None:
        transitions.attention(s, order, NO_DRIVER, None, now)
        return OVERDUE_S / pace if overdue < OVERDUE_LASTS / pace else SLOW_S
    _clear(s, order, now, (NO_DRIVER,) if clear else ())
    eta = (ride.facts.get("eta") or {}).get("seconds")
    return next_poll_s(ride.status, wire.Kind(ride.kind), eta, pace)


def _clear(s: Session, order: Order, now: datetime, names: Sequence[str]) -> None:
    for name in names:
        transitions.clear_attention(s, order, name, now)


def overdue_by(
    timeout_at: datetime | None, status: str | None, now: datetime, pace: float
) -> timedelta | None:
    """How long a search goes on past its end and a minute; None when it has a driver or time
    left.
    """
    if timeout_at is None or (status is not None and status not in wire.SEARCHING):
        return None
    over = now - timeout_at - timedelta(seconds=OVERDUE_S / pace)
    return over if over > timedelta(0) else None


def wait_after_error_s(
    s: Session,
    order: Order,
    ride: Ride,
    error: Exception,
    now: datetime,
    pace: float,
    chance: float,
) -> float:
    """Seconds to the next poll after a failed one: chance times 2 to the number of errors, 30 at
    most.
    """
    # one that has ended may be forgotten
    if ride.unknown_id >= NOT_KNOWN_AFTER and ride.ended_at is None:
        transitions.attention(
            s, order, NOT_KNOWN, error.code if isinstance(error, Refused) else None, now
        )
        return SLOW_S
    if isinstance(error, RateLimited) and error.retry_after_s is not None:
        return error.retry_after_s
    return max(MIN_INTERVAL_S, chance * min(ERROR_MAX_S, 2.0 ** min(ride.errors, 10)) / pace)


def poison_wait_s(times: int) -> float:
    """Five minutes, doubling, an hour at most."""
    return min(POISON_MAX_S, 300.0 * 2.0 ** min(times - 1, 10))


def unless_taken(s: Session, order: Order, ride: Ride, merged: Merged) -> Merged:
    """A booking id that another order has is refused, and with it the whole answer."""
    booking_id = merged.ride.booking_id
    if ride.booking_id or not booking_id:
        return merged
    other = select(Order.id).where(Order.booking_id == booking_id, Order.id != order.id)
    ride_too = select(Ride.id).where(Ride.booking_id == booking_id, Ride.order_id != order.id)
    if s.scalars(other).first() is None and s.scalars(ride_too).first() is None:
        return merged
    refused = replace(
        merged.ride, booking_id=None, status=ride.status, facts=Snapshot.model_validate(ride.facts)
    )
    kept = replace(refused, otp=None, ended_at=ride.ended_at, allotted_at=ride.allotted_at)
    return Merged(kept, (merge.Event(merge.OTHER_BOOKING, booking_id),))


def read_back(
    s: Session, order: Order, ride: Ride, answer: Snapshot, asked_at: datetime, now: datetime
) -> None:
    """Settle actions that were asked before this poll began and not confirmed, or have them
    repeated once.
    """
    query = select(Action).where(Action.order_id == order.id, Action.state == "unconfirmed")
    stops = ("abort", "cancel", "drop")
    for action in s.scalars(
        query.where(Action.name.in_(stops), Action.called_at < asked_at).order_by(Action.id)
    ):
        reading = _reading(s, action, ride, answer)
        if reading.verdict == REPEAT and action.next_try_at is None:
            action.next_try_at = now
        elif reading.verdict in {DONE, REFUSED}:
            action.state, action.code = reading.verdict, reading.code
            action.settled_at, action.next_try_at = now, None
            order.version += 1


def _reading(s: Session, action: Action, ride: Ride, answer: Snapshot) -> Reading:
    if action.name != "drop":
        return read_stop(action.name, action.calls, ride.status)
    newer = select(Action.id).where(
        Action.order_id == action.order_id, Action.name == "drop", Action.id > action.id
    )
    asked = LatLng(action.payload["lat"], action.payload["lng"])
    return read_drop(
        action.calls, asked, answer.drop, ride.status, s.scalars(newer).first() is not None
    )
