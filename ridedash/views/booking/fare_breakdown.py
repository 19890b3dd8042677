"""The fare of a product as tables: rate cards, estimate, share fares, packages. Pure."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Final

from ridedash.service.types.estimates import (
    Discounts,
    Estimate,
    HubCharges,
    ShareEstimate,
    ShareFare,
)
from ridedash.service.types.products import Product
from ridedash.service.types.rate_cards import Package, RateCard, Surcharge
from ridedash.views.web.formatting import exact, money
from ridedash.wording import gettext as _
from ridedash.wording import lazy, ngettext

UNITS: Final = {
    "kilometre": (lazy("km"), lazy("km")),
    "metre": (lazy("m"), lazy("m")),
    "mile": (lazy("mi"), lazy("mile")),
    "second": (lazy("s"), lazy("second")),
    "minute": (lazy("min"), lazy("min")),
    "hour": (lazy("h"), lazy("hour")),
    "day": (lazy("days"), lazy("day")),
}
AMOUNT: Final = re.compile(r"\d+(?:[.,]\d+)*")
Pay = Callable[[Decimal | None], str]
Number = Callable[[Decimal], str]


class ServiceWords(str):
    """Words in the service's English; pages mark them as English (`as_sent` of macros)."""

    __slots__ = ()
    sent: Final = True


@dataclass(frozen=True)
class FareTable:
    """One table of a fare breakdown: lines of (what, amount with unit), and sentences below."""

    title: str
    lines: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()


def fare_tables(product: Product, locale: str) -> tuple[FareTable, ...]:
    """Everything that the service sent about the price of a product, in the order of the page."""
    pay = partial(_pay, currency=product.currency, locale=locale)
    number = partial(exact, locale=locale)
    tables = []
    if product.share:
        tables.append(_share_table(product.share, pay))
    if product.estimate:
        tables.append(_estimate_table(product.estimate, pay, number))
    tables += [_package_table(package, product, pay, number) for package in product.packages]
    tables += [_rate_table(card, product, pay, number) for card in product.rate_cards]
    if product.nearest is not None:
        away = _measure(product.nearest.km, _("km"), number)
        tables.append(FareTable(_("Now"), ((_("Nearest car"), away),)))
    return tuple(table for table in tables if table.lines or table.notes)


def unit_words(unit: str | None) -> tuple[str, str]:
    """The words of a unit after a number ("days") and after "per" ("day")."""
    after, per = UNITS.get(unit or "", (unit or "", unit or _("unit")))
    return str(after), str(per)


def _pay(amount: Decimal | None, currency: str | None, locale: str) -> str:
    return money(amount, currency, locale)


def _lines(*pairs: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((what, amount) for what, amount in pairs if amount)


def _per(amount: Decimal | None, unit: str, pay: Pay) -> str:
    return "" if amount is None else _("%(money)s per %(unit)s", money=pay(amount), unit=unit)


def _measure(value: Decimal | None, unit: str, number: Number) -> str:
    return "" if value is None else f"{number(value)} {unit}".strip()


def rate_title(kind: str | None) -> str:
    """The name of a rate card; types beyond the published ones are shown as words."""
    known = {
        "flat_rate": _("City rate"),
        "airport_rate": _("Airport rate"),
        "standard_rate": _("Standard rate"),
    }
    name = (kind or "").strip()
    words = " ".join(name.replace("_", " ").replace("-", " ").split())
    return known.get(name.lower()) or ServiceWords(words[:1].upper() + words[1:]) or _("Rate")


def _rate_table(card: RateCard, product: Product, pay: Pay, number: Number) -> FareTable:
    distance, per_distance = unit_words(product.distance_unit)
    time = unit_words(product.time_unit)[0]
    lines = _lines(
        (_("Base fare"), pay(card.base_fare)),
        (_("Minimum fare"), pay(card.minimum_fare)),
        (_("Distance included"), _measure(card.minimum_distance, distance, number)),
        (_("Time included"), _measure(card.minimum_time, time, number)),
        (_("Distance"), _per(card.cost_per_distance, per_distance, pay)),
        (_("Riding time"), _per(card.ride_cost_per_minute, _("min"), pay)),
        (_("Waiting time"), _per(card.waiting_cost_per_minute, _("min"), pay)),
        (_("Night charge"), _night(card, pay)),
        *(_surcharge(each, pay, number) for each in card.surcharges),
    )
    notes: list[str] = [ServiceWords(card.fare or "")]
    if card.rates_higher_than_usual:
        notes.append(_("These rates are higher than usual at the moment."))
    return FareTable(rate_title(card.type), lines, tuple(filter(None, notes)))


def _night(card: RateCard, pay: Pay) -> str:
    if card.night_time_charges is None:
        return ""
    when = f" ({card.night_time_duration})" if card.night_time_duration else ""
    return pay(card.night_time_charges) + when


def _surcharge(each: Surcharge, pay: Pay, number: Number) -> tuple[str, str]:
    name = ServiceWords(each.name or each.description or "") or _("Surcharge")
    kind = (each.type or "").lower()
    if each.value is None:
        said = each.description or name
        if said == name:
            said = _("applies")
        return name, said
    if "mult" in kind or "factor" in kind:
        return name, _("× %(n)s", n=number(each.value))
    if "percent" in kind or kind == "%":
        return name, _("%(n)s %%", n=number(each.value))
    return name, pay(each.value)


def _package_table(package: Package, product: Product, pay: Pay, number: Number) -> FareTable:
    name = package.display_name or package.sub_category or _("Package")
    several = len({each.sub_category for each in product.packages}) > 1
    if several and package.sub_category:
        name = f"{package.sub_category} · {name}"
    return FareTable(ServiceWords(name), _lines(*_package_lines(package, product, pay, number)))


def _package_lines(
    package: Package, product: Product, pay: Pay, number: Number
) -> Iterator[tuple[str, str]]:
    per_distance = unit_words(product.distance_unit)[1]
    yield _("Package fare"), pay(package.base_fare)
    if package.duration:
        yield _("Time included"), _("%(n)d min", n=package.duration.minutes)
    if package.distance:
        yield _("Distance included"), _measure(package.distance.km, _("km"), number)
    yield _("Each further %(unit)s", unit=per_distance), pay(package.cost_per_distance)
    yield _("Each further minute"), pay(package.ride_cost_per_minute)


def _estimate_table(estimate: Estimate, pay: Pay, number: Number) -> FareTable:
    return FareTable(_("This trip"), _lines(*_estimate_lines(estimate, pay, number)))


def _estimate_lines(estimate: Estimate, pay: Pay, number: Number) -> Iterator[tuple[str, str]]:
    if estimate.upfront:
        yield _("Fixed price"), pay(estimate.upfront_fare)
    else:
        yield _("By the meter, at least"), pay(estimate.amount_min)
        yield _("By the meter, at most"), pay(estimate.amount_max)
    if estimate.distance:
        yield _("Distance"), _measure(estimate.distance.km, _("km"), number)
    if estimate.travel_time:
        yield _("Time on the road"), _("about %(n)d min", n=estimate.travel_time.minutes)
    if estimate.booking_fee_lines:
        for line in estimate.booking_fee_lines:
            yield line.display_text, pay(line.value)
    else:
        yield _("Booking fee"), pay(estimate.booking_fee or None)
    yield _("Taxes"), pay(estimate.taxes)
    if estimate.hub_charges:
        yield _hub_name(estimate.hub_charges), pay(estimate.hub_charges.total_hub_fee or None)
    if estimate.discounts:
        yield from _discounts(estimate.discounts, pay)


def _hub_name(hub: HubCharges) -> str:
    if not hub.pickup_hub_name:
        return _("Station or airport fee")
    return _("Fee at %(place)s", place=hub.pickup_hub_name)


def _discounts(off: Discounts, pay: Pay) -> Iterator[tuple[str, str]]:
    for words, amount in (
        (_("Discount"), off.discount),
        (_("Cashback"), off.cashback),
        (_("Saved by a pass"), off.pass_savings),
    ):
        if amount:
            yield words, pay(-abs(amount))


def _share_table(share: ShareEstimate, pay: Pay) -> FareTable:
    lines: list[tuple[str, str]] = []
    notes: list[str] = [ServiceWords(share.promotional_message or "")]
    for fare in share.fares:
        seats = ngettext("%(num)d seat", "%(num)d seats", fare.seats)
        lines.append((_("Fixed price, %(seats)s", seats=seats), pay(fare.cost)))
        lines.append((_("Usual price, %(seats)s", seats=seats), pay(usual_cost(fare))))
        if fare.savings:
            lines.append((_("Saved, %(seats)s", seats=seats), pay(fare.savings)))
        remarks = (fare.fare_string, fare.discount_string, fare.peak_time_text)
        notes += [ServiceWords(each or "") for each in remarks]
    if share.travel_time_min and share.travel_time_max:
        low, high = share.travel_time_min.minutes, share.travel_time_max.minutes
        lines.append(
            (_("Time on the road"), _("%(low)d to %(high)d min, with stops", low=low, high=high))
        )
    shown = set(AMOUNT.findall(" ".join(amount for _what, amount in lines)))
    return FareTable(
        _("This trip, shared"),
        _lines(*lines),
        tuple(each for each in dict.fromkeys(notes) if _new(each, shown)),
    )


def usual_cost(fare: ShareFare) -> Decimal | None:
    """What a shared ride usually costs, if it costs less now; else None."""
    if fare.actual_cost is None or fare.cost is None or fare.actual_cost <= fare.cost:
        return None
    return fare.actual_cost


def _new(note: str, shown: set[str]) -> bool:
    """Whether a sentence says more than the sums that the lines already contain."""
    sums = set(AMOUNT.findall(note))
    return bool(note) and not (sums and sums <= shown)
