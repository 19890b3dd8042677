"""Instrumentation hooks, which the service's client and the worker call."""

from collections.abc import Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from ridedash.service.transport.http import Answer, Request

# What the worker does in this thread now: a word, and the row that it is about ("send", 12). For a
# page `logs.request_id` says it.
step: Final[ContextVar[tuple[str, int]]] = ContextVar("step", default=("", 0))


class Exchange(NamedTuple):
    """One call to the service as it happened, secrets included; a recorder removes them.

    Without an answer that can be read `failure` says why, as the error does, and `evidence` what
    came. `lane` is the name of the call's priority. Seconds.
    """

    operation: str  # its path
    request: "Request"
    answer: "Answer | None"
    failure: str
    evidence: str
    outcome: str  # a word of responses.outcome_of
    lane: str
    waited_s: float  # for its permit
    first_byte_s: float | None  # from the permit to the head of the answer; None: none came
    total_s: float  # all of it


class Hooks(Protocol):
    """Called after the event, from any thread. No method may raise, block or take long."""

    @property
    def records(self) -> bool:
        """Whether `exchange` is wanted; if not, no Exchange is made."""

    def exchange(self, exchange: Exchange) -> None:
        """A call to the service has ended, or got no permit: all of it."""

    def offers(self, ids: Sequence[int]) -> None:
        """What the request or step of this thread has asked for cars has become these offers."""

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

    records = False

    def exchange(self, exchange: Exchange) -> None:
        """Nothing."""

    def offers(self, ids: Sequence[int]) -> None:
        """Nothing."""

    def call(self, operation: str, outcome: str, seconds: float) -> None:
        """Nothing."""

    def breaker(self, calls: str, state: str) -> None:
        """Nothing."""

    def order(self, outcome: str) -> None:
        """Nothing."""

    def poll(self, outcome: str, late_s: float) -> None:
        """Nothing."""
