"""Concurrent writers on one database make one order for a form or guest, and use a code once."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event, text
from sqlalchemy.engine import Connection

from ridedash.rides.accounts.linking import CallbackRequest, Linker, LinkFailed, LinkOwner
from ridedash.rides.actions import request
from ridedash.rides.orders.guard import GuardBusy
from ridedash.rides.orders.place import Placed, place
from ridedash.rides.orders.resolve import withdraw
from ridedash.rides.state import transitions
from ridedash.store.audit import record
from ridedash.store.database.database import CommitUnknown, Database, DatabaseBusy
from ridedash.store.models.orders import Order, OrderState
from ridedash.store.sign_in_tries import sign_in_allowed
from ridedash.store.sign_ins import close_sign_in, open_sign_in
from tests.databases import POSTGRESQL, new_database
from tests.rides.desk_world import World

THREADS = 8


@pytest.fixture
def on_postgres(tmp_path: Any, postgres: str) -> Iterator[World]:
    """A desk on PostgreSQL, also when the other tests run on SQLite."""
    made = World(tmp_path, new_database(tmp_path, POSTGRESQL))
    yield made
    made.close()


def at_once(
    calls: list[Callable[[], Any]], *, expected: tuple[type[Exception], ...] = ()
) -> list[Any]:
    """The results of calls that all start at the same time, and the `expected` exceptions.

    Any other exception is raised here, so that a test which ignores the results notices it.
    """
    gate = threading.Barrier(len(calls))

    def one(call: Callable[[], Any]) -> Any:
        gate.wait()
        try:
            return call()
        except expected as error:
            return error

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(one, calls))


def test_one_form_pressed_many_times_at_once_makes_one_order(world: World) -> None:
    request = world.request()
    results = at_once([lambda: place(world.db, world.clock, request)] * THREADS)
    assert all(isinstance(placed, Placed) for placed in results), results
    assert len({placed.order_id for placed in results}) == 1
    assert [placed.created for placed in results].count(True) == 1
    assert len(world.orders()) == 1


def test_staff_who_book_for_one_guest_at_once_make_one_order_and_the_others_are_refused(
    world: World,
) -> None:
    requests = [world.request(guest_name="Guest Heron") for _ in range(THREADS)]
    results = at_once(
        [lambda request=request: place(world.db, world.clock, request) for request in requests],
        expected=(GuardBusy,),
    )
    assert sum(isinstance(each, Placed) for each in results) == 1
    assert sum(isinstance(each, GuardBusy) for each in results) == THREADS - 1, results
    assert len(world.orders()) == 1


def test_desks_that_book_a_second_car_at_once_book_one_and_the_others_see_it(world: World) -> None:
    first = world.place(guest_name="Guest Heron")
    purpose = {"guest_name": "Guest Heron", "override_guard": True, "second_to": (first,)}
    requests = [world.request(**purpose) for _ in range(3)]
    results = at_once(
        [lambda each=each: place(world.db, world.clock, each) for each in requests],
        expected=(GuardBusy,),
    )
    assert sum(isinstance(each, Placed) for each in results) == 1
    busy = [each for each in results if isinstance(each, GuardBusy)]
    assert len(busy) == 2, results
    second = world.orders()[-1].id
    assert {(each.rides[0].order_id, each.seen) for each in busy} == {(second, (first, second))}
    assert len(world.orders()) == 2


def test_an_order_that_is_withdrawn_while_it_is_claimed_has_one_outcome_only(world: World) -> None:
    for _ in range(10):
        order_id = world.place()
        with world.worker() as worker:
            withdrawn, attempt = at_once(
                [
                    lambda order_id=order_id: withdraw(
                        world.db, world.clock, order_id, world.actor
                    ),
                    lambda order_id=order_id, worker=worker: worker.sender._claim(order_id),
                ]
            )
        assert (withdrawn, attempt) in {(True, None), (False, (1, 0))}
        assert world.state(order_id) == ("NOT_SENT" if withdrawn else "SENDING")


def test_a_transaction_that_reads_an_order_to_write_it_locks_out_the_others(world: World) -> None:
    order_id = world.place()
    with ThreadPoolExecutor(1) as pool:
        with world.db.write() as s:
            order = s.get_one(Order, order_id)
            late = pool.submit(withdraw, world.db, world.clock, order_id, world.actor)
            transitions.change_state(s, order, OrderState.SENDING, world.clock(), "worker")
        assert late.result() is False
    assert world.state(order_id) == "SENDING"


def test_an_action_requested_many_times_at_once_is_called_once(world: World) -> None:
    world.service.tracks["C1"] = [{"booking_id": "C1", "booking_status": "CALL_DRIVER"}]
    with world.worker() as worker:
        order_id = world.book(worker)
        world.clock.go(4)
        worker.step()
    results = at_once(
        [lambda: request.cancel(world.runtime, order_id, world.actor, "changed plans")] * 4
    )
    assert sorted(result.outcome for result in results).count("done") >= 1
    cancels = [action for action in world.page(order_id).actions if action.name == "cancel"]
    assert len(cancels) == world.service.count("cancel")
    assert {result.outcome for result in results} <= {"done", "not_now"}


def test_an_attention_item_is_raised_once_by_many_at_once(world: World) -> None:
    order_id = world.place()

    def ask() -> bool:
        with world.db.write() as s:
            return transitions.raise_attention(
                s, s.get_one(Order, order_id), "no_driver", None, world.clock()
            )

    results = at_once([ask] * THREADS)
    assert sorted(results) == [False] * (THREADS - 1) + [True]
    assert [item.name for item in world.page(order_id).attention] == ["no_driver"]


def test_guesses_made_at_once_are_all_counted(world: World) -> None:
    def guess() -> float:
        with world.db.write() as s:
            return sign_in_allowed(s, "Desk Otter", "10.0.0.1", world.clock())

    results = at_once([guess] * 12)
    assert results.count(0.0) == 5, results


def test_sign_ins_that_end_at_once_are_published_in_the_order_of_their_numbers(
    world: World,
) -> None:
    with world.db.write() as s:
        sids = [open_sign_in(s, world.staff_id, world.clock()) for _ in range(THREADS)]

    def close(sid: str) -> None:
        with world.db.write() as s:
            close_sign_in(s, sid)

    assert at_once([lambda sid=sid: close(sid) for sid in sids]) == [None] * THREADS
    with world.db.read() as s:
        published = s.execute(
            text("SELECT count(*), count(DISTINCT id_hash) FROM ended_sign_ins")
        ).one()
    assert tuple(published) == (THREADS, THREADS)


def test_a_link_that_comes_back_twice_at_once_works_once(world: World) -> None:
    linker = Linker(world.db, world.vault, world.oauth, world.clock, "http://127.0.0.1:1/back")
    address = linker.start(world.account_id, LinkOwner(world.property_id, world.staff_id, "sid"))
    assert address is not None
    state = address.split("state=")[1].split("&")[0]
    results = at_once(
        [lambda: linker.finish(CallbackRequest(state, "code", "sid"))] * 4, expected=(LinkFailed,)
    )
    assert sum(isinstance(each, LinkFailed) for each in results) == 3, results
    assert world.service.refreshes == 1


@contextmanager
def cut(db: Database, *, after: bool) -> Iterator[None]:
    """Cut the connection of the first commit: right before it or, with `after`, right after it."""
    done: list[int] = []

    def at_commit(connection: Connection) -> None:
        if done or not connection.get_execution_options().get("ridedash_write"):
            return
        done.append(1)
        own = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
        if after:
            connection.exec_driver_sql("COMMIT")
            # begin another transaction, so that there is something to commit
            connection.exec_driver_sql("SELECT 1")
        with db.engine.connect() as other:
            other.execute(text("SELECT pg_terminate_backend(:pid, 10000)"), {"pid": own})

    event.listen(db.engine, "commit", at_commit)
    try:
        yield
    finally:
        event.remove(db.engine, "commit", at_commit)


@pytest.mark.parametrize("after", [False, True])
def test_a_commit_without_an_answer_is_looked_up_by_its_form(
    on_postgres: World, after: bool
) -> None:
    world = on_postgres
    request = world.request()
    with cut(world.db, after=after):
        placed = place(world.db, world.clock, request)
    assert placed.created is not after
    assert [order.id for order in world.orders()] == [placed.order_id]


@pytest.mark.parametrize("after", [False, True])
def test_a_claim_whose_commit_is_unknown_sends_nothing_and_ends_as_not_sent(
    on_postgres: World, after: bool
) -> None:
    world = on_postgres
    order_id = world.place()
    with world.worker() as worker:
        with cut(world.db, after=after), pytest.raises(CommitUnknown):
            worker.sender.send(order_id)
        assert world.service.count("create") == 0, "T2 is not known to be there"
        assert world.state(order_id) == ("SENDING" if after else "READY")
        worker.step()
    assert world.state(order_id) == ("NOT_SENT" if after else "BOOKED")
    assert world.service.count("create") == (0 if after else 1)


def test_a_connection_that_is_lost_before_the_commit_wrote_nothing(on_postgres: World) -> None:
    db = on_postgres.db

    def lost() -> None:
        with db.write() as s:
            own = s.execute(text("SELECT pg_backend_pid()")).scalar()
            with db.engine.connect() as other:
                other.execute(text("SELECT pg_terminate_backend(:pid, 10000)"), {"pid": own})
            record(s, "cli", "lost", "audit:0", "", on_postgres.clock())

    with pytest.raises(DatabaseBusy, match="nothing was written"):
        lost()
    with db.read() as s:
        assert s.execute(text("SELECT count(*) FROM audit WHERE what = 'lost'")).scalar() == 0
