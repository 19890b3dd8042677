"""Staff mark attention items as seen, and stop following a ride; no other is affected."""

from datetime import datetime

import pytest
from sqlalchemy import select, update

from ridedash.rides.actions.acknowledge import acknowledge, stop_following
from ridedash.rides.kiosk.tickets import add_ticket, ticket_of
from ridedash.rides.state.transitions import raise_attention
from ridedash.rides.worker import Worker
from ridedash.store.audit import AuditRow
from ridedash.store.models.orders import Attention, Order, Ride
from ridedash.store.properties import add_property, add_staff
from tests.rides.desk_world import World

BY_STAFF = ("attention.seen", "ride.stop_following")


def raised(world: World, order_id: int, *names: str) -> None:
    with world.db.write() as s:
        for name in names:
            raise_attention(s, s.get_one(Order, order_id), name, None, world.clock())


def items(world: World, order_id: int) -> dict[str, datetime | None]:
    """The attention items of an order: when each was cleared."""
    query = select(Attention).where(Attention.order_id == order_id)
    with world.db.read() as s:
        return {each.name: each.cleared_at for each in s.scalars(query)}


def recorded(world: World) -> list[tuple[str, str, str, str, int | None]]:
    query = select(AuditRow).where(AuditRow.what.in_(BY_STAFF)).order_by(AuditRow.id)
    with world.db.read() as s:
        return [
            (row.who, row.what, row.subject, row.result, row.property_id)
            for row in s.scalars(query)
        ]


def foreigner(world: World) -> int:
    """A member of staff of another property."""
    with world.db.write() as s:
        other = add_property(s, "Other Hotel", "UTC", world.clock()).id
        return add_staff(s, other, "Desk Heron", "hash", "concierge", world.clock()).id


def two_rides(world: World, worker: Worker) -> tuple[int, int]:
    world.service.tracks |= {
        f"C{n}": [{"booking_id": f"C{n}", "booking_status": "IN_PROGRESS"}] for n in (1, 2)
    }
    return world.book(worker), world.book(worker)


def test_an_item_that_was_seen_is_cleared_and_no_other_and_the_log_has_who_saw_it(
    world: World,
) -> None:
    order_id, other = world.place(), world.place()
    for each in (order_id, other):
        raised(world, each, "car_swapped", "too_old")
    events = len(world.page(order_id).events)
    world.clock.go(5)
    assert acknowledge(world.db, world.clock, order_id, world.staff_id, "car_swapped")
    assert items(world, order_id) == {"car_swapped": world.clock(), "too_old": None}
    assert items(world, other) == {"car_swapped": None, "too_old": None}
    assert recorded(world) == [
        (
            f"staff:{world.staff_id}",
            "attention.seen",
            f"orders:{order_id}",
            "car_swapped",
            world.property_id,
        )
    ]
    assert len(world.page(order_id).events) == events


def test_that_nothing_was_booked_is_in_the_timeline_once_staff_have_acknowledged_it(
    world: World,
) -> None:
    order_id = world.place()
    assert acknowledge(world.db, world.clock, order_id, world.staff_id, "not_booked")
    last = world.page(order_id).events[-1]
    assert (last.what, last.name, last.at) == ("event", "seen_not_booked", world.clock())


@pytest.mark.parametrize("name", ["", "Mr Wren said that it is free", "x" * 41, "\n" * 90_000])
def test_an_unknown_attention_name_does_not_get_into_the_audit_log(world: World, name: str) -> None:
    order_id = world.place()
    assert not acknowledge(world.db, world.clock, order_id, world.staff_id, name)
    assert recorded(world) == []


@pytest.mark.parametrize("name", ["unknown", "held"])
def test_what_only_a_decision_ends_is_not_cleared_by_having_been_seen(
    world: World, name: str
) -> None:
    order_id = world.place()
    raised(world, order_id, name)
    assert not acknowledge(world.db, world.clock, order_id, world.staff_id, name)
    assert items(world, order_id) == {name: None}
    assert recorded(world) == []


def test_a_ride_that_staff_stop_following_is_left_alone_and_the_others_are_followed(
    world: World,
) -> None:
    names = ("not_known", "too_old", "no_driver", "poison", "car_swapped")
    with world.worker() as worker:
        other, order_id = two_rides(world, worker)
        for each in (other, order_id):
            raised(world, each, *names)
        followed = world.ride(other).next_poll_at
        world.clock.go(30)
        slow = worker.tracker.claim(2)
        late = next(claim for claim in slow if claim.order_id == order_id)
        assert stop_following(world.db, world.clock, order_id, world.staff_id)
        stopped = world.ride(order_id)
        assert (stopped.next_poll_at, stopped.lease_until) == (None, None)
        assert not worker.tracker.poll(late), "an answer in flight is not recorded"
    assert not world.page(order_id).order.open, "the guest can be booked again"
    last = world.page(order_id).events[-1]
    assert (last.what, last.name, last.at) == ("event", "stopped_following", world.clock())
    assert items(world, order_id) == dict.fromkeys(names[:4], world.clock()) | {"car_swapped": None}
    assert recorded(world) == [
        (
            f"staff:{world.staff_id}",
            "ride.stop_following",
            f"orders:{order_id}",
            "stopped",
            world.property_id,
        )
    ]
    assert (world.ride(other).next_poll_at, world.page(other).order.open) == (followed, True)
    assert items(world, other) == dict.fromkeys(names)


def test_no_one_stops_or_clears_what_is_of_another_property(world: World) -> None:
    stranger = foreigner(world)
    with world.worker() as worker:
        order_id, _ = two_rides(world, worker)
    raised(world, order_id, "car_swapped")
    assert not acknowledge(world.db, world.clock, order_id, stranger, "car_swapped")
    assert not stop_following(world.db, world.clock, order_id, stranger)
    assert items(world, order_id) == {"car_swapped": None}
    assert world.ride(order_id).next_poll_at is not None
    assert recorded(world) == []


def test_only_a_ride_that_is_followed_can_be_followed_no_longer(world: World) -> None:
    waiting = world.place()
    assert not stop_following(world.db, world.clock, waiting, world.staff_id), "it has no ride"
    with world.worker() as worker:
        worker.step()
    with world.db.write() as s:
        s.execute(update(Ride).where(Ride.order_id == waiting).values(next_poll_at=None))
    assert not stop_following(world.db, world.clock, waiting, world.staff_id)
    assert (world.page(waiting).order.open, recorded(world)) == (True, [])


def test_the_clock_is_read_once_for_each_press(world: World) -> None:
    with world.worker() as worker:
        order_id, _ = two_rides(world, worker)
    raised(world, order_id, "car_swapped", "too_old")
    reads: list[datetime] = []

    def clock() -> datetime:
        world.clock.go(1)
        reads.append(world.clock())
        return reads[-1]

    assert acknowledge(world.db, clock, order_id, world.staff_id, "car_swapped")
    assert stop_following(world.db, clock, order_id, world.staff_id)
    assert len(reads) == 2
    found = items(world, order_id)
    assert [found["car_swapped"], found["too_old"]] == reads
    query = select(AuditRow.at).where(AuditRow.what.in_(BY_STAFF)).order_by(AuditRow.id)
    with world.db.read() as s:
        assert list(s.scalars(query)) == reads


def test_a_number_that_wrong_pins_have_closed_opens_when_that_item_is_seen_and_no_other(
    world: World,
) -> None:
    order_id = world.place()
    with world.db.write() as s:
        order = s.get_one(Order, order_id)
        add_ticket(s, "key", order, "1234", "2026-03-01").closed_at = world.clock()
    for name, opened in (("car_swapped", False), ("kiosk_pins", True)):
        assert acknowledge(world.db, world.clock, order_id, world.staff_id, name)
        with world.db.read() as s:
            ticket = ticket_of(s, order_id)
            assert ticket is not None
            assert (ticket.closed_at is None) is opened


def test_a_poll_that_began_before_the_stop_has_an_older_number(world: World) -> None:
    with world.worker() as worker:
        order_id, _ = two_rides(world, worker)
    before = world.ride(order_id).poll_seq
    assert stop_following(world.db, world.clock, order_id, world.staff_id)
    assert world.ride(order_id).poll_seq == before + 1
