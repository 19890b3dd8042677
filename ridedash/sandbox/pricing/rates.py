"""Amounts of money, all Decimal: surge, fares by rate card, share fares, prices of rides."""

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final
from zoneinfo import ZoneInfo

from ridedash import wire
from ridedash.sandbox.pricing.categories import AIRPORT, Category, Package, RateCard, Tariff

FREE_WAITING_MINUTES: Final = Decimal(2)  # a driver's patience; waiting costs from the third minute
PEAK_HOURS: Final = ((8, 10), (18, 20))  # local time, [from, to)
NIGHT_FROM, NIGHT_TO = 23, 5  # hours between which its night charge is added
NIGHT_RATIO: Final = Decimal("1.5")  # factor on auto fares
SURGE: Final = Decimal("1.3")  # a difference that people see, in the rush hours
SHARE_SURGE: Final = Decimal("1.2")  # a shared cab rises less than one's own
SHARE_OF_FULL_FARE: Final = Decimal("0.8")  # a seat in a shared cab is a fifth cheaper than the cab
SECOND_SEAT: Final = Decimal("1.6")  # two seats cost less than twice one
ONE: Final = Decimal(1)  # no surge, no night charge, one seat
COUPONS: Final = {"WELCOME10": Decimal(10), "HARBOUR20": Decimal(20)}  # percent off
CENT: Final = Decimal("0.01")  # amounts are rounded to hundredths


@dataclass(frozen=True)
class Price:
    """The price of a trip, with the fields of `price_details`."""

    fare: Decimal
    tax: Decimal
    toll: Decimal = Decimal(0)
    discount_percentage: Decimal = Decimal(0)
    discount: Decimal = Decimal(0)

    @property
    def total(self) -> Decimal:
        """Fare, tax and toll minus the discount."""
        return self.fare + self.tax + self.toll - self.discount

    def details(self) -> dict[str, float]:
        """The object `price_details`."""
        return {
            "fare": number(self.fare),
            "service_tax": number(self.tax),
            "discount_percentage": number(self.discount_percentage),
            "discount_value": number(self.discount),
            "toll_charges": number(self.toll),
        }


@dataclass(frozen=True)
class Terms:
    """The terms on which a booking is priced, determined when it is made.

    `fixed` is a total that was agreed before the ride, with tax and toll included. `advance` is
    what was taken from the wallet before the ride.
    """

    surge: Decimal
    airport: bool
    night: bool
    coupon: str | None
    fixed: Decimal | None
    advance: Decimal = Decimal(0)

    def to_json(self) -> dict[str, Any]:
        """A JSON object that from_json reads."""
        fixed = None if self.fixed is None else str(self.fixed)
        return {
            "surge": str(self.surge),
            "airport": self.airport,
            "night": self.night,
            "coupon": self.coupon,
            "fixed": fixed,
            "advance": str(self.advance),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Terms":
        """The terms that to_json wrote; those of an earlier version have no advance."""
        return cls(
            surge=Decimal(data["surge"]),
            airport=data["airport"],
            night=data["night"],
            coupon=data["coupon"],
            fixed=None if data["fixed"] is None else Decimal(data["fixed"]),
            advance=Decimal(data.get("advance", "0")),
        )


@dataclass(frozen=True)
class Driven:
    """A journey for pricing: km, minutes of driving and minutes of waiting."""

    km: Decimal
    minutes: Decimal
    waiting: Decimal = Decimal(0)


def local(now: float, zone: str) -> datetime:
    """Service time in the time zone of a city."""
    return datetime.fromtimestamp(now, UTC).astimezone(ZoneInfo(zone))


def surge(category: Category, when: datetime) -> Decimal:
    """The multiplier at a local time: above 1 in the morning and evening peaks of weekdays."""
    peak = any(start <= when.hour < end for start, end in PEAK_HOURS) and when.weekday() < 5
    if not peak or not category.surges:
        return ONE
    if category.id == "share":
        return SHARE_SURGE
    return SURGE


def is_night(when: datetime) -> bool:
    """Whether night charges apply at a local time."""
    return when.hour >= NIGHT_FROM or when.hour < NIGHT_TO


def card_for(category: Category, airport: bool) -> RateCard:
    """The rate card for a trip: the airport's for airport trips, if the category has one."""
    fitting = [card for card in category.cards if (card.type == AIRPORT) == airport]
    return (fitting or list(category.cards))[0]


def metered(card: RateCard, driven: Driven, multiplier: Decimal) -> Decimal:
    """The fare of a rate card before tax."""
    distance = max(Decimal(0), driven.km - card.minimum_distance) * card.cost_per_distance
    time = max(Decimal(0), driven.minutes - card.minimum_time) * card.ride_cost_per_minute
    waiting = max(Decimal(0), driven.waiting - FREE_WAITING_MINUTES) * card.waiting_cost_per_minute
    return cents(max(card.minimum_fare, card.base_fare + distance + time + waiting) * multiplier)


def packaged(package: Package, driven: Driven) -> Decimal:
    """The fare of a rental package before tax, with the km and minutes beyond it."""
    more_km = max(Decimal(0), driven.km - package.km) * package.per_extra_km
    more_minutes = max(Decimal(0), driven.minutes - package.hours * 60) * package.per_extra_minute
    return cents(package.price + more_km + more_minutes)


def price(tariff: Tariff, category: Category, terms: Terms, driven: Driven) -> Price:
    """The price of a journey: the fixed total split up, or the metered fare plus tax and toll."""
    toll = tariff.airport_toll if terms.airport and not category.rental else Decimal(0)
    if terms.fixed is not None:
        toll = min(toll, terms.fixed)
        fare = cents((terms.fixed - toll) / (1 + tariff.tax))
        tax = terms.fixed - toll - fare
    else:
        fare = _meter(category, terms, driven)
        tax = cents(fare * tariff.tax)
    percent = COUPONS.get(terms.coupon or "", Decimal(0))
    return Price(fare, tax, toll, percent, cents(fare * percent / 100))


def _meter(category: Category, terms: Terms, driven: Driven) -> Decimal:
    if category.rental:
        return packaged(category.packages[0][1][0], driven)
    card = card_for(category, terms.airport)
    ratio = NIGHT_RATIO if terms.night and category.kind is wire.Kind.AUTO else ONE
    fare = metered(card, driven, terms.surge * ratio)
    if terms.night:
        fare += card.night_charge
    return fare


def convenience_charge(tariff: Tariff, category: Category) -> Decimal:
    """The amount that the service adds to the fare of an auto; nothing for other categories."""
    if category.kind is not wire.Kind.AUTO:
        return Decimal(0)
    return tariff.convenience_charge


def fixed_total(tariff: Tariff, category: Category, terms: Terms, driven: Driven) -> Decimal:
    """The price of an upfront trip, rounded to the step of the tariff."""
    return rounded(price(tariff, category, terms, driven).total, tariff.step)


def share_cost(
    tariff: Tariff, category: Category, terms: Terms, driven: Driven, seats: int
) -> tuple[Decimal, Decimal]:
    """(actual_cost, cost): the fare of an unshared car and the fixed share fare, tax included."""
    alone = metered(category.cards[0], driven, terms.surge) * (1 + tariff.tax) / SHARE_OF_FULL_FARE
    each = SECOND_SEAT if seats == 2 else ONE
    actual = rounded(alone * each, tariff.step)
    cost = rounded(alone * each * SHARE_OF_FULL_FARE, tariff.step)
    return actual, cost


def cents(amount: Decimal) -> Decimal:
    """Round an amount to hundredths."""
    return amount.quantize(CENT, ROUND_HALF_UP)


def rounded(amount: Decimal, step: Decimal) -> Decimal:
    """Round an amount to a multiple of `step`."""
    return cents((amount / step).quantize(ONE, ROUND_HALF_UP) * step)


def number(amount: Decimal) -> float:
    """An amount as a JSON number; whole amounts become integers."""
    if amount == amount.to_integral_value():
        return int(amount)
    return float(amount)
