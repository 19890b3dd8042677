"""After a restore from a backup, no order is sent twice, and each lost order is listed."""

import contextlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from ridedash.rides.journals.answer_journal import AnswerJournal
from ridedash.rides.journals.restore import (
    RestoreWatch,
    _proves_more,
    catch_up,
    unknown_sends,
)
from ridedash.rides.journals.sent_journal import Last, Mark, SentEntry, SentJournal
from ridedash.rides.orders import after_restore
from ridedash.rides.orders.after_restore import CannotTakeUp, TakeUp
from ridedash.rides.orders.resolve import undo_withdrawal as undo
from ridedash.rides.orders.resolve import withdraw
from ridedash.rides.state.outcome import Outcome
from ridedash.rides.worker import Worker
from ridedash.store import restores
from ridedash.store.audit import AuditRow
from ridedash.store.database.database import Database
from ridedash.store.models.orders import Order, OrderState
from ridedash.store.models.people import Property
from ridedash.store.models.restores import LostOrder, Restore, Watermark
from tests.databases import new_database
from tests.rides.desk_world import START, World
from tests.rides.dumps import Dump, dump, restore
from tests.rides.orders.test_crashes import KillAt, Killed
from tests.rides.orders.test_due import answers, items, offered, planned, until_due


@contextmanager
def machine(world: World, name: str) -> Iterator[Worker]:
    """A worker on another machine, which has its own journals."""
    journal = AnswerJournal(world.folder / name, slots=4)
    try:
        yield Worker(replace(world.runtime), journal)
    finally:
        journal.close()


def lost(world: World) -> list[LostOrder]:
    with world.db.read() as s:
        return restores.lost_orders(s, world.property_id)


def take_up(world: World, reference: str, guest: str = "") -> Order:
    wanted = TakeUp(world.property_id, world.staff_id, reference, guest)
    return world.page(after_restore.take_up(world.runtime, wanted)).order


def booked_after_the_backup(world: World) -> tuple[int, Dump]:
    """Send a planned ride after a backup was made. Returns the order's id, and the backup."""
    order_id = planned(world)
    backup = dump(world.db)
    until_due(world)
    answers(world, offered())
    with world.worker() as worker:
        worker.step()
    assert world.state(order_id) == "BOOKED"
    return order_id, backup


def rounds(world: World, worker: Worker, count: int = 3) -> None:
    for _ in range(count):
        answers(world, *[offered()] * 4)
        worker.step()
        world.clock.go(6)


def test_a_planned_ride_that_was_sent_after_the_backup_is_not_sent_again(world: World) -> None:
    order_id, backup = booked_after_the_backup(world)
    sent = world.service.bookings[0]
    restore(world.db, backup)
    assert world.state(order_id) == "SCHEDULED"
    world.clock.go(8)
    with world.worker() as worker:
        rounds(world, worker)
    assert world.service.bookings == [sent]
    order = world.page(order_id).order
    assert (order.state, order.booking_id) == ("BOOKED", sent["booking_id"])
    assert order.held_at is None
    assert "held" not in items(world, order_id)
    assert "from_journal" in [event.name for event in world.page(order_id).events]


def test_an_order_that_was_ready_in_the_backup_and_sent_later_is_booked_not_expired(
    world: World,
) -> None:
    order_id = world.place()
    backup = dump(world.db)
    with world.worker() as worker:
        worker.step()
    restore(world.db, backup)
    world.clock.go(45)
    with world.worker() as worker:
        rounds(world, worker)
    assert world.state(order_id) == "BOOKED"
    assert len(world.service.bookings) == 1


def test_an_order_without_an_answer_is_unknown_in_the_restored_database_too(world: World) -> None:
    world.service.create.append(world.service.lost_answer)
    order_id, backup = world.place(), dump(world.db)
    with world.worker() as worker:
        worker.step()
    restore(world.db, backup)
    with world.worker() as worker:
        rounds(world, worker)
    order = world.page(order_id).order
    assert (order.state, order.code) == ("UNKNOWN", "RESTORED")
    assert len(world.service.bookings) == 1


@pytest.mark.parametrize("answered", [True, False])
def test_a_withdrawal_in_the_backup_that_was_undone_and_ordered_later_hides_no_booking(
    world: World, answered: bool
) -> None:
    order_id = planned(world)
    assert withdraw(world.db, world.clock, order_id, world.actor)
    backup = dump(world.db)
    world.clock.go(5)
    assert undo(world.db, world.clock, order_id, world.staff_id)
    if not answered:
        world.service.create.append(world.service.lost_answer)
    until_due(world)
    answers(world, offered())
    with world.worker() as worker:
        worker.step()
    restore(world.db, backup)
    assert world.state(order_id) == "NOT_SENT"
    with world.worker() as worker:
        rounds(world, worker)
    assert world.state(order_id) == ("BOOKED" if answered else "UNKNOWN")
    assert len(world.service.bookings) == 1
    assert not undo(world.db, world.clock, order_id, world.staff_id)


def test_an_answer_that_only_the_answer_journal_had_reaches_the_restored_database(
    world: World,
) -> None:
    order_id = planned(world)
    backup = dump(world.db)
    until_due(world)
    answers(world, offered())
    with world.worker(failpoint=KillAt("order.journalled")) as worker, pytest.raises(Killed):
        worker.step()
    restore(world.db, backup)
    with world.worker() as worker:
        rounds(world, worker)
    assert (world.state(order_id), len(world.service.bookings)) == ("BOOKED", 1)


@pytest.mark.parametrize("claim", ["send", "promote"])
def test_a_restore_under_a_running_worker_sends_nothing_again(world: World, claim: str) -> None:
    """The claim itself checks the journal and the watermark; it doesn't rely on a heartbeat."""
    order_id = world.place() if claim == "send" else planned(world)
    if claim == "promote":
        until_due(world)
    with world.worker() as worker:
        worker._recurring_jobs(always=True)
        backup = dump(world.db)
        answers(world, *[offered()] * 4)
        worker.step()
        restore(world.db, backup)
        world.clock.go(1)
        action = worker.sender.send if claim == "send" else worker.promoter.promote
        assert not action(order_id)
        assert len(world.service.bookings) == 1
        rounds(world, worker)
    assert (world.state(order_id), len(world.service.bookings)) == ("BOOKED", 1)


def test_a_restore_of_the_last_seconds_without_a_heartbeat_between_is_noticed(
    world: World,
) -> None:
    """The watermark is the same as in the backup, but the journal has one more send."""
    with world.worker() as worker:
        worker._recurring_jobs(always=True)
        order_id, other = world.place(), planned(world)
        backup = dump(world.db)
        assert worker.sender.send(order_id)
    restore(world.db, backup)
    world.clock.go(40)
    with world.worker() as worker:
        rounds(world, worker)
    assert (world.state(order_id), len(world.service.bookings)) == ("BOOKED", 1)
    assert items(world, other) == {"held": None}


def noticed(world: World) -> int:
    """How many restores were noticed."""
    with world.db.read() as s:
        return len(s.scalars(select(Restore)).all())


@pytest.mark.parametrize("when", ["within a minute", "after a lost connection"])
def test_a_running_worker_finds_what_a_replica_that_took_over_has_lost(
    world: World, when: str
) -> None:
    """No heartbeat comes between the backup and the failover: the watermark is the same in both."""
    with world.worker() as worker:
        worker._recurring_jobs(always=True)
        other, backup = planned(world), dump(world.db)
        order_id = world.place()
        reference = world.page(order_id).order.mtx
        assert worker.sender.send(order_id)
        restore(world.db, backup)
        if when == "within a minute":
            world.clock.go(59)
            worker._recurring_jobs(always=True)
            assert (lost(world), noticed(world)) == ([], 0)
            world.clock.go(1)
        else:
            world.clock.go(1)
            world.db.lost_connections += 1
            assert not worker.watch.settled
        worker._recurring_jobs(always=True)
        assert [row.mtx for row in lost(world)] == [reference]
        assert items(world, other) == {"held": None}
        rounds(world, worker, 20)
    assert noticed(world) == 1


def test_an_answer_that_a_replica_has_lost_is_settled_within_a_minute(world: World) -> None:
    backups: list[Dump] = []

    def booked(body: dict[str, Any]) -> httpx.Response:
        backups.append(dump(world.db))
        return world.service.booked(body)

    with world.worker() as worker:
        worker._recurring_jobs(always=True)
        world.service.create.append(booked)
        order_id = world.place()
        assert worker.sender.send(order_id)
        restore(world.db, backups[0])
        assert world.state(order_id) == "SENDING"
        world.clock.go(60)
        worker._recurring_jobs(always=True)
    assert (world.state(order_id), len(world.service.bookings)) == ("BOOKED", 1)


@pytest.mark.parametrize("ahead_s", [3600, -3600])
def test_a_restore_is_noticed_once_though_the_clocks_differ(world: World, ahead_s: int) -> None:
    """The clock of the send is an hour ahead of, or behind, the clock that notices the restore."""
    with world.worker(failpoint=KillAt("order.answered")) as worker:
        worker.step()
        other, backup = planned(world), dump(world.db)
        world.clock.go(ahead_s)
        order_id = world.place()
        with pytest.raises(Killed):
            worker.sender.send(order_id)
    restore(world.db, backup)
    world.clock.go(-ahead_s)
    with world.worker() as worker:
        rounds(world, worker, 12)
        assert after_restore.release(world.db, world.clock, other, world.staff_id)
        rounds(world, worker, 12)
    assert (noticed(world), items(world, other)) == (1, {})
    with world.db.read() as s:
        assert [row.outcome for row in restores.lost_orders(s)] == [None]


def test_two_workers_that_find_the_database_older_note_one_restore(world: World) -> None:
    with machine(world, "one") as one, machine(world, "other") as other:
        for worker in (one, other):
            worker.step()
        backup = dump(world.db)
        for worker in (one, other):
            worker.step()
        restore(world.db, backup)
        for worker in (one, other):
            with world.db.write() as s:
                worker.watch.raise_watermark(s)
        for worker in (one, other):
            worker.watch.look()
            assert worker.watch.settled
    assert noticed(world) == 1


def test_a_heartbeat_that_is_not_committed_is_no_watermark(world: World) -> None:
    """A thread that sends may ask for a comparison at any time, also within a heartbeat."""
    with world.worker() as worker:
        reference = world.page(world.book(worker)).order.mtx
        worker.step()

        def fails(s: Session) -> None:
            worker.watch.raise_watermark(s)
            assert worker.watch.refuses(s, reference, 1)
            raise OSError("the disk is full")

        for _ in range(2):
            with pytest.raises(OSError), world.db.write() as s:
                fails(s)
        rounds(world, worker)
    assert noticed(world) == 0


def test_a_comparison_that_is_requested_during_another_one_is_made(world: World) -> None:
    with world.worker() as worker:
        sound = worker.journal.sent.attempts

        def requested_meanwhile(*since: Any) -> Any:
            found = sound(*since)
            worker.watch.compare_again()
            return found

        worker.journal.sent.attempts = requested_meanwhile  # type: ignore[method-assign]
        worker._recurring_jobs(always=True)
        assert not worker.watch.settled
        worker.journal.sent.attempts = sound  # type: ignore[method-assign]
        worker._recurring_jobs(always=True)
        assert worker.watch.settled


def test_a_database_without_a_property_is_not_taken_for_an_older_one(
    world: World, tmp_path: Path
) -> None:
    """A demo that begins anew has a new database, but the journal of the earlier demo."""
    journal = SentJournal(tmp_path, 0)
    for name, heartbeats in (("first", 9), ("second", 2)):
        folder = tmp_path / name
        folder.mkdir()
        db = Database(new_database(folder))
        watch = RestoreWatch(db, world.clock, journal)
        for _ in range(heartbeats):
            with db.write() as s:
                watch.raise_watermark(s)
            watch.look()
        with db.read() as s:
            assert restores.last_restore(s) is None
        db.close()
    journal.close()


def test_an_order_before_the_first_heartbeat_knows_its_database(world: World) -> None:
    """A property, an account and an order may all be made between two heartbeats."""
    order_id = world.place()
    with world.worker() as worker:
        assert worker.sender.send(order_id)
        [entry] = worker.journal.sent.entries({world.page(order_id).order.mtx})
    with world.db.read() as s:
        assert entry.database == restores.identity(s) != ""


def test_a_heartbeat_while_the_doctor_looks_is_no_older_database(world: World) -> None:
    with world.worker() as worker:
        worker.step()
        world.book(worker)
        journal = SentJournal(world.folder / "box")
        sound = journal.mark

        def late(database: str) -> Any:
            worker._recurring_jobs(always=True)
            return sound(database)

        journal.mark = late  # type: ignore[method-assign]
        assert unknown_sends(world.db, journal) == (False, 0)


def test_the_doctor_counts_no_order_that_is_listed_already(world: World) -> None:
    an_order_that_is_lost(world, kill=True)
    assert [row.outcome for row in lost(world)] == [None]
    assert unknown_sends(world.db, SentJournal(world.folder / "box")) == (False, 0)


def test_a_database_that_went_back_holds_its_plans_though_nothing_was_sent(world: World) -> None:
    order_id = planned(world)
    with world.worker() as worker:
        worker.step()
        seen, backup = world.clock(), dump(world.db)
        world.clock.go(5)
        worker.step()
        assert withdraw(world.db, world.clock, order_id, world.actor)
    restore(world.db, backup)
    until_due(world)
    with world.worker() as worker:
        rounds(world, worker)
    assert (world.state(order_id), items(world, order_id)) == ("SCHEDULED", {"held": None})
    assert world.service.bookings == []
    with world.db.read() as s:
        waiting = restores.waiting(s, world.property_id)
    assert waiting == restores.Waiting(seen, is_open=True, held=1, lost=0)


def held(world: World) -> int:
    """A planned ride that is due and held."""
    order_id = planned(world)
    with world.worker() as worker:
        worker.step()
        backup = dump(world.db)
        worker.step()
    restore(world.db, backup)
    with world.worker() as worker:
        worker.step()
        until_due(world)
        rounds(world, worker)
    assert (world.state(order_id), world.service.bookings) == ("SCHEDULED", [])
    return order_id


def test_a_held_ride_is_ordered_once_after_a_persons_press(world: World) -> None:
    order_id, other = held(world), planned(world)
    assert after_restore.release(world.db, world.clock, order_id, world.staff_id)
    assert not after_restore.release(world.db, world.clock, order_id, world.staff_id)
    assert not after_restore.release(world.db, world.clock, other, world.staff_id)
    assert items(world, order_id) == {}
    with world.worker() as worker:
        rounds(world, worker)
    assert (world.state(order_id), len(world.service.bookings)) == ("BOOKED", 1)


def test_a_held_ride_that_was_ordered_already_needs_its_number(world: World) -> None:
    order_id = held(world)
    assert after_restore.ordered_already(world.db, world.clock, order_id, world.staff_id)
    with world.worker() as worker:
        rounds(world, worker)
    order = world.page(order_id).order
    assert (order.state, order.code, order.held_at) == ("UNKNOWN", "RESTORED", None)
    assert world.service.bookings == []


def test_accepting_the_restore_orders_every_held_ride_and_says_what_is_left(world: World) -> None:
    order_id = held(world)
    accepted = after_restore.accept(world.db, world.clock)
    assert accepted is not None
    assert (accepted.released, accepted.lost) == (1, 0)
    assert after_restore.accept(world.db, world.clock) is None
    with world.worker() as worker:
        rounds(world, worker)
    assert (world.state(order_id), len(world.service.bookings)) == ("BOOKED", 1)
    with world.db.read() as s:
        assert restores.waiting(s, world.property_id) is None


def test_a_held_ride_whose_time_is_over_when_it_is_accepted_is_missed(world: World) -> None:
    order_id = held(world)
    world.clock.go(3600)
    after_restore.accept(world.db, world.clock)
    with world.worker() as worker:
        rounds(world, worker)
    order = world.page(order_id).order
    assert (order.state, order.code, world.service.bookings) == ("NOT_SENT", "PLAN_MISSED", [])


def test_a_ride_planned_after_the_restore_is_ordered_as_always(world: World) -> None:
    held(world)
    order_id = planned(world)
    until_due(world)
    with world.worker() as worker:
        rounds(world, worker)
    assert (world.state(order_id), len(world.service.bookings)) == ("BOOKED", 1)


def an_order_that_is_lost(
    world: World, answer: Callable[..., Any] | None = None, *, kill: bool = False
) -> str:
    """Place and send an order, then restore an older backup. Returns the order's reference.

    `kill`: the worker is killed before the answer is on disk.
    """
    failpoint = KillAt("order.answered") if kill else KillAt()
    with world.worker(failpoint=failpoint) as worker, contextlib.suppress(Killed):
        worker.step()
        backup = dump(world.db)
        world.clock.go(5)
        if answer is not None:
            world.service.create.append(answer)
        order_id = world.place(guest_name="Guest Heron", guest_phone="+912227783300")
        reference = world.page(order_id).order.mtx
        worker.sender.send(order_id)
    restore(world.db, backup)
    with world.worker() as worker:
        rounds(world, worker)
    return reference


def test_an_order_that_the_database_lost_is_listed_and_taken_up_again(world: World) -> None:
    reference = an_order_that_is_lost(world)
    [row] = lost(world)
    assert (row.mtx, row.category, row.account_id) == (reference, "mini", world.account_id)
    assert row.outcome is not None
    assert row.outcome["booking_id"] == "C1"
    world.service.tracks["C1"] = [
        {
            "booking_id": "C1",
            "booking_status": "CALL_DRIVER",
            "pickup_location": {"lat": -38.51, "lng": -128.01},
            "drop_location": {"lat": -38.6, "lng": -128.1},
        }
    ]
    order = take_up(world, reference)
    assert (order.state, order.mtx, order.booking_id) == ("BOOKED", reference, "C1")
    assert (order.recovered_at, order.created_at) == (world.clock(), row.sent_at)
    page = world.page(order.id)
    assert (page.offer.pickup_lat, page.offer.drop_lat, page.guest.name) == (-38.51, -38.6, "")
    assert items(world, order.id) == {}
    assert lost(world) == []
    with world.worker() as worker:
        rounds(world, worker)
    assert world.ride(order.id).status == "CALL_DRIVER"
    assert len(world.service.bookings) == 1
    with pytest.raises(CannotTakeUp, match="gone"):
        take_up(world, reference)


def test_a_lost_order_without_an_answer_is_taken_up_as_unknown(world: World) -> None:
    reference = an_order_that_is_lost(world, world.service.lost_answer)
    [row] = lost(world)
    order = take_up(world, reference, "Guest Wren")
    assert (order.state, order.code) == ("UNKNOWN", "RESTORED")
    assert (world.page(order.id).guest.name, order.sent_at) == ("Guest Wren", row.sent_at)
    assert items(world, order.id) == {"unknown": reference}
    assert len(world.service.bookings) == 1


def test_a_lost_shared_ride_is_taken_up_as_matching(world: World) -> None:
    reference = an_order_that_is_lost(world, world.service.matching)
    assert take_up(world, reference).state == "MATCHING"


def test_a_lost_order_that_was_refused_needs_no_decision(world: World) -> None:
    def refused(_body: dict[str, Any]) -> httpx.Response:
        return httpx.Response(200, json={"status": "FAILURE", "code": "NO_CABS_AVAILABLE"})

    an_order_that_is_lost(world, refused)
    assert lost(world) == []
    with world.db.read() as s:
        [row] = s.scalars(select(LostOrder)).all()
    assert row.closed_at is not None


def test_a_lost_order_is_its_propertys_alone(world: World) -> None:
    reference = an_order_that_is_lost(world)
    with world.db.read() as s:
        assert restores.lost_orders(s, world.property_id + 1) == []
        assert restores.lost_order(s, world.property_id + 1, reference) is None


def test_a_lost_order_of_a_property_that_is_lost_too_belongs_to_no_younger_one(
    world: World,
) -> None:
    """After the restore a new property may get the id of the lost property."""
    with world.worker() as worker:
        worker.step()
        backup = dump(world.db)
        world.clock.go(5)
        world.book(worker)
    restore(world.db, backup)
    with world.db.write() as s:
        here = s.get_one(Property, world.property_id)
        sent_at, here.created_at = world.clock(), world.clock() + timedelta(seconds=1)
    with world.db.read() as s:
        assert restores.property_of(s, world.property_id, sent_at) is None
        assert restores.property_of(s, world.property_id, sent_at + timedelta(hours=1)) is not None


def test_an_answer_that_comes_after_the_restore_is_listed_with_its_order(world: World) -> None:
    seen: list[Any] = []
    with world.worker() as worker:
        worker.step()
        backup = dump(world.db)
        worker.step()

        def restored_meanwhile(body: dict[str, Any]) -> httpx.Response:
            restore(world.db, backup)
            worker._recurring_jobs(always=True)
            seen.extend(row.outcome for row in lost(world))
            return world.service.booked(body)

        world.service.create.append(restored_meanwhile)
        assert worker.sender.send(world.place())
        rounds(world, worker)
    [row] = lost(world)
    assert row.outcome is not None
    assert (seen, row.outcome["booking_id"]) == ([None], "C1")


def test_an_answer_that_comes_while_the_list_is_made_is_listed_too(world: World) -> None:
    """The worker compares after T3, which finds no order, but before the answer is journalled."""
    workers: list[Worker] = []

    def compared(name: str) -> None:
        if name == "order.answered":
            restore(world.db, backup)
        if name == "order.settled":
            workers[0]._recurring_jobs(always=True)
            assert [row.outcome for row in lost(world)] == [None]

    with world.worker(failpoint=compared) as worker:
        workers.append(worker)
        worker.step()
        backup = dump(world.db)
        worker.step()
        assert worker.sender.send(world.place())
        worker._recurring_jobs(always=True)
    [row] = lost(world)
    assert row.outcome is not None
    assert row.outcome["booking_id"] == "C1"


def test_with_the_machine_lost_a_declared_restore_holds_everything(world: World) -> None:
    order_id, ready = planned(world), world.place()
    backup = dump(world.db)
    until_due(world)
    with machine(world, "lost") as worker:
        rounds(world, worker)
    count = len(world.service.bookings)
    restore(world.db, backup)
    after_restore.declare(world.db, world.clock, world.clock() - timedelta(hours=5))
    with machine(world, "new") as worker:
        rounds(world, worker)
    assert len(world.service.bookings) == count
    assert (world.state(order_id), items(world, order_id)) == ("SCHEDULED", {"held": None})
    order = world.page(ready).order
    assert (order.state, order.code) == ("UNKNOWN", "RESTORED")


def test_a_worker_of_another_machine_compares_its_journal_before_it_sends(world: World) -> None:
    """The worker that notices the restore did not send the ride; the other one compares later."""
    order_id = planned(world)
    with machine(world, "one") as one, machine(world, "other") as other:
        one.step()
        other.step()
        backup = dump(world.db)
        until_due(world)
        answers(world, offered())
        other.step()
        one.step()
        assert world.state(order_id) == "BOOKED"
        restore(world.db, backup)
        rounds(world, one)
        assert items(world, order_id) == {"held": None}
        rounds(world, other)
    assert (world.state(order_id), len(world.service.bookings)) == ("BOOKED", 1)
    with world.db.read() as s:
        assert len(s.scalars(select(Restore)).all()) == 1, "one restore, not one for each machine"


def test_two_workers_of_one_machine_know_what_the_other_sent(world: World) -> None:
    order_id = world.place()
    backup = dump(world.db)
    with world.worker() as one, world.worker() as other:
        assert one.sender.send(order_id)
        restore(world.db, backup)
        assert not other.sender.send(order_id)
    assert len(world.service.bookings) == 1


def test_another_database_with_the_same_folder_is_not_taken_for_a_restored_one(
    world: World, tmp_path: Path
) -> None:
    with world.worker() as worker:
        world.book(worker)
        with world.db.write() as s:  # another database: its first property is a day older
            s.get_one(Property, world.property_id).created_at = world.clock() - timedelta(days=1)
            s.delete(restores.watermark(s))
        order_id = planned(world)
        until_due(world)
    with world.worker() as worker:
        rounds(world, worker)
    assert world.state(order_id) == "BOOKED"
    with world.db.read() as s:
        assert restores.last_restore(s) is None


def test_nothing_is_sent_that_can_not_be_journalled(world: World) -> None:
    order_id = world.place()
    with world.worker() as worker:

        def full(_entry: object) -> None:
            raise OSError("no space left on the device")

        worker.journal.sent.sent = full  # type: ignore[method-assign]
        worker.step()
    order = world.page(order_id).order
    assert (order.state, order.code, world.service.calls) == ("NOT_SENT", "NO_JOURNAL", [])


def test_the_journal_names_no_guest_and_no_place(world: World) -> None:
    reference = an_order_that_is_lost(world)
    text = b"".join(path.read_bytes() for path in (world.folder / "box").glob("[ms]*-*"))
    assert reference.encode() in text
    for private in (b"Heron", b"2227783300", b"Lobby", b"Airport", b"-38.5", b"-128"):
        assert private not in text


@pytest.mark.parametrize(
    ("attempt", "answer", "state", "proves"),
    [
        (1, "BOOKED", "SENDING", True),
        (1, "BOOKED", "UNKNOWN", True),
        (1, "UNKNOWN", "SENDING", True),
        (1, "UNKNOWN", "UNKNOWN", False),
        (1, "", "SENDING", False),
        (2, "BOOKED", "SENDING", False),
        (1, "BOOKED", "BOOKED", False),
    ],
)
def test_the_journal_proves_more_of_the_same_attempt_with_an_answer(
    attempt: int, answer: str, state: str, proves: bool
) -> None:
    known = restores.KnownOrder(7, "RD-1", 1, OrderState(state))
    assert _proves_more(Last(attempt, START, answer), known) is proves


def test_a_ride_that_is_held_is_shown_anew(world: World) -> None:
    order_id, versions = planned(world), list[int]()
    for _ in range(3):  # from the second time on, the ride is already held
        versions.append(world.page(order_id).order.version)
        after_restore.declare(world.db, world.clock, world.clock())
    assert versions == sorted(set(versions))


def beaten(world: World, watch: RestoreWatch) -> int:
    """Make a heartbeat. Returns how many rows the watch changes after it."""
    with world.db.write() as s:
        watch.raise_watermark(s)
    return watch.look()


def mark_in(world: World) -> tuple[int, int, Any]:
    with world.db.read() as s:
        row = s.get_one(Watermark, restores.ROW)
        return row.epoch, row.beats, row.beat_at


def test_each_heartbeat_raises_the_watermark_by_one_and_is_marked_on_the_disk(
    world: World, tmp_path: Path
) -> None:
    journal = SentJournal(tmp_path, 0)
    watch = RestoreWatch(world.db, world.clock, journal)
    assert (watch.epoch, watch.settled) == (0, False)
    with world.db.read() as s:
        assert watch.is_current(s), "nothing was seen yet"
    for beats in (1, 2):
        world.clock.go(5)
        assert beaten(world, watch) == 0
        assert mark_in(world) == (0, beats, world.clock())
        assert journal.mark(watch.database) == Mark(0, beats, world.clock(), watch.database)
        with world.db.read() as s:
            assert watch.is_current(s)
    assert watch.settled
    journal.close()


def test_a_database_that_went_back_gets_the_next_epoch_and_a_higher_heartbeat(
    world: World, tmp_path: Path
) -> None:
    journal = SentJournal(tmp_path, 0)
    watch = RestoreWatch(world.db, world.clock, journal)
    plans = [planned(world), planned(world)]
    assert beaten(world, watch) == 0
    known, backup = world.clock(), dump(world.db)
    for _ in range(2):
        world.clock.go(5)
        beaten(world, watch)
    restore(world.db, backup)
    world.clock.go(5)
    with world.db.read() as s:
        assert not watch.is_current(s)
    assert beaten(world, watch) == 2, "rides that are held"
    assert mark_in(world) == (1, 5, world.clock()), "3 were seen; the restore and a heartbeat"
    assert watch.epoch == 1
    with world.db.read() as s:
        [row] = s.scalars(select(Restore)).all()
        assert (row.restored_to, row.noticed_at) == (known, world.clock())
        entry = s.query(AuditRow).filter_by(what="database.restored").one()
    assert (entry.who, entry.subject, entry.result) == ("worker", "restores:0", "held")
    assert entry.facts == {"restored_to": known.isoformat(), "held": 2}
    assert [items(world, each) for each in plans] == [{"held": None}] * 2
    journal.close()


def test_an_order_that_was_being_sent_is_unknown_from_when_it_was_ready(world: World) -> None:
    order_id = world.place()
    world.clock.go(7)
    assert after_restore.declare(world.db, world.clock, START) == 1
    order = world.page(order_id).order
    assert (order.state, order.code, order.sent_at) == ("UNKNOWN", "RESTORED", START)


def test_a_record_that_is_of_no_use_keeps_no_other_order_waiting(
    world: World, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A later release may have written the record, with a state that this release doesn't know."""
    journal = SentJournal(tmp_path, 0)
    orders = [world.page(world.place()).order for _ in range(2)]
    with world.db.read() as s:
        database = restores.identity(s)
    for order in orders:
        facts = (1, world.clock(), database, world.property_id, world.account_id, "mini")
        journal.sent(SentEntry(order.mtx, *facts))
    outcome = Outcome(OrderState.BOOKED, booking_id="C7")
    broken: Any = replace(outcome, state="LEVITATING")
    journal.answered(orders[0].mtx, 1, broken)
    journal.answered(orders[1].mtx, 1, outcome)
    assert catch_up(world.db, world.clock, journal) == (1, 0)
    assert [world.state(order.id) for order in orders] == ["READY", "BOOKED"]
    assert f"order {orders[0].mtx} can't be taken from the journal: " in caplog.text
    journal.close()
