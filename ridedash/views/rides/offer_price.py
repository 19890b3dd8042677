"""The price of a product or of a stored offer in words, on its card and on the ride's page."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from babel.numbers import get_currency_symbol
from pydantic import ValidationError

from ridedash.service.types.products import Product
from ridedash.store.models.orders import Offer
from ridedash.views.web.formatting import listed, money
from ridedash.wire import Kind
from ridedash.wording import gettext as _
from ridedash.wording.say import LocalisedFact

SPAN: Final = "{least}–{most}"  # the English pattern


@dataclass(frozen=True)
class ProductPrice:
    """The price of a product in the reader's language, on its card and in a sentence."""

    shown: str  # the largest text of the card
    kind: str  # "Fixed price", "Estimate, by the meter", …
    text: str  # as a sentence; "" without a price
    amount: Decimal | None  # for comparisons
    blocked: str = ""  # why the product can't be booked now
    bounds: tuple[Decimal, Decimal] | None = None  # for one car; equal for a single amount
    hedge: str = ""  # "about %(price)s", "from %(price)s"; "" for a fixed price

    def times(self, cars: int, currency: str | None, locale: str) -> str:
        """The price of several cars with its sum, as "3 × ₹84 = ₹252"; "" without a price."""
        if self.bounds is None:
            return ""
        low, high = self.bounds
        each = money_range(low, high, currency, locale)
        total = money_range(low * cars, high * cars, currency, locale)
        words = _("%(n)d × %(each)s = %(sum)s", n=cars, each=each, sum=total)
        words = words.replace(" ", "\u00a0")  # a sum must not be broken between two lines
        return self.hedge.replace("%(price)s", words) if self.hedge else words


def offer_price_text(offer: Offer, locale: str) -> str:
    """The price of an offer in a sentence of the reader's language, "" without one.

    The person who booked may have read the card in another language, so the sentence is made again
    from the stored product. The card's own sentence is used only if the product can't be read any
    more.
    """
    if offer.price_text == "":  # a way back without a price
        return ""
    if "" in offer.seat_prices:
        amount = Decimal(str(offer.seat_prices[""]))
        return fixed_price(amount, offer.currency, locale).text
    if offer.seat_prices:
        costs = {int(n): Decimal(str(cost)) for n, cost in offer.seat_prices.items()}
        return _fixed_by_seats(costs, offer.currency, locale)
    try:
        product = Product.model_validate(offer.product)
    except ValidationError:
        return offer.price_text or ""
    return product_price(product, offer.drop_lat is not None, locale).text


def product_price(product: Product, has_drop: bool, locale: str) -> ProductPrice:
    """The price of a product now; `has_drop`: whether the trip's end is known."""
    if product.packages:
        return _package_price(product, locale)
    if product.kind is Kind.SHARE:
        return _share_price(product, has_drop, locale)
    estimate = product.estimate
    if estimate and estimate.upfront and estimate.upfront_fare is not None:
        return fixed_price(estimate.upfront_fare, product.currency, locale)
    low, high = (estimate.amount_min, estimate.amount_max) if estimate else (None, None)
    low, high = low if low is not None else high, high if high is not None else low
    if low is not None and high is not None:
        shown = money_range(low, high, product.currency, locale)
        kind, text = _("Estimate, by the meter"), _("meter fare, about %(price)s", price=shown)
        hedge = _("about %(price)s")
        return ProductPrice(shown, kind, text, low, bounds=(low, high), hedge=hedge)
    return _meter_price(product, has_drop, locale)


def fixed_price(amount: Decimal, currency: str | None, locale: str) -> ProductPrice:
    """A price that the service fixes before the ride."""
    shown = money(amount, currency, locale)
    text = _("%(price)s fixed", price=shown)
    return ProductPrice(shown, _("Fixed price"), text, amount, bounds=(amount, amount))


def needs_drop() -> str:
    """The reason why a product with a fixed price can't be booked without a drop."""
    return _("Choose a drop to see the price.")


def money_range(low: Decimal, high: Decimal, currency: str | None, locale: str) -> str:
    """A range of two amounts, with the currency once: ₹210–260, 210–260 ₹."""
    # one text, so that any sentence isolates the range as a whole, whatever its writing direction
    shown = _span(_("{least}–{most}"), low, high, currency, locale)
    return shown if locale == "en" else LocalisedFact(shown, _span(SPAN, low, high, currency, "en"))


def _span(pattern: str, low: Decimal, high: Decimal, currency: str | None, locale: str) -> str:
    first, second = money(low, currency, locale), money(high, currency, locale)
    if first == second:
        return first
    symbol = get_currency_symbol(currency, locale=locale) if currency else ""
    if symbol and first.startswith(symbol):
        second = second.removeprefix(symbol).strip()
    elif symbol and second.endswith(symbol):
        first = first.removesuffix(symbol).strip()
    return pattern.replace("{least}", first).replace("{most}", second)


def _meter_price(product: Product, has_drop: bool, locale: str) -> ProductPrice:
    """The price without an estimate: the least that the rate cards allow.

    A metered car needs no drop.
    """
    least = [
        c.minimum_fare if c.minimum_fare is not None else c.base_fare for c in product.rate_cards
    ]
    known = [amount for amount in least if amount is not None]
    lowest = min(known, default=None)
    shown = (
        _("from %(price)s", price=money(lowest, product.currency, locale))
        if lowest is not None
        else _("by the meter")
    )
    text = _("meter fare, %(price)s", price=shown) if lowest is not None else _("meter fare")
    return ProductPrice(
        shown,
        _("By the meter, no estimate"),
        text,
        lowest if has_drop else None,
        bounds=(lowest, lowest) if lowest is not None else None,
        hedge=_("from %(price)s"),
    )


def _share_price(product: Product, has_drop: bool, locale: str) -> ProductPrice:
    fares = (
        {f.seats: f.cost for f in product.share.fares if f.cost is not None}
        if product.share
        else {}
    )
    if not fares:
        why = _("The ride company gave no price for a shared ride.") if has_drop else needs_drop()
        return ProductPrice("–", _("Fixed price, shared"), "", None, why)
    lowest = min(fares.values())
    text = _fixed_by_seats(fares, product.currency, locale)
    return ProductPrice(
        money(lowest, product.currency, locale), _("Fixed price, shared"), text, lowest
    )


def _fixed_by_seats(costs: Mapping[int, Decimal], currency: str | None, locale: str) -> str:
    """The fixed prices of a shared ride as a sentence, by number of seats."""
    parts = [
        _("%(price)s for %(n)d", price=money(cost, currency, locale), n=seats)
        for seats, cost in sorted(costs.items())
    ]
    return _("%(price)s fixed", price=listed(parts, locale))


def _package_price(product: Product, locale: str) -> ProductPrice:
    fares = [package.base_fare for package in product.packages if package.base_fare is not None]
    lowest = min(fares, default=None)
    shown = (
        _("from %(price)s", price=money(lowest, product.currency, locale))
        if lowest is not None
        else _("by package")
    )
    return ProductPrice(
        shown,
        _("Rental, by package"),
        _("by package, %(price)s", price=shown),
        None,
        bounds=(lowest, lowest) if lowest is not None else None,
        hedge=_("from %(price)s"),
    )
