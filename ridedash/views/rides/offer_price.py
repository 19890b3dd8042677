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
        if not self.hedge:
            return words
        return self.hedge.replace("%(price)s", words)


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
    bounds = _estimated(product)
    if bounds is None:
        return _meter_price(product, has_drop, locale)
    shown = money_range(*bounds, product.currency, locale)
    kind = _("Estimate, by the meter")
    text = _("meter fare, about %(price)s", price=shown)
    return ProductPrice(shown, kind, text, bounds[0], bounds=bounds, hedge=_("about %(price)s"))


def _estimated(product: Product) -> tuple[Decimal, Decimal] | None:
    """The least and the most of an estimate, which may be one amount; None without one."""
    estimate = product.estimate
    if estimate is None:
        return None
    known = [each for each in (estimate.amount_min, estimate.amount_max) if each is not None]
    if not known:
        return None
    return known[0], known[-1]


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
    if locale == "en":
        return shown
    return LocalisedFact(shown, _span(SPAN, low, high, currency, "en"))


def _span(pattern: str, low: Decimal, high: Decimal, currency: str | None, locale: str) -> str:
    first = money(low, currency, locale)
    second = money(high, currency, locale)
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
    kind = _("By the meter, no estimate")
    hedge = _("from %(price)s")
    if not known:
        return ProductPrice(_("by the meter"), kind, _("meter fare"), None, hedge=hedge)
    lowest = min(known)
    shown = _("from %(price)s", price=money(lowest, product.currency, locale))
    text = _("meter fare, %(price)s", price=shown)
    amount = lowest if has_drop else None
    return ProductPrice(shown, kind, text, amount, bounds=(lowest, lowest), hedge=hedge)


def _share_price(product: Product, has_drop: bool, locale: str) -> ProductPrice:
    kind = _("Fixed price, shared")
    offered = product.share.fares if product.share else ()
    fares = {fare.seats: fare.cost for fare in offered if fare.cost is not None}
    if fares:
        lowest = min(fares.values())
        text = _fixed_by_seats(fares, product.currency, locale)
        return ProductPrice(money(lowest, product.currency, locale), kind, text, lowest)
    if not has_drop:
        return ProductPrice("–", kind, "", None, needs_drop())
    why = _("The ride company gave no price for a shared ride.")
    return ProductPrice("–", kind, "", None, why)


def _fixed_by_seats(costs: Mapping[int, Decimal], currency: str | None, locale: str) -> str:
    """The fixed prices of a shared ride as a sentence, by number of seats."""
    parts = [
        _("%(price)s for %(n)d", price=money(cost, currency, locale), n=seats)
        for seats, cost in sorted(costs.items())
    ]
    return _("%(price)s fixed", price=listed(parts, locale))


def _package_price(product: Product, locale: str) -> ProductPrice:
    fares = [package.base_fare for package in product.packages if package.base_fare is not None]
    shown = _("by package")
    bounds = None
    if fares:
        lowest = min(fares)
        shown = _("from %(price)s", price=money(lowest, product.currency, locale))
        bounds = (lowest, lowest)
    text = _("by package, %(price)s", price=shown)
    hedge = _("from %(price)s")
    return ProductPrice(shown, _("Rental, by package"), text, None, bounds=bounds, hedge=hedge)
