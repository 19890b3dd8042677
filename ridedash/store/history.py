"""The history: rides of a property by day, person and outcome, in pages, with totals.

Of the orders, filters and totals read only one index (models.orders.HISTORY), so that a year of a
busy property is added up in a moment; everything else is read for the rides of one page.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Integer,
    and_,
    bindparam,
    case,
    func,
    literal_column,
    or_,
    select,
    text,
)
from sqlalchemy.orm import Session

from ridedash import wire
from ridedash.store.models.desk import CostCentre
from ridedash.store.models.kiosks import Kiosk
from ridedash.store.models.orders import Action, Offer, Order, OrderState, Ride, TimelineEvent
from ridedash.store.models.people import Guest, Staff
from ridedash.store.orders import places_of
from ridedash.store.search import guests_like, spellings


class RideOutcome(StrEnum):
    """The outcome of an order. Each order has exactly one."""

    PLANNED = "planned"
    LIVE = "live"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    NO_DRIVER = "no_driver"
    NOT_BOOKED = "not_booked"
    UNKNOWN = "unknown"


_BY_END: Final = {
    wire.COMPLETED: RideOutcome.COMPLETED,
    wire.BOOKING_CANCELLED: RideOutcome.CANCELLED,
    wire.ALLOTMENT_FAILED: RideOutcome.NO_DRIVER,
}


_BY_STATE: Final = {  # outcomes of orders without an ended ride; every other state is live
    OrderState.SCHEDULED: RideOutcome.PLANNED,
    OrderState.UNKNOWN: RideOutcome.UNKNOWN,
    OrderState.FAILED: RideOutcome.NO_DRIVER,
    OrderState.REJECTED: RideOutcome.NOT_BOOKED,
    OrderState.NOT_SENT: RideOutcome.NOT_BOOKED,
    OrderState.CLOSED_NOT_BOOKED: RideOutcome.NOT_BOOKED,
}


OUTCOMES: Final = tuple(RideOutcome)


LIVE_STATES: Final = tuple(state for state in OrderState if state not in _BY_STATE)


@dataclass(frozen=True)
class RideFilter:
    """Which rides to read: those of a time span; None and "" mean any."""

    since: datetime
    until: datetime  # not included
    outcome: RideOutcome | None = None
    guest: str = ""  # words of a name, or a phone number
    room: str = ""
    staff_id: int | None = None
    category: str = ""
    centre_id: int | None = None


@dataclass(frozen=True)
class PageKey:
    """The last ride of a page; the next page begins with the next older ride."""

    at: datetime
    id: int


@dataclass(frozen=True)
class Totals:
    """Totals of rides. Sums are of completed rides, in hundredths, by currency."""

    rides: int = 0
    completed: int = 0
    cancelled: int = 0
    unpriced: int = 0  # completed rides for which the service sent no price
    sums: Mapping[str | None, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Record:
    """A row of the list of rides.

    `drop` is the name of the place where the ride goes, after the last change of it; None for a
    place without a name, and without a drop (`has_drop` is False). Of a ride that was booked
    without one, it is the address where the ride ended, at the point `end`.
    """

    id: int
    at: datetime  # pickup time of a planned ride, otherwise the time of the order
    planned: bool
    state: str
    code: str | None  # why nothing was sent
    ended_as: str | None
    status: str | None
    guest: str
    phone: str | None
    room: str | None
    pickup: str | None
    drop: str | None
    has_drop: bool
    end: tuple[float, float] | None  # where a ride without a drop ended; `drop` is its address
    product: str
    category: str
    staff: str | None
    centre: str | None
    plate: str | None  # letters and digits only
    total_minor: int | None
    currency: str | None
    mtx: str
    booking_id: str | None
    note: str | None
    car: tuple[int, int] | None  # its number in a group of cars, and how many cars
    series: tuple[int, int] | None  # its number in a series, and how many rides
    group: str | None  # the key of that group or series
    is_way_back: bool
    flight: str | None
    departs_at: datetime | None
    flight_lands: bool
    kiosk: str | None  # the name of the kiosk at which a guest placed it


@dataclass(frozen=True)
class Evidence:
    """The values that a bill needs in addition to the record."""

    created_at: datetime
    began_at: datetime | None
    ended_at: datetime | None
    pickup: tuple[float, float]
    drop: tuple[float, float] | None
    kind: str
    seats: int | None
    payment: str | None
    facts: dict[str, Any]


def outcome_of(state: str, ended_as: str | None) -> RideOutcome:
    """The outcome of an order with this state; `ended_as`: the last status of an ended ride."""
    return _BY_END.get(ended_as or "") or _BY_STATE.get(OrderState(state), RideOutcome.LIVE)


def page(
    s: Session, property_id: int, filters: RideFilter, size: int, before: PageKey | None = None
) -> list[PageKey]:
    """Keys of the newest `size` rides that match; with `before`, of those older than that ride."""
    query = select(Order.happens_at, Order.id).where(*_fits(property_id, filters))
    if before is not None:
        older = or_(Order.happens_at < before.at, Order.id < before.id)
        query = query.where(Order.happens_at <= before.at, older)
    rows = s.execute(query.order_by(Order.happens_at.desc(), Order.id.desc()).limit(size))
    return [PageKey(at, id_) for at, id_ in rows if at is not None]


def totals(s: Session, property_id: int, filters: RideFilter, currency: str | None) -> Totals:
    """The totals of all rides that match.

    `currency` is the property's usual currency. Only prices in other ones need a second query.
    """
    by_index(s)
    done, stopped = (Order.ended_as == end for end in (wire.COMPLETED, wire.BOOKING_CANCELLED))
    price = case((done, Order.total_minor))
    usual = case((and_(done, Order.currency == currency), Order.total_minor))
    query = select(
        func.count(),
        func.count(case((done, Order.ended_as))),
        func.count(case((stopped, Order.ended_as))),
        func.count(price),
        func.count(usual),
        func.sum(usual),
    ).where(*_fits(property_id, filters))
    rides, completed, cancelled, priced, counted, amount = s.execute(query).one()
    sums: dict[str | None, int] = {currency: int(amount)} if counted else {}
    if priced > counted:
        sums |= _other_sums(s, property_id, filters, currency)
    return Totals(rides, completed, cancelled, completed - priced, sums)


def categories(s: Session, property_id: int) -> list[tuple[str, str]]:
    """Every category that the property has booked, with the service's name for it.

    An index answers the query for each next category, so not all orders are read.
    """
    found: list[tuple[str, str]] = []
    while True:
        query = select(func.min(Order.category)).where(Order.property_id == property_id)
        if found:
            query = query.where(Order.category > found[-1][0])
        next_one = s.scalar(query)
        if next_one is None:
            return found
        named = (
            select(Offer.display_name)
            .join(Order, Order.offer_id == Offer.id)
            .where(Order.property_id == property_id, Order.category == next_one)
        )
        found.append((next_one, s.scalar(named.limit(1)) or next_one))


def records(s: Session, property_id: int, ids: Sequence[int]) -> list[Record]:
    """The records of a property's orders, in the order of `ids`; other ids are left out."""
    drops = _drops(s, ids)
    rows = s.execute(_RECORDS, {"property_id": property_id, "ids": ids}).all()
    groups, series = places_of(s, rows)
    places = {row.id: (groups.get(row.id), series.get(row.id)) for row in rows}
    found = {row.id: _record(row, drops.get(row.id), *places[row.id]) for row in rows}
    return [found[each] for each in ids if each in found]


def evidence(s: Session, property_id: int, ids: Sequence[int]) -> dict[int, Evidence]:
    """The additional values for bills, by order."""
    drops = _drops(s, ids)
    began = {row[0]: row[1] for row in s.execute(_BEGINNINGS, {"ids": ids})}
    rows = s.execute(_EVIDENCE, {"property_id": property_id, "ids": ids})
    return {row.id: _evidence(row, began.get(row.id), drops.get(row.id)) for row in rows}


_IDS: Final[BindParameter[Sequence[int]]] = bindparam("ids")
_RECORDS: Final = (
    select(
        Order.id,
        Order.happens_at,
        Order.created_at,
        Order.pickup_at,
        Order.state,
        Order.code,
        Order.ended_as,
        Ride.status,
        Guest.name,
        Guest.phone,
        Order.room,
        Offer.pickup_name,
        Offer.drop_name,
        Offer.drop_lat,
        Ride.end_lat,
        Ride.end_lng,
        Ride.end_name,
        Offer.display_name,
        Order.category,
        Staff.name.label("staff"),
        CostCentre.name.label("centre"),
        Ride.plate,
        Order.total_minor,
        Order.currency,
        Order.mtx,
        Order.booking_id,
        Order.note,
        Order.group_key,
        Order.series_key,
        Order.back_of,
        Order.flight,
        Order.departs_at,
        Order.flight_lands,
        Kiosk.name.label("kiosk"),
    )
    .join(Offer, Offer.id == Order.offer_id)
    .join(Guest, Guest.id == Order.guest_id)
    .outerjoin(Ride, Ride.order_id == Order.id)
    .outerjoin(Staff, Staff.id == Order.staff_id)
    .outerjoin(Kiosk, Kiosk.id == Order.kiosk_id)
    .outerjoin(
        CostCentre,
        and_(CostCentre.id == Order.cost_centre_id, CostCentre.property_id == Order.property_id),
    )
    .where(Order.property_id == bindparam("property_id"), Order.id.in_(_IDS))
)


_EVIDENCE: Final = (
    select(
        Order.id,
        Order.created_at,
        Ride.ended_at,
        Offer.pickup_lat,
        Offer.pickup_lng,
        Offer.drop_lat,
        Offer.drop_lng,
        Ride.end_lat,
        Ride.end_lng,
        Order.kind,
        Order.seats,
        Order.payment,
        Ride.facts,
    )
    .join(Offer, Offer.id == Order.offer_id)
    .outerjoin(Ride, Ride.order_id == Order.id)
    .where(Order.property_id == bindparam("property_id"), Order.id.in_(_IDS))
)


_DROPS: Final = (
    select(Action.order_id, Action.payload)
    .where(Action.order_id.in_(_IDS), Action.name == "drop", Action.state == "done")
    .order_by(Action.id)
)


_BEGINNINGS: Final = select(TimelineEvent.order_id, TimelineEvent.at).where(
    TimelineEvent.order_id.in_(_IDS),
    TimelineEvent.what == "ride",
    TimelineEvent.name == wire.IN_PROGRESS,
)


def _record(
    row: Any,
    drop: dict[str, Any] | None,
    car: tuple[int, int] | None,
    series: tuple[int, int] | None,
) -> Record:
    return Record(
        id=row.id,
        at=row.happens_at or row.created_at,
        planned=row.pickup_at is not None,
        state=row.state,
        code=row.code,
        ended_as=row.ended_as,
        status=row.status,
        guest=row.name,
        phone=row.phone,
        room=row.room,
        pickup=row.pickup_name,
        drop=drop.get("name") if drop else row.drop_name or row.end_name,
        has_drop=drop is not None or row.drop_lat is not None,
        end=None if row.end_lat is None else (row.end_lat, row.end_lng),
        product=row.display_name,
        category=row.category,
        staff=row.staff,
        centre=row.centre,
        plate=row.plate,
        total_minor=row.total_minor,
        currency=row.currency,
        mtx=row.mtx,
        booking_id=row.booking_id,
        note=row.note,
        car=car,
        series=series,
        group=row.group_key or row.series_key,
        is_way_back=row.back_of is not None,
        flight=row.flight,
        departs_at=row.departs_at,
        flight_lands=row.flight_lands,
        kiosk=row.kiosk,
    )


def _evidence(row: Any, began_at: datetime | None, drop: dict[str, Any] | None) -> Evidence:
    places = [(row.drop_lat, row.drop_lng), (row.end_lat, row.end_lng)]
    if drop:
        places[0] = (drop["lat"], drop["lng"])
    return Evidence(
        created_at=row.created_at,
        began_at=began_at,
        ended_at=row.ended_at,
        pickup=(row.pickup_lat, row.pickup_lng),
        drop=next((at for at in places if None not in at), None),
        kind=row.kind,
        seats=row.seats,
        payment=row.payment,
        facts=row.facts or {},
    )


def _drops(s: Session, ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """The latest change of drop that the service accepted, by order."""
    rows = s.execute(_DROPS, {"ids": ids})
    return {row[0]: row[1] for row in rows if isinstance(row[1].get("lat"), (int, float))}


def _fits(property_id: int, filters: RideFilter) -> list[ColumnElement[bool]]:
    found = [
        Order.property_id == property_id,
        Order.happens_at >= filters.since,
        Order.happens_at < filters.until,
    ]
    if filters.outcome is not None:
        found.append(has_outcome(filters.outcome))
    if filters.guest:
        found.append(Order.guest_id.in_(guests_like(property_id, filters.guest)))
    if filters.room:
        found.append(Order.room.in_(spellings(filters.room)))
    equal: tuple[tuple[Any, Any], ...] = (
        (Order.staff_id, filters.staff_id),
        (Order.category, filters.category or None),
        (Order.cost_centre_id, filters.centre_id),
    )
    return found + [column == value for column, value in equal if value is not None]


def has_outcome(outcome: RideOutcome) -> ColumnElement[bool]:
    """The outcome of an order as an SQL condition, equivalent to `outcome_of`."""
    ends = [end for end, found in _BY_END.items() if found is outcome]
    states: Collection[OrderState] = [s for s, found in _BY_STATE.items() if found is outcome]
    if outcome is RideOutcome.LIVE:
        states = LIVE_STATES
    by_state = and_(
        or_(Order.ended_as.is_(None), Order.ended_as.not_in(list(_BY_END))), Order.state.in_(states)
    )
    if not states:
        return Order.ended_as.in_(ends)
    if not ends:
        return by_state
    return or_(Order.ended_as.in_(ends), by_state)


def outcome_number() -> ColumnElement[int]:
    """The outcome of an order in SQL, as its position in OUTCOMES, equivalent to `outcome_of`."""

    def number(outcome: RideOutcome) -> ColumnElement[int]:
        return literal_column(str(OUTCOMES.index(outcome)), Integer)

    by_state = [(Order.state == state, number(found)) for state, found in _BY_STATE.items()]
    by_end = [(Order.ended_as == end, number(found)) for end, found in _BY_END.items()]
    return case(*by_end, else_=case(*by_state, else_=number(RideOutcome.LIVE)))


_INDEX_ALONE: Final = (
    text("SET LOCAL enable_seqscan = off"),
    text("SET LOCAL enable_bitmapscan = off"),
    text("SET LOCAL jit = off"),  # compiling takes longer than it saves
)


def by_index(s: Session) -> None:
    """Make PostgreSQL scan indexes in this transaction; by itself it prefers slower plans."""
    if s.get_bind().dialect.name == "postgresql":
        for setting in _INDEX_ALONE:
            s.execute(setting)


def _other_sums(
    s: Session, property_id: int, filters: RideFilter, currency: str | None
) -> dict[str | None, int]:
    other: ColumnElement[bool] = Order.currency.is_not(None)
    if currency:
        other = or_(Order.currency.is_(None), Order.currency != currency)
    query = select(Order.currency, func.sum(Order.total_minor)).where(
        *_fits(property_id, filters), other
    )
    priced = Order.ended_as == wire.COMPLETED, Order.total_minor.is_not(None)
    return {
        name: int(amount)
        for name, amount in s.execute(query.where(*priced).group_by(Order.currency))
    }
