"""What is kept beside a ride so that it is found and added up: its plate, how it ended, what it was
billed.
"""

from decimal import Decimal
from typing import Any

import pytest

from ridedash.rides.tracking.totals import cost_of, sum_of
from ridedash.service.types.tracking import TripInfo
from tests.rides.desk_world import World

pytestmark = pytest.mark.database

PRICE: dict[str, Any] = {
    "fare": "210",
    "service_tax": "18.505",
    "toll_charges": "35",
    "discount_value": "23.50",
}


def go(world: World, status: str, worker: Any, order_id: int, **facts: Any) -> None:
    """The service says so from now on; the ride is asked about once."""
    world.service.tracks["C1"] = [{"booking_id": "C1", "booking_status": status, **facts}]
    world.clock.go(120)
    worker.step()


def kept(world: World, order_id: int) -> list[object]:
    order, ride = world.page(order_id).order, world.ride(order_id)
    return [ride.total_minor, ride.currency, order.total_minor, order.currency, order.ended_as]


def test_plate_end_and_bill_are_kept_also_when_no_status_changes(world: World) -> None:
    with world.worker() as worker:
        order_id = world.book(worker)
        go(world, "CALL_DRIVER", worker, order_id)
        assert world.ride(order_id).plate is None
        go(world, "CALL_DRIVER", worker, order_id, vehicle_number="ka 01 ab-1234")
        assert (world.ride(order_id).plate, kept(world, order_id)) == ("KA01AB1234", [None] * 5)
        go(world, "COMPLETED", worker, order_id, price_details=PRICE | {"fare": "200"})
        assert kept(world, order_id) == [23001, "INR", 23001, "INR", "COMPLETED"]
        # the last poll brings the final price
        go(world, "COMPLETED", worker, order_id, price_details=PRICE)
        assert kept(world, order_id) == [24001, "INR", 24001, "INR", "COMPLETED"]
        assert world.ride(order_id).next_poll_at is None


def test_a_ride_that_was_billed_and_then_cancelled_has_no_total(world: World) -> None:
    with world.worker() as worker:
        order_id = world.book(worker, kind="auto")
        go(world, "INVOICE", worker, order_id, trip_info={"payable_amount": 186})
        assert kept(world, order_id) == [18600, "INR", 18600, "INR", None]
        go(world, "INVOICE", worker, order_id, trip_info={"payable_amount": "190.5"})
        assert kept(world, order_id) == [19050, "INR", 19050, "INR", None]
        go(world, "BOOKING_CANCELLED", worker, order_id)
        assert kept(world, order_id) == [None, "INR", None, "INR", "BOOKING_CANCELLED"]


def test_a_ride_is_listed_under_the_day_of_its_pickup_or_of_the_press(world: World) -> None:
    placed = world.page(world.place()).order
    assert placed.happens_at == placed.created_at


@pytest.mark.parametrize(
    ("advance", "total", "left"),
    [(None, 186, 186), (Decimal(0), 186, 186), (Decimal(40), 226, 146)],
)
def test_what_was_paid_in_advance_is_a_part_of_the_cost_and_not_of_what_is_left(
    advance: Decimal | None, total: int, left: int
) -> None:
    asked = TripInfo(payable_amount=Decimal(186), amount=Decimal(186), advance=advance)
    assert (cost_of(asked), sum_of(asked)) == (total, left)
