"""How many fit into the cars of each category, as a property has set it."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash.fits import UNKNOWN, Capacity
from ridedash.store.models.desk import CarCapacity
from ridedash.store.models.orders import Offer
from ridedash.store.offers import REMEMBERED
from ridedash.wire import Kind


@dataclass(frozen=True)
class CarKind:
    """A category of cars that the property was offered, by its name at that time."""

    category: str
    name: str
    capacity: Capacity


def capacities_of(s: Session, property_id: int) -> dict[str, Capacity]:
    """What the property has set, by category; categories of which nothing is set are missing."""
    query = select(CarCapacity).where(CarCapacity.property_id == property_id)
    return {row.category: Capacity(row.persons, row.bags) for row in s.scalars(query)}


def capacity_of(s: Session, property_id: int, category: str) -> Capacity:
    """What the property has set for one category."""
    return _of_row(s.get(CarCapacity, (property_id, category)))


def _of_row(row: CarCapacity | None) -> Capacity:
    if row is None:
        return UNKNOWN
    return Capacity(row.persons, row.bags)


def car_kinds(s: Session, property_id: int) -> list[CarKind]:
    """The categories of the property's latest offers, and those that have a capacity; by name.

    Without shared rides: the service itself tells their seats.
    """
    query = select(CarCapacity).where(CarCapacity.property_id == property_id)
    found = {
        row.category: CarKind(row.category, row.name, Capacity(row.persons, row.bags))
        for row in s.scalars(query)
    }
    newest = (
        select(Offer.category, Offer.display_name, Offer.kind)
        .where(Offer.property_id == property_id)
        .order_by(Offer.id.desc())
        .limit(REMEMBERED)
    )
    named: dict[str, str] = {}
    for category, name, kind in s.execute(newest):
        if kind != Kind.SHARE:
            named.setdefault(category, name)
    for category, name in named.items():
        known = found.get(category)
        found[category] = CarKind(category, name, known.capacity if known else UNKNOWN)
    return sorted(found.values(), key=lambda kind: (kind.name.casefold(), kind.category))


def set_capacities(
    s: Session, property_id: int, kinds: Mapping[str, str], wanted: Mapping[str, Capacity]
) -> list[str]:
    """Store what fits into categories, each named as in `kinds`. Returns those that changed.

    The property has to be locked. A category of which nothing is known any more is removed.
    """
    changed = []
    for category, capacity in wanted.items():
        row = s.get(CarCapacity, (property_id, category))
        if capacity == _of_row(row):
            continue
        changed.append(category)
        if row is not None and not capacity:
            s.delete(row)
            continue
        if row is None:
            row = CarCapacity(property_id=property_id, category=category)
            s.add(row)
        row.name = kinds[category]
        row.persons = capacity.persons
        row.bags = capacity.bags
    return changed
