"""What others learn about each call to the service: Hooks, called by the client and the throttle.

An Exchange is a call as it happened, put together from the marks that were noted during the call.
It is made for a recorder only, because the calls of a worker are many.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from ridedash.service.transport.http import Answer, Marks, Request


class MarkedCall(NamedTuple):
    """A call that has ended: some fields of its Exchange, and its start by time.perf_counter."""

    path: str
    outcome: str
    lane: str
    started: float
    seconds: float


class Exchange(NamedTuple):
    """One call to the service as it happened, secrets included; a recorder removes them.

    Where no answer came, or none that can be read, `failure` is the text of the error, and
    `evidence` the beginning of the unreadable body. `lane` is the name of the call's priority.
    """

    operation: str  # its path at the service
    request: Request
    answer: Answer | None
    failure: str
    evidence: str
    outcome: str  # a word of responses.outcome_of
    lane: str
    waited_s: float  # waiting for its permit
    first_byte_s: float | None  # from the permit to the head of the answer; None: none came
    total_s: float  # with the wait for the permit


def exchange_of(
    request: Request, marks: Marks, call: MarkedCall, answer: Answer | None
) -> Exchange:
    """The Exchange of a call that has ended."""
    begun = call.started + call.seconds if marks.permitted is None else marks.permitted
    return Exchange(
        operation=call.path,
        request=request,
        answer=answer,
        failure=marks.failure,
        evidence=marks.evidence,
        outcome=call.outcome,
        lane=call.lane,
        waited_s=begun - call.started,
        first_byte_s=None if marks.answered is None else marks.answered - begun,
        total_s=call.seconds,
    )


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
