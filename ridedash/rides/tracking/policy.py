"""Decides what the result of a poll changes in an order and its ride. Pure.

See docs/booking-protocol.md 2 and 3.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from ridedash import wire
from ridedash.geo import LatLng, distance_m
from ridedash.rides.accounts.tokens import TokenUnreadable
from ridedash.rides.state.states import may_cancel
from ridedash.rides.tracking import totals
from ridedash.rides.tracking.intervals import FINAL_S, MIN_INTERVAL_S, next_poll_s, search_ends
from ridedash.rides.tracking.merge import (
    ALARMS,
    CAR_SWAPPED,
    DRIVER_LOST,
    HANDOVER,
    OTHER_BOOKING,
    STATUS,
    Event,
    Merged,
    RideState,
    merge,
)
from ridedash.service.errors import RateLimited, Refused, Throttled
from ridedash.service.types.tracking import Snapshot
from ridedash.service_time import REAL, ServiceTime
from ridedash.store.models.orders import OrderState
from ridedash.text import compact_key

# attention items of a ride
NO_DRIVER: Final = "no_driver"  # no driver a minute after the service's search should have ended
NOT_KNOWN: Final = "not_known"  # the service no longer knows the id
TOO_OLD: Final = "too_old"  # still live after a day
STOPPED: Final = "stopped_following"  # a timeline event: staff ended the polls
POISON: Final = "poison"  # answers about the ride can't be recorded
CLEARED_BY_POLLS: Final = (NO_DRIVER, NOT_KNOWN, POISON, TOO_OLD)

SLOW_S: Final = 300.0  # a ride that needs a person: often enough to see that it has ended
PATH_S: Final = 10.0  # time between two points of the path that a cab has driven
OVERDUE_S: Final = 60.0  # time between polls of a search that should be over
# the service may still tell how its search ended; then polls are slow
OVERDUE_LASTS_S: Final = 1800.0
TOO_OLD_AFTER: Final = timedelta(hours=24)  # no ride takes a day: the service has lost its end
ERROR_MAX_S: Final = 30.0  # a ride is up to date soon after the service is back
# refusals in a row: a replica of the service may not know a new booking yet
NOT_KNOWN_AFTER: Final = 3
POISON_MAX_S: Final = 3600.0  # each try costs a failed transaction; a person has been told
FINAL_TRIES: Final = 5  # failed polls after the end of the ride; then the final price is given up
# wait if this process can't decrypt the account's token: a process that has the key may poll
UNREADABLE_TOKEN_S: Final = 5.0

# results of reading back an action that was called and not confirmed
DONE: Final = "done"
REFUSED: Final = "refused"
REPEAT: Final = "repeat"
WAIT: Final = "wait"
READ_BACK: Final = "READ_BACK"  # the code of an action whose effect a later poll showed
RIDE_ENDED: Final = "RIDE_ENDED"
SUPERSEDED: Final = "SUPERSEDED"  # a newer change of the drop was made
SAME_PLACE_M: Final = 50.0  # a service may move a drop to the nearest road
MOST_CALLS: Final = 2  # the one by a person, and one repetition

_TIMELINE: Final = frozenset({DRIVER_LOST, CAR_SWAPPED, HANDOVER})

# Columns of a ride that only polls write, as long as it is polled. A poll that writes no other
# columns is recorded in a batch.
_BATCHED: Final = frozenset(
    {
        "seen_at",
        "position_at",
        "merged_seq",
        "facts",
        "errors",
        "poison",
        "unknown_id",
        "interval_s",
        "next_poll_at",
    }
)
_EVERY_TIME: Final = frozenset({"seen_at", "position_at", "merged_seq"})
_SELDOM: Final = tuple(
    each.name
    for each in fields(RideState)
    if each.name not in _EVERY_TIME | {"kind", "facts", "otp"}
)
_seldom: Final = attrgetter(*_SELDOM)


class Before(NamedTuple):
    """An order and its ride before the answer to poll number `seq`; times are aware, in UTC.

    `taken` is a booking id that belongs to another order, if the caller has found one.
    """

    ride: RideState
    seq: int
    created_at: datetime  # of the ride
    order_state: str
    order_open: bool
    booking_timeout_at: datetime | None  # only in orders of an earlier release
    booking_timeout_s: float | None  # by the service's clock, from the ride's creation
    errors: int
    unknown_id: int
    final_polls: int
    plate: str | None
    total_minor: int | None
    currency: str | None
    has_start_code: bool  # whether the row has a start code, readable or not
    taken: str | None


class Pacing(NamedTuple):
    """The service's time, and two random numbers of at least 0 and less than 1."""

    time: ServiceTime = REAL
    spread: float = 0.5  # shortens or lengthens a wait by up to 10 %
    backoff: float = 0.5  # for the wait after a failed poll


class TimelineEntry(NamedTuple):
    """A row of the timeline; fields are named like the columns of TimelineEvent."""

    what: str  # ride or event
    name: str
    detail: str | None = None


class AttentionItem(NamedTuple):
    """An attention item to raise unless it is open.

    `alarm`: raising it also adds an entry to the audit log.
    """

    name: str
    detail: str | None = None
    alarm: bool = False


class Decision(NamedTuple):
    """All values that a poll writes. `ride` and `order` hold the new values of columns, by name."""

    ride: dict[str, Any]  # facts are JSON text; next_poll_at is always there
    status: str | None  # the ride's last known booking_status afterwards
    answered: bool = True  # False: the poll brought no answer
    # whether a fact that pages show has changed: then the order's version rises
    shown: bool = False
    timeline: tuple[TimelineEntry, ...] = ()
    raised: tuple[AttentionItem, ...] = ()
    cleared: tuple[str, ...] = ()  # attention items to clear if they are open
    order: Mapping[str, Any] = MappingProxyType({})
    transition: OrderState | None = None  # the order's new state
    closes: bool = False  # whether the order is over: then its guest may book again
    armed_cancel: str | None = None  # a cancel that waits for a booking id: "call" or "drop" it
    start_code: str | None = None  # a new start code, to be encrypted
    needs_currency: bool = False  # the ride has a total and no currency yet
    point: LatLng | None = None  # a new point of the path that the cab has driven

    def __repr__(self) -> str:
        """Shows only the names of columns, because the values are personal."""
        return f"Decision({self.status}, ride: {sorted(self.ride)}, order: {sorted(self.order)})"

    @property
    def next_poll_at(self) -> datetime | None:
        """When the ride is due again; None when it is no longer polled."""
        due: datetime | None = self.ride["next_poll_at"]
        return due

    @property
    def handed_over(self) -> bool:
        """Whether the booking id has arrived for a ride that was polled by its txn_id."""
        return "booking_id" in self.order

    @property
    def is_of_another(self) -> bool:
        """Whether the answer was about another booking: it proves nothing about this ride."""
        return any(item.name == OTHER_BOOKING for item in self.raised)

    @property
    def batched(self) -> bool:
        """Whether the decision may be written in a batch, without reading the row under lock."""
        if self.timeline or self.raised or self.order or self.transition or self.closes:
            return False
        if self.armed_cancel or self.start_code is not None or self.needs_currency:
            return False
        return self.ride.keys() <= _BATCHED


def decide(before: Before, answer: Snapshot | Exception, now: datetime, pacing: Pacing) -> Decision:
    """What a poll changes, by its answer or its failure, which came at `now`.

    The decision does not depend on open attention items and actions: `cleared` names items that may
    be open, and actions are settled by `read_stop` and `read_drop`. See docs/booking-protocol.md
    3.5.
    """
    if isinstance(answer, Exception):
        return _after_failure(before, answer, now, pacing)
    merged = merge(before.ride, answer, before.seq, now)
    if before.taken is not None and merged.ride.booking_id == before.taken:
        merged = _without_taken_id(before.ride, merged)
    after = merged.ride
    ride = _ride_columns(before, merged)
    order, needs_currency = _order_columns(before, merged, ride)
    alarms = [
        AttentionItem(event.name, event.detail, alarm=True)
        for event in merged.events
        if event.name in ALARMS
    ]
    wait_s, raised, cleared = _schedule(before, after, now, pacing.time)
    return Decision(
        ride=ride | _next_poll(wait_s, now, pacing.spread),
        status=after.status,
        shown=merged.changed,
        timeline=_timeline(merged.events),
        raised=(*alarms, *raised),
        cleared=cleared,
        order=order,
        start_code=after.otp if after.otp != before.ride.otp else None,
        needs_currency=needs_currency,
        point=_point(before.ride, after, now, pacing.time),
        **_order_effects(before, after, handed_over="booking_id" in order),
    )


def _point(old: RideState, after: RideState, now: datetime, time: ServiceTime) -> LatLng | None:
    """The cab's position, if it is a new point of its path; otherwise None.

    The position is a new point if the cab has moved and a new time slot has begun. The slots are
    counted from 1970, so that the time of the last point need not be stored. A slot lasts PATH_S by
    the service's clock.
    """
    here = after.facts.position
    if here is None or after.position_at != now or here == old.facts.position:
        return None
    if old.position_at is None:
        return here
    slot_s = PATH_S if time.turns else max(MIN_INTERVAL_S, PATH_S / time.polling_speed)
    before, present = (time.shown(at).timestamp() // slot_s for at in (old.position_at, now))
    if before == present:
        return None
    return here


def _without_taken_id(ride: RideState, merged: Merged) -> Merged:
    """The merge if the new booking id belongs to another order: the whole answer is refused."""
    unchanged = replace(ride, merged_seq=merged.ride.merged_seq)
    return Merged(unchanged, (Event(OTHER_BOOKING, merged.ride.booking_id),))


def _ride_columns(before: Before, merged: Merged) -> dict[str, Any]:
    old = before.ride
    after = merged.ride
    columns: dict[str, Any] = {
        "seen_at": after.seen_at,
        "position_at": after.position_at,
        "merged_seq": after.merged_seq,
        "errors": 0,
        "poison": 0,
        "unknown_id": 0,
    }
    was = _seldom(old)
    is_now = _seldom(after)
    if was != is_now:
        columns |= {
            name: new for name, one, new in zip(_SELDOM, was, is_now, strict=True) if one != new
        }
    if after.facts is not old.facts and after.facts != old.facts:
        columns["facts"] = after.facts.model_dump_json(exclude_none=True)
        columns |= _new_plate(before, after.facts.vehicle_number)
    if after.otp is None and before.has_start_code:
        columns["otp_enc"] = None
    if old.ended_at is not None:
        columns["final_polls"] = before.final_polls + 1
    return columns


def _new_plate(before: Before, vehicle_number: str | None) -> dict[str, Any]:
    """The column with the plate in its searchable form, if the plate changes."""
    if before.plate is not None and vehicle_number == before.ride.facts.vehicle_number:
        return {}
    plate = compact_key(vehicle_number) or None
    if plate == before.plate:
        return {}
    return {"plate": plate}


def _order_columns(
    before: Before, merged: Merged, ride: dict[str, Any]
) -> tuple[dict[str, Any], bool]:
    """Columns of the order, and whether a currency is missing; adds the total to `ride`."""
    after = merged.ride
    order = dict[str, Any]()
    if after.booking_id != before.ride.booking_id:
        order["booking_id"] = after.booking_id
    if after.ended_at is not None:
        order["ended_as"] = after.status
    elif "facts" not in ride and "status" not in ride:
        return order, False  # the total has not changed
    total = totals.bill(after.kind, after.status, after.facts)
    total_minor = None if total is None else totals.minor(total)
    if total_minor != before.total_minor:
        ride["total_minor"] = order["total_minor"] = total_minor
    billed = total_minor is not None or before.total_minor is not None
    return order, billed and before.currency is None


def _timeline(events: tuple[Event, ...]) -> tuple[TimelineEntry, ...]:
    found = []
    for event in events:
        if event.name == STATUS:
            found.append(TimelineEntry("ride", event.detail or ""))
        elif event.name in _TIMELINE:
            found.append(TimelineEntry("event", event.name, event.detail))
    return tuple(found)


def _order_effects(before: Before, after: RideState, *, handed_over: bool) -> dict[str, Any]:
    """The order's transition, whether it closes, and whether an armed cancel is called or dropped.

    A MATCHING order becomes BOOKED when the booking id arrives, and also when there is a driver:
    the answer may lack the id, and the guest must see the car. The end of the ride closes the
    order; if it was still MATCHING, it becomes FAILED.
    """
    effects: dict[str, Any] = {}
    state = before.order_state
    is_open = before.order_open
    if handed_over:
        effects["armed_cancel"] = "call"
    if state == OrderState.MATCHING and (handed_over or after.status in wire.HAD_CAB):
        state = OrderState.BOOKED
        is_open = True
        effects["transition"] = state
    if after.ended_at is not None and is_open:
        effects |= {"closes": True, "armed_cancel": "drop"}
        if state == OrderState.MATCHING:
            effects["transition"] = OrderState.FAILED
    return effects


def _schedule(
    before: Before, after: RideState, now: datetime, time: ServiceTime
) -> tuple[float | None, tuple[AttentionItem, ...], tuple[str, ...]]:
    """Seconds to the next poll after an answer, and the items that are raised and cleared.

    The seconds are None after the poll for the final price: the ride is no longer polled.
    """
    speed = time.polling_speed
    if after.ended_at is not None:
        final_s = max(MIN_INTERVAL_S, FINAL_S / speed) if before.ride.ended_at is None else None
        return final_s, (), (NO_DRIVER, NOT_KNOWN, TOO_OLD)
    if now - before.created_at > TOO_OLD_AFTER:
        return SLOW_S, (AttentionItem(TOO_OLD),), (NOT_KNOWN, POISON)
    since = overdue_since(before, after.status, now, time)
    if since is not None:
        lasts_until = time.due(since, OVERDUE_LASTS_S)
        wait_s = SLOW_S
        if lasts_until is None or now < lasts_until:
            wait_s = OVERDUE_S / speed
        return wait_s, (AttentionItem(NO_DRIVER),), (NOT_KNOWN, POISON, TOO_OLD)
    eta_s = after.facts.eta.seconds if after.facts.eta else None
    # items that were raised because of a wrong clock are cleared again
    return next_poll_s(after.status, after.kind, eta_s, speed), (), CLEARED_BY_POLLS


def overdue_since(
    before: Before, status: str | None, now: datetime, time: ServiceTime
) -> datetime | None:
    """The instant a minute after the end of the search for a driver.

    None before that instant, if it is unknown, or if the ride is no longer searching.
    """
    if status is not None and status not in wire.SEARCHING:
        return None
    stored = before.booking_timeout_at
    timeout_s = before.booking_timeout_s
    ends = search_ends(stored, before.created_at, timeout_s, time)
    if ends is None:
        return None
    since = time.due(ends, OVERDUE_S)
    if since is None or now <= since:
        return None
    return since


def _after_failure(before: Before, error: Exception, now: datetime, pacing: Pacing) -> Decision:
    """The decision after a failed poll: the next poll is its retry, and the facts stay.

    A call that was not made does not count as a failure.
    """
    status = before.ride.status
    ended = before.ride.ended_at is not None
    if isinstance(error, Throttled | TokenUnreadable):
        wait_s = error.wait_s if isinstance(error, Throttled) else UNREADABLE_TOKEN_S
        next_poll = _next_poll(max(MIN_INTERVAL_S, wait_s), now, pacing.spread)
        return Decision(next_poll, status, answered=False)
    errors = before.errors + 1
    is_of_ride = isinstance(error, Refused) and not error.is_of_caller
    unknown_id = before.unknown_id + 1 if is_of_ride else 0
    raised: tuple[AttentionItem, ...] = ()
    if unknown_id >= NOT_KNOWN_AFTER and not ended:  # the service may forget a ride after its end
        raised = (AttentionItem(NOT_KNOWN, error.code if isinstance(error, Refused) else None),)
        next_s: float | None = SLOW_S
    else:
        next_s = _wait_after_error_s(error, errors, pacing)
    if ended and errors >= FINAL_TRIES:
        next_s = None
    ride = {"errors": errors, "unknown_id": unknown_id} | _next_poll(next_s, now, pacing.spread)
    return Decision(ride, status, answered=False, raised=raised)


def _wait_after_error_s(error: Exception, errors: int, pacing: Pacing) -> float:
    """Seconds to the next poll after `errors` failed ones: a random part of 2 ** errors.

    It is at most ERROR_MAX_S; after a 429 with a Retry-After it is that time.
    """
    if isinstance(error, RateLimited) and error.retry_after_s is not None:
        return error.retry_after_s
    longest_s = min(ERROR_MAX_S, 2.0 ** min(errors, 10))
    return max(MIN_INTERVAL_S, pacing.backoff * longest_s / pacing.time.polling_speed)


def _next_poll(wait_s: float | None, now: datetime, spread: float) -> dict[str, Any]:
    """The columns of the schedule; waits vary by 10 %, so that rides are not due together."""
    if wait_s is None:
        return {"next_poll_at": None}
    later = timedelta(seconds=max(MIN_INTERVAL_S, wait_s * (0.9 + 0.2 * spread)))
    return {"interval_s": wait_s, "next_poll_at": now + later}


def poison_wait_s(times: int) -> float:
    """Seconds until the next poll of a ride whose answers could not be recorded `times` in a row.

    Five minutes, doubling, an hour at most.
    """
    return min(POISON_MAX_S, 300.0 * 2.0 ** min(times - 1, 10))


@dataclass(frozen=True)
class ActionReading:
    """What to do with an unconfirmed action, and the code to store.

    See docs/booking-protocol.md 2.
    """

    verdict: str
    code: str | None = None


def read_stop(name: str, calls: int, status: str | None, kind: wire.Kind) -> ActionReading:
    """What a later poll proves about an abort or a cancel, from the status in its answer."""
    if status == wire.BOOKING_CANCELLED:
        return ActionReading(DONE, READ_BACK)
    if status in wire.TERMINAL:
        return ActionReading(REFUSED, RIDE_ENDED)
    if name == "abort" and may_cancel(status, kind):
        return ActionReading(REFUSED, wire.BOOKING_ALLOTED)
    if status in {wire.IN_PROGRESS, wire.INVOICE} and not may_cancel(status, kind):
        return ActionReading(REFUSED, wire.CANCELLATION_NOT_ALLOWED)
    if calls < MOST_CALLS:
        return ActionReading(REPEAT)
    return ActionReading(WAIT)


def read_drop(
    calls: int, wanted: LatLng, drop: LatLng | None, status: str | None, *, newer: bool
) -> ActionReading:
    """What a later poll proves about a change of drop to `wanted`.

    `drop` is the drop in the answer to that poll, if there is one. `newer`: whether a newer change
    of drop exists; then the older change is never repeated.
    """
    if drop is not None and distance_m(wanted, drop) <= SAME_PLACE_M:
        return ActionReading(DONE, READ_BACK)
    if status in wire.TERMINAL:
        return ActionReading(REFUSED, RIDE_ENDED)
    if newer:
        return ActionReading(REFUSED, SUPERSEDED)
    if drop is not None and calls < MOST_CALLS:
        return ActionReading(REPEAT)
    return ActionReading(WAIT)
