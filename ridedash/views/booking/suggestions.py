"""Places that the booking form suggests before a word is typed, or above the results of a search.

These are places where the guest often goes, the property's favourites in the order of their keys,
and recent drops of guests.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy.orm import Session

from ridedash.geo import LatLng, distance_m
from ridedash.places import Place
from ridedash.store import guests
from ridedash.store.models.people import Property
from ridedash.store.orders import RecentDrop, recent_drops
from ridedash.store.properties import favourites_of
from ridedash.text import normalised
from ridedash.views.booking.estimates import home_trip
from ridedash.views.web import formatting
from ridedash.wording import gettext as _

SUGGESTED: Final = 14
READ: Final = 40  # orders that are read
LATEST_DROPS: Final = 5
# positions nearer than this count as one place: a pickup point may be so far from its hotspot
SAME_START_M: Final = 200.0
PlaceFacts = tuple[str, float, float]  # name, lat, lng


@dataclass(frozen=True)
class Suggestion:
    """A place to choose. `kind` says in a word why it is suggested: often, recent, or "".

    `slot` is the key of a favourite, or "". `minutes` is the duration of a ride from the property's
    own pickup, in words, or "".
    """

    name: str
    kind: str
    lat: float
    lng: float
    slot: str
    minutes: str

    def facts(self) -> dict[str, Any]:
        """The suggestion as the form's script reads it."""
        return {**vars(self), "area": ""}


def suggested(
    s: Session, home: Property, end: str, guest_id: int | None, other: LatLng | None
) -> list[Suggestion]:
    """Places for one end of a trip, "pickup" or "drop", each once; none near the other end."""
    all_favourites = sorted(favourites_of(s, home.id).items())
    favourites = [place for (kind, _slot), place in all_favourites if kind == end]
    often: Iterable[PlaceFacts] = ()
    drops: list[RecentDrop] = []
    if end == "drop":
        drops = recent_drops(s, home.id, READ)
        often = _often(s, home.id, guest_id)
    slots = {place.name: str(place.slot) for place in favourites}
    minutes = _minutes(home, drops)
    of_property = [(place.name, place.lat, place.lng) for place in favourites]
    groups = ((_("often"), often), ("", of_property), (_("recent"), _latest(drops)))
    found: dict[str, Suggestion] = {}
    for kind, group in groups:
        for name, lat, lng in group:
            if other is not None and _near(LatLng(lat, lng), other):
                continue
            place = Suggestion(name, kind, lat, lng, slots.get(name, ""), minutes.get(name, ""))
            found.setdefault(name, place)
    return list(found.values())[:SUGGESTED]


def _often(s: Session, property_id: int, guest_id: int | None) -> Iterable[PlaceFacts]:
    """The places where a guest of the property often goes."""
    if not guest_id:
        return ()
    guest = guests.guest_of(s, property_id, guest_id)
    if guest is None:
        return ()
    return guests.usual(s, guest.id).places


def matching(
    s: Session, home: Property, end: str, typed: str, other: LatLng | None
) -> list[Suggestion]:
    """The suggested places whose names have, for each typed word, a word that begins with it."""
    begun = [f" {word}" for word in normalised(typed).split()]
    return [
        place
        for place in suggested(s, home, end, None, other)
        if begun and all(word in normalised(place.name) for word in begun)
    ]


def found_again(own: Suggestion, found: Sequence[Place]) -> list[Place]:
    """The results of a search that are the same place as a suggestion. All of them are near it.

    For a favourite, these are the results with the same name. For any other suggestion, it is at
    most one: of the results that have all words of its name, the one with the fewest further words.
    """
    point = LatLng(own.lat, own.lng)
    beside = [each for each in found if _near(point, each.position)]
    if own.slot:
        name = normalised(own.name)
        return [each for each in beside if normalised(each.name) == name]
    words = _words(own.name)
    fuller = [each for each in beside if words <= _words(each.name)]
    return sorted(fuller, key=lambda each: len(_words(each.name)))[:1]


def _words(name: str) -> set[str]:
    return set(normalised(name).split())


def _latest(drops: Sequence[RecentDrop]) -> Iterator[PlaceFacts]:
    """The last drops, each place once."""
    once: dict[str, RecentDrop] = {}
    for each in drops:
        once.setdefault(each.name, each)
    for each in list(once.values())[:LATEST_DROPS]:
        yield each.name, each.drop.lat, each.drop.lng


def _minutes(home: Property, drops: Sequence[RecentDrop]) -> dict[str, str]:
    """For each place's name, the last estimate of the ride from the property, in words."""
    start = home_trip(home)
    if start is None:
        return {}
    known = {
        each.name: formatting.minutes(each.travel_s)
        for each in reversed(drops)
        if each.travel_s is not None and _near(each.pickup, start.pickup)
    }
    return {name: _("about %(time)s", time=words) for name, words in known.items() if words}


def _near(one: LatLng, other: LatLng) -> bool:
    return distance_m(one, other) < SAME_START_M
