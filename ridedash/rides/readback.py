"""Pure: what a poll says about an action that was asked and not confirmed (booking-protocol.md 2)."""

from dataclasses import dataclass
from typing import Final

from ridedash import wire
from ridedash.geo import LatLng, distance_m
from ridedash.rides.states import CANCELLABLE

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


def read_drop(calls: int, asked: LatLng, told: LatLng | None, status: str | None, newer: bool) -> Reading:
    """A change of drop, by the drop that a later poll carried; one that carried none proves nothing."""
    if told is not None and distance_m(asked, told) <= SAME_PLACE_M:
        return Reading(DONE, READ_BACK)
    if status in wire.TERMINAL:
        return Reading(REFUSED, RIDE_ENDED)
    if newer:
        return Reading(REFUSED, "SUPERSEDED")
    return Reading(REPEAT if told is not None and calls < MOST_CALLS else WAIT)
