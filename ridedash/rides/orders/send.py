"""Sends an order: from READY to an outcome, by one request to create a booking.

Steps T1.5 to T3 of docs/booking-protocol.md 1.3. The request leaves once for each claim. Only a
401 and a 429 take the order back to READY, once each.
"""

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from pydantic import ValidationError
from sqlalchemy import or_, select, true, update
from sqlalchemy.orm import Session

from ridedash.observability.exceptions import reason
from ridedash.rides.accounts.tokens import ELSEWHERE, NeedsReconnect, NoRefreshNow
from ridedash.rides.journals.answer_journal import AnswerJournal, JournalFile
from ridedash.rides.journals.restore import KnownToJournal, RestoreWatch
from ridedash.rides.journals.sent_journal import SentEntry
from ridedash.rides.runtime import Runtime
from ridedash.rides.state import transitions
from ridedash.rides.state.codes import EXPIRED, NO_CONNECTION, NO_JOURNAL, NOT_BUILT
from ridedash.rides.state.outcome import AUTH, Outcome, classify, from_record
from ridedash.rides.state.settle import settle
from ridedash.rides.state.states import BadTransition
from ridedash.service.types.bookings import CreateAnswer, NewBooking
from ridedash.store import audit
from ridedash.store.actors import WORKER
from ridedash.store.database.database import CommitUnknown, retry_conflict
from ridedash.store.models.orders import Order, OrderState

NOT_JOURNALLED: Final = Outcome(OrderState.NOT_SENT, code=NO_JOURNAL)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Prepared:
    """The results of the steps before a send that may fail (T1.5).

    `reference` is the partner reference: the column `mtx`, the service's `merchant_txn_id`.
    """

    order_id: int
    property_id: int
    account_id: int
    reference: str
    ready_at: datetime
    digest: str  # the digest of the body that is sent
    booking: NewBooking = field(repr=False)
    token: str = field(repr=False)


class Claimed(NamedTuple):
    """A committed claim: the number of the attempt, and the number of restores of the database."""

    attempt: int
    epoch: int


class Sender:
    """Sends orders for one worker. Safe to share between threads."""

    def __init__(self, runtime: Runtime, journal: AnswerJournal) -> None:
        self.runtime = runtime
        self.journal = journal
        self.watch = RestoreWatch(runtime.db, runtime.clock, journal.sent)
        self._in_flight: set[str] = set()  # partner references of orders that are being sent
        # orders whose claim may have been committed, with the time of the claim: never sent
        self._unclear_claims: dict[int, datetime] = {}

    def due(self, limit: int) -> Sequence[int]:
        """Orders that may be sent now, the oldest first; none while no answer can be stored.

        While a 429 holds all calls, an order waits as long as it may still be sent. An order that
        would have to wait too long is returned, so that its send fails at once.
        """
        if not self.journal.ready():
            return ()
        self._settle_unclear_claims()
        runtime = self.runtime
        now = runtime.clock()
        oldest = now - transitions.FRESH
        query = select(Order.id).where(
            Order.state == OrderState.READY, Order.due_at <= now, Order.ready_at > oldest
        )
        wait_s = runtime.client.traffic.throttled_s()
        if wait_s:
            query = query.where(Order.ready_at <= oldest + timedelta(seconds=wait_s))
        # workers that can read the account's token come first
        query = query.where(
            or_(Order.ready_at <= now - ELSEWHERE, ~runtime.tokens.foreign(Order.account_id))
        )
        with runtime.db.read() as s:
            return s.scalars(query.order_by(Order.due_at).limit(limit)).all()

    def send(self, order_id: int) -> bool:
        """Send one order and settle it.

        False when it is not ready, when another worker has it, or when it became NOT_SENT because
        its request can't be built or there is no token. Raises CommitUnknown when it is not known
        whether the claim was committed: nothing was sent.
        """
        prepared = self._prepare(order_id)
        if prepared is None:
            return False
        claimed = self._claim(order_id, prepared.digest)
        if claimed is None:
            return False
        self._in_flight.add(prepared.reference)
        try:
            self._send(prepared, claimed)
        finally:
            self._in_flight.discard(prepared.reference)
        return True

    def replay(self, file: JournalFile) -> int:
        """Settle the answers in a journal file, except for orders that this worker is sending now.

        Returns how many were settled. An answer that can't be settled stays in its slot.
        """
        count = 0
        for slot, record in list(file.pending()):
            if record.get("mtx") in self._in_flight:
                continue
            try:
                answer = str(record["mtx"]), int(record.get("attempt", 0)), from_record(record)
                is_known = self._settle(*answer)
            except (BadTransition, ValueError, LookupError, TypeError, ArithmeticError) as error:
                reference = record.get("mtx")
                kind = type(error).__name__
                log.error("the answer for %s in the journal can't be settled: %s", reference, kind)
                continue
            if self._note_answer(*answer):
                file.clear(slot, record)
                count += 1
            if not is_known:
                self.watch.compare_again()  # the sent journal contains the answer now
        return count

    def _prepare(self, order_id: int) -> Prepared | None:
        """T1.5: the request and the token. A failure here proves that nothing was sent."""
        with self.runtime.db.read() as s:
            order = s.get(Order, order_id)
        if order is None or order.state != OrderState.READY or order.ready_at is None:
            return None
        try:
            booking = NewBooking.model_validate_json(order.body)
            token = self.runtime.tokens.bearer(order.account_id)
        except ValidationError:
            self._give_up(order_id, NOT_BUILT)
            return None
        except (NeedsReconnect, NoRefreshNow) as error:
            self._give_up(order_id, error.code)
            return None
        return Prepared(
            order_id=order_id,
            property_id=order.property_id,
            account_id=order.account_id,
            reference=order.mtx,
            ready_at=order.ready_at,
            digest=order.body_digest,
            booking=booking,
            token=token,
        )

    def _give_up(self, order_id: int, code: str) -> None:
        now = self.runtime.clock()
        with self.runtime.db.write() as s:
            order = s.get_one(Order, order_id)
            if order.state == OrderState.READY:
                order.code = code
                transitions.change_state(s, order, OrderState.NOT_SENT, now, WORKER, code=code)

    def _claim(self, order_id: int, digest: str | None = None) -> Claimed | None:
        """T2: claim the order, committed before the first byte is sent.

        None when another worker has claimed the order, when it is no longer due, when its body no
        longer has this `digest`, or when the database is older than what this worker knows. The
        digest differs if the order was withdrawn, planned again, changed and made READY again
        while the token was refreshed.
        """
        now = self.runtime.clock()
        self.journal.sent.refresh()
        try:
            return self._commit_claim(order_id, now, digest)
        except KnownToJournal:
            log.warning(
                "order %d was sent before: the database is older than the journal", order_id
            )
            return None
        except CommitUnknown:
            self._unclear_claims[order_id] = now
            raise

    def _commit_claim(self, order_id: int, now: datetime, digest: str | None) -> Claimed | None:
        epoch = self.watch.epoch
        same = true() if digest is None else Order.body_digest == digest
        claim = (
            update(Order)
            .where(Order.id == order_id, Order.state == OrderState.READY)
            .where(Order.due_at <= now, Order.ready_at > now - transitions.FRESH)
            .where(self.watch.is_as_seen(), same)
            .values(state=OrderState.SENDING, attempt=Order.attempt + 1, sent_at=now)
            .values(owner=self.runtime.owner, lease_until=now + transitions.LEASE)
        )
        with self.runtime.db.write() as s:
            if s.connection().execute(claim).rowcount != 1:
                return None
            order = s.get_one(Order, order_id)
            if self.watch.refuses(s, order.mtx, order.attempt):
                raise KnownToJournal
            transitions.add_event(s, order, "order", OrderState.SENDING, now)
            self._record_send(s, order, now)
            return Claimed(order.attempt, epoch)

    def _record_send(self, s: Session, order: Order, now: datetime) -> None:
        facts = {"property_id": order.property_id, "attempt": order.attempt}
        audit.record(
            s, WORKER, "order.move", f"orders:{order.id}", OrderState.SENDING, now, **facts
        )

    def _settle_unclear_claims(self) -> None:
        """Settle claims whose commit was not confirmed: nothing was sent for them."""
        nothing_sent = Outcome(OrderState.NOT_SENT, code=NO_CONNECTION)
        runtime = self.runtime
        for order_id, claimed_at in list(self._unclear_claims.items()):
            claim = OrderState.SENDING, runtime.owner, claimed_at
            with runtime.db.write() as s:
                order = s.get(Order, order_id)  # None: the commit was lost with the database server
                if order and (order.state, order.owner, order.sent_at) == claim:
                    settle(s, order, nothing_sent, runtime.clock(), WORKER)
            self._unclear_claims.pop(order_id, None)

    def _send(self, prepared: Prepared, claimed: Claimed) -> None:
        """Write the sent journal, make the call, write the answer journal, then do T3."""
        failpoint = self.runtime.failpoint
        attempt = claimed.attempt
        failpoint("order.claimed")
        outcome = self._call(prepared) if self._journal_send(prepared, claimed) else NOT_JOURNALLED
        slot = self._journal_answer(prepared, attempt, outcome)
        if outcome.retry == AUTH:
            outcome = self._refresh_token(prepared, outcome)
        is_known = self._settle(prepared.reference, attempt, outcome)
        failpoint("order.settled")
        is_noted = self._note_answer(prepared.reference, attempt, outcome)
        if is_noted and slot is not None:
            self.journal.file.clear(slot)
        if not is_known:
            self.watch.compare_again()  # the sent journal contains the answer now

    def _journal_send(self, prepared: Prepared, claimed: Claimed) -> bool:
        """Journal on disk that the order is being sent.

        False when that fails: then the order is not sent.
        """
        entry = SentEntry(
            reference=prepared.reference,
            attempt=claimed.attempt,
            at=self.runtime.clock(),
            database=self.watch.database,
            property_id=prepared.property_id,
            account_id=prepared.account_id,
            category=prepared.booking.category,
            epoch=claimed.epoch,
            order_id=prepared.order_id,
        )
        try:
            self.journal.sent.sent(entry)
        except OSError as error:
            log.error("order %d is not sent, no journal: %s", prepared.order_id, reason(error))
            return False
        return True

    def _note_answer(self, reference: str, attempt: int, outcome: Outcome) -> bool:
        """Add the outcome to the sent journal. False when that fails: the answer keeps its slot."""
        try:
            self.journal.sent.answered(reference, attempt, outcome)
        except OSError as error:
            log.error("an answer is not in the sent journal: %s", reason(error))
            return False
        return True

    def _call(self, prepared: Prepared) -> Outcome:
        self.runtime.failpoint("order.sent")
        # checked again: the claim may have waited for other writers, or the host may have slept
        # (I7)
        if self.runtime.clock() - prepared.ready_at >= transitions.FRESH:
            return Outcome(OrderState.NOT_SENT, code=EXPIRED)
        answer: CreateAnswer | Exception
        try:
            answer = self.runtime.client.create_booking(prepared.booking, prepared.token)
        except Exception as error:
            # whatever the error is, the request may have left: classify() decides
            answer = error
        self.runtime.failpoint("order.answered")
        return classify(answer, prepared.reference)

    def _journal_answer(self, prepared: Prepared, attempt: int, outcome: Outcome) -> int | None:
        """Write the outcome to the answer journal. Returns its slot; None when the write fails.

        Without a slot only the database and the sent journal get the outcome.
        """
        record = {"mtx": prepared.reference, "attempt": attempt, **asdict(outcome)}
        try:
            slot = self.journal.file.append(record)
        except OSError:
            return None
        self.runtime.failpoint("order.journalled")
        return slot

    def _refresh_token(self, prepared: Prepared, outcome: Outcome) -> Outcome:
        """The outcome of a 401, which permits another attempt only if there is a fresh token."""
        try:
            self.runtime.tokens.refreshed(prepared.account_id, prepared.token)
        except NeedsReconnect:
            return replace(outcome, retry="")
        except NoRefreshNow as error:
            return replace(outcome, retry="", code=error.code)
        return outcome

    def _settle(self, reference: str, attempt: int, outcome: Outcome) -> bool:
        """T3. The answer to an earlier attempt proves nothing about the present attempt.

        False when the database does not know the attempt because it was restored meanwhile.
        """
        runtime = self.runtime

        def settle_once() -> bool:
            with runtime.db.write() as s:
                order = s.scalars(select(Order).where(Order.mtx == reference)).first()
                if order is None or order.attempt < attempt:
                    return False
                if order.attempt == attempt:
                    settle(s, order, outcome, runtime.clock(), WORKER)
                return True

        return retry_conflict(settle_once)
