"""A list of guests on a small desk, pressed or not."""

from datetime import datetime
from typing import Any

from sqlalchemy import select

from ridedash.rides.guest_lists import press
from ridedash.rides.guest_lists.press import CarPlan
from ridedash.rides.orders.request import new_group, new_reference
from ridedash.store.guest_lists import (
    GuestList,
    ListLine,
    ListState,
    NewLine,
    lines_of,
    store_list,
)
from tests.rides.desk_world import DROP, PICKUP, World

PRICE = 24_000  # what the desk was shown, in hundredths


def priced(fare: float = 240, category: str = "mini") -> dict[str, Any]:
    """The service's answer for one category with a fixed price."""
    upfront = {"fare": fare, "fare_id": f"fare-{fare}", "is_upfront_applicable": True}
    return {
        "categories": [
            {
                "id": category,
                "display_name": category.title(),
                "currency": "INR",
                "eta": 3,
                "time_unit": "minute",
            }
        ],
        "ride_estimate": [{"category": category, "upfront": upfront}],
    }


class ListWorld:
    """A list on a world's database."""

    def __init__(self, world: World, guests: int = 3, **trip: Any) -> None:
        self.world = world
        world.service.products = lambda _query: priced()
        now = world.clock()
        facts = {
            "pickup": {"name": "Lobby", "lat": PICKUP.lat, "lng": PICKUP.lng},
            "drop": {"name": "Airport", "lat": DROP.lat, "lng": DROP.lng},
            "category": "mini",
            "account_id": world.account_id,
            "margin_min": 10,
            "zone": "Asia/Kolkata",
            **trip,
        }
        row = GuestList(
            property_id=world.property_id,
            staff_id=world.staff_id,
            label="",
            state=ListState.DRAFT,
            version=0,
            created_at=now,
            changed_at=now,
            digest="d",
            form_token=f"list-token-{next(world.numbers):06}",
            group_key=new_group(),
            sheet={},
            trip=facts,
        )
        lines = [
            NewLine(n, (f"Guest {n}", str(400 + n)), None, new_reference())
            for n in range(1, guests + 1)
        ]
        with world.db.write() as s:
            self.id = store_list(s, row, lines).id
            for line in lines_of(s, self.id):
                line.shown_minor, line.currency = PRICE, "INR"

    @property
    def row(self) -> GuestList:
        with self.world.db.read() as s:
            return s.get_one(GuestList, self.id)

    @property
    def lines(self) -> list[ListLine]:
        with self.world.db.read() as s:
            return lines_of(s, self.id)

    @property
    def states(self) -> list[str]:
        return [str(line.state) for line in self.lines]

    def plan(self, number: int, at: datetime | None = None, **facts: Any) -> CarPlan:
        given: dict[str, Any] = {
            "name": f"Guest {number}",
            "room": str(400 + number),
            "phone": None,
            "pickup_at": at,
            "flight": None,
            "note": None,
        }
        return CarPlan(number, **{**given, **facts})

    def press(self, *cars: CarPlan, version: int | None = None) -> bool:
        """Book these cars, or one for each line."""
        wanted = cars or tuple(self.plan(line.number) for line in self.lines)
        shown = self.world.property_id, self.id, self.row.version if version is None else version
        return press.book(self.world.db, self.world.clock, shown, self.world.staff_id, wanted)

    def stop(self) -> bool:
        return press.stop(self.world.db, self.world.clock, *self._who)

    def go_on(self) -> bool:
        return press.go_on(self.world.db, self.world.clock, *self._who)

    def answer(self, number: int, code: str) -> bool:
        line = self.world.property_id, self.id, number
        return press.answer(self.world.db, self.world.clock, line, self.world.staff_id, code)

    @property
    def _who(self) -> tuple[int, int, int]:
        return self.world.property_id, self.id, self.world.staff_id

    def offer_all(self) -> None:
        """Store an offer for each line, as its page does when it shows prices."""
        for line in self.lines:
            offer_id = self.world.offer()
            with self.world.db.write() as s:
                s.get_one(ListLine, line.id).offer_id = offer_id

    def change(self, **values: Any) -> None:
        with self.world.db.write() as s:
            row = s.scalars(select(GuestList).where(GuestList.id == self.id)).one()
            for name, value in values.items():
                setattr(row, name, value)
