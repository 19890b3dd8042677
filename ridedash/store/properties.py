"""Properties, their logos and pictures, staff, favourite places and cost centres."""

import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Final, TypedDict, Unpack

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from ridedash.face import Crop, Logo
from ridedash.geo import LatLng
from ridedash.store.models.desk import CostCentre, Favourite
from ridedash.store.models.orders import Order, OrderState
from ridedash.store.models.people import LogoRow, PictureRow, Property, SignIn, Staff
from ridedash.store.sign_ins import sign_in_key, sign_in_keys

GROUNDS: Final = ("light", "dark")  # background of a logo
DOOR_BYTES: Final = 12  # 96 random bits: a door's address can't be guessed


class PropertyFacts(TypedDict, total=False):
    """The columns of a property that are optional."""

    country: str | None
    currency: str | None
    pickup_name: str | None
    pickup_lat: float | None
    pickup_lng: float | None
    phone: str | None


def add_property(
    s: Session, name: str, timezone: str, now: datetime, **facts: Unpack[PropertyFacts]
) -> Property:
    """Add a property; the row has its id when this returns."""
    row = Property(name=name, timezone=timezone, created_at=now, **facts)
    s.add(row)
    s.flush()
    return row


def find_property(s: Session, name: str) -> Property | None:
    """A property by its name."""
    return s.scalars(select(Property).where(Property.name == name)).first()


def properties(s: Session) -> list[Property]:
    """All properties, the oldest first."""
    return list(s.scalars(select(Property).order_by(Property.id)))


def planned_pickups(s: Session, property_id: int) -> list[datetime]:
    """The pickup times of planned rides that are not ordered yet, the soonest first."""
    planned = Order.property_id == property_id, Order.state == OrderState.SCHEDULED
    query = select(Order.pickup_at).where(*planned, Order.pickup_at.is_not(None))
    return [at for at in s.scalars(query.order_by(Order.pickup_at)) if at is not None]


def locked_property(s: Session, property_id: int) -> Property:
    """The locked property, for a change of what belongs to it: parallel ones would not see it."""
    return s.get_one(Property, property_id, with_for_update=True)


def keep_logo(s: Session, prop: Property, logo: Logo | None) -> None:
    """Use this logo from now on, or none. Deletes the former one."""
    s.execute(delete(LogoRow).where(LogoRow.property_id == prop.id))
    prop.logo = None
    prop.logo_width = None
    prop.logo_height = None
    if logo:
        prop.logo = logo.name
        prop.logo_width = logo.width
        prop.logo_height = logo.height
        s.add(LogoRow(property_id=prop.id, name=logo.name, content=logo.content))


def keep_picture(s: Session, prop: Property, crops: Mapping[str, Crop], focus: str) -> None:
    """Show these crops, by shape, on kiosks from now on, or none. Deletes the former ones."""
    s.execute(delete(PictureRow).where(PictureRow.property_id == prop.id))
    prop.picture_wide = None
    prop.picture_tall = None
    prop.picture_focus = None
    if crops:
        prop.picture_wide = crops["wide"].name
        prop.picture_tall = crops["tall"].name
        prop.picture_focus = focus
    for shape, crop in crops.items():
        s.add(PictureRow(property_id=prop.id, shape=shape, name=crop.name, content=crop.content))


def face_content(s: Session, name: str) -> bytes | None:
    """The bytes of the logo or crop with this name; None when no property shows it any more."""
    rows = PictureRow if name.endswith(".jpg") else LogoRow
    return s.scalars(select(rows.content).where(rows.name == name).limit(1)).first()


def make_door(prop: Property) -> None:
    """Give the property a sign-in address of its own, unless it has one."""
    prop.door = prop.door or secrets.token_urlsafe(DOOR_BYTES)


def property_at(s: Session, door: str) -> Property | None:
    """The property of a sign-in page: the one with this `door`; for "", the only property.

    None if no property has this `door`; for "", if there is not exactly one property.
    """
    if door:
        return s.scalars(select(Property).where(Property.door == door)).first()
    rows = s.scalars(select(Property).limit(2)).all()
    if len(rows) != 1:
        return None
    return rows[0]


def add_staff(
    s: Session, property_id: int, name: str, password_hash: str, role: str, now: datetime
) -> Staff:
    """Add a member of staff, who signs in with their name in any case of letters."""
    row = Staff(
        property_id=property_id,
        name=name,
        sign_in_name=sign_in_key(name),
        password_hash=password_hash,
        role=role,
        created_at=now,
    )
    s.add(row)
    s.flush()
    return row


def find_staff(s: Session, sign_in_name: str) -> Staff | None:
    """The member of staff with this sign-in name who is not disabled."""
    found = anybody(s, sign_in_name)
    if found is None or found.disabled_at is not None:
        return None
    return found


def anybody(s: Session, sign_in_name: str) -> Staff | None:
    """The person with this sign-in name, disabled or not."""
    query = select(Staff).where(Staff.sign_in_name.in_(sign_in_keys(sign_in_name)))
    found = {row.sign_in_name: row for row in s.scalars(query)}
    return next((found[key] for key in sign_in_keys(sign_in_name) if key in found), None)


def is_taken(s: Session, sign_in_name: str) -> bool:
    """Whether a person, disabled or not, has this sign-in name: no two people share one."""
    return anybody(s, sign_in_name) is not None


def staff_of(s: Session, property_id: int) -> list[Staff]:
    """The staff of a property, those who may sign in first."""
    query = select(Staff).where(Staff.property_id == property_id)
    return list(s.scalars(query.order_by(Staff.disabled_at.is_not(None), Staff.name, Staff.id)))


def staff_member(s: Session, property_id: int, staff_id: int) -> Staff | None:
    """One member of a property's staff; None when they are another property's."""
    return s.scalars(
        select(Staff).where(Staff.property_id == property_id, Staff.id == staff_id)
    ).first()


def sign_ins_of(s: Session, staff_ids: list[int], now: datetime) -> dict[int, int]:
    """The number of valid sign-ins for each member of staff."""
    query = select(SignIn.staff_id, func.count()).where(
        SignIn.staff_id.in_(staff_ids), SignIn.expires_at > now
    )
    return {row[0]: row[1] for row in s.execute(query.group_by(SignIn.staff_id))}


def favourites_of(s: Session, property_id: int) -> dict[tuple[str, int], Favourite]:
    """Favourite places by kind (pickup, drop) and slot (1-9)."""
    rows = s.scalars(select(Favourite).where(Favourite.property_id == property_id))
    return {(row.kind, row.slot): row for row in rows}


def set_favourite(
    s: Session, property_id: int, kind: str, slot: int, name: str, position: LatLng
) -> None:
    """Store a place in a slot, replacing the one that was there."""
    row = favourites_of(s, property_id).get((kind, slot))
    if row is None:
        row = Favourite(property_id=property_id, kind=kind, slot=slot)
        s.add(row)
    row.name = name
    row.lat = position.lat
    row.lng = position.lng


def move_favourite(s: Session, property_id: int, kind: str, slot: int, *, up: bool) -> int | None:
    """Exchange a place with its neighbour in the list. Returns its new slot; None at an end.

    The property is locked: two parallel moves would lose one of the places.
    """
    locked_property(s, property_id)
    rows = favourites_of(s, property_id)
    slots = sorted(number for of, number in rows if of == kind)
    if slot not in slots:
        return None
    at = slots.index(slot) + (-1 if up else 1)
    if not 0 <= at < len(slots):
        return None
    one, other = rows[kind, slot], rows[kind, slots[at]]
    for name in ("name", "lat", "lng"):  # not the slots, of which no two may be the same
        mine, theirs = getattr(one, name), getattr(other, name)
        setattr(one, name, theirs)
        setattr(other, name, mine)
    return slots[at]


def cost_centres_of(s: Session, property_id: int) -> list[CostCentre]:
    """Cost centres of a property, the open ones first."""
    query = select(CostCentre).where(CostCentre.property_id == property_id)
    return list(
        s.scalars(query.order_by(CostCentre.closed_at.is_not(None), CostCentre.name, CostCentre.id))
    )


def cost_centre_of(s: Session, property_id: int, centre_id: int) -> CostCentre | None:
    """One cost centre of a property; None when it is another property's."""
    query = select(CostCentre).where(
        CostCentre.property_id == property_id, CostCentre.id == centre_id
    )
    return s.scalars(query).first()
