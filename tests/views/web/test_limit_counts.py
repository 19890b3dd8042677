"""How often each limit was used in this process: counted without threads, and forgotten in time."""

import threading

import pytest
from limits import parse
from limits.strategies import FixedWindowRateLimiter

from ridedash.extensions import limiter
from ridedash.views.web.limit_counts import PURGE_S, LimitCounts
from tests.views.ride_pages import Desk

TWO = parse("2/minute")


class Passing(LimitCounts):
    """Counts with a clock that the test moves."""

    def __init__(self) -> None:
        super().__init__()
        self.at = 1_000_000.0
        self.now = lambda: self.at


@pytest.fixture
def counts() -> Passing:
    return Passing()


def test_a_limit_is_used_up_and_begins_anew_after_its_time(counts: Passing) -> None:
    limit = FixedWindowRateLimiter(counts)
    assert [limit.hit(TWO, "desk") for _ in range(3)] == [True, True, False]
    assert limit.hit(TWO, "other desk"), "each key has its own"
    counts.at += 59
    assert not limit.test(TWO, "desk")
    counts.at += 1
    assert [limit.hit(TWO, "desk") for _ in range(3)] == [True, True, False]


def test_what_costs_more_counts_more(counts: Passing) -> None:
    limit = FixedWindowRateLimiter(counts)
    assert limit.hit(TWO, "desk", cost=2)
    assert not limit.hit(TWO, "desk")


def test_counts_that_have_ended_are_dropped(counts: Passing) -> None:
    for n in range(100):
        counts.incr(f"address {n}", 30)
    counts.at += PURGE_S
    counts.incr("desk", 30)
    assert counts.reset() == 1


def test_one_key_or_all_begin_anew(counts: Passing) -> None:
    for key in ("desk", "desk", "other desk"):
        counts.incr(key, 60)
    assert (counts.get("desk"), counts.get_expiry("desk") > 0) == (2, True)
    counts.clear("desk")
    assert (counts.get("desk"), counts.get("other desk")) == (0, 1)
    assert counts.reset() == 1
    assert (counts.get("other desk"), counts.check()) == (0, True)


@pytest.mark.database
def test_a_request_that_is_counted_starts_no_thread(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The storage of the library limits starts a thread at nearly every one, to read all counts."""
    path, browser, started = f"/rides/{desk.order('READY')}/path.json", desk.client(), []
    limiter.reset()
    monkeypatch.setattr(limiter, "enabled", True)
    real = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda t: (started.append(t), real(t))[1])
    assert {browser.get(path).status_code for _ in range(3)} == {200}
    assert started == []
