"""What belongs to a property beside its rides: staff, favourite places, cost centres."""

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from ridedash.store.desk_tables import CostCentre, Favourite
from ridedash.store.orders import MAX_ID
from ridedash.store.people_tables import SignIn, Staff


def staff_of(s: Session, property_id: int) -> list[Staff]:
    """Everybody of a property, those who may sign in first."""
    query = select(Staff).where(Staff.property_id == property_id)
    return list(s.scalars(query.order_by(Staff.disabled_at.is_not(None), Staff.name, Staff.id)))


def staff_member(s: Session, property_id: int, staff_id: int) -> Staff | None:
    """One member of a property's staff; None when they are another's."""
    if not 0 < staff_id <= MAX_ID:
        return None
    return s.scalars(select(Staff).where(Staff.property_id == property_id, Staff.id == staff_id)).first()


def sign_ins_of(s: Session, staff_ids: list[int], now: datetime) -> dict[int, int]:
    """How many sign-ins hold now, by member of staff."""
    query = select(SignIn.staff_id, func.count()).where(SignIn.staff_id.in_(staff_ids), SignIn.expires_at > now)
    return {row[0]: row[1] for row in s.execute(query.group_by(SignIn.staff_id))}


def favourites_of(s: Session, property_id: int) -> dict[tuple[str, int], Favourite]:
    """Favourite places by kind (pickup, drop) and slot (1-9)."""
    rows = s.scalars(select(Favourite).where(Favourite.property_id == property_id))
    return {(row.kind, row.slot): row for row in rows}


def set_favourite(s: Session, property_id: int, kind: str, slot: int, name: str, lat: float, lng: float) -> None:
    """Put a place on a slot, in place of the one that was there."""
    row = favourites_of(s, property_id).get((kind, slot))
    if row is None:
        row = Favourite(property_id=property_id, kind=kind, slot=slot)
        s.add(row)
    row.name, row.lat, row.lng = name, lat, lng


def cost_centres_of(s: Session, property_id: int) -> list[CostCentre]:
    """Cost centres of a property, the open ones first."""
    query = select(CostCentre).where(CostCentre.property_id == property_id)
    return list(s.scalars(query.order_by(CostCentre.closed_at.is_not(None), CostCentre.name, CostCentre.id)))


def cost_centre_of(s: Session, property_id: int, centre_id: int) -> CostCentre | None:
    """One cost centre of a property; None when it is another's."""
    if not 0 < centre_id <= MAX_ID:
        return None
    query = select(CostCentre).where(CostCentre.property_id == property_id, CostCentre.id == centre_id)
    return s.scalars(query).first()
