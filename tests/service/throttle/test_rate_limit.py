"""The token bucket: the wait that it names is long enough, and no longer than needed."""

import math

import pytest

from ridedash.service.throttle.rate_limit import EPSILON, WINDOW_S, RetryBudget, TokenBucket


@pytest.mark.parametrize("rate", [4, 10, 45])
@pytest.mark.parametrize("needed", [1, 2, 3])
def test_after_the_named_wait_there_is_capacity_and_not_before(rate: int, needed: int) -> None:
    bucket, now, starts = TokenBucket(rate, 0.0), 0.0, list[float]()
    while len(starts) < 6 * rate:
        wait = bucket.wait_s(needed, now)
        if wait > 0:
            assert bucket.left(now) < needed
            if wait > 0.002:
                assert bucket.left(now + wait - 0.001) < needed, "it may start earlier"
            now += wait
        assert bucket.left(now) >= needed - EPSILON, "it can't start yet"
        for _ in range(needed):
            bucket.take(now)
            starts.append(now)
    for first, last in zip(starts, starts[rate:], strict=False):
        assert last - first >= WINDOW_S - 1e-6, "more than a second's calls in one second"


def test_the_window_of_a_second_makes_calls_wait_longer_than_tokens_alone() -> None:
    bucket, now = TokenBucket(10, 0.0), 0.0
    for _ in range(10):
        now += bucket.wait_s(1, now)
        bucket.take(now)
    assert now == pytest.approx(0.55)
    assert bucket.wait_s(1, now) == pytest.approx(WINDOW_S - now)


def test_a_rest_saves_up_to_half_a_second_of_calls_and_four_at_least() -> None:
    bursts = {1: 1, 3: 3, 5: 4, 100: 45}
    assert {rate: TokenBucket(rate, 0.0).left(9.0) for rate in bursts} == bursts
    for rate in (0.99, math.nan):
        with pytest.raises(ValueError, match="at least one call"):
            TokenBucket(rate, 0.0)


def test_after_a_hold_it_begins_empty_and_a_shorter_hold_changes_nothing() -> None:
    bucket = TokenBucket(10, 0.0)
    bucket.hold(2.0)
    bucket.hold(1.0)
    assert [bucket.throttled_s(0.5), bucket.throttled_s(2.0)] == [1.5, 0.0]
    assert [bucket.left(1.999), bucket.left(2.0)] == [0, 0]
    assert bucket.left(2.1) == pytest.approx(1)
    bucket.hold(2.0)
    assert bucket.left(2.1) == pytest.approx(1), "the same hold takes no token away"
    later = TokenBucket(10, 0.0)
    later.hold(2.0)
    assert later.wait_s(1, 0.5) == pytest.approx(1.6)
    assert later.wait_s(3, 2.1) == pytest.approx(0.2)


def test_without_a_limit_only_a_hold_makes_calls_wait() -> None:
    bucket = TokenBucket(math.inf, 0.0)
    bucket.take(0.0)
    assert [bucket.left(0.0), bucket.wait_s(99, 0.0)] == [math.inf, 0.0]
    bucket.hold(2.0)
    assert [bucket.left(1.0), bucket.wait_s(1, 0.5), bucket.left(2.0)] == [0.0, 1.5, math.inf]


def test_a_bucket_that_is_drained_counts_from_then_on() -> None:
    bucket = TokenBucket(10, 0.0)
    bucket.drain(5.0)
    assert bucket.left(5.0) == 0
    assert bucket.left(5.2) == pytest.approx(2)
    bucket.drain(1.0)
    assert bucket.left(5.2) == 0


def test_retries_are_two_at_first_then_a_tenth_of_the_calls_and_ten_are_saved() -> None:
    budget = RetryBudget()
    assert [budget.take() for _ in range(3)] == [True, True, False]
    for _ in range(9):
        budget.called()
    assert not budget.take()
    budget.called()
    assert [budget.take(), budget.take()] == [True, False]
    for _ in range(1000):
        budget.called()
    assert sum(budget.take() for _ in range(20)) == 10
