"""Several cars by one press: each is an order of its own, with the form token and a number. They
are placed together and sent separately.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from ridedash.rides.orders.guard import GuardBusy
from ridedash.rides.orders.place import RequestRefused, TokenReused, place
from ridedash.rides.orders.resolve import withdraw
from ridedash.rides.worker import Worker
from ridedash.store.audit import AuditRow
from ridedash.store.models.desk import CostCentre
from ridedash.store.models.people import Guest
from ridedash.store.offers import Trip
from ridedash.store.orders import Order
from ridedash.store.properties import add_property
from tests.rides.desk_world import DROP, PICKUP, World
from tests.rides.orders.test_due import HOURS, LEAD, offered
from tests.rides.orders.test_side_by_side import at_once


def record(world: World) -> list[dict[str, Any]]:
    """The facts of all audit entries about placed orders."""
    with world.db.read() as s:
        rows = s.scalars(
            select(AuditRow).where(AuditRow.what == "order.place").order_by(AuditRow.id)
        )
        return [row.facts for row in rows]


def refused(_body: dict[str, Any]) -> httpx.Response:
    return httpx.Response(
        200, json={"status": "FAILURE", "code": "INVALID_CITY", "message": "no cars there"}
    )


def test_a_group_is_one_order_for_each_car_with_a_number_of_its_own(world: World) -> None:
    request = world.request(cars=3, guest_phone="+919845011111", form_token="the-form")
    placed = place(world.db, world.clock, request)
    orders = world.orders()
    assert placed.order_ids == tuple(order.id for order in orders)
    assert [order.form_token for order in orders] == ["the-form", "the-form.2", "the-form.3"]
    assert len({order.mtx for order in orders}) == 3
    assert len({order.group_key for order in orders}) == 1
    assert orders[0].group_key is not None
    assert len({order.guest_id for order in orders}) == 1


def test_the_first_car_has_the_guard_and_the_group_is_why_the_others_have_none(
    world: World,
) -> None:
    placed = world.placed(cars=3)
    first, *others = world.orders()
    assert first.guard_key is not None
    assert first.guard_override_by is None
    assert [(order.guard_key, order.guard_override_by) for order in others] == [
        (None, world.staff_id)
    ] * 2
    entries = record(world)
    assert [(facts["car"], facts["cars"], facts["override"]) for facts in entries] == [
        (1, 3, False),
        (2, 3, "group"),
        (3, 3, "group"),
    ]
    assert {facts["group"] for facts in entries} == {first.group_key}
    assert placed.order_id == first.id


def test_a_group_pressed_twice_is_one_group(world: World) -> None:
    request = world.request(cars=4)
    first, second = place(world.db, world.clock, request), place(world.db, world.clock, request)
    assert (first.created, second.created) == (True, False)
    assert first.order_ids == second.order_ids
    assert len(world.orders()) == 4


def test_a_group_pressed_in_many_places_at_once_is_one_group(world: World) -> None:
    request = world.request(cars=3, guest_phone="+919845011111")
    placed = at_once([lambda: place(world.db, world.clock, request)] * 5)
    assert len({each.order_ids for each in placed}) == 1
    assert sum(each.created for each in placed) == 1
    assert len(world.orders()) == 3
    with world.db.read() as s:
        assert len(s.scalars(select(Guest)).all()) == 1


@pytest.mark.parametrize("cars", [1, 2, 4])
def test_the_same_form_for_another_number_of_cars_is_refused(world: World, cars: int) -> None:
    request = world.request(cars=3)
    place(world.db, world.clock, request)
    with pytest.raises(TokenReused):
        place(world.db, world.clock, replace(request, cars=cars))
    assert len(world.orders()) == 3


@pytest.mark.parametrize("cars", [0, -1, 7])
def test_one_press_books_one_to_six_cars(world: World, cars: int) -> None:
    with pytest.raises(RequestRefused):
        world.place(cars=cars)
    assert world.orders() == []


def test_all_cars_are_placed_or_none(world: World) -> None:
    other = world.place()
    with world.db.write() as s:
        s.get_one(Order, other).form_token = "the-form.3"
    with pytest.raises(IntegrityError):
        world.place(cars=4, form_token="the-form")
    assert [order.id for order in world.orders()] == [other]


def test_a_guest_who_has_a_ride_already_gets_no_group_but_on_purpose(world: World) -> None:
    busy = world.place(guest_name="Guest Heron", guest_room="412")
    with pytest.raises(GuardBusy):
        world.place(guest_name="Guest Heron", guest_room="412", cars=2)
    assert len(world.orders()) == 1
    world.place(guest_name="Guest Heron", guest_room="412", cars=2, override_guard=True)
    assert [(facts["override"], facts.get("second_to")) for facts in record(world)] == [
        (False, None),
        (True, busy),
        ("group", busy),
    ]


def test_some_cars_may_fail_and_the_others_are_booked_all_the_same(world: World) -> None:
    answers: list[Callable[[dict[str, Any]], httpx.Response]] = [
        world.service.booked,
        refused,
        world.service.lost_answer,
        world.service.unreachable,
    ]
    world.service.create = answers
    with world.worker() as worker:
        ids = world.placed(cars=4).order_ids
        for _ in range(8):
            worker.step()
    assert sorted(world.state(order_id) for order_id in ids) == [
        "BOOKED",
        "NOT_SENT",
        "REJECTED",
        "UNKNOWN",
    ]
    assert len(world.service.bookings) == 2, "one that is booked, and one whose answer was lost"
    assert len({booking["mtx"] for booking in world.service.bookings}) == 2
    assert world.service.count("create") == 4


def test_one_car_of_a_group_is_withdrawn_alone(world: World) -> None:
    first, second = world.placed(cars=2).order_ids
    assert withdraw(world.db, world.clock, first, world.actor)
    assert (world.state(first), world.state(second)) == ("NOT_SENT", "READY")


def test_a_group_whose_first_car_is_over_guards_the_guest_as_long_as_another_one_is_open(
    world: World,
) -> None:
    request = world.request(cars=3, guest_phone="+919845011111", form_token="the-form")
    first, *others = place(world.db, world.clock, request).order_ids
    assert withdraw(world.db, world.clock, first, request.actor)
    with pytest.raises(GuardBusy):
        place(world.db, world.clock, replace(request, cars=1, form_token="another"))
    for order_id in others:
        assert withdraw(world.db, world.clock, order_id, request.actor)
    assert place(world.db, world.clock, replace(request, cars=1, form_token="another")).created


def test_a_group_of_another_property_guards_no_guest_of_ours(world: World) -> None:
    request = world.request(cars=2, guest_phone="+919845011111", form_token="the-form")
    first, other_car = place(world.db, world.clock, request).order_ids
    assert withdraw(world.db, world.clock, first, request.actor)
    with world.db.write() as s:
        other = add_property(s, "Other Hotel", "UTC", world.clock()).id
        order = s.get_one(Order, other_car)
        order.property_id = s.get_one(Guest, order.guest_id).property_id = other
    assert place(world.db, world.clock, replace(request, cars=1, form_token="another")).created


def test_a_planned_group_is_ordered_car_by_car_when_it_comes_due(world: World) -> None:
    ids = world.placed(
        cars=3, pickup_at=world.clock() + HOURS, guest_phone="+919845011111"
    ).order_ids
    assert [world.state(order_id) for order_id in ids] == ["SCHEDULED"] * 3
    world.service.answers["products"] = [offered() for _ in range(3)]
    world.clock.go((HOURS - LEAD).total_seconds())
    with world.worker() as worker:
        for _ in range(12):
            worker.step()
    assert [world.state(order_id) for order_id in ids] == ["BOOKED"] * 3
    assert (
        len({body["merchant_txn_id"] for call, body in world.service.calls if call == "create"})
        == 3
    )


def test_a_planned_group_of_which_the_second_car_is_due_first_is_ordered_all_the_same(
    world: World,
) -> None:
    at = world.clock() + HOURS
    ids = world.placed(cars=2, pickup_at=at, guest_phone="+919845011111").order_ids
    with world.db.write() as s:
        later = s.get_one(Order, ids[0])
        later.due_at, later.version = later.due_at + timedelta(seconds=30), later.version + 1
    world.service.answers["products"] = [offered() for _ in ids]
    world.clock.go((HOURS - LEAD).total_seconds())
    with world.worker() as worker:
        worker.step()
        worker.step()
        assert [world.state(order_id) for order_id in ids] == ["SCHEDULED", "BOOKED"]
        world.clock.go(30)
        worker.step()
        worker.step()
    assert [world.state(order_id) for order_id in ids] == ["BOOKED"] * 2


def test_a_planned_group_waits_as_one_while_a_colleague_has_booked_for_its_guest(
    world: World,
) -> None:
    at, heron = world.clock() + HOURS, {"guest_name": "Guest Heron", "guest_room": "412"}
    ids = world.placed(cars=3, pickup_at=at, **heron).order_ids
    world.clock.go((HOURS - LEAD).total_seconds())
    world.service.answers["products"] = [offered() for _ in range(40)]
    with world.worker() as worker:
        other = world.book(worker, **heron)
        for _ in range(4):
            world.clock.go(6)
            worker.step()
        assert [world.state(order_id) for order_id in ids] == ["SCHEDULED"] * 3
        for order_id in ids:
            (item,) = world.page(order_id).attention
            assert (item.name, item.detail) == ("not_ordered_yet", "PLAN_GUARD_BUSY")
        assert world.service.count("create") == 1
        with world.db.write() as s:
            s.get_one(Order, other).open = False
        for _ in range(4):
            world.clock.go(61)
            worker.step()
    assert [world.state(order_id) for order_id in ids] == ["BOOKED"] * 3
    guards = [world.page(order_id).order.guard_key for order_id in ids]
    assert sum(guard is not None for guard in guards) == 1


IBIS = {"guest_name": "Guest Ibis", "guest_room": "415"}


def first_car_due(world: World, worker: Worker) -> tuple[int, ...]:
    """A planned group of two: the first car was due just now, the second is due later."""
    ids = world.placed(cars=2, pickup_at=world.clock() + HOURS, **IBIS).order_ids
    move(world, ids[1], due_at=world.clock() + HOURS)
    world.service.products = lambda _query: offered()
    world.clock.go((HOURS - LEAD).total_seconds())
    worker.step()
    worker.step()
    return ids


def first_car_ordered(world: World, worker: Worker) -> tuple[int, int]:
    """The group of `first_car_due`, after its first car was ordered."""
    ids = first_car_due(world, worker)
    assert [world.state(order_id) for order_id in ids] == ["BOOKED", "SCHEDULED"]
    return ids[0], ids[1]


def move(world: World, order_id: int, **columns: Any) -> None:
    with world.db.write() as s:
        order = s.get_one(Order, order_id)
        order.version += 1
        for name, value in columns.items():
            setattr(order, name, value)


def later_car_due(world: World, worker: Worker, order_id: int) -> tuple[str, bool]:
    """What becomes of the second car when it is due: its state, and whether it has the guard."""
    world.clock.go(LEAD.total_seconds())
    for _ in range(3):
        world.clock.go(6)
        worker.step()
    return world.state(order_id), world.page(order_id).order.guard_key is not None


def test_a_later_car_of_a_planned_group_is_tried_again_when_the_first_one_is_over(
    world: World,
) -> None:
    with world.worker() as worker:
        first, later = first_car_ordered(world, worker)
        move(world, first, open=False)
        other = world.book(worker, **IBIS)
        assert later_car_due(world, worker, later) == ("SCHEDULED", False)
        (item,) = world.page(later).attention
        assert (item.name, item.detail) == ("not_ordered_yet", "PLAN_GUARD_BUSY")
        move(world, other, open=False)
        world.clock.go(61)
        worker.step()
        worker.step()
        assert world.state(later) == "BOOKED"
    assert world.page(later).order.guard_key is not None


def test_a_car_of_a_planned_group_from_another_pickup_has_a_guard_of_its_own(world: World) -> None:
    with world.worker() as worker:
        _first, later = first_car_ordered(world, worker)
        move(world, later, offer_id=world.offer(trip=Trip(DROP, "Airport", PICKUP, "Lobby")))
        assert later_car_due(world, worker, later) == ("BOOKED", True)


@pytest.mark.parametrize("again", [1, 2])
def test_a_car_that_was_booked_again_belongs_to_its_group(world: World, again: int) -> None:
    world.service.create = [refused] * again
    with world.worker() as worker:
        ids = first_car_due(world, worker)
        failed = ids[0]
        for _ in range(again):
            assert world.state(failed) == "REJECTED"
            failed = world.book(worker, supersedes=failed, **IBIS)
        assert world.state(failed) == "BOOKED"
        assert later_car_due(world, worker, ids[1]) == ("BOOKED", False)


def test_a_second_car_on_purpose_frees_the_one_car_of_a_planned_group_that_it_names(
    world: World,
) -> None:
    at, heron = world.clock() + HOURS, {"guest_name": "Guest Heron", "guest_room": "412"}
    ids = world.placed(cars=2, pickup_at=at, **heron).order_ids
    with world.db.write() as s:  # as the page Change does
        order = s.get_one(Order, ids[1])
        order.guard_override_by, order.version = world.staff_id, order.version + 1
    world.clock.go((HOURS - LEAD).total_seconds())
    world.service.answers["products"] = [offered() for _ in ids]
    with world.worker() as worker:
        world.book(worker, **heron)
    assert [world.state(order_id) for order_id in ids] == ["SCHEDULED", "BOOKED"]


def test_a_ride_is_charged_to_a_cost_centre_of_its_own_property_only(world: World) -> None:
    with world.db.write() as s:
        other = add_property(s, "Other Hotel", "UTC", world.clock()).id
        rows = [
            CostCentre(property_id=property_id, name="Spa", closed_at=None)
            for property_id in (world.property_id, other)
        ]
        s.add_all(rows)
        s.flush()
        ours, theirs = (row.id for row in rows)
    order_id = world.place(cost_centre_id=ours)
    assert world.page(order_id).order.cost_centre_id == ours
    with pytest.raises(RequestRefused):
        world.place(cost_centre_id=theirs)


def test_the_guard_knows_a_guest_by_the_phone_that_we_have_of_them(world: World) -> None:
    world.place(guest_name="Guest Heron", guest_room="412", guest_phone="+919845011111")
    with pytest.raises(GuardBusy):
        world.place(guest_name="Guest Heron", guest_room="412")
