"""What can be booked at a place: products with their fare breakups, and hotspot zones.

See docs/service-interface.md 6.
"""

from typing import Any, Final, Self

from pydantic import Field

from ridedash.geo import LatLng
from ridedash.service.parsing import fields
from ridedash.service.parsing.fields import (
    Distance,
    Duration,
    Fact,
    currency,
    flag,
    ident,
    integer,
    items,
    link,
    number,
    row,
    rows,
    text,
)
from ridedash.service.parsing.units import duration, length, length_unit, time_unit
from ridedash.service.types.estimates import Estimate, ShareEstimate
from ridedash.service.types.rate_cards import CancellationPolicy, Package, RateCard
from ridedash.wire import Kind, kind_of

RATE_CARDS_LIMIT: Final = 20
PRODUCTS_LIMIT: Final = 60


class Product(Fact):
    """A ride category that can be booked here (docs/service-interface.md Product category)."""

    category: str  # the category id
    display_name: str
    kind: Kind
    currency: str | None = None
    distance_unit: str | None = "kilometre"  # kilometre, metre or mile: the unit of the rate cards
    time_unit: str | None = "minute"  # second, minute, hour or day
    # time until the nearest cab is at the pickup; None if no cab is near, or if it is unknown
    eta: Duration | None = None
    none_near: bool = False  # the service sent -1: no cab of this category is near
    nearest: Distance | None = None  # distance of the nearest cab
    ride_later: bool | None = None
    image: str | None = None  # https only, may be dead; never make a page depend on it
    select_applicable: bool | None = None
    rate_cards: tuple[RateCard, ...] = ()
    cancellation: CancellationPolicy | None = None
    estimate: Estimate | None = None  # for categories other than share, when a drop was given
    share: ShareEstimate | None = None  # for share, when a drop was given
    packages: tuple[Package, ...] = ()  # rental
    # the zone's points that serve this category; empty: all of them
    pickup_point_ids: tuple[int, ...] = ()

    @classmethod
    def from_wire(cls, value: Any) -> Self | None:
        """Parse one element of `categories`; None without a category id.

        ProductList adds estimates.
        """
        got = row(value)
        category = ident(got.get("id"))
        if category is None:
            return None
        points = (integer(each) for each in items(got.get("hotspot_pickup_points")))
        return cls(
            category=category,
            display_name=text(got.get("display_name")) or category,
            kind=kind_of(category),
            currency=currency(got.get("currency")),
            ride_later=flag(got.get("ride_later_enabled")),
            image=link(got.get("image")),
            select_applicable=flag(got.get("select_applicable")),
            rate_cards=tuple(map(RateCard.from_wire, rows(got.get("fare_breakup"))))[
                :RATE_CARDS_LIMIT
            ],
            cancellation=CancellationPolicy.from_wire(got.get("cancellation_policy")),
            packages=Package.list_from_wire(got.get("sub_categories")),
            pickup_point_ids=tuple(each for each in points if each is not None),
            **_nearness(got),
        )


def _nearness(got: dict[str, Any]) -> dict[str, Any]:
    """The nearest cab, in the product's own units; -1 means that there is none.

    See docs/field-notes.md.
    """
    of_time = got.get("time_unit")
    of_length = got.get("distance_unit")
    eta = number(got.get("eta"))
    return {
        "distance_unit": length_unit(of_length),
        "time_unit": time_unit(of_time),
        "eta": duration(eta, of_time),
        "none_near": eta is not None and eta < 0,
        "nearest": length(got.get("distance"), of_length),
    }


class PickupPoint(Fact):
    """A named place where cabs of a hotspot wait."""

    id: int
    name: str
    position: LatLng

    @classmethod
    def from_wire(cls, value: Any) -> Self | None:
        """Parse one element of `pickup_points`; None without its id or position."""
        got = row(value)
        key = integer(got.get("id"))
        position = fields.place(got)
        if key is None or position is None:
            return None
        return cls(id=key, name=text(got.get("name")) or f"Pickup point {key}", position=position)


class HotspotZone(Fact):
    """The zone around a pickup in which one of the pickup points must be chosen.

    See docs/service-interface.md Hotspot zone.
    """

    is_hotspot: bool = True
    description: str | None = None
    boundary: tuple[LatLng, ...] = ()
    points: tuple[PickupPoint, ...] = ()
    # None when the service sent none, or one that is not among `points`
    default_point_id: int | None = None

    @classmethod
    def from_wire(cls, value: Any) -> Self | None:
        """Parse `hotspot_zone`; None when the pickup is not in a zone."""
        got = row(value)
        if not flag(got.get("is_hotpot_zone")):  # the misspelling is the service's
            return None
        read = (PickupPoint.from_wire(each) for each in rows(got.get("pickup_points")))
        points = {point.id: point for point in read if point is not None}
        default = integer(got.get("default_pickup_point_id"))
        return cls(
            description=text(got.get("desc")),
            boundary=fields.ring(got.get("hotspot_boundary")),
            points=tuple(points.values()),
            default_point_id=default if default in points else None,
        )


class ProductList(Fact):
    """The answer of products. `hotspot` is None when the pickup is not in a hotspot zone."""

    hotspot: HotspotZone | None = None
    products: tuple[Product, ...] = Field(default=())

    def product(self, category: str) -> Product | None:
        """The product of a category id, or None."""
        return next((each for each in self.products if each.category == category), None)

    @classmethod
    def from_wire(cls, body: Any) -> Self:
        """Parse the body of products; only invalid parts are left out. Raises nothing."""
        got = row(body)
        zone = HotspotZone.from_wire(got.get("hotspot_zone"))
        products: dict[str, Product] = {}
        for product in map(Product.from_wire, rows(got.get("categories"))):
            if product is not None:
                products.setdefault(product.category, product)
        first = [*products.values()][:PRODUCTS_LIMIT]
        estimated = _estimated(first, rows(got.get("ride_estimate")))
        return cls(
            hotspot=zone, products=tuple(_with_known_points(each, zone) for each in estimated)
        )


def _estimated(products: list[Product], estimates: list[dict[str, Any]]) -> list[Product]:
    """The products, each with its element of `ride_estimate`.

    If there is only one product, an estimate without a category belongs to it.
    """
    lone = products[0].category if len(products) == 1 else None
    by_category = {ident(each.get("category")) or lone: each for each in estimates}
    return [_with_estimate(each, by_category.get(each.category)) for each in products]


def _with_estimate(product: Product, estimate: dict[str, Any] | None) -> Product:
    if not estimate:
        return product
    if product.kind is Kind.SHARE:
        return product.model_copy(update={"share": ShareEstimate.from_wire(estimate)})
    return product.model_copy(update={"estimate": Estimate.from_wire(estimate)})


def _with_known_points(product: Product, zone: HotspotZone | None) -> Product:
    points = zone.points if zone else ()
    known = {point.id for point in points}
    ids = tuple(each for each in product.pickup_point_ids if each in known)
    return product.model_copy(update={"pickup_point_ids": ids})
