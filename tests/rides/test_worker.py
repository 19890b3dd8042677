"""The worker's loop wakes at once, does many jobs at a time, and completes sends when stopped."""

import itertools
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy.exc import OperationalError

from ridedash.observability.logs import worker_step
from ridedash.rides.health import can_send, counts, heartbeat_age
from ridedash.rides.kiosk import watch
from ridedash.rides.state import transitions
from ridedash.rides.tracking.pool import Polling
from ridedash.rides.worker import LOOK_EVERY_S, REST_S, Job, Worker
from ridedash.service_time import ServiceTime, Turn
from ridedash.store.models.orders import Heartbeat, Order, OrderState
from tests.rides.desk_world import World


@pytest.fixture
def real(world: World) -> World:
    """A desk at the real time, because the loop waits in real time."""
    clock = lambda: datetime.now(UTC)  # noqa: E731
    world.clock = world.tokens.clock = clock  # type: ignore[assignment]
    return world


@contextmanager
def running(worker: Worker) -> Iterator[threading.Event]:
    stop = threading.Event()
    thread = threading.Thread(target=worker.run, args=(stop,))
    thread.start()
    try:
        yield stop
    finally:
        stop.set()
        worker.wake()
        thread.join(90)
    assert not thread.is_alive()


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        threading.Event().wait(0.01)


def test_an_order_is_sent_and_followed_while_the_loop_runs(real: World) -> None:
    real.service.tracks["C1"] = [{"booking_id": "C1", "booking_status": "CALL_DRIVER"}]
    with real.worker(pace=60) as worker, running(worker):
        order_id = real.place()
        worker.wake()
        until(
            lambda: (
                real.page(order_id).ride is not None and real.ride(order_id).status == "CALL_DRIVER"
            )
        )
        polls = real.service.count("track_ride")
        until(lambda: real.service.count("track_ride") > polls + 1)


def test_a_worker_that_has_stopped_polls_no_more(world: World) -> None:
    stop, before = threading.Event(), set(threading.enumerate())
    stop.set()
    with world.worker() as worker:
        worker.run(stop)
    assert {each.name for each in threading.enumerate() if each not in before} == set()


@pytest.mark.parametrize("error", [OSError("the disk"), ValueError("a mistake of ours")])
def test_after_a_round_that_failed_the_worker_rests(
    world: World, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    rests: list[float | None] = []

    def fails() -> bool:
        raise error

    with world.worker() as worker:
        stop = threading.Event()
        monkeypatch.setattr(worker, "_recurring_jobs", fails)
        monkeypatch.setattr(stop, "wait", rests.append)
        worker.round_ended = 0.0
        worker.wake()
        worker._round(Polling(worker.tracker, 1, worker.wake), stop)
    assert rests == [REST_S]
    assert worker.round_ended > 0, "and it is alive all the same"


def test_a_query_that_fails_keeps_no_job_that_was_found_before(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planned ride that stayed busy would never be ordered by this worker."""
    promoted: list[int] = []
    done = threading.Event()

    def fails(_limit: int) -> list[int]:
        raise OperationalError("SELECT", {}, OSError("the server is away"))

    def promote(order_id: int) -> None:
        promoted.append(order_id)
        done.set()

    with world.worker() as worker:
        worker.step()  # compares the journals with the database
        monkeypatch.setattr(worker.promoter, "due", lambda _limit: [7])
        monkeypatch.setattr(worker.promoter, "promote", promote)
        monkeypatch.setattr(worker.sender, "due", fails)
        monkeypatch.setattr("ridedash.rides.worker.REST_S", 0.0)
        monkeypatch.setattr(worker, "_is_due", lambda what, *_, **_named: what in ("look", "plan"))
        worker.wake()
        worker._round(Polling(worker.tracker, 1, worker.wake), threading.Event())
        assert done.wait(60)
    assert promoted == [7]


def test_no_more_sends_are_in_flight_than_twice_the_threads(world: World) -> None:
    numbers = itertools.count(1)

    def due(limit: int) -> list[int]:
        return list(itertools.islice(numbers, limit))

    with world.worker(threads=2) as worker:
        begun = [worker._take_due("send", due) for _ in range(4)]
        assert [len(each) for each in begun] == [2, 2, 0, 0]
        assert len(worker._take_due("plan", due)) == 2, "each kind by itself"
        assert worker._begin("plan 1000")
        assert len(worker._take_due("plan", due)) == 1, "one thread is free"
        assert worker._take_due("plan", lambda limit: [limit // 0]) == [], "no more were requested"


def test_orders_that_take_long_hold_back_no_later_order(world: World) -> None:
    with world.worker(threads=2) as worker:
        assert worker._take_due("send", lambda limit: list(range(limit))) == [0, 1]
        assert worker._take_due("send", lambda limit: list(range(limit))) == [2, 3]
        worker._busy.discard("send 3")
        assert worker._take_due("send", lambda limit: [0, 1, 2, 7][:limit]) == [7]


def test_a_round_does_only_those_jobs_whose_time_has_come(world: World) -> None:
    with world.worker() as worker:
        worker.send_only()
        world.clock.go(1)
        worker.send_only()
        with world.db.read() as s:
            assert heartbeat_age(s, world.clock()) == 1.0
        worker.step()
        with world.db.read() as s:
            assert heartbeat_age(s, world.clock()) == 0.0


def test_one_slow_send_holds_up_no_other(real: World) -> None:
    go_on = threading.Event()

    def slow(body: dict[str, object]) -> httpx.Response:
        go_on.wait(60)
        return real.service.booked(body)

    real.service.create.append(slow)
    with real.worker(threads=2) as worker, running(worker):
        first = real.place()
        worker.wake()
        until(lambda: real.state(first) == "SENDING")
        sends = {each.name: each.daemon for each in threading.enumerate()}
        assert sends[f"send {first}"] is True, "a send that hangs keeps no process from ending"
        second = real.place()
        worker.wake()
        until(lambda: real.state(second) == "BOOKED")
        assert real.state(first) == "SENDING"
        go_on.set()
        until(lambda: real.state(first) == "BOOKED")


def test_a_stop_waits_for_the_send_in_flight_and_begins_no_other(real: World) -> None:
    reached, go_on = threading.Event(), threading.Event()

    def slow(body: dict[str, object]) -> httpx.Response:
        reached.set()
        go_on.wait(60)
        return real.service.booked(body)

    real.service.create.append(slow)
    with real.worker() as worker:
        with running(worker) as stop:
            first = real.place()
            worker.wake()
            assert reached.wait(60)
            stop.set()
            worker.wake()
            until(
                lambda: not any(thread.name.startswith("poll") for thread in threading.enumerate())
            )
            second = real.place()
            go_on.set()
        assert (real.state(first), real.state(second)) == ("BOOKED", "READY")


def test_two_workers_on_one_database_send_each_order_once(real: World) -> None:
    with real.worker() as one, real.worker() as two, running(one), running(two):
        ids = [real.place() for _ in range(30)]
        one.wake()
        two.wake()
        until(lambda: all(real.state(order_id) == "BOOKED" for order_id in ids))
    assert (
        real.service.count("create")
        == len({booking["mtx"] for booking in real.service.bookings})
        == 30
    )


def test_ten_calls_refused_for_their_token_make_one_refresh(world: World) -> None:
    got, start = [], threading.Barrier(10)

    def ask() -> None:
        start.wait()
        got.append(world.tokens.refreshed(world.account_id, "good"))

    threads = [threading.Thread(target=ask) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(got) == {"fresh-1"}
    assert world.service.refreshes == 1


def test_an_answer_with_an_absurd_timeout_books_like_any_other(world: World) -> None:
    def forever(body: dict[str, object]) -> httpx.Response:
        facts = {"status": "SUCCESS", "booking_id": world.service.make(body)}
        return httpx.Response(
            200, json={**facts, "booking_timeout": 999_999_999_999, "booking_timeout_unit": "DAYS"}
        )

    world.service.create.append(forever)
    with world.worker() as worker:
        order_id = world.book(worker)
        assert world.state(order_id) == "BOOKED"


def test_an_answer_that_can_not_be_settled_blocks_no_other(world: World) -> None:
    with world.worker() as worker:
        first, second = world.place(), world.place()
        assert worker.sender._claim(first) == worker.sender._claim(second) == (1, 0)
        for order_id in (first, second):
            world.service.booked({"merchant_txn_id": world.page(order_id).order.mtx})
        stored = {"state": "BOOKED", "attempt": 1}
        odd = stored | {"state": "BOOKED, PERHAPS", "booking_id": "C1"}
        worker.journal.file.append(odd | {"mtx": world.page(first).order.mtx})
        honest = stored | {"mtx": world.page(second).order.mtx, "booking_id": "C2"}
        worker.journal.file.append(honest)
        worker.step()
        assert (world.state(first), world.state(second)) == ("SENDING", "BOOKED")
        world.clock.go(61)
        worker.step()
        assert world.state(first) == "UNKNOWN"


def test_a_mistake_of_ours_in_one_round_does_not_end_the_worker(real: World) -> None:
    class Wrong(Worker):
        rounds = 0

        def _replay(self) -> int:
            self.rounds += 1
            raise OverflowError

    with real.worker() as made:
        made.__class__ = Wrong
        with running(made):
            order_id = real.place()
            made.wake()
            until(lambda: real.state(order_id) == "BOOKED")
        assert made.rounds  # type: ignore[attr-defined]


def test_a_worker_says_that_it_starts_and_stops_and_how_orders_end_and_no_more(
    real: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="ridedash")
    real.service.tracks["C1"] = [{"booking_id": "C1", "booking_status": "CALL_DRIVER"}]
    real.service.create += [
        real.service.booked,
        real.service.unreachable,
        real.service.lost_answer,
        no_cabs,
    ]
    placed: dict[str, int] = {}
    with real.worker(pace=60) as worker, running(worker):
        for state in ("BOOKED", "NOT_SENT", "UNKNOWN", "REJECTED"):
            order_id = placed[state] = real.place()
            worker.wake()
            until(lambda order_id=order_id, state=state: real.state(order_id) == state)  # type: ignore[misc]
        polls = real.service.count("track_ride")
        until(lambda: real.service.count("track_ride") > polls)
    messages = [
        (each.levelname, each.getMessage().replace(worker.name, "w")) for each in caplog.records
    ]
    assert messages == [
        ("INFO", f"worker w started: 8 threads, on {real.db.dialect}"),
        ("WARNING", f"order {placed['NOT_SENT']} is NOT_SENT: NO_CONNECTION"),
        ("WARNING", f"order {placed['UNKNOWN']} is UNKNOWN: NO_ANSWER"),
        ("INFO", f"order {placed['REJECTED']} is REJECTED: NO_CABS_AVAILABLE"),
        ("INFO", "worker w stopped"),
    ]


def no_cabs(_body: dict[str, object]) -> httpx.Response:
    return httpx.Response(
        200, json={"status": "FAILURE", "code": "NO_CABS_AVAILABLE", "message": "of Guest Heron"}
    )


def test_a_code_of_the_service_is_logged_only_if_it_is_a_known_one(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    words = {"status": "FAILURE", "code": "Guest Heron room 12", "message": "no"}
    world.service.create.append(lambda _: httpx.Response(200, json=words))
    caplog.set_level("INFO", logger="ridedash")
    with world.worker() as worker:
        order_id = world.book(worker)
    assert f"order {order_id} is REJECTED: a code of the service's own" in caplog.text
    assert "Heron" not in caplog.text


def test_a_move_that_was_not_committed_is_not_in_the_log(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    order_id = world.place()

    def undone() -> None:
        with world.db.write() as s:
            transitions.change_state(
                s, s.get_one(Order, order_id), OrderState.NOT_SENT, world.clock(), "worker"
            )
            s.flush()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        undone()
    assert caplog.records == []


def test_a_round_that_fails_for_the_database_says_what_the_driver_says(
    real: World, caplog: pytest.LogCaptureFixture
) -> None:
    failed = threading.Event()

    def away(_limit: int) -> list[int]:
        failed.set()
        raise OperationalError(
            "SELECT 1", {}, sqlite3.OperationalError("unable to open database file")
        )

    with real.worker() as worker:
        worker.promoter.due = away  # type: ignore[method-assign]
        with running(worker):
            assert failed.wait(30)
            until(lambda: "round failed" in caplog.text)
    assert (
        "the worker's round failed: OperationalError (unable to open database file)" in caplog.text
    )
    assert "SELECT" not in caplog.text


def test_a_worker_that_ends_by_itself_no_longer_counts_and_a_restart_changes_nothing(
    real: World,
) -> None:
    def health() -> tuple[int, bool, bool]:
        with real.db.read() as s:
            now = real.clock()
            return counts(s, now).workers, heartbeat_age(s, now) is not None, can_send(s, now)

    for _ in range(2):  # two workers, one after the other
        with real.worker() as worker, running(worker):
            until(lambda: health() == (1, True, True))
        assert health() == (0, True, True)
    with real.worker() as worker:
        worker.step()
        assert health() == (1, True, True)


class Awake:
    """Replaces the event of a worker, and records the timeout of each wait."""

    def __init__(self) -> None:
        self.waits: list[float | None] = []
        self.cleared = 0

    def wait(self, timeout: float | None = None) -> None:
        self.waits.append(timeout)

    def set(self) -> None:
        pass

    def clear(self) -> None:
        self.cleared += 1


def test_a_worker_looks_when_it_is_time_or_when_it_is_woken_and_waits_in_between(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def nothing(what: str) -> list[Any]:
        looked.append(what)
        return []

    for name in ("LOOK_EVERY_S", "PLAN_EVERY_S"):
        monkeypatch.setattr(f"ridedash.rides.worker.{name}", 3600.0)
    with world.worker() as worker:
        awake: Any = Awake()
        worker._awake, polling, stop = awake, Polling(worker.tracker, 1, print), threading.Event()
        monkeypatch.setattr(worker, "_sends", lambda: nothing("send"))
        monkeypatch.setattr(worker, "_plans", lambda: nothing("plan"))
        monkeypatch.setattr(worker, "_ends", list)
        for woken in (False, False, True, False):
            if woken:
                worker.wake()
            worker._round(polling, stop)
        assert looked == ["plan", "send", "send"]
        monkeypatch.setattr(polling, "round", lambda: 7.0)
        worker._round(polling, stop)
    assert awake.waits == [3600.0] * 4 + [7.0], "sooner, or later, where polls are under way"
    assert awake.cleared == 5


def test_a_job_that_fails_is_logged_by_its_name_and_can_be_begun_again(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    before, seen = worker_step.get(), list[tuple[str, int]]()

    def fine() -> bool:
        seen.append(worker_step.get())
        return True

    with world.worker() as worker:
        assert worker._begin("send 7")
        assert not worker._begin("send 7")
        assert worker._do(Job("send 7", fine)) is True
        for error in (OSError("the disk"), ValueError("of Guest Heron")):

            def fails(error: Exception = error) -> None:
                raise error

            worker._woken = False
            assert worker._begin("send 7")
            assert worker._do(Job("send 7", fails)) is False
            assert worker._woken, "another one may wait for its thread"
    assert (seen, worker_step.get()) == ([("send", 7)], before)
    messages = [record.getMessage() for record in caplog.records]
    assert [each.split("(")[0].strip() for each in messages] == [
        "send 7 failed: OSError",
        "send 7 failed: ValueError",
    ]


def test_a_service_that_falls_silent_is_in_a_heartbeat_at_once_and_since_when(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent: list[float | None] = [None]
    flushed: list[bool] = []
    with world.worker() as worker:

        def heartbeat_after(after: float | None, *, always: bool = False) -> datetime | None:
            silent[0] = after
            world.clock.go(1)
            worker._heartbeat(always)
            with world.db.read() as s:
                return s.get_one(Heartbeat, worker.name).silent_since

        monkeypatch.setattr(world.client.traffic, "silent_s", lambda: silent[0])
        monkeypatch.setattr(worker.journal.sent, "flush", lambda: flushed.append(True))
        assert heartbeat_after(None, always=True) is None
        since = heartbeat_after(12.0)
        assert since == world.clock() - timedelta(seconds=12)
        assert heartbeat_after(13.5) == since, "it is not time for another"
        assert heartbeat_after(14.5, always=True) == since
        assert worker._heartbeat(False) == 0
        assert heartbeat_after(None) is None
    assert flushed == [True] * 4, "what was journalled is on disk with each heartbeat"


def test_an_idle_worker_ends_at_once_and_a_busy_one_waits_its_time(world: World) -> None:
    with world.worker(drain_s=3600.0) as worker:
        awake: Any = Awake()
        worker._awake = awake
        worker._drain()
        assert worker.promoter.closed, "it begins nothing more"
        assert awake.waits == []
        assert worker._begin("plan 7")
        awake.clear = worker._busy.clear
        worker._drain()
        assert awake.waits == [LOOK_EVERY_S]
        assert worker._begin("act 7")
        worker.drain_s = 0.0
        worker._drain()
        assert awake.waits == [LOOK_EVERY_S], "no longer"


def test_a_step_tells_whether_anything_was_done(world: World) -> None:
    with world.worker() as worker:
        worker.step()
        assert worker.step() is False
        world.place()
        assert worker.step() is True


def test_after_a_clock_turn_of_the_service_every_ride_is_polled_once(world: World) -> None:
    world.service.tracks["C1"] = [{"booking_id": "C1", "booking_status": "CALL_DRIVER"}]
    with world.worker() as worker:
        world.book(worker)
        worker.step()
        polls = world.service.count("track_ride")
        turned = ServiceTime((Turn(world.clock(), world.clock(), 1.0),))
        for more, time_now in ((0, worker.runtime.time()), (1, turned), (1, turned)):
            worker.runtime = replace(worker.runtime, time=lambda now=time_now: now)
            worker.step()
            assert world.service.count("track_ride") == polls + more


def test_kiosks_and_old_answers_are_looked_after_too(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    with world.worker() as worker:
        monkeypatch.setattr(watch, "watch", lambda *_given: done.append("kiosks") or 0)
        monkeypatch.setattr(worker.journal, "drop_old", lambda _now: done.append("journal"))
        for _ in range(2):
            worker.step()
    assert done == ["kiosks", "journal", "kiosks"], "the answers once an hour"
