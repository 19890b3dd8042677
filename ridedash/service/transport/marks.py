"""The times of one call and the reason of its failure, noted during the call for its Exchange."""

from typing import TYPE_CHECKING, NamedTuple

from ridedash.observability.hooks import Exchange
from ridedash.service.errors import ServiceError, Unreadable

if TYPE_CHECKING:
    from ridedash.service.transport.http import Answer, Request


class Marks:
    """When the steps of one call happened, by time.perf_counter, and why it failed."""

    __slots__ = ("answered", "evidence", "failure", "permitted")

    def __init__(self) -> None:
        self.permitted: float | None = None  # None: the call got no permit
        self.answered: float | None = None  # when the head of the answer had arrived
        self.failure = self.evidence = ""

    def failed(self, error: ServiceError) -> None:
        """Note the words of an error, not the error itself, whose frames may hold tokens."""
        self.failure = str(error) or type(error).__name__
        if isinstance(error, Unreadable):
            self.evidence = error.evidence


class MarkedCall(NamedTuple):
    """A call that has ended: some fields of its Exchange, and its start by time.perf_counter."""

    path: str
    outcome: str
    lane: str
    started: float
    seconds: float


def exchange_of(
    request: "Request", marks: Marks, call: MarkedCall, answer: "Answer | None"
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
