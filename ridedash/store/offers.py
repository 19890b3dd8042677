"""Offers: the product cards that were shown, each with its trip and its price."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from ridedash.geo import LatLng
from ridedash.store.actors import Actor
from ridedash.store.models.orders import Offer

REMEMBERED: Final = 300  # latest offers that are read: about thirty lists of products


@dataclass(frozen=True)
class Trip:
    """A pickup and a drop; the drop is optional for metered products."""

    pickup: LatLng
    pickup_name: str | None = None
    drop: LatLng | None = None
    drop_name: str | None = None


@dataclass(frozen=True)
class Priced:
    """A product with its price.

    `product` and `cancellation` are JSON dumps of the service's types.
    """

    category: str
    kind: str
    display_name: str
    currency: str | None
    # the price as the card showed it; None if there was no card, or no price on it; "" for a way
    # back without a price
    price_text: str | None
    product: Mapping[str, Any]
    fare_id: str | None = None
    # fixed prices by seats: {"1": "96.00", "2": "140.00"}; one fixed price: {"": "240.00"}; else
    # empty
    seat_prices: Mapping[str, str] | None = None
    cancellation: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class OfferOwner:
    """The property for which an offer is made, who asked for it, and the account for its price.

    An offer without an account is valid for every account.
    """

    property_id: int
    actor: Actor
    account_id: int | None = None


def add_offer(
    s: Session,
    owner: OfferOwner,
    trip: Trip,
    priced: Priced,
    now: datetime,
) -> Offer:
    """Store a product card as it is shown now; the returned row has its id.

    Flushes, does not commit.
    """
    return add_offers(s, owner, trip, [priced], now)[0]


def add_offers(
    s: Session,
    owner: OfferOwner,
    trip: Trip,
    shown: Sequence[Priced],
    now: datetime,
) -> list[Offer]:
    """Store several product cards at once, like `add_offer`; returns offers in the same order."""
    offers = [_offer(owner, trip, priced, now) for priced in shown]
    s.add_all(offers)
    s.flush()
    return offers


def _offer(owner: OfferOwner, trip: Trip, priced: Priced, now: datetime) -> Offer:
    return Offer(
        property_id=owner.property_id,
        staff_id=owner.actor.staff_id,
        kiosk_id=owner.actor.kiosk_id,
        account_id=owner.account_id,
        **_ends(trip),
        category=priced.category,
        kind=priced.kind,
        display_name=priced.display_name,
        currency=priced.currency,
        price_text=priced.price_text,
        product=dict(priced.product),
        fare_id=priced.fare_id,
        seat_prices=dict(priced.seat_prices or {}),
        cancellation=dict(priced.cancellation) if priced.cancellation else None,
        fetched_at=now,
        signature=offer_signature(trip, priced),
    )


def _ends(trip: Trip) -> dict[str, float | str | None]:
    """The columns of a trip."""
    return {
        "pickup_lat": trip.pickup.lat,
        "pickup_lng": trip.pickup.lng,
        "pickup_name": trip.pickup_name,
        "drop_lat": trip.drop.lat if trip.drop else None,
        "drop_lng": trip.drop.lng if trip.drop else None,
        "drop_name": trip.drop_name,
    }


def trip_of(offer: Offer) -> Trip:
    """The trip that an offer was made for."""
    drop = None
    if offer.drop_lat is not None and offer.drop_lng is not None:
        drop = LatLng(offer.drop_lat, offer.drop_lng)
    pickup = LatLng(offer.pickup_lat, offer.pickup_lng)
    return Trip(pickup, offer.pickup_name, drop, offer.drop_name)


def fixed_price_categories(s: Session, property_id: int) -> frozenset[str]:
    """The categories that had a fixed price (a `fare_id`) in a property's last offers with a drop.

    Without a drop the service sends no prices, so earlier offers tell which products have a fixed
    one. The offer of a way back without a price (`price_text` is "") does not count.
    """
    priced = or_(Offer.price_text.is_(None), Offer.price_text != "")
    query = (
        select(Offer.category, Offer.fare_id)
        .where(Offer.property_id == property_id, Offer.drop_lat.is_not(None), priced)
        .order_by(Offer.id.desc())
        .limit(REMEMBERED)
    )
    newest: dict[str, str | None] = {}
    for category, fare_id in s.execute(query):
        newest.setdefault(category, fare_id)
    return frozenset(category for category, fare_id in newest.items() if fare_id)


def offer_signature(trip: Trip, priced: Priced) -> str:
    """A digest of trip, category and price, equal for two offers that agree in all of them."""
    drop = list(trip.drop) if trip.drop else None
    prices = dict(sorted((priced.seat_prices or {}).items()))
    facts = [list(trip.pickup), drop, priced.category, priced.currency, priced.price_text, prices]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()
