"""The columns by which rides are found and added up: the plate, how the ride ended, its bill."""

from decimal import Decimal
from typing import Any

import pytest

from ridedash.rides.tracking.totals import bill, cost_of, minor, payable_of, sum_of, total_of
from ridedash.service.types.tracking import PriceDetails, Snapshot, TripInfo
from ridedash.wire import Kind
from tests.rides.desk_world import World

pytestmark = pytest.mark.database

PRICE: dict[str, Any] = {
    "fare": "210",
    "service_tax": "18.505",
    "toll_charges": "35",
    "discount_value": "23.50",
}


def go(world: World, status: str, worker: Any, order_id: int, **facts: Any) -> None:
    """Let the service answer with this status from now on, and poll the ride once."""
    world.service.tracks["C1"] = [{"booking_id": "C1", "booking_status": status, **facts}]
    world.clock.go(120)
    worker.step()


def stored_totals(world: World, order_id: int) -> list[object]:
    order, ride = world.page(order_id).order, world.ride(order_id)
    return [ride.total_minor, ride.currency, order.total_minor, order.currency, order.ended_as]


def test_plate_end_and_bill_are_stored_also_when_no_status_changes(world: World) -> None:
    with world.worker() as worker:
        order_id = world.book(worker)
        go(world, "CALL_DRIVER", worker, order_id)
        assert world.ride(order_id).plate is None
        go(world, "CALL_DRIVER", worker, order_id, vehicle_number="ka 01 ab-1234")
        assert (world.ride(order_id).plate, stored_totals(world, order_id)) == (
            "KA01AB1234",
            [None] * 5,
        )
        go(world, "COMPLETED", worker, order_id, price_details=PRICE | {"fare": "200"})
        assert stored_totals(world, order_id) == [23001, "INR", 23001, "INR", "COMPLETED"]
        # the last poll brings the final price
        go(world, "COMPLETED", worker, order_id, price_details=PRICE)
        assert stored_totals(world, order_id) == [24001, "INR", 24001, "INR", "COMPLETED"]
        assert world.ride(order_id).next_poll_at is None


def test_a_ride_that_was_billed_and_then_cancelled_has_no_total(world: World) -> None:
    with world.worker() as worker:
        order_id = world.book(worker, kind="auto")
        go(world, "INVOICE", worker, order_id, trip_info={"payable_amount": 186})
        assert stored_totals(world, order_id) == [18600, "INR", 18600, "INR", None]
        go(world, "INVOICE", worker, order_id, trip_info={"payable_amount": "190.5"})
        assert stored_totals(world, order_id) == [19050, "INR", 19050, "INR", None]
        go(world, "BOOKING_CANCELLED", worker, order_id)
        assert stored_totals(world, order_id) == [None, "INR", None, "INR", "BOOKING_CANCELLED"]


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
    trip = TripInfo(payable_amount=Decimal(186), amount=Decimal(186), advance=advance)
    assert (cost_of(trip), sum_of(trip)) == (total, left)


LINES = {"amount": 181, "convenience_charge": 15, "discount": 10}


@pytest.mark.parametrize(
    ("lines", "left", "cost"),
    [
        ({}, None, None),
        ({"convenience_charge": 15}, None, None),
        ({"amount": 181}, 181, 181),
        (LINES, 186, 186),
        (LINES | {"advance": 40}, 146, 186),
        (LINES | {"advance": 200}, 0, 186),
        (LINES | {"discount": 200}, 0, 0),
        (LINES | {"discount": 200, "advance": 40}, 0, 0),
        (LINES | {"cash_paid": 0}, 186, 186),
        (LINES | {"cash_paid": 170}, 170, 170),
        (LINES | {"cash_paid": 170, "advance": 40}, 170, 210),
        (LINES | {"cash_paid": 170, "payable_amount": 0}, 0, 0),
        ({"payable_amount": 9, "advance": 1}, 9, 10),
    ],
)
def test_what_an_auto_leaves_to_pay_is_its_remainder_or_the_cash_or_the_sum_of_its_lines(
    lines: dict[str, int], left: int | None, cost: int | None
) -> None:
    trip = TripInfo.model_validate(lines)
    assert (payable_of(trip), cost_of(trip)) == (left, cost)
    assert payable_of(None) is cost_of(None) is None


@pytest.mark.parametrize(
    ("kind", "billed"),
    [
        (Kind.AUTO, {"INVOICE", "COMPLETED"}),
        (Kind.SHARE, {"INVOICE", "IN_PROGRESS", "COMPLETED"}),
        (Kind.POINT_TO_POINT, {"INVOICE", "COMPLETED"}),
    ],
)
def test_a_bill_is_that_of_the_kind_in_its_statuses(kind: Kind, billed: set[str]) -> None:
    price = {"fare": 200, "service_tax": 10, "toll_charges": 5, "discount_value": 20}
    facts = Snapshot.model_validate({"price": price, "trip": {"amount": 181}})
    expected = 181 if kind is Kind.AUTO else 195
    for status in ("CALL_DRIVER", "INVOICE", "IN_PROGRESS", "COMPLETED", None):
        assert bill(kind, status, facts) == (expected if status in billed else None)


def test_a_total_needs_a_fare_and_is_rounded_to_hundredths() -> None:
    assert total_of(None) is total_of(PriceDetails(service_tax=Decimal(5))) is None
    assert total_of(PriceDetails(fare=Decimal(0), toll_charges=Decimal(5))) == 5
    free = {"fare": 100, "toll_charges": 5, "discount_value": 120}
    assert total_of(PriceDetails.model_validate(free)) == 0, "no one is paid for riding"
    amounts = {"0.004": 0, "0.005": 1, "186.00": 18_600, "1.015": 102}
    assert {amount: minor(Decimal(amount)) for amount in amounts} == amounts
