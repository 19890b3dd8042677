"""Runtime: what sending, polling and actions share (docs/architecture.md)."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ridedash.observability.hooks import Hooks
    from ridedash.rides.accounts.tokens import AccountTokens
    from ridedash.service.client import RideClient
    from ridedash.store.database.database import Database

Clock = Callable[[], datetime]  # the present time: aware, in UTC
Failpoint = Callable[[str], None]  # called with its name; tests stop the process there


def no_failpoint(_name: str) -> None:
    """The failpoint of production: does nothing."""


@dataclass(frozen=True)
class Runtime:
    """The database, the service, the tokens and the clock that whatever acts works with.

    `pace` is how many times faster than the wall's the service's clock runs: 1 for the real
    service. `owner` is the name that leases are taken under. `hooks` are called when a poll has
    ended; None: nothing is.
    """

    db: "Database"
    client: "RideClient"
    tokens: "AccountTokens"
    clock: Clock
    pace: float = 1.0
    owner: str = "worker"
    failpoint: Failpoint = no_failpoint
    hooks: "Hooks | None" = None
