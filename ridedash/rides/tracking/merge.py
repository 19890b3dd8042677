"""Merges one more answer of track_ride into a ride. Pure (docs/booking-protocol.md 3.4)."""

from dataclasses import dataclass, field, fields
from datetime import datetime
from operator import attrgetter
from typing import Any, Final

from ridedash import wire
from ridedash.service.parsing.fields import Fact
from ridedash.service.types.tracking import Snapshot
from ridedash.text import compact_key
from ridedash.wire import Kind

CAB_FIELDS: Final = (
    "driver_name",
    "driver_number",
    "driver_rating",
    "driver_image_url",
    "vehicle_type",
    "vehicle_number",
    "vehicle_color",
    "car_model",
    "position",
    "bearing",
    "share_ride_url",
    "eta",
    "distance",
)
# merged field by field, because the parts of an invoice come with different statuses
FIELD_BY_FIELD: Final = ("price", "trip")
# not among the facts: the start code has its own column, the others are shown nowhere
NEVER_STORED: Final = ("otp", "otp_text", "speed", "promotional_message")

# names of events
STATUS: Final = "status"
HANDOVER: Final = "handover"  # the hand-over: a ride polled by its txn_id has its booking id now
DRIVER_LOST: Final = "driver_lost"
CAR_SWAPPED: Final = "car_swapped"
UNKNOWN_STATUS: Final = "unknown_status"
OTHER_BOOKING: Final = "other_booking"  # the answer was about another booking: refused
AFTER_END: Final = "after_end"  # another status after the end; it is not shown
ALARMS: Final = frozenset({CAR_SWAPPED, UNKNOWN_STATUS, OTHER_BOOKING, AFTER_END})

# the rank of each status: how far along the ride is
_EARLY: Final = {
    wire.ALLOTMENT_PENDING: 0,
    wire.PENDING: 0,
    wire.SOFT_ALLOCATED: 1,
    wire.ALLOTMENT_RETRYING: 2,
}
_TAXI: Final = {wire.CALL_DRIVER: 3, wire.CLIENT_LOCATED: 4, wire.INVOICE: 5, wire.IN_PROGRESS: 6}
_AUTO: Final = {wire.CALL_DRIVER: 3, wire.CLIENT_LOCATED: 4, wire.IN_PROGRESS: 5, wire.INVOICE: 6}
_END: Final = 9


@dataclass(frozen=True)
class Event:
    """Something that happened between two answers; `detail` is the new status, plate or id."""

    name: str
    detail: str | None = None


@dataclass(frozen=True)
class RideState:
    """All that a merge reads and writes; times are aware, in UTC.

    `otp` is the start code, which `facts` never contain. `reported` is an unknown status.
    `back_status` is a status earlier in the sequence that was seen once.
    """

    kind: Kind
    booking_id: str | None = None
    txn_id: str | None = None
    status: str | None = None
    reported: str | None = None
    facts: Snapshot = field(default_factory=Snapshot)
    otp: str | None = field(default=None, repr=False)
    back_status: str | None = None
    previous_plate: str | None = None
    swapped_at: datetime | None = None
    retried: bool = False
    allotted_at: datetime | None = None
    ended_at: datetime | None = None
    position_at: datetime | None = None
    seen_at: datetime | None = None
    merged_seq: int = 0


@dataclass(frozen=True)
class Merged:
    """The ride afterwards, the events, and whether a fact that pages show has changed."""

    ride: RideState
    events: tuple[Event, ...] = ()
    changed: bool = False


def merge(ride: RideState, snapshot: Snapshot, seq: int, now: datetime) -> Merged:
    """The ride after the answer to poll number `seq`, which came at `now`.

    Answers are ordered by `seq` alone: an answer to an older poll changes nothing.
    """
    if seq <= ride.merged_seq:
        return Merged(ride)
    ride = _with(ride, merged_seq=seq)
    if snapshot.booking_id and ride.booking_id and snapshot.booking_id != ride.booking_id:
        return Merged(ride, (Event(OTHER_BOOKING, snapshot.booking_id),))
    seen = _with(ride, seen_at=now)
    status = snapshot.booking_status
    if status in wire.KNOWN_STATUSES and status != ride.status:
        if ride.status in wire.TERMINAL:
            return Merged(seen, (Event(AFTER_END, status),))
        if not may_follow(ride, status) and ride.back_status != status:
            return Merged(_with(seen, back_status=status))
    return _apply(ride, seen, snapshot, now)


def may_follow(ride: RideState, status: str) -> bool:
    """Whether `status` is accepted at once (docs/booking-protocol.md 3.3).

    It is if it is not earlier in the sequence than the ride's status. ALLOTMENT_RETRYING of an auto
    is also accepted at once after CALL_DRIVER, the first time. Any other earlier status is accepted
    when a second answer confirms it.
    """
    if status == wire.ALLOTMENT_RETRYING and ride.kind is Kind.AUTO and not ride.retried:
        return ride.status in {None, wire.PENDING, wire.ALLOTMENT_PENDING, wire.CALL_DRIVER}
    return rank(ride.kind, status) >= rank(ride.kind, ride.status)


def rank(kind: Kind, status: str | None) -> int:
    """How far along a status is; -1 for none. ALLOTMENT_PENDING and PENDING have the same rank."""
    if status is None:
        return -1
    later = _AUTO if kind is Kind.AUTO else _TAXI
    return _EARLY.get(status, later.get(status, _END))


def _apply(before: RideState, seen: RideState, snapshot: Snapshot, now: datetime) -> Merged:
    status, reported = _status(before, snapshot)
    searching = status is None or status in wire.SEARCHING
    lost = searching and before.status in wire.CAB_KNOWN
    if searching:
        snapshot = without_cab(snapshot)
    swapped = not lost and other_plate(before.facts, snapshot)
    old = before.facts
    position_at = before.position_at
    if lost or swapped:
        old = without_cab(old)
        position_at = None
    if status != before.status:
        old = without_eta(old)
    if snapshot.position:
        position_at = now
    booking_id = before.booking_id or snapshot.booking_id
    allotted_at = before.allotted_at  # a later driver doesn't restart the time of free cancelling
    if allotted_at is None and status in wire.CAB_KNOWN:
        allotted_at = now
    ride = _with(
        seen,
        booking_id=booking_id,
        status=status,
        reported=reported,
        facts=merged_facts(old, snapshot, status, booking_id),
        otp=snapshot.otp if status in wire.MAY_HAVE_OTP else None,
        back_status=None,
        previous_plate=before.facts.vehicle_number if swapped else before.previous_plate,
        swapped_at=now if swapped else before.swapped_at,
        retried=before.retried or status == wire.ALLOTMENT_RETRYING,
        allotted_at=allotted_at,
        ended_at=before.ended_at or (now if status in wire.TERMINAL else None),
        position_at=position_at,
    )
    return Merged(ride, _events(before, ride, lost, swapped), _shown(before) != _shown(ride))


def _status(ride: RideState, snapshot: Snapshot) -> tuple[str | None, str | None]:
    """The status to store, and an unknown status, which is stored as reported."""
    status = snapshot.booking_status
    if status is None:
        return ride.status, None
    if status not in wire.KNOWN_STATUSES:
        return ride.status, status
    return status, None


def _events(before: RideState, ride: RideState, lost: bool, swapped: bool) -> tuple[Event, ...]:
    found = []
    if ride.booking_id and not before.booking_id:
        found.append(Event(HANDOVER, ride.booking_id))
    if ride.status != before.status:
        found.append(Event(STATUS, ride.status))
    if lost:
        found.append(Event(DRIVER_LOST))
    if swapped:
        found.append(Event(CAR_SWAPPED, ride.facts.vehicle_number))
    if ride.reported and ride.reported != before.reported:
        found.append(Event(UNKNOWN_STATUS, ride.reported))
    return tuple(found)


def merged_facts(
    old: Snapshot, new: Snapshot, status: str | None, booking_id: str | None
) -> Snapshot:
    """The old facts, overwritten by those in the new answer; without the start code.

    Passengers that are known are not overwritten.
    """
    update: dict[str, Any] = {
        name: value for name, value in vars(new).items() if value is not None and value != ()
    }
    for name in FIELD_BY_FIELD:
        update[name] = _overwritten(getattr(old, name), getattr(new, name))
    if old.passengers:
        update["passengers"] = old.passengers
    if new.booking_status == wire.INVOICE and old.balance_at_bill is None:
        update["balance_at_bill"] = new.svc_money_balance
    if new.booking_status == wire.COMPLETED and new.svc_money_balance is not None:
        update["balance_at_end"] = new.svc_money_balance
    update |= dict.fromkeys(NEVER_STORED) | {"booking_status": status, "booking_id": booking_id}
    return old.model_copy(update=update)


def _overwritten(old: Fact | None, new: Fact | None) -> Fact | None:
    if old is None or new is None or old == new:
        return new or old
    return old.model_copy(
        update={name: value for name, value in vars(new).items() if value is not None}
    )


def without_cab(facts: Snapshot) -> Snapshot:
    """The facts without car, driver and position."""
    return facts.model_copy(update=dict.fromkeys(CAB_FIELDS))


def without_eta(facts: Snapshot) -> Snapshot:
    """The facts without remaining time and distance.

    Those of the earlier status may be counted to another place: to the pickup before the ride, to
    the drop during it.
    """
    return facts.model_copy(update={"eta": None, "distance": None})


def other_plate(old: Snapshot, new: Snapshot) -> bool:
    """Whether both have a plate, and the plates differ; spaces and case don't count."""
    one = old.vehicle_number
    other = new.vehicle_number
    return bool(one and other) and one != other and compact_key(one) != compact_key(other)


def shown(ride: RideState) -> RideState:
    """The ride without the values that every poll may write.

    If the results are equal for two rides, their pages show the same facts.
    """
    return _with(ride, **_AT_EVERY_POLL)


def _with(ride: RideState, **changes: Any) -> RideState:
    """A changed copy, like dataclasses.replace, which takes six times as long.

    Each poll makes three copies.
    """
    copy = object.__new__(RideState)
    vars(copy).update(vars(ride), **changes)
    return copy


_AT_EVERY_POLL: Final[dict[str, Any]] = {
    "seen_at": None,
    "position_at": None,
    "merged_seq": 0,
    "back_status": None,
}
_shown: Final = attrgetter(
    *(each.name for each in fields(RideState) if each.name not in _AT_EVERY_POLL)
)
