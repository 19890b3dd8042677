"""Where rides without a drop ended: the point that is known, the address found for it, once."""

from datetime import timedelta
from typing import Any

import pytest

from ridedash.geo import LatLng
from ridedash.rides.tracking.ends import end_of, name_ends
from ridedash.service.types.tracking import Snapshot
from ridedash.store.models.orders import Ride
from ridedash.store.offers import Trip
from tests.rides.desk_world import PICKUP, START, World

pytestmark = pytest.mark.database
END = {"lat": -38.51, "lng": -128.02}
THERE = LatLng(-38.51, -128.02)


def words(point: LatLng) -> str:
    return f"Old Fort {point.lat}"


def track(status: str, **facts: Any) -> dict[str, Any]:
    return {"booking_id": "C1", "booking_status": status, **facts}


def completed(world: World, category: str = "mini", drop: Any = None, **facts: Any) -> int:
    """A ride without a drop (unless one is given) that is over; `facts` are in the last answers."""
    kind = "auto" if category == "auto" else "point_to_point"
    offer = world.offer(kind, category, trip=Trip(PICKUP, "Lobby", drop, drop and "Airport"))
    world.service.tracks["C1"] = [
        track("CALL_DRIVER", driver_name="Cedar", vehicle_number="KA 1"),
        track("IN_PROGRESS", driver_lat=-38.505, driver_lng=-128.01),
        track("COMPLETED", **facts),
    ]
    with world.worker() as worker:
        order_id = world.book(worker, offer_id=offer)
        for _ in range(6):
            world.clock.go(6)
            worker.step()
    assert world.ride(order_id).status == "COMPLETED"
    return order_id


def end(world: World, order_id: int) -> tuple[Any, ...]:
    ride = world.ride(order_id)
    return ride.end_lat, ride.end_lng, ride.end_name


@pytest.mark.parametrize(
    ("category", "facts", "found"),
    [
        ("mini", {"drop_location": END}, (THERE.lat, THERE.lng, "Old Fort -38.51")),
        ("mini", {"drop_location": {"lat": 0, "lng": 0}}, (-38.505, -128.01, "Old Fort -38.505")),
        ("auto", {}, (-38.505, -128.01, "Old Fort -38.505")),
    ],
)
def test_the_end_is_the_services_drop_or_where_the_car_was_seen_last(
    world: World, category: str, facts: dict[str, Any], found: tuple[Any, ...]
) -> None:
    order_id = completed(world, category, **facts)
    version = world.page(order_id).order.version
    assert name_ends(world.db, words, world.clock()) == 1
    assert end(world, order_id) == found
    assert world.page(order_id).order.version == version + 1
    assert name_ends(world.db, words, world.clock()) == 0


def test_a_ride_with_a_drop_is_not_looked_up(world: World) -> None:
    order_id = completed(world, drop=THERE, drop_location=END)
    assert name_ends(world.db, words, world.clock()) == 0
    assert end(world, order_id) == (None, None, None)


def test_the_point_is_stored_while_the_place_search_is_away_and_named_later(world: World) -> None:
    order_id = completed(world, drop_location=END)
    assert name_ends(world.db, lambda _point: "", world.clock()) == 1
    assert end(world, order_id) == (THERE.lat, THERE.lng, None)
    assert name_ends(world.db, lambda _point: "", world.clock()) == 0
    assert name_ends(world.db, words, world.clock()) == 1
    assert end(world, order_id)[2] == "Old Fort -38.51"


def test_a_position_of_long_before_the_end_is_not_taken_for_it() -> None:
    facts = Snapshot(position=THERE)
    assert end_of(facts, START, START - timedelta(minutes=5)) == THERE
    assert end_of(facts, START, START - timedelta(minutes=5, seconds=1)) is None
    assert end_of(facts, START, None) is None
    assert end_of(Snapshot(), START, START) is None


def test_facts_that_can_not_be_read_end_nowhere(world: World) -> None:
    order_id = completed(world, drop_location=END)
    with world.db.write() as s:
        ride = s.query(Ride).filter(Ride.order_id == order_id).one()
        ride.facts = {"drop": "?"}
        order = world.page(order_id).order
        s.merge(order).version += 1
    assert name_ends(world.db, words, world.clock()) == 0
