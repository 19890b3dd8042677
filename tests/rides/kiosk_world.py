"""A kiosk in the small desk of tests/rides/desk_world.py, and presses of Book on it."""

import itertools
from typing import Any
from zoneinfo import ZoneInfo

from ridedash.rides.kiosk.approvals import GuestRequest
from ridedash.rides.kiosk.place import KioskPress, book
from ridedash.rides.kiosk.tickets import pin_of
from ridedash.rides.orders.place import Placed
from ridedash.store.actors import by_kiosk
from ridedash.store.models.kiosks import Kiosk, Ticket
from ridedash.store.offers import OfferOwner, Priced, Trip, add_offer
from tests.rides.desk_world import DROP, PICKUP, World

KEY = "a secret of this installation"
TZ = ZoneInfo("Asia/Kolkata")
numbers = itertools.count(1)


def add_kiosk(world: World, **facts: Any) -> int:
    """A paired kiosk of the world's property; guests pay the driver unless `rule` is given."""
    given = {"kind": "kiosk", "name": "Lobby", "rule": "driver", "made_at": world.clock()}
    with world.db.write() as s:
        row = Kiosk(property_id=world.property_id, **{**given, **facts})
        s.add(row)
        s.flush()
        return row.id


def set_kiosk(world: World, kiosk_id: int, **facts: Any) -> None:
    with world.db.write() as s:
        row = s.get_one(Kiosk, kiosk_id)
        for name, value in facts.items():
            setattr(row, name, value)


def kiosk_of(world: World, kiosk_id: int) -> Kiosk:
    with world.db.read() as s:
        return s.get_one(Kiosk, kiosk_id)


def kiosk_offer(world: World, kiosk_id: int, category: str = "mini", **facts: Any) -> int:
    """An offer as the kiosk shows it; `kind`, `product` and `fare_id` may be given."""
    kind = facts.pop("kind", {"share": "share"}.get(category, "point_to_point"))
    product = {"category": category, **facts.pop("product", {})}
    priced = Priced(category, kind, category.title(), "INR", "₹240", product, **facts)
    with world.db.write() as s:
        owner = OfferOwner(world.property_id, by_kiosk(kiosk_id))
        return add_offer(s, owner, Trip(PICKUP, "Lobby", DROP, "Airport"), priced, world.clock()).id


def press(world: World, kiosk_id: int, **facts: Any) -> KioskPress:
    """A press of Book by a new guest, with a fresh offer unless one is given."""
    number = next(numbers)
    who = GuestRequest(
        facts.pop("name", f"Guest{'abcdefghij'[number % 10]}{number}"),
        facts.pop("room", None),
        facts.pop("phone", None),
        facts.pop("seats", None),
    )
    given: dict[str, Any] = {
        "property_id": world.property_id,
        "visit_id": f"visit-{number:016}",
        "form_token": f"token-{number:016}",
    }
    if "offer_id" not in facts:
        given["offer_id"] = kiosk_offer(world, kiosk_id)
    return KioskPress(kiosk_id=kiosk_id, request=who, **{**given, **facts})


def pressed(world: World, pushed: KioskPress) -> Placed:
    return book(world.runtime, KEY, pushed, TZ)


def ticket(world: World, order_id: int) -> Ticket:
    with world.db.read() as s:
        return s.query(Ticket).filter_by(order_id=order_id).one()


def pin(pushed: KioskPress) -> str:
    return pin_of(KEY, pushed.secret)
