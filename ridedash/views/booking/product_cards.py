"""Product cards: the booking page's words for each product, and the words of its button. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from ridedash.fits import UNKNOWN, Capacity, Party
from ridedash.rides.orders.fields import MOST_CARS
from ridedash.service.parsing.fields import Distance, Duration
from ridedash.service.types.estimates import ShareFare
from ridedash.service.types.products import Product
from ridedash.service.types.rate_cards import CancellationPolicy
from ridedash.views.booking.fare_breakdown import FareTable, fare_tables, usual_cost
from ridedash.views.rides.offer_price import (
    ProductPrice,
    fixed_price,
    needs_drop,
    product_price,
)
from ridedash.views.web.formatting import decimal, measured, money
from ridedash.wire import Kind
from ridedash.wording import gettext as _
from ridedash.wording import ngettext
from ridedash.wording.fits import capacity_words, too_small
from ridedash.wording.say import with_pauses

SHOWN: Final = 4  # packages of a rental on its card; the fare breakdown lists all
NO_TIME: Final = Duration(seconds=0)
NO_LENGTH: Final = Distance(metres=0)
# Pairs of a drawing in static/img/cars.svg and a pattern. A category id gets the drawing of the
# first pattern that it matches, or "car" if it matches none.
DRAWINGS: Final = (
    ("share", r"share|pool"),
    ("auto", r"auto(?!m)|rick|tuk"),
    ("bike", r"bike|moto|scooter"),
    ("rental", r"rent|hour|package"),
    ("outstation", r"out_?station|intercity"),
    ("suv", r"suv|xl|van|mpv"),
    ("lux", r"lux|prime|exec|premier|black"),
    ("sedan", r"sedan|comfort"),
    ("hatch", r"mini|micro|small|eco"),
)


def package_rule(product: Product) -> str:
    """How a package is agreed on; "" for a product without packages."""
    if not product.packages:
        return ""
    return _("The guest agrees the package with the driver; this desk can't choose it.")


def package_list(product: Product, locale: str) -> str:
    """The packages in short, the shortest first; "" when there are none."""
    return " · ".join(list(_packages(product, locale))[:SHOWN])


def _packages(product: Product, locale: str) -> Iterator[str]:
    """Each pair of duration and distance once, with its lowest price: 4 h, 40 km from ₹899."""
    by_size: dict[tuple[int, Decimal], list[Decimal]] = {}
    for package in product.packages:
        size = (package.duration or NO_TIME).seconds, (package.distance or NO_LENGTH).km
        fares = by_size.setdefault(size, [])
        if package.base_fare is not None:
            fares.append(package.base_fare)
    for (seconds, km), fares in sorted(by_size.items()):
        parts = []
        if seconds:
            parts.append(_span(seconds, locale))
        if km:
            parts.append(_("%(n)s km", n=decimal(float(km), locale)))
        if not parts:
            continue
        words = measured(parts, locale)
        if fares:
            lowest = money(min(fares), product.currency, locale)
            words += " " + _("from %(price)s", price=lowest)
        yield words


def _span(seconds: int, locale: str) -> str:
    """A duration in words: in hours if it is a multiple of half an hour, otherwise in minutes."""
    if seconds % 1800 == 0:
        return _("%(n)s h", n=decimal(seconds / 3600, locale))
    return _("%(n)d min", n=seconds // 60)


@dataclass(frozen=True)
class SeatChoice:
    """A number of seats of a shared ride and its fixed price."""

    seats: int
    label: str
    name: str  # the name of the car with the number of seats
    price: str
    was: str  # the usual price, if this one is lower
    button: str
    group: tuple[str, ...] = ()  # for 2, 3, … cars: "2 × ₹84 = ₹168"


@dataclass(frozen=True)
class Card:
    """One product card. All texts are plain text in the reader's language."""

    category: str
    name: str
    drawing: str
    eta: str
    near: bool
    private_car: bool  # whether it is neither shared, nor an auto, nor rented by the hour
    price: str  # in the shortest form: "₹210–260", "from ₹80"
    price_kind: str  # "Fixed price", "Estimate, by the meter", …
    price_text: str  # the price in words, which are stored and which the button says
    button: str
    surge: str  # a few words if rates are higher than usual, else ""
    surge_means: str  # what `surge` means for this price
    cancellation: str
    tables: tuple[FareTable, ...]
    seats: tuple[SeatChoice, ...] = ()
    rental: str = ""  # how a rental package is agreed on; "" for other cars
    packages: str = ""  # the packages, in short
    blocked: str = ""  # why it can't be booked now; "" if it can
    amount: Decimal | None = None  # the price as a number, to find the cheapest
    offer_id: int | None = None
    group: tuple[str, ...] = ()  # for 2, 3, … cars: "2 × ₹84 = ₹168"
    # for a trip without a drop: says that the guest tells the driver where to go; else ""
    open_end: str = ""
    fits: Capacity = UNKNOWN  # of one car; of a shared ride, all seats that are offered

    @property
    def room(self) -> str:
        """What fits, in words; "" if nothing is known, and for a shared ride, which shows seats."""
        if self.seats:
            return ""
        return capacity_words(self.fits)

    def too_small(self, party: Party, cars: int, seats: int = 1) -> str:
        """Why a party does not fit into this many of these cars; "" if it fits."""
        offered = {each.seats for each in self.seats}
        chosen = seats if seats in offered else min(offered, default=None)
        return too_small(self.fits, party, cars, chosen)

    def price_for(self, seats: int) -> str:
        """The price for the chosen number of seats."""
        return next((each.price for each in self.seats if each.seats == seats), self.price)

    def with_offer(self, offer_id: int) -> "Card":
        """This card with the stored offer that its button books."""
        return replace(self, offer_id=offer_id)

    def with_capacity(self, known: Capacity) -> "Card":
        """This card with what the property says to fit; the service itself tells of seats."""
        most = max((each.seats for each in self.seats), default=known.persons)
        return replace(self, fits=replace(known, persons=most))


def card(product: Product, *, has_drop: bool, locale: str) -> Card:
    """The card of a product; `has_drop`: whether the trip's end is known."""
    price = product_price(product, has_drop, locale)
    surge, surge_means = _surge(product)
    return Card(
        category=product.category,
        name=product.display_name,
        drawing=drawing(product.category),
        eta=_eta(product),
        near=not product.none_near,
        private_car=product.kind is Kind.POINT_TO_POINT and not product.packages,
        price=price.shown,
        price_kind=price.kind,
        price_text=price.text,
        button=_button(price.text),
        surge=surge,
        surge_means=surge_means,
        cancellation=cancellation_sentence(product.cancellation, product.currency, locale),
        tables=fare_tables(product, locale),
        seats=_seats(product, locale),
        rental=package_rule(product),
        packages=package_list(product, locale),
        blocked=price.blocked,
        amount=price.amount,
        group=_group(price, product.currency, locale),
        open_end="" if has_drop else _("No drop: the guest tells the driver where to go."),
    )


def without_drop(cards: tuple[Card, ...], fixed: frozenset[str]) -> tuple[Card, ...]:
    """The cards for a trip without a drop; categories in `fixed` need one for their fixed price."""
    kind = _("Fixed price, with a drop")
    blocked = needs_drop()
    return tuple(
        replace(each, price="–", price_kind=kind, blocked=blocked)
        if each.category in fixed
        else each
        for each in cards
    )


def _group(price: ProductPrice, currency: str | None, locale: str) -> tuple[str, ...]:
    words = (price.times(cars, currency, locale) for cars in range(2, MOST_CARS + 1))
    return tuple(filter(None, words))


def travel_minutes(products: Sequence[Product]) -> int | None:
    """How long the trip takes, by the first estimate that states it; None if none does."""
    estimates = (product.estimate for product in products if product.estimate)
    return next((e.travel_time.minutes for e in estimates if e.travel_time), None)


def trip_facts(products: Sequence[Product], locale: str) -> str:
    """Distance and duration of the trip, once for all cards; "" if no estimate states them."""
    estimates = (product.estimate for product in products if product.estimate)
    km = next((e.distance.km for e in estimates if e.distance), None)
    minutes = travel_minutes(products)
    parts = []
    if km is not None:
        parts.append(_("%(n)s km", n=decimal(float(km), locale)))
    if minutes is not None:
        parts.append(_("about %(n)d min on the road", n=minutes))
    return " · ".join(parts)


def preferred(
    cards: tuple[Card, ...], category: str = "", usual: str = "", *, open_end: bool = False
) -> Card | None:
    """The card to preselect: the one that most people would choose.

    The requested category, else the guest's usual one, else the cheapest private car; the last two
    only if a cab is near. For a trip without a drop, a card is preselected only with `open_end`,
    which says that the offer chosen before had no drop either; otherwise a person has to choose.
    """
    open_cards = [each for each in cards if not each.blocked and (open_end or not each.open_end)]
    requested = next((each for each in open_cards if each.category == category), None)
    usual_one = next((each for each in open_cards if each.category == usual and each.near), None)
    private = [
        each for each in open_cards if each.private_car and each.near and each.amount is not None
    ]
    by_price = sorted(private, key=lambda each: each.amount or Decimal(0))
    return requested or usual_one or next(iter(by_price), None)


def drawing(category: str) -> str:
    """The symbol of static/img/cars.svg for a category id, known or not."""
    return next((name for name, words in DRAWINGS if re.search(words, category.lower())), "car")


def cancellation_sentence(
    policy: CancellationPolicy | None, currency: str | None, locale: str
) -> str:
    """A sentence on when cancelling starts to cost, and how much, or that this is not known."""
    if policy is None or policy.charge is None:
        return _("The ride company told no cancellation rule for this car.")
    if not policy.charge:
        return _("Free to cancel.")
    fee = money(policy.charge, policy.currency or currency, locale)
    if not policy.free_minutes:
        # T: critical
        return _("Cancelling costs %(fee)s.", fee=fee)
    # T: critical
    return _("Free to cancel for %(n)d min, then %(fee)s.", n=policy.free_minutes, fee=fee)


def _button(price_text: str) -> str:
    """The words of the button; the page puts the car and where it goes in place of {car}."""
    if price_text:
        return _("Book %(car)s · %(price)s", car="{car}", price=price_text)
    return _("Book %(car)s", car="{car}")


def _eta(product: Product) -> str:
    if product.none_near:
        return _("No cab near")
    if product.eta is None:
        return _("Arrival not known")
    if product.eta.seconds < 60:
        return _("Under a minute away")
    return _("%(n)d min away", n=product.eta.minutes)


def _seats(product: Product, locale: str) -> tuple[SeatChoice, ...]:
    choices = []
    for fare in _fares(product):
        if fare.cost is None:
            continue
        fixed = fixed_price(fare.cost, product.currency, locale)
        label = ngettext("%(num)d seat", "%(num)d seats", fare.seats)
        was = money(usual_cost(fare), product.currency, locale)
        name = with_pauses(product.display_name, label)
        button = _button(fixed.text)
        group = _group(fixed, product.currency, locale)
        choices.append(SeatChoice(fare.seats, label, name, fixed.shown, was, button, group))
    return tuple(choices)


def _fares(product: Product) -> tuple[ShareFare, ...]:
    """The fares of a shared ride by seats; none for other products."""
    if product.share is None:
        return ()
    return product.share.fares


def _surge(product: Product) -> tuple[str, str]:
    """Higher rates in a few words, and their meaning; two empty texts at usual rates."""
    peak = any(_is_peak(fare.peak_time_charge) for fare in _fares(product))
    if not peak and not any(rate.rates_higher_than_usual for rate in product.rate_cards):
        return "", ""
    if peak or (product.estimate and product.estimate.upfront):
        means = _(
            "Many people want cars now, so the price is higher than usual. "
            "It is fixed: it will not rise."
        )
        return _("Busy: higher price"), means
    means = _(
        "Many people want cars now, so the meter runs at higher rates. Waiting may bring them down."
    )
    return _("Busy: higher rates"), means


def _is_peak(text: str | None) -> bool:
    """Whether a multiplier text such as "1.2x" means more than usual."""
    found = re.search(r"\d+(?:\.\d+)?", text or "")
    return found is not None and Decimal(found.group(0)) > 1
