"""A machine without journals of what the database has sent orders nothing planned by itself."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import timedelta

import pytest

from ridedash.rides import health
from ridedash.rides.journals.answer_journal import AnswerJournal
from ridedash.rides.orders import after_restore
from ridedash.rides.orders.resolve import withdraw
from ridedash.rides.worker import Worker
from ridedash.store import restores
from ridedash.store.models.restores import Restore
from tests.rides.desk_world import World
from tests.rides.dumps import Dump, dump, restore
from tests.rides.orders.test_due import answers, items, offered, planned, until_due

BEAT_S = 6.0


@contextmanager
def machine(world: World, name: str) -> Iterator[Worker]:
    """A worker on a machine of that name, with the journals that this machine has."""
    journal = AnswerJournal(world.folder / name, slots=4)
    try:
        yield Worker(replace(world.runtime), journal)
    finally:
        journal.close()


def go_on(world: World, *workers: Worker, rounds: int = 10) -> None:
    for _ in range(rounds):
        for worker in workers:
            answers(world, *[offered()] * 4)
            worker.step()
        world.clock.go(BEAT_S)


def noted(world: World) -> list[bool]:
    """For each restore that was noted, whether it was noted for lost journals."""
    with world.db.read() as s:
        return [row.bare for row in s.query(Restore).order_by(Restore.id)]


def planned_and_backed_up(world: World, old: Worker) -> tuple[int, Dump]:
    """A ride that was sent, and a planned one that is in the backup."""
    world.book(old)
    order_id = planned(world)
    go_on(world, old, rounds=1)
    return order_id, dump(world.db)


def sent_since_the_backup(world: World) -> tuple[int, str]:
    """A planned ride that is sent after the backup; the backup is restored.

    Returns its id and its partner reference.
    """
    with machine(world, "old") as old:
        order_id, backup = planned_and_backed_up(world, old)
        until_due(world)
        go_on(world, old)
        reference = world.page(order_id).order.mtx
        assert reference in [each["mtx"] for each in world.service.bookings]
    restore(world.db, backup)
    assert world.state(order_id) == "SCHEDULED"
    return order_id, reference


def bookings_of(world: World, reference: str) -> int:
    return [each["mtx"] for each in world.service.bookings].count(reference)


def test_a_planned_ride_is_held_and_never_sent_again(world: World) -> None:
    order_id, reference = sent_since_the_backup(world)
    with machine(world, "new") as new:
        go_on(world, new, rounds=60)
    assert bookings_of(world, reference) == 1
    assert (world.state(order_id), items(world, order_id)) == ("SCHEDULED", {"held": None})
    assert noted(world) == [True]
    with world.db.read() as s:
        waiting = restores.waiting(s, world.property_id)
    assert waiting is not None
    assert (waiting.is_bare, waiting.held) == (True, 1)


def test_what_is_known_until_is_the_backups_last_moment_not_the_new_workers(world: World) -> None:
    with machine(world, "old") as old:
        _order_id, backup = planned_and_backed_up(world, old)
        with world.db.read() as s:
            known = restores.last_known_moment(s)
        until_due(world)
        go_on(world, old)
    restore(world.db, backup)
    with machine(world, "new") as new:
        go_on(world, new)
    with world.db.read() as s:
        found = restores.last_restore(s)
    assert found is not None
    assert found.restored_to == known


def test_a_ride_that_was_withdrawn_after_the_backup_is_not_ordered(world: World) -> None:
    with machine(world, "old") as old:
        order_id, backup = planned_and_backed_up(world, old)
        assert withdraw(world.db, world.clock, order_id, world.actor)
    restore(world.db, backup)
    until_due(world)
    sent = len(world.service.bookings)
    with machine(world, "new") as new:
        go_on(world, new, rounds=60)
    assert len(world.service.bookings) == sent
    assert items(world, order_id) == {"held": None}


def test_a_worker_that_dies_before_it_has_decided_leaves_no_mark_that_it_knows_the_database(
    world: World,
) -> None:
    order_id, reference = sent_since_the_backup(world)
    for _ in range(4):  # the old worker's heartbeat in the backup may be a live one's
        with machine(world, "new") as new:
            new._recurring_jobs(always=True)
    with machine(world, "new") as new:
        go_on(world, new, rounds=60)
    assert bookings_of(world, reference) == 1
    assert items(world, order_id) == {"held": None}


def test_a_new_press_is_sent_once_the_plans_are_held(world: World) -> None:
    sent_since_the_backup(world)
    with machine(world, "new") as new:
        go_on(world, new)
        pressed = world.place()
        go_on(world, new, rounds=2)
    assert world.state(pressed) == "BOOKED"


def test_two_machines_without_journals_are_no_proof_for_each_other(world: World) -> None:
    order_id, reference = sent_since_the_backup(world)
    with ExitStack() as machines:
        workers = [machines.enter_context(machine(world, name)) for name in ("one", "two")]
        go_on(world, *workers, rounds=30)
        assert all(worker.watch.settled for worker in workers)
    assert bookings_of(world, reference) == 1
    assert all(noted(world))
    assert items(world, order_id) == {"held": None}


def test_a_heartbeat_that_was_restored_with_the_database_is_no_live_worker(world: World) -> None:
    """A backup that is seconds old has the heartbeat of the worker whose journals are lost."""
    with machine(world, "old") as old:
        order_id, backup = planned_and_backed_up(world, old)
    restore(world.db, backup)
    with machine(world, "new") as new:
        new.step()
        assert noted(world) == []
        assert not new.watch.settled
        world.clock.go(health.ALIVE.total_seconds() - BEAT_S)
        new.step()
        assert noted(world) == []
        go_on(world, new, rounds=2)
        assert noted(world) == [True]
    assert items(world, order_id) == {"held": None}


def test_a_further_machine_beside_a_live_worker_holds_nothing(world: World) -> None:
    with machine(world, "old") as old:
        order_id, _backup = planned_and_backed_up(world, old)
        with machine(world, "further") as further:
            go_on(world, old, further, rounds=4)
            assert further.watch.settled
        with machine(world, "further") as further:  # and it has a mark of its own from then on
            further.step()
            assert further.watch.settled
    assert noted(world) == []
    assert items(world, order_id) == {}


@pytest.mark.parametrize("kept", ["mark-0", "sent-0-000001.log"])
def test_a_machine_that_kept_a_part_of_its_journals_compares_with_it(
    world: World, kept: str
) -> None:
    with machine(world, "old") as old:
        order_id, _backup = planned_and_backed_up(world, old)
    for path in (world.folder / "old").iterdir():
        if path.name.startswith(("mark", "sent")) and path.name != kept:
            path.unlink()
    assert (world.folder / "old" / kept).exists()
    with machine(world, "old") as again:
        go_on(world, again, rounds=2)
    assert noted(world) == []
    assert items(world, order_id) == {}


def test_a_database_that_has_sent_nothing_is_new_to_any_machine(world: World) -> None:
    order_id = planned(world)
    with machine(world, "old") as old:
        go_on(world, old, rounds=1)
    with machine(world, "new") as new:
        go_on(world, new, rounds=2)
        assert new.watch.settled
    assert noted(world) == []
    assert items(world, order_id) == {}


def test_accepting_orders_what_is_held_and_the_machine_is_known_from_then_on(world: World) -> None:
    with machine(world, "old") as old:
        order_id, _backup = planned_and_backed_up(world, old)
    world.clock.go(timedelta(minutes=2).total_seconds())
    with machine(world, "new") as new:
        new.step()
        assert items(world, order_id) == {"held": None}
        assert after_restore.accept(world.db, world.clock) is not None
        until_due(world)
        go_on(world, new)
        assert world.state(order_id) == "BOOKED"
    with machine(world, "new") as new:
        go_on(world, new, rounds=2)
    assert noted(world) == [True]
