"""On PostgreSQL, a planned ride that becomes READY sees the press for its guest beside it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import pytest
from sqlalchemy import text

from ridedash.rides.orders.due import Promoter
from ridedash.rides.orders.guest_start import start
from ridedash.rides.worker import Worker
from ridedash.store.guests import GuestDetails, lock_guest, store_guest
from ridedash.store.models.orders import Order
from tests.rides.desk_world import World
from tests.rides.orders import test_due, test_guest_start
from tests.rides.orders.test_side_by_side import on_postgres

__all__ = ["on_postgres"]
PHONE: Final = "+919845011111"
HERON: Final = {"guest_name": "Guest Heron", "guest_phone": PHONE}
OTHER: Final = "+919845022222"
WAITS: Final = text(
    "SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
)

Ask = Callable[[], object]
Awakened = Callable[[World, Worker], tuple[int, Ask]]


def due(world: World, worker: Worker) -> tuple[int, Ask]:
    """A planned ride that is due, and the attempt to order it."""
    order_id = test_due.planned(world, **HERON)
    test_due.until_due(world)
    promoter = Promoter(world.runtime, worker.journal)
    return order_id, lambda: promoter.promote(order_id)


def started(world: World, _worker: Worker) -> tuple[int, Ask]:
    """A ride that its guest starts, and the guest's press."""
    order_id = test_guest_start.waiting(world, **HERON)
    guest = test_guest_start.guest(world, order_id)
    return order_id, lambda: start(world.runtime, order_id, guest)


@pytest.mark.parametrize("phone", [PHONE, OTHER])  # also when the press changes the number
@pytest.mark.parametrize("awakened", [due, started])
def test_a_planned_ride_waits_for_a_press_for_its_guest(
    on_postgres: World, awakened: Awakened, phone: str
) -> None:
    """A second car on purpose has no key: no unique index refuses the planned ride beside it."""
    world = on_postgres
    pressed = world.place(**HERON, override_guard=True)
    with world.db.write() as s:
        s.get_one(Order, pressed).open = False
    with world.worker() as worker, ThreadPoolExecutor(1) as pool:
        order_id, ask = awakened(world, worker)
        before, guest_id = world.state(order_id), world.page(order_id).guest.id
        test_due.answers(world, test_due.offered())
        with world.db.write() as s:  # the press, before its commit
            details = GuestDetails("Guest Heron", phone, guest_id=guest_id)
            lock_guest(s, world.property_id, details)
            guest = store_guest(s, world.property_id, details, world.clock(), world.staff_id)
            assert guest.id == guest_id
            s.get_one(Order, pressed).open = True
            s.flush()
            asked = pool.submit(ask)
            while not s.execute(WAITS).scalar():
                assert not asked.done(), "it did not wait for the press"
        asked.exception()
    assert world.state(order_id) == before
    assert "PLAN_GUARD_BUSY" in test_due.items(world, order_id).values()
