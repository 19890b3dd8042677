"""Rental in words: the service's interface takes no package, so nobody can choose one here. Pure."""

from collections.abc import Iterator
from decimal import Decimal

from ridedash.service.products import Product
from ridedash.views.formats import money
from ridedash.wording import gettext as _

SHOWN = 4  # packages; more stand in the breakup


def package_rule(product: Product) -> str:
    """Who agrees on a package; "" for a product without packages."""
    words = _("The guest agrees the package with the driver; this desk can't choose it.")
    return words if product.packages else ""


def package_list(product: Product, locale: str) -> str:
    """The packages in short, the shortest first; "" when there are none."""
    return " · ".join(list(_packages(product, locale))[:SHOWN])


def _packages(product: Product, locale: str) -> Iterator[str]:
    """Each length once, with its lowest price: 4 h, 40 km from ₹899."""
    by_size: dict[tuple[int, Decimal], list[Decimal]] = {}
    for package in product.packages:
        size = (
            package.duration.seconds if package.duration else 0,
            package.distance.km if package.distance else Decimal(0),
        )
        fares = by_size.setdefault(size, [])
        if package.base_fare is not None:
            fares.append(package.base_fare)
    for (seconds, km), fares in sorted(by_size.items()):
        words = ", ".join(filter(None, (_span(seconds), _("%(n)g km", n=km) if km else "")))
        price = _("from %(price)s", price=money(min(fares), product.currency, locale)) if fares else ""
        if words:
            yield " ".join(filter(None, (words, price)))


def _span(seconds: int) -> str:
    if not seconds:
        return ""
    return _("%(n)g h", n=seconds / 3600) if seconds % 1800 == 0 else _("%(n)d min", n=seconds // 60)
