"""From READY to settled: claim, one send on a fresh connection, black box, settle.

See docs/booking-protocol.md 1.3.
"""

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from pydantic import ValidationError
from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from ridedash.rides.accounts.tokens import ELSEWHERE, AccountTokens, NeedsReconnect, NoRefreshNow
from ridedash.rides.codes import EXPIRED, NO_CONNECTION, NOT_BUILT
from ridedash.rides.orders import transitions
from ridedash.rides.orders.answer_journal import BlackBox, BoxFile
from ridedash.rides.orders.outcome import AUTH, Outcome, classify
from ridedash.rides.orders.settle import settle
from ridedash.rides.runtime import Clock, Failpoint, no_failpoint
from ridedash.rides.states import BadTransition
from ridedash.service.client import RideClient
from ridedash.service.types.bookings import CreateAnswer, NewBooking
from ridedash.store import audit
from ridedash.store.database.database import CommitUnknown, Database, retry_conflict
from ridedash.store.models.orders import Order, OrderState

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Prepared:
    """All that a send needs and that could fail before it (T1.5)."""

    order_id: int
    account_id: int
    mtx: str
    ready_at: datetime
    request: NewBooking = field(repr=False)
    token: str = field(repr=False)


class Sender:
    """Sends orders for one worker. Safe to share between threads."""

    def __init__(
        self,
        db: Database,
        client: RideClient,
        tokens: AccountTokens,
        box: BlackBox,
        clock: Clock,
        *,
        pace: float = 1.0,
        owner: str = "worker",
        at: Failpoint = no_failpoint,
    ) -> None:
        self.db, self.client, self.tokens, self.box, self.clock = db, client, tokens, box, clock
        self.pace, self.owner, self.at = pace, owner, at
        self._live: set[str] = set()  # the mtx of each send in flight here
        # orders whose claim may have been committed, and when: never sent
        self._doubts: dict[int, datetime] = {}

    def due(self, limit: int) -> Sequence[int]:
        """Orders that may be sent now, the oldest first; none while an answer could not be kept.

        While the service wants no questions at all, an order waits as long as its press is fresh.
        One that can't have its turn in time is given out, so that its send says so at once.
        """
        if not self.box.ready():
            return ()
        self._clear_doubts()
        now, held = self.clock(), timedelta(seconds=self.client.traffic.held_s())
        query = select(Order.id).where(
            Order.state == OrderState.READY,
            Order.due_at <= now,
            Order.ready_at > now - transitions.FRESH,
        )
        if held:
            query = query.where(Order.ready_at <= now + held - transitions.FRESH)
        query = query.where(
            or_(Order.ready_at <= now - ELSEWHERE, ~self.tokens.foreign(Order.account_id))
        )
        with self.db.read() as s:
            return s.scalars(query.order_by(Order.due_at).limit(limit)).all()

    def send(self, order_id: int) -> bool:
        """Take one order through its call.

        False when there was nothing to do, or somebody else does it.
        """
        prepared = self._prepare(order_id)
        attempt = self._claim(order_id) if prepared is not None else None
        if prepared is None or attempt is None:
            return False
        self._live.add(prepared.mtx)
        try:
            self._send(prepared, attempt)
        finally:
            self._live.discard(prepared.mtx)
        return True

    def _send(self, prepared: Prepared, attempt: int) -> None:
        self.at("order.claimed")
        outcome = self._call(prepared)
        slot = self._keep(prepared, attempt, outcome)
        if outcome.retry == AUTH:
            outcome = self._reauthorise(prepared, outcome)
        self._settle(prepared.mtx, attempt, outcome)
        self.at("order.settled")
        if slot is not None:
            self.box.file.clear(slot)

    def replay(self, file: BoxFile) -> int:
        """Settle what a black box still holds, but for what is in flight here.

        How many there were.
        """
        count = 0
        for slot, record in list(file.pending()):
            if record.get("mtx") in self._live:
                continue
            if self._replayed(record):
                file.clear(slot)
                count += 1
        return count

    def _replayed(self, record: dict[str, Any]) -> bool:
        """Settle one record.

        One that can't be settled stays in its slot, in the way of no other.
        """
        try:
            self._settle(str(record["mtx"]), record.get("attempt", 0), outcome_of(record))
        except (BadTransition, ValueError, LookupError, TypeError, ArithmeticError) as error:
            log.error(
                "an answer to %s can't be settled: %s", record.get("mtx"), type(error).__name__
            )
            return False
        return True

    def _prepare(self, order_id: int) -> Prepared | None:
        with self.db.read() as s:
            order = s.get(Order, order_id)
        if order is None or order.state != OrderState.READY or order.ready_at is None:
            return None
        try:
            request = NewBooking.model_validate_json(order.body)
            token = self.tokens.bearer(order.account_id)
        except (ValidationError, NeedsReconnect, NoRefreshNow) as error:
            self._give_up(order_id, NOT_BUILT if isinstance(error, ValidationError) else error.code)
            return None
        return Prepared(order_id, order.account_id, order.mtx, order.ready_at, request, token)

    def _give_up(self, order_id: int, code: str) -> None:
        with self.db.write() as s:
            order = s.get_one(Order, order_id)
            if order.state == OrderState.READY:
                order.code = code
                transitions.move(s, order, OrderState.NOT_SENT, self.clock(), "worker", code=code)

    def _clear_doubts(self) -> None:
        """Claims whose commit got no answer: where they were written after all, it is known that
        nothing was sent.
        """
        nothing_sent = Outcome(OrderState.NOT_SENT, code=NO_CONNECTION)
        for order_id, at in list(self._doubts.items()):
            with self.db.write() as s:
                order = s.get_one(Order, order_id)
                if (order.state, order.owner, order.sent_at) == (
                    OrderState.SENDING,
                    self.owner,
                    at,
                ):
                    settle(s, order, nothing_sent, self.clock(), "worker", self.pace)
            self._doubts.pop(order_id, None)

    def _claim(self, order_id: int) -> int | None:
        """T2: ours when exactly one row changed, and durable before the first byte is sent.

        The number of the try.
        """
        now = self.clock()
        try:
            return self._claimed(order_id, now)
        except CommitUnknown:
            self._doubts[order_id] = now  # T2 is not known to be there, so nothing is sent
            raise

    def _claimed(self, order_id: int, now: datetime) -> int | None:
        ours = (
            update(Order)
            .where(Order.id == order_id, Order.state == OrderState.READY)
            .where(Order.due_at <= now, Order.ready_at > now - transitions.FRESH)
            .values(
                state=OrderState.SENDING, attempt=Order.attempt + 1, owner=self.owner, sent_at=now
            )
            .values(lease_until=now + transitions.LEASE)
        )
        with self.db.write() as s:
            if s.connection().execute(ours).rowcount != 1:
                return None
            order = s.get_one(Order, order_id)
            transitions.moment(s, order, "order", OrderState.SENDING, now)
            self._record_send(s, order, now)
            return order.attempt

    def _record_send(self, s: Session, order: Order, now: datetime) -> None:
        facts = {"property_id": order.property_id, "attempt": order.attempt}
        audit.record(
            s, "worker", "order.move", f"orders:{order.id}", OrderState.SENDING, now, **facts
        )

    def _call(self, prepared: Prepared) -> Outcome:
        answer: CreateAnswer | Exception
        self.at("order.sent")
        if (
            self.clock() - prepared.ready_at >= transitions.FRESH
        ):  # the claim waited for others, or the host slept since (I7)
            return Outcome(OrderState.NOT_SENT, code=EXPIRED)
        try:
            answer = self.client.create_booking(prepared.request, prepared.token)
        except Exception as error:  # whatever it was, the request may have left: classify() decides
            answer = error
        self.at("order.answered")
        return classify(answer, prepared.mtx)

    def _keep(self, prepared: Prepared, attempt: int, outcome: Outcome) -> int | None:
        """BB: the answer on the disk. When even that fails, the database is the last hope."""
        try:
            slot = self.box.file.append(
                {"mtx": prepared.mtx, "attempt": attempt, **asdict(outcome)}
            )
        except OSError:
            return None
        self.at("order.boxed")
        return slot

    def _reauthorise(self, prepared: Prepared, outcome: Outcome) -> Outcome:
        try:
            self.tokens.refreshed(prepared.account_id, prepared.token)
        except NeedsReconnect:
            return replace(outcome, retry="")
        except NoRefreshNow as error:
            return replace(outcome, retry="", code=error.code)
        return outcome

    def _settle(self, mtx: str, attempt: int, outcome: Outcome) -> None:
        """T3. An answer to an earlier try says nothing of the present one."""

        def attempt_it() -> None:
            with self.db.write() as s:
                order = s.scalars(select(Order).where(Order.mtx == mtx)).first()
                if order is not None and order.attempt == attempt:
                    settle(s, order, outcome, self.clock(), "worker", self.pace)

        retry_conflict(attempt_it)


def outcome_of(record: dict[str, Any]) -> Outcome:
    """The outcome in a black box record; a second try is no longer due when it is read back."""
    facts = {name: value for name, value in record.items() if name in Outcome.__dataclass_fields__}
    return Outcome(**{**facts, "state": OrderState(record["state"]), "retry": ""})
