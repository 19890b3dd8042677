"""The two ends of a trip: as they were typed and found, or as an offer has them."""

from dataclasses import dataclass, replace

from ridedash.forms.booking import TripForm
from ridedash.geo import LatLng, distance_m
from ridedash.places import (
    Geocoder,
    Place,
    PlacesUnavailableError,
    coordinates_text,
    find_typed,
)
from ridedash.store.models.people import Property
from ridedash.store.offers import Trip, trip_of
from ridedash.store.orders import Offer
from ridedash.views.booking.estimates import SAME_POINT_M, home_point, home_trip
from ridedash.views.web.place_names import (
    coordinates_words,
    named_points,
    only_place,
    unread_words,
)
from ridedash.wording import gettext as _


@dataclass(frozen=True)
class TripEnd:
    """One end of a trip: its name and point, and advice if the point is unknown."""

    name: str = ""
    point: LatLng | None = None
    error: str = ""  # what is wrong with this end; with a point, prices can still be fetched
    choices: tuple[Place, ...] = ()

    @property
    def without_error(self) -> "TripEnd":
        """The same end without what was wrong with it, and without choices."""
        return TripEnd(self.name, self.point)

    @property
    def lat(self) -> str:
        return f"{self.point.lat:.7f}" if self.point else ""

    @property
    def lng(self) -> str:
        return f"{self.point.lng:.7f}" if self.point else ""


@dataclass(frozen=True)
class TripEnds:
    """Pickup and drop."""

    pickup: TripEnd = TripEnd()
    drop: TripEnd = TripEnd()

    @property
    def trip(self) -> Trip | None:
        """The known part of the trip; None without a pickup."""
        if self.pickup.point is None:
            return None
        trip = Trip(self.pickup.point, self.pickup.name or None)
        if self.drop.point is None:
            return trip
        return replace(trip, drop=self.drop.point, drop_name=self.drop.name or None)

    @property
    def swapped(self) -> "TripEnds":
        """The ends of the way back, without what was wrong with those of the way there."""
        return TripEnds(self.drop.without_error, self.pickup.without_error)

    def are_of(self, offer: Offer) -> bool:
        """Whether these are the ends of an offer's trip."""
        there = trip_of(offer)
        if there.drop is None and self.drop.name:
            return False
        ends = (self.pickup.point, there.pickup), (self.drop.point, there.drop)
        return all(mine == its or _same_point(mine, its) for mine, its in ends)

    def with_error(self, end: str, words: str) -> "TripEnds":
        """The same ends with an error at `end`, which is "pickup", "drop" or "" for neither."""
        if not end:
            return self
        return replace(self, **{end: replace(getattr(self, end), error=words)})


def ends_of(offer: Offer) -> TripEnds:
    """The ends of an offer's trip."""
    there = trip_of(offer)
    pickup = TripEnd(there.pickup_name or "", there.pickup)
    if there.drop is None:
        return TripEnds(pickup)
    return TripEnds(pickup, TripEnd(there.drop_name or "", there.drop))


def read_ends(trip: TripForm, geocoder: Geocoder, home: Property, *, search: bool) -> TripEnds:
    """The ends of a query or a form; the pickup defaults to the property's own.

    With `search`, names without coordinates are looked up.
    """
    start = home_trip(home)
    near = trip.point("pickup") or home_point(home)
    pickup = _end(trip, "pickup", geocoder, near, search=search)
    if pickup.point is None and not pickup.name and start:
        pickup = TripEnd(start.pickup_name or "", start.pickup)
    return TripEnds(pickup, _end(trip, "drop", geocoder, near, search=search))


def _same_point(one: LatLng | None, other: LatLng | None) -> bool:
    """Whether both points are known and the same, up to a page's rounding."""
    return one is not None and other is not None and distance_m(one, other) <= SAME_POINT_M


def _end(
    trip: TripForm, end: str, geocoder: Geocoder, near: LatLng | None, *, search: bool
) -> TripEnd:
    name = trip.name(end)
    point = trip.point(end)
    if point:
        return TripEnd(name or coordinates_text(point), point)
    if not name or not search:
        return TripEnd(name)
    try:
        typed = find_typed(geocoder, trip.typed(end), near, 6)
    except PlacesUnavailableError:
        how = coordinates_words(near)
        return TripEnd(name, error=_("Place search is not answering. Type %(how)s.", how=how))
    if typed.unread:
        return TripEnd(name, error=unread_words(typed.unread))
    found = named_points(geocoder, typed)
    if typed.is_sure:
        return TripEnd(found[0].name, found[0].position)
    best = only_place(found, name)
    if best is not None:
        return TripEnd(best.name, best.position)
    if not found:
        how = coordinates_words(near)
        return TripEnd(
            name, error=_("No place of that name. Try another word, or %(how)s.", how=how)
        )
    return TripEnd(name, error=_("Several places match. Choose one."), choices=found)
