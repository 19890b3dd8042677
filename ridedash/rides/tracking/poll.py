"""Following rides: claim those that are due, ask once, record what came.

See docs/booking-protocol.md 3.
"""

import logging
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from sqlalchemy.exc import DataError, IntegrityError

from ridedash.observability.hooks import Hooks, NoHooks
from ridedash.rides.accounts.tokens import AccountTokens, Bearers, NeedsReconnect, NoRefreshNow
from ridedash.rides.runtime import Clock, Failpoint, no_failpoint
from ridedash.rides.states import BadMove
from ridedash.rides.tracking.claims import Bounds, Claim, claim_due, push_ahead
from ridedash.rides.tracking.merge import merge
from ridedash.rides.tracking.record import Careful, Plain, plain, state_as_claimed, write_plain
from ridedash.service.client import RideClient, snapshot_of
from ridedash.service.errors import ServiceError
from ridedash.service.throttle.traffic import Priority
from ridedash.service.transport.http import Answer
from ridedash.service.types.tracking import Snapshot
from ridedash.store.database.database import Database

# raised by recording, these are the ride's own fault: its row or its answers
POISONOUS: Final = (
    BadMove,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    DataError,
)
CAREFUL: Final = 20  # recorded together: others wait to write meanwhile
SMALL: Final = 16_384  # bytes; a longer answer is read at once, so that none waits in memory
UNAUTHORIZED: Final = 401

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Polled:
    """A ride that was asked about: the answer, or why there is none.

    `at` is when it came, until its meaning is worked out; then it is a snapshot, with `plain` when
    it needs no care.
    """

    claim: Claim
    answer: Answer | Snapshot | Exception
    at: datetime | None = None
    plain: Plain | None = None


def _tried(step: Callable[[Polled], Polled], polled: Polled) -> Polled | None:
    try:
        return step(polled)
    except Exception as error:  # a mistake of ours must cost one poll, not all
        log.exception(
            "answer about ride %d can't be read: %s", polled.claim.ride_id, type(error).__name__
        )
        return None


class Tracker:
    """Follows rides for one worker. Safe to share between threads."""

    def __init__(
        self,
        db: Database,
        client: RideClient,
        tokens: AccountTokens,
        clock: Clock,
        *,
        pace: float = 1.0,
        owner: str = "worker",
        at: Failpoint = no_failpoint,
        chance: Callable[[], float] = random.random,
        watch: Hooks | None = None,
    ) -> None:
        self.db, self.client, self.tokens, self.clock = db, client, tokens, clock
        self.pace, self.owner, self.at = pace, owner, at
        self.careful = Careful(db, tokens.vault, clock, pace, chance)
        self.watch = watch or NoHooks()
        self.bearers = Bearers(tokens)

    def claim(self, limit: int, rest: int | None = None) -> Sequence[Claim]:
        """Lease up to `limit` due rides in one commit; only `rest` of those for whom no guest
        waits.
        """
        return claim_due(
            self.db, self.clock(), Bounds(limit, limit if rest is None else rest), self.owner
        )

    def poll(self, claim: Claim) -> bool:
        """Ask about one ride and record the answer.

        False when it got none, or somebody else went on meanwhile.
        """
        return self.record([self.ask(claim)]) == 1

    def ask(self, claim: Claim) -> Polled:
        """Ask about one ride; writes nothing, and leaves the answer to be read with others: `read`
        says why.
        """
        self.at("poll.claimed")
        polled = Polled(claim, self._ask(claim), self.clock())
        self.at("poll.answered")
        if isinstance(polled.answer, Answer) and len(polled.answer.body) > SMALL:
            return self._said(polled)
        return polled

    def read(self, polled: Sequence[Polled]) -> list[Polled]:
        """Work out what answers mean.

        All one step and then all the next: a step costs less beside its like.
        """
        said = [each for each in map(partial(_tried, self._said), polled) if each is not None]
        return [each for each in map(partial(_tried, self._weighed), said) if each is not None]

    def record(self, polled: Sequence[Polled]) -> int:
        """Write what came, many in one transaction. How many answers were recorded.

        Raises DatabaseBusy and SQLAlchemyError when nothing can be written now: the leases end, and
        all are asked anew.
        """
        polled = self.read(polled)
        self._tell(polled)
        plainly = {each.claim.ride_id: each for each in polled if each.plain is not None}
        others = [each for each in polled if each.plain is None]
        written: Sequence[Plain] = ()
        try:
            if plainly:
                written, late = write_plain(
                    self.db, [each.plain for each in plainly.values() if each.plain]
                )
                others += [plainly[each.claim.ride_id] for each in late]
        except POISONOUS as error:
            log.error("a batch of polls is recorded one by one: %s", type(error).__name__)
            others += plainly.values()
        for _ in written:
            self.at("poll.merged")
        return len(written) + sum(
            self._carefully(others[n : n + CAREFUL]) for n in range(0, len(others), CAREFUL)
        )

    def _carefully(self, polled: Sequence[Polled]) -> int:
        """Together, and when that fails one by one: then the one that can't be recorded is pushed
        ahead.
        """
        try:
            answered = [
                (each.claim, each.answer) for each in polled if not isinstance(each.answer, Answer)
            ]
            written = self.careful.write(answered)
        except (*POISONOUS, IntegrityError) as error:
            if len(polled) > 1:
                return sum(self._carefully([each]) for each in polled)
            # two orders met over one booking id: the next poll says which
            if isinstance(error, IntegrityError):
                raise
            claim = polled[0].claim
            push_ahead(
                self.db,
                claim.ride_id,
                claim.seq,
                claim.row.poison + 1,
                self.clock(),
                type(error).__name__,
            )
            return 0
        for _ in range(written.handed_over):
            self.at("handover.merged")
        for _ in range(written.merged):
            self.at("poll.merged")
        return written.merged

    def _tell(self, polled: Sequence[Polled]) -> None:
        for each in polled:
            late = each.claim.at - each.claim.row.next_poll_at
            ended = "answered" if isinstance(each.answer, Snapshot) else type(each.answer).__name__
            self.watch.poll(ended, late.total_seconds())

    def _said(self, polled: Polled) -> Polled:
        if not isinstance(polled.answer, Answer):
            return polled
        try:
            return Polled(polled.claim, snapshot_of(polled.answer), polled.at)
        except ServiceError as error:
            return Polled(polled.claim, error)

    def _weighed(self, polled: Polled) -> Polled:
        if polled.at is None or not isinstance(polled.answer, Snapshot):
            return polled
        return Polled(
            polled.claim, polled.answer, plain=self._plain(polled.claim, polled.answer, polled.at)
        )

    def _plain(self, claim: Claim, answer: Snapshot, now: datetime) -> Plain | None:
        """Pure but for chance; whatever goes wrong here goes wrong again the careful way, and is
        told.
        """
        try:
            before = state_as_claimed(claim.row, self.tokens.vault)
            merged = merge(before, answer, claim.seq, now)
            return plain(claim, before, merged, now, self.pace, self.careful.spread)
        except POISONOUS:
            return None

    def _ask(self, claim: Claim) -> Answer | Exception:
        try:
            token = self.bearers.bearer(claim.account_id)
            answer = self._track(claim, token)
            if answer.status == UNAUTHORIZED:
                return self._track(claim, self.bearers.refreshed(claim.account_id, token))
            return answer
        except (ServiceError, NeedsReconnect, NoRefreshNow) as error:
            return error

    def _track(self, claim: Claim, token: str) -> Answer:
        priority = Priority.WAITING if claim.guest_waits else Priority.REST
        txn_id = None if claim.booking_id else claim.txn_id
        return self.client.track_answer(
            token, booking_id=claim.booking_id or None, txn_id=txn_id, priority=priority
        )
