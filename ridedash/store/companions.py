"""The further guests of a shared car: storing them with its order, finding and forgetting them."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime

from sqlalchemy import delete, or_, select
from sqlalchemy.orm import Session

from ridedash.names import name_key
from ridedash.store.models.lists import Companion
from ridedash.store.models.orders import UNSETTLED, Order, Ride
from ridedash.text import normalised, room_key

__all__ = [
    "Companion",
    "companions_of",
    "erase_companions",
    "forget_companions",
    "named_companions",
    "remove_companions",
]


def companions_of(s: Session, order_ids: Collection[int]) -> dict[int, list[Companion]]:
    """The further guests of these orders, by order, in the order of their list."""
    found: dict[int, list[Companion]] = {}
    query = select(Companion).where(Companion.order_id.in_(order_ids)).order_by(Companion.id)
    for each in s.scalars(query):
        found.setdefault(each.order_id, []).append(each)
    return found


# ---- privacy (docs/security.md 8)


def named_companions(
    s: Session, property_id: int, phone: str | None, name: str | None, room: str | None
) -> list[Companion]:
    """Those with this phone number (E.164); without one, those of this name and room."""
    query = select(Companion).where(Companion.property_id == property_id)
    if phone:
        theirs = (
            or_(column == phone, column.startswith(f"{phone};", autoescape=True))
            for column in (Companion.phone, Companion.phone2)
        )
        return list(s.scalars(query.where(or_(*theirs))))
    wanted = name_key(name or ""), _room(room)
    return [each for each in s.scalars(query) if (name_key(each.name), _room(each.room)) == wanted]


def erase_companions(s: Session, property_id: int, is_named: Callable[[str], bool]) -> None:
    """Delete those of the property of whom a name or a number is that of a guest."""
    for each in s.scalars(select(Companion).where(Companion.property_id == property_id)):
        if any(is_named(text) for text in (each.name, each.phone, each.phone2) if text):
            s.delete(each)


def forget_companions(s: Session, order_ids: Sequence[int]) -> None:
    """Delete the further guests of these orders."""
    s.execute(delete(Companion).where(Companion.order_id.in_(order_ids)))


def remove_companions(s: Session, before: datetime, limit: int) -> int:
    """Delete those of rides that were before this time and are over. Returns how many."""
    followed = (
        select(Ride.id).where(Ride.order_id == Order.id, Ride.next_poll_at.is_not(None)).exists()
    )
    old = (
        select(Companion.id)
        .join(Order, Order.id == Companion.order_id)
        .where(Order.happens_at < before, Order.state.not_in(UNSETTLED), ~followed)
    )
    ids = s.scalars(old.order_by(Companion.id).limit(limit)).all()
    if ids:
        s.execute(delete(Companion).where(Companion.id.in_(ids)))
    return len(ids)


def _room(room: str | None) -> str:
    return room_key(normalised(room or "") or room)
