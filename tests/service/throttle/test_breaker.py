"""The breaker at its limits: when it opens, when it lets a probe through, when it closes."""

from collections.abc import Iterable

import pytest

from ridedash.service.throttle.breaker import Breaker, Silence

GOOD, BAD = "g", "b"


def breaker(chance: float = 0.0) -> Breaker:
    return Breaker(lambda: chance)


def called(made: Breaker, results: Iterable[str], now: float = 0.0) -> None:
    for each in results:
        epoch = made.begin(now)
        if each == GOOD:
            made.succeeded(epoch, now)
        else:
            made.failed(epoch, now)


def opened(now: float = 0.0, chance: float = 0.0) -> Breaker:
    made = breaker(chance)
    called(made, BAD * 5, now)
    assert made.opened_at == now
    return made


@pytest.mark.parametrize(
    ("results", "is_open"),
    [
        (BAD * 4, False),
        (BAD * 5, True),
        (BAD * 4 + GOOD + BAD * 4, False),
        ((GOOD + BAD) * 9, False),  # nine of eighteen: too few calls
        ((GOOD + BAD) * 10, True),
        (GOOD * 2 + (GOOD + BAD) * 10, False),  # ten of twenty-two
        ("ggggbbbbgbbbbggggggb", False),  # nine of twenty
    ],
)
def test_it_opens_after_five_failures_in_a_row_or_half_of_twenty(
    results: str, is_open: bool
) -> None:
    made = breaker()
    called(made, results)
    assert (made.opened_at is not None) is is_open
    assert (made.wait_s(0.0) > 0) is is_open


@pytest.mark.parametrize(("later", "is_open"), [(30.0, True), (30.5, False)])
def test_calls_count_for_half_a_minute(later: float, is_open: bool) -> None:
    made = breaker()
    called(made, (BAD + GOOD) * 9, 0.0)
    called(made, GOOD + BAD, later)
    assert (made.opened_at is not None) is is_open


def test_good_calls_that_have_left_the_window_hide_no_failures() -> None:
    made = breaker()
    called(made, GOOD * 20, 0.0)
    called(made, (GOOD + BAD) * 9, 31.0)
    assert made.opened_at is None
    called(made, GOOD + BAD, 32.0)
    assert made.opened_at == 32.0


def test_a_probe_is_due_after_five_seconds_and_runs_alone() -> None:
    made = opened(100.0)
    assert [made.wait_s(at) for at in (100.0, 103.0, 105.0, 106.0)] == [5.0, 2.0, 0.0, 0.0]
    made.begin(106.0)
    assert [made.wait_s(at) for at in (106.0, 115.0, 116.0)] == [10.0, 1.0, 0.0], "it may be lost"


def test_a_failure_of_our_own_lets_the_next_call_be_the_probe() -> None:
    made = opened()
    epoch = made.begin(5.0)
    made.void(epoch - 1)
    assert made.wait_s(5.0) == 10.0, "that was a call of an earlier epoch"
    made.void(epoch)
    assert made.wait_s(5.0) == 0.0
    assert made.opened_at == 0.0


@pytest.mark.parametrize(
    ("chance", "waits"), [(0.0, [10.0, 20.0, 30.0, 30.0]), (1.0, [8.0, 16.0, 24.0, 24.0])]
)
def test_each_failed_probe_doubles_the_wait_up_to_half_a_minute(
    chance: float, waits: list[float]
) -> None:
    made, now, found = opened(0.0, chance), 5.0, []
    for _ in waits:
        made.failed(made.begin(now), now)
        found.append(made.wait_s(now))
        now += found[-1]
    assert found == pytest.approx(waits)
    assert made.opened_at == 0.0


def test_a_good_probe_closes_it_and_the_count_begins_anew() -> None:
    made = opened()
    made.succeeded(made.begin(5.0), 5.0)
    assert (made.opened_at, made.wait_s(5.0), made.epoch) == (None, 0.0, 2)
    called(made, BAD * 4, 6.0)
    assert made.opened_at is None


def test_what_comes_from_before_it_opened_or_closed_changes_nothing() -> None:
    made = breaker()
    old = made.begin(0.0)
    called(made, BAD * 5)
    made.succeeded(old, 1.0)
    assert made.opened_at == 0.0
    made.failed(old, 1.0)
    assert made.wait_s(0.0) == 5.0, "it is no failed probe"
    probe = made.begin(5.0)
    made.succeeded(probe, 5.0)
    for _ in range(5):
        made.failed(probe, 6.0)
    assert made.opened_at is None


def test_a_service_that_flaps_is_called_again_eleven_seconds_after_it_was_well() -> None:
    made = opened()
    made.succeeded(made.begin(5.0), 5.0)
    called(made, BAD * 5, 6.0)
    assert made.wait_s(6.0) == 10.0, "not before 16 s"
    made.succeeded(made.begin(16.0), 16.0)
    called(made, BAD * 5, 40.0)
    assert made.wait_s(40.0) == 5.0


def test_it_is_silent_since_the_first_failure_of_two_in_a_row() -> None:
    silence = Silence()
    assert silence.since(0.0) is None
    silence.failed(10.0)
    assert silence.since(11.0) is None
    silence.failed(20.0)
    silence.failed(30.0)
    assert silence.since(31.0) == 10.0
    assert (silence.since(150.0), silence.since(150.5)) == (10.0, None), "no one has called since"
    silence.answered()
    assert silence.since(31.0) is None
    silence.failed(200.0)
    silence.failed(201.0)
    assert silence.since(202.0) == 200.0


def test_a_failure_after_a_long_pause_begins_a_new_run() -> None:
    silence = Silence()
    silence.failed(10.0)
    silence.failed(131.0)
    assert silence.since(132.0) is None, "one failure in two minutes"
    silence.failed(133.0)
    assert silence.since(134.0) == 131.0


def test_once_it_has_closed_nothing_of_before_counts_any_more() -> None:
    made = opened()
    made.failed(made.begin(5.0), 5.0)
    made.succeeded(made.begin(15.0), 15.0)
    called(made, (GOOD + BAD) * 9, 16.0)
    assert made.opened_at is None, "eighteen calls since"
    called(made, GOOD + BAD * 5, 50.0)
    made.failed(made.begin(55.0), 55.0)
    assert made.wait_s(55.0) == 10.0, "its first failed probe"
