"""What can be booked at a place: products with their fare breakups, and hotspot zones (Endpoints, 6)."""

from decimal import Decimal
from typing import Any, Self

from pydantic import Field

from ridedash.geo import LatLng
from ridedash.service.estimates import Estimate, ShareEstimate
from ridedash.service.fields import Distance, Duration, Fact
from ridedash.wire import Kind


class Surcharge(Fact):
    """One element of `surcharge`; its shape is not shown, so each part is optional."""

    name: str | None = None
    type: str | None = None  # e.g. a multiplier, a percentage or an amount
    value: Decimal | None = None
    description: str | None = None


class RateCard(Fact):
    """One element of `fare_breakup`. Amounts are in the product's currency, per the product's units.

    `flat_rate` and `airport_rate` carry the numbers, `standard_rate` carries `fare`, a descriptive text;
    further types occur.
    """

    type: str | None = None  # flat_rate, airport_rate, standard_rate, or others
    minimum_distance: Decimal | None = None  # in the product's distance_unit
    minimum_time: Decimal | None = None  # in the product's time_unit
    base_fare: Decimal | None = None
    minimum_fare: Decimal | None = None
    cost_per_distance: Decimal | None = None  # for each distance_unit
    waiting_cost_per_minute: Decimal | None = None
    ride_cost_per_minute: Decimal | None = None
    night_time_charges: Decimal | None = None  # the text NA is None
    night_time_duration: str | None = None  # the text NA is None
    rates_higher_than_usual: bool = False  # surge
    surcharges: tuple[Surcharge, ...] = ()
    fare: str | None = None  # descriptive text


class CancellationPolicy(Fact):
    """Cancelling is free until `applies_after` has passed, then costs `charge` (Limits, 6)."""

    charge: Decimal | None = None
    currency: str | None = None
    applies_after: Duration | None = None


class Package(Fact):
    """One rental package: so long and so far for a base fare, then by distance and minute."""

    sub_category: str | None = None  # what feedback options need for rental
    display_name: str | None = None
    duration: Duration | None = None
    distance: Distance | None = None
    base_fare: Decimal | None = None
    cost_per_distance: Decimal | None = None  # beyond `distance`, for each distance_unit
    ride_cost_per_minute: Decimal | None = None  # beyond `duration`


class Product(Fact):
    """A ride category that can be booked here (Product category)."""

    category: str  # the category id
    display_name: str
    kind: Kind
    currency: str | None = None
    distance_unit: str | None = "kilometre"  # kilometre, metre or mile: the unit of the rate cards
    time_unit: str | None = "minute"  # second, minute, hour
    eta: Duration | None = None  # until the nearest cab is at the pickup; None when none is near or unknown
    none_near: bool = False  # the service said -1: no cab of this category is near
    nearest: Distance | None = None  # of the nearest cab
    ride_later: bool | None = None
    image: str | None = None  # https only, may be dead; never make a page depend on it
    select_applicable: bool | None = None
    rate_cards: tuple[RateCard, ...] = ()
    cancellation: CancellationPolicy | None = None
    estimate: Estimate | None = None  # other than share, when a drop was given
    share: ShareEstimate | None = None  # share, when a drop was given
    packages: tuple[Package, ...] = ()  # rental
    pickup_point_ids: tuple[int, ...] = ()  # the zone's points that serve this category; empty: all of them


class PickupPoint(Fact):
    """A named place where cabs of a hotspot wait."""

    id: int
    name: str
    position: LatLng


class HotspotZone(Fact):
    """The zone around a pickup where a point must be chosen (Hotspot zone)."""

    is_hotspot: bool = True
    description: str | None = None
    boundary: tuple[LatLng, ...] = ()
    points: tuple[PickupPoint, ...] = ()
    default_point_id: int | None = None  # None when the service named one that is not among the points


class ProductList(Fact):
    """The answer of products. `hotspot` is None when the pickup is not in a hotspot zone."""

    hotspot: HotspotZone | None = None
    products: tuple[Product, ...] = Field(default=())

    def product(self, category: str) -> Product | None:
        """The product of a category id, or None."""
        return next((each for each in self.products if each.category == category), None)

    @classmethod
    def from_wire(cls, body: Any) -> Self:
        """Read the body of products; whatever is wrong in it is left out alone. Never raises."""
        raise NotImplementedError
