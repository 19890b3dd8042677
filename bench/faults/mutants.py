"""Broken protocols, each with one plausible mistake; the harness must detect every one."""

from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import update

from ridedash.rides.orders import send
from ridedash.rides.orders.send import Claimed, Prepared, Sender
from ridedash.rides.state import transitions
from ridedash.rides.state.outcome import Outcome, classify
from ridedash.rides.state.settle import settle
from ridedash.rides.worker import Worker
from ridedash.service.client import RideClient
from ridedash.service.errors import NoAnswer
from ridedash.service.types.bookings import CreateAnswer, CreateBody, NewBooking
from ridedash.store.models.orders import Order, OrderState


class ClaimsNothing(Sender):
    """Step T2 (docs/booking-protocol.md 1.3) is left out: an order stays READY until its answer."""

    def _claim(self, order_id: int, _digest: str | None = None) -> Claimed | None:
        with self.runtime.db.read() as s:
            order = s.get(Order, order_id)
        if order is None or order.state != OrderState.READY:
            return None
        return Claimed(order.attempt + 1, self.watch.epoch)

    def _settle(self, reference: str, attempt: int, outcome: Outcome) -> bool:
        runtime = self.runtime
        with runtime.db.write() as s:
            order = s.query(Order).filter(Order.mtx == reference).one()
            if order.state == OrderState.READY:
                order.attempt, order.sent_at = attempt, runtime.clock()
                transitions.change_state(s, order, OrderState.SENDING, runtime.clock(), "worker")
            settle(s, order, outcome, runtime.clock(), "worker")
        return True


class SettlesFirst(Sender):
    """The answer is written to the database before it is written to the answer journal."""

    def _journal_answer(self, prepared: Prepared, attempt: int, outcome: Outcome) -> int | None:
        self._settle(prepared.reference, attempt, outcome)
        record = {"mtx": prepared.reference, "attempt": attempt, **asdict(outcome)}
        slot = self.journal.file.append(record)
        self.runtime.failpoint("order.journalled")
        return slot


class Altered(RideClient):
    """A client whose `create_booking` has a mistake: `alter` calls the service in its place."""

    def __init__(
        self, inner: RideClient, alter: Callable[[RideClient, NewBooking, str], CreateAnswer]
    ) -> None:
        self.__dict__.update(inner.__dict__)
        self._inner, self._alter = inner, alter

    def create_booking(self, order: NewBooking, token: str) -> CreateAnswer:
        """See RideClient.create_booking."""
        return self._alter(self._inner, order, token)


def _refuses_5xx(client: RideClient, order: NewBooking, token: str) -> CreateAnswer:
    answer = client.create_booking(order, token)
    if answer.http_status < 500:
        return answer
    return CreateAnswer(
        http_status=200, body=CreateBody(status="FAILURE", code="SERVER"), readable=True
    )


def _tries_again(client: RideClient, order: NewBooking, token: str) -> CreateAnswer:
    try:
        return client.create_booking(order, token)
    except NoAnswer:
        return client.create_booking(order, token)


def _takes_crossed(client: RideClient, order: NewBooking, token: str) -> CreateAnswer:
    answer = client.create_booking(order, token)
    if answer.body is None:
        return answer
    return answer.model_copy(
        update={"body": answer.body.model_copy(update={"merchant_txn_id": None})}
    )


def _resends(worker: Worker) -> None:
    """All orders that are SENDING when a worker starts are sent again."""
    with worker.runtime.db.write() as s:
        s.execute(
            update(Order).where(Order.state == OrderState.SENDING).values(state=OrderState.READY)
        )


def _doubts_late(_worker: Worker) -> None:
    """An order without an answer becomes UNKNOWN after 200 s, not after 20 s.

    The mutation changes constants of the worker's own process.
    """
    vars(transitions).update(LEASE=timedelta(seconds=280), SHOWN_UNKNOWN=timedelta(seconds=200))


def _doubts_refusals(_worker: Worker) -> None:
    """A refusal leaves its order UNKNOWN. Changes a module of the worker's own process."""

    def doubts(answer: CreateAnswer | Exception, reference: str) -> Outcome:
        outcome = classify(answer, reference)
        is_refusal = outcome.state is OrderState.REJECTED
        return replace(outcome, state=OrderState.UNKNOWN) if is_refusal else outcome

    vars(send).update(classify=doubts)


def _sender(worker: Worker, kind: type[Sender]) -> None:
    worker.sender.__class__ = kind


def _client(worker: Worker, alter: Any) -> None:
    runtime = worker.sender.runtime
    worker.sender.runtime = replace(runtime, client=Altered(runtime.client, alter))


# The six mutants of the fault matrix, by their names.
MUTANTS: Final[dict[str, Callable[[Worker], None]]] = {
    "remove the claim": lambda worker: _sender(worker, ClaimsNothing),
    "resend SENDING": _resends,
    "a 5xx is a refusal": lambda worker: _client(worker, _refuses_5xx),
    "settle before the journal": lambda worker: _sender(worker, SettlesFirst),
    "retry on timeout": lambda worker: _client(worker, _tries_again),
    "accept a crossed answer": lambda worker: _client(worker, _takes_crossed),
}

# mutants that the fault matrix does not have
OURS: Final[dict[str, Callable[[Worker], None]]] = {
    "unknown is shown late": _doubts_late,
    "a refusal proves nothing": _doubts_refusals,
}


def apply(name: str, worker: Worker) -> None:
    """Apply the named mistake to a worker; no name applies none."""
    if name:
        (MUTANTS | OURS)[name](worker)
