"""Following rides: when which poll is made, and what its answer changes in the database."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import text, update

from ridedash.rides.actions.request import arm_cancel
from ridedash.rides.health import heartbeat_age
from ridedash.rides.tracking.poll import SMALL, Tracker
from ridedash.rides.tracking.record import Polled, otp_of
from ridedash.rides.tracking.told import note_told
from ridedash.service.transport.http import Answer
from ridedash.service.types.tracking import Snapshot
from ridedash.service_time import ServiceTime, Turn
from ridedash.store.models.orders import Attention
from ridedash.store.orders import Order, Ride
from tests.rides.desk_world import START, World

CAB: dict[str, Any] = {
    "driver_name": "Driver Cedar",
    "driver_number": "+10000000001",
    "vehicle_number": "PM 01 AB 1234",
    "driver_lat": -38.51,
    "driver_lng": -128.01,
    "price_details": {"fare": 90, "service_tax": 4.5},
}
OTP = {"otp": {"start_trip": {"text": "Start code", "value": "4321"}}}


def snapshot(status: str, **facts: Any) -> dict[str, Any]:
    return {"booking_id": "C1", "booking_status": status, **facts}


def wanted(world: World, order_id: int) -> set[str]:
    return {item.name for item in world.page(order_id).attention}


def wait(world: World, order_id: int) -> float:
    """Seconds from now to the ride's next poll."""
    due = world.ride(order_id).next_poll_at
    assert due is not None
    return (due - world.clock()).total_seconds()


def due(world: World, order_id: int) -> None:
    """Let the clock go to the next poll."""
    world.clock.go(max(0.0, wait(world, order_id)))


def test_a_ride_is_followed_to_its_end_and_once_more_for_the_final_price(world: World) -> None:
    world.service.tracks["C1"] = [
        snapshot("ALLOTMENT_PENDING"),
        snapshot("CALL_DRIVER", **CAB),
        snapshot("CLIENT_LOCATED", **CAB, **OTP),
        snapshot("IN_PROGRESS", **CAB),
        snapshot("COMPLETED", price_details={"fare": 95}),
        snapshot("COMPLETED", price_details={"fare": 99, "toll_charges": 10}),
    ]
    with world.worker() as worker:
        order_id = world.book(worker)
        for _ in range(4):
            due(world, order_id)
            worker.step()
        ride = world.ride(order_id)
        assert (ride.status, ride.ended_at, world.page(order_id).order.open) == (
            "COMPLETED",
            world.clock(),
            False,
        )
        assert 54 <= wait(world, order_id) <= 66
        due(world, order_id)
        worker.step()
        ride = world.ride(order_id)
        assert ride.next_poll_at is None
        polls = world.service.count("track_ride")
        world.clock.go(3600)
        worker.step()
        assert world.service.count("track_ride") == polls
    facts = Snapshot.model_validate(ride.facts)
    assert (facts.vehicle_number, facts.driver_name) == ("PM 01 AB 1234", "Driver Cedar")
    assert facts.price is not None
    assert [str(facts.price.fare), str(facts.price.service_tax), str(facts.price.toll_charges)] == [
        "99",
        "4.5",
        "10",
    ]
    statuses = [event.name for event in world.page(order_id).events if event.what == "ride"]
    assert statuses == [
        "ALLOTMENT_PENDING",
        "CALL_DRIVER",
        "CLIENT_LOCATED",
        "IN_PROGRESS",
        "COMPLETED",
    ]


@pytest.mark.parametrize(
    ("answer", "kind", "seconds"),
    [
        (snapshot("ALLOTMENT_PENDING"), "point_to_point", 3),
        (snapshot("CALL_DRIVER", duration={"value": 9, "unit": "MINUTE"}), "point_to_point", 4),
        (snapshot("CALL_DRIVER", duration={"value": 3, "unit": "MINUTE"}), "point_to_point", 3),
        (snapshot("CLIENT_LOCATED"), "point_to_point", 3),
        (snapshot("IN_PROGRESS"), "point_to_point", 5),
        (snapshot("INVOICE"), "share", 3),
        (snapshot("INVOICE"), "auto", 5),
        (snapshot("BOOKING_CANCELLED"), "auto", 60),
    ],
)
@pytest.mark.parametrize("pace", [1, 60])
def test_each_status_is_polled_at_its_own_interval_and_pace(
    world: World, answer: dict[str, Any], kind: str, seconds: float, pace: float
) -> None:
    world.service.tracks["C1"] = [answer]
    with world.worker(pace=pace) as worker:
        order_id = world.book(worker, kind=kind)
    expected = max(0.5, seconds / pace)
    assert (
        0.9 * expected - 0.001 <= wait(world, order_id) <= 1.1 * expected + 0.001
        or wait(world, order_id) == 0.5
    )
    assert world.ride(order_id).interval_s == expected


def test_the_start_code_is_stored_encrypted_and_wiped_when_its_statuses_end(world: World) -> None:
    world.service.tracks["C1"] = [
        snapshot("CLIENT_LOCATED", **CAB, **OTP),
        snapshot("IN_PROGRESS", **CAB),
    ]
    with world.worker() as worker:
        order_id = world.book(worker)
        ride = world.ride(order_id)
        assert otp_of(ride, world.vault) == "4321"
        assert "4321" not in str(ride.facts) + (ride.otp_enc or "")
        due(world, order_id)
        worker.step()
    assert world.ride(order_id).otp_enc is None


def test_a_poll_that_brings_nothing_new_writes_its_time_and_not_the_version(world: World) -> None:
    world.service.tracks["C1"] = [snapshot("CALL_DRIVER", **CAB)]
    with world.worker() as worker:
        order_id = world.book(worker)
        before = world.page(order_id).order.version
        due(world, order_id)
        worker.step()
    assert world.page(order_id).order.version == before
    assert world.ride(order_id).seen_at == world.clock()


def test_a_changed_fact_raises_the_version(world: World) -> None:
    world.service.tracks["C1"] = [
        snapshot("CALL_DRIVER", **CAB),
        snapshot("CALL_DRIVER", **{**CAB, "driver_lat": -38.52}),
    ]
    with world.worker() as worker:
        order_id = world.book(worker)
        before = world.page(order_id).order.version
        due(world, order_id)
        worker.step()
    assert world.page(order_id).order.version == before + 1


def test_failed_polls_keep_the_last_facts_and_back_off(world: World) -> None:
    world.service.tracks["C1"] = [
        snapshot("CALL_DRIVER", **CAB),
        {"raise": httpx.ReadTimeout("slow")},
    ]
    with world.worker() as worker:
        order_id = world.book(worker)
        waits = []
        while world.ride(order_id).errors < 8:  # throttled polls don't count as failures
            due(world, order_id)
            worker.step()
            waits.append(wait(world, order_id))
    ride = world.ride(order_id)
    assert (ride.status, ride.errors, Snapshot.model_validate(ride.facts).driver_name) == (
        "CALL_DRIVER",
        8,
        "Driver Cedar",
    )
    assert all(0.5 <= seconds <= 33 for seconds in waits)
    assert ride.seen_at is not None
    assert ride.seen_at < world.clock()


def test_an_answer_that_comes_after_another_poll_began_is_dropped(world: World) -> None:
    world.service.tracks["C1"] = [
        snapshot("CALL_DRIVER", **CAB),
        snapshot("ALLOTMENT_PENDING"),
        snapshot("IN_PROGRESS", **CAB),
    ]
    with world.worker() as worker:
        order_id = world.book(worker)
        due(world, order_id)
        slow = worker.tracker.claim(1)[0]
        world.clock.go(16)  # the lease of the slow poll is over
        fast = worker.tracker.claim(1)[0]
        assert not worker.tracker.poll(slow)
        assert worker.tracker.poll(fast)
    assert world.ride(order_id).status == "IN_PROGRESS"


def test_a_leased_ride_is_not_claimed_twice(world: World) -> None:
    world.service.tracks["C1"] = [snapshot("CALL_DRIVER")]
    with world.worker() as worker, world.worker() as other:
        order_id = world.book(worker)
        due(world, order_id)
        assert len(worker.tracker.claim(5)) == 1
        assert list(other.tracker.claim(5)) == []


def test_a_shared_ride_is_handed_over_from_txn_id_to_booking_id(world: World) -> None:
    world.service.create.append(world.service.matching)
    world.service.tracks["T1"] = [
        {"booking_status": "ALLOTMENT_PENDING"},
        {**snapshot("CALL_DRIVER"), "message": "found"},
    ]
    world.service.tracks["C1"] = [snapshot("CALL_DRIVER", **CAB)]
    with world.worker() as worker:
        order_id = world.book(worker, kind="share")
        order = world.page(order_id).order
        assert (order.state, order.txn_id, order.next_retry) == ("MATCHING", "T1", "14:02:30")
        due(world, order_id)
        worker.step()
        order = world.page(order_id).order
        assert (order.state, order.booking_id, order.txn_id) == ("BOOKED", "C1", "T1")
        due(world, order_id)
        worker.step()
    assert Snapshot.model_validate(world.ride(order_id).facts).driver_name == "Driver Cedar"
    bodies = [body for call, body in world.service.calls if call == "track_ride"]
    assert bodies == [{"txn_id": "T1"}, {"txn_id": "T1"}, {"booking_id": "C1"}]
    names = [event.name for event in world.page(order_id).events]
    assert names.count("BOOKED") == names.count("handover") == 1


def test_a_driver_of_a_shared_ride_is_shown_also_where_the_booking_id_is_missing(
    world: World,
) -> None:
    world.service.create.append(world.service.matching)
    nameless = {"booking_id": None, "booking_status": "CALL_DRIVER", **CAB}
    world.service.tracks["T1"] = [nameless, {**nameless, "booking_id": "C9"}]
    with world.worker() as worker:
        order_id = world.book(worker, kind="share")
        page = world.page(order_id)
        assert (page.order.state, page.order.booking_id, page.order.open) == ("BOOKED", None, True)
        assert arm_cancel(world.db, world.clock, order_id, world.actor, "").outcome == "armed"
        due(world, order_id)
        worker.step()
        worker.step()
    assert world.page(order_id).order.booking_id == "C9"
    assert world.service.count("cancel") == 1, "an armed cancel is sent as soon as there is an id"


def test_a_shared_ride_that_finds_no_match_has_failed(world: World) -> None:
    world.service.create.append(world.service.matching)
    world.service.tracks["T1"] = [{"booking_status": "ALLOTMENT_FAILED"}]
    with world.worker() as worker:
        order_id = world.book(worker, kind="share")
    assert (world.state(order_id), world.page(order_id).order.open) == ("FAILED", False)


def test_a_booking_id_that_another_order_has_is_refused_with_an_alarm(world: World) -> None:
    with world.worker() as worker:
        world.book(worker)
        world.service.create.append(world.service.matching)
        world.service.tracks["T1"] = [snapshot("CALL_DRIVER", **CAB)]
        order_id = world.book(worker, kind="share")
    assert (world.state(order_id), world.ride(order_id).booking_id) == ("MATCHING", None)
    assert "other_booking" in wanted(world, order_id)


def test_an_answer_about_another_booking_is_an_alarm(world: World) -> None:
    world.service.tracks["C1"] = [{"booking_id": "C77", "booking_status": "COMPLETED"}]
    with world.worker() as worker:
        order_id = world.book(worker)
    assert world.ride(order_id).status is None
    assert "other_booking" in wanted(world, order_id)


def test_an_unknown_status_is_shown_and_raises_its_item_once(world: World) -> None:
    world.service.tracks["C1"] = [snapshot("CALL_DRIVER"), snapshot("LEVITATING")]
    with world.worker() as worker:
        order_id = world.book(worker)
        for _ in range(3):
            due(world, order_id)
            worker.step()
    ride = world.ride(order_id)
    assert (ride.status, ride.reported) == ("CALL_DRIVER", "LEVITATING")
    assert "unknown_status" in wanted(world, order_id)


def test_a_swapped_car_asks_for_a_person(world: World) -> None:
    world.service.tracks["C1"] = [
        snapshot("CALL_DRIVER", **CAB),
        snapshot("CALL_DRIVER", vehicle_number="PM 05 XY 7777"),
    ]
    with world.worker() as worker:
        order_id = world.book(worker)
        due(world, order_id)
        worker.step()
    ride = world.ride(order_id)
    assert (Snapshot.model_validate(ride.facts).vehicle_number, ride.previous_plate) == (
        "PM 05 XY 7777",
        "PM 01 AB 1234",
    )
    assert "car_swapped" in wanted(world, order_id)


@pytest.mark.parametrize("told", [True, False])
def test_the_loss_of_a_driver_asks_for_a_person_if_the_guest_knows_the_plate(
    world: World, told: bool
) -> None:
    world.service.tracks["C1"] = [snapshot("CALL_DRIVER", **CAB)]
    with world.worker() as worker:
        order_id = world.book(worker)
        due(world, order_id)
        worker.step()
        if told:
            with world.db.write() as s:
                note_told(s, s.get_one(Order, order_id), world.clock())
        world.service.tracks["C1"] = [snapshot("ALLOTMENT_PENDING")]
        for _ in range(2):  # an earlier status is accepted when it comes twice
            due(world, order_id)
            worker.step()
        assert world.ride(order_id).status == "ALLOTMENT_PENDING"
        assert ("driver_lost" in wanted(world, order_id)) is told
        world.service.tracks["C1"] = [snapshot("CALL_DRIVER", vehicle_number="PM 05 XY 7777")]
        due(world, order_id)
        worker.step()  # a new car comes: the guest still has to be told
        assert ("driver_lost" in wanted(world, order_id)) is told
    with world.db.read() as s:
        details = [each.detail for each in s.query(Attention).filter_by(name="driver_lost")]
    assert details == (["PM 01 AB 1234"] if told else [])


def test_an_id_that_the_service_does_not_know_is_polled_slowly(world: World) -> None:
    with world.worker() as worker:
        order_id = world.book(worker)
        for _ in range(3):
            due(world, order_id)
            worker.step()
    assert "not_known" in wanted(world, order_id)
    assert wait(world, order_id) >= 270


def test_a_search_that_should_be_over_is_polled_once_a_minute_and_then_slowly(
    world: World,
) -> None:
    world.service.tracks["C1"] = [snapshot("ALLOTMENT_PENDING")]
    with world.worker() as worker:
        order_id = world.book(worker)
        world.clock.go(240 + 61)
        worker.step()
        assert "no_driver" in wanted(world, order_id)
        assert 54 <= wait(world, order_id) <= 66
        world.clock.go(31 * 60)
        worker.step()
        assert wait(world, order_id) >= 270
        world.service.tracks["C1"] = [snapshot("CALL_DRIVER", **CAB)]
        due(world, order_id)
        worker.step()
    assert wanted(world, order_id) == set()


def test_a_ride_older_than_a_day_asks_for_a_person(world: World) -> None:
    world.service.tracks["C1"] = [snapshot("IN_PROGRESS")]
    with world.worker() as worker:
        order_id = world.book(worker)
        world.clock.go(25 * 3600)
        worker.step()
        assert "too_old" in wanted(world, order_id)
        assert wait(world, order_id) >= 270
        world.clock.go(-24.5 * 3600)  # the clock had been set wrong
        worker.step()
        due(world, order_id)
        worker.step()
    assert wanted(world, order_id) == set()


def test_a_poison_ride_is_postponed_and_the_others_go_on(world: World) -> None:
    world.service.tracks |= {
        f"C{i}": [{"booking_id": f"C{i}", "booking_status": "CALL_DRIVER"}] for i in (1, 2)
    }
    with world.worker() as worker:
        first, second = world.book(worker), world.book(worker)
        with world.db.write() as s:
            s.execute(text("UPDATE orders SET version = version + 1"))
            s.execute(text("UPDATE rides SET facts = '[1]' WHERE order_id = :id"), {"id": first})
        for minutes in (5, 10, 20, 40, 60, 60):
            world.clock.go(3700)
            worker.step()
            assert wait(world, first) == minutes * 60
            assert wait(world, second) < 5
    assert "poison" in wanted(world, first)


def test_a_clock_that_steps_back_does_not_freeze_a_ride(world: World) -> None:
    world.service.tracks["C1"] = [snapshot("CALL_DRIVER")]
    with world.worker() as worker:
        order_id = world.book(worker)
        world.clock.go(-3600)
        worker.step()
        assert wait(world, order_id) <= 60
        due(world, order_id)
        worker.step()
    assert world.ride(order_id).seen_at == world.clock()
    assert world.clock() < START


def test_a_401_while_following_refreshes_the_token_and_a_lost_link_keeps_the_facts(
    world: World,
) -> None:
    world.service.tracks["C1"] = [snapshot("CALL_DRIVER", **CAB)]
    with world.worker() as worker:
        order_id = world.book(worker)
        world.service.tokens = {"other"}
        due(world, order_id)
        worker.step()
        assert (world.ride(order_id).errors, world.service.refreshes) == (0, 1)
        with world.db.write() as s:
            s.execute(text("UPDATE accounts SET refresh_token_enc = NULL"))
        world.service.tokens = {"other"}
        due(world, order_id)
        worker.step()
    page = world.page(order_id)
    assert (page.account.state, world.ride(order_id).status) == ("reconnect", "CALL_DRIVER")


def test_the_worker_says_that_it_is_alive(world: World) -> None:
    with world.db.read() as s:
        assert heartbeat_age(s, world.clock()) is None
    with world.worker() as worker:
        worker.step()
    with world.db.read() as s:
        assert heartbeat_age(s, world.clock() + timedelta(seconds=40)) == 40


def test_a_ride_that_has_ended_may_be_forgotten_by_the_service_without_an_item(
    world: World,
) -> None:
    world.service.tracks["C1"] = [snapshot("CALL_DRIVER", **CAB), snapshot("COMPLETED")]
    with world.worker() as worker:
        order_id = world.book(worker)
        for _ in range(2):
            due(world, order_id)
            worker.step()
        assert world.ride(order_id).status == "COMPLETED"
        del world.service.tracks["C1"]
        while world.ride(order_id).next_poll_at is not None:
            due(world, order_id)
            worker.step()
    assert wanted(world, order_id) == set()


def test_after_a_clock_turn_every_ride_is_due_at_once(world: World) -> None:
    world.service.tracks["C1"] = [snapshot("CALL_DRIVER", **CAB)]
    line = [ServiceTime()]
    with world.worker() as worker:
        worker.runtime = replace(worker.runtime, time=lambda: line[0])
        order_id = world.book(worker)
        due(world, order_id)
        worker.step()
        later = world.ride(order_id).next_poll_at
        assert later is not None
        assert later > world.clock()
        seen = world.ride(order_id).poll_seq
        worker.step()
        assert world.ride(order_id).poll_seq == seen
        line[0] = ServiceTime((Turn(world.clock(), world.clock(), 60.0),))
        worker.step()
        assert world.ride(order_id).poll_seq == seen + 1
        worker.step()
        assert world.ride(order_id).poll_seq == seen + 1, "once for each turn"


def test_a_poll_that_was_answered_before_a_clock_turn_is_repeated(world: World) -> None:
    world.service.tracks["C1"] = [snapshot("CALL_DRIVER", **CAB)]
    line = [ServiceTime()]
    with world.worker() as worker:
        worker.runtime = replace(worker.runtime, time=lambda: line[0])
        order_id = world.book(worker)
        due(world, order_id)
        tracker = Tracker(worker.runtime)
        claims = tracker.claim(1)
        world.clock.go(1)
        turned = world.clock()
        line[0] = ServiceTime((Turn(turned, turned, 60.0),))
        world.clock.go(1)
        assert tracker.record([tracker.ask(claim) for claim in claims]) == 1
        ride = world.ride(order_id)
        assert ride.next_poll_at <= world.clock()
        assert ride.seen_at < turned, "it tells of before"


def test_each_poll_is_reported_to_monitoring_with_how_late_it_was(world: World) -> None:
    world.service.tracks["C1"] = [
        *[snapshot("CALL_DRIVER", **CAB)] * 2,
        {"raise": httpx.ReadTimeout("slow")},
    ]
    polls, points = list[tuple[str, float]](), list[str]()
    with world.worker() as worker:
        order_id = world.book(worker)
    tracker = Tracker(
        replace(world.runtime, on_poll=lambda *poll: polls.append(poll), failpoint=points.append)
    )
    for late, answered in ((2.0, True), (0.0, False)):
        due(world, order_id)
        world.clock.go(late)
        (claim,) = tracker.claim(1)
        assert tracker.poll(claim) is answered
    assert polls == [("answered", 2.0), ("NoAnswer", 0.0)]
    assert points == [
        "poll.claimed",
        "poll.answered",
        "poll.merged",
        "poll.claimed",
        "poll.answered",
    ]


@pytest.mark.parametrize(("more", "type_of_answer"), [(0, Answer), (1, Snapshot)])
def test_a_long_answer_is_not_held_in_memory_until_it_is_recorded(
    world: World, more: int, type_of_answer: type
) -> None:
    bare = {
        "status": "SUCCESS",
        "request_type": "TRACK_RIDE",
        **snapshot("CALL_DRIVER", filling=""),
    }
    filling = "x" * (SMALL + more - len(httpx.Response(200, json=bare).content))
    with world.worker() as worker:
        order_id = world.book(worker)
        world.service.tracks["C1"] = [snapshot("CALL_DRIVER", filling=filling)]
        due(world, order_id)
        (claim,) = worker.tracker.claim(1)
        polled = worker.tracker.ask(claim)
        assert type(polled.answer) is type_of_answer
        assert worker.tracker.record([polled]) == 1
    assert world.ride(order_id).status == "CALL_DRIVER"


def test_an_answer_that_we_fail_to_read_costs_its_own_poll_alone(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    seen = snapshot("CALL_DRIVER", **CAB)
    world.service.tracks |= {each: [seen | {"booking_id": each}] for each in ("C1", "C2")}
    with world.worker() as worker:
        broken, other = (world.book(worker) for _ in range(2))
        world.clock.go(60)
        decided = worker.tracker._recorder.decided

        def failing(polled: Polled) -> Polled:
            if polled.claim.order_id == broken:
                raise ZeroDivisionError
            return decided(polled)

        monkeypatch.setattr(worker.tracker._recorder, "decided", failing)
        polls = [worker.tracker.ask(claim) for claim in worker.tracker.claim(2)]
        assert worker.tracker.record(polls) == 1
    assert world.ride(other).seen_at == world.clock()
    ride_id = world.ride(broken).id
    assert f"answer about ride {ride_id} can't be read: ZeroDivisionError" in caplog.text


def test_a_ride_costs_in_the_currency_of_its_own_offer(world: World) -> None:
    world.offer(currency="EUR")
    world.service.tracks["C1"] = [snapshot("COMPLETED", price_details={"fare": 95})]
    with world.worker() as worker:
        order_id = world.book(worker)
    assert world.ride(order_id).total_minor == 9_500
    assert (world.ride(order_id).currency, world.page(order_id).order.currency) == ("INR", "INR")


def test_of_rides_whose_guest_does_not_wait_no_more_is_claimed_than_the_rest(world: World) -> None:
    with world.worker() as worker:
        ids = [world.book(worker) for _ in range(3)]
    with world.db.write() as s:
        s.execute(update(Order).values(version=Order.version + 1))
        s.execute(update(Ride).values(status="IN_PROGRESS", next_poll_at=world.clock()))
    tracker = Tracker(world.runtime)
    assert [claim.order_id for claim in tracker.claim(3, 0)] == []
    assert len(tracker.claim(3, 1)) == 1
    assert len(tracker.claim(3)) == len(ids) - 1
