"""The view model of the booking page: two ends of a trip, product cards, the form."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from ridedash.fits import Capacity
from ridedash.forms import DEPARTS, LANDS, BookingForm, TripForm
from ridedash.geo import LatLng, contains, distance_m
from ridedash.maps import DEFAULT_ZOOM, MapParts, Shapes, map_parts
from ridedash.places import (
    CityArea,
    Geocoder,
    Place,
    PlacesUnavailableError,
    coordinates_text,
    find_typed,
)
from ridedash.rides.orders.due import CAR_GONE, GUARD_BUSY
from ridedash.rides.orders.fields import FIELDS, Refill
from ridedash.rides.orders.request import ordered_value
from ridedash.rides.states import has_failed
from ridedash.store.models.desk import Favourite
from ridedash.store.models.people import Account, Guest, Property
from ridedash.store.offers import Trip, trip_of
from ridedash.store.orders import Offer, Order, OrderPage, OrderState
from ridedash.views.booking.estimates import (
    SAME_POINT_M,
    EstimateFailedError,
    Estimates,
    Estimator,
    home_trip,
    refused,
)
from ridedash.views.booking.product_cards import Card, preferred
from ridedash.views.rides.offer_price import offer_price_text
from ridedash.views.web.place_names import (
    coordinates_words,
    named_points,
    only_place,
    unread_words,
)
from ridedash.wording import gettext as _
from ridedash.wording.attention import reason_words
from ridedash.wording.typed_times import departure_text


@dataclass(frozen=True)
class TripEnd:
    """One end of a trip: its name and point, and advice if the point is unknown."""

    name: str = ""
    point: LatLng | None = None
    error: str = ""  # what is wrong with this end; with a point, prices can still be fetched
    choices: tuple[Place, ...] = ()

    @property
    def lat(self) -> str:
        return f"{self.point.lat:.7f}" if self.point else ""

    @property
    def lng(self) -> str:
        return f"{self.point.lng:.7f}" if self.point else ""


@dataclass(frozen=True)
class PriceChange:
    """The price of a product that changed since its card was shown."""

    name: str
    old: str
    new: str


@dataclass
class BookingPage:
    """The page's view model. `chosen` is the card that is preselected."""

    form: BookingForm
    home: Property
    accounts: list[Account]
    pickup: TripEnd = field(default_factory=TripEnd)
    drop: TripEnd = field(default_factory=TripEnd)
    category: str = ""  # category of the requested product
    usual: str = ""  # category of the guest's last ride
    favourites: tuple[Favourite, ...] = ()  # the property's favourite drops, in order of their keys
    capacities: Mapping[str, Capacity] = field(default_factory=dict)  # by category, where set
    estimates: Estimates | None = None
    error: EstimateFailedError | None = None
    chosen: Card | None = None
    seats: int = 1
    changed: PriceChange | None = None
    # the guest's other open rides, and which of them were shown
    busy: Mapping[str, Any] | None = None
    again: OrderPage | None = None  # the order that the form books again
    filled_from: str = ""  # the guest whose earlier ride filled in the form
    changing: OrderPage | None = None  # the planned ride that the form changes
    message: str = ""
    now_asked: Any = None  # the question (flights.NowAsked) whether a car is meant now
    aged: bool = False  # whether the price of the pressed car was too old
    gone: str = ""  # a message that the car which was chosen last is not offered any more

    @property
    def busy_then(self) -> bool:
        """Whether the planned ride waits for the guest's other ride."""
        if self.changing is None:
            return False
        return any(item.detail == GUARD_BUSY for item in self.changing.attention)

    @property
    def asks_people(self) -> bool:
        """Whether the form asks how many travel: only where the answer can say anything."""
        return any(each.persons is not None for each in self.capacities.values())

    @property
    def asks_bags(self) -> bool:
        """Whether the form asks for luggage."""
        return any(each.bags is not None for each in self.capacities.values())

    @property
    def asks_party(self) -> bool:
        """Whether the form has a part about those who travel; a change of a ride has none."""
        wrong = self.form.people.errors or self.form.bags.errors
        return self.changing is None and bool(self.asks_people or self.asks_bags or wrong)

    @property
    def trip(self) -> Trip | None:
        """The known part of the trip; None without a pickup."""
        if self.pickup.point is None:
            return None
        drop = self.drop.point
        return Trip(
            self.pickup.point,
            self.pickup.name or None,
            drop,
            (self.drop.name or None) if drop else None,
        )

    def fetch_estimates(self, estimator: Estimator, before: Offer | None = None) -> None:
        """Fetch product cards for the trip.

        `before` is the offer that was chosen last; if its price has changed, that is shown.
        """
        self.pickup, self.drop = _named(estimator, self.pickup), _named(estimator, self.drop)
        if self.trip is None or (self.drop.error and self.drop.point is None):
            return
        try:
            self.estimates = estimator.estimates(self.trip, self._account_id())
        except EstimateFailedError as error:
            self.error = error
            self._show_end_error(error.end, f"{error.headline}. {error.detail}")
            return
        self.pickup = TripEnd(
            self.estimates.trip.pickup_name or "", self.estimates.trip.pickup, self.pickup.error
        )
        category = before.category if before else self.category
        open_end = before is not None and before.drop_lat is None
        self.chosen = preferred(self.estimates.cards, category, self.usual, open_end=open_end)
        if before and self.chosen and self.chosen.category != before.category:
            # no other car is chosen in place of one that is not offered any more
            self.chosen = None
        if before and self.chosen:
            self.changed = _price_change(before, self.chosen, estimator.locale)
        offered = {card.category for card in self.estimates.cards}
        if before and offered and before.category not in offered:
            self.gone = reason_words(CAR_GONE)

    def use_trip_of(self, offer: Offer) -> None:
        """Set the two ends of an offer's trip."""
        self.pickup = TripEnd(offer.pickup_name or "", LatLng(offer.pickup_lat, offer.pickup_lng))
        self.drop = TripEnd()
        if offer.drop_lat is not None and offer.drop_lng is not None:
            self.drop = TripEnd(offer.drop_name or "", LatLng(offer.drop_lat, offer.drop_lng))

    def is_trip_of(self, offer: Offer) -> bool:
        """Whether the two ends in the fields are those of an offer's trip."""
        there = trip_of(offer)
        if there.drop is None and self.drop.name:
            return False
        ends = (self.pickup.point, there.pickup), (self.drop.point, there.drop)
        return all(mine == its or _same_point(mine, its) for mine, its in ends)

    def refill(self, page: OrderPage, occasion: Refill) -> None:
        """Fill in the form from an earlier order, as FIELDS states; the form token stays."""
        form, order = self.form, page.order
        self.category, self.seats = page.offer.category, order.seats or 1
        self.filled_from = page.guest.name
        self.use_trip_of(page.offer)
        self._fill_guest(page.guest, order.room)
        for each in FIELDS:
            if occasion in each.refill:
                form[each.form].data = ordered_value(order, each) or ""
        if occasion is not Refill.RETURN:
            self._fill_flight(order)
        if has_failed(OrderState(order.state), page.ride.status if page.ride else None):
            self.again, form.supersedes.data = page, order.id
        if order.state == OrderState.REJECTED:
            words = refused(order.code, order.message)
            self._show_end_error(words.end, words.sentences)

    def refill_for_return(self, page: OrderPage) -> None:
        """Fill in the form for the trip back: the same guest from the ride's drop to its pickup."""
        self.refill(page, Refill.RETURN)
        pickup, drop = self.pickup, self.drop
        self.pickup, self.drop = TripEnd(drop.name, drop.point), TripEnd(pickup.name, pickup.point)
        self.again, self.form.supersedes.data = None, None

    def _fill_flight(self, order: Order) -> None:
        """Fill in a flight's time; with it or a flight number, the ride is for a flight."""
        form, departs_at = self.form, order.departs_at
        form.flight_way.data = LANDS if order.flight_lands else DEPARTS
        form.departs.data = departure_text(departs_at, form.tz) if departs_at else ""
        form.for_flight.data = bool(form.flight.data or form.departs.data)

    def _fill_guest(self, guest: Guest, room: str | None) -> None:
        if guest.erased_at is not None:
            self.filled_from = ""
            return
        self.form.known_phones = frozenset({guest.phone or "", guest.phone2 or ""} - {""})
        of_this_ride = {"guest_id": guest.id, "room": room, "phone_as_typed": ""}
        for each in FIELDS:
            if each.guest in of_this_ride:
                self.form[each.form].data = of_this_ride[each.guest] or ""
            elif each.guest:
                self.form[each.form].data = getattr(guest, each.guest) or ""

    def _show_end_error(self, end: str, words: str) -> None:
        """Show an error at an end; do nothing if `end` is ""."""
        if end == "pickup":
            self.pickup = replace(self.pickup, error=words)
        elif end == "drop":
            self.drop = replace(self.drop, error=words)

    def url(self, **ends: LatLng | str) -> str:
        """The address of the page with this trip, showing its cars; `ends` replace its values."""
        values = {
            "pickup": self.pickup.name,
            "pickup_lat": self.pickup.lat,
            "pickup_lng": self.pickup.lng,
            "drop": self.drop.name,
            "drop_lat": self.drop.lat,
            "drop_lng": self.drop.lng,
            "category": self.category,
            "show": "1",
        } | {key: str(value) for key, value in ends.items()}
        return "/rides/new?" + urlencode({key: value for key, value in values.items() if value})

    def place_url(self, end: str, name: str, point: LatLng) -> str:
        """The page's address with one end moved to a place."""
        return self.url(
            **{end: name, f"{end}_lat": f"{point.lat:.7f}", f"{end}_lng": f"{point.lng:.7f}"}
        )

    def _account_id(self) -> int | None:
        """The chosen account if it is one of the property's; otherwise the default one."""
        own = [account.id for account in self.accounts]
        chosen = self.form.account.data
        return chosen if chosen in own else next(iter(own), None)


def read_ends(
    trip: TripForm, geocoder: Geocoder, home: Property, *, search: bool
) -> tuple[TripEnd, TripEnd]:
    """Pickup and drop of a trip; the pickup defaults to the property's own.

    With `search`, names without coordinates are looked up.
    """
    start = home_trip(home)
    near = trip.point("pickup") or (start.pickup if start else None)
    pickup = _end(trip, "pickup", geocoder, near, search=search)
    if pickup.point is None and not pickup.name and start:
        pickup = TripEnd(start.pickup_name or "", start.pickup)
    return pickup, _end(trip, "drop", geocoder, near, search=search)


def page_map(settings: Any, geocoder: Geocoder, booking_page: BookingPage) -> MapParts:
    """The page's first map: around the trip's pickup, else a city of the place source.

    A pickup outside the known service areas gets no map of its surroundings.
    """
    cities: tuple[CityArea, ...] = geocoder.cities()
    zone = booking_page.estimates.zone if booking_page.estimates else None
    center, zoom = LatLng(0.0, 0.0), 3
    if cities:
        center, zoom = cities[0].center, cities[0].zoom
    start = booking_page.pickup.point
    rings = [city.boundary for city in cities if len(city.boundary) > 2]
    if start and (not rings or any(contains(ring, start) for ring in rings)):
        center, zoom = start, DEFAULT_ZOOM
    return map_parts(
        settings,
        center=center,
        zoom=zoom,
        map_id="picker",
        shapes=Shapes(
            areas=tuple(city.boundary for city in cities if city.boundary),
            boundary=zone.boundary if zone else (),
            points=tuple(point.position for point in zone.points) if zone else (),
        ),
    )


def _same_point(one: LatLng | None, other: LatLng | None) -> bool:
    """Whether both points are known and the same, up to a page's rounding."""
    return one is not None and other is not None and distance_m(one, other) <= SAME_POINT_M


def _named(estimator: Estimator, end: TripEnd) -> TripEnd:
    return replace(end, name=estimator.named(end.name, end.point)) if end.point else end


def _price_change(before: Offer, chosen: Card, locale: str) -> PriceChange | None:
    old = offer_price_text(before, locale)
    if old == chosen.price_text:
        return None
    none = _("no price")
    return PriceChange(chosen.name, old or none, chosen.price_text or none)


def _end(
    trip: TripForm, end: str, geocoder: Geocoder, near: LatLng | None, *, search: bool
) -> TripEnd:
    name, point = trip.name(end), trip.point(end)
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
