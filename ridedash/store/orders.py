"""Orders and rides in the form in which pages read them."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, NamedTuple, Protocol

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
    "Order",
    "OrderPage",
    "OrderState",
    "RecentDrop",
    "Ride",
    "TimelineEvent",
    "kiosk_tags",
    "order_of_form",
    "order_of_staff",
    "order_page",
    "orders_by_ids",
    "path_of",
    "places_of",
    "recent_drops",
]


# points of a driven path that are read at most, enough for five hours
MOST_READ: Final = 2_000
MOST_SHOWN: Final = 200  # a line on the map looks the same with more
# metres by which the shown line may deviate from the driven one; doubled until few enough points
# remain
AWAY_M: Final = 8.0
# by order: its number in its group or series, and the number of orders there
Places = dict[int, tuple[int, int]]


class KioskTag(NamedTuple):
    """The kiosk at which a guest placed an order, and the number on the guest's ticket."""

    name: str
    number: int | None


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
    car: tuple[int, int] | None  # its number in a group of cars, and how many cars
    series: tuple[int, int] | None  # its number in a series, and how many rides
    way_back: int | None  # the order that was made as the way back of this one
    kiosk: KioskTag | None = None  # the kiosk at which a guest placed it; None: staff placed it


def order_page(s: Session, property_id: int, order_id: int) -> OrderPage | None:
    """One order with all related rows; None if it is unknown or another property's."""
    return next(iter(orders_by_ids(s, property_id, [order_id])), None)


def order_of_staff(
    s: Session, order_id: int, staff_id: int, states: Collection[OrderState] = tuple(OrderState)
) -> Order | None:
    """An order in one of these states that a member of staff may act on; None for any other.

    Staff act for their own property. An admin may act for every property: the page checks that the
    order belongs to the property that is shown.
    """
    acts_for = or_(Staff.property_id == Order.property_id, Staff.role == "admin")
    query = select(Order).join(Staff, acts_for)
    return s.scalars(
        query.where(Order.id == order_id, Staff.id == staff_id, Order.state.in_(states))
    ).first()


def order_of_actor(
    s: Session, order_id: int, actor: Actor, states: Collection[OrderState] = tuple(OrderState)
) -> Order | None:
    """An order in one of these states that staff, or guests on a kiosk, may act on; else None.

    On a kiosk, guests may act on orders that were placed on a kiosk of its property.
    """
    if actor.kiosk_id is None:
        return order_of_staff(s, order_id, actor.staff_id or 0, states)
    query = select(Order).join(Kiosk, Kiosk.property_id == Order.property_id)
    here = Kiosk.id == actor.kiosk_id, Kiosk.revoked_at.is_(None), Order.kiosk_id.is_not(None)
    return s.scalars(query.where(Order.id == order_id, Order.state.in_(states), *here)).first()


def placed_by(order: Order | Action) -> Actor:
    """Who placed an order, or asked for an action on it."""
    if order.kiosk_id is None:
        return by_staff(order.staff_id)
    return by_kiosk(order.kiosk_id)


def order_of_form(s: Session, form_token: str) -> Order | None:
    """The order that a form has made (docs/booking-protocol.md 1.3, T1); of several, the first.

    It may be another property's, which has to be kept from the reader.
    """
    return s.scalars(select(Order).where(Order.form_token == form_token)).first()


@dataclass(frozen=True)
class RecentDrop:
    """Where a recent order went, and from where; `travel_s`: the estimated duration in seconds."""

    name: str
    drop: LatLng
    pickup: LatLng
    travel_s: int | None


def recent_drops(s: Session, property_id: int, limit: int) -> list[RecentDrop]:
    """The named drops of the newest `limit` orders of a property, the newest first."""
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

    Empty once retention has removed it. `since`: when the guest got this cab, if there was another
    one before. The beginning of a very long ride is left out.
    """
    query = select(PathPoint.lat, PathPoint.lng).where(PathPoint.order_id == order_id)
    if since is not None:
        query = query.where(PathPoint.at >= since)
    rows = s.execute(query.order_by(PathPoint.id.desc()).limit(MOST_READ)).all()
    return thinned([LatLng(lat, lng) for lat, lng in reversed(rows)], AWAY_M, MOST_SHOWN)


def orders_by_ids(
    s: Session, property_id: int, ids: Sequence[int], *, light: bool = False
) -> list[OrderPage]:
    """Orders of a property, in the order of `ids`, by a fixed number of queries.

    `light` does not load the order's body and evidence, and loads the product only of offers whose
    price has to be put in words. Code must not access a column that is not loaded.
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
    """An order, or a row with these columns of an order."""

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
    """The number of each order in its group or series, and the size of that, which stays fixed."""
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
    """Load the products of those light offers whose price a page has to put in words."""
    unworded = {
        offer.id: offer for offer in offers if offer.price_text != "" and not offer.seat_prices
    }
    if unworded:
        query = select(Offer.id, Offer.product).where(Offer.id.in_(unworded))
        for offer_id, product in s.execute(query):
            set_committed_value(unworded[offer_id], "product", product)


# statements are built once: building takes SQLAlchemy longer than the database takes to answer
_IDS: Final[BindParameter[Sequence[int]]] = bindparam("ids")
_NEXT: Final = aliased(Order)
_PAGES: Final = (
    select(Order, Offer, Guest, Account, Property, Staff, Ride)
    # rows that most orders don't have are only queried where they exist
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
# the newer order that replaces one of these, and the way back that was made with one of them
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
    """Load the rows that belong to these orders; the last columns of `rows` tell which have any."""
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
            newer[supersedes] = max(order_id, newer.get(supersedes, order_id))
        if back_of is not None:
            backs[back_of] = order_id
    return actions, events, attention, newer, backs
