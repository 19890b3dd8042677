"""Ride categories of the cities with rate cards, cancellation policies and rental packages."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Final, NamedTuple

from ridedash import wire

FLAT: Final = "flat_rate"
AIRPORT: Final = "airport_rate"
STANDARD: Final = "standard_rate"


class RateCard(NamedTuple):
    """The rates of a fare.

    The base fare includes `minimum_distance` (km) and `minimum_time` (minutes).
    """

    type: str
    minimum_distance: Decimal
    minimum_time: Decimal
    base_fare: Decimal
    minimum_fare: Decimal
    cost_per_distance: Decimal
    waiting_cost_per_minute: Decimal
    ride_cost_per_minute: Decimal
    night_charge: Decimal = Decimal(0)  # added once to the fare of a ride that is booked at night


class Cancellation(NamedTuple):
    """A charge in the city's currency that applies from `after_minutes` after allotment."""

    charge: int
    after_minutes: int


class Package(NamedTuple):
    """A rental package: the price of its hours and km, and the rates beyond them."""

    hours: int
    km: int
    price: Decimal
    per_extra_km: Decimal
    per_extra_minute: Decimal


@dataclass(frozen=True)
class Category:
    """A ride category of one city. `upfront`: booked by a fare_id, at a fixed price."""

    id: str
    name: str
    cards: tuple[RateCard, ...]
    cancellation: Cancellation
    cabs: int
    cars: tuple[str, ...]
    upfront: bool = False
    surges: bool = True
    packages: tuple[tuple[str, tuple[Package, ...]], ...] = ()  # by sub_category

    @property
    def kind(self) -> wire.Kind:
        """Point-to-point, share or auto."""
        return wire.kind_of(self.id)

    @property
    def rental(self) -> bool:
        """Whether the category is booked by packages."""
        return bool(self.packages)


@dataclass(frozen=True)
class Tariff:
    """The rules of one city: its categories, tax, tolls, and the billing of autos."""

    categories: tuple[Category, ...]
    tax: Decimal
    airport_toll: Decimal
    step: Decimal  # prices are multiples of this amount
    symbol: str
    plate: str  # the first letters of plates
    phone: str  # the beginning of drivers' phone numbers
    auto_billing: bool  # whether answers about autos include the metered fare
    convenience_charge: Decimal  # added to the fare of each auto
    airport_advance: Decimal  # taken from the wallet when an auto is booked at the airport

    def find(self, category_id: str) -> Category | None:
        """The category with this id, or None when it isn't offered here."""
        return next((category for category in self.categories if category.id == category_id), None)


def _card(kind: str, *amounts: str, night: str = "0") -> RateCard:
    return RateCard(kind, *(Decimal(amount) for amount in (*amounts, night)))


def _package(hours: int, km: int, price: str, per_km: str, per_minute: str) -> Package:
    return Package(hours, km, Decimal(price), Decimal(per_km), Decimal(per_minute))


#                         km   min  base   least  /km    wait   /min
_MERIDIAN: Final = Tariff(
    categories=(
        Category(
            "mini",
            "Mini",
            (
                _card(FLAT, "2.0", "0", "50.0", "80.0", "12.0", "1.5", "1.5"),
                _card(AIRPORT, "4.0", "0", "110.0", "180.0", "13.0", "2.0", "1.5"),
            ),
            Cancellation(30, 5),
            cabs=26,
            cars=("Tern Compact", "Finch Hatch"),
            upfront=True,
        ),
        Category(
            "prime",
            "Prime",
            (
                _card(FLAT, "3.0", "0", "80.0", "120.0", "16.0", "2.0", "2.0"),
                _card(AIRPORT, "5.0", "0", "160.0", "240.0", "17.0", "2.5", "2.0"),
            ),
            Cancellation(50, 5),
            cabs=18,
            cars=("Heron Sedan", "Egret Saloon"),
            upfront=True,
        ),
        Category(
            "suv",
            "Prime SUV",
            (
                _card(FLAT, "3.0", "0", "110.0", "160.0", "20.0", "2.5", "2.5", night="40"),
                _card(AIRPORT, "5.0", "0", "210.0", "320.0", "21.0", "3.0", "2.5", night="40"),
            ),
            Cancellation(60, 4),
            cabs=6,
            cars=("Osprey Estate", "Albatross Six"),
        ),
        Category(
            "auto",
            "Auto",
            (_card(STANDARD, "2.0", "0", "30.0", "30.0", "15.0", "1.0", "0"),),
            Cancellation(15, 3),
            cabs=24,
            cars=("Three-wheeler",),
            surges=False,
        ),
        Category(
            "share",
            "Share",
            (_card(STANDARD, "2.0", "0", "40.0", "55.0", "9.0", "0", "1.0"),),
            Cancellation(25, 2),
            cabs=20,
            cars=("Finch Hatch", "Heron Sedan"),
        ),
        Category(
            "rental",
            "Rental",
            (),
            Cancellation(100, 3),
            cabs=10,
            cars=("Heron Sedan",),
            surges=False,
            packages=(
                ("mini", (_package(1, 10, "199", "11", "2"), _package(2, 20, "369", "11", "2"))),
                ("prime", (_package(1, 10, "249", "14", "2"), _package(4, 40, "899", "14", "2"))),
            ),
        ),
    ),
    tax=Decimal("0.05"),
    airport_toll=Decimal(60),
    step=Decimal(1),
    symbol="₹",
    plate="PM",
    phone="+9100000",
    auto_billing=True,
    convenience_charge=Decimal(5),
    airport_advance=Decimal(40),
)
_SALTMERE: Final = Tariff(
    categories=(
        Category(
            "micro",
            "Micro",
            (_card(FLAT, "1.0", "0", "3.2", "6.0", "1.35", "0.35", "0.3", night="1.5"),),
            Cancellation(4, 5),
            cabs=20,
            cars=("Sandpiper City",),
        ),
        Category(
            "sedan",
            "Sedan",
            (
                _card(FLAT, "1.0", "0", "4.5", "8.5", "1.7", "0.45", "0.4"),
                _card(AIRPORT, "5.0", "0", "14.0", "22.0", "1.8", "0.5", "0.4"),
            ),
            Cancellation(6, 3),
            cabs=16,
            cars=("Avocet Saloon",),
            upfront=True,
        ),
        Category(
            "share",
            "Share",
            (_card(STANDARD, "1.0", "0", "2.8", "4.0", "0.9", "0", "0.2"),),
            Cancellation(3, 2),
            cabs=14,
            cars=("Sandpiper City",),
        ),
        Category(
            "auto",
            "Auto",
            (_card(STANDARD, "1.5", "0", "2.5", "2.5", "1.1", "0.2", "0"),),
            Cancellation(2, 4),
            cabs=14,
            cars=("Three-wheeler",),
            surges=False,
        ),
        Category(
            "rental",
            "Rental",
            (),
            Cancellation(12, 4),
            cabs=8,
            cars=("Avocet Saloon",),
            surges=False,
            packages=(
                (
                    "sedan",
                    (_package(1, 10, "24", "1.5", "0.4"), _package(3, 30, "62", "1.5", "0.4")),
                ),
            ),
        ),
    ),
    tax=Decimal("0.10"),
    airport_toll=Decimal("4.50"),
    step=Decimal("0.10"),
    symbol="€",
    plate="SM",
    phone="+9100001",
    auto_billing=False,
    convenience_charge=Decimal("0.30"),
    airport_advance=Decimal(0),  # the city has no airport
)
_BY_CURRENCY: Final = {"INR": _MERIDIAN, "EUR": _SALTMERE}
CATEGORY_IDS: Final = frozenset(c.id for tariff in _BY_CURRENCY.values() for c in tariff.categories)


def tariff_of(currency: str) -> Tariff:
    """The tariff of the city with this currency."""
    return _BY_CURRENCY[currency]
