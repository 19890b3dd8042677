"""Runtime: the dependencies of sending, polling and actions (docs/architecture.md 2)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ridedash.rides.accounts.tokens import AccountTokens
from ridedash.service.client import RideClient
from ridedash.service_time import Times, real_time
from ridedash.store.database.database import Clock, Database

# called with the name of a place in the code at which tests stop the process
Failpoint = Callable[[str], None]
# Called after a poll with its outcome, and by how many seconds it was late. The outcome is
# "answered", or the name of the error's type. It may neither raise nor take long.
PollReport = Callable[[str, float], None]
# a clock difference above this has another cause than a Date's whole seconds or a slow answer
APART_S: Final = 60.0


def no_failpoint(_name: str) -> None:
    """The failpoint of production: does nothing."""


def no_report(_outcome: str, _late_s: float) -> None:
    """The report of a worker that nobody monitors: does nothing."""


@dataclass(frozen=True)
class Runtime:
    """The database, the client of the service, the tokens and the clock, as one value.

    `clock` is ours. `time` is the service's clock: real time for a real service; the clock of a
    sandbox may be changed at any moment. `compares_clock`: whether our clock is checked against the
    Date header of the service's answers. `owner` is the name under which leases are taken.
    """

    db: Database
    client: RideClient
    tokens: AccountTokens
    clock: Clock
    time: Times = real_time
    owner: str = "worker"
    failpoint: Failpoint = no_failpoint
    on_poll: PollReport = no_report
    compares_clock: bool = False

    def clock_ahead_s(self) -> float | None:
        """By how many seconds our clock is ahead of the service's, if the difference is too large.

        Negative if our clock is behind. None while the clocks agree, and when there is nothing to
        compare with (docs/booking-protocol.md 3.6).
        """
        if not self.compares_clock:
            return None
        ahead = self.client.clock_ahead_s(self.clock())
        if ahead is None or abs(ahead) <= APART_S:
            return None
        return ahead
