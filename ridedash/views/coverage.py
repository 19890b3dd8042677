"""Whether a drop can be driven to at all, where the outlines of the cities are known. Pure."""

from collections.abc import Sequence

from ridedash import wire
from ridedash.geo import LatLng, contains
from ridedash.places import CityArea
from ridedash.views.troubles import EstimateFailedError, refused
from ridedash.wording import gettext as _


def drop_trouble(cities: Sequence[CityArea], pickup: LatLng, drop: LatLng) -> EstimateFailedError | None:
    """Why no car goes there; None when one may, or when nobody told where the cities are.

    A pickup outside of all is left to the service's own refusal.
    """
    known = [city for city in cities if len(city.boundary) > 2]
    start = next((city for city in known if contains(city.boundary, pickup)), None)
    end = next((city for city in known if contains(city.boundary, drop)), None)
    if start is None or start == end:
        return None
    if end:
        return refused(wire.INVALID_DROP_LOCATION)
    return EstimateFailedError(
        _("No service at this drop"),
        _("It lies outside the cities that the service covers. Check the pin, or choose another drop."),
        422,
        end="drop",
    )
