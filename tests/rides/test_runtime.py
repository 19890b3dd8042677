"""A runtime reports a wrong clock only if the dates of the service's answers prove it."""

from typing import Any

import pytest

from ridedash.rides.runtime import Runtime
from tests.rides.desk_world import START


class Dated:
    """A client that finds our clock `ahead_s` ahead of the service's; None: it can't tell."""

    def __init__(self, ahead_s: float | None) -> None:
        self.ahead_s = ahead_s

    def clock_ahead_s(self, now: object) -> float | None:
        assert now == START
        return self.ahead_s


def runtime(ahead_s: float | None, **facts: Any) -> Runtime:
    nothing: Any = None
    client: Any = Dated(ahead_s)
    return Runtime(nothing, client, nothing, lambda: START, **facts)


@pytest.mark.parametrize(
    ("ahead_s", "expected"),
    [(None, None), (0.0, None), (60.0, None), (-60.0, None), (60.5, 60.5), (-60.5, -60.5)],
)
def test_clocks_are_apart_when_more_than_a_minute_lies_between_them(
    ahead_s: float | None, expected: float | None
) -> None:
    assert runtime(ahead_s, compares_clock=True).clock_ahead_s() == expected


def test_without_a_witness_our_clock_is_not_judged() -> None:
    """The clock of a sandbox may be turned, so clocks are compared only with `compares_clock`."""
    assert runtime(3_600.0).clock_ahead_s() is None
    assert runtime(3_600.0, compares_clock=False).clock_ahead_s() is None
