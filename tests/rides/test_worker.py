"""The loop: woken at once, many at a time, stopped without cutting a send short."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import httpx
import pytest

from ridedash.rides.worker import Worker
from tests.rides.desk_world import World


@pytest.fixture
def real(world: World) -> World:
    """A desk whose clock is the wall's: the loop waits in real time."""
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
        thread.join(30)
    assert not thread.is_alive()


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        threading.Event().wait(0.01)


def test_an_order_is_sent_and_followed_while_the_loop_runs(real: World) -> None:
    real.service.tracks["C1"] = [{"booking_id": "C1", "booking_status": "CALL_DRIVER"}]
    with real.worker(pace=60) as worker, running(worker):
        order_id = real.place()
        worker.wake()
        until(lambda: real.page(order_id).ride is not None and real.ride(order_id).status == "CALL_DRIVER")
        polls = real.service.count("track_ride")
        until(lambda: real.service.count("track_ride") > polls + 1)


def test_one_slow_send_holds_up_no_other(real: World) -> None:
    go_on = threading.Event()

    def slow(body: dict[str, object]) -> httpx.Response:
        go_on.wait(10)
        return real.service.booked(body)

    real.service.create.append(slow)
    with real.worker(threads=2) as worker, running(worker):
        first = real.place()
        worker.wake()
        until(lambda: real.state(first) == "SENDING")
        second = real.place()
        worker.wake()
        until(lambda: real.state(second) == "BOOKED")
        assert real.state(first) == "SENDING"
        go_on.set()
        until(lambda: real.state(first) == "BOOKED")


def test_a_stop_waits_for_the_send_in_flight_and_begins_no_other(real: World) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def slow(body: dict[str, object]) -> httpx.Response:
        asked.set()
        go_on.wait(10)
        return real.service.booked(body)

    real.service.create.append(slow)
    with real.worker() as worker:
        with running(worker) as stop:
            first = real.place()
            worker.wake()
            assert asked.wait(10)
            stop.set()
            worker.wake()
            until(lambda: not any(thread.name.startswith("poll") for thread in threading.enumerate()))
            second = real.place()
            go_on.set()
        assert (real.state(first), real.state(second)) == ("BOOKED", "READY")


def test_two_workers_on_one_database_send_each_order_once(real: World) -> None:
    with real.worker() as one, real.worker() as two, running(one), running(two):
        ids = [real.place() for _ in range(30)]
        one.wake()
        two.wake()
        until(lambda: all(real.state(order_id) == "BOOKED" for order_id in ids))
    assert real.service.count("create") == len({booking["mtx"] for booking in real.service.bookings}) == 30


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
        return httpx.Response(200, json={**facts, "booking_timeout": 999_999_999_999, "booking_timeout_unit": "DAYS"})

    world.service.create.append(forever)
    with world.worker() as worker:
        order_id = world.book(worker)
        assert world.state(order_id) == "BOOKED"


def test_an_answer_that_can_not_be_settled_stands_in_the_way_of_no_other(world: World) -> None:
    with world.worker() as worker:
        first, second = world.place(), world.place()
        assert worker.sender._claim(first) == worker.sender._claim(second) == 1
        for order_id in (first, second):
            world.service.booked({"merchant_txn_id": world.page(order_id).order.mtx})
        told = {"state": "BOOKED", "attempt": 1, "booking_timeout_s": 10**17}
        worker.box.file.append(told | {"mtx": world.page(first).order.mtx, "booking_id": "C1"})
        honest = told | {"mtx": world.page(second).order.mtx, "booking_id": "C2", "booking_timeout_s": 240.0}
        worker.box.file.append(honest)
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
