"""A list of guests is booked in waves: each line once, whoever is killed and whoever presses."""

import contextlib
from collections import Counter
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from ridedash.rides.guest_lists.press import (
    LIST_GUARD,
    LIST_METERED,
    LIST_PRICE,
    Along,
    ListChanged,
    open_again,
)
from ridedash.rides.guest_lists.waves import WAVE
from ridedash.rides.journals.restore import Noticed, note_restore
from ridedash.store.actors import WORKER
from ridedash.store.guest_lists import (
    LIST_FAILING,
    LIST_RESTORED,
    LIST_SILENT,
    LIST_STOPPED,
    ListLine,
    locked_list,
)
from tests.rides.desk_world import World
from tests.rides.list_world import ListWorld, priced
from tests.rides.orders.test_crashes import KillAt, Killed, refused


def booked(world: World) -> Counter[str]:
    """How often the service booked each partner reference."""
    return Counter(each["mtx"] for each in world.service.bookings)


def check_each_once(world: World, listed: ListWorld) -> None:
    """No line is lost, none has two rides."""
    orders = {order.id: order for order in world.orders()}
    ordered = [line for line in listed.lines if line.order_id]
    assert [orders[line.order_id or 0].mtx for line in ordered] == [line.mtx for line in ordered]
    assert all(count == 1 for count in booked(world).values())
    assert set(booked(world)) <= {line.mtx for line in listed.lines}


def run(world: World, seconds: int = 60) -> None:
    """Let a worker work for a while of the world's clock."""
    with world.worker() as worker:
        for _ in range(seconds // 2):
            worker.step()
            world.clock.go(2)


def test_every_line_becomes_one_ride_in_the_group_of_the_list(world: World) -> None:
    listed = ListWorld(world, guests=8)
    assert listed.press()
    run(world)
    assert listed.states == ["ORDERED"] * 8
    assert listed.row.state == "DONE"
    orders = world.orders()
    assert {order.state for order in orders} == {"BOOKED"}
    assert {order.group_key for order in orders} == {listed.row.group_key}
    assert [order.room for order in orders] == [str(400 + n) for n in range(1, 9)]
    assert booked(world) == Counter(line.mtx for line in listed.lines)


def test_a_wave_is_no_larger_than_a_press_and_no_two_come_at_once(world: World) -> None:
    listed = ListWorld(world, guests=14)
    listed.press()
    with world.worker() as worker:
        worker.step()
        assert listed.states.count("ORDERED") == WAVE
        worker.step()
        assert listed.states.count("ORDERED") == WAVE
        world.clock.go(6)
        worker.step()
        assert listed.states.count("ORDERED") == 2 * WAVE


def test_two_lists_of_one_person_share_the_pace(world: World) -> None:
    lists = [ListWorld(world, guests=12) for _ in range(2)]
    for each in lists:
        each.press()
    with world.worker() as worker:
        worker.step()
        worker.step()
        assert sum(each.states.count("ORDERED") for each in lists) == WAVE


def test_planned_lines_are_planned_orders_at_once(world: World) -> None:
    listed = ListWorld(world, guests=20)
    listed.offer_all()
    at = world.clock() + timedelta(hours=5)
    listed.press(*(listed.plan(n, at) for n in range(1, 21)))
    with world.worker() as worker:
        worker.step()
    assert {order.state for order in world.orders()} == {"SCHEDULED"}
    assert {order.pickup_at for order in world.orders()} == {at}
    assert world.service.count("products") == 0
    assert listed.row.state == "DONE"


def test_a_second_press_a_second_tab_and_a_stale_page_double_nothing(world: World) -> None:
    listed = ListWorld(world)
    shown = listed.row.version
    assert listed.press(version=shown)
    assert not listed.press()
    with pytest.raises(ListChanged):
        ListWorld(world).press(version=99)
    run(world)
    assert not listed.press()
    assert len(world.orders()) == 3
    check_each_once(world, listed)


@pytest.mark.parametrize(
    "point",
    [
        "list.claimed",
        "list.priced",
        "list.placed",
        "order.ready",
        "order.claimed",
        "order.sent",
        "order.answered",
        "order.journalled",
        "order.settled",
    ],
)
def test_a_worker_that_dies_at_any_step_loses_and_doubles_no_line(
    tmp_path: Path, database: str, point: str
) -> None:
    world = World(tmp_path, database)
    listed = ListWorld(world, guests=8)
    listed.press()
    for _ in range(3):
        with world.worker(failpoint=KillAt(point)) as worker, contextlib.suppress(Killed):
            worker.step()
        world.clock.go(61)
    run(world, 120)
    assert listed.states == ["ORDERED"] * 8
    check_each_once(world, listed)
    assert len(world.orders()) == 8
    world.close()


def test_a_higher_price_stops_its_line_and_no_other(world: World) -> None:
    listed = ListWorld(world, guests=3)
    prices = iter([240, 260, 239])
    world.service.products = lambda _query: priced(next(prices))
    listed.press()
    run(world)
    assert listed.states == ["ORDERED", "ASKED", "ORDERED"]
    line = listed.lines[1]
    assert (line.code, line.price_minor) == (LIST_PRICE, 26_000)
    world.service.products = lambda _query: priced(260)
    assert not listed.answer(2, LIST_GUARD)
    assert listed.answer(2, LIST_PRICE)
    run(world)
    assert listed.states == ["ORDERED"] * 3
    check_each_once(world, listed)


def test_a_fixed_price_that_became_a_meter_is_asked_about(world: World) -> None:
    listed = ListWorld(world, guests=1)
    estimate = [{"category": "mini", "amount_min": 200, "amount_max": 230}]
    world.service.products = lambda _query: {**priced(), "ride_estimate": estimate}
    listed.press()
    run(world)
    assert listed.lines[0].code == LIST_METERED


def test_a_guest_who_has_a_ride_already_is_asked_about_and_others_go_on(world: World) -> None:
    earlier = world.place(guest_name="Guest 2", guest_room="402")
    listed = ListWorld(world, guests=3)
    listed.press()
    run(world)
    assert listed.states == ["ORDERED", "ASKED", "ORDERED"]
    assert listed.lines[1].code == LIST_GUARD
    assert listed.answer(2, LIST_GUARD)
    run(world)
    assert listed.states == ["ORDERED"] * 3
    second = world.page(listed.lines[1].order_id or 0).order
    assert second.guard_override_by == world.staff_id
    assert earlier != second.id


def test_a_guest_who_is_meant_twice_gets_two_cars_without_another_question(world: World) -> None:
    listed = ListWorld(world, guests=2)
    same = {"name": "Guest Heron", "room": "412", "twice": True}
    listed.press(listed.plan(1, **same), listed.plan(2, **same))
    run(world)
    assert listed.states == ["ORDERED", "ORDERED"]
    assert len(world.service.bookings) == 2


def test_guests_who_share_a_car_get_one_ride(world: World) -> None:
    listed = ListWorld(world, guests=3)
    listed.press(
        listed.plan(1, others=(Along(2, "Guest 2 (402)", "Guest 2", "402"),), note="With: Guest 2"),
        listed.plan(3),
    )
    run(world)
    assert listed.states == ["ORDERED"] * 3
    orders = world.orders()
    assert len(orders) == 2
    assert [line.order_id for line in listed.lines] == [orders[0].id, orders[0].id, orders[1].id]


def test_a_stopped_list_books_nothing_until_a_person_goes_on(world: World) -> None:
    listed = ListWorld(world, guests=14)
    listed.press()
    with world.worker() as worker:
        worker.step()
    assert listed.stop()
    assert not listed.stop()
    run(world)
    assert listed.states.count("ORDERED") == WAVE
    assert (listed.row.state, listed.row.code) == ("STOPPED", LIST_STOPPED)
    assert listed.go_on()
    assert not listed.go_on()
    run(world)
    assert listed.states == ["ORDERED"] * 14
    check_each_once(world, listed)


def test_a_line_that_is_opened_again_is_not_booked_and_can_be_pressed_anew(world: World) -> None:
    listed = ListWorld(world, guests=2)
    listed.press()
    with world.db.write() as s:
        row = locked_list(s, listed.id)
        assert row is not None
        assert open_again(s, row, {2}, world.clock()) == 1
    run(world)
    assert listed.states == ["ORDERED", "OPEN"]
    assert listed.press()
    run(world)
    assert listed.states == ["ORDERED", "ORDERED"]
    check_each_once(world, listed)


def test_a_list_whose_orders_all_fail_stops_by_itself(world: World) -> None:
    listed = ListWorld(world, guests=20)
    world.service.create = [refused] * 20
    listed.press()
    run(world)
    assert (listed.row.state, listed.row.code) == ("STOPPED", LIST_FAILING)
    assert len(world.orders()) == WAVE
    world.service.create = []
    assert listed.go_on()
    run(world)
    assert listed.row.state == "DONE"


def test_a_silent_service_delays_the_wave_and_stops_the_list_after_ten_minutes(
    world: World,
) -> None:
    listed = ListWorld(world)
    world.service.products = lambda _query: httpx.ConnectError("refused")
    listed.press()
    run(world, 120)
    assert listed.row.state == "RUNNING"
    assert listed.row.code
    assert world.orders() == []
    run(world, 700)
    assert (listed.row.state, listed.row.code) == ("STOPPED", LIST_SILENT)
    world.service.products = lambda _query: priced()
    world.clock.go(60)
    assert listed.go_on()
    run(world, 120)
    assert listed.states == ["ORDERED"] * 3


def test_a_restored_database_stops_every_list_that_was_being_booked(world: World) -> None:
    listed = ListWorld(world)
    listed.press()
    note_restore(world.db, world.clock, WORKER, Noticed(None))
    assert (listed.row.state, listed.row.code) == ("STOPPED", LIST_RESTORED)
    run(world)
    assert world.orders() == []


def test_a_line_whose_ride_the_database_has_forgotten_is_not_sent_again(world: World) -> None:
    """The line has its partner reference from the beginning, and the journal knows it."""
    from sqlalchemy import delete, update

    from ridedash.store.models.lists import GuestList, ListLine
    from ridedash.store.models.orders import Attention, Order, Ride, TimelineEvent

    listed = ListWorld(world, guests=1)
    listed.press()
    run(world)
    assert len(world.service.bookings) == 1
    with world.db.write() as s:  # as a backup of before the wave has it
        for table in (TimelineEvent, Attention, Ride, Order):
            s.execute(delete(table))
        s.execute(update(ListLine).values(state="WAITING", order_id=None, plan=_plan(listed)))
        now = world.clock()
        s.execute(update(GuestList).values(state="RUNNING", next_at=now, code=None))
    world.clock.go(30)
    run(world, 120)
    assert listed.row.code == LIST_RESTORED
    assert listed.go_on()
    run(world, 120)
    assert len(world.service.bookings) == 1
    (order,) = world.orders()
    assert order.mtx == world.service.bookings[0]["mtx"]
    assert order.state == "BOOKED"


def _plan(listed: ListWorld) -> dict[str, object]:
    return {
        "name": "Guest 1",
        "room": "401",
        "phone": None,
        "pickup_at": None,
        "flight": None,
        "note": None,
        "twice": False,
        "trip": listed.row.trip,
    }


def test_an_ordered_line_keeps_no_guest_of_its_own(world: World) -> None:
    listed = ListWorld(world, guests=1)
    listed.press()
    run(world)
    assert (listed.lines[0].data, listed.lines[0].plan) == ({}, None)


def test_what_is_changed_after_the_press_needs_another_press(world: World) -> None:
    listed = ListWorld(world, guests=1)
    listed.press()
    elsewhere = {"name": "Arcade", "lat": -38.503, "lng": -128.011}
    listed.change(trip={**listed.row.trip, "drop": elsewhere, "category": "prime"})
    run(world)
    (order,) = world.orders()
    assert order.category == "mini"
    assert world.page(order.id).offer.drop_name == "Airport"


def test_a_line_that_is_corrected_in_its_wave_is_not_booked_as_it_was(world: World) -> None:
    """Its plan was replaced between its price and its order."""
    listed = ListWorld(world, guests=1)
    listed.press()

    def replaced(name: str) -> None:
        if name != "list.priced" or listed.lines[0].state != "WAITING":
            return
        if (listed.lines[0].plan or {})["room"] == "401":
            with world.db.write() as s:
                row = locked_list(s, listed.id)
                assert row is not None
                open_again(s, row, {1}, world.clock())
            listed.press(listed.plan(1, room="999"))

    with world.worker(failpoint=replaced) as worker:
        for _ in range(6):
            worker.step()
            world.clock.go(7)
    assert [order.room for order in world.orders()] == ["999"]
    check_each_once(world, listed)


def test_a_line_with_the_number_of_a_car_that_waits_gets_a_car_of_its_own(world: World) -> None:
    listed = ListWorld(world, guests=2)
    listed.press(listed.plan(1))
    with world.db.write() as s:
        s.get_one(ListLine, listed.lines[1].id).car = 1
    listed.press(listed.plan(2))
    run(world)
    assert listed.states == ["ORDERED", "ORDERED"]
    assert len(world.orders()) == 2
