"""Planned rides and other orders, in random steps of people and of workers that die anywhere."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule, run_state_machine_as_test

from ridedash.rides.orders.change import change
from ridedash.rides.orders.press import PlaceError
from ridedash.rides.times.schedule_times import WINDOW
from ridedash.store.models.orders import Order
from tests.rides.desk_world import World
from tests.rides.orders.test_crashes import KillAt, Killed, Orders
from tests.rides.orders.test_due import POINTS, offered, wanted


class Plans(Orders):
    """Orders for now and planned rides; the service offers the car, doesn't, or is silent."""

    def _planned(self) -> list[Order]:
        return [order for order in self.world.orders() if order.state == "SCHEDULED"]

    @rule(answer=st.sampled_from(["offered", "not offered", "silent"]))
    def the_next_offer(self, answer: str) -> None:
        not_offered: dict[str, Any] = {"categories": [], "ride_estimate": []}
        bodies = {
            "offered": [offered()],
            "not offered": [not_offered],
            "silent": [httpx.ConnectError("refused")] * 2,
        }
        self.world.service.answers.setdefault("products", []).extend(bodies[answer])

    @rule(
        guest=st.sampled_from(["Guest Heron", "Guest Wren"]), minutes=st.sampled_from([15, 21, 60])
    )
    def plan(self, guest: str, minutes: int) -> None:
        self.world.place(
            guest_name=guest, pickup_at=self.world.clock() + timedelta(minutes=minutes)
        )

    @precondition(lambda self: self._planned())
    @rule(which=st.integers(0, 3), minutes=st.sampled_from([16, 45]))
    def change_it(self, which: int, minutes: int) -> None:
        order = self._planned()[which % len(self._planned())]
        try:
            later = self.world.clock() + timedelta(minutes=minutes)
            change(self.world.db, self.world.clock, wanted(self.world, order.id, pickup_at=later))
        except PlaceError:
            return

    @rule(point=st.sampled_from([*POINTS, "order.sent"]))
    def a_round_that_ends_there(self, point: str) -> None:
        with self.world.worker(failpoint=KillAt(point)) as worker:
            try:
                worker.step()
            except Killed:
                return

    @rule(minutes=st.sampled_from([5, 15, 40]))
    def a_while_goes(self, minutes: int) -> None:
        self.world.clock.go(60 * minutes)

    @invariant()
    def no_failure_is_silent(self) -> None:
        """A planned ride that failed, and was not withdrawn, has raised an attention item."""
        for order in self.world.orders():
            if (
                order.pickup_at is None
                or order.code == "WITHDRAWN"
                or order.state not in {"NOT_SENT", "REJECTED"}
            ):
                continue
            assert "plan_failed" in {item.name for item in self.world.page(order.id).attention}

    def teardown(self) -> None:
        """Three hours later, after rounds of a living worker, no overdue ride is still planned."""
        self.world.clock.go(3 * 3600)
        with self.world.worker() as worker:
            for _ in range(3):
                worker.step()
        late = [
            order
            for order in self._planned()
            if (order.pickup_at or order.due_at) + WINDOW < self.world.clock()
        ]
        self.no_failure_is_silent()
        super().teardown()
        assert late == []


@pytest.mark.database
def test_no_planned_ride_is_lost_doubled_or_forgotten_whatever_people_and_workers_do(
    tmp_path: Path,
) -> None:
    class Here(Plans):
        base = tmp_path

    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
    run_state_machine_as_test(
        Here,
        settings=settings(
            max_examples=20, stateful_step_count=15, deadline=None, suppress_health_check=slow
        ),
    )


def test_the_state_machine_of_planned_rides_starts_from_services_that_can_offer(
    world: World,
) -> None:
    world.service.answers["products"] = [offered()]
    order_id = world.place(pickup_at=world.clock() + timedelta(minutes=15))
    with world.worker() as worker:
        worker.step()
    assert world.state(order_id) == "BOOKED", "a pickup nearer than its lead is ordered at once"
