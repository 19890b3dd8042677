"""Offers that no order refers to are stored for a day; then the worker removes them."""

from sqlalchemy import select

from ridedash.rides.journals.sent_journal import EvenClock
from ridedash.rides.privacy.retention import drop_old_offers
from ridedash.store.orders import Offer
from tests.rides.desk_world import World

DAY_S = 24 * 3600


def offers(world: World) -> list[int]:
    with world.db.read() as s:
        return list(s.scalars(select(Offer.id).order_by(Offer.id)))


def test_an_offer_is_forgotten_after_a_day_unless_an_order_refers_to_it(world: World) -> None:
    old, ordered = world.offer(), world.offer()
    order_id = world.place(offer_id=ordered)
    world.clock.go(DAY_S - 1)
    young = world.offer()
    assert drop_old_offers(world.db, world.clock()) == 0
    world.clock.go(2)
    assert drop_old_offers(world.db, world.clock()) == 1
    assert offers(world) == [ordered, young]
    assert old not in offers(world)
    assert world.page(order_id).offer.id == ordered


def test_the_number_of_a_forgotten_offer_is_never_given_to_another(world: World) -> None:
    first, last = world.offer(), world.offer()
    world.clock.go(2 * DAY_S)
    drop_old_offers(world.db, world.clock())
    assert world.offer() > last > first
    assert first not in offers(world)


def test_the_worker_forgets_when_its_clock_has_gone_evenly_and_not_after_a_leap(
    world: World,
) -> None:
    old, newest = world.offer(), world.offer()
    world.clock.go(DAY_S + 1)
    with world.worker() as worker:
        monotonic = [0.0]
        worker._is_even = EvenClock(lambda: monotonic[0])

        def an_hour_later() -> None:
            monotonic[0] += 3600
            worker._last.clear()
            worker.step()

        worker.step()
        assert offers(world) == [old, newest], "it has just started: who knows what time it is?"
        an_hour_later()
        assert offers(world) == [old, newest], "the clock was set back by that hour"
        world.clock.go(3600)
        an_hour_later()
    assert offers(world) == [newest]
