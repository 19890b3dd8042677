"""The choices of the director in words: scenarios and faults. Also the words of its clock."""

from dataclasses import dataclass
from typing import Any, Final, TypedDict

from ridedash.demo.beginning import control
from ridedash.demo.sandbox_control import NotDone
from ridedash.geo import LatLng
from ridedash.store.models.people import Property
from ridedash.views.web.formatting import weekday_time, zone
from ridedash.views.web.responses import locale
from ridedash.wording import gettext as _
from ridedash.wording import lazy
from ridedash.wording.say import Text

SCENARIOS: Final[dict[str, Text]] = {  # as the sandbox names them (docs/operating.md)
    "normal": lazy("Any car: all goes well"),
    "no_cab": lazy("Any car: no driver is found"),
    "slow_allotment": lazy("Any car: finding a driver takes long"),
    "driver_swaps": lazy("Cab: another car takes over on the way"),
    "invoice_before_ride": lazy("Cab: the fare is set before the ride begins"),
    "share_immediate": lazy("Shared: a driver at once"),
    "share_retry": lazy("Shared: a driver after a second search"),
    "share_retry_slow": lazy("Shared: a driver after a long second search"),
    "share_retry_fail": lazy("Shared: no driver after a second search"),
    "driver_cancels": lazy("Auto: the driver cancels early, another one comes"),
    "driver_cancels_fail": lazy("Auto: the driver cancels early, nobody else comes"),
    "driver_leaves": lazy("Auto: the driver leaves on the way, another one comes"),
}


@dataclass(frozen=True)
class NamedFault:
    """A fault: its words, and the body of POST /control/faults."""

    words: Text
    body: dict[str, Any]


FAULTS: Final = {
    "lost_answer": NamedFault(
        lazy("The next booking is made, but its answer is lost"),
        {"operation": "create", "fault": "cut_after"},
    ),
    "not_reached": NamedFault(
        lazy("The next booking does not reach the ride company"),
        {"operation": "create", "fault": "cut_before"},
    ),
    "slow": NamedFault(
        lazy("The answer to the next booking takes 8 seconds"),
        {"operation": "create", "fault": "delay", "seconds": 8},
    ),
    "error": NamedFault(
        lazy("The ride company fails at the next booking"),
        {"operation": "create", "fault": "http_500"},
    ),
    "down": NamedFault(
        lazy("The ride company is down for 90 seconds"),
        {"operation": "*", "fault": "down", "seconds": 90},
    ),
    "up": NamedFault(
        lazy("The ride company is up again"),
        {"operation": "*", "fault": "down", "seconds": 0},
    ),
}


def scenario_words() -> dict[str, str]:
    """The scenarios in the language of this page, by the sandbox's names."""
    return {name: str(words) for name, words in SCENARIOS.items()}


def fault_words() -> dict[str, str]:
    """The faults in the language of this page, by name."""
    return {name: str(fault.words) for name, fault in FAULTS.items()}


def refusals() -> dict[str, str]:
    """Why a press of the director changed nothing, by the keys in addresses."""
    return {
        "silent": _("The sandbox does not answer. Nothing was changed."),
        "nothing": _("No ride is under way. Book one first."),
        "sending": _(
            "Something is on its way to the ride company. Nothing was deleted: try again soon."
        ),
        "file": _(
            "The file of the stories can't be written. Nothing was changed. Is the disk full?"
        ),
    }


def speed_words(speed: float) -> str:
    """How fast the clock runs."""
    if speed == 0:
        return _("Held")
    if speed == 1:
        return _("Normal speed")
    return _("%(n)s times as fast", n=f"{speed:g}")


class ClockView(TypedDict):
    """The sandbox's time as text, the property's city, and the speed as a number and in words."""

    at: str
    city: str
    speed: str
    words: str


def clock_now(prop: Property, *, named: bool = True) -> ClockView | None:
    """The clock at a property; None while the sandbox does not answer. `named`: with the city."""
    try:
        now = control().clock()
        city = ""
        if named and prop.pickup_lat is not None and prop.pickup_lng is not None:
            city = control().city_at(LatLng(prop.pickup_lat, prop.pickup_lng))
    except NotDone:
        return None
    return {
        "at": weekday_time(now.at, zone(prop.timezone), locale()),
        "city": city,
        "speed": f"{now.speed:g}",
        "words": speed_words(now.speed),
    }
