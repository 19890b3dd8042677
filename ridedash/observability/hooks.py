"""Instrumentation hooks, which the service's client and the worker call."""

from collections.abc import Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from ridedash.service.transport.http import Answer, Request

# What the worker is doing in this thread: a word, and the id of the row ("send", 12). A thread that
# answers a page has `logs.request_id` instead.
step: Final[ContextVar[tuple[str, int]]] = ContextVar("step", default=("", 0))


class Exchange(NamedTuple):
    """One call to the service as it happened, secrets included; a recorder removes them.

    Where no answer came, or none that can be read, `failure` is the text of the error, and
    `evidence` the beginning of the unreadable body. `lane` is the name of the call's priority.
    """

    operation: str  # its path at the service
    request: "Request"
    answer: "Answer | None"
    failure: str
    evidence: str
    outcome: str  # a word of responses.outcome_of
    lane: str
    waited_s: float  # waiting for its permit
    first_byte_s: float | None  # from the permit to the head of the answer; None: none came
    total_s: float  # with the wait for the permit


class Hooks(Protocol):
    """Methods are called after the event, from any thread; none may raise, block or take long."""

    @property
    def records(self) -> bool:
        """Whether `exchange` is wanted; if not, no Exchange is made."""

    def exchange(self, exchange: Exchange) -> None:
        """A call to the service has ended, or was not made because it got no permit."""

    def offers(self, ids: Sequence[int]) -> None:
        """The products that this thread requested are stored as offers with these ids."""

    def call(self, operation: str, outcome: str, seconds: float) -> None:
        """A call to the service has ended, or was not made because it got no permit.

        `operation` is its path, `outcome` a word of responses.outcome_of.
        """

    def breaker(self, calls: str, state: str) -> None:
        """The circuit breaker of these calls ("read", "write") is now "open" or "closed"."""

    def order(self, outcome: str) -> None:
        """An order has reached a new state (OrderState), in a committed transaction."""

    def poll(self, outcome: str, late_s: float) -> None:
        """A ride was polled, claimed `late_s` after it was due.

        `outcome` is "answered", or the name of the error's type.
        """


class NoHooks:
    """Hooks that do nothing."""

    records = False

    def exchange(self, exchange: Exchange) -> None:
        """Do nothing."""

    def offers(self, ids: Sequence[int]) -> None:
        """Do nothing."""

    def call(self, operation: str, outcome: str, seconds: float) -> None:
        """Do nothing."""

    def breaker(self, calls: str, state: str) -> None:
        """Do nothing."""

    def order(self, outcome: str) -> None:
        """Do nothing."""

    def poll(self, outcome: str, late_s: float) -> None:
        """Do nothing."""
