"""The migration to one folding of names: keys of guests, and guards of orders that are open."""

import pytest
from sqlalchemy import select, text, update

from ridedash.rides.orders.guard import GuardBusy
from ridedash.store.models.orders import Order
from tests.rides.desk_world import World
from tests.store.migrated import migrate

pytestmark = pytest.mark.database
ROOM = "412"
OLD_LUKASZ = "7bf4f7ae90cffba894e2cc2d"  # of "lukasz kot/412", as older releases made it


def guards(world: World) -> list[str | None]:
    with world.db.read() as s:
        return list(s.scalars(select(Order.guard_key).order_by(Order.id)))


def test_the_guard_of_an_order_of_an_older_release_holds_after_an_upgrade(world: World) -> None:
    first = world.place(guest_name="Łukasz Kot", guest_room=ROOM)
    world.place(guest_name="Guest Wren", guest_phone="+919845011111")
    now = guards(world)
    migrate(world.db, "0041", "downgrade")
    [named, by_phone] = guards(world)
    assert (named == now[0], by_phone) == (False, now[1])
    for _time in range(2):
        migrate(world.db, "0041", "upgrade")
        assert guards(world) == now
    with pytest.raises(GuardBusy) as caught:
        world.place(guest_name="Kot, Lukasz", guest_room=ROOM)
    assert caught.value.rides[0].order_id == first


def test_of_two_open_orders_of_one_name_in_two_spellings_the_first_keeps_the_guard(
    world: World,
) -> None:
    first = world.place(guest_name="Łukasz Kot", guest_room=ROOM)
    now = guards(world)
    other = world.place(guest_name="Guest Wren", guest_room=ROOM)
    migrate(world.db, "0041", "downgrade")
    with world.db.engine.begin() as line:  # as the older release stored another spelling
        line.execute(text("UPDATE guests SET name = 'Lukasz Kot' WHERE name = 'Guest Wren'"))
    with world.db.write() as s:
        key = "|".join([guards_part(now[0], 0), OLD_LUKASZ, guards_part(now[0], 2)])
        s.execute(update(Order).where(Order.id == other).values(guard_key=key))
    migrate(world.db, "0041", "upgrade")
    assert guards(world) == [now[0], None]
    with pytest.raises(GuardBusy) as caught:
        world.place(guest_name="Lukasz Kot", guest_room=ROOM)
    assert {ride.order_id for ride in caught.value.rides} == {first, other}


def guards_part(key: str | None, number: int) -> str:
    return (key or "").split("|")[number]
