"""The view model of the booking page: the form, two ends of a trip, its cars, a notice.

Nothing in it changes: what follows is a new page, made of another (`dataclasses.replace`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode

from ridedash.fits import Capacity
from ridedash.forms.booking import BookingForm
from ridedash.geo import LatLng, contains
from ridedash.maps import DEFAULT_ZOOM, MapParts, Shapes, map_parts
from ridedash.places import CityArea, Geocoder
from ridedash.rides.orders.due import CAR_GONE, GUARD_BUSY
from ridedash.store.models.desk import Favourite
from ridedash.store.models.people import Account, Property
from ridedash.store.orders import Offer, OrderPage
from ridedash.views.booking.estimates import EstimateFailedError, Estimates, Estimator
from ridedash.views.booking.flights import NowAsked
from ridedash.views.booking.pickup_points import ShownZone
from ridedash.views.booking.product_cards import Card, preferred
from ridedash.views.booking.trip_ends import TripEnd, TripEnds
from ridedash.views.rides.offer_price import offer_price_text
from ridedash.wording import gettext as _
from ridedash.wording.attention import reason_words


@dataclass(frozen=True)
class DeskFacts:
    """What the property has for its forms: accounts, favourite drops in the order of their keys,
    and what fits into a car, by category, where that was set.
    """

    home: Property
    accounts: list[Account]
    favourites: tuple[Favourite, ...]
    capacities: Mapping[str, Capacity]

    @property
    def asks_people(self) -> bool:
        """Whether the form asks how many travel: only where the answer can say anything."""
        return any(each.persons is not None for each in self.capacities.values())

    @property
    def asks_bags(self) -> bool:
        """Whether the form asks for luggage."""
        return any(each.bags is not None for each in self.capacities.values())


@dataclass(frozen=True)
class PriceChange:
    """The price of a product that changed since its card was shown."""

    name: str
    old: str
    new: str


@dataclass(frozen=True)
class TripCars:
    """The cars of a trip with their prices, or why there are none; neither: nothing was asked.

    `chosen` is the card that is preselected. `changed` and `gone` compare it with the car that was
    chosen last: its price has changed, or it is not offered any more, in words.
    """

    estimates: Estimates | None = None
    error: EstimateFailedError | None = None
    chosen: Card | None = None
    changed: PriceChange | None = None
    gone: str = ""

    @property
    def zone(self) -> ShownZone | None:
        """The hotspot around the pickup, if there is one."""
        if self.estimates is None:
            return None
        return self.estimates.zone

    @property
    def travel_min(self) -> int | None:
        """The duration of the ride in minutes, if the service stated it."""
        if self.estimates is None:
            return None
        return self.estimates.travel_min

    @property
    def fetched_at(self) -> datetime | None:
        """When the prices were asked for; None without prices."""
        if self.estimates is None:
            return None
        return self.estimates.fetched_at


@dataclass(frozen=True)
class FormNotice:
    """What the page says above the form about what happened before.

    `aged`: the price of the pressed car was too old. `busy` has the guest's other open rides, and
    which of them were shown. `filled_from` is the guest whose earlier ride filled in the form.
    """

    message: str = ""
    aged: bool = False
    busy: Mapping[str, Any] | None = None
    now_asked: NowAsked | None = None
    filled_from: str = ""


NO_NOTICE: Final = FormNotice()


@dataclass(frozen=True)
class BookingPage:
    """A booking form with what the page shows around it.

    `category` is that of the requested product, `changing` the planned ride that the form changes.
    """

    form: BookingForm
    desk: DeskFacts
    ends: TripEnds
    category: str = ""
    seats: int = 1
    cars: TripCars = TripCars()
    notice: FormNotice = NO_NOTICE
    changing: OrderPage | None = None

    @property
    def busy_then(self) -> bool:
        """Whether the planned ride waits for the guest's other ride."""
        if self.changing is None:
            return False
        return any(item.detail == GUARD_BUSY for item in self.changing.attention)

    @property
    def asks_party(self) -> bool:
        """Whether the form has a part about those who travel; a change of a ride has none."""
        wrong = self.form.people.errors or self.form.bags.errors
        asks = self.desk.asks_people or self.desk.asks_bags
        return self.changing is None and bool(asks or wrong)

    @property
    def account_id(self) -> int | None:
        """The chosen account if it is one of the property's; otherwise the default one."""
        own = [account.id for account in self.desk.accounts]
        chosen = self.form.account.data
        return chosen if chosen in own else next(iter(own), None)

    def place_url(self, end: str, name: str, point: LatLng) -> str:
        """The address of the page with this trip, one end moved to a place; it shows the cars."""
        pickup, drop = self.ends.pickup, self.ends.drop
        values = {
            "pickup": pickup.name,
            "pickup_lat": pickup.lat,
            "pickup_lng": pickup.lng,
            "drop": drop.name,
            "drop_lat": drop.lat,
            "drop_lng": drop.lng,
            "category": self.category,
            "show": "1",
            end: name,
            f"{end}_lat": f"{point.lat:.7f}",
            f"{end}_lng": f"{point.lng:.7f}",
        }
        return "/rides/new?" + urlencode({key: value for key, value in values.items() if value})


def with_cars(
    page: BookingPage, estimator: Estimator, before: Offer | None = None, usual: str = ""
) -> BookingPage:
    """The page with the cars of its trip, asked for now, as far as the trip is known.

    `before` is the offer that was chosen last; if its price has changed, that is shown. `usual` is
    the category of the guest's last ride.
    """
    ends = TripEnds(_named(estimator, page.ends.pickup), _named(estimator, page.ends.drop))
    if ends.trip is None or (ends.drop.error and ends.drop.point is None):
        return replace(page, ends=ends)
    try:
        estimates = estimator.estimates(ends.trip, page.account_id)
    except EstimateFailedError as error:
        ends = ends.with_error(error.end, f"{error.headline}. {error.detail}")
        return replace(page, ends=ends, cars=TripCars(error=error))
    met = estimates.trip  # its pickup may have moved to a point of a hotspot
    pickup = TripEnd(met.pickup_name or "", met.pickup, ends.pickup.error)
    if before is None:
        cars = TripCars(estimates, chosen=preferred(estimates.cards, page.category, usual))
    else:
        cars = _compared(estimates, before, usual, estimator.locale)
    return replace(page, ends=replace(ends, pickup=pickup), cars=cars)


def _compared(estimates: Estimates, before: Offer, usual: str, locale: str) -> TripCars:
    """The cars, compared with the offer that was chosen last.

    No other car is chosen in place of one that is not offered any more.
    """
    cards = estimates.cards
    category = before.category
    if all(card.category != category for card in cards):
        return TripCars(estimates, gone=reason_words(CAR_GONE))
    chosen = preferred(cards, category, usual, open_end=before.drop_lat is None)
    if chosen is None or chosen.category != category:
        return TripCars(estimates)
    changed = _price_change(before, chosen, locale)
    return TripCars(estimates, chosen=chosen, changed=changed)


def page_map(settings: Any, geocoder: Geocoder, page: BookingPage) -> MapParts:
    """The page's first map: around the trip's pickup, else a city of the place source.

    A pickup outside the known service areas gets no map of its surroundings.
    """
    cities: tuple[CityArea, ...] = geocoder.cities()
    center, zoom = LatLng(0.0, 0.0), 3
    if cities:
        center, zoom = cities[0].center, cities[0].zoom
    start = page.ends.pickup.point
    rings = [city.boundary for city in cities if len(city.boundary) > 2]
    if start and (not rings or any(contains(ring, start) for ring in rings)):
        center, zoom = start, DEFAULT_ZOOM
    shapes = Shapes(areas=tuple(city.boundary for city in cities if city.boundary))
    zone = page.cars.zone
    if zone:
        points = tuple(point.position for point in zone.points)
        shapes = replace(shapes, boundary=zone.boundary, points=points)
    return map_parts(settings, center=center, zoom=zoom, map_id="picker", shapes=shapes)


def _named(estimator: Estimator, end: TripEnd) -> TripEnd:
    if end.point is None:
        return end
    return replace(end, name=estimator.named(end.name, end.point))


def _price_change(before: Offer, chosen: Card, locale: str) -> PriceChange | None:
    old = offer_price_text(before, locale)
    if old == chosen.price_text:
        return None
    none = _("no price")
    return PriceChange(chosen.name, old or none, chosen.price_text or none)
