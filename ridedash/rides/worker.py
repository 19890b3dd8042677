"""The worker: sends orders, follows rides, reads actions back; a loop of small steps that stops cleanly."""

import threading
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy.orm import Session

from ridedash.rides.accounts import AccountTokens
from ridedash.store.db import Database

if TYPE_CHECKING:
    from ridedash.rides.blackbox import BlackBox
    from ridedash.service.client import RideClient


class Worker:
    """One worker; any number may run on one database."""

    def __init__(
        self,
        db: Database,
        client: "RideClient",
        tokens: AccountTokens,
        blackbox: "BlackBox",
        clock: Callable[[], datetime],
        pace: float = 1.0,
        threads: int = 8,
        at: Callable[[str], None] = lambda _name: None,
    ) -> None:
        raise NotImplementedError

    def run(self, stop: threading.Event) -> None:
        """Go round until `stop` is set; then claim nothing more and wait up to 25 s for sends in flight."""
        raise NotImplementedError

    def wake(self) -> None:
        """Look now: an order became READY. Callable from any thread; also wakes a `run` whose stop was just set."""
        raise NotImplementedError

    def step(self) -> bool:
        """One round in this thread, for tests: whether anything was done."""
        raise NotImplementedError


def heartbeat_age(s: Session, now: datetime) -> float | None:
    """Seconds since a worker last went round; None when none ever did."""
    raise NotImplementedError
