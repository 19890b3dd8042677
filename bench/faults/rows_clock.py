"""Steps of the wall clock, and one unreadable ride among a hundred.

Rows 28 and 22 of the fault matrix (docs/reliability.md 2).
"""

from collections import Counter
from datetime import timedelta
from typing import Any, Final

import httpx

from bench.faults.scoreboard import Case, Verdict, row
from bench.faults.shop import Service, Shop, shop
from ridedash.rides.health import counts, heartbeat_age, is_alive
from ridedash.store.orders import Heartbeat, Order, Ride

# Times are stored in UTC, where there is no summer time.
STEPS: Final = (3600, -3600, -300, 1, 300, -1, 86_400, -86_400)
POISONED: Final = {"eta": "no object", "price": 7}


@row(28, "The clock steps: an hour, minutes, a leap second, a day")
def clock_steps(case: Case) -> Verdict:
    """The clock steps in each state of orders and rides.

    Nothing is sent late or twice, and polls continue.
    """
    wrong, tried, steps = Counter[str](), 0, STEPS[:4] if case.short else STEPS
    for step in steps:
        for stage in (_ready, _sending, _followed, _leased, _dead_worker):
            for _ in range(case.size(10, 1)):
                tried += 1
                service = Service()
                with shop(case.folder / f"{tried}", service.handle, durable=False) as desk:
                    for fault in stage(desk, service, step):
                        wrong[f"{stage.__name__.strip('_')}, {step:+} s: {fault}"] += 1
    note = str(dict(wrong.most_common(3)) or f"{len(steps)} steps, in 5 stages each")
    return Verdict(tried, ok=not wrong, note=note)


def _ready(desk: Shop, service: Service, step: int) -> list[str]:
    """The clock steps after the press: the order is sent once, or it expires."""
    order_id = desk.place()
    desk.clock.go(step)
    for _ in range(3):
        desk.worker.step()
        desk.clock.go(1)
    state, made = desk.order(order_id).state, len(service.bookings)
    bookings_of = {"BOOKED": 1, "NOT_SENT": 0}
    return [] if bookings_of.get(state) == made else [f"{state} with {made} bookings"]


def _sending(desk: Shop, service: Service, step: int) -> list[str]:
    """The clock steps while the service works: the answer is valid all the same."""

    def slow(body: dict[str, Any]) -> httpx.Response:
        desk.clock.go(step)
        desk.worker._recurring_jobs(always=True)
        return service.booked(body)

    service.create.append(slow)
    order_id = desk.send()
    desk.worker.step()
    state, made = desk.order(order_id).state, len(service.bookings)
    return [] if (state, made) == ("BOOKED", 1) else [f"{state} with {made} bookings"]


def _followed(desk: Shop, service: Service, step: int) -> list[str]:
    """A polled ride is polled again within a minute of the new clock."""
    order_id = _booked(desk, service)
    desk.clock.go(step)
    start, faults = service.count("track_ride"), []
    for _ in range(13):
        desk.worker.step()
        desk.clock.go(5)
    if service.count("track_ride") == start:
        faults.append("not polled for a minute")
    if desk.order(order_id).state != "BOOKED" or desk.ride(order_id).status != "CALL_DRIVER":
        faults.append("lost its facts")
    age = (desk.clock() - (desk.ride(order_id).seen_at or desk.clock())).total_seconds()
    return faults if 0 <= age <= 66 else [*faults, f"seen {age:.0f} s ago"]


def _leased(desk: Shop, service: Service, step: int) -> list[str]:
    """A worker dies while it holds the lease of a ride: another polls it within 90 s."""
    order_id = _booked(desk, service)
    with desk.s.db.write() as s:
        ride = s.get_one(Ride, desk.ride(order_id).id)
        ride.poll_seq += 1
        ride.lease_until, ride.owner = desk.clock() + timedelta(seconds=15), "a worker that is gone"
    desk.clock.go(step)
    start = service.count("track_ride")
    for _ in range(18):
        desk.worker.step()
        desk.clock.go(5)
    return [] if service.count("track_ride") > start else ["not polled for 90 s"]


def _dead_worker(desk: Shop, service: Service, step: int) -> list[str]:
    """A sender dies before the step: its order becomes UNKNOWN and is never sent again.

    Its last heartbeat, made before the step, doesn't count as that of a live worker.
    """
    order_id = desk.place()
    now = desk.clock()
    with desk.s.db.write() as s:
        order = s.get_one(Order, order_id)
        order.state, order.attempt, order.sent_at = "SENDING", 1, now
        order.owner, order.lease_until = "gone", now + timedelta(seconds=60)
        s.merge(Heartbeat(worker="gone", beat_at=now))
    desk.clock.go(step)
    live = [_live_workers(desk)]
    for _ in range(14):
        desk.worker._recurring_jobs(always=True)
        desk.clock.go(5)
    desk.worker.step()
    live.append(_live_workers(desk))
    state, made = desk.order(order_id).state, service.count("create")
    faults = [] if (state, made) == ("UNKNOWN", 0) else [f"{state}, {made} sends"]
    # after a step of a second its heartbeat is still fresh; at the end only ours counts
    return faults if live == [int(abs(step) == 1), 1] else [*faults, f"live workers: {live}"]


def _live_workers(desk: Shop) -> int:
    """How many workers count as alive; -1 if a page would say otherwise."""
    with desk.s.db.read() as s:
        found = counts(s, desk.clock())
        shown = is_alive(heartbeat_age(s, desk.clock()))
    return found.workers if shown is (found.workers > 0) else -1


def _booked(desk: Shop, service: Service) -> int:
    service.tracks["C1"] = [
        {"booking_id": "C1", "booking_status": "CALL_DRIVER", "driver_name": "Driver Cedar"}
    ]
    order_id = desk.place()
    for _ in range(2):
        desk.worker.step()
    assert desk.ride(order_id).status == "CALL_DRIVER"
    return order_id


@row(22, "One poisoned ride among a hundred")
def poisoned(case: Case) -> Verdict:
    """The stored data of a ride can't be read: its poll is delayed and an attention item appears.

    The other rides are polled on time.
    """
    count, service = case.size(100, 30), Service()
    with shop(case.folder, service.handle, durable=False) as desk:
        made = [desk.place() for _ in range(count)]
        for order_id in made:
            desk.worker.sender.send(order_id)
            booking = desk.order(order_id).booking_id
            service.tracks[str(booking)] = [
                {"booking_id": booking, "booking_status": "CALL_DRIVER"}
            ]
        bad = case.rng.choice(made)
        with desk.s.db.write() as s:
            s.get_one(Ride, desk.ride(bad).id).facts = POISONED
        for _ in range(6):
            desk.clock.go(4.5)
            for _ in range(count):
                if not desk.worker.step():
                    break
        late = [each for each in made if each != bad and not _on_time(desk, each)]
        row_, items = desk.ride(bad), {item.name for item in desk.page(bad).attention}
        pushed = ((row_.next_poll_at or desk.clock()) - desk.clock()).total_seconds()
    note = (
        f"{count - 1 - len(late)} on time; the poisoned one waits {pushed:.0f} s, asked for: "
        f"{sorted(items)}"
    )
    return Verdict(count, ok=not late and 240 <= pushed <= 3600 and "poison" in items, note=note)


def _on_time(desk: Shop, order_id: int) -> bool:
    seen = desk.ride(order_id).seen_at
    return seen is not None and (desk.clock() - seen).total_seconds() <= 10
