"""What the service's client and the worker tell of themselves; who listens is none of their
business.
"""

from typing import Protocol


class Watch(Protocol):
    """Told after the fact, from any thread. None of these may raise, block or take long."""

    def call(self, operation: str, outcome: str, seconds: float) -> None:
        """One call to the service has ended. `operation` is the path, `outcome` a word (metrics.py
        lists them).
        """

    def breaker(self, calls: str, state: str) -> None:
        """The breaker of these calls ("read", "write") is now "open" or "closed"."""

    def order(self, outcome: str) -> None:
        """An order came to a state (OrderState), in a transaction that is committed."""

    def poll(self, outcome: str, late_s: float) -> None:
        """A ride was asked about; how long after it was due."""


class Unwatched:
    """Listens to nothing."""

    def call(self, operation: str, outcome: str, seconds: float) -> None:
        """Nothing."""

    def breaker(self, calls: str, state: str) -> None:
        """Nothing."""

    def order(self, outcome: str) -> None:
        """Nothing."""

    def poll(self, outcome: str, late_s: float) -> None:
        """Nothing."""
