"""The orders of one press of Book, each with a number, a guest, a time and a direction.

Pure. See docs/booking-protocol.md 1.2. Because each order has a number, a form that is sent twice
makes each order once. Equal requests have equal parts, except for the random keys of groups and
series.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from ridedash.rides.orders.fields import FIELDS, MOST_CARS, BookingRequest, Refill
from ridedash.rides.times.schedule_times import MOST_RIDES, departure_of

MOST_PARTS: Final = max(MOST_RIDES, 2 * MOST_CARS)  # orders of one press


class PlaceError(Exception):
    """The press made no order."""


@dataclass(frozen=True)
class Part:
    """One order of a press. `request` has its own guest and pickup time, and one car.

    `back_of`: the number of the part for the way there, if this part is the way back.
    """

    number: int
    request: BookingRequest
    group: str | None = None
    series: str | None = None
    back_of: int | None = None


def parts(request: BookingRequest, new_key: Callable[[], str]) -> list[Part]:
    """The orders of a press, numbered from 1: all cars, then all ways back; or a series."""
    alone = replace(request, cars=1, back_at=None, back_offer_id=None, series=())
    if request.series:
        key = new_key()
        times = enumerate(request.series, 1)
        first = request.series[0]
        return [Part(number, _at(alone, at, first), series=key) for number, at in times]
    cars = range(1, request.cars + 1)
    group = new_key() if request.cars > 1 else request.group
    out = [Part(number, alone, group) for number in cars]
    if request.back_at is None:
        return out
    group = new_key() if request.cars > 1 else None
    back = []
    for part in out:
        way_back = _way_back(part.request, request.back_at)
        back.append(Part(part.number + request.cars, way_back, group, back_of=part.number))
    return out + back


def token_of(form_token: str, number: int) -> str:
    """The token of one order. It is unique: a form can't make two orders with the same number."""
    if number == 1:
        return form_token
    return f"{form_token}.{number}"


def tokens_of(form_token: str) -> list[str]:
    """The tokens of all orders that a form may have made."""
    return [token_of(form_token, number) for number in range(1, MOST_PARTS + 1)]


def _at(request: BookingRequest, at: datetime, first: datetime) -> BookingRequest:
    """The request of one ride of a series; the departure of a flight moves with the ride's day."""
    departs_at = request.departs_at
    if departs_at is not None:
        departs_at = departure_of(at, first, departs_at, request.tz, lands=request.flight_lands)
    return replace(request, pickup_at=at, departs_at=departs_at)


def _way_back(out: BookingRequest, at: datetime) -> BookingRequest:
    """The request of a way back: without the note, coupon and flight of the way there.

    Nor does it override the duplicate-booking guard: staff did that for the other pickup only.
    """
    left_out = {each.name: each.default for each in FIELDS if _only_out(each.refill)}
    left_out |= {"supersedes": None, "departs_at": None, "flight_lands": False}
    left_out |= {"override_guard": False}
    return replace(out, pickup_at=at, **left_out)


def _only_out(refill: frozenset[Refill]) -> bool:
    """Whether an earlier order fills in a field on some occasions, but not for a way back."""
    return bool(refill) and Refill.RETURN not in refill
