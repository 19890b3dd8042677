"""The further guests of a shared car: found, asked about, shown, and forgotten as its guest is."""

from datetime import timedelta

import pytest
from sqlalchemy import inspect, select

from ridedash.rides.guest_lists.press import Along
from ridedash.rides.orders.guard import GuardBusy
from ridedash.rides.privacy.erase import ErasedGuest, erase
from ridedash.rides.privacy.retention import RetentionDays, retention_job
from ridedash.store.companions import Companion, companions_of
from ridedash.store.database.database import Database
from ridedash.store.guest_lists import planned_nearby
from ridedash.store.models.orders import Order
from ridedash.store.search import find_orders
from tests.rides.desk_world import World
from tests.rides.guest_lists.test_waves import run
from tests.rides.list_world import ListWorld
from tests.rides.privacy.ended_rides import KEY, hits
from tests.store.migrated import migrate

pytestmark = pytest.mark.database
PHONE = "+447911123481"
ALONG = Along(2, "Peter Wren-Smith (211)", "Peter Wren-Smith", "211", PHONE)


def shared(world: World, seconds: int = 30, planned: bool = False) -> ListWorld:
    """A booked list of one car, in which the guest of line 2 rides along."""
    listed = ListWorld(world, guests=2)
    listed.offer_all()
    at = world.clock() + timedelta(days=1) if planned else None
    note = "Also in this car: Peter Wren-Smith (211)"
    listed.press(listed.plan(1, at, others=(ALONG,), note=note))
    run(world, seconds)
    assert listed.states == ["ORDERED"] * 2
    return listed


def rows(world: World) -> list[tuple[str, str | None, str | None]]:
    with world.db.read() as s:
        return [(each.name, each.room, each.phone) for each in s.scalars(select(Companion))]


@pytest.mark.parametrize("text", ["Wren-Smith", "wren", "211", "07911 123481", "3481"])
@pytest.mark.parametrize("over", [False, True])
def test_a_ride_is_found_by_a_guest_who_rides_along(world: World, text: str, over: bool) -> None:
    listed = shared(world)
    order_id = listed.lines[0].order_id
    with world.db.write() as s:
        if over:
            order = s.get_one(Order, order_id)
            order.state, order.open, order.version = "REJECTED", False, order.version + 1
    with world.db.read() as s:
        assert find_orders(s, world.property_id, text, 10) == [order_id]
        assert find_orders(s, world.property_id, "Merle", 10) == []
        assert find_orders(s, world.property_id + 1, text, 10) == []
        assert list(companions_of(s, [order_id or 0])) == [order_id]
    assert rows(world) == [("Peter Wren-Smith", "211", PHONE)]
    assert (listed.lines[1].plan or {})["room"] == "211"


def test_a_second_car_for_a_guest_who_rides_along_is_asked_about(world: World) -> None:
    order_id = shared(world).lines[0].order_id
    with pytest.raises(GuardBusy) as busy:
        world.place(guest_name="Wren-Smith, Peter", guest_room="211", guest_phone=PHONE)
    assert [each.order_id for each in busy.value.rides] == [order_id]
    world.place(guest_name="Lark", guest_room="212", guest_phone=None)


def test_a_planned_ride_is_near_for_those_who_ride_along_too(world: World) -> None:
    shared(world, planned=True)
    at = world.clock() + timedelta(days=1)
    with world.db.read() as s:
        near = planned_nearby(s, world.property_id, at, at, "another group")
    assert [who.name for _order, who in near] == ["Guest 1", "Peter Wren-Smith"]


def test_erasing_finds_a_guest_who_only_rides_along(world: World) -> None:
    listed = shared(world)
    wanted = ErasedGuest(world.property_id, phone=PHONE)
    assert erase(world.db, world.clock, KEY, wanted)[0] == 1
    assert rows(world) == []
    assert listed.lines[1].plan is None
    assert hits(world, "Wren-Smith", "7911123481") == set()


def test_erasing_by_name_and_room_and_erasing_the_guest_of_the_order(world: World) -> None:
    shared(world)
    wanted = ErasedGuest(world.property_id, name="wren smith, peter", room="211")
    erase(world.db, world.clock, KEY, wanted)
    assert rows(world) == []


def test_retention_deletes_those_who_ride_along_with_the_rides_guests(world: World) -> None:
    shared(world, planned=True)
    world.clock.go(29 * 24 * 3600)
    retention_job(world.db, RetentionDays(), KEY, world.clock())
    assert len(rows(world)) == 1
    with world.db.write() as s:
        for order in s.scalars(select(Order)):
            order.state, order.open, order.version = "NOT_SENT", False, order.version + 1
    world.clock.go(3 * 24 * 3600)
    retention_job(world.db, RetentionDays(), KEY, world.clock())
    assert rows(world) == []


def test_the_migration_makes_the_table_and_takes_it_back(world: World) -> None:
    db: Database = world.db
    migrate(db, "0048", "downgrade")
    assert "order_companions" not in inspect(db.engine).get_table_names()
    migrate(db, "0048", "upgrade")
    assert rows(world) == []
