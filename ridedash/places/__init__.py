"""Place search: the sandbox's gazetteer, Photon or Nominatim, and the outlines of the cities."""

import time
from collections.abc import Callable

from ridedash.places.cache import TtlCache
from ridedash.places.coordinates import (
    MOST_TYPED,
    coordinates_text,
    parse_coordinates,
    sent_point,
)
from ridedash.places.model import (
    CityArea,
    Geocoder,
    Nearby,
    Place,
    PlacesUnavailableError,
    address,
)
from ridedash.places.sources import (
    Nominatim,
    Photon,
    SandboxPlaces,
)
from ridedash.places.typed import TypedPlaces, Unread, find_typed
from ridedash.service.transport.http import Http

__all__ = [
    "MOST_TYPED",
    "CityArea",
    "Geocoder",
    "Nearby",
    "Nominatim",
    "Photon",
    "Place",
    "PlacesUnavailableError",
    "SandboxPlaces",
    "TtlCache",
    "TypedPlaces",
    "Unread",
    "address",
    "coordinates_text",
    "find_typed",
    "geocoder_for",
    "parse_coordinates",
    "sent_point",
]


def geocoder_for(
    kind: str, base_url: str, http: Http, now: Callable[[], float] = time.monotonic
) -> Geocoder:
    """The geocoder that the setting names: `sandbox`, `photon` or `nominatim`."""
    source: Callable[[Http, str, Callable[[], float]], Geocoder] = {
        "sandbox": SandboxPlaces,
        "photon": Photon,
        "nominatim": Nominatim,
    }[kind]
    return source(http, base_url, now)
