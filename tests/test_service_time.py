"""Service time: with turns it agrees with the sandbox's clock, without turns its pace is fixed."""

import math
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridedash.sandbox.clock import ServiceClock
from ridedash.sandbox.store import Store
from ridedash.service_time import REAL, ServiceTime, Turn, at_pace, real_time
from ridedash.turns import turns_of

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
EVENING = datetime(2026, 3, 5, 17, 40, tzinfo=UTC)
PACES = [1.0, 2.0, 7.0, 20.0, 30.0, 60.0]


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def line(*turns: tuple[float, float, float]) -> ServiceTime:
    """Service time with turns: each has wall seconds after NOON, service seconds after EVENING,
    and a speed.
    """
    return ServiceTime(
        tuple(Turn(at(wall), EVENING + timedelta(seconds=s), speed) for wall, s, speed in turns)
    )


@pytest.mark.parametrize("pace", PACES)
@given(wall=st.floats(0, 1e6), seconds=st.floats(0, 1e6))
def test_without_clock_turns_every_answer_is_the_one_of_a_fixed_pace(
    pace: float, wall: float, seconds: float
) -> None:
    time, now = ServiceTime(pace=pace), at(wall)
    assert time.due(NOON, seconds) == NOON + timedelta(seconds=seconds / pace)
    assert time.elapsed(NOON, now) == (now - NOON).total_seconds() * pace
    assert time.counted(NOON, now) == (now - NOON).total_seconds()
    end = NOON + timedelta(seconds=seconds / pace)
    assert time.left(NOON, seconds, now) == (end - now).total_seconds()
    assert time.shown(now) is now
    assert time.as_if_never_turned(NOON) is NOON
    assert (time.speed_now, time.polling_speed, time.shown_speed) == (pace, pace, 1)
    assert (time.held, time.turned_at) == (False, None)


@pytest.mark.parametrize("pace", PACES)
@given(wall=st.floats(0, 1e6), seconds=st.floats(0, 1e6))
def test_after_its_only_clock_turn_a_clock_computes_as_at_a_fixed_pace(
    pace: float, wall: float, seconds: float
) -> None:
    turned, fixed = line((0, 0, pace)), ServiceTime(pace=pace)
    assert turned.due(NOON, seconds) == fixed.due(NOON, seconds)
    assert turned.elapsed(NOON, at(wall)) == fixed.elapsed(NOON, at(wall))


def test_a_real_service_has_one_line_for_all() -> None:
    assert at_pace(1.0) is real_time
    assert real_time() is REAL
    assert at_pace(20.0)().speed_now == 20


def test_while_the_clock_is_held_nothing_is_due_and_nothing_passes() -> None:
    held = line((0, 0, 20), (10, 200, 0))
    assert held.due(at(9), 19) == at(9.95)
    assert held.due(at(9), 21) is None
    assert held.elapsed(at(9), at(500)) == 20
    assert held.left(at(9), 100, at(20)) == held.left(at(9), 100, at(5000)) == 80
    assert held.shown(at(20)) == held.shown(at(5000)) == EVENING + timedelta(seconds=200)
    assert (held.held, held.polling_speed, held.speed_now) == (True, 1, 0)


def test_what_is_leapt_over_is_due_at_the_leap() -> None:
    leapt = line((0, 0, 1), (10, 130, 1), (20, 140, 60))
    assert leapt.due(at(5), 4) == at(9)
    assert leapt.due(at(5), 60) == at(10)
    assert leapt.due(at(5), 125) == at(10)
    assert leapt.due(at(5), 126) == at(11)
    assert leapt.due(at(5), 195) == at(21)
    assert leapt.elapsed(at(5), at(15)) == 130


def test_before_the_first_clock_turn_the_clock_ran_as_from_it() -> None:
    time = line((0, 0, 20))
    assert time.elapsed(at(-10), at(10)) == 400
    assert time.due(at(-10), 300) == at(5)
    assert time.shown(at(-10)) == EVENING - timedelta(seconds=200)


def test_a_clock_that_was_set_back_lets_no_time_pass_by_that() -> None:
    back = line((0, 0, 1), (100, -5000, 1))
    assert back.elapsed(at(90), at(110)) == 20
    assert back.due(at(90), 15) == at(105)
    assert back.shown(at(110)) == EVENING - timedelta(seconds=4990)


def test_an_instant_beyond_the_calendar_is_never_due() -> None:
    assert REAL.due(NOON, 1e17) is None
    assert line((0, 0, 1)).due(NOON, 1e17) is None


def test_a_timer_at_the_speed_of_now_counts_what_has_passed() -> None:
    time = line((0, 0, 1), (100, 100, 20), (110, 900, 60))
    began = time.as_if_never_turned(at(40))
    assert (at(130) - began).total_seconds() * 60 == pytest.approx(time.elapsed(at(40), at(130)))
    assert time.as_if_never_turned(at(120)) == at(120)


@dataclass
class Ride:
    """The instant that a ride stores when something begins, and the sandbox's clock then."""

    wall: datetime
    service: float
    lasts_s: float
    passed: float = 0.0  # as last read
    left: float = math.inf


@pytest.mark.parametrize("seed", range(4))
def test_over_500_clock_turns_rides_agree_with_the_sandbox(tmp_path: Path, seed: int) -> None:
    """20 rides are live while the clock is turned: see docs/assumptions.md for the bounds."""
    dice, now = random.Random(seed), [NOON]
    store = Store(tmp_path / "sandbox.db")
    clock = ServiceClock(store, lambda: now[0], dice.choice(PACES))
    rides: list[Ride] = []
    for _ in range(500):
        now[0] += timedelta(seconds=dice.choice([0, 0.001, 0.4, dice.uniform(0, 30), 300]))
        rides = [ride for ride in rides if clock.now() - ride.service < 2 * ride.lasts_s]
        while len(rides) < 20:
            rides.append(Ride(now[0], clock.now(), dice.choice([120, 240, 300.5, 1800])))
            now[0] += timedelta(milliseconds=1)
        _turn_clock(clock, dice)
        time = turns_of({"turns": [turn._asdict() for turn in clock.turns()]})
        _compare(ServiceTime(time), clock, rides, now[0])
    store.close()


def _turn_clock(clock: ServiceClock, dice: random.Random) -> None:
    speed = dice.choice([None, 0, 0, 1, dice.uniform(1, 60), 60])
    clock.change(speed=speed, leap=dice.choice([0, 0, 0, 1, dice.uniform(0, 1800)]))


def _compare(time: ServiceTime, clock: ServiceClock, rides: list[Ride], now: datetime) -> None:
    shown = time.shown(now)
    assert shown.timestamp() == pytest.approx(clock.now(), abs=0.1)
    assert time.speed_now == pytest.approx(clock.speed())
    for ride in rides:
        passed, left = time.elapsed(ride.wall, now), time.left(ride.wall, ride.lasts_s, now)
        theirs = clock.now() - ride.service
        assert passed == pytest.approx(theirs, abs=2)
        assert left == pytest.approx(ride.lasts_s - theirs, abs=2)
        assert passed >= ride.passed - 0.01, "a duration went back"
        assert left <= ride.left + 0.01, "a countdown went up"
        ride.passed, ride.left = passed, left
        due = time.due(ride.wall, ride.lasts_s)
        if due is None:
            assert theirs < ride.lasts_s + 0.1, "over, and not due"
            assert clock.speed() == 0
        elif due <= now:
            assert theirs >= ride.lasts_s - 2, "due too early"
            assert time.elapsed(ride.wall, due) >= ride.lasts_s - 0.1
        else:
            assert theirs <= ride.lasts_s + 0.1, "due too late"
            wait_s = (ride.lasts_s - theirs) / clock.speed()
            assert (due - now).total_seconds() == pytest.approx(wait_s, abs=1)
