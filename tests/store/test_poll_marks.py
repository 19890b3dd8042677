"""An order's revision is the same, computed from its page or read for all watched orders."""

from datetime import timedelta

import pytest
from sqlalchemy import event, update

from ridedash.store.models.orders import Order, Ride
from ridedash.store.models.people import Account
from ridedash.store.poll_marks import Revision, revision_of, revisions
from tests.rides.conftest import world
from tests.rides.desk_world import World

__all__ = ["world"]
pytestmark = pytest.mark.database


def seen(world: World, *order_ids: int) -> dict[int, Revision]:
    with world.db.read() as s:
        return {each.order_id: each for each in revisions(s, order_ids)}


def of_page(world: World, order_id: int) -> Revision:
    page = world.page(order_id)
    return revision_of(page.order, page.account, page.ride)


def ridden(world: World) -> tuple[int, int]:
    """An order with a ride that is polled, and an order that waits to be sent."""
    world.service.tracks["C1"] = [{"booking_id": "C1", "booking_status": "CALL_DRIVER"}]
    with world.worker() as worker:
        order_id = world.book(worker)
        worker.step()
    return order_id, world.place()


def test_the_statement_reads_what_a_whole_page_has(world: World) -> None:
    order_id, waiting = ridden(world)
    found = seen(world, order_id, waiting, 999)
    assert found == {each: of_page(world, each) for each in (order_id, waiting)}
    ride = world.ride(order_id)
    assert found[order_id] == Revision(
        order_id, world.page(order_id).order.version, "ok", ride.seen_at, ride.interval_s, True
    )
    assert ride.seen_at is not None
    assert found[waiting] == Revision(
        waiting, world.page(waiting).order.version, "ok", None, None, False
    )
    assert seen(world) == {}


def test_each_part_of_it_differs_when_its_fact_changes(world: World) -> None:
    order_id, _ = ridden(world)
    earlier = [of_page(world, order_id)]
    changes = [
        update(Order).values(version=Order.version + 1),
        update(Account).values(state="lost"),
        update(Ride).values(seen_at=world.clock() + timedelta(seconds=1)),
        update(Ride).values(interval_s=77.0),
        update(Ride).values(next_poll_at=None),
    ]
    for change in changes:
        with world.db.write() as s:
            s.execute(change)
        found = seen(world, order_id)[order_id]
        assert found not in earlier
        assert found == of_page(world, order_id)
        earlier.append(found)
    assert (earlier[0].followed, earlier[-1].followed) == (True, False)


def test_all_that_are_watched_take_one_statement(world: World) -> None:
    ids, statements = [world.place() for _ in range(3)], list[str]()

    def note(*given: object) -> None:
        statements.append(str(given[2]))

    with world.db.read() as s:
        event.listen(world.db.engine, "before_cursor_execute", note)
        assert len(revisions(s, ids)) == 3
        event.remove(world.db.engine, "before_cursor_execute", note)
    assert len([each for each in statements if each.startswith("SELECT orders")]) == 1
