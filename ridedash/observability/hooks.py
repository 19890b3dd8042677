"""Instrumentation hooks, which the service's client and the worker call."""

from typing import Protocol


class Hooks(Protocol):
    """Called after the event, from any thread. No method may raise, block or take long."""

    def call(self, operation: str, outcome: str, seconds: float) -> None:
        """A call to the service has ended.

        `operation` is its path, `outcome` a word of responses.outcome_of.
        """

    def breaker(self, calls: str, state: str) -> None:
        """The circuit breaker of these calls ("read", "write") is now "open" or "closed"."""

    def order(self, outcome: str) -> None:
        """An order has a new state (OrderState), in a transaction that is committed."""

    def poll(self, outcome: str, late_s: float) -> None:
        """A ride was polled, so many seconds after it was due."""


class NoHooks:
    """Hooks that do nothing."""

    def call(self, operation: str, outcome: str, seconds: float) -> None:
        """Nothing."""

    def breaker(self, calls: str, state: str) -> None:
        """Nothing."""

    def order(self, outcome: str) -> None:
        """Nothing."""

    def poll(self, outcome: str, late_s: float) -> None:
        """Nothing."""
