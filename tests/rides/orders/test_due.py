"""Planned rides are ordered once and in time, or an attention item is raised. Until then they may
be changed and withdrawn, also at the same time.
"""

import itertools
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from ridedash.rides.accounts.rotate_keys import rotate
from ridedash.rides.orders.change import Change, Overtaken, TooLate, change
from ridedash.rides.orders.due import LEASE, Promoter, reason_code
from ridedash.rides.orders.place import RequestRefused, TokenReused, place
from ridedash.rides.orders.resolve import undo_withdrawal, withdraw
from ridedash.rides.state import transitions
from ridedash.rides.state.states import BadTransition
from ridedash.service.errors import (
    BadStatus,
    NoAnswer,
    RateLimited,
    Refused,
    ServiceError,
    Throttled,
    Unauthorized,
)
from ridedash.service.throttle.traffic import Priority
from ridedash.store.audit import AuditRow
from ridedash.store.encryption import TokenVault, new_key
from ridedash.store.models.orders import Offer, Order, OrderState
from ridedash.store.models.people import Account
from tests.rides.desk_world import KEYS, World
from tests.rides.orders.test_crashes import KillAt, Killed, check
from tests.rides.orders.test_side_by_side import at_once

HOURS = timedelta(hours=5)
WRITE = Priority.WRITE
# ten for the cab to come, because these offers don't say how long that takes, and ten more
LEAD = timedelta(minutes=20)
THREADS = 6


def offered(fare: int = 250, fare_id: str | None = "F2", category: str = "mini") -> dict[str, Any]:
    """What the service offers when the ride comes due."""
    upfront = {"fare": fare, "fare_id": fare_id, "is_upfront_applicable": True}
    return {
        "categories": [
            {"id": category, "display_name": category.title(), "currency": "INR", "eta": 4}
        ],
        "ride_estimate": [{"category": category, "upfront": upfront}],
    }


def planned(world: World, **facts: Any) -> int:
    """A ride planned for five hours from now."""
    return world.place(**{"pickup_at": world.clock() + HOURS, **facts})


def until_due(world: World, late_s: float = 1.0) -> None:
    world.clock.go((HOURS - LEAD).total_seconds() + late_s)


def answers(world: World, *bodies: Any) -> None:
    world.service.answers["products"] = list(bodies)


def items(world: World, order_id: int) -> dict[str, str | None]:
    return {item.name: item.detail for item in world.page(order_id).attention}


def test_a_planned_ride_waits_and_is_ordered_in_time_with_the_price_of_then(world: World) -> None:
    order_id = planned(world, offer_id=world.offer(fare_id="F1"))
    order = world.page(order_id).order
    assert (order.state, order.due_at) == ("SCHEDULED", world.clock() + HOURS - LEAD)
    assert (order.open, order.guard_key, order.ready_at) == (False, None, None)
    answers(world, offered())
    with world.worker() as worker:
        world.clock.go((HOURS - LEAD).total_seconds() - 1)
        worker.step()
        assert (world.state(order_id), world.service.calls) == ("SCHEDULED", [])
        world.clock.go(1)
        worker.step()
    page = world.page(order_id)
    assert page.order.state == "BOOKED"
    assert (page.offer.fare_id, page.offer.seat_prices, page.offer.fetched_at) == (
        "F2",
        {"": "250"},
        world.clock(),
    )
    sent = next(body for name, body in world.service.calls if name == "create")
    assert (sent["fare_id"], sent["pickup_mode"], sent["category"]) == ("F2", "now", "mini")
    assert (page.order.open, page.order.guard_key is not None) == (True, True)
    assert [m.name for m in page.events if m.what == "order"] == [
        "SCHEDULED",
        "READY",
        "SENDING",
        "BOOKED",
    ]
    assert items(world, order_id) == {}
    check(world)


def test_the_requests_of_a_planned_ride_use_its_own_account(world: World) -> None:
    planned(world)
    answers(world, offered())
    until_due(world)
    with world.worker() as worker:
        worker.step()
    assert [body["category"] for name, body in world.service.calls if name == "products"] == [
        "mini"
    ]


def test_a_form_that_plans_makes_one_order_however_often_it_is_pressed(world: World) -> None:
    request = world.request(pickup_at=world.clock() + HOURS)
    first = place(world.db, world.clock, request)
    world.clock.go(HOURS.total_seconds() - 60)  # too late for a new plan; the order is there
    assert place(world.db, world.clock, request).order_id == first.order_id
    with pytest.raises(TokenReused):
        place(world.db, world.clock, world.request(form_token=request.form_token))


@pytest.mark.parametrize(
    "ahead", [timedelta(minutes=14, seconds=59), timedelta(days=30, seconds=1), -HOURS]
)
def test_a_pickup_too_near_or_too_far_is_refused(world: World, ahead: timedelta) -> None:
    with pytest.raises(RequestRefused) as refused:
        world.place(pickup_at=world.clock() + ahead)
    assert refused.value.field == "pickup_at"
    assert world.orders() == []


@pytest.mark.parametrize("ahead", [timedelta(minutes=15), timedelta(days=30)])
def test_a_pickup_at_either_end_of_the_calendar_is_taken(world: World, ahead: timedelta) -> None:
    assert world.state(world.place(pickup_at=world.clock() + ahead)) == "SCHEDULED"


def test_a_plan_needs_no_fresh_price_and_does_not_block_todays_ride(world: World) -> None:
    offer_id = world.offer()
    world.clock.go(600)
    planned(world, offer_id=offer_id, guest_name="Guest Heron")
    today = world.place(guest_name="Guest Heron")
    assert [world.state(today), len(world.orders())] == ["READY", 2]


FAILURES: dict[str, tuple[Any, str]] = {
    "service unreachable": (httpx.ConnectError("refused"), "NO_CONNECTION"),
    "no answer": (httpx.ReadTimeout("slow"), "NO_ANSWER"),
    "too many requests": (httpx.Response(429, headers={"Retry-After": "2"}), "RATE_LIMITED"),
    "the product is not offered": ({"categories": [], "ride_estimate": []}, "PLAN_CAR_GONE"),
    "another car only": (offered(category="suv"), "PLAN_CAR_GONE"),
    "refused": ({"status": "FAILURE", "code": "INVALID_CITY", "message": "no"}, "INVALID_CITY"),
    "fixed price missing": (offered(fare_id=None), "PLAN_NO_PRICE"),
    "a server in pain": (httpx.Response(502, html="<h1>Bad gateway</h1>"), "NO_ANSWER"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_ride_that_cannot_be_ordered_asks_for_a_person_and_is_tried_again(
    world: World, name: str
) -> None:
    answer, code = FAILURES[name]
    order_id = planned(world, offer_id=world.offer(fare_id="F1"))
    answers(world, answer, answer)  # a request for prices is repeated once
    until_due(world)
    with world.worker() as worker:
        worker.step()
        assert (world.state(order_id), items(world, order_id)) == (
            "SCHEDULED",
            {"not_ordered_yet": code},
        )
        assert world.page(order_id).order.tries == 1
        answers(world, offered())
        worker.step()
        assert world.state(order_id) == "SCHEDULED", "no attempt is made before the wait is over"
        world.clock.go(10)
        worker.step()
    assert (world.state(order_id), items(world, order_id)) == ("BOOKED", {})
    check(world)


def test_a_ride_that_cannot_be_ordered_until_its_window_ends_is_given_up_loudly(
    world: World,
) -> None:
    order_id = planned(world)
    until_due(world)
    with world.worker() as worker:
        for _ in range(45):
            answers(world, *[httpx.ConnectError("refused")] * 2)
            worker.step()
            world.clock.go(60)
    order = world.page(order_id).order
    assert (order.state, order.code) == ("NOT_SENT", "PLAN_MISSED")
    assert items(world, order_id) == {"plan_failed": "NO_CONNECTION"}
    assert order.tries > 10
    assert order.resolved_at is not None
    assert order.pickup_at is not None
    assert timedelta(minutes=10) < order.resolved_at - order.pickup_at < timedelta(minutes=13)
    assert world.service.count("create") == 0


def test_a_fixed_price_that_became_one_by_the_meter_is_ordered_by_the_meter(world: World) -> None:
    order_id = planned(world, offer_id=world.offer(fare_id="F1"))
    until_due(world)
    answers(
        world,
        offered() | {"ride_estimate": [{"category": "mini", "amount_min": 200, "amount_max": 260}]},
    )
    with world.worker() as worker:
        worker.step()
    sent = next(body for name, body in world.service.calls if name == "create")
    assert (world.state(order_id), "fare_id" in sent) == ("BOOKED", False)


def test_the_reason_of_the_last_try_is_the_one_that_is_shown(world: World) -> None:
    order_id = planned(world, offer_id=world.offer(fare_id="F1"))
    until_due(world)
    with world.worker() as worker:
        for answer, code in (
            FAILURES["fixed price missing"],
            FAILURES["the product is not offered"],
        ):
            answers(world, answer)
            worker.step()
            assert items(world, order_id) == {"not_ordered_yet": code}
            world.clock.go(61)


def test_a_planned_ride_waits_for_a_key_that_is_missing_and_says_so(world: World) -> None:
    order_id = planned(world)
    rotate(world.db, TokenVault(f"k2:{new_key()},{KEYS}"), world.clock)
    until_due(world)
    with world.worker() as worker:
        worker.step()
        assert items(world, order_id) == {}, "it is left to a worker that may have the key"
        world.clock.go(5)
        worker.step()
    assert items(world, order_id) == {"not_ordered_yet": "KEY_MISSING"}
    assert world.state(order_id) == "SCHEDULED"


def test_a_planned_ride_waits_for_an_account_that_must_be_linked_again(world: World) -> None:
    order_id = planned(world)
    with world.db.write() as s:
        s.get_one(Account, world.account_id).state = "reconnect"
    until_due(world)
    answers(world, offered())
    with world.worker() as worker:
        worker.step()
        assert items(world, order_id) == {"not_ordered_yet": "RECONNECT"}
        with world.db.write() as s:
            s.get_one(Account, world.account_id).state = "ok"
        world.clock.go(6)
        worker.step()
    assert world.state(order_id) == "BOOKED"


def test_an_expired_token_is_refreshed_before_anything_is_given_up(world: World) -> None:
    order_id = planned(world)
    world.service.tokens = {"another"}
    until_due(world)
    answers(world, offered())
    with world.worker() as worker:
        worker.step()
    assert (world.state(order_id), world.service.refreshes) == ("BOOKED", 1)


def test_a_guest_with_an_open_ride_from_there_gets_no_second_car_without_an_override(
    world: World,
) -> None:
    order_id = planned(world, guest_name="Guest Heron")
    until_due(world)
    with world.worker() as worker:
        other = world.book(worker, guest_name="Guest Heron")
        answers(world, offered(), offered())
        world.clock.go(6)
        worker.step()
        assert items(world, order_id) == {"not_ordered_yet": "PLAN_GUARD_BUSY"}
        with world.db.write() as s:
            s.get_one(Order, other).open = False
        world.clock.go(61)
        worker.step()
    assert world.state(order_id) == "BOOKED"


def test_a_guest_whose_phone_is_known_since_gets_no_second_car_either(world: World) -> None:
    known = {"guest_name": "Guest Heron", "guest_room": "412"}
    order_id = planned(world, **known, guest_phone="+919845011111")
    until_due(world)
    with world.worker() as worker:
        other = world.page(world.book(worker, **known)).order
        with world.db.write() as s:  # as if it had been booked before the phone was known
            s.get_one(Order, other.id).guard_key = f"1|anonymous|{(other.guard_key or '')[-16:]}"
        answers(world, offered())
        world.clock.go(6)
        worker.step()
    assert items(world, order_id) == {"not_ordered_yet": "PLAN_GUARD_BUSY"}


def test_a_second_car_that_is_still_open_keeps_a_planned_ride_back_as_the_first_one_would(
    world: World,
) -> None:
    known = {"guest_name": "Guest Heron", "guest_room": "412"}
    order_id = planned(world, **known)
    until_due(world)
    with world.worker() as worker:
        first = world.book(worker, **known)
        second = world.book(worker, **known, override_guard=True)
        for over in (first, second):
            answers(world, offered())
            world.clock.go(61)
            worker.step()
            assert items(world, order_id) == {"not_ordered_yet": "PLAN_GUARD_BUSY"}
            with world.db.write() as s:
                s.get_one(Order, over).open = False
        answers(world, offered())
        world.clock.go(61)
        worker.step()
    assert world.state(order_id) == "BOOKED"


def test_a_second_car_on_purpose_is_ordered_beside_the_first(world: World) -> None:
    order_id = planned(world, guest_name="Guest Heron", override_guard=True)
    until_due(world)
    with world.worker() as worker:
        answers(world, offered())
        world.book(worker, guest_name="Guest Heron")
    order = world.page(order_id).order
    assert (order.state, order.guard_key, order.guard_override_by) == (
        "BOOKED",
        None,
        world.staff_id,
    )


def test_nothing_is_ordered_while_the_answer_journal_can_not_be_written(world: World) -> None:
    order_id = planned(world)
    until_due(world)
    with world.worker() as worker:
        worker.journal.ready = lambda: False  # type: ignore[method-assign]
        worker.step()
    assert (world.state(order_id), items(world, order_id)) == (
        "SCHEDULED",
        {"not_ordered_yet": "PLAN_NO_BOX"},
    )


def test_a_worker_that_was_down_orders_late_inside_the_window_and_says_so(world: World) -> None:
    order_id = planned(world)
    until_due(world, late_s=7 * 60)
    answers(world, offered())
    with world.worker() as worker:
        worker.step()
    page = world.page(order_id)
    assert page.order.state == "BOOKED"
    assert [m.detail for m in page.events if m.name == "ordered_late"] == ["7"]


def test_a_worker_that_was_down_for_too_long_orders_nothing_and_raises_an_item(
    world: World,
) -> None:
    order_id = planned(world)
    world.clock.go(HOURS.total_seconds() + 601)
    answers(world, offered())
    with world.worker() as worker:
        worker.step()
    assert (world.state(order_id), items(world, order_id)) == (
        "NOT_SENT",
        {"plan_failed": "PLAN_NO_WORKER"},
    )
    assert world.service.calls == []


SENDS: dict[
    str, tuple[Callable[[World], Callable[[dict[str, Any]], httpx.Response]], str, str | None]
] = {
    "refused": (
        lambda _: (
            lambda _body: httpx.Response(
                200, json={"status": "FAILURE", "code": "NO_CABS_AVAILABLE"}
            )
        ),
        "REJECTED",
        "NO_CABS_AVAILABLE",
    ),
    "not reached": (lambda world: world.service.unreachable, "NOT_SENT", "NO_CONNECTION"),
}


@pytest.mark.parametrize("name", SENDS)
def test_a_planned_ride_whose_send_failed_asks_for_a_person_and_is_not_sent_again(
    world: World, name: str
) -> None:
    answer, state, code = SENDS[name]
    world.service.create.append(answer(world))
    order_id = planned(world)
    until_due(world)
    answers(world, offered())
    with world.worker() as worker:
        for _ in range(4):
            worker.step()
            world.clock.go(61)
    assert (world.state(order_id), items(world, order_id)) == (state, {"plan_failed": code})
    assert world.service.count("create") == 1
    check(world)


def test_an_unknown_outcome_of_a_planned_ride_is_unknown_like_any_other(world: World) -> None:
    world.service.create.append(world.service.lost_answer)
    order_id = planned(world)
    until_due(world)
    answers(world, offered())
    with world.worker() as worker:
        worker.step()
    assert world.state(order_id) == "UNKNOWN"
    assert list(items(world, order_id)) == ["unknown"]
    check(world)


def test_a_planned_ride_is_withdrawn_without_a_call_and_without_an_item(world: World) -> None:
    order_id = planned(world)
    assert withdraw(world.db, world.clock, order_id, world.actor)
    until_due(world)
    with world.worker() as worker:
        worker.step()
    assert (world.state(order_id), items(world, order_id), world.service.calls) == (
        "NOT_SENT",
        {},
        [],
    )


def test_a_withdrawn_plan_is_restored_within_seconds_and_is_then_ordered_in_time(
    world: World,
) -> None:
    order_id = planned(world)
    assert not undo_withdrawal(world.db, world.clock, order_id, world.staff_id)  # nothing to undo
    assert withdraw(world.db, world.clock, order_id, world.actor)
    world.clock.go(12)
    assert undo_withdrawal(world.db, world.clock, order_id, world.staff_id)
    assert (world.state(order_id), world.page(order_id).order.code) == ("SCHEDULED", None)
    until_due(world)
    answers(world, offered())
    with world.worker() as worker:
        worker.step()
    assert world.state(order_id) == "BOOKED"
    check(world)


def test_a_withdrawal_is_not_undone_later_or_after_the_ride_was_booked_again(world: World) -> None:
    late, booked_again, now = planned(world), planned(world), world.place()
    for order_id in (late, booked_again, now):
        assert withdraw(world.db, world.clock, order_id, world.actor)
    again = planned(world, supersedes=booked_again)
    assert world.state(again) == "SCHEDULED"
    assert not undo_withdrawal(world.db, world.clock, booked_again, world.staff_id)
    assert not undo_withdrawal(world.db, world.clock, now, world.staff_id)  # it was not planned
    world.clock.go(21)
    assert not undo_withdrawal(world.db, world.clock, late, world.staff_id)
    assert {world.state(each) for each in (late, booked_again, now)} == {"NOT_SENT"}


def test_a_ride_that_is_planned_again_is_not_booked_a_second_time_in_its_place(
    world: World,
) -> None:
    """A form to book the ride again was open while a colleague undid the withdrawal."""
    order_id = planned(world)
    assert withdraw(world.db, world.clock, order_id, world.actor)
    assert undo_withdrawal(world.db, world.clock, order_id, world.staff_id)
    for facts in ({}, {"pickup_at": world.clock() + HOURS}):
        with pytest.raises(RequestRefused, match="on its way again"):
            world.place(supersedes=order_id, **facts)
    assert [order.id for order in world.orders()] == [order_id]


def test_booking_again_and_undoing_at_the_same_time_leaves_one_ride(world: World) -> None:
    for _ in range(5):
        order_id = planned(world)
        assert withdraw(world.db, world.clock, order_id, world.actor)
        request = world.request(supersedes=order_id, pickup_at=world.clock() + HOURS)

        def again(request: Any = request) -> bool:
            try:
                return place(world.db, world.clock, request).created
            except RequestRefused:
                return False

        done = at_once(
            [
                again,
                lambda each=order_id: undo_withdrawal(world.db, world.clock, each, world.staff_id),
            ]
        )
        assert sorted(done) == [False, True]


def wanted(world: World, order_id: int, **facts: Any) -> Change:
    """A change of a planned ride as the page would post it: nothing differs except `facts`."""
    page = world.page(order_id)
    same = {
        "pickup_at": page.order.pickup_at,
        "guest_name": page.guest.name,
        "offer_id": page.offer.id,
    }
    return Change(order_id, page.order.version, world.request(**{**same, **facts}))


def test_a_change_is_a_new_version_of_the_same_order_and_is_recorded(world: World) -> None:
    order_id = planned(world)
    before = world.page(order_id).order
    later = world.clock() + 2 * HOURS
    made = wanted(
        world,
        order_id,
        pickup_at=later,
        offer_id=world.offer(category="suv"),
        guest_name="Guest Wren",
    )
    assert change(world.db, world.clock, made)
    page = world.page(order_id)
    assert (page.order.mtx, page.order.state, page.order.id) == (before.mtx, "SCHEDULED", before.id)
    assert (page.order.pickup_at, page.order.due_at) == (later, later - LEAD)
    assert (page.order.category, page.guest.name, page.order.version > before.version) == (
        "suv",
        "Guest Wren",
        True,
    )
    assert '"suv"' in page.order.body
    with world.db.read() as s:
        (row,) = s.scalars(select(AuditRow).where(AuditRow.what == "order.change"))
    assert (row.who, sorted(row.facts["changed"])) == (
        f"staff:{world.staff_id}",
        ["category", "guest", "pickup_at"],
    )
    assert "Wren" not in str(row.facts)


def test_the_same_change_pressed_twice_is_one(world: World) -> None:
    order_id = planned(world)
    made = wanted(world, order_id, note="two bags")
    assert change(world.db, world.clock, made)
    version = world.page(order_id).order.version
    assert not change(world.db, world.clock, made)
    assert world.page(order_id).order.version == version


def test_a_change_over_the_change_of_another_member_of_staff_is_refused(world: World) -> None:
    order_id = planned(world)
    mine, theirs = wanted(world, order_id, note="mine"), wanted(world, order_id, note="theirs")
    assert change(world.db, world.clock, theirs)
    with pytest.raises(Overtaken):
        change(world.db, world.clock, mine)
    assert world.page(order_id).order.note == "theirs"


def test_a_change_of_the_note_needs_no_new_time_and_one_of_the_time_needs_a_good_one(
    world: World,
) -> None:
    order_id = planned(world)
    world.clock.go((HOURS - timedelta(minutes=5)).total_seconds())
    with world.worker() as worker:
        answers(world, *[httpx.ConnectError("refused")] * 2)
        worker.step()
    assert change(world.db, world.clock, wanted(world, order_id, note="gate 3"))
    with pytest.raises(RequestRefused):
        change(
            world.db,
            world.clock,
            wanted(world, order_id, pickup_at=world.clock() + timedelta(minutes=3)),
        )


def test_a_ride_whose_car_is_gone_is_ordered_with_the_one_that_a_person_chose(world: World) -> None:
    order_id = planned(world)
    until_due(world)
    with world.worker() as worker:
        answers(world, offered(category="suv"))
        worker.step()
        assert items(world, order_id) == {"not_ordered_yet": "PLAN_CAR_GONE"}
        change(world.db, world.clock, wanted(world, order_id, offer_id=world.offer(category="suv")))
        assert items(world, order_id) == {}
        answers(world, offered(category="suv"))
        worker.step()
    assert (world.state(order_id), world.page(order_id).order.category) == ("BOOKED", "suv")


@pytest.mark.parametrize("state", ["READY", "NOT_SENT"])
def test_what_is_ordered_or_withdrawn_is_changed_no_more(world: World, state: str) -> None:
    order_id = planned(world)
    made = wanted(world, order_id, note="too late")
    if state == "NOT_SENT":
        withdraw(world.db, world.clock, order_id, world.actor)
    else:
        until_due(world)
        answers(world, offered())
        with world.worker() as worker:
            worker.promoter.promote(order_id)
    assert world.state(order_id) == state
    with pytest.raises(TooLate):
        change(world.db, world.clock, made)


def test_a_change_in_the_middle_of_an_attempt_wins_and_ends_the_attempt(
    world: World,
) -> None:
    order_id = planned(world)
    until_due(world)

    def meanwhile(name: str) -> None:
        if name == "plan.asked":
            change(world.db, world.clock, wanted(world, order_id, pickup_at=world.clock() + HOURS))

    answers(world, offered())
    with world.worker(failpoint=meanwhile) as worker:
        worker.step()
    order = world.page(order_id).order
    assert (order.state, order.due_at, order.owner) == (
        "SCHEDULED",
        world.clock() + HOURS - LEAD,
        None,
    )
    assert world.service.count("create") == 0


def test_a_withdrawal_in_the_middle_of_a_try_wins(world: World) -> None:
    order_id = planned(world)
    until_due(world)
    answers(world, offered())
    taken: list[bool] = []
    with world.worker(
        failpoint=lambda name: (
            taken.append(withdraw(world.db, world.clock, order_id, world.actor))
            if name == "plan.asked"
            else None
        )
    ) as worker:
        worker.step()
    assert (taken, world.state(order_id), world.service.count("create")) == ([True], "NOT_SENT", 0)


def test_many_workers_try_a_ride_that_is_due_once(world: World) -> None:
    with world.worker() as worker:
        for _ in range(3):
            order_id = planned(world)
            until_due(world)
            answers(world, *[offered()] * THREADS)
            rivals = [
                Promoter(replace(world.runtime, owner=f"w{n}"), worker.journal)
                for n in range(THREADS)
            ]
            results = at_once(
                [lambda rival=rival, order_id=order_id: rival.promote(order_id) for rival in rivals]
            )
            assert sorted(map(str, results)) == ["False"] * (THREADS - 1) + ["True"]
            names = [m.name for m in world.page(order_id).events]
            assert names.count("READY") == 1
    assert world.service.count("products") == 3


def test_of_a_withdrawal_and_an_attempt_at_once_one_wins(world: World) -> None:
    with world.worker() as worker:
        for _ in range(6):
            order_id = planned(world)
            until_due(world)
            answers(world, offered())
            calls = [
                lambda order_id=order_id: withdraw(world.db, world.clock, order_id, world.actor),
                lambda order_id=order_id: worker.promoter.promote(order_id),
            ]
            at_once(calls)
            states = [m.name for m in world.page(order_id).events if m.what == "order"]
            assert states in (
                ["SCHEDULED", "NOT_SENT"],
                ["SCHEDULED", "READY"],
                ["SCHEDULED", "READY", "NOT_SENT"],
            )


def test_a_change_and_an_attempt_at_once_never_send_the_old_values(world: World) -> None:
    with world.worker() as worker:
        for _ in range(6):
            order_id = planned(world)
            until_due(world)
            answers(world, offered())
            made = wanted(world, order_id, note="gate 3", offer_id=world.offer(category="suv"))
            changed, _tried = at_once(
                [
                    lambda made=made: change(world.db, world.clock, made),
                    lambda order_id=order_id: worker.promoter.promote(order_id),
                ],
                expected=(TooLate,),
            )
            order = world.page(order_id).order
            assert (changed is True) == ('"suv"' in order.body), changed
            assert isinstance(changed, TooLate) == (
                order.state == "READY" and '"mini"' in order.body
            )


POINTS = ["plan.claimed", "plan.asked", "plan.ready"]


@pytest.mark.parametrize(
    ("point", "kind"), list(itertools.product(POINTS, ["booked", "lost_answer", "unreachable"]))
)
def test_a_worker_that_dies_while_it_orders_a_planned_ride_leaves_it_to_the_next(
    world: World, point: str, kind: str
) -> None:
    world.service.create.append(getattr(world.service, kind))
    order_id = planned(world)
    until_due(world)
    answers(world, *[offered()] * 2)
    with world.worker(failpoint=KillAt(point)) as worker, pytest.raises(Killed):
        worker.step()
    with world.worker() as worker:
        for _ in range(3):
            worker.step()
            check(world)
            world.clock.go(LEASE.total_seconds() / 2 + 1)
    ends = {"booked": "BOOKED", "lost_answer": "UNKNOWN", "unreachable": "NOT_SENT"}
    assert (world.state(order_id), world.service.count("create")) == (ends[kind], 1)


def test_a_worker_that_stops_makes_nothing_ready(world: World) -> None:
    order_id = planned(world)
    until_due(world)
    answers(world, offered())
    with world.worker() as worker:
        worker._drain()
        worker.promoter.promote(order_id)
    assert world.state(order_id) == "SCHEDULED"


def test_a_ride_that_was_made_ready_and_found_no_sender_raises_an_item(
    world: World,
) -> None:
    order_id = planned(world)
    until_due(world)
    answers(world, offered())
    with world.worker() as worker:
        worker.promoter.promote(order_id)
        world.clock.go(31)
        worker.step()
    assert (world.state(order_id), items(world, order_id)) == (
        "NOT_SENT",
        {"plan_failed": "EXPIRED"},
    )
    assert world.service.count("create") == 0


def test_a_lease_that_a_clock_left_far_ahead_does_not_hold_a_ride_back(world: World) -> None:
    order_id = planned(world)
    until_due(world)
    with world.db.write() as s:
        s.get_one(Order, order_id).lease_until = world.clock() + timedelta(hours=3)
    answers(world, offered())
    with world.worker() as worker:
        worker.step()
    assert world.state(order_id) == "BOOKED"


def test_planned_rides_make_only_transitions_of_the_protocol(world: World) -> None:
    order_id = planned(world)
    with world.db.write() as s, pytest.raises(BadTransition):
        transitions.change_state(
            s, s.get_one(Order, order_id), OrderState.SENDING, world.clock(), "worker"
        )


def test_a_shared_ride_is_planned_for_its_seats_and_priced_for_them(world: World) -> None:
    order_id = planned(world, kind="share")
    until_due(world)
    share = {"category": "share", "fares": [{"seats": 1, "cost": 96}]}
    body = {
        "categories": [{"id": "share", "display_name": "Share", "currency": "INR"}],
        "ride_estimate": [share],
    }
    answers(world, body)
    with world.worker() as worker:
        worker.step()
    sent = next(body for name, body in world.service.calls if name == "create")
    assert (world.state(order_id), sent["seats"], sent["retry"]) == ("BOOKED", 1, True)


def test_offers_that_a_planned_ride_was_priced_by_are_stored_until_it_is_ordered(
    world: World,
) -> None:
    order_id = planned(world, pickup_at=world.clock() + timedelta(days=29))
    world.offer()
    world.clock.go(timedelta(days=28).total_seconds())
    with world.worker() as worker:
        worker._last.clear()
        worker._recurring_jobs()
    with world.db.read() as s:
        assert s.get(Offer, world.page(order_id).order.offer_id) is not None


def test_due_rides_are_tried_longest_due_first(world: World) -> None:
    start: datetime = world.clock()
    ids = [world.place(pickup_at=start + timedelta(hours=h)) for h in (3, 1, 2)]
    world.clock.go(4 * 3600)
    with world.worker() as worker:
        assert list(worker.promoter.due(2)) == [ids[1], ids[2]]


def test_a_worker_that_has_to_stop_while_prices_come_makes_nothing_ready(
    world: World,
) -> None:
    order_id = planned(world)
    until_due(world)
    answers(world, offered())
    stopping: list[str] = []

    def stop(name: str) -> None:
        if name == "plan.asked":
            stopping.append(name)
            worker.promoter.closed = True

    with world.worker(failpoint=stop) as worker:
        worker.promoter.promote(order_id)
    assert (stopping, world.state(order_id)) == (["plan.asked"], "SCHEDULED")
    assert world.service.count("create") == 0


@pytest.mark.parametrize(("late_s", "details"), [(60.0, []), (61.0, ["1"])])
def test_more_than_a_minute_late_is_in_the_timeline(
    world: World, late_s: float, details: list[str]
) -> None:
    order_id = planned(world)
    until_due(world, late_s)
    answers(world, offered())
    with world.worker() as worker:
        worker.step()
    events = world.page(order_id).events
    assert [each.detail for each in events if each.name == "ordered_late"] == details


def test_a_ride_is_ordered_up_to_the_last_instant_of_its_window(world: World) -> None:
    order_id = planned(world)
    world.clock.go(HOURS.total_seconds() + 600)
    answers(world, offered())
    with world.worker() as worker:
        assert worker.promoter.promote(order_id) is True
    assert world.state(order_id) == "READY"


def test_a_ride_that_another_worker_tries_is_due_when_its_lease_ends(world: World) -> None:
    order_id = planned(world)
    until_due(world)
    with world.db.write() as s:
        s.get_one(Order, order_id).lease_until = world.clock() + timedelta(seconds=3)
    with world.worker() as worker:
        world.clock.go(2.999)
        assert list(worker.promoter.due(9)) == []
        assert worker.promoter.promote(order_id) is False
        world.clock.go(0.001)
        assert list(worker.promoter.due(9)) == [order_id]


@pytest.mark.parametrize(
    ("wait_s", "opened", "code"),
    [(5.0, False, None), (5.001, False, "RATE_LIMITED"), (5.001, True, "NO_CONNECTION")],
)
def test_a_price_is_requested_while_the_sender_has_time_to_wait(
    world: World,
    wait_s: float,
    opened: bool,
    code: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order_id = planned(world)
    until_due(world)
    answers(world, offered())
    traffic = world.client.traffic
    with world.worker() as worker:
        monkeypatch.setattr(traffic, "wait_s", lambda priority: wait_s * (priority is WRITE))
        monkeypatch.setattr(traffic, "is_open", lambda *, write: write and opened)
        worker.promoter.promote(order_id)
    assert world.state(order_id) == ("SCHEDULED" if code else "READY")
    assert items(world, order_id) == ({"not_ordered_yet": code} if code else {})


@pytest.mark.parametrize("end", ["amount_min", "amount_max"])
def test_one_end_of_an_estimate_is_a_price_by_the_meter(world: World, end: str) -> None:
    order_id = planned(world, offer_id=world.offer(fare_id="F1"))
    until_due(world)
    answers(world, offered() | {"ride_estimate": [{"category": "mini", end: 200}]})
    with world.worker() as worker:
        worker.promoter.promote(order_id)
    assert world.state(order_id) == "READY"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RateLimited(429), "RATE_LIMITED"),
        (Throttled(Throttled.LIMITED, 1.0), "RATE_LIMITED"),
        (Unauthorized(401), "RECONNECT"),
        (Refused("invalid_car_category"), "PLAN_CAR_GONE"),
        (Refused("INVALID_CITY_CAR_CATEGORY"), "PLAN_CAR_GONE"),
        (Refused("INVALID_CITY"), "INVALID_CITY"),
        (Refused(), "PLAN_REFUSED"),
        (NoAnswer("x", sent=False), "NO_CONNECTION"),
        (NoAnswer("x", sent=True), "NO_ANSWER"),
        (BadStatus(500), "NO_ANSWER"),
    ],
)
def test_a_failed_question_for_prices_has_a_reason_for_people(
    error: ServiceError, code: str
) -> None:
    assert reason_code(error) == code
