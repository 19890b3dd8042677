"""Polls: claim due rides, call track_ride, record the answers (docs/booking-protocol.md 3)."""

import logging
import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from ridedash.observability.logs import worker_step
from ridedash.rides.accounts.tokens import (
    NeedsReconnect,
    NoRefreshNow,
    TokenCache,
    call_with_token,
)
from ridedash.rides.runtime import Runtime
from ridedash.rides.tracking.claims import Bounds, Claim, claim_due
from ridedash.rides.tracking.record import Polled, PollRecorder
from ridedash.service.client import snapshot_of
from ridedash.service.errors import ServiceError
from ridedash.service.throttle.traffic import Priority
from ridedash.service.transport.http import Answer
from ridedash.service.types.tracking import Snapshot

# bytes; a longer answer is parsed at once, so that it does not stay in memory
SMALL: Final = 16_384
UNAUTHORIZED: Final = 401  # the HTTP status of a token that is refused

log = logging.getLogger(__name__)


class Tracker:
    """Follows rides for one worker. Safe to share between threads."""

    def __init__(self, runtime: Runtime, chance: Callable[[], float] = random.random) -> None:
        self.runtime = runtime
        self._recorder = PollRecorder(runtime, chance)
        self._tokens = TokenCache(runtime.tokens)

    def claim(self, limit: int, rest: int | None = None) -> Sequence[Claim]:
        """Lease up to `limit` due rides in one commit. `rest` is explained in claims.Bounds."""
        bounds = Bounds(limit, limit if rest is None else rest)
        return claim_due(self.runtime.db, self.runtime.clock(), bounds, self.runtime.owner)

    def poll(self, claim: Claim) -> bool:
        """Poll one ride and record the result. Returns whether an answer was recorded."""
        return self.record([self.ask(claim)]) == 1

    def ask(self, claim: Claim) -> Polled:
        """Call track_ride and record nothing yet.

        Long answers are parsed at once, others later, together (`read`).
        """
        self.runtime.failpoint("poll.claimed")
        worker_step.set(("poll", claim.ride_id))  # valid until the next poll of this thread
        polled = Polled(claim, self._ask(claim), self.runtime.clock())
        self.runtime.failpoint("poll.answered")
        if isinstance(polled.answer, Answer) and len(polled.answer.body) > SMALL:
            return _with_snapshot(polled)
        return polled

    def read(self, polls: Sequence[Polled]) -> list[Polled]:
        """Parse the answers and decide what they change. A poll for which this fails is left out.

        Parsing all answers first and deciding afterwards is faster than both for each poll.
        """
        read = [each for each in map(partial(_tried, _with_snapshot), polls) if each is not None]
        return [each for each in map(partial(_tried, self._decided), read) if each is not None]

    def record(self, polls: Sequence[Polled]) -> int:
        """Record polls, many in one transaction. Returns how many answers were recorded.

        Raises DatabaseBusy and SQLAlchemyError when nothing can be written now: the leases expire,
        and the rides are polled again.
        """
        polls = self.read(polls)
        for each in polls:
            late = each.claim.at - each.claim.row.next_poll_at
            outcome = type(each.answer).__name__
            if isinstance(each.answer, Snapshot):
                outcome = "answered"
            self.runtime.on_poll(outcome, late.total_seconds())
        return self._recorder.write(polls)

    def _decided(self, polled: Polled) -> Polled:
        if polled.decision is not None:
            return polled
        return self._recorder.decided(polled)

    def _ask(self, claim: Claim) -> Answer | Exception:
        try:
            return call_with_token(self._tokens, claim.account_id, partial(self._track, claim))
        except (ServiceError, NeedsReconnect, NoRefreshNow) as error:
            return error

    def _track(self, claim: Claim, token: str) -> Answer:
        """The answer, not parsed yet. Raises ServiceError; Unauthorized for a 401."""
        priority = Priority.WAITING if claim.guest_waits else Priority.REST
        txn_id = None if claim.booking_id else claim.txn_id
        answer = self.runtime.client.track_answer(
            token, booking_id=claim.booking_id or None, txn_id=txn_id, priority=priority
        )
        if answer.status == UNAUTHORIZED:
            snapshot_of(answer)  # raises Unauthorized
        return answer


def _with_snapshot(polled: Polled) -> Polled:
    if not isinstance(polled.answer, Answer):
        return polled
    try:
        return Polled(polled.claim, snapshot_of(polled.answer), polled.at)
    except ServiceError as error:
        return Polled(polled.claim, error, polled.at)


def _tried(read: Callable[[Polled], Polled], polled: Polled) -> Polled | None:
    try:
        return read(polled)
    except Exception as error:  # a bug of ours must cost one poll, not all of them
        log.exception(
            "answer about ride %d can't be read: %s", polled.claim.ride_id, type(error).__name__
        )
        return None
