"""Polls of one worker: their number is limited, a failure ends one poll, a stop loses none."""

import threading
import time
from collections.abc import Sequence
from datetime import timedelta
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from ridedash.rides.tracking.claims import Claim
from ridedash.rides.tracking.poll import Tracker
from ridedash.rides.tracking.pool import BATCH, LATEST_S, MOST_AHEAD, ROUND_S, Polling
from ridedash.service.throttle.traffic import Priority
from ridedash.store.database.database import DatabaseBusy
from tests.rides.desk_world import World

PLENTY = {Priority.WAITING: 400, Priority.REST: 400}


class Played:
    """A fake tracker with due rides, whose answers come when the test releases them."""

    def __init__(self, world: World, due: int, capacity: dict[Priority, int] | None = None) -> None:
        self.due = [claim_of(world, number) for number in range(1, due + 1)]
        self.polled: SimpleQueue[int] = SimpleQueue()
        self.answers = threading.Semaphore(0)
        self.errors: dict[int, Exception] = {}
        self.bounds: list[tuple[int, int]] = []
        self.recorded: list[int] = []
        self.refuses: Exception | None = None
        may = dict(capacity or PLENTY)
        traffic = SimpleNamespace(capacity=lambda priority: may[priority])
        self.runtime: Any = SimpleNamespace(db=world.db, client=SimpleNamespace(traffic=traffic))

    def claim(self, most: int, rest: int) -> list[Claim]:
        self.bounds.append((most, rest))
        taken, self.due = self.due[:most], self.due[most:]
        return taken

    def ask(self, claim: Claim) -> Any:
        self.polled.put(claim.ride_id)
        assert self.answers.acquire(timeout=60)
        if claim.ride_id in self.errors:
            raise self.errors[claim.ride_id]
        return claim.ride_id

    def record(self, polls: Sequence[Any]) -> int:
        if self.refuses is not None:
            raise self.refuses
        self.recorded += polls
        return len(polls)


def claim_of(world: World, number: int) -> Claim:
    row: Any = None
    return Claim(number, number, world.account_id, 1, f"C{number}", None, world.clock(), row)


def finished(polling: Polling, left: int) -> None:
    """Wait until only `left` polls are still under way."""
    end = time.monotonic() + 60
    while polling._out > left:
        assert time.monotonic() < end, "the polls did not end in time"
        threading.Event().wait(0.002)


def pool(played: Played, threads: int = 1, woken: threading.Event | None = None) -> Polling:
    tracker: Any = played
    return Polling(tracker, threads, (woken or threading.Event()).set)


def pool_by_hand(played: Played, now: list[float], threads: int = 2) -> Polling:
    """A pool with a clock that the test sets."""
    tracker: Any = played
    return Polling(tracker, threads, lambda: None, lambda: now[0])


def test_as_many_polls_go_as_the_threads_finish_in_a_quarter_of_a_second(world: World) -> None:
    now = [100.0]
    polling = pool_by_hand(Played(world, due=0), now)

    def ahead(passed: float, finished: int) -> int:
        """How many claims may be open, besides two for each thread."""
        now[0] += passed
        polling._finished = finished
        return polling._ahead() - 2 * polling.threads

    assert ahead(0.5, 200) == 100, "400 a second"
    assert ahead(0.25, 0) == 50, "half of what it was, since half a second is looked back on"
    assert ahead(0.0, 0) == 49, "a round at once changes next to nothing"
    assert ahead(2.0, 4000) == MOST_AHEAD - 2 * polling.threads


def test_after_a_pause_only_the_polls_of_that_pause_are_looked_back_on(world: World) -> None:
    now = [100.0]
    polling = pool_by_hand(Played(world, due=0), now)
    threads = 2 * polling.threads
    for passed, finished, ahead in ((2.0, 160, 20), (5.0, 40, 2), (1.0, 0, 0)):
        now[0] += passed
        polling._finished = finished
        assert polling._ahead() == threads + ahead, (passed, finished)


def test_polls_that_ended_release_capacity_for_more(world: World) -> None:
    now, played = [100.0], Played(world, due=20)
    polling = pool_by_hand(played, now)
    polling.start()
    polling.round()
    played.answers.release(4)
    finished(polling, 0)
    now[0] += 0.5
    polling.round()
    assert played.bounds == [(4, 4), (6, 6)], "four in half a second: two more in a quarter of one"
    played.answers.release(6)
    polling.stop()


@pytest.mark.parametrize(("waiting", "wakes"), [(BATCH - 1, True), (BATCH - 2, False)])
def test_the_loop_is_woken_when_a_whole_batch_of_answers_waits(
    world: World, waiting: int, wakes: bool
) -> None:
    played, woken, answered = Played(world, due=1), threading.Event(), list[Any](range(waiting))
    polling = pool(played, 1, woken)
    polling.start()
    polling.round()
    polling._done.extend(answered)
    played.answers.release()
    finished(polling, 0)
    polling.stop()
    assert woken.is_set() is wakes
    assert len(played.recorded) == waiting + 1


def test_without_a_ride_that_is_due_there_is_no_next_round(world: World) -> None:
    polling = pool(Played(world, due=0))
    assert polling.round() is None


def test_two_polls_for_each_thread_are_claimed_and_the_next_when_these_have_ended(
    world: World,
) -> None:
    played = Played(world, due=9)
    polling = pool(played, threads=2)
    assert polling.round() == ROUND_S
    assert (played.bounds, len(played.due)) == ([(4, 4)], 5)
    assert polling.round() == ROUND_S
    assert played.bounds == [(4, 4)], "all four are still under way"
    played.answers.release(4)
    polling.start()
    finished(polling, 0)
    polling.round()
    assert sorted(played.recorded) == [1, 2, 3, 4]
    most, rest = played.bounds[1]
    assert most == rest >= 4
    played.answers.release(9)
    polling.stop()


@pytest.mark.parametrize(
    ("waiting", "rest", "bounds"),
    [(3, 1, [(3, 1)]), (1, 0, [(1, 0)]), (400, 2, [(4, 2)]), (0, 0, []), (2, -5, [(2, 0)])],
)
def test_no_more_is_claimed_than_the_service_has_capacity_for(
    world: World, waiting: int, rest: int, bounds: list[tuple[int, int]]
) -> None:
    played = Played(world, 9, {Priority.WAITING: waiting, Priority.REST: rest})
    polling = pool(played, threads=2)
    polling.round()
    assert played.bounds == bounds


def test_claims_that_no_thread_has_taken_yet_use_capacity_too(world: World) -> None:
    played = Played(world, 2, {Priority.WAITING: 3, Priority.REST: 3})
    polling = pool(played, threads=2)
    polling.round()
    polling.round()
    assert played.bounds == [(3, 3), (1, 1)]


@pytest.mark.parametrize("error", [DatabaseBusy("busy"), OSError("gone"), ValueError("a mistake")])
def test_a_poll_that_fails_costs_that_poll_and_not_the_thread(
    world: World, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    played = Played(world, due=2)
    played.errors[1] = error
    polling = pool(played)
    polling.start()
    polling.round()
    played.answers.release(2)
    finished(polling, 0)
    polling.stop()
    assert played.recorded == [2]
    assert [record.getMessage()[:21] for record in caplog.records] == ["poll of ride 1 failed"]


def test_a_claim_whose_lease_may_end_before_the_answer_is_not_polled(world: World) -> None:
    played = Played(world, due=0)
    polling = pool(played)
    now = time.monotonic()
    polling._waiting.put((claim_of(world, 1), now - LATEST_S - 1))
    polling._waiting.put((claim_of(world, 2), now))
    played.answers.release(2)
    polling.start()
    assert played.polled.get(timeout=60) == 2
    finished(polling, -2)
    polling.stop()
    assert played.recorded == [2]


def test_the_loop_is_woken_when_more_rides_may_be_due_and_few_polls_are_left(
    world: World,
) -> None:
    for due, wakes in ((9, True), (1, False)):
        played, woken = Played(world, due), threading.Event()
        polling = pool(played, 1, woken)
        polling.start()
        polling.round()
        played.answers.release(2)
        finished(polling, 0)
        polling.stop()  # waits for the threads: after this they wake the loop no more
        assert woken.is_set() is wakes


def test_a_stop_records_answered_polls_and_releases_claims_that_were_not_polled(
    world: World,
) -> None:
    world.service.tracks |= {
        f"C{n}": [{"booking_id": f"C{n}", "booking_status": "CALL_DRIVER"}] for n in (1, 2, 3)
    }
    with world.worker() as worker:
        ids = [world.book(worker) for _ in range(3)]
    world.clock.go(60)
    reached, go_on, answer = threading.Event(), threading.Event(), world.service.tracked

    def slow(key: str) -> httpx.Response:
        reached.set()
        assert go_on.wait(60)
        return answer(key)

    world.service.tracked = slow  # type: ignore[method-assign]
    polling = Polling(Tracker(world.runtime), 1, lambda: None)
    polling.start()
    assert polling.round() == ROUND_S  # two of three are claimed
    assert reached.wait(60)
    leased = [world.ride(order_id).lease_until for order_id in ids]
    assert leased.count(world.clock() + timedelta(seconds=15)) == 2
    thread = polling._threads[0]

    class Answered:
        """A thread whose answer comes only when the stop waits for the thread."""

        def join(self) -> None:
            go_on.set()
            thread.join(60)

    polling._threads = [Answered()]  # type: ignore[list-item]
    polling.stop()
    assert not thread.is_alive()
    rides = [world.ride(order_id) for order_id in ids]
    assert [ride.lease_until for ride in rides] == [None] * 3
    assert [ride.seen_at == world.clock() for ride in rides].count(True) == 1
    again = Tracker(world.runtime).claim(9)
    assert len(again) == 2, "another worker need not wait for the leases"


def test_a_stop_without_a_database_ends_and_is_in_the_log(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    played = Played(world, due=1)
    played.refuses = DatabaseBusy("busy")
    polling = pool(played)
    polling._claim()
    polling.start()
    played.answers.release()
    finished(polling, 0)
    polling.stop()
    assert "polls were not recorded at the stop" in caplog.text
