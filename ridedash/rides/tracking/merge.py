"""Pure: what a ride is after one more answer of track_ride (docs/booking-protocol.md 3.4)."""

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
    "speed",
    "share_ride_url",
    "eta",
    "distance",
)
FIELD_BY_FIELD: Final = ("price", "trip")  # an invoice's parts come with different states
NEVER_KEPT: Final = ("otp", "otp_text")


def joined(old: Snapshot, new: Snapshot, status: str | None, booking_id: str | None) -> Snapshot:
    """The old facts with what the new answer says put over them; the start code is left out."""
    update: dict[str, Any] = {
        name: value for name, value in vars(new).items() if value is not None and value != ()
    }
    for name in FIELD_BY_FIELD:
        update[name] = _over(getattr(old, name), getattr(new, name))
    if old.passengers:
        update["passengers"] = old.passengers
    update |= dict.fromkeys(NEVER_KEPT) | {"booking_status": status, "booking_id": booking_id}
    return old.model_copy(update=update)


def _over(old: Fact | None, new: Fact | None) -> Fact | None:
    if old is None or new is None or old == new:
        return new or old
    return old.model_copy(
        update={name: value for name, value in vars(new).items() if value is not None}
    )


def without_cab(facts: Snapshot) -> Snapshot:
    """The facts without car, driver and where they are."""
    return facts.model_copy(update=dict.fromkeys(CAB_FIELDS))


def without_eta(facts: Snapshot) -> Snapshot:
    """The facts without the time and way that were left: they meant the pickup, and now mean the
    drop, or nothing.
    """
    return facts.model_copy(update={"eta": None, "distance": None})


def other_plate(old: Snapshot, new: Snapshot) -> bool:
    """Whether both name a plate and they are not the same one, spaces and case aside."""
    one, other = old.vehicle_number, new.vehicle_number
    return bool(one and other) and one != other and compact_key(one) != compact_key(other)


DRIVER_STATUSES: Final = frozenset(
    {wire.CALL_DRIVER, wire.CLIENT_LOCATED, wire.INVOICE, wire.IN_PROGRESS}
)
OTP_STATUSES: Final = wire.OTP_STATUSES | {wire.SOFT_ALLOCATED}
# events
STATUS: Final = "status"
HANDOVER: Final = "handover"  # the booking id came for what was followed by txn_id
DRIVER_LOST: Final = "driver_lost"
CAR_SWAPPED: Final = "car_swapped"
UNKNOWN_STATUS: Final = "unknown_status"
OTHER_BOOKING: Final = "other_booking"  # the answer was about another booking: refused
AFTER_END: Final = "after_end"  # a live status after the end: not shown
ALARMS: Final = frozenset({CAR_SWAPPED, UNKNOWN_STATUS, OTHER_BOOKING, AFTER_END})
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
    """All that a merge reads and writes. `facts` never holds the start code: `otp` does."""

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
    """The ride afterwards, what happened, and whether a fact that is shown has changed."""

    ride: RideState
    events: tuple[Event, ...] = ()
    changed: bool = False


def merge(ride: RideState, snapshot: Snapshot, seq: int, now: datetime) -> Merged:
    """The ride after the answer to poll number `seq`, which came at `now`. Answers are ordered by
    `seq` alone.
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
        if not moves_on(ride, status) and ride.back_status != status:
            return Merged(_with(seen, back_status=status))
    return _take(ride, seen, snapshot, now)


def moves_on(ride: RideState, status: str) -> bool:
    """Whether `status` may follow at once; a step back outside the table needs a second
    sighting.
    """
    if status == wire.ALLOTMENT_RETRYING and ride.kind is Kind.AUTO and not ride.retried:
        return ride.status in {None, wire.PENDING, wire.ALLOTMENT_PENDING, wire.CALL_DRIVER}
    return rank(ride.kind, status) >= rank(ride.kind, ride.status)


def rank(kind: Kind, status: str | None) -> int:
    """How far along a status is; -1 for none, the same for both words of "searching"."""
    if status is None:
        return -1
    later = _AUTO if kind is Kind.AUTO else _TAXI
    return _EARLY.get(status, later.get(status, _END))


def _take(before: RideState, seen: RideState, snapshot: Snapshot, now: datetime) -> Merged:
    status, reported = _status(before, snapshot)
    moved = status != before.status
    searching = status is None or status in wire.SEARCHING
    lost = searching and before.status in DRIVER_STATUSES
    snapshot = without_cab(snapshot) if searching else snapshot
    swapped = not lost and other_plate(before.facts, snapshot)
    old = without_cab(before.facts) if lost or swapped else before.facts
    old = without_eta(old) if moved else old
    booking_id = before.booking_id or snapshot.booking_id
    ride = _with(
        seen,
        booking_id=booking_id,
        status=status,
        reported=reported,
        facts=joined(old, snapshot, status, booking_id),
        otp=snapshot.otp if status in OTP_STATUSES else None,
        back_status=None,
        previous_plate=before.facts.vehicle_number if swapped else before.previous_plate,
        swapped_at=now if swapped else before.swapped_at,
        retried=before.retried or status == wire.ALLOTMENT_RETRYING,
        allotted_at=None
        if lost
        else before.allotted_at or (now if status in DRIVER_STATUSES else None),
        ended_at=before.ended_at or (now if status in wire.TERMINAL else None),
        position_at=now if snapshot.position else (None if lost or swapped else before.position_at),
    )
    return Merged(ride, _events(before, ride, lost, swapped), _shown(before) != _shown(ride))


def _status(ride: RideState, snapshot: Snapshot) -> tuple[str | None, str | None]:
    """The status to keep, and one that we don't know, to be shown as reported."""
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


def shown(ride: RideState) -> RideState:
    """A ride without what is written at every poll: equal for two rides that look the same on a
    page.
    """
    return _with(ride, **_AT_EVERY_POLL)


def _with(ride: RideState, **changes: Any) -> RideState:
    """A changed copy, as dataclasses.replace makes at six times the cost: there are three in each
    poll.
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
