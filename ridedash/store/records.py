"""One line for each ride of a list: what history, search and hand-over show, in a few queries however many rides."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import BindParameter, and_, bindparam, select
from sqlalchemy.orm import Session

from ridedash import wire
from ridedash.store.desk_tables import CostCentre
from ridedash.store.order_tables import Action, Moment, Offer, Order, Ride
from ridedash.store.people_tables import Guest, Staff


@dataclass(frozen=True)
class Record:
    """What a list shows of one order. `drop` is where the ride goes now, also after a change; None: never said."""

    id: int
    at: datetime  # pickup of a planned ride, else when it was asked for
    planned: bool
    state: str
    ended_as: str | None
    status: str | None
    guest: str
    phone: str | None
    room: str | None
    pickup: str | None
    drop: str | None
    has_drop: bool
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


@dataclass(frozen=True)
class Evidence:
    """What a bill needs beside the record."""

    created_at: datetime
    began_at: datetime | None
    ended_at: datetime | None
    pickup: tuple[float, float]
    drop: tuple[float, float] | None
    kind: str
    seats: int | None
    payment: str | None
    facts: dict[str, Any]


_IDS: Final[BindParameter[Sequence[int]]] = bindparam("ids", expanding=True)
_RECORDS: Final = (
    select(
        Order.id, Order.happens_at, Order.created_at, Order.pickup_at, Order.state, Order.ended_as, Ride.status,
        Guest.name, Guest.phone, Order.room, Offer.pickup_name, Offer.drop_name, Offer.drop_lat, Offer.display_name,
        Order.category, Staff.name.label("staff"), CostCentre.name.label("centre"), Ride.plate,
        Order.total_minor, Order.currency, Order.mtx, Order.booking_id, Order.note,
    )
    .join(Offer, Offer.id == Order.offer_id)
    .join(Guest, Guest.id == Order.guest_id)
    .outerjoin(Ride, Ride.order_id == Order.id)
    .outerjoin(Staff, Staff.id == Order.staff_id)
    .outerjoin(CostCentre, and_(CostCentre.id == Order.cost_centre_id, CostCentre.property_id == Order.property_id))
    .where(Order.property_id == bindparam("property_id"), Order.id.in_(_IDS))
)  # fmt: skip
_EVIDENCE: Final = (
    select(
        Order.id, Order.created_at, Ride.ended_at, Offer.pickup_lat, Offer.pickup_lng, Offer.drop_lat, Offer.drop_lng,
        Order.kind, Order.seats, Order.payment, Ride.facts,
    )
    .join(Offer, Offer.id == Order.offer_id)
    .outerjoin(Ride, Ride.order_id == Order.id)
    .where(Order.property_id == bindparam("property_id"), Order.id.in_(_IDS))
)  # fmt: skip
_DROPS: Final = (
    select(Action.order_id, Action.payload)
    .where(Action.order_id.in_(_IDS), Action.name == "drop", Action.state == "done")
    .order_by(Action.id)
)
_BEGINNINGS: Final = select(Moment.order_id, Moment.at).where(
    Moment.order_id.in_(_IDS), Moment.what == "ride", Moment.name == wire.IN_PROGRESS
)


def records(s: Session, property_id: int, ids: Sequence[int]) -> list[Record]:
    """Records of a property's orders in the order of `ids`; foreign ids are left out."""
    drops = _drops(s, ids)
    rows = s.execute(_RECORDS, {"property_id": property_id, "ids": ids})
    found = {row.id: _record(row, drops.get(row.id)) for row in rows}
    return [found[each] for each in ids if each in found]


def evidence(s: Session, property_id: int, ids: Sequence[int]) -> dict[int, Evidence]:
    """What bills need beside their records, by order."""
    drops, began = _drops(s, ids), {row[0]: row[1] for row in s.execute(_BEGINNINGS, {"ids": ids})}
    rows = s.execute(_EVIDENCE, {"property_id": property_id, "ids": ids})
    return {row.id: _evidence(row, began.get(row.id), drops.get(row.id)) for row in rows}


def _record(row: Any, drop: dict[str, Any] | None) -> Record:
    return Record(
        id=row.id,
        at=row.happens_at or row.created_at,
        planned=row.pickup_at is not None,
        state=row.state,
        ended_as=row.ended_as,
        status=row.status,
        guest=row.name,
        phone=row.phone,
        room=row.room,
        pickup=row.pickup_name,
        drop=drop.get("name") if drop else row.drop_name,
        has_drop=drop is not None or row.drop_lat is not None,
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
    )


def _evidence(row: Any, began_at: datetime | None, drop: dict[str, Any] | None) -> Evidence:
    at = (drop["lat"], drop["lng"]) if drop else (row.drop_lat, row.drop_lng)
    return Evidence(
        created_at=row.created_at,
        began_at=began_at,
        ended_at=row.ended_at,
        pickup=(row.pickup_lat, row.pickup_lng),
        drop=None if None in at else at,
        kind=row.kind,
        seats=row.seats,
        payment=row.payment,
        facts=row.facts or {},
    )


def _drops(s: Session, ids: Sequence[int]) -> dict[int, dict[str, Any]]:
    """The newest change of drop that the service took, by order."""
    rows = s.execute(_DROPS, {"ids": ids})
    return {row[0]: row[1] for row in rows if isinstance(row[1].get("lat"), (int, float))}
