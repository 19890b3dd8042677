"""What a runtime says of its clock: only what the service's own dates bear out."""

from typing import Any

import pytest

from ridedash.rides.runtime import Runtime
from tests.rides.desk_world import START


class Dated:
    """A client whose service is this many seconds behind our clock; None: it gives no date."""

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
    ("ahead_s", "told"),
    [(None, None), (0.0, None), (60.0, None), (-60.0, None), (60.5, 60.5), (-60.5, -60.5)],
)
def test_clocks_are_apart_when_more_than_a_minute_lies_between_them(
    ahead_s: float | None, told: float | None
) -> None:
    assert runtime(ahead_s, compares_clock=True).clock_ahead_s() == told


def test_without_a_witness_nothing_is_said_of_our_clock() -> None:
    """As in a sandbox, whose clock is turned: who puts a runtime together says that it compares."""
    assert runtime(3_600.0).clock_ahead_s() is None
    assert runtime(3_600.0, compares_clock=False).clock_ahead_s() is None
