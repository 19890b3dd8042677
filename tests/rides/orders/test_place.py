"""Placing an order, sending it once, and the state that each answer leads to."""

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest
from sqlalchemy import select

from ridedash.rides.actions import acknowledge
from ridedash.rides.orders.place import (
    OfferStale,
    OfferUnknown,
    RequestRefused,
    TokenReused,
    offer_of,
    place,
)
from ridedash.rides.orders.request import digest
from ridedash.rides.orders.resolve import reopen, resolve_booked, resolve_not_booked, withdraw
from ridedash.rides.state.states import TRANSITIONS, BadTransition, is_allowed
from ridedash.rides.state.transitions import change_state, raise_attention
from ridedash.service.types.bookings import NewBooking
from ridedash.store.audit import AuditRow
from ridedash.store.models.people import Account
from ridedash.store.orders import Order, OrderState
from ridedash.store.properties import add_property, add_staff
from tests.rides.desk_world import World


def names(world: World, order_id: int) -> list[str]:
    return [f"{event.what}:{event.name}" for event in world.page(order_id).events]


def wanted(world: World, order_id: int) -> set[str]:
    return {item.name for item in world.page(order_id).attention}


def test_an_order_is_ready_then_sent_once_and_booked_with_its_ride(world: World) -> None:
    with world.worker() as worker:
        order_id = world.place(note="two bags")
        assert world.state(order_id) == "READY"
        assert worker.step()
        assert list(worker.journal.file.pending()) == []
    page = world.page(order_id)
    assert (page.order.state, page.order.booking_id, page.order.booking_timeout_s) == (
        "BOOKED",
        "C1",
        240,
    )
    assert page.ride is not None
    assert names(world, order_id)[:3] == ["order:READY", "order:SENDING", "order:BOOKED"]
    assert [body["merchant_txn_id"] for call, body in world.service.calls if call == "create"] == [
        page.order.mtx
    ]


def bill_account(world: World, affiliate_uid: str | None) -> None:
    """Set or remove the affiliate to whom the account is billed, as a manager does."""
    with world.db.write() as s:
        s.get_one(Account, world.account_id).affiliate_uid = affiliate_uid


def sent_uids(world: World) -> list[str | None]:
    """The `affiliate_uid` of each create that the service has received."""
    return [body.get("affiliate_uid") for name, body in world.service.calls if name == "create"]


def test_a_booking_names_the_affiliate_of_its_account_and_of_no_other(world: World) -> None:
    bill_account(world, "hotel-17")
    with world.worker() as worker:
        world.place(cars=2)
        worker.step()
        bill_account(world, None)
        world.place(guest_name="Guest Wren", guest_phone="+91 98450 11111")
        worker.step()
    assert sent_uids(world) == ["hotel-17", "hotel-17", None]
    for order in world.orders():
        assert order.body_digest == digest(order.body)


def test_a_form_is_the_same_form_after_the_affiliate_of_its_account_changed(world: World) -> None:
    request = world.request()
    first = place(world.db, world.clock, request)
    bill_account(world, "hotel-17")
    assert place(world.db, world.clock, request).order_id == first.order_id


def test_a_planned_ride_names_the_affiliate_of_its_account_at_that_time(world: World) -> None:
    bill_account(world, "hotel-1")
    order_id = world.place(pickup_at=world.clock() + timedelta(hours=5))
    frozen = NewBooking.model_validate_json(world.page(order_id).order.body)
    assert frozen.affiliate_uid == "hotel-1"
    bill_account(world, "hotel-2")
    world.clock.go(timedelta(hours=5).total_seconds() - 600)
    world.service.answers["products"] = [PRODUCTS]
    with world.worker() as worker:
        worker.step()
    assert sent_uids(world) == ["hotel-2"]


PRODUCTS = {
    "categories": [{"id": "mini", "display_name": "Mini", "currency": "INR", "eta": 4}],
    "ride_estimate": [{"category": "mini", "amount_min": 200, "amount_max": 240}],
}


def test_the_request_has_the_priced_values_and_nothing_of_the_guest(world: World) -> None:
    offer = world.offer(fare_id="FARE-7")
    with world.worker() as worker:
        world.place(
            offer_id=offer,
            payment="cash",
            coupon="STAY10",
            guest_phone="+91 98450 00000",
            note="bags",
        )
        worker.step()
    body = world.service.calls[0][1]
    assert body.pop("merchant_txn_id").startswith("RD-")
    assert body == {
        "pickup_lat": -38.5,
        "pickup_lng": -128.0,
        "drop_lat": -38.52,
        "drop_lng": -128.03,
        "category": "mini",
        "pickup_mode": "now",
        "fare_id": "FARE-7",
        "payment_instrument_type": "cash",
        "coupon_code": "STAY10",
    }


def test_a_share_asks_for_its_seats_and_the_retry(world: World) -> None:
    with world.worker() as worker:
        world.book(worker, kind="share", seats=2)
    body = world.service.calls[0][1]
    assert (int(body["seats"]), body["retry"]) == (2, True)


def test_one_form_token_makes_one_order(world: World) -> None:
    request = world.request()
    first, again = place(world.db, world.clock, request), place(world.db, world.clock, request)
    assert (first.created, again.created, first.order_id) == (True, False, again.order_id)
    with pytest.raises(TokenReused) as caught:
        place(world.db, world.clock, replace(request, note="changed"))
    assert caught.value.order_id == first.order_id


def test_a_form_of_another_property_does_not_reveal_the_order_that_it_made(world: World) -> None:
    request = world.request()
    place(world.db, world.clock, request)
    with pytest.raises(OfferUnknown):
        place(world.db, world.clock, replace(request, property_id=world.property_id + 1))
    assert len(world.orders()) == 1


def test_one_form_token_makes_one_order_even_when_pressed_in_many_places_at_once(
    world: World,
) -> None:
    request, seen, start = world.request(), [], threading.Barrier(8)

    def press() -> None:
        start.wait()
        seen.append(place(world.db, world.clock, request))

    threads = [threading.Thread(target=press) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({placed.order_id for placed in seen}) == 1
    assert sum(placed.created for placed in seen) == 1


def test_an_offer_older_than_two_minutes_makes_no_order(world: World) -> None:
    request = world.request()
    world.clock.go(121)
    with pytest.raises(OfferStale) as caught:
        place(world.db, world.clock, request)
    assert caught.value.old.id == request.offer_id
    assert world.orders() == []


def test_an_unknown_offer_or_one_of_another_property_makes_no_order(world: World) -> None:
    with pytest.raises(OfferUnknown):
        world.place(offer_id=999)
    request = world.request()
    with pytest.raises(OfferUnknown):
        place(world.db, world.clock, replace(request, property_id=world.property_id + 1))


@pytest.mark.parametrize(
    ("facts", "field"),
    [
        ({"kind": "share", "seats": None}, "seats"),
        ({"kind": "share", "seats": 3}, "seats"),
        ({"seats": 1}, "seats"),
        ({"account_id": 99}, "account"),
        ({"payment": "barter"}, "payment_instrument_type"),
        ({"supersedes": 99}, "supersedes"),
    ],
)
def test_a_request_that_can_not_be_sent_is_refused_by_field(
    world: World, facts: dict[str, object], field: str
) -> None:
    with pytest.raises(RequestRefused) as caught:
        world.place(**facts)
    assert caught.value.field == field
    assert world.orders() == []


def test_an_order_can_be_taken_back_only_before_it_is_sent(world: World) -> None:
    with world.worker() as worker:
        order_id = world.place()
        assert withdraw(world.db, world.clock, order_id, world.actor)
        assert (world.state(order_id), world.page(order_id).order.code) == ("NOT_SENT", "WITHDRAWN")
        worker.step()
        assert world.service.calls == []
        assert not withdraw(world.db, world.clock, world.book(worker), world.actor)


def test_an_order_is_never_sent_later_than_thirty_seconds_after_the_press(world: World) -> None:
    order_id = world.place()
    world.clock.go(31)
    with world.worker() as worker:
        worker.step()
    assert (world.state(order_id), world.page(order_id).order.code) == ("NOT_SENT", "EXPIRED")
    assert world.service.calls == []


def test_an_offer_from_before_the_clock_stepped_back_is_of_no_known_age(world: World) -> None:
    offer_id = world.offer()
    world.clock.go(-50)  # the clock of another machine may be this far behind
    assert world.place(offer_id=offer_id)
    world.clock.go(-3600)
    with pytest.raises(OfferStale):
        world.place(offer_id=offer_id)


def test_a_clock_that_steps_back_does_not_send_a_forgotten_order_later(world: World) -> None:
    order_id = world.place()
    world.clock.go(-3600)
    with world.worker() as worker:
        worker.step()
    assert world.state(order_id) == "NOT_SENT"


def test_nothing_is_sent_while_the_answer_journal_can_not_be_written(world: World) -> None:
    with world.worker() as worker:
        order_id = world.place()
        for _ in range(4):
            worker.journal.file.append({"mtx": "RD-NONE", "state": "UNKNOWN"})
        assert list(worker.sender.due(9)) == []
        assert world.state(order_id) == "READY"


def test_a_service_that_can_not_be_reached_leaves_the_order_not_sent(world: World) -> None:
    world.service.create.append(world.service.unreachable)
    with world.worker() as worker:
        order_id = world.book(worker)
    assert (world.state(order_id), world.page(order_id).order.code) == ("NOT_SENT", "NO_CONNECTION")


def test_a_refusal_is_stored_with_its_text(world: World) -> None:
    refusal = {"status": "FAILURE", "code": "BANNED USER", "message": "account blocked"}
    world.service.create.append(lambda _: httpx.Response(200, json=refusal))
    with world.worker() as worker:
        order_id = world.book(worker)
    order = world.page(order_id).order
    assert (order.state, order.code, order.message) == (
        "REJECTED",
        "BANNED USER",
        "account blocked",
    )
    assert not order.open
    assert "BANNED USER" in (order.evidence or "")


@pytest.mark.parametrize(
    "answer",
    [
        lambda _: httpx.Response(502, html="<h1>Bad gateway</h1>"),
        lambda _: httpx.Response(200, html="<h1>Sign in to the Wi-Fi</h1>"),
        lambda _: httpx.Response(200, text=""),
        lambda _: httpx.Response(200, text='{"status": "SUCC'),
        lambda _: httpx.Response(
            200, json={"status": "SUCCESS", "booking_id": "C9", "merchant_txn_id": "RD-OTHER"}
        ),
    ],
)
def test_an_unclear_answer_is_unknown_and_asks_for_a_person(
    world: World, answer: Callable[[object], httpx.Response]
) -> None:
    world.service.create.append(answer)
    with world.worker() as worker:
        order_id = world.book(worker)
        for _ in range(3):
            world.clock.go(60)
            worker.step()
    assert world.state(order_id) == "UNKNOWN"
    assert "unknown" in wanted(world, order_id)
    assert world.service.count("create") == 1, "never sent twice"


def test_an_order_that_is_being_sent_or_was_sent_is_not_claimed_again(world: World) -> None:
    claims: list[object] = []
    with world.worker() as worker, world.worker() as other:

        def meanwhile(body: dict[str, object]) -> httpx.Response:
            claims.append(other.sender._claim(order_id))
            return world.service.booked(body)

        world.service.create.append(meanwhile)
        order_id = world.place()
        worker.step()
        claims.append(other.sender._claim(order_id))
        late = world.place()
        world.clock.go(30)
        claims.append(other.sender._claim(late))
    assert claims == [None, None, None]


def test_a_booking_id_that_another_order_has_is_not_believed(world: World) -> None:
    twin = {"status": "SUCCESS", "booking_id": "C1"}
    world.service.create += [world.service.booked, lambda _: httpx.Response(200, json=twin)]
    with world.worker() as worker:
        first, second = world.book(worker), world.book(worker)
    assert (world.state(first), world.state(second)) == ("BOOKED", "UNKNOWN")
    assert wanted(world, second) == {"unknown", "contradiction"}


def test_an_item_that_asks_for_a_person_can_be_seen_but_an_unknown_order_can_not(
    world: World,
) -> None:
    order_id = unknown(world)
    assert not acknowledge.acknowledge(world.db, world.clock, order_id, world.staff_id, "unknown")
    with world.db.write() as s:
        raise_attention(s, s.get_one(Order, order_id), "car_swapped", None, world.clock())
    assert acknowledge.acknowledge(world.db, world.clock, order_id, world.staff_id, "car_swapped")
    assert wanted(world, order_id) == {"unknown"}


def test_a_ride_that_staff_stop_following_is_polled_no_longer(world: World) -> None:
    world.service.tracks["C1"] = [{"booking_id": "C1", "booking_status": "IN_PROGRESS"}]
    with world.worker() as worker:
        order_id = world.book(worker)
        with world.db.write() as s:
            raise_attention(s, s.get_one(Order, order_id), "too_old", None, world.clock())
        assert acknowledge.stop_following(world.db, world.clock, order_id, world.staff_id)
        assert wanted(world, order_id) == set()
        assert world.page(order_id).events[-1].name == "stopped_following"
        polls = world.service.count("track_ride")
        world.clock.go(600)
        worker.step()
    assert world.service.count("track_ride") == polls
    assert not acknowledge.stop_following(world.db, world.clock, order_id, world.staff_id)


def test_a_401_refreshes_the_token_once_and_sends_the_same_order_again(world: World) -> None:
    world.service.tokens = {"nothing-yet"}
    with world.worker() as worker:
        order_id = world.place()
        worker.step()
        assert world.state(order_id) == "READY"
        worker.step()
    assert (world.state(order_id), world.service.refreshes) == ("BOOKED", 1)
    sent = [body["merchant_txn_id"] for call, body in world.service.calls if call == "create"]
    assert sent == [world.page(order_id).order.mtx] * 2


def test_a_second_401_ends_it(world: World) -> None:
    refuse = lambda _: httpx.Response(401, json={"status": "FAILURE"})  # noqa: E731
    world.service.create += [refuse, refuse, refuse]
    with world.worker() as worker:
        order_id = world.place()
        for _ in range(4):
            worker.step()
    assert (world.state(order_id), world.page(order_id).order.code) == ("NOT_SENT", "RECONNECT")
    assert world.service.count("create") == 2


def test_a_short_429_is_waited_for_once_and_a_long_one_is_not(world: World) -> None:
    slow = lambda _: httpx.Response(429, headers={"Retry-After": "5"})  # noqa: E731
    world.service.create += [slow]
    with world.worker() as worker:
        order_id = world.place()
        worker.step()
        worker.step()
        assert (world.state(order_id), world.service.count("create")) == ("READY", 1)
        world.clock.go(5)
        worker.step()
        assert world.state(order_id) == "BOOKED"
        world.service.create += [slow, slow]
        second = world.place()
        worker.step()
        world.clock.go(5)
        worker.step()
        assert (world.state(second), world.page(second).order.code) == ("NOT_SENT", "RATE_LIMITED")
        world.clock.go(5)
        world.service.create += [lambda _: httpx.Response(429, headers={"Retry-After": "60"})]
        assert world.state(world.book(worker)) == "NOT_SENT"


def test_an_order_without_answer_is_unknown_after_20_s_and_a_late_answer_settles_it(
    world: World,
) -> None:
    with world.worker() as worker, world.worker() as other:

        def slow(body: dict[str, object]) -> httpx.Response:
            world.clock.go(21)
            other.step()
            assert world.state(order_id) == "UNKNOWN"
            return world.service.booked(body)

        world.service.create.append(slow)
        order_id = world.place()
        worker.step()
    assert world.state(order_id) == "BOOKED"
    assert wanted(world, order_id) == set()


def test_a_late_proof_that_nothing_was_booked_settles_an_unknown_order(world: World) -> None:
    with world.worker() as worker, world.worker() as other:

        def slow(_: dict[str, object]) -> httpx.Response:
            world.clock.go(21)
            other.step()
            return httpx.Response(429)

        world.service.create.append(slow)
        order_id = world.book(worker)
    assert (world.state(order_id), world.page(order_id).order.code) == ("REJECTED", "RATE_LIMITED")


def unknown(world: World) -> int:
    world.service.create.append(world.service.lost_answer)
    with world.worker() as worker:
        order_id = world.book(worker)
    assert world.state(order_id) == "UNKNOWN"
    return order_id


def test_not_booked_needs_a_typed_reason_and_can_be_reopened(world: World) -> None:
    order_id = unknown(world)
    with pytest.raises(ValueError, match="how you know"):
        resolve_not_booked(world.db, world.clock, order_id, world.staff_id, "  x ")
    assert resolve_not_booked(
        world.db, world.clock, order_id, world.staff_id, "asked the partner by phone"
    )
    order = world.page(order_id).order
    assert (order.state, order.resolved_by, order.open) == (
        "CLOSED_NOT_BOOKED",
        world.staff_id,
        False,
    )
    assert wanted(world, order_id) == set()
    assert reopen(world.db, world.clock, order_id, world.staff_id)
    assert world.state(order_id) == "UNKNOWN"
    assert not reopen(world.db, world.clock, order_id, world.staff_id)


def check(world: World, order_id: int, number: str) -> str:
    return resolve_booked(world.runtime, order_id, number, world.staff_id).outcome


def test_a_typed_booking_number_is_checked_before_it_is_believed(world: World) -> None:
    order_id = unknown(world)
    assert check(world, order_id, "C404") == "not_found"
    far = {"lat": -38.51, "lng": -128.0}
    world.service.tracks["C1"] = [
        {"booking_id": "C1", "booking_status": "CALL_DRIVER", "pickup_location": far}
    ]
    assert check(world, order_id, "C1") == "far"
    near = {"lat": -38.5005, "lng": -128.0}
    world.service.tracks["C1"] = [
        {"booking_id": "C1", "booking_status": "CALL_DRIVER", "pickup_location": near}
    ]
    assert check(world, order_id, " C1 ") == "booked"
    assert (world.state(order_id), world.ride(order_id).booking_id) == ("BOOKED", "C1")
    assert check(world, order_id, "C1") == "wrong_state"


def test_a_booking_without_a_place_is_linked_as_unconfirmed(world: World) -> None:
    order_id = unknown(world)
    world.service.tracks["C1"] = [{"booking_id": "C1", "booking_status": "ALLOTMENT_PENDING"}]
    assert check(world, order_id, "C1") == "booked_place_unconfirmed"


def test_a_booking_of_another_order_can_not_be_linked_twice(world: World) -> None:
    with world.worker() as worker:
        world.book(worker)
    order_id = unknown(world)
    assert check(world, order_id, "C1") == "linked"
    assert world.state(order_id) == "UNKNOWN"


def test_a_late_answer_after_a_person_closed_it_is_a_possible_double(world: World) -> None:
    with world.worker() as worker:

        def slow(body: dict[str, object]) -> httpx.Response:
            world.clock.go(21)
            with world.worker() as other:
                other.step()
            assert resolve_not_booked(
                world.db, world.clock, order_id, world.staff_id, "the partner has no such booking"
            )
            world.clock.go(5)
            world.again = world.place(guest_name="Guest Heron", supersedes=order_id)  # type: ignore[attr-defined]
            return world.service.booked(body)

        world.service.create.append(slow)
        order_id = world.place(guest_name="Guest Heron")
        worker.step()
    page = world.page(order_id)
    assert (page.order.state, page.order.late_double, page.superseded_by) == (
        "BOOKED",
        True,
        world.again,  # type: ignore[attr-defined]
    )
    assert "late_double" in wanted(world, order_id)


def test_staff_of_another_property_change_nothing(world: World) -> None:
    order_id = unknown(world)
    with world.db.write() as s:
        other = add_property(s, "Harbour Clinic", "UTC", world.clock())
        stranger = add_staff(s, other.id, "Desk Lynx", "hash", "manager", world.clock()).id
    assert not resolve_not_booked(world.db, world.clock, order_id, stranger, "not mine at all")
    assert check(replace_staff(world, stranger), order_id, "C1") == "wrong_state"


def replace_staff(world: World, staff_id: int) -> World:
    world.staff_id = staff_id
    return world


def test_every_move_is_recorded(world: World) -> None:
    with world.worker() as worker:
        order_id = world.book(worker)
    with world.db.read() as s:
        rows = s.scalars(
            select(AuditRow).where(AuditRow.subject == f"orders:{order_id}").order_by(AuditRow.id)
        ).all()
    assert [(row.what, row.result) for row in rows] == [
        ("order.place", "READY"),
        ("order.move", "SENDING"),
        ("order.move", "BOOKED"),
    ]
    assert rows[0].who == f"staff:{world.staff_id}"


def test_a_move_that_the_protocol_lacks_raises(world: World) -> None:
    order_id = world.place()
    with pytest.raises(BadTransition), world.db.write() as s:
        change_state(s, s.get_one(Order, order_id), OrderState.BOOKED, world.clock(), "worker")
    assert world.state(order_id) == "READY"
    assert not any(
        is_allowed(state, OrderState.READY)
        for state in TRANSITIONS
        if state not in {"SCHEDULED", "WAITING", "SENDING"}
    )


def test_the_timeline_has_an_instant_for_each_state(world: World) -> None:
    with world.worker() as worker:
        order_id = world.place()
        world.clock.go(2)
        worker.step()
    events = world.page(order_id).events
    assert events[1].at - events[0].at == timedelta(seconds=2)


def test_a_transition_that_the_protocol_does_not_have_changes_nothing_and_is_audited(
    world: World,
) -> None:
    with world.worker() as worker:
        order_id = world.book(worker)
    with pytest.raises(BadTransition), world.db.write() as s:
        change_state(s, s.get_one(Order, order_id), OrderState.READY, world.clock(), "worker")
    assert world.state(order_id) == "BOOKED"
    with pytest.raises(BadTransition), world.db.write() as s, s.begin_nested():
        change_state(s, s.get_one(Order, order_id), OrderState.REJECTED, world.clock(), "worker")
    with world.db.read() as s:
        rows = s.scalars(
            select(AuditRow).where(AuditRow.what == "order.bad_move").order_by(AuditRow.id)
        ).all()
    assert [(row.subject, row.result, row.property_id) for row in rows] == [
        (f"orders:{order_id}", "BOOKED to READY", world.property_id),
        (f"orders:{order_id}", "BOOKED to REJECTED", world.property_id),
    ]


def test_a_claim_that_was_lost_with_the_server_does_not_stop_the_worker(world: World) -> None:
    """The commit of the claim was not confirmed, and the new database server has no such order."""
    with world.worker() as worker:
        worker.sender._unclear_claims[987_654] = world.clock()
        order_id = world.place()
        for _ in range(3):
            worker.step()
        assert not worker.sender._unclear_claims
    assert world.state(order_id) == "BOOKED"


def test_a_price_may_be_ordered_for_two_minutes_unless_the_ride_is_planned(world: World) -> None:
    """A planned ride is priced again when it is due."""
    now, two = world.clock(), timedelta(minutes=2)
    planned = world.request(pickup_at=now + timedelta(hours=2))
    request = world.request()
    with world.db.read() as s:
        assert offer_of(s, request, now + two).id == request.offer_id
        assert offer_of(s, planned, now + 9 * two).id == planned.offer_id
        with pytest.raises(OfferStale):
            offer_of(s, request, now + two + timedelta(milliseconds=1))
