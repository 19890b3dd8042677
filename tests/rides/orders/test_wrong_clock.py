"""While our clock differs much from the service's, a planned ride is neither sent nor lost."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import httpx
import pytest

from ridedash.rides.health import alarms
from ridedash.rides.runtime import APART_S, Runtime
from ridedash.rides.times.schedule_times import SOONEST, WINDOW
from tests.rides.desk_world import World
from tests.rides.orders.test_due import items, offered


class Comparing(World):
    """A desk at the real time, which compares its clock with the Date of the service's answers."""

    ahead = timedelta(0)  # how far our clock is ahead of the service's

    def __init__(self, folder: Path, database: str) -> None:
        super().__init__(folder, database)
        self.clock.now = datetime.now(UTC).replace(microsecond=0)
        self.service.products = self.dated

    @property
    def runtime(self) -> Runtime:
        return replace(super().runtime, compares_clock=True)

    def dated(self, _query: object) -> httpx.Response:
        date = format_datetime(self.clock() - self.ahead, usegmt=True)
        return httpx.Response(200, json=offered(), headers={"Date": date})

    def planned(self) -> int:
        """A ride that is due at once."""
        return self.place(pickup_at=self.clock() + SOONEST)

    @property
    def reported_ahead_s(self) -> float | None:
        with self.db.read() as s:
            return alarms(s, self.clock()).clock_ahead_s


@pytest.fixture
def world(tmp_path: Path, database: str) -> Iterator[Comparing]:
    made = Comparing(tmp_path, database)
    yield made
    made.close()


@pytest.mark.parametrize("ahead_s", [APART_S + 30, -APART_S - 30])
def test_a_planned_ride_waits_while_our_clock_is_not_the_services_and_goes_when_it_is(
    world: Comparing, ahead_s: float
) -> None:
    world.ahead = timedelta(seconds=ahead_s)
    order_id = world.planned()
    with world.worker() as worker:
        worker.step()
        worker.step()
        assert (world.state(order_id), world.service.count("create")) == ("SCHEDULED", 0)
        assert items(world, order_id) == {"not_ordered_yet": "PLAN_CLOCK"}
        assert world.reported_ahead_s == pytest.approx(ahead_s, abs=10)
        world.ahead = timedelta(0)
        world.clock.go(6)
        worker.step()
        worker.step()
    assert (world.state(order_id), world.service.count("create")) == ("BOOKED", 1)
    assert items(world, order_id) == {}
    assert world.reported_ahead_s is None


@pytest.mark.parametrize("ahead_s", [APART_S - 10, 10 - APART_S])
def test_clocks_that_differ_by_seconds_hold_nothing_back(world: Comparing, ahead_s: float) -> None:
    world.ahead = timedelta(seconds=ahead_s)
    order_id = world.planned()
    with world.worker() as worker:
        worker.step()
    assert world.state(order_id) == "BOOKED"
    assert world.reported_ahead_s is None


def test_a_ride_for_now_is_sent_by_any_clock(world: Comparing) -> None:
    world.ahead = timedelta(hours=1)
    with world.worker() as worker:
        assert world.state(world.book(worker)) == "BOOKED"


def test_no_ride_is_given_up_by_a_clock_that_is_hours_fast(world: Comparing) -> None:
    """On PostgreSQL the time of the database counts too, so the ride is not even tried there."""
    on_postgresql = world.db.dialect == "postgresql"
    order_id = world.planned()
    world.ahead = timedelta(hours=2)
    world.clock.go(7200)
    with world.worker() as worker:
        worker.step()
        assert world.state(order_id) == "SCHEDULED"
        wanted = {} if on_postgresql else {"not_ordered_yet": "PLAN_CLOCK"}
        assert items(world, order_id) == wanted
        world.ahead = timedelta(0)
        world.clock.go(-7200)
        worker.step()
        worker.step()
    assert world.state(order_id) == "BOOKED"


def test_a_ride_whose_time_is_over_by_both_clocks_is_given_up(world: Comparing) -> None:
    if world.db.dialect == "postgresql":
        pytest.skip("its clock can't be led")
    order_id = world.planned()
    world.clock.go((SOONEST + WINDOW).total_seconds() + 60)
    with world.worker() as worker:
        worker.step()
    assert (world.state(order_id), world.page(order_id).order.code) == ("NOT_SENT", "PLAN_MISSED")


def test_where_the_service_gives_no_date_our_clock_is_believed(world: Comparing) -> None:
    world.service.products = lambda _query: offered()
    order_id = world.planned()
    with world.worker() as worker:
        worker.step()
    assert world.state(order_id) == "BOOKED"
