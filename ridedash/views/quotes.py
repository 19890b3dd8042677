"""What a trip costs now: the products of a pickup and a drop, asked for and turned into stored offers and cards."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from flask import current_app

from ridedash import wire
from ridedash.ext import Services
from ridedash.geo import LatLng, distance_m
from ridedash.places import Memory
from ridedash.rides.accounts import NeedsReconnect
from ridedash.service.errors import RateLimited, Refused, ServiceError
from ridedash.service.products import HotspotZone, PickupPoint, Product, ProductList
from ridedash.store.orders import Priced, Trip, add_offer
from ridedash.store.people import Property
from ridedash.views.auth import SignedIn
from ridedash.views.product_cards import Card, card, seat_prices, trip_facts
from ridedash.wording import Audience, refusal
from ridedash.wording import gettext as _

log = logging.getLogger(__name__)

SAME_PLACE_M: Final = 25.0  # nobody needs a car between two places this close
AT_POINT_M: Final = 15.0  # a pickup this close to a hotspot's point is that point
LAST_LIST: Final = timedelta(seconds=60)  # how long the last list stands in when the service is down
KEPT_TRIPS: Final = 200


@dataclass(frozen=True)
class Zone:
    """A hotspot as the picker shows it: `points` are numbered from 1 in this order; `chosen` is a number or None."""

    description: str
    boundary: tuple[LatLng, ...]
    points: tuple[PickupPoint, ...]
    chosen: int | None


@dataclass(frozen=True)
class Quote:
    """Product cards for a trip. `late` says that the service is down and this is its last list."""

    trip: Trip  # the pickup may have moved to a point of a hotspot
    cards: tuple[Card, ...]
    zone: Zone | None
    fetched_at: datetime
    facts: str = ""  # how far and how long
    late: bool = False


class QuoteFailedError(Exception):
    """No products: what happened and what to do, in words; `status` is for HTTP."""

    def __init__(self, headline: str, detail: str, status: int, quoted: str = "") -> None:
        super().__init__(headline)
        self.headline, self.detail, self.status, self.quoted = headline, detail, status, quoted


class Quotes:
    """Asks for products on behalf of one member of staff."""

    def __init__(self, services: Services, staff: SignedIn, locale: str) -> None:
        self.services, self.staff, self.locale = services, staff, locale

    def quote(self, trip: Trip, account_id: int | None = None) -> Quote:
        """Fresh cards with one stored offer each. Raises QuoteFailedError."""
        if trip.drop and distance_m(trip.pickup, trip.drop) < SAME_PLACE_M:
            raise _refused(Refused(wire.SAME_PICKUP_DROP), 422)
        listed, trip, at, late = self._listed(trip, account_id)
        cards = tuple(card(product, has_drop=trip.drop is not None, locale=self.locale) for product in listed.products)
        if not cards:
            raise QuoteFailedError(
                _("No cars here"), _("The service offers none at this pickup. Try another one."), 422
            )
        offers = self._store(trip, listed.products, cards, at)
        zone = _zone(listed.hotspot, trip.pickup)
        facts = trip_facts(listed.products, self.locale)
        return Quote(trip, tuple(c.with_offer(i) for c, i in zip(cards, offers, strict=True)), zone, at, facts, late)

    def _listed(self, trip: Trip, account_id: int | None) -> tuple[ProductList, Trip, datetime, bool]:
        """The list, the trip it is for, when it was fetched, and whether it is only the last one."""
        now, key = self.services.clock(), (self.staff.property_id, trip.pickup, trip.drop)
        kept = _kept_lists()
        try:
            listed, trip = self._ask(trip, account_id)
        except Refused as error:
            raise _refused(error, 422) from error
        except ServiceError as error:
            log.warning("products: %s", error)
            last = kept.get(key)
            if last is None or now - last[2] > LAST_LIST:
                raise _down(error) from error
            return *last, True
        for asked in {key, (self.staff.property_id, trip.pickup, trip.drop)}:
            kept.put(asked, (listed, trip, now), LAST_LIST.total_seconds())
        return listed, trip, now, False

    def _ask(self, trip: Trip, account_id: int | None) -> tuple[ProductList, Trip]:
        client = self.services.client
        listed = client.products(trip.pickup, trip.drop)
        point = _default_point(listed.hotspot, trip.pickup)
        if point:
            trip = replace(trip, pickup=point.position, pickup_name=_point_name(point, trip.pickup_name))
            listed = client.products(trip.pickup, trip.drop)
        return self._with_share(listed, trip, account_id), trip

    def _with_share(self, listed: ProductList, trip: Trip, account_id: int | None) -> ProductList:
        """Share estimates may come only when asked for by category (Endpoints, 6)."""
        shared = next((p for p in listed.products if p.kind is wire.Kind.SHARE), None)
        if shared is None or shared.share or trip.drop is None:
            return listed
        try:
            answer = self.services.client.products(trip.pickup, trip.drop, shared.category, self._bearer(account_id))
        except ServiceError as error:
            log.info("share estimate: %s", error)  # its card says that no price came
            return listed
        priced = answer.product(shared.category)
        if priced is None or priced.share is None:
            return listed
        return listed.model_copy(update={"products": tuple(priced if p is shared else p for p in listed.products)})

    def _bearer(self, account_id: int | None) -> str | None:
        """The document's share example sends the user's token; without one the question is asked without."""
        try:
            return self.services.tokens.bearer(account_id) if account_id else None
        except NeedsReconnect:
            return None

    def _store(self, trip: Trip, products: Sequence[Product], cards: Sequence[Card], at: datetime) -> list[int]:
        staff = self.staff
        with self.services.db.write() as s:
            stored = [
                add_offer(
                    s,
                    property_id=staff.property_id,
                    staff_id=staff.id,
                    account_id=None,  # a price is for everybody; the account is chosen at the press
                    trip=trip,
                    priced=_priced(product, shown),
                    now=at,
                )
                for product, shown in zip(products, cards, strict=True)
            ]
        return [offer.id for offer in stored]


def home_trip(home: Property) -> Trip | None:
    """A trip that starts at a property's own pickup point; None when it has none."""
    if home.pickup_lat is None or home.pickup_lng is None:
        return None
    return Trip(LatLng(home.pickup_lat, home.pickup_lng), home.pickup_name or home.name)


def _priced(product: Product, shown: Card) -> Priced:
    estimate = product.estimate
    return Priced(
        category=product.category,
        kind=product.kind.value,
        display_name=product.display_name,
        currency=product.currency,
        price_text=shown.price_text or None,
        product=product.model_dump(mode="json"),
        fare_id=estimate.fare_id if estimate and estimate.upfront else None,
        seat_prices=seat_prices(product),
        cancellation=product.cancellation.model_dump(mode="json") if product.cancellation else None,
    )


def _default_point(zone: HotspotZone | None, pickup: LatLng) -> PickupPoint | None:
    """The point to meet at when the pickup is in a hotspot and at none of its points."""
    if zone is None or not zone.is_hotspot or not zone.points or _point_at(zone, pickup):
        return None
    default = next((point for point in zone.points if point.id == zone.default_point_id), None)
    return default or min(zone.points, key=lambda point: distance_m(point.position, pickup))


def _point_at(zone: HotspotZone, pickup: LatLng) -> PickupPoint | None:
    nearest = min(zone.points, key=lambda point: distance_m(point.position, pickup), default=None)
    return nearest if nearest and distance_m(nearest.position, pickup) <= AT_POINT_M else None


def _point_name(point: PickupPoint, place: str | None) -> str:
    return f"{place} – {point.name}"[:200] if place and point.name not in place else point.name


def _zone(zone: HotspotZone | None, pickup: LatLng) -> Zone | None:
    if zone is None or not zone.is_hotspot or not zone.points:
        return None
    here = _point_at(zone, pickup)
    number = zone.points.index(here) + 1 if here else None
    return Zone(zone.description or "", zone.boundary, zone.points, number)


def _kept_lists() -> Memory:
    """The last lists of this process, by trip; the clock of the app decides on their age."""
    now = current_app.extensions["ridedash"].clock
    kept: Memory = current_app.extensions.setdefault(
        "ridedash.quotes", Memory(KEPT_TRIPS, lambda: float(now().timestamp()))
    )
    return kept


def _refused(error: Refused, status: int) -> QuoteFailedError:
    words = refusal(error.code, Audience.STAFF, message=error.message or error.text)
    return QuoteFailedError(words.headline, f"{words.why} {words.next_step}", status, words.quote)


def _down(error: ServiceError) -> QuoteFailedError:
    if isinstance(error, RateLimited):
        wait = int(error.retry_after_s or 10)
        text = _("Next try in %(n)d s. Nothing was ordered.", n=wait)
        return QuoteFailedError(_("Too many requests at once"), text, 503)
    return QuoteFailedError(
        _("The ride service is not answering"),
        _("No prices right now. Nothing was ordered; what you typed is kept. Try again in a moment."),
        503,
    )
