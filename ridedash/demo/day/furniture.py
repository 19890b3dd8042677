"""What a hotel in full swing has beside rides: favourites, cost centres, the house's phone."""

from collections.abc import Mapping
from typing import Final

from sqlalchemy.orm import Session

from ridedash.demo.day.plan import CENTRES
from ridedash.geo import LatLng
from ridedash.store.models.desk import CostCentre
from ridedash.store.models.people import Property
from ridedash.store.properties import cost_centres_of, favourites_of, set_favourite

PHONE: Final = "+910000099000"  # a range that nobody has
# by the keys from 1; the first six stand there in every demo
DROPS: Final = (
    *("Meridian Airport", "Port Meridian Central Station", "Ferry Terminal"),
    *("Meridian General Hospital", "Conference Centre", "Cathedral of the Two Tides"),
    *("Opera on the Lode", "Harbour Market", "Lode Stadium"),
)


def seed(s: Session, prop: Property, places: Mapping[str, LatLng]) -> Property:
    """Add what is missing; what the property has stays."""
    known = favourites_of(s, prop.id)
    for slot, name in enumerate(DROPS, 1):
        if ("drop", slot) not in known:
            set_favourite(s, prop.id, "drop", slot, name, places[name])
    have = {each.name for each in cost_centres_of(s, prop.id)}
    s.add_all(CostCentre(property_id=prop.id, name=name) for name in CENTRES if name not in have)
    prop.phone = prop.phone or PHONE
    return prop
