"""The kiosks of a demo: one in the hotel's lobby, one at a station with several pickup points.

Neither is paired. In a demo, the page Settings, Kiosks opens each in a browser with one press.
"""

from datetime import datetime
from typing import Any, Final

from sqlalchemy.orm import Session

from ridedash.geo import distance_m
from ridedash.sandbox.city.city import City, cities
from ridedash.store.kiosks import devices_of, new_device
from ridedash.store.models.kiosks import Kiosk, KioskKind, PickupHint, WhoPays
from ridedash.store.properties import favourites_of, set_favourite
from ridedash.wording.languages import LANGUAGES

STATION: Final = "Port Meridian Central Station"
# favourite drops, in the order in which a kiosk's first screen offers them
DROPS: Final = (
    *("Meridian Airport", STATION, "Ferry Terminal"),
    *("Meridian General Hospital", "Conference Centre", "Cathedral of the Two Tides"),
)
# how to walk to each pickup point from the kiosk: directions, minutes, and whether there are steps
WAYS: Final[dict[str, tuple[dict[str, str], int, bool]]] = {
    "Main Entrance, Station Square": (
        {
            "en": "Out of the main doors, beside the clock.",
            "hi": "मुख्य द्वार से बाहर, घड़ी के पास।",
            "de": "Aus dem Haupteingang, neben der Uhr.",
            "fr": "Sortez par l'entrée principale, près de l'horloge.",
        },
        2,
        False,
    ),
    "North Concourse": ({"en": "Through the hall, past the ticket windows."}, 3, False),
    "Coach Bays": ({"en": "Down the west stairs, then left to the bays."}, 5, True),
    "Taxi Rank East": ({"en": "Out of the east doors, under the roof."}, 4, False),
}


def seed(s: Session, property_id: int, now: datetime) -> None:
    """Add both kiosks, the walks at the station, and favourite drops.

    Adds nothing to a property that has or had a kiosk or a door display.
    """
    if devices_of(s, property_id, ended=True):
        return
    city = cities()[0]
    lobby = new_device(s, property_id, KioskKind.KIOSK, "Lobby", now)
    lobby.place = "Beside the lifts"
    station = new_device(s, property_id, KioskKind.KIOSK, "Central station", now)
    at = next(place for place in city.places if place.name == STATION)
    station.place = STATION
    station.lat = at.position.lat
    station.lng = at.position.lng
    for each in (lobby, station):
        _usual(each)
    _ways(s, city, station)
    _favourites(s, city, property_id)


def _usual(kiosk: Kiosk) -> None:
    kiosk.rule = WhoPays.DRIVER.value
    kiosk.languages = list(LANGUAGES)
    kiosk.default_language = "en"


def _ways(s: Session, city: City, station: Kiosk) -> None:
    zone = next(each for each in city.hotspots if each.name == STATION)
    at = next(place.position for place in city.places if place.name == STATION)
    for point in zone.points:
        words, minutes, steps = WAYS[point.name]
        facts: dict[str, Any] = {"words": words, "minutes": minutes, "steps": steps}
        facts["metres"] = round(distance_m(at, point.position), -1)
        place = {"lat": point.position.lat, "lng": point.position.lng}
        of = {"property_id": station.property_id, "kiosk_id": station.id, "point": point.name}
        s.add(PickupHint(**of, **place, **facts))


def _favourites(s: Session, city: City, property_id: int) -> None:
    """Add the destinations that a kiosk offers first, unless the property already has some."""
    if favourites_of(s, property_id):
        return
    places = {place.name: place.position for place in city.places}
    for slot, name in enumerate(DROPS, 1):
        set_favourite(s, property_id, "drop", slot, name, places[name])
