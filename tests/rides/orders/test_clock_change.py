"""Planned rides on the nights when clocks change: each goes at the local time that was typed.

The tests go from the text that staff type to the worker's call.
"""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from ridedash.rides.times.schedule_times import series_rides
from ridedash.rides.times.typed_time import read_time
from ridedash.rides.worker import Worker
from ridedash.store.models.orders import Order
from tests.rides.desk_world import World
from tests.rides.orders.test_due import LEAD, offered

BERLIN = ZoneInfo("Europe/Berlin")
SPRING = datetime(2026, 3, 28, 17, 0, tzinfo=UTC)  # the evening before clocks go 02:00 → 03:00
AUTUMN = datetime(2026, 10, 24, 16, 0, tzinfo=UTC)  # the evening before clocks go 03:00 → 02:00
SECOND = timedelta(seconds=1)


def ordered_at(world: World, worker: Worker, order_id: int) -> datetime:
    """Run the worker a second before a ride is due, and when it is due. When the ride was sent."""
    due = world.page(order_id).order.due_at
    for at in (due - SECOND, due):
        world.clock.now = at
        assert world.state(order_id) == "SCHEDULED"
        worker.step()
    sent_at = world.page(order_id).order.sent_at
    assert world.state(order_id) == "BOOKED"
    assert sent_at is not None
    with world.db.write() as s:  # the ride is over before the guest's next one
        s.get_one(Order, order_id).open = False
    return sent_at


@pytest.mark.parametrize(
    ("evening", "typed", "wall", "ordered"),
    [
        (SPRING, "tomorrow 0159", "29 01:59", "29 01:39"),
        (SPRING, "tomorrow 0305", "29 03:05", "29 01:45"),
        (SPRING, "tomorrow 0510", "29 05:10", "29 04:50"),
        (AUTUMN, "tomorrow 0150", "25 01:50", "25 01:30"),
        (AUTUMN, "2026-10-25 02:30+0200", "25 02:30", "25 02:10"),  # the first 02:30
        (AUTUMN, "2026-10-25 02:30+0100", "25 02:30", "25 02:10"),  # the second
        (AUTUMN, "tomorrow 0305", "25 03:05", "25 02:45"),  # the second 02:45
        (AUTUMN, "tomorrow 0510", "25 05:10", "25 04:50"),
    ],
)
def test_a_planned_ride_goes_at_the_time_on_the_wall_that_was_typed(
    world: World, evening: datetime, typed: str, wall: str, ordered: str
) -> None:
    world.clock.now = evening
    at = read_time(typed, evening, BERLIN).at
    order_id = world.place(pickup_at=at)
    world.service.answers["products"] = [offered()]
    with world.worker() as worker:
        sent_at = ordered_at(world, worker, order_id)
    assert at - sent_at == LEAD
    shown = [f"{each.astimezone(BERLIN):%d %H:%M}" for each in (at, sent_at)]
    assert shown == [wall, ordered]


@pytest.mark.parametrize(
    ("evening", "clock", "walls"),
    [
        (SPRING, time(6, 15), ["28 06:15", "29 06:15", "30 06:15"]),
        (SPRING, time(2, 30), ["28 02:30", "29 03:00", "30 02:30"]),
        (AUTUMN, time(6, 15), ["24 06:15", "25 06:15", "26 06:15"]),
        (AUTUMN, time(2, 30), ["24 02:30", "25 02:30", "26 02:30"]),
    ],
)
def test_each_ride_of_a_series_goes_at_its_time_on_the_wall(
    world: World, evening: datetime, clock: time, walls: list[str]
) -> None:
    world.clock.now = evening - timedelta(days=1)
    first = evening.astimezone(BERLIN).date()
    rides = series_rides((first, first + timedelta(days=2)), range(7), clock, BERLIN)
    times = tuple(ride.at for ride in rides)
    ids = world.placed(series=times, pickup_at=times[0], tz=BERLIN).order_ids
    world.service.answers["products"] = [offered() for _ in ids]
    with world.worker() as worker:
        sent = [ordered_at(world, worker, order_id) for order_id in ids]
    assert [at - sent_at for at, sent_at in zip(times, sent, strict=True)] == [LEAD] * 3
    assert [f"{at.astimezone(BERLIN):%d %H:%M}" for at in times] == walls


def test_a_series_says_which_of_its_times_come_twice_and_which_not_at_all() -> None:
    def twice_or_never(day: date) -> list[tuple[bool, bool]]:
        rides = series_rides((day, day + timedelta(days=2)), range(7), time(2, 30), BERLIN)
        return [(ride.moved, ride.twice) for ride in rides]

    assert twice_or_never(date(2026, 3, 28)) == [(False, False), (True, False), (False, False)]
    assert twice_or_never(date(2026, 10, 24)) == [(False, False), (False, True), (False, False)]
