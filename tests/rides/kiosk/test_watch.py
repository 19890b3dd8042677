"""The worker watches kiosks whose pages are gone: what it finds, and when it writes."""

from typing import NoReturn

import pytest

from ridedash import wire
from ridedash.rides.kiosk.watch import watch
from ridedash.store.kiosks import revoke
from ridedash.store.models.kiosks import Kiosk
from tests.rides.desk_world import World
from tests.rides.kiosk.test_place import move
from tests.rides.kiosk_world import add_kiosk, press, pressed

pytestmark = pytest.mark.database


def items(world: World, order_id: int) -> list[str]:
    return [item.name for item in world.page(order_id).attention]


def no_write() -> NoReturn:
    raise AssertionError("it writes")


def test_where_nothing_is_wrong_nothing_is_changed_and_nothing_written(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a kiosk, with an unused kiosk, and with a ticket made just now."""
    monkeypatch.setattr(world.db, "write", no_write)
    assert watch(world.db, world.clock()) == 0
    monkeypatch.undo()
    kiosk = add_kiosk(world)
    for _ in range(2):
        monkeypatch.setattr(world.db, "write", no_write)
        assert watch(world.db, world.clock()) == 0
        monkeypatch.undo()
        pressed(world, press(world, kiosk))


def test_a_lost_ticket_and_a_lost_visit_are_counted_once(world: World) -> None:
    """First the ticket that was never shown, and later the visit that was not ended."""
    order_id = pressed(world, press(world, add_kiosk(world))).order_id
    world.clock.go(46)
    assert watch(world.db, world.clock()) == 1
    assert items(world, order_id) == ["kiosk_no_ticket"]
    assert watch(world.db, world.clock()) == 0
    world.clock.go(3_600)
    assert watch(world.db, world.clock()) == 1
    assert watch(world.db, world.clock()) == 0


@pytest.mark.parametrize("status", ["CALL_DRIVER", *sorted(wire.TERMINAL)])
def test_a_ride_that_has_ended_needs_no_ticket(world: World, status: str) -> None:
    order_id = pressed(world, press(world, add_kiosk(world))).order_id
    move(world, order_id, status)
    world.clock.go(46)
    assert watch(world.db, world.clock()) == 1
    missing = [] if status in wire.TERMINAL else ["kiosk_no_ticket"]
    assert [name for name in items(world, order_id) if name == "kiosk_no_ticket"] == missing


def test_no_ticket_is_expected_at_a_kiosk_that_was_removed(world: World) -> None:
    removed, other = add_kiosk(world), add_kiosk(world)
    theirs, ours = (pressed(world, press(world, each)).order_id for each in (removed, other))
    with world.db.write() as s:
        revoke(s.get_one(Kiosk, removed), world.clock())
    world.clock.go(46)
    assert watch(world.db, world.clock()) == 1
    assert [items(world, each) for each in (theirs, ours)] == [[], ["kiosk_no_ticket"]]
