"""Many rides at once: each is claimed once, all are recorded together, none hinders another."""

import contextvars
import json
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, select, text, update

from ridedash.observability.logs import worker_step
from ridedash.rides.runtime import Runtime
from ridedash.rides.tracking.claims import RIDE_AND_ORDER, Bounds, claim_due, make_due, release
from ridedash.rides.tracking.poll import Tracker
from ridedash.rides.tracking.record import Polled
from ridedash.service.errors import Throttled
from ridedash.service_time import ServiceTime, Turn
from ridedash.store.database.numbers import made_at
from ridedash.store.models.orders import Order, PathPoint, Ride
from tests.rides.desk_world import World
from tests.rides.tracking.played import START, Played


def snapshot(number: int, status: str = "CALL_DRIVER", **facts: Any) -> dict[str, Any]:
    return {
        "booking_id": f"C{number}",
        "booking_status": status,
        "driver_lat": -38.5,
        "driver_lng": -128.0,
        **facts,
    }


@pytest.fixture
def ids(world: World) -> list[int]:
    """Six orders with rides that were polled once and are due."""
    world.service.tracks |= {f"C{n}": [snapshot(n)] for n in range(1, 7)}
    with world.worker() as worker:
        found = [world.book(worker) for _ in range(6)]
        worker.step()
    world.clock.go(30)
    return found


def path(world: World, order_id: int) -> list[float]:
    query = select(PathPoint.lat).where(PathPoint.order_id == order_id).order_by(PathPoint.id)
    with world.db.read() as s:
        return list(s.scalars(query))


def test_a_cab_that_moves_leaves_a_path_with_a_point_in_ten_seconds(
    world: World, ids: list[int]
) -> None:
    ours, driven, slots = tracker(world), [-38.5], {0.0}
    assert [path(world, order_id) for order_id in ids] == [[-38.5]] * 6  # the first position
    for n in range(1, 13):  # one cab drives, the others stand still
        world.service.tracks["C2"] = [snapshot(2, driver_lat=-38.5 - n / 100)]
        slot = world.clock().timestamp() // 10
        ours.record(ours.read([ours.ask(claim) for claim in ours.claim(10)]))
        if slot not in slots:
            driven.append(-38.5 - n / 100)
        slots.add(slot)
        world.clock.go(5)
    assert path(world, ids[1]) == driven
    assert 6 <= len(driven) <= 8  # twelve polls in a minute
    assert path(world, ids[0]) == [-38.5]


def test_points_of_a_path_are_numbered_by_the_time_like_all_rows(
    world: World, ids: list[int]
) -> None:
    world.service.tracks["C2"] = [snapshot(2, driver_lat=-38.6)]
    ours = tracker(world)
    assert ours.record(ours.read([ours.ask(claim) for claim in ours.claim(10)])) == 6
    with world.db.read() as s:
        numbers = s.scalars(select(PathPoint.id).order_by(PathPoint.at, PathPoint.id)).all()
    assert len(numbers) == 7, "six first points, and one of the cab that moves"
    assert list(numbers) == sorted(numbers)
    lately = datetime.now(UTC) - timedelta(hours=1)
    assert all((made_at(each) or START) > lately for each in numbers)


def test_where_a_clock_is_led_a_path_has_a_point_for_ten_seconds_of_what_it_shows(
    world: World, ids: list[int]
) -> None:
    world.clock.go(10 - world.clock().timestamp() % 10)
    turns = [Turn(START, START, 0)]
    ours = tracker(world, time=lambda: ServiceTime(tuple(turns)))
    for n in range(1, 4):  # within ten seconds of real time
        world.clock.go(1)
        turns.append(Turn(world.clock(), START + timedelta(minutes=n), 0))
        world.service.tracks["C2"] = [snapshot(2, driver_lat=-38.5 - n / 100)]
        world.clock.go(1)
        make_due(world.db, world.clock())
        ours.record(ours.read([ours.ask(claim) for claim in ours.claim(10)]))
    assert path(world, ids[1]) == [-38.5, -38.51, -38.52, -38.53]


def tracker(world: World, **more: Any) -> Tracker:
    return Tracker(Runtime(world.db, world.client, world.tokens, world.clock, **more))


def test_polls_without_events_are_recorded_together_and_show_what_moved(
    world: World, ids: list[int]
) -> None:
    world.service.tracks["C2"] = [snapshot(2, driver_lat=-38.6)]
    ours, versions = tracker(world), [world.page(order_id).order.version for order_id in ids]
    polled = ours.read([ours.ask(claim) for claim in ours.claim(10)])
    assert all(each.decision is not None and each.decision.batched for each in polled)
    assert ours.record(polled) == 6
    rides = [world.ride(order_id) for order_id in ids]
    assert {ride.seen_at for ride in rides} == {world.clock()}
    assert rides[1].facts["position"] == [-38.6, -128.0]
    now = [world.page(order_id).order.version for order_id in ids]
    assert [after - before for before, after in zip(versions, now, strict=True)] == [
        0,
        1,
        0,
        0,
        0,
        0,
    ]


def test_orders_are_locked_before_their_rides_as_every_writer_does(
    world: World, ids: list[int]
) -> None:
    if world.db.dialect == "sqlite":
        pytest.skip("one writer at a time")
    world.service.tracks["C2"] = [snapshot(2, driver_lat=-38.6)]
    ours, locked = tracker(world), list[str]()
    polled = ours.read([ours.ask(claim) for claim in ours.claim(10)])

    def note(*given: object) -> None:
        if "FOR UPDATE" in (statement := str(given[2])):
            locked.append(statement.split("FROM ")[1].split()[0])

    event.listen(world.db.engine, "before_cursor_execute", note)
    try:
        assert ours.record(polled) == 6
    finally:
        event.remove(world.db.engine, "before_cursor_execute", note)
    assert locked == ["orders", "rides"]


def test_answers_to_polls_that_others_have_begun_anew_are_dropped_from_a_batch(
    world: World, ids: list[int]
) -> None:
    slow = tracker(world)
    polled = [slow.ask(claim) for claim in slow.claim(10)]
    world.clock.go(16)
    fast = tracker(world)
    again = fast.claim(2)
    assert slow.record(polled) == 4
    assert fast.record([fast.ask(claim) for claim in again]) == 2


def test_trackers_that_claim_at_the_same_time_never_have_one_poll_twice(
    world: World, ids: list[int]
) -> None:
    claimed: list[tuple[int, int]] = []
    start = threading.Barrier(3)

    def claim() -> None:
        ours = tracker(world)
        start.wait()
        for _ in range(4):
            claimed.extend((each.ride_id, each.seq) for each in ours.claim(2))

    threads = [threading.Thread(target=claim) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(claimed) == len(set(claimed)) == 6


def test_what_a_dead_tracker_had_claimed_is_due_again_after_fifteen_seconds(
    world: World, ids: list[int]
) -> None:
    assert len(tracker(world).claim(10)) == 6
    world.clock.go(14)
    assert not tracker(world).claim(10)
    world.clock.go(1)
    assert len(tracker(world).claim(10)) == 6


def test_a_call_to_the_service_is_known_by_the_ride_that_is_polled(
    world: World, ids: list[int]
) -> None:
    ours, context = tracker(world), contextvars.copy_context()
    claim = ours.claim(1)[0]
    context.run(ours.ask, claim)
    assert context[worker_step] == ("poll", claim.ride_id)


def test_a_claim_that_is_given_back_is_due_at_once(world: World, ids: list[int]) -> None:
    release(world.db, tracker(world).claim(10))
    assert len(tracker(world).claim(10)) == 6


def test_rides_whose_guest_waits_go_first_when_not_all_may(world: World, ids: list[int]) -> None:
    with world.db.write() as s:
        due = world.clock() - timedelta(seconds=10)
        s.execute(update(Order).values(version=Order.version + 1))
        s.execute(update(Ride).values(next_poll_at=due, status="IN_PROGRESS"))
        waiting = update(Ride).where(Ride.order_id == ids[4])
        s.execute(waiting.values(status="CLIENT_LOCATED", next_poll_at=world.clock()))
    first = claim_due(world.db, world.clock(), Bounds(all=3, rest=0), "me")
    assert [claim.order_id for claim in first] == [ids[4]]
    assert len(claim_due(world.db, world.clock(), Bounds(all=3, rest=2), "me")) == 2


def test_a_ride_that_has_waited_long_is_not_left_behind_by_waiting_guests(
    world: World, ids: list[int]
) -> None:
    with world.db.write() as s:
        s.execute(update(Order).values(version=Order.version + 1))
        s.execute(
            update(Ride).values(
                status="IN_PROGRESS", next_poll_at=world.clock() - timedelta(seconds=21)
            )
        )
    assert len(claim_due(world.db, world.clock(), Bounds(all=6, rest=0), "me")) == 6


def test_a_poll_that_was_throttled_is_no_failure_of_its_ride(world: World, ids: list[int]) -> None:
    ours = tracker(world)
    claim = ours.claim(1)[0]
    assert ours.record([Polled(claim, Throttled(Throttled.SILENT, 7.0), world.clock())]) == 0
    ride = world.ride(claim.order_id)
    assert (ride.errors, ride.lease_until) == (0, None)
    assert ride.next_poll_at is not None
    assert 6.3 <= (ride.next_poll_at - world.clock()).total_seconds() <= 7.7


def test_a_poison_ride_takes_no_other_of_its_batch_with_it(world: World, ids: list[int]) -> None:
    with world.db.write() as s:
        s.execute(update(Order).values(version=Order.version + 1))
        s.execute(text("UPDATE rides SET facts = '[1]' WHERE order_id = :id"), {"id": ids[0]})
    for number in range(1, 7):  # each has an event, so all are written together on locked rows
        world.service.tracks[f"C{number}"] = [snapshot(number, "CLIENT_LOCATED")]
    ours = tracker(world)
    assert ours.record([ours.ask(claim) for claim in ours.claim(10)]) == 5
    assert [world.ride(order_id).status for order_id in ids] == ["CALL_DRIVER"] + [
        "CLIENT_LOCATED"
    ] * 5
    poisoned = world.ride(ids[0])
    assert (poisoned.poison, poisoned.interval_s) == (1, 300.0)


def test_polls_that_can_not_be_written_together_are_written_one_by_one(
    world: World, ids: list[int]
) -> None:
    for number in range(1, 7):  # each has an event, so none is batched
        world.service.tracks[f"C{number}"] = [snapshot(number, "CLIENT_LOCATED")]
    ours = tracker(world)
    polled = ours.read([ours.ask(claim) for claim in ours.claim(10)])
    assert not any(each.decision is None or each.decision.batched for each in polled)
    broken = polled[0].claim.order_id
    with world.db.write() as s:
        s.execute(text("UPDATE rides SET kind = 'balloon' WHERE order_id = :id"), {"id": broken})
    assert ours.record(polled) == 5
    assert world.ride(broken).poison == 1


def test_a_decision_is_made_once_unless_order_or_ride_have_changed(
    world: World, ids: list[int]
) -> None:
    ours = tracker(world)
    claim, changed, ended = ours.claim(3)
    with world.db.write() as s:
        s.execute(update(Order).where(Order.id == changed.order_id).values(open=False))
        s.execute(update(Ride).where(Ride.id == ended.ride_id).values(retried=True))
        rows = s.connection().execute(select(*RIDE_AND_ORDER)).all()
    now = {row.id: row for row in rows}
    assert now[claim.ride_id] == claim.row
    assert now[changed.ride_id] != changed.row
    assert now[ended.ride_id] != ended.row


def test_what_polls_write_is_what_was_recorded(database: str) -> None:
    recorded = json.loads((Path(__file__).parent / "recorded_polls.json").read_text())
    rides = [each["ride"] for each in recorded["rides"]]
    played, answers = Played(database, rides), [{} for _ in rides]
    for number, at in enumerate(recorded["at"]):
        played.now = START + timedelta(seconds=at)
        rounds = [each["rounds"][number : number + 1] for each in recorded["rides"]]
        steps = [(found or [{}])[0] for found in rounds]
        answers = [step.get("answer", last) for step, last in zip(steps, answers, strict=True)]
        written = played.round([s | {"answer": a} for s, a in zip(steps, answers, strict=True)])
        for each, step, found in zip(recorded["rides"], steps, written, strict=True):
            assert found == step.get("wrote", {}), f"{each['name']}, after {at} s"
    played.db.close()
