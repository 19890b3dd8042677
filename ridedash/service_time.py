"""The service's clock, as the dashboard computes with it: a time line with turns. Pure.

A real service's clock runs like any other. The clock of a sandbox may run fast, stand still or
leap; each change of its speed or time is called a turn. Stored instants are always wall-clock
instants: they are converted only when they are read.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final, NamedTuple


class Turn(NamedTuple):
    """At the instant `wall` the service's clock is set to `service`; then it runs at `speed`."""

    wall: datetime
    service: datetime
    speed: float  # service seconds in a wall second; 0: the clock is held


@dataclass(frozen=True)
class ServiceTime:
    """How service time passes, given by its turns, the oldest first. All instants are aware.

    Without turns the speed is always `pace`, and the time on the service's clock is unknown:
    instants are shown as they are, and timers count wall seconds. Before the first turn its speed
    applies too. A turn that sets the clock back does not reduce the elapsed time.
    """

    turns: tuple[Turn, ...] = ()
    pace: float = 1.0
    # when this process read the last turn; earlier answers may be from before the turn
    known_at: datetime | None = field(default=None, compare=False)

    @property
    def speed_now(self) -> float:
        """How many service seconds pass in a wall second, since the last turn."""
        if not self.turns:
            return self.pace
        return self.turns[-1].speed

    @property
    def polling_speed(self) -> float:
        """The factor by which polls are made more often: at least 1, also for a held clock."""
        return max(self.speed_now, 1.0)

    @property
    def shown_speed(self) -> float:
        """How many seconds a running timer counts in a wall second."""
        if not self.turns:
            return 1.0
        return self.turns[-1].speed

    @property
    def held(self) -> bool:
        """Whether the service's clock stands still."""
        return self.speed_now == 0

    @property
    def turned_at(self) -> datetime | None:
        """When this process read the last turn; older answers and pages may be outdated.

        It is the turn's own wall instant if that time is unknown; None without turns.
        """
        if not self.turns:
            return None
        return self.known_at or self.turns[-1].wall

    def elapsed(self, a: datetime, b: datetime) -> float:
        """The service seconds from one wall instant to another; below zero if `b` is earlier."""
        if not self.turns:
            return (b - a).total_seconds() * self.pace
        i = self._segment(a)
        j = self._segment(b)
        if i == j:
            return (b - a).total_seconds() * self.turns[max(i, 0)].speed
        return self._passed(j, b) - self._passed(i, a)

    def due(self, start: datetime, seconds: float) -> datetime | None:
        """The wall instant at which a number of service seconds have passed since `start`.

        None if the clock is held before that, or if the instant is beyond the calendar. The result
        is only a forecast, because the next turn may change it.
        """
        try:
            if not self.turns:
                return start + timedelta(seconds=seconds / self.pace)
            return self._due(start, seconds)
        except OverflowError:
            return None

    def shown(self, wall: datetime) -> datetime:
        """What the service's clock shows at a wall instant."""
        if not self.turns:
            return wall
        turn = self.turns[max(self._segment(wall), 0)]
        return turn.service + timedelta(seconds=(wall - turn.wall).total_seconds() * turn.speed)

    def counted(self, a: datetime, b: datetime) -> float:
        """The seconds from one wall instant to another, as a timer counts them."""
        if not self.turns:
            return (b - a).total_seconds()
        return self.elapsed(a, b)

    def left(self, start: datetime, seconds: float, now: datetime) -> float:
        """The seconds left on a timer that runs for `seconds` of service time from `start`.

        Negative after the end of the timer, which stands still while the clock is held.
        """
        if self.turns:
            return seconds - self.elapsed(start, now)
        end = self.due(start, seconds)
        if end is None:
            return seconds
        return (end - now).total_seconds()

    def as_if_never_turned(self, wall: datetime) -> datetime:
        """The start of a timer at the present speed that shows what a timer from `wall` shows.

        The timer from `wall` counts at the speeds of all turns since. While the clock is held there
        is no such start; then `wall` is returned.
        """
        if not self.turns or self.held or wall >= self.turns[-1].wall:
            return wall
        turn = self.turns[-1]
        return turn.wall - timedelta(seconds=self.elapsed(wall, turn.wall) / turn.speed)

    @cached_property
    def _walls(self) -> tuple[datetime, ...]:
        return tuple(turn.wall for turn in self.turns)

    @cached_property
    def _service_s(self) -> tuple[float, ...]:
        """The service seconds that had passed at each turn since the first one, including leaps."""
        passed = [0.0]
        for before, turn in zip(self.turns, self.turns[1:], strict=False):
            ran = (turn.wall - before.wall).total_seconds() * before.speed
            passed.append(passed[-1] + max(ran, (turn.service - before.service).total_seconds()))
        return tuple(passed)

    def _segment(self, wall: datetime) -> int:
        """The index of the last turn at or before an instant; -1 before the first turn."""
        return bisect_right(self._walls, wall) - 1

    def _passed(self, i: int, wall: datetime) -> float:
        """The service seconds from the first turn to an instant of segment `i`."""
        turn = self.turns[max(i, 0)]
        return self._service_s[max(i, 0)] + (wall - turn.wall).total_seconds() * turn.speed

    def _due(self, start: datetime, seconds: float) -> datetime | None:
        i = self._segment(start)
        found = _later(start, seconds, self.turns[max(i, 0)].speed)
        if i + 1 == len(self.turns) or (found is not None and found < self._walls[i + 1]):
            return found
        target = self._passed(i, start) + seconds
        # the first turn by which `seconds` have passed
        after = bisect_left(self._service_s, target, lo=i + 1)
        if after == i + 1:
            return self._walls[after]  # within the leap of that turn
        turn = self.turns[after - 1]
        found = _later(turn.wall, target - self._service_s[after - 1], turn.speed)
        if after == len(self.turns):
            return found
        ends = self._walls[after]
        return ends if found is None else min(found, ends)


Times = Callable[[], ServiceTime]  # returns the present time line of the service
REAL: Final = ServiceTime()  # the time line of a real service


def real_time() -> ServiceTime:
    """The time line of a real service, which is real time."""
    return REAL


def at_pace(pace: float) -> Times:
    """Returns the time line of a clock that always runs `pace` times as fast as real time."""
    line = ServiceTime(pace=pace)
    return real_time if line == REAL else lambda: line


def _later(start: datetime, seconds: float, speed: float) -> datetime | None:
    if speed > 0:
        return start + timedelta(seconds=seconds / speed)
    if seconds <= 0:
        return start
    return None
