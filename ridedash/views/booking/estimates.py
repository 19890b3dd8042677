"""The current prices of a trip: its products from the service, stored as offers, shown as cards."""

import logging
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from flask import current_app

from ridedash import wire
from ridedash.extensions import Services
from ridedash.fits import UNKNOWN
from ridedash.geo import LatLng, contains, distance_m
from ridedash.places import CityArea, TtlCache
from ridedash.rides.accounts.tokens import NeedsReconnect, NoRefreshNow
from ridedash.rides.orders.request import offered
from ridedash.service.errors import RateLimited, Refused, ServiceError, Throttled
from ridedash.service.types.products import HotspotZone, Product, ProductList
from ridedash.store.accounts import account_of
from ridedash.store.capacities import capacities_of
from ridedash.store.models.people import Property
from ridedash.store.offers import OfferOwner, Priced, Trip, add_offers, fixed_price_categories
from ridedash.views.booking.pickup_points import ShownZone, is_hotspot, meet, zone_of
from ridedash.views.booking.product_cards import (
    Card,
    card,
    travel_minutes,
    trip_facts,
    without_drop,
)
from ridedash.views.web.place_names import is_pin, pin_name
from ridedash.wording import Audience, refusal, service_quote
from ridedash.wording import gettext as _

log = logging.getLogger(__name__)
SAME_PLACE_M: Final = 25.0  # between two places this close no car is needed
SAME_POINT_M: Final = 1.0  # points this close are the same, because a page rounds coordinates
# for how long the last list is shown when the service is down
LAST_LIST: Final = timedelta(seconds=60)
MOST_SEPARATE: Final = 6  # at most so many categories of one list are requested one by one
VAIN_LASTS: Final = timedelta(minutes=10)  # see Estimator._with_prices
CACHED_TRIPS: Final = 50  # lists in the cache, some 100 kB each
# code, and the end of the trip that has to change: the same trip would be refused again
# our own code: the boundaries that we know prove that the drop lies in another city
OTHER_CITY: Final = "OTHER_CITY"
END_OF_CODE: Final = {
    wire.INVALID_CITY: "pickup",
    wire.SAME_PICKUP_DROP: "drop",
    wire.INVALID_DROP_LOCATION: "drop",
    OTHER_CITY: "drop",
}


class EstimateFailedError(Exception):
    """No products could be listed: what happened and what to do, in words.

    `status` is an HTTP status; `end` is the end of the trip to change, or "". `again_s` is set if a
    repeated request may succeed soon: after so many seconds the page repeats it by itself; 0 leaves
    the time to the page. It is None if the same request would fail again.
    """

    def __init__(
        self,
        headline: str,
        detail: str,
        status: int,
        quoted: str = "",
        end: str = "",
        *,
        again_s: int | None = None,
    ) -> None:
        super().__init__(headline)
        self.headline = headline
        self.detail = detail
        self.status = status
        self.quoted = quoted
        self.end = end
        self.again_s = again_s

    @property
    def sentences(self) -> str:
        """All of it as one text, with the service's own words."""
        quote = service_quote(self.quoted)
        return " ".join(filter(None, [f"{self.headline}. {self.detail}", quote]))


@dataclass(frozen=True)
class Estimates:
    """Product cards for a trip. `late`: the service is down, and this is its last list."""

    trip: Trip  # the trip; its pickup may have moved to a point of a hotspot
    cards: tuple[Card, ...]
    zone: ShownZone | None
    fetched_at: datetime
    facts: str = ""  # distance and duration
    late: bool = False
    travel_min: int | None = None


class Estimator:
    """Fetches products for the person who books: a member of staff, or a guest at a kiosk."""

    def __init__(self, services: Services, owner: OfferOwner, locale: str) -> None:
        self.services = services
        self.owner = owner
        self.locale = locale

    def named(self, name: str, point: LatLng) -> str:
        """The name of a place; for a pin that has no name, one made of the address near it."""
        return pin_name(self.services.geocoder, name, point)

    def estimates(self, trip: Trip, account_id: int | None = None) -> Estimates:
        """Fresh cards with one stored offer each. Raises EstimateFailedError."""
        self._check_ends(trip)
        listed, trip, at, late = self._listed(trip, account_id)
        cards = self._cards(trip, listed)
        if not cards:
            raise EstimateFailedError(
                _("No cars here"),
                _("The ride company offers none at this pickup. Try another one."),
                422,
            )
        offers = self._store(trip, listed.products, cards, at)
        zone = zone_of(listed.hotspot, trip)
        facts = trip_facts(listed.products, self.locale)
        stored = tuple(c.with_offer(i) for c, i in zip(cards, offers, strict=True))
        travel_min = travel_minutes(listed.products)
        return Estimates(trip, stored, zone, at, facts, late, travel_min)

    def quote(self, trip: Trip, category: str, account_id: int | None) -> str:
        """The current price of one category for a trip, in words; "" without a price.

        Stores nothing. Raises EstimateFailedError.
        """
        product = self._product(trip, category, account_id)
        if product is None:
            return ""
        return self._priced_card(trip, product).price_text

    def quote_offer(self, trip: Trip, category: str, account_id: int | None) -> tuple[str, int]:
        """Like `quote`, with the id of the offer that is then stored; "" and 0 without a price."""
        product = self._product(trip, category, account_id)
        if product is None:
            return "", 0
        shown = self._priced_card(trip, product)
        if not shown.price_text:
            return "", 0
        offers = self._store(trip, [product], [shown], self.services.clock())
        return shown.price_text, offers[0]

    def _cards(self, trip: Trip, listed: ProductList) -> tuple[Card, ...]:
        """A card of each product, with what the property knows of it."""
        cards = tuple(self._card(trip, product) for product in listed.products)
        with self.services.db.read() as s:
            known = capacities_of(s, self.owner.property_id)
            if trip.drop is None:
                cards = without_drop(cards, fixed_price_categories(s, self.owner.property_id))
        return tuple(each.with_capacity(known.get(each.category, UNKNOWN)) for each in cards)

    def _priced_card(self, trip: Trip, product: Product) -> Card:
        """The card of one product; without a price if it needs a drop that the trip has not."""
        shown = self._card(trip, product)
        if trip.drop is not None:
            return shown
        with self.services.db.read() as s:
            fixed = fixed_price_categories(s, self.owner.property_id)
        (shown,) = without_drop((shown,), fixed)
        if shown.blocked:
            return replace(shown, price_text="")
        return shown

    def _card(self, trip: Trip, product: Product) -> Card:
        return card(product, has_drop=trip.drop is not None, locale=self.locale)

    def _product(self, trip: Trip, category: str, account_id: int | None) -> Product | None:
        """One category as it is offered for a trip now. Raises EstimateFailedError."""
        self._check_ends(trip)
        bearer = None
        if wire.kind_of(category) is wire.Kind.SHARE:
            bearer = self._bearer(account_id)
        try:
            listed = self.services.client.products(trip.pickup, trip.drop, category, bearer)
        except Refused as error:
            said = wire.said(error.header, error.message, error.text)
            raise refused(error.code, said) from error
        except ServiceError as error:
            log.info("price of one car: %s", error)
            raise down(error) from error
        return listed.product(category)

    def _check_ends(self, trip: Trip) -> None:
        """Raise EstimateFailedError for a trip that the service would refuse."""
        if trip.drop is None:
            return
        if distance_m(trip.pickup, trip.drop) < SAME_PLACE_M:
            raise refused(wire.SAME_PICKUP_DROP)
        away = drop_error(self.services.geocoder.cities(), trip.pickup, trip.drop)
        if away:
            raise away

    def _listed(
        self, trip: Trip, account_id: int | None
    ) -> tuple[ProductList, Trip, datetime, bool]:
        """The products, their trip, the time of the answer, and whether it is an earlier answer."""
        now = self.services.clock()
        key = (self.owner.property_id, trip.pickup, trip.drop)
        lists = _cached_lists()
        try:
            listed, trip = self._ask(trip, account_id)
        except Refused as error:
            said = wire.said(error.header, error.message, error.text)
            raise refused(error.code, said) from error
        except ServiceError as error:
            log.warning("products: %s", error)
            last = lists.get(key)
            if last is None or now - last[2] > LAST_LIST:
                raise down(error) from error
            return *last, True
        for each in {key, (self.owner.property_id, trip.pickup, trip.drop)}:
            lists.put(each, (listed, trip, now), LAST_LIST.total_seconds())
        return listed, trip, now, False

    def _ask(self, trip: Trip, account_id: int | None) -> tuple[ProductList, Trip]:
        client = self.services.client
        listed = client.products(trip.pickup, trip.drop)
        met = meet(listed.hotspot, trip, self._around(listed.hotspot, trip))
        if distance_m(met.pickup, trip.pickup) > SAME_POINT_M:
            listed = client.products(met.pickup, met.drop)
        return self._with_prices(listed, met, account_id), met

    def _around(self, zone: HotspotZone | None, trip: Trip) -> str:
        """The name of the place around a pickup that was set on the map inside a hotspot."""
        if not is_hotspot(zone) or not is_pin(trip.pickup_name):
            return ""
        found = self.services.geocoder.nearby(trip.pickup)
        if found is None:
            return ""
        return found.place

    def _with_prices(self, listed: ProductList, trip: Trip, account_id: int | None) -> ProductList:
        """The list, with estimates that the service gives only when asked for one category.

        This may apply to share (docs/service-interface.md 6) and to fixed prices. A category
        other than share that got no price is not requested again for VAIN_LASTS.
        """
        if trip.drop is None:
            return listed
        vain = _unpriced()
        now = self.services.clock().timestamp()
        ends = self.owner.property_id, trip.pickup, trip.drop
        unpriced = [
            product
            for product in listed.products
            if not _is_priced(product) and vain.get((*ends, product.category)) is None
        ][:MOST_SEPARATE]
        if not unpriced:
            return listed
        bearer = self._bearer(account_id) if any(map(_is_shared, unpriced)) else None
        ask = partial(self._priced_alone, trip, bearer)
        *others, last = unpriced
        # one thread for each of the other categories
        with ThreadPoolExecutor(MOST_SEPARATE) as pool:
            # in copies of this context, so that log lines and recorded calls name the request
            runs = [pool.submit(copy_context().run, ask, product) for product in others]
            of_last = ask(last)
            answers = [*(run.result() for run in runs), of_last]
        found = {}
        for product, priced in zip(unpriced, answers, strict=True):
            if priced is not None and _is_priced(priced):
                found[product.category] = priced
            elif priced is not None and not _is_shared(product):
                vain.put((*ends, product.category), now, VAIN_LASTS.total_seconds())
        products = tuple(found.get(product.category, product) for product in listed.products)
        return listed.model_copy(update={"products": products})

    def _priced_alone(self, trip: Trip, bearer: str | None, product: Product) -> Product | None:
        """One product from a request for its category alone; None without an answer."""
        token = bearer if _is_shared(product) else None
        try:
            answer = self.services.client.products(trip.pickup, trip.drop, product.category, token)
        except ServiceError as error:
            # the product's card says that no price came
            log.info("estimate of %s: %s", product.category, error)
            return None
        return answer.product(product.category) or product

    def _bearer(self, account_id: int | None) -> str | None:
        """The access token of an account of the property, for prices of shared rides.

        None without an account, and for one that needs reconnecting or can't be refreshed now: then
        the call has no token. The interface's share example sends the user's token.
        """
        if account_id is None:
            return None
        with self.services.db.read() as s:
            if account_of(s, self.owner.property_id, account_id) is None:
                return None
        try:
            return self.services.tokens.bearer(account_id)
        except (NeedsReconnect, NoRefreshNow):
            return None

    def _store(
        self, trip: Trip, products: Sequence[Product], cards: Sequence[Card], at: datetime
    ) -> list[int]:
        with self.services.db.write() as s:
            shown = [priced(*each) for each in zip(products, cards, strict=True)]
            stored = add_offers(s, self.owner, trip, shown, at)
        ids = [offer.id for offer in stored]
        self.services.client.traffic.hooks.offers(ids)
        return ids


def _is_shared(product: Product) -> bool:
    return product.kind is wire.Kind.SHARE


def _is_priced(product: Product) -> bool:
    """Whether a product has the price of a trip; a rental needs none."""
    if _is_shared(product):
        return product.share is not None
    return product.estimate is not None or bool(product.packages)


def home_point(home: Property) -> LatLng | None:
    """A property's own pickup point; None when it has none."""
    if home.pickup_lat is None or home.pickup_lng is None:
        return None
    return LatLng(home.pickup_lat, home.pickup_lng)


def home_trip(home: Property) -> Trip | None:
    """A trip that starts at a property's own pickup point; None when it has none."""
    start = home_point(home)
    if start is None:
        return None
    return Trip(start, home.pickup_name or home.name)


def priced(product: Product, shown: Card) -> Priced:
    """A product in the form that is stored, with the price in the words of its card."""
    return replace(offered(product), price_text=shown.price_text or None)


def end_of_code(code: str | None) -> str:
    """The end of the trip that a refusal concerns: `pickup`, `drop` or ""."""
    wanted = wire.normal_code(code or "")
    for known, end in END_OF_CODE.items():
        if wire.normal_code(known) == wanted:
            return end
    return ""


def refused(code: str | None, message: str | None = None, status: int = 422) -> EstimateFailedError:
    """A refusal in words, made by the service or foreseen by us."""
    words = refusal(code, Audience.STAFF, message=message)
    return EstimateFailedError(
        words.headline, f"{words.why} {words.next_step}", status, words.quote, end_of_code(code)
    )


def down(error: ServiceError) -> EstimateFailedError:
    """An error in words: the service does not answer now."""
    if isinstance(error, RateLimited):
        return _too_many(error.retry_after_s)
    if isinstance(error, Throttled) and error.why == Throttled.LIMITED:
        return _too_many(error.wait_s)
    return EstimateFailedError(
        _("The ride company is not answering"),
        _(
            "No prices right now. Nothing was booked; what you typed is kept. Try again in a "
            "moment."
        ),
        503,
        again_s=0,
    )


def _too_many(wait_s: float | None) -> EstimateFailedError:
    """The error of too many requests; the next one may be sent after `wait_s`, if that is known."""
    again_s = math.ceil(wait_s or 10)
    text = _("Next try in %(n)d s. Nothing was booked.", n=again_s)
    return EstimateFailedError(_("Too many requests at once"), text, 503, again_s=again_s)


def drop_error(
    cities: Sequence[CityArea], pickup: LatLng, drop: LatLng
) -> EstimateFailedError | None:
    """Why no car goes to the drop; None if one may, or if no boundary of a city is known.

    A pickup outside of all cities is left to the service's own refusal.
    """
    known = [city for city in cities if len(city.boundary) > 2]
    start = next((city for city in known if contains(city.boundary, pickup)), None)
    end = next((city for city in known if contains(city.boundary, drop)), None)
    if start is None or start == end:
        return None
    if end:
        return refused(OTHER_CITY)
    return EstimateFailedError(
        _("No service at this drop"),
        _(
            "It lies outside the cities that the ride company covers. Check the pin, or choose "
            "another drop."
        ),
        422,
        end="drop",
    )


def _cached_lists() -> TtlCache:
    """The last lists of this process, by trip."""
    return _cache("ridedash.estimates", CACHED_TRIPS)


def _unpriced() -> TtlCache:
    """Categories of trips that were requested separately and got no price."""
    return _cache("ridedash.unpriced", CACHED_TRIPS * MOST_SEPARATE)


def _cache(name: str, size: int) -> TtlCache:
    """A cache of this process; the app's clock measures the age of its values."""
    now = current_app.extensions["ridedash"].clock
    found: TtlCache = current_app.extensions.setdefault(
        name, TtlCache(size, lambda: float(now().timestamp()))
    )
    return found
