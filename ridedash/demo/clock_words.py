"""What the pages of the director show of the sandbox's clock."""

from typing import TypedDict

from ridedash.demo.beginning import control
from ridedash.demo.sandbox_control import NotDone
from ridedash.demo.words import speed_words
from ridedash.geo import LatLng
from ridedash.store.models.people import Property
from ridedash.views.web.formatting import weekday_time, zone
from ridedash.views.web.responses import locale


class Clock(TypedDict):
    """The time as people read it, the property's city, and the speed as a number and in words."""

    at: str
    city: str
    speed: str
    words: str


def clock_now(prop: Property, *, named: bool = True) -> Clock | None:
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
