"""Rides that the guest starts: one order or none, within the limits, whatever happens."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import httpx
import pytest
from sqlalchemy import update

from ridedash.rides.orders import guest_start
from ridedash.rides.orders.after_restore import declare, release
from ridedash.rides.orders.fields import BookingRequest
from ridedash.rides.orders.guest_start import (
    LONGEST,
    SHORTEST,
    Limits,
    NotStarted,
    start,
    wait_for_guest,
)
from ridedash.rides.orders.place import OfferUnknown, RequestRefused, TokenReused
from ridedash.rides.orders.recover import recover
from ridedash.rides.orders.resolve import undo_until, withdraw
from ridedash.rides.orders.resolve import undo_withdrawal as undo
from ridedash.rides.state.states import UNSENT
from ridedash.service.types.products import ProductList
from ridedash.store.actors import Actor, by_guest, by_staff
from ridedash.store.audit import AuditRow
from ridedash.store.models.orders import OrderState
from ridedash.store.models.people import Property
from tests.rides.desk_world import World
from tests.rides.dumps import dump
from tests.rides.dumps import restore as restore_dump
from tests.rides.journals.test_restore import rounds
from tests.rides.orders.test_crashes import check
from tests.rides.orders.test_due import answers, items, offered
from tests.rides.orders.test_side_by_side import at_once

HOURS = timedelta(hours=3)
THREADS = 6


def limits(world: World, ceiling: str = "300", ahead: timedelta = HOURS) -> Limits:
    return Limits(world.clock() + ahead, Decimal(ceiling))


def waiting(world: World, ceiling: str = "300", **facts: Any) -> int:
    request = world.request(**{"offer_id": world.offer(fare_id="F1"), **facts})
    return wait_for_guest(world.db, world.clock, request, limits(world, ceiling)).order_id


def guest(world: World, order_id: int) -> Actor:
    return by_guest(world.page(order_id).guest.id)


def creates(world: World) -> list[dict[str, Any]]:
    return [body for name, body in world.service.calls if name == "create"]


def audited(world: World, order_id: int) -> list[tuple[str, str, str]]:
    with world.db.read() as s:
        rows = s.query(AuditRow).filter_by(subject=f"orders:{order_id}").order_by(AuditRow.id)
        return [(row.who, row.what, row.result) for row in rows]


def test_nothing_is_sent_before_the_guest_presses_and_once_after(world: World) -> None:
    order_id = waiting(world)
    order = world.page(order_id).order
    assert (order.state, order.open, order.guard_key, order.ready_at) == (
        "WAITING",
        False,
        None,
        None,
    )
    world.clock.go(3_600)
    who = guest(world, order_id)
    with world.worker() as worker:
        worker.step()
        assert (world.state(order_id), world.service.calls) == ("WAITING", [])
        answers(world, offered(280))
        assert start(world.runtime, order_id, who)
        assert world.state(order_id) == "READY"
        worker.step()
        assert not start(world.runtime, order_id, who)
        worker.step()
    page = world.page(order_id)
    assert page.order.state == "BOOKED"
    assert (page.order.started_by, page.order.staff_id) == (str(who), 1)
    assert (page.offer.fare_id, page.offer.seat_prices) == ("F2", {"": "280"})
    assert [body["fare_id"] for body in creates(world)] == ["F2"]
    assert [m.name for m in page.events if m.what == "order"] == [
        "WAITING",
        "READY",
        "SENDING",
        "BOOKED",
    ]
    assert audited(world, order_id)[:2] == [
        ("staff:1", "order.place", "WAITING"),
        (str(who), "order.move", "READY"),
    ]
    check(world)


def test_many_presses_at_once_make_one_order(world: World) -> None:
    order_id = waiting(world)
    answers(world, *[offered(280)] * THREADS)
    pressed = at_once([partial(start, world.runtime, order_id, by_guest(1))] * THREADS)
    assert sorted(pressed) == [False] * (THREADS - 1) + [True]
    with world.worker() as worker:
        worker.step()
    assert len(creates(world)) == 1
    check(world)


def test_a_press_and_a_withdrawal_at_once_leave_one_of_both(world: World) -> None:
    for _ in range(4):
        order_id = waiting(world)
        answers(world, offered(280))

        def press(order_id: int = order_id) -> object:
            try:
                return start(world.runtime, order_id, by_guest(1))
            except NotStarted as reason:
                return reason.code

        at_once([press, partial(withdraw, world.db, world.clock, order_id, by_staff(1))])
        assert world.state(order_id) in ("READY", "NOT_SENT")
        withdraw(world.db, world.clock, order_id, by_staff(1))


FAILURES: dict[str, tuple[Any, str]] = {
    "a price above the ceiling": (offered(301), "START_ABOVE"),
    "a hundredth above": (offered(300.01), "START_ABOVE"),  # type: ignore[arg-type]
    "another car": (offered(category="auto"), "PLAN_CAR_GONE"),
    "no price": (
        {"categories": [{"id": "mini", "display_name": "Mini", "currency": "INR"}]},
        "PLAN_NO_PRICE",
    ),
    "another currency": (
        {
            "categories": [{"id": "mini", "display_name": "Mini", "currency": "USD"}],
            "ride_estimate": offered(20)["ride_estimate"],
        },
        "PLAN_NO_PRICE",
    ),
    "a silent service": (httpx.ReadTimeout("slow"), "NO_ANSWER"),
    "an unreachable service": (httpx.ConnectError("refused"), "NO_CONNECTION"),
}


@pytest.mark.parametrize("case", FAILURES)
def test_outside_the_limits_nothing_is_ordered_and_staff_are_notified(
    world: World, case: str
) -> None:
    answer, code = FAILURES[case]
    order_id = waiting(world)
    answers(world, *[answer] * 2)
    with pytest.raises(NotStarted) as refused:
        start(world.runtime, order_id, by_guest(1))
    assert refused.value.code == code
    assert world.state(order_id) == "WAITING"
    assert items(world, order_id) == {"not_started": code}
    assert audited(world, order_id)[-1] == ("guest:1", "order.not_started", "refused")
    with world.worker() as worker:
        worker.step()
    assert creates(world) == []
    world.clock.go(600)
    answers(world, offered(300))  # as much as the ceiling
    assert start(world.runtime, order_id, by_guest(1))
    assert items(world, order_id) == {}


def metered(**amounts: int) -> dict[str, Any]:
    return offered() | {"ride_estimate": [{"category": "mini", **amounts}]}


def test_a_lower_end_alone_is_no_price_to_be_within_a_ceiling(world: World) -> None:
    order_id = waiting(world, offer_id=world.offer())
    answers(world, metered(amount_min=100))
    with pytest.raises(NotStarted) as refused:
        start(world.runtime, order_id, by_guest(1))
    assert (refused.value.code, world.state(order_id)) == ("PLAN_NO_PRICE", "WAITING")


def test_a_fixed_price_that_staff_agreed_to_is_not_replaced_by_a_meter(world: World) -> None:
    order_id = waiting(world, offer_id=world.offer(fare_id="F1", seat_prices={"": "240"}))
    answers(world, metered(amount_min=100, amount_max=200), offered(280))
    with pytest.raises(NotStarted) as refused:
        start(world.runtime, order_id, by_guest(1))
    assert (refused.value.code, world.state(order_id)) == ("START_METERED", "WAITING")
    assert items(world, order_id) == {"not_started": "START_METERED"}
    assert start(world.runtime, order_id, by_guest(1))


def test_a_price_in_another_currency_than_staff_saw_is_none(world: World) -> None:
    """The offer named no currency, so it was shown in the property's."""
    order_id = waiting(world, offer_id=world.offer(fare_id="F1", currency=None))
    with world.db.write() as s:
        s.execute(update(Property).values(currency="INR"))
    dollars = offered(280)
    for each in dollars["categories"]:
        each["currency"] = "USD"
    answers(world, dollars, offered(280))
    with pytest.raises(NotStarted) as refused:
        start(world.runtime, order_id, by_guest(1))
    assert (refused.value.code, world.state(order_id)) == ("PLAN_NO_PRICE", "WAITING")
    assert start(world.runtime, order_id, by_guest(1))


def test_the_upper_end_of_an_estimate_counts(world: World) -> None:
    order_id = waiting(world, offer_id=world.offer())
    answers(world, metered(amount_min=100, amount_max=301))
    with pytest.raises(NotStarted):
        start(world.runtime, order_id, by_guest(1))
    answers(world, metered(amount_min=100, amount_max=300))
    assert start(world.runtime, order_id, by_guest(1))


def test_when_the_time_is_over_no_press_starts_it_and_the_worker_ends_it(world: World) -> None:
    order_id = waiting(world)
    world.clock.go(HOURS.total_seconds())
    with pytest.raises(NotStarted) as refused:
        start(world.runtime, order_id, by_guest(1))
    assert refused.value.code == "START_MISSED"
    assert world.service.calls == []
    assert recover(world.db, world.clock()) == 1
    order = world.page(order_id).order
    assert (order.state, order.code) == ("NOT_SENT", "START_MISSED")
    assert not start(world.runtime, order_id, by_guest(1))


def test_staff_withdraw_it_or_order_it_themselves(world: World) -> None:
    order_id, other = waiting(world), waiting(world, guest_name="Guest Wren")
    assert withdraw(world.db, world.clock, order_id, by_staff(1))
    assert not start(world.runtime, order_id, by_guest(1))
    answers(world, offered(280))
    assert start(world.runtime, other, by_staff(1))
    assert world.page(other).order.started_by == "staff:1"


def test_taking_it_back_is_undone_within_seconds_and_the_guest_can_start_it(world: World) -> None:
    order_id = waiting(world)
    assert withdraw(world.db, world.clock, order_id, by_staff(1))
    world.clock.go(12)
    assert undo(world.db, world.clock, order_id, 1)
    order = world.page(order_id).order
    assert (order.state, order.code, order.open, order.ready_at) == ("WAITING", None, False, None)
    answers(world, offered(280))
    assert start(world.runtime, order_id, guest(world, order_id))
    with world.worker() as worker:
        worker.step()
    assert len(creates(world)) == 1
    check(world)


def test_it_is_not_undone_once_it_is_started_or_when_its_time_is_over(world: World) -> None:
    started, late, over = (waiting(world, guest_name=f"Guest {name}") for name in "ABC")
    answers(world, offered(280))
    assert start(world.runtime, started, by_guest(1))
    for order_id in (started, late):
        assert withdraw(world.db, world.clock, order_id, by_staff(1))
    assert undo_until(world.page(started).order) is None
    assert not undo(world.db, world.clock, started, 1)
    world.clock.go(21)
    assert not undo(world.db, world.clock, late, 1)
    world.clock.go(HOURS.total_seconds() - 25)
    assert withdraw(world.db, world.clock, over, by_staff(1))
    world.clock.go(5)
    assert not undo(world.db, world.clock, over, 1)
    assert {world.state(each) for each in (started, late, over)} == {"NOT_SENT"}


def test_one_that_was_held_is_held_again_when_taking_it_back_is_undone(world: World) -> None:
    order_id = waiting(world)
    declare(world.db, world.clock, world.clock())
    assert withdraw(world.db, world.clock, order_id, by_staff(1))
    assert items(world, order_id) == {}
    assert undo(world.db, world.clock, order_id, 1)
    assert items(world, order_id) == {"held": None}


def test_a_guest_with_an_open_ride_from_there_gets_no_second_one(world: World) -> None:
    order_id = waiting(world, guest_name="Guest Heron")
    world.place(guest_name="Guest Heron")
    answers(world, offered(280))
    with pytest.raises(NotStarted) as refused:
        start(world.runtime, order_id, by_guest(1))
    assert refused.value.code == "PLAN_GUARD_BUSY"


def request(world: World, **facts: Any) -> BookingRequest:
    return world.request(**facts)


@pytest.mark.parametrize(
    ("ahead", "ceiling", "facts", "field"),
    [
        (SHORTEST - timedelta(seconds=1), "300", {}, "until"),
        (LONGEST + timedelta(seconds=1), "300", {}, "until"),
        (HOURS, "0", {}, "ceiling"),
        (HOURS, "99999999999", {}, "ceiling"),
        (HOURS, "300", {"cars": 2}, "cars"),
    ],
)
def test_limits_out_of_bounds_are_refused(
    world: World, ahead: timedelta, ceiling: str, facts: dict[str, Any], field: str
) -> None:
    with pytest.raises(RequestRefused) as refused:
        wait_for_guest(
            world.db, world.clock, request(world, **facts), limits(world, ceiling, ahead)
        )
    assert refused.value.field == field
    assert world.orders() == []


def test_one_form_makes_one_order_and_other_limits_are_another_form(world: World) -> None:
    wanted, wanted_limits = world.request(), limits(world)
    first = wait_for_guest(world.db, world.clock, wanted, wanted_limits)
    again = wait_for_guest(world.db, world.clock, wanted, wanted_limits)
    assert (first.created, again.created, again.order_id) == (True, False, first.order_id)
    with pytest.raises(TokenReused):
        wait_for_guest(world.db, world.clock, wanted, Limits(wanted_limits.until, Decimal(400)))
    with pytest.raises(OfferUnknown):
        wait_for_guest(world.db, world.clock, world.request(offer_id=999), wanted_limits)


def test_a_restored_database_holds_it_until_staff_decide(world: World) -> None:
    order_id = waiting(world)
    declare(world.db, world.clock, world.clock())
    assert items(world, order_id) == {"held": None}
    answers(world, offered(280))
    with pytest.raises(NotStarted) as refused:
        start(world.runtime, order_id, by_guest(1))
    assert refused.value.code == "START_HELD"
    world.clock.go(2 * HOURS.total_seconds())
    assert recover(world.db, world.clock()) == 0  # held: staff say what happened
    world.clock.go(-2 * HOURS.total_seconds())
    assert release(world.db, world.clock, order_id, 1)
    assert start(world.runtime, order_id, by_guest(1))
    assert OrderState.WAITING in UNSENT


@pytest.mark.parametrize("pressed", ["before it is noticed", "after", "never"])
def test_one_that_was_started_after_the_backup_is_not_ordered_again(
    world: World, pressed: str
) -> None:
    order_id = waiting(world)
    backup = dump(world.db)
    answers(world, offered(280))
    assert start(world.runtime, order_id, by_guest(1))
    with world.worker() as worker:
        worker.step()
    bookings = list(world.service.bookings)
    restore_dump(world.db, backup)
    assert world.state(order_id) == "WAITING"
    answers(world, *[offered(280)] * 4)
    if pressed == "before it is noticed":
        assert start(world.runtime, order_id, by_guest(1))
    with world.worker() as worker:
        rounds(world, worker)
        if pressed == "after":
            assert not start(world.runtime, order_id, by_guest(1))
        rounds(world, worker)
    assert world.service.bookings == bookings
    assert len(bookings) == 1
    assert world.state(order_id) == "BOOKED"


@pytest.mark.parametrize(
    ("category", "facts", "by_meter"),
    [
        ("share", {}, False),
        ("mini", {}, True),
        ("mini", {"upfront": {"fare": 240, "fare_id": "F", "is_upfront_applicable": True}}, False),
        ("mini", {"amount_min": 210, "amount_max": 260}, True),
    ],
)
def test_a_price_is_by_the_meter_unless_it_is_fixed_or_shared(
    category: str, facts: dict[str, Any], by_meter: bool
) -> None:
    row = {"id": category, "display_name": category.title(), "currency": "INR"}
    estimates = [{"category": category, **facts}] if facts else []
    listed = ProductList.from_wire({"categories": [row], "ride_estimate": estimates})
    assert guest_start.is_metered(listed.products[0]) is by_meter


def listed(category: str, estimate: dict[str, Any] | None, **more: Any) -> ProductList:
    row = {"id": category, "display_name": category.title(), "currency": "INR", **more}
    estimates = [] if estimate is None else [{"category": category, **estimate}]
    return ProductList.from_wire({"categories": [row], "ride_estimate": estimates})


FARES = {"fares": [{"seats": 1, "cost": 96}, {"seats": 2, "cost": 140}]}


@pytest.mark.parametrize(
    ("category", "estimate", "seats", "price"),
    [
        ("mini", None, None, None),
        ("mini", {"amount_max": 260}, None, 260),
        ("mini", {"amount_min": 210, "amount_max": 260}, None, 260),
        ("mini", {"amount_min": 300, "amount_max": 260}, None, 300),
        ("mini", {"amount_min": 210}, None, None),
        ("share", FARES, 1, 96),
        ("share", FARES, 2, 140),
        ("share", FARES, 3, None),
        ("share", None, 1, None),
    ],
)
def test_the_price_of_a_car_is_the_most_that_it_may_cost(
    category: str, estimate: dict[str, Any] | None, seats: int | None, price: int | None
) -> None:
    [product] = listed(category, estimate).products
    assert guest_start.price_of(product, seats) == price


def test_an_amount_is_stored_in_hundredths_rounded_up(world: World) -> None:
    amounts = {"300": 30_000, "0.01": 1, "1.001": 101, "96.50": 9_650}
    assert {each: guest_start.in_minor(Decimal(each)) for each in amounts} == amounts
    assert world.page(waiting(world, "0.01")).order.ceiling_minor == 1
    assert world.page(waiting(world, "21474836.47")).order.ceiling_minor == 2**31 - 1


@pytest.mark.parametrize("fact", ["pickup_at", "back_at"])
def test_one_car_for_now_is_what_a_guest_starts(world: World, fact: str) -> None:
    facts = {fact: world.clock() + HOURS}
    with pytest.raises(RequestRefused) as refused:
        wait_for_guest(world.db, world.clock, world.request(**facts), limits(world))
    assert (refused.value.field, world.orders()) == ("cars", [])


@pytest.mark.parametrize("ahead", [SHORTEST, LONGEST])
def test_the_shortest_and_the_longest_time_are_taken(world: World, ahead: timedelta) -> None:
    wanted_limits = limits(world, ahead=ahead)
    order_id = wait_for_guest(world.db, world.clock, world.request(), wanted_limits).order_id
    order = world.page(order_id).order
    assert order.guest_until == order.due_at == world.clock() + ahead


def test_a_form_with_other_contents_or_of_another_property_is_another_form(world: World) -> None:
    wanted, wanted_limits = world.request(), limits(world)
    wait_for_guest(world.db, world.clock, wanted, wanted_limits)
    later = Limits(wanted_limits.until + timedelta(seconds=1), wanted_limits.ceiling)
    for request_, limits_ in ((replace(wanted, note="two bags"), wanted_limits), (wanted, later)):
        with pytest.raises(TokenReused):
            wait_for_guest(world.db, world.clock, request_, limits_)
    theirs = replace(wanted, property_id=world.property_id + 1)
    with pytest.raises(OfferUnknown):
        wait_for_guest(world.db, world.clock, theirs, wanted_limits)
    assert len(world.orders()) == 1


def test_a_time_that_is_over_when_the_price_comes_starts_nothing(world: World) -> None:
    order_id = waiting(world)

    def slow(_query: dict[str, Any]) -> dict[str, Any]:
        world.clock.go(HOURS.total_seconds())
        return offered(280)

    world.service.products = slow
    with pytest.raises(NotStarted) as refused:
        start(world.runtime, order_id, by_guest(1))
    assert (refused.value.code, world.state(order_id)) == ("START_MISSED", "WAITING")
    assert items(world, order_id) == {}, "no one can do anything about it"


def test_a_price_that_was_too_high_is_stored_for_the_pages_until_another_reason(
    world: World,
) -> None:
    order_id = waiting(world)
    answers(world, offered(301), *[httpx.ConnectError("refused")] * 2)
    for price in ("301", None):
        with pytest.raises(NotStarted):
            start(world.runtime, order_id, by_guest(1))
        assert world.page(order_id).order.message == price
    with world.db.read() as s:
        rows = s.query(AuditRow).filter_by(what="order.not_started").order_by(AuditRow.id)
        assert [row.facts.get("price") for row in rows] == ["301", None]
    with pytest.raises(LookupError):
        start(world.runtime, order_id + 9, by_guest(1))


def test_while_the_service_is_silent_no_price_is_requested(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    order_id = waiting(world)
    monkeypatch.setattr(world.client.traffic, "is_open", lambda *, write: write)
    with pytest.raises(NotStarted) as refused:
        start(world.runtime, order_id, by_guest(1))
    assert (refused.value.code, world.service.calls) == ("NO_CONNECTION", [])
