"""The token bucket: the wait that it names is long enough, and no longer than needed."""

import pytest

from ridedash.service.throttle.rate_limit import EPSILON, WINDOW_S, TokenBucket


@pytest.mark.parametrize("rate", [4, 10, 45])
@pytest.mark.parametrize("needed", [1, 2, 3])
def test_after_the_wait_that_is_named_there_is_room_and_not_before(rate: int, needed: int) -> None:
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
