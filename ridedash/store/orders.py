"""Orders and rides as pages read them, and the offers that they are priced by."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, NamedTuple, Protocol

from sqlalchemy import BindParameter, Select, bindparam, exists, or_, select
from sqlalchemy.orm import Session, aliased, defer
from sqlalchemy.orm.attributes import set_committed_value

from ridedash.geo import LatLng, thinned
from ridedash.store.actors import Actor, by_kiosk, by_staff
from ridedash.store.models.kiosks import Kiosk, Ticket
from ridedash.store.models.orders import (
    Action,
    Attention,
    Heartbeat,
    Offer,
    Order,
    OrderState,
    PathPoint,
    Ride,
    TimelineEvent,
)
from ridedash.store.models.people import Account, Guest, Property, Staff

__all__ = [
    "Action",
    "Attention",
    "Heartbeat",
    "KioskTag",
    "Offer",
    "OfferOwner",
    "Order",
    "OrderPage",
    "OrderState",
    "Priced",
    "RecentDrop",
    "Ride",
    "TimelineEvent",
    "Trip",
    "add_offer",
    "fixed_price_categories",
    "kiosk_tags",
    "order_of_form",
    "order_of_staff",
    "order_page",
    "orders_by_ids",
    "path_of",
    "places_of",
    "recent_drops",
    "trip_of",
]

REMEMBERED: Final = 300  # offers: about thirty lists of products


# points of a driven path that are read at most: more than five hours
MOST_READ: Final = 2_000
MOST_SHOWN: Final = 200
# metres by which the shown line may leave the driven one; doubled until the points are few enough
AWAY_M: Final = 8.0
Places = dict[int, tuple[int, int]]  # by order: its number, and how many there are


class KioskTag(NamedTuple):
    """The kiosk at which a guest placed an order, and the number on the guest's ticket."""

    name: str
    number: int | None


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
    price_text: str | None  # as its card said it, to whoever booked; None: no card; "": no price
    product: Mapping[str, Any]
    fare_id: str | None = None
    # {"1": "96.00", "2": "140.00"}, {"": "240.00"} when fixed
    seat_prices: Mapping[str, str] | None = None
    cancellation: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class OfferOwner:
    """For whom an offer is made, and who asked. Without an account it is one for every account."""

    property_id: int
    actor: Actor
    account_id: int | None = None


@dataclass(frozen=True)
class OrderPage:
    """Everything that a page shows of one order.

    Rows are detached: read them, never change them.
    """

    order: Order
    offer: Offer
    guest: Guest
    account: Account
    property: Property
    staff: Staff | None
    ride: Ride | None
    actions: tuple[Action, ...]  # oldest first
    events: tuple[TimelineEvent, ...]  # oldest first: the timeline
    attention: tuple[Attention, ...]  # not yet cleared
    superseded_by: int | None  # the newer order that was made by "book again"
    car: tuple[int, int] | None  # its number and how many, of the cars of a group
    series: tuple[int, int] | None  # the same, of the rides of a series
    way_back: int | None  # the order that was made with this one as its way back
    kiosk: KioskTag | None = None  # where a guest placed it; None: staff did


def add_offer(
    s: Session,
    owner: OfferOwner,
    trip: Trip,
    priced: Priced,
    now: datetime,
) -> Offer:
    """Store a product card as it is shown now; the row has its id when this returns.

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
    """The same for all cards of a list at once, in its order."""
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
    drop = (
        None
        if offer.drop_lat is None or offer.drop_lng is None
        else LatLng(offer.drop_lat, offer.drop_lng)
    )
    return Trip(
        LatLng(offer.pickup_lat, offer.pickup_lng), offer.pickup_name, drop, offer.drop_name
    )


def fixed_price_categories(s: Session, property_id: int) -> frozenset[str]:
    """The categories that had a fixed price by `fare_id` in a property's last offers with a drop.

    A list of products without a drop has no price that would show which ones have. The offer of a
    way back, whose price is "", was not asked for one.
    """
    asked = or_(Offer.price_text.is_(None), Offer.price_text != "")
    query = (
        select(Offer.category, Offer.fare_id)
        .where(Offer.property_id == property_id, Offer.drop_lat.is_not(None), asked)
        .order_by(Offer.id.desc())
        .limit(REMEMBERED)
    )
    newest: dict[str, str | None] = {}
    for category, fare_id in s.execute(query):
        newest.setdefault(category, fare_id)
    return frozenset(category for category, fare_id in newest.items() if fare_id)


def offer_signature(trip: Trip, priced: Priced) -> str:
    """A digest of trip and price, equal for two offers for which the customer pays the same."""
    drop = list(trip.drop) if trip.drop else None
    prices = dict(sorted((priced.seat_prices or {}).items()))
    facts = [list(trip.pickup), drop, priced.category, priced.currency, priced.price_text, prices]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def order_page(s: Session, property_id: int, order_id: int) -> OrderPage | None:
    """One order with everything around it; None if it is unknown or another property's."""
    return next(iter(orders_by_ids(s, property_id, [order_id])), None)


def order_of_staff(
    s: Session, order_id: int, staff_id: int, states: Sequence[OrderState] = tuple(OrderState)
) -> Order | None:
    """An order in one of these states that a member of staff may act on; None for any other.

    Staff act for their own property. An admin acts for each: the page checks which one they see.
    """
    acts_for = or_(Staff.property_id == Order.property_id, Staff.role == "admin")
    query = select(Order).join(Staff, acts_for)
    return s.scalars(
        query.where(Order.id == order_id, Staff.id == staff_id, Order.state.in_(states))
    ).first()


def order_of_actor(
    s: Session, order_id: int, actor: Actor, states: Sequence[OrderState] = tuple(OrderState)
) -> Order | None:
    """An order in one of these states that staff, or guests on a kiosk, may act on; else None.

    On a kiosk guests act on what was ordered on a kiosk of its property.
    """
    if actor.kiosk_id is None:
        return order_of_staff(s, order_id, actor.staff_id or 0, states)
    query = select(Order).join(Kiosk, Kiosk.property_id == Order.property_id)
    here = Kiosk.id == actor.kiosk_id, Kiosk.revoked_at.is_(None), Order.kiosk_id.is_not(None)
    return s.scalars(query.where(Order.id == order_id, Order.state.in_(states), *here)).first()


def placed_by(order: Order | Action) -> Actor:
    """Who placed an order, or asked for an action on it."""
    return by_staff(order.staff_id) if order.kiosk_id is None else by_kiosk(order.kiosk_id)


def order_of_form(s: Session, property_id: int, form_token: str) -> int | None:
    """The order that this form of the property created (docs/booking-protocol.md 1.3, T1)."""
    query = select(Order.id).where(Order.form_token == form_token, Order.property_id == property_id)
    return s.scalars(query).first()


@dataclass(frozen=True)
class RecentDrop:
    """Where an order went, and from where; `travel_s` is the estimate of its way in seconds."""

    name: str
    drop: LatLng
    pickup: LatLng
    travel_s: int | None


def recent_drops(s: Session, property_id: int, limit: int) -> list[RecentDrop]:
    """The named drops of the newest orders of a property, the newest first."""
    travel_s = Offer.product["estimate"]["travel_time"]["seconds"].as_integer()
    ends = Offer.drop_lat, Offer.drop_lng, Offer.pickup_lat, Offer.pickup_lng
    query = (
        select(Offer.drop_name, *ends, travel_s)
        .join(Order, Order.offer_id == Offer.id)
        .where(Order.property_id == property_id)
        .order_by(Order.id.desc())
        .limit(limit)
    )
    return [
        RecentDrop(name, LatLng(lat, lng), LatLng(from_lat, from_lng), seconds)
        for name, lat, lng, from_lat, from_lng, seconds in s.execute(query)
        if name and lat is not None and lng is not None
    ]


def path_of(s: Session, order_id: int, since: datetime | None) -> list[LatLng]:
    """The path that an order's cab has driven, oldest point first: at most MOST_SHOWN points.

    Empty once retention has removed it. `since`: when the guest got this cab, if another one came
    before. Of an endless ride the beginning is left out.
    """
    query = select(PathPoint.lat, PathPoint.lng).where(PathPoint.order_id == order_id)
    if since is not None:
        query = query.where(PathPoint.at >= since)
    rows = s.execute(query.order_by(PathPoint.id.desc()).limit(MOST_READ)).all()
    return thinned([LatLng(lat, lng) for lat, lng in reversed(rows)], AWAY_M, MOST_SHOWN)


def orders_by_ids(
    s: Session, property_id: int, ids: Sequence[int], *, light: bool = False
) -> list[OrderPage]:
    """Orders of a property, ordered as `ids`, in a fixed number of queries; others are left out.

    `light` leaves out the order's body and evidence, and the product of offers with fixed prices or
    with none: they must not be read.
    """
    query = _LIST if light else _PAGES
    rows = {
        row[0].id: row._tuple()
        for row in s.execute(query, {"property_id": property_id, "ids": ids}).all()
    }
    found = [order_id for order_id in ids if order_id in rows]
    groups, series = places_of(s, [row[0] for row in rows.values()])
    if light:
        _load_unworded(s, [row[1] for row in rows.values()])
    around = _around(s, rows)
    pages = [_page(rows[order_id], around, groups, series) for order_id in found]
    tags = kiosk_tags(s, [page.order for page in pages])
    return [replace(page, kiosk=tags[page.order.id]) if tags else page for page in pages]


def kiosk_tags(s: Session, orders: Sequence[Order]) -> defaultdict[int, KioskTag | None]:
    """The kiosks and ticket numbers of orders that guests placed; empty without any."""
    found: defaultdict[int, KioskTag | None] = defaultdict(lambda: None)
    ids = [order.id for order in orders if order.kiosk_id is not None]
    for order_id, name, number in s.execute(_KIOSKS, {"ids": ids}) if ids else ():
        found[order_id] = KioskTag(name, number)
    return found


class Member(Protocol):
    """An order, or a row with these columns of one."""

    @property
    def group_key(self) -> str | None: ...
    @property
    def series_key(self) -> str | None: ...


def places_of(s: Session, rows: Sequence[Member]) -> tuple[Places, Places]:
    """The numbers of these orders in their groups, and in their series."""
    groups = _places(s, _GROUPS, {row.group_key for row in rows} - {None})
    return groups, _places(s, _SERIES, {row.series_key for row in rows} - {None})


def _places(
    s: Session, query: Select[tuple[str | None, int]], keys: Collection[str | None]
) -> Places:
    """The number of each order in its group or series, and the size of that. No order joins one
    later.
    """
    members: dict[str | None, list[int]] = {}
    if keys:
        for key, order_id in s.execute(query, {"keys": list(keys)}):
            members.setdefault(key, []).append(order_id)
    return {
        order_id: (number, len(ids))
        for ids in members.values()
        for number, order_id in enumerate(ids, 1)
    }


def _load_unworded(s: Session, offers: Sequence[Offer]) -> None:
    """Load the products that light rows lack, of offers whose price a page words from them."""
    unworded = {
        offer.id: offer for offer in offers if offer.price_text != "" and not offer.seat_prices
    }
    if unworded:
        query = select(Offer.id, Offer.product).where(Offer.id.in_(unworded))
        for offer_id, product in s.execute(query):
            set_committed_value(unworded[offer_id], "product", product)


# Statements are built once: that takes SQLAlchemy longer than the database takes to answer.
_IDS: Final[BindParameter[Sequence[int]]] = bindparam("ids")
_NEXT: Final = aliased(Order)
_PAGES: Final = (
    select(Order, Offer, Guest, Account, Property, Staff, Ride)
    # what most orders lack is not asked for in statements of its own
    .add_columns(
        exists().where(Action.order_id == Order.id),
        exists().where(Attention.order_id == Order.id, Attention.cleared_at.is_(None)),
        or_(
            exists().where(_NEXT.supersedes == Order.id), exists().where(_NEXT.back_of == Order.id)
        ),
    )
    .join(Offer, Offer.id == Order.offer_id)
    .join(Guest, Guest.id == Order.guest_id)
    .join(Account, Account.id == Order.account_id)
    .join(Property, Property.id == Order.property_id)
    .outerjoin(Staff, Staff.id == Order.staff_id)
    .outerjoin(Ride, Ride.order_id == Order.id)
    .where(Order.property_id == bindparam("property_id"), Order.id.in_(_IDS))
)
_LIST: Final = _PAGES.options(defer(Offer.product), defer(Order.body), defer(Order.evidence))
_ACTIONS: Final = select(Action).where(Action.order_id.in_(_IDS)).order_by(Action.id)
_EVENTS: Final = (
    select(TimelineEvent).where(TimelineEvent.order_id.in_(_IDS)).order_by(TimelineEvent.id)
)
_ATTENTION: Final = (
    select(Attention)
    .where(Attention.order_id.in_(_IDS), Attention.cleared_at.is_(None))
    .order_by(Attention.id)
)
# the newer order that books one of these again, and the way back that was made with one of them
_LATER: Final = select(Order.id, Order.supersedes, Order.back_of).where(
    or_(Order.supersedes.in_(_IDS), Order.back_of.in_(_IDS))
)
_KIOSKS: Final = (
    select(Order.id, Kiosk.name, Ticket.number)
    .join(Kiosk, Kiosk.id == Order.kiosk_id)
    .outerjoin(Ticket, Ticket.order_id == Order.id)
    .where(Order.id.in_(_IDS))
)
_KEYS: Final[BindParameter[Sequence[str]]] = bindparam("keys")
_GROUPS: Final = (
    select(Order.group_key, Order.id).where(Order.group_key.in_(_KEYS)).order_by(Order.id)
)
_SERIES: Final = (
    select(Order.series_key, Order.id).where(Order.series_key.in_(_KEYS)).order_by(Order.id)
)
_Row = tuple[Order, Offer, Guest, Account, Property, Staff, Ride, bool, bool, bool]
_Around = tuple[
    dict[int, list[Action]],
    dict[int, list[TimelineEvent]],
    dict[int, list[Attention]],
    dict[int, int],
    dict[int, int],
]


def _page(row: _Row, around: _Around, groups: Places, series: Places) -> OrderPage:
    order, offer, guest, account, place, staff, ride, *_more = row
    order_id = order.id
    actions, events, attention, newer, backs = around
    return OrderPage(
        order=order,
        offer=offer,
        guest=guest,
        account=account,
        property=place,
        staff=staff,
        ride=ride,
        actions=tuple(actions.get(order_id, ())),
        events=tuple(events.get(order_id, ())),
        attention=tuple(attention.get(order_id, ())),
        superseded_by=newer.get(order_id),
        car=groups.get(order_id),
        series=series.get(order_id),
        way_back=backs.get(order_id),
    )


def _around(s: Session, rows: Mapping[int, _Row]) -> _Around:
    """What belongs to these orders; their rows tell for which of them something is there."""
    acted, noted, followed = ([n for n, row in rows.items() if row[i]] for i in (7, 8, 9))
    actions: dict[int, list[Action]] = {}
    for action in s.scalars(_ACTIONS, {"ids": acted}) if acted else ():
        actions.setdefault(action.order_id, []).append(action)
    events: dict[int, list[TimelineEvent]] = {}
    for event in s.scalars(_EVENTS, {"ids": list(rows)}):
        events.setdefault(event.order_id, []).append(event)
    attention: dict[int, list[Attention]] = {}
    for item in s.scalars(_ATTENTION, {"ids": noted}) if noted else ():
        attention.setdefault(item.order_id, []).append(item)
    newer: dict[int, int] = {}
    backs: dict[int, int] = {}
    later = s.execute(_LATER, {"ids": followed}) if followed else ()
    for order_id, supersedes, back_of in later:
        if supersedes is not None:
            newer[supersedes] = max(order_id, newer.get(supersedes, 0))
        if back_of is not None:
            backs[back_of] = order_id
    return actions, events, attention, newer, backs
