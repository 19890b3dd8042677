"""The rows of a door display: which cars to look for in the street, and for which guests. Pure.

No row names a guest, and none has a start code or a phone number.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any, Final

from ridedash import wire
from ridedash.rides.actions.door_marks import mark_of
from ridedash.rides.kiosk.opening import is_open
from ridedash.rides.tracking.intervals import NEAR_ETA_S, freshness
from ridedash.store.models.kiosks import Kiosk
from ridedash.store.orders import OrderPage
from ridedash.views.rides.facts import RideFacts, status_of
from ridedash.views.web.formatting import initials, plate, stamp
from ridedash.wire import Kind
from ridedash.wording import gettext as _

MOST_ROWS: Final = 8
LEFT_FOR: Final = timedelta(minutes=2)  # how long a row stays after its ride began
HERE, COMING, LEFT = "here", "coming", "left"
IN_ORDER: Final = (HERE, COMING, LEFT)
LATE: Final = 1_000_000  # minutes, for a car whose arrival is unknown
# the ride company's words for colours that static/css/door/door.css has
COLOURS: Final = frozenset(
    {"white", "black", "silver", "grey", "red", "blue", "green", "yellow", "orange", "brown"}
    | {"gold", "beige", "maroon"}
)
ALIASES: Final = {"gray": "grey", "golden": "gold", "cream": "beige", "wine": "maroon"}
DAY: Final = (time(7), time(19))  # when a display without hours of its own is light


@dataclass(frozen=True)
class DoorRow:
    """One car. A field that is "" is not shown.

    `state` is here, coming or left; `since`: when the driver came; `seen`: when the service last
    answered about the ride, if that is too long ago; `mark` is the doorman's mark, in or away.
    """

    id: int
    state: str
    plate: str
    was: str  # the plate of the car that was replaced
    car: str
    colour: str  # one of COLOURS
    label: str  # by which the guest recognises the row: K27, a room, initials
    minutes: str
    since: str
    point: str
    mark: str
    asks: bool  # whether the doorman is asked where the guest is
    seen: str

    def as_json(self) -> dict[str, Any]:
        """The fields that are not empty."""
        return {name: value for name, value in vars(self).items() if value}


@dataclass(frozen=True)
class DoorList:
    """The rows in their order.

    `more` is how many further cars have no row; `finding` the labels of rides without a driver yet,
    `failed` of those that have just ended without one.
    """

    rows: tuple[DoorRow, ...]
    more: int
    finding: tuple[str, ...]
    failed: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The list in the form that the page's script reads."""
        return {
            "rows": [row.as_json() for row in self.rows],
            "more": self.more,
            "finding": list(self.finding),
            "failed": list(self.failed),
        }


def door_list(rides: Iterable[RideFacts], numbers: Mapping[int, int], shows: str) -> DoorList:
    """The list for these rides. `numbers`: ride numbers of kiosk rides; `shows`: see `label_of`."""
    everything = list(rides)
    cars = sorted((each for each in everything if state_of(each)), key=_sort_key)
    several = len({facts.pickup[1] for facts in cars} | _own_points(cars)) > 1
    rows = [
        _row(facts, label_of(facts.page, numbers, shows), several=several)
        for facts in cars[:MOST_ROWS]
    ]
    return DoorList(
        tuple(rows),
        more=max(0, len(cars) - MOST_ROWS),
        finding=_labels((f for f in everything if f.status in wire.SEARCHING), numbers, shows),
        failed=_labels(filter(has_no_driver, everything), numbers, shows),
    )


def _labels(rides: Iterable[RideFacts], numbers: Mapping[int, int], shows: str) -> tuple[str, ...]:
    labels = (label_of(facts.page, numbers, shows) for facts in rides)
    return tuple(dict.fromkeys(filter(None, labels)))[:MOST_ROWS]


def has_no_driver(facts: RideFacts) -> bool:
    """Whether a ride ended without a driver: none was found, or the ride company cancelled it.

    Not one that its guest or the desk has cancelled or ordered again.
    """
    page, status = facts.page, status_of(facts.page)
    if page.superseded_by is not None:
        return False
    cancelled = status == wire.BOOKING_CANCELLED and not facts.is_stopped_by_us
    return cancelled or status == wire.ALLOTMENT_FAILED


def state_of(facts: RideFacts) -> str:
    """Whether the car is here, coming or has just left; "" for any other ride."""
    status = facts.status
    if status == wire.CLIENT_LOCATED or (status == wire.INVOICE and facts.kind is not Kind.AUTO):
        return HERE
    if status == wire.CALL_DRIVER:
        return COMING
    began = facts.since(wire.IN_PROGRESS)
    just = began is not None and facts.now - began < LEFT_FOR
    return LEFT if just and status in (wire.IN_PROGRESS, wire.INVOICE) else ""


def label_of(page: OrderPage, numbers: Mapping[int, int], shows: str) -> str:
    """The label by which guests know their row: a kiosk's ride number, else as the property chose.

    The choices are `room`, `initials` and `number`; with `number` only rides of a kiosk have a
    label. It is never a name.
    """
    number = numbers.get(page.order.id)
    if number is not None:
        return f"K{number}"
    if shows == "room":
        return page.order.room or ""
    return initials(page.guest.name) if shows == "initials" else ""


def colour_of(words: str | None) -> str:
    """The colour in which a car is drawn, one of COLOURS; "" if the words name none of them."""
    found = (ALIASES.get(word, word) for word in (words or "").casefold().split())
    return next((word for word in found if word in COLOURS), "")


def is_light(device: Kiosk, local: datetime) -> bool:
    """Whether the display is light at this local time: in its own hours, else by day."""
    return is_open(device, local) if device.hours else DAY[0] <= local.time() < DAY[1]


def _sort_key(facts: RideFacts) -> tuple[float, ...]:
    """Sort key: waiting cars, longest first; then coming cars by arrival; then those that left."""
    state = state_of(facts)
    since = facts.since(facts.status or "") or facts.now
    by_time = since.timestamp() if state != COMING else _minutes(facts) or LATE
    return IN_ORDER.index(state), by_time, facts.page.order.id


def _own_points(cars: list[RideFacts]) -> set[str]:
    """The property's own pickup point, if it has one and there are cars."""
    names = {facts.page.property.pickup_name for facts in cars}
    return {name for name in names if name}


def _row(facts: RideFacts, label: str, *, several: bool) -> DoorRow:
    page, seen, state = facts.page, facts.snapshot, state_of(facts)
    ride, stale, minutes = page.ride, _stale(facts), _minutes(facts)
    words = (_capital(seen.vehicle_color), seen.car_model or _capital(seen.vehicle_type))
    swapped = ride is not None and ride.swapped_at is not None and state != LEFT
    mark = mark_of(page)
    near = seen.eta is not None and seen.eta.seconds <= NEAR_ETA_S
    return DoorRow(
        id=page.order.id,
        state=state,
        plate=plate(seen.vehicle_number),
        was=plate(ride.previous_plate) if swapped and ride else "",
        car=" · ".join(filter(None, words)),
        colour=colour_of(seen.vehicle_color),
        label=label,
        minutes=_("%(n)d min", n=minutes) if state == COMING and minutes and not stale else "",
        since=stamp(facts.since(facts.status or "")) if state == HERE else "",
        point=_point(facts) if several else "",
        mark=mark[0] if mark else "",
        asks=state == HERE or (state == COMING and near),
        seen=stamp(ride.seen_at) if ride and stale else "",
    )


def _minutes(facts: RideFacts) -> int | None:
    """The whole minutes until the car is here, at least one; None if unknown."""
    eta = facts.snapshot.eta
    return max(1, eta.minutes) if eta else None


def _stale(facts: RideFacts) -> bool:
    ride = facts.page.ride
    if ride is None or ride.seen_at is None:
        return ride is not None
    return freshness(ride.seen_at, facts.now, ride.interval_s) in ("stale", "lost")


def _point(facts: RideFacts) -> str:
    """The pickup point, without the property's name before it."""
    name, prop = facts.pickup[1], facts.page.property.name
    rest = name.removeprefix(prop).lstrip(" ,–-·:") if name.startswith(prop) else name
    return _capital(rest) or name


def _capital(text: str | None) -> str:
    return (text or "")[:1].upper() + (text or "")[1:]
