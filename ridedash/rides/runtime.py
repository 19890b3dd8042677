"""Runtime: the dependencies of sending, polling and actions (docs/architecture.md 2)."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from ridedash.service_time import Times, real_time

if TYPE_CHECKING:
    from ridedash.observability.hooks import Hooks
    from ridedash.rides.accounts.tokens import AccountTokens
    from ridedash.service.client import RideClient
    from ridedash.store.database.database import Database

Clock = Callable[[], datetime]  # the present time: aware, in UTC
# called with the name of a place in the code at which tests stop the process
Failpoint = Callable[[str], None]
# a clock difference above this has another cause than a Date's whole seconds or a slow answer
APART_S: Final = 60.0


def no_failpoint(_name: str) -> None:
    """The failpoint of production: does nothing."""


@dataclass(frozen=True)
class Runtime:
    """The database, the client of the service, the tokens and the clock, as one value.

    `time` is the service's clock: real time for a real service; the clock of a sandbox may be
    changed at any moment. `compares_clock`: whether our clock is checked against the Date header of
    the service's answers. `owner` is the name under which leases are taken. `hooks` are called
    after each poll, if given.
    """

    db: "Database"
    client: "RideClient"
    tokens: "AccountTokens"
    clock: Clock
    time: Times = real_time
    owner: str = "worker"
    failpoint: Failpoint = no_failpoint
    hooks: "Hooks | None" = None
    compares_clock: bool = False

    def clock_ahead_s(self) -> float | None:
        """By how many seconds our clock is ahead of the service's, if the difference is too large.

        Negative if our clock is behind. None while the clocks agree, and when there is nothing to
        compare with (docs/booking-protocol.md 3.6).
        """
        if not self.compares_clock:
            return None
        ahead = self.client.clock_ahead_s(self.clock())
        return None if ahead is None or abs(ahead) <= APART_S else ahead
