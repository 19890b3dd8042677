"""Staff resolve orders without an outcome: which numbers are believed, what can be undone."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from ridedash.geo import LatLng, distance_m
from ridedash.rides.orders import resolve
from ridedash.rides.orders.resolve import (
    Checked,
    reopen,
    resolve_booked,
    resolve_not_booked,
    undo_until,
    undo_withdrawal,
    undo_withdrawals,
    withdraw,
)
from ridedash.rides.privacy.erase import ErasedGuest, erase
from ridedash.service.errors import BadStatus, NoAnswer, Refused
from ridedash.store.audit import AuditRow
from ridedash.store.models.orders import Order, OrderState, Ride
from tests.rides.desk_world import PICKUP, START, World
from tests.rides.orders.test_guest_start import HOURS, waiting

S = OrderState


def unknown(world: World) -> int:
    world.service.create.append(world.service.lost_answer)
    with world.worker() as worker:
        return world.book(worker)


def planned(world: World) -> int:
    order_id = world.place()
    pickup_at = START + timedelta(hours=3)
    set_to(
        world,
        order_id,
        state=S.SCHEDULED,
        pickup_at=pickup_at,
        ready_at=None,
        guard_key=f"g{order_id}",
    )
    return order_id


def set_to(world: World, order_id: int, **columns: Any) -> None:
    with world.db.write() as s:
        later = columns | {"version": Order.version + 1}
        s.execute(update(Order).where(Order.id == order_id).values(later))


def checked(world: World, order_id: int, number: str = "C1") -> Checked:
    return resolve_booked(world.runtime, order_id, number, world.staff_id)


def row(world: World, order_id: int) -> Order:
    return world.page(order_id).order


NO_ANSWERS = (
    (Refused("NO_BOOKING", message="None such"), Checked("not_found", text="None such")),
    (Refused("NO_BOOKING", text="Unknown"), Checked("not_found", text="Unknown")),
    (Refused("invalid_partner_key", http_status=403), Checked("no_answer")),
    (Refused("rate_limit"), Checked("no_answer")),
    (BadStatus(400), Checked("not_found")),
    (BadStatus(404), Checked("not_found")),
    (BadStatus(500), Checked("no_answer")),
    (NoAnswer("slow", sent=True), Checked("no_answer")),
)


def test_without_the_services_word_nothing_is_linked(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    order_id, answers = unknown(world), [error for error, _ in NO_ANSWERS]

    def fails(*_: object, **__: object) -> None:
        raise answers.pop(0)

    monkeypatch.setattr(world.client, "track_ride", fails)
    assert [checked(world, order_id) for _ in NO_ANSWERS] == [found for _, found in NO_ANSWERS]
    assert checked(world, order_id, " ") == Checked("not_found"), "the service is not called"
    assert row(world, order_id).state == S.UNKNOWN


def test_another_booking_one_without_a_status_and_one_from_elsewhere_prove_nothing(
    world: World,
) -> None:
    order_id, near, far = unknown(world), -38.50224, -38.50226
    assert (
        distance_m(PICKUP, LatLng(near, PICKUP.lng))
        < 250
        < distance_m(PICKUP, LatLng(far, PICKUP.lng))
    )
    here, there = ({"lat": lat, "lng": PICKUP.lng} for lat in (near, far))
    known = {"booking_id": "C1", "booking_status": "CALL_DRIVER"}
    for answer, found in (
        (known | {"booking_id": "C2"}, "not_found"),
        ({"booking_id": "C1"}, "no_answer"),
        (known | {"pickup_location": there}, "far"),
        (known | {"pickup_location": here}, "booked"),
    ):
        assert row(world, order_id).state == S.UNKNOWN
        world.service.tracks["C1"] = [answer]
        answered = checked(world, order_id)
        assert answered.outcome == found
        assert (answered.metres is None) == ("pickup_location" not in answer)


def test_a_linked_booking_keeps_who_typed_it_and_ends_the_doubt(world: World) -> None:
    order_id = unknown(world)
    set_to(world, order_id, code="NO_ANSWER", evidence="torn")
    world.service.tracks["C1"] = [{"booking_status": "CALL_DRIVER"}]
    assert checked(world, order_id).outcome == "booked_place_unconfirmed"
    page = world.page(order_id)
    order = page.order
    assert (order.state, order.booking_id, order.resolved_by) == (S.BOOKED, "C1", world.staff_id)
    assert (order.code, order.evidence) == ("NO_ANSWER", "torn")
    assert order.resolve_reason == "booking number C1 typed: booked_place_unconfirmed"
    assert page.attention == ()
    with world.db.read() as s:
        [entry] = s.query(AuditRow).filter_by(what="order.resolve")
    assert (entry.who, entry.subject, entry.result) == (
        f"staff:{world.staff_id}",
        f"orders:{order_id}",
        "BOOKED",
    )
    assert entry.facts == {"place": "booked_place_unconfirmed"}


def test_a_booking_that_another_ride_has_taken_over_is_linked_already(world: World) -> None:
    with world.worker() as worker:
        other = world.book(worker)
    order_id = unknown(world)
    with world.db.write() as s:
        s.execute(update(Ride).where(Ride.order_id == other).values(booking_id="C9"))
        s.execute(update(Order).where(Order.id == other).values(version=Order.version + 1))
    assert checked(world, order_id, "C9") == Checked("linked", order_id=other)


def test_a_booking_that_another_order_gets_in_between_settles_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On PostgreSQL another transaction may commit between two statements of this one."""
    with world.worker() as worker:
        other = world.book(worker)
    order_id, booking_id = unknown(world), row(world, other).booking_id
    assert booking_id is not None
    world.service.tracks[booking_id] = [{"booking_status": "CALL_DRIVER"}]
    found = [None, None, other]  # two looks before the other order has the booking, and one after
    monkeypatch.setattr(resolve, "_other_order", lambda *_: found.pop(0))
    assert checked(world, order_id, booking_id) == Checked("linked", order_id=other)
    page = world.page(order_id)
    assert (page.order.state, page.order.resolved_by) == (S.UNKNOWN, None)
    assert page.order.resolve_reason is None
    assert [item.name for item in page.attention] == ["unknown"], "a person must still look at it"
    with world.db.read() as s:
        assert s.query(AuditRow).filter_by(what="order.resolve").count() == 0


def test_a_reason_has_three_letters_and_is_stored_up_to_500_without_gaps(world: World) -> None:
    order_id = unknown(world)
    close = world.db, world.clock, order_id, world.staff_id
    with pytest.raises(ValueError, match="how you know"):
        resolve_not_booked(*close, " a   ")
    assert resolve_not_booked(*close, "no\n " + 600 * "x")
    assert row(world, order_id).resolve_reason == "no " + 497 * "x"
    assert not resolve_not_booked(*close, "once more")
    assert reopen(*close)
    order = row(world, order_id)
    assert (order.state, order.resolved_by, order.resolve_reason) == (S.UNKNOWN, None, None)
    assert resolve_not_booked(*close, "abc")


def test_a_withdrawn_plan_is_restored_within_twenty_seconds_and_offered_for_ten(
    world: World,
) -> None:
    order_id = planned(world)
    assert withdraw(world.db, world.clock, order_id, world.actor)
    order = row(world, order_id)
    assert (order.state, order.code) == (S.NOT_SENT, "WITHDRAWN")
    assert order.resolved_by == world.staff_id
    assert undo_until(order) == START + timedelta(seconds=10)
    assert not withdraw(world.db, world.clock, order_id, world.actor), "it is too late"
    world.clock.go(19.999)
    assert undo_withdrawal(world.db, world.clock, order_id, world.staff_id)
    order = row(world, order_id)
    assert (order.state, order.code, order.resolved_by) == (S.SCHEDULED, None, None)
    assert order.guard_key is None
    assert undo_until(order) is None
    assert not undo_withdrawal(world.db, world.clock, order_id, world.staff_id)


def test_what_was_withdrawn_twenty_seconds_ago_or_ordered_anew_stays_withdrawn(
    world: World,
) -> None:
    late, again, unplanned, missed = planned(world), planned(world), world.place(), planned(world)
    for order_id in (late, again, unplanned):
        assert withdraw(world.db, world.clock, order_id, world.actor)
    set_to(world, missed, state=S.NOT_SENT, code="PLAN_MISSED", resolved_at=START)
    set_to(world, world.place(), supersedes=again)
    for order_id in (again, unplanned, missed):
        assert not undo_withdrawal(world.db, world.clock, order_id, world.staff_id)
    world.clock.go(20)
    assert not undo_withdrawal(world.db, world.clock, late, world.staff_id)
    assert {row(world, each).state for each in (late, again, unplanned, missed)} == {S.NOT_SENT}


def test_a_ride_whose_guest_was_erased_stays_withdrawn(world: World) -> None:
    """Otherwise a driver would come in vain."""
    order_id = world.place(guest_name="Guest Heron", pickup_at=START + timedelta(hours=3))
    assert withdraw(world.db, world.clock, order_id, world.actor)
    erase(world.db, world.clock, "key", ErasedGuest(world.property_id, name="Guest Heron"))
    assert not undo_withdrawal(world.db, world.clock, order_id, world.staff_id)
    assert row(world, order_id).state == S.NOT_SENT


def test_a_ride_of_which_its_guest_had_until_now_to_start_it_stays_withdrawn(
    world: World,
) -> None:
    on_time, late = waiting(world), waiting(world)
    world.clock.go((HOURS - timedelta(seconds=10)).total_seconds())
    for order_id in (on_time, late):
        assert withdraw(world.db, world.clock, order_id, world.actor)
    world.clock.go(9.999)
    assert undo_withdrawals(world.db, world.clock, [on_time], world.staff_id) == [on_time]
    world.clock.go(0.001)
    assert undo_withdrawals(world.db, world.clock, [late], world.staff_id) == []
    assert [row(world, each).state for each in (on_time, late)] == [S.WAITING, S.NOT_SENT]


def test_a_number_that_is_typed_for_an_order_with_an_outcome_is_refused_as_too_late(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The order had an outcome before, or got one from a colleague during the call."""
    with world.worker() as worker:
        booked = world.book(worker)
    order_id = unknown(world)
    world.service.tracks |= {each: [{"booking_status": "CALL_DRIVER"}] for each in ("C8", "C9")}
    assert checked(world, booked, "C8") == Checked("wrong_state")
    ask = world.client.track_ride

    def after_a_colleague(*given: Any, **more: Any) -> Any:
        monkeypatch.setattr(world.client, "track_ride", ask)
        assert checked(world, order_id, "C9").outcome == "booked_place_unconfirmed"
        return ask(*given, **more)

    monkeypatch.setattr(world.client, "track_ride", after_a_colleague)
    assert checked(world, order_id, "C8") == Checked("wrong_state")
    assert row(world, order_id).booking_id == "C9"
